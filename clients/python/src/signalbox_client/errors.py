"""What a call that fails raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

DETAILS_KEY = "grpc-status-details-bin"
"""Metadata that holds the details of a status."""


@dataclass(frozen=True)
class FieldViolation:
    """One field that is out of its limits."""

    field: str
    """Path of the field as the request wrote it (`entries[3].name`)."""
    description: str


class SignalboxError(Exception):
    """A call did not end with OK. `__cause__` is the `grpc.RpcError` it was made from."""

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reason: str = "",
        domain: str = "",
        metadata: dict[str, str] | None = None,
        violations: tuple[FieldViolation, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code.name}{f' ({reason})' if reason else ''}: {message}")
        self.code = code
        """The status code, for example `grpc.StatusCode.NOT_FOUND`."""
        self.message = message
        """For people; its wording may change."""
        self.reason = reason
        """`v1.ErrorReason` without its prefix, for example `ENTRY_NOT_FOUND`. Empty where the
        status was not made by signalbox: no server there, a deadline that passed at this end."""
        self.domain = domain
        """`signalbox` where the reason is signalbox's own."""
        self.metadata = metadata or {}
        """Every dynamic value of the message, by name."""
        self.violations = violations
        """All fields that are out of their limits, for the reason `INVALID_FIELD`."""
        self.retry_after = retry_after
        """Seconds to wait before another try, where the server named them."""


def from_rpc_error(error: grpc.RpcError) -> SignalboxError:
    """Reads the status and the details that came with it."""
    call: Any = error
    code, message = call.code(), call.details() or ""
    return _read(code, message, lambda: rpc_status.from_call(call))


def from_aio_error(error: grpc.aio.AioRpcError) -> SignalboxError:
    """The same for a call of `grpc.aio`."""

    def status() -> Any:
        for key, value in error.trailing_metadata() or ():
            if key == DETAILS_KEY:
                return status_pb2.Status.FromString(value)
        return None

    return _read(error.code(), error.details() or "", status)


def _read(code: grpc.StatusCode, message: str, read_status: Callable[[], Any]) -> SignalboxError:
    known: dict[str, Any] = {}
    try:
        status = read_status()
        details = status.details if status is not None else ()
        for packed in details:
            if packed.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
                info = error_details_pb2.ErrorInfo()
                packed.Unpack(info)
                known |= {
                    "reason": info.reason,
                    "domain": info.domain,
                    "metadata": dict(info.metadata),
                }
            elif packed.Is(error_details_pb2.BadRequest.DESCRIPTOR):
                bad = error_details_pb2.BadRequest()
                packed.Unpack(bad)
                known["violations"] = tuple(
                    FieldViolation(each.field, each.description) for each in bad.field_violations
                )
            elif packed.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
                retry = error_details_pb2.RetryInfo()
                packed.Unpack(retry)
                known["retry_after"] = retry.retry_delay.ToTimedelta().total_seconds()
    except (DecodeError, ValueError):
        # Details that cannot be read must not hide the status itself.
        pass
    return SignalboxError(code, message, **known)
