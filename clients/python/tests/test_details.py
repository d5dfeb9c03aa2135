"""Reading a status and its details, without a server."""

from __future__ import annotations

import grpc
from google.protobuf import any_pb2, duration_pb2, message
from google.rpc import error_details_pb2, status_pb2

from signalbox_client import FieldViolation
from signalbox_client.errors import from_rpc_error

DETAILS_KEY = "grpc-status-details-bin"


class Failed(grpc.RpcError):
    """A call that ended with a status, as grpcio shows it."""

    def __init__(self, code: grpc.StatusCode, text: str, trailers: list[tuple[str, bytes]]) -> None:
        self._code, self._text, self._trailers = code, text, trailers

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._text

    def trailing_metadata(self) -> list[tuple[str, bytes]]:
        return self._trailers


def failed(code: grpc.StatusCode, *details: message.Message) -> Failed:
    status = status_pb2.Status(code=code.value[0], message="text")
    for each in details:
        packed = any_pb2.Any()
        packed.Pack(each)
        status.details.append(packed)
    return Failed(code, "text", [(DETAILS_KEY, status.SerializeToString())])


def test_all_details_are_read() -> None:
    error = from_rpc_error(
        failed(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            error_details_pb2.ErrorInfo(
                reason="OVERLOADED", domain="signalbox", metadata={"limit": "7"}
            ),
            error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=250_000_000)),
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(field="a", description="b")
                ]
            ),
            error_details_pb2.Help(),  # Unknown ones are passed over.
        )
    )

    assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (error.reason, error.domain) == ("OVERLOADED", "signalbox")
    assert error.metadata == {"limit": "7"}
    assert error.retry_after == 0.25
    assert error.violations == (FieldViolation("a", "b"),)
    assert str(error) == "RESOURCE_EXHAUSTED (OVERLOADED): text"


def test_a_status_without_details_is_read() -> None:
    error = from_rpc_error(Failed(grpc.StatusCode.UNAVAILABLE, "nobody there", []))

    assert str(error) == "UNAVAILABLE: nobody there"
    assert (error.reason, error.retry_after, error.violations) == ("", None, ())


def test_unreadable_details_do_not_hide_the_status() -> None:
    error = from_rpc_error(Failed(grpc.StatusCode.INTERNAL, "text", [(DETAILS_KEY, b"\xff\xff")]))

    assert error.code is grpc.StatusCode.INTERNAL
    assert error.reason == ""
