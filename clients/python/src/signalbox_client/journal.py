"""Following the journal through broken connections."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import grpc

from . import v1
from .errors import SignalboxError, from_rpc_error
from .retry import RetryPolicy

RESUMABLE = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL})
"""Codes of a stream that broke; with the reason SLOW_CONSUMER also ABORTED."""


def is_resumable(error: SignalboxError) -> bool:
    """Whether a stream that ended so goes on from its position. A position that is not kept any
    more (POSITION_OUT_OF_RANGE) is not: events would be missing."""
    return error.code in RESUMABLE or error.reason in ("SLOW_CONSUMER", "OVERLOADED", "DRAINING")


class Place:
    """Where a follower is: what the next stream has to ask for."""

    def __init__(self, request: v1.StreamEventsRequest) -> None:
        self._request = v1.StreamEventsRequest()
        self._request.CopyFrom(request)

    @property
    def position(self) -> str:
        return self._request.position

    def request(self) -> v1.StreamEventsRequest:
        copy = v1.StreamEventsRequest()
        copy.CopyFrom(self._request)
        return copy

    def passed(self, position: str) -> None:
        if position:
            self._request.position = position
            # A position says where to begin; an origin beside it would contradict it.
            self._request.origin = v1.STREAM_ORIGIN_UNSPECIFIED


class JournalFollower:
    """Iterates over events, each once and in order, also where the connection breaks or the
    server restarts. `position` is behind the last event that was handed out: a follower that
    begins there misses nothing and repeats nothing.

    Ends when everything was replayed (`replay_only`) or after `close`; raises `SignalboxError`
    where the stream cannot go on.
    """

    def __init__(
        self,
        open_stream: Callable[[v1.StreamEventsRequest], Any],
        request: v1.StreamEventsRequest,
        policy: RetryPolicy,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._open = open_stream
        self._place = Place(request)
        self._policy = policy
        self._sleep = sleep
        self._call: Any = None
        self._entries: deque[v1.JournalEntry] = deque()
        self._resume = ""
        self._failures = 0
        self._closed = False

    @property
    def position(self) -> str:
        """Behind the last event that was handed out; empty before the first."""
        return self._place.position

    def close(self) -> None:
        """Ends the iteration; may be called from another thread."""
        self._closed = True
        if self._call is not None:
            self._call.cancel()

    def __iter__(self) -> Iterator[v1.JournalEntry]:
        return self

    def __next__(self) -> v1.JournalEntry:
        while not self._closed:
            if self._entries:
                entry = self._entries.popleft()
                self._place.passed(entry.position)
                return entry
            # All of the last message was handed out: what it skipped need not be read again.
            self._place.passed(self._resume)
            if not self._receive():
                break
        raise StopIteration

    def _receive(self) -> bool:
        """Takes the next message; whether there is one to come."""
        try:
            if self._call is None:
                self._call = self._open(self._place.request())
            message: v1.StreamEventsResponse = next(self._call)
        except StopIteration:
            return False
        except grpc.RpcError as raw:
            self._call, self._resume = None, ""
            if self._closed:
                return False
            error = from_rpc_error(raw)
            self._failures += 1
            wait = self._policy.wait(self._failures, error) if is_resumable(error) else None
            if wait is None:
                raise error from raw
            self._sleep(wait)
            return True
        self._failures = 0
        self._resume = message.resume_token
        self._entries.extend(message.events.entries)
        return True

    def __enter__(self) -> JournalFollower:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
