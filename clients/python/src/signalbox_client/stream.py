"""Answers that arrive one by one."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc

from .errors import from_rpc_error

T = TypeVar("T")


class Stream(Generic[T]):
    """Iterates over the messages of one call; leaving its `with` block cancels the call.

    Ends when the server has sent everything or after `cancel`; any other end raises
    `SignalboxError`.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._cancelled = False

    def cancel(self) -> None:
        """Ends the call; may be called from another thread."""
        self._cancelled = True
        self._call.cancel()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            message: T = next(self._call)
        except grpc.RpcError as error:
            if self._cancelled and error.code() is grpc.StatusCode.CANCELLED:
                raise StopIteration from None
            raise from_rpc_error(error) from error
        return message

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()
