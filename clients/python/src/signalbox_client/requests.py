"""Requests that both clients make from what is easier to say."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from google.protobuf import message_factory
from google.protobuf.message import Message

from . import v1

DEFAULT_TIMEOUT = 10.0
"""Seconds that a call may take unless told otherwise, its repetitions included."""

IMPORT_CHUNK_BYTES = 256 * 1024
"""Size of the pieces that `import_entries` sends: far below the 4 MiB a server takes at most."""

MAX_RECEIVED_BYTES = 64 * 1024 * 1024
"""Largest answer taken: a page of 1,000 entries can be larger than gRPC's own limit of 4 MiB."""


def channel_options(target: str) -> list[tuple[str, Any]]:
    """What a channel to signalbox needs, for those who make their own."""
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
        # A proxy named by the environment is for the world outside the pod.
        ("grpc.enable_http_proxy", 0),
        # What is repeated, and when, is for RetryPolicy to say.
        ("grpc.enable_retries", 0),
    ]
    if target.startswith(("unix:", "unix-abstract:")):
        # grpcio would send the socket's path as `:authority`, which HTTP/2 servers in Rust
        # refuse with a reset.
        options.append(("grpc.default_authority", "localhost"))
    return options


class Deadline:
    """The end of a call, over all its repetitions. None or `math.inf` seconds is no end."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        endless = seconds is None or seconds == math.inf
        self._end = None if endless or seconds is None else clock() + seconds

    def left(self) -> float | None:
        """Seconds left, as grpc takes them."""
        return None if self._end is None else max(0.0, self._end - self._clock())

    def allows(self, wait: float) -> bool:
        """Whether there is time left after so many seconds."""
        left = self.left()
        return left is None or wait < left


def method_of(request: Message) -> tuple[str, str, type[Message]]:
    """The unary method that takes this message: its path, its name, and what it answers."""
    for service in request.DESCRIPTOR.file.services_by_name.values():
        for method in service.methods:
            streams = method.client_streaming or method.server_streaming
            if method.input_type is request.DESCRIPTOR and not streams:
                output: Any = method.output_type
                answer = message_factory.GetMessageClass(output)
                return f"/{service.full_name}/{method.name}", method.name, answer
    raise TypeError(f"no unary call takes a {request.DESCRIPTOR.full_name}")


def routed(prompt: str | v1.RouteRequest) -> v1.RouteRequest:
    return prompt if isinstance(prompt, v1.RouteRequest) else v1.RouteRequest(prompt=prompt)


def import_parts(
    document: str | bytes, header: v1.ImportHeader, chunk_bytes: int
) -> Callable[[], Iterator[v1.ImportEntriesRequest]]:
    """The messages of one import; each call of the result sends them anew."""
    raw = document.encode() if isinstance(document, str) else document

    def parts() -> Iterator[v1.ImportEntriesRequest]:
        yield v1.ImportEntriesRequest(header=header)
        for start in range(0, len(raw), chunk_bytes):
            yield v1.ImportEntriesRequest(chunk=raw[start : start + chunk_bytes])

    return parts


def append_request(
    loop_id: str,
    events: Iterable[v1.LoopEvent | v1.NewLoopEvent],
    agent_id: str,
    request_id: str,
    expected_sequence: int | None,
) -> v1.AppendEventsRequest:
    request = v1.AppendEventsRequest(
        loop_id=loop_id,
        agent_id=agent_id,
        request_id=request_id,
        events=[
            event if isinstance(event, v1.NewLoopEvent) else v1.NewLoopEvent(event=event)
            for event in events
        ],
    )
    if expected_sequence is not None:
        request.expected_sequence = expected_sequence
    return request


def stream_request(
    loop_id: str,
    position: str,
    from_now: bool,
    replay_only: bool,
    types: Iterable[v1.LoopEventType],
    agent_id: str,
) -> v1.StreamEventsRequest:
    origin = v1.STREAM_ORIGIN_NOW if from_now else v1.STREAM_ORIGIN_EARLIEST
    return v1.StreamEventsRequest(
        loop_id=loop_id,
        agent_id=agent_id,
        types=list(types),
        position=position,
        origin=v1.STREAM_ORIGIN_UNSPECIFIED if position else origin,
        replay_only=replay_only,
    )


def create_request(
    request: v1.CreateLoopRequest | None,
    tools: Iterable[v1.LoopTool],
    config: v1.LoopConfig | None,
    text: str,
    agent_id: str,
    loop_id: str,
) -> v1.CreateLoopRequest:
    if request is not None:
        return request
    return v1.CreateLoopRequest(
        loop_id=loop_id, agent_id=agent_id, config=config, tools=tools, input=text
    )


def report_request(
    loop_id: str,
    step: v1.ReportedStep | None,
    event: v1.LoopEvent | None,
    step_id: str,
) -> v1.ReportStepRequest:
    if (step is None) == (event is None):
        raise ValueError("give either a step or an event")
    return v1.ReportStepRequest(loop_id=loop_id, step_id=step_id, step=step, event=event)


def failed_request(loop_id: str, step_id: str, error: str, action: str) -> v1.RecordAttemptRequest:
    return v1.RecordAttemptRequest(
        loop_id=loop_id,
        step_id=step_id,
        failed=v1.FailedAttempt(action=action, error=error),
    )


def describe(error: BaseException) -> str:
    """An exception as the detail of a loop's end: short, and without its notes or cause."""
    return f"{type(error).__name__}: {error}"[:1_000]
