"""What is called again and what is not, against a server that fails when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from signalbox_client import NO_RETRY, AsyncClient, Client, RetryPolicy, SignalboxError, v1
from signalbox_client.retry import identified

FAST = RetryPolicy(attempts=4, base=0.001, cap=0.01)


class Failing(grpc.GenericRpcHandler):
    """Answers every method with the failures queued, then with an empty message."""

    def __init__(self) -> None:
        self.failures: list[tuple[grpc.StatusCode, str]] = []
        self.bodies: list[list[bytes]] = []

    def service(
        self, details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        def answer(bodies: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
            self.bodies.append(list(bodies))
            if self.failures:
                code, reason = self.failures.pop(0)
                if reason:
                    context.abort_with_status(detailed(code, reason))
                context.abort(code, "without a reason")
            return b""

        return grpc.stream_unary_rpc_method_handler(answer)


def detailed(code: grpc.StatusCode, reason: str) -> grpc.Status:
    details = [any_pb2.Any(), any_pb2.Any()]
    details[0].Pack(error_details_pb2.ErrorInfo(reason=reason, domain="signalbox"))
    retry = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=2_000_000))
    details[1].Pack(retry)
    status = status_pb2.Status(code=code.value[0], message=reason, details=details)
    made: grpc.Status = rpc_status.to_status(status)
    return made


@pytest.fixture
def failing() -> Iterator[tuple[Failing, str]]:
    handler = Failing()
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool)
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield handler, f"127.0.0.1:{port}"
        server.stop(None).wait()


UNAVAILABLE = (grpc.StatusCode.UNAVAILABLE, "")
OVERLOADED = (grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")


def run(target: str, call: Callable[[Client], object], retry: RetryPolicy = FAST) -> None:
    with Client.connect(target, retry=retry, timeout=10) as client:
        call(client)


@pytest.mark.parametrize("failure", [UNAVAILABLE, OVERLOADED])
def test_a_read_is_made_again(
    failing: tuple[Failing, str], failure: tuple[grpc.StatusCode, str]
) -> None:
    handler, target = failing
    handler.failures = [failure] * 3
    run(target, lambda client: client.route("x"))
    assert len(handler.bodies) == 4


def test_the_same_for_asyncio(failing: tuple[Failing, str]) -> None:
    handler, target = failing
    handler.failures = [OVERLOADED, UNAVAILABLE]

    async def call() -> None:
        async with AsyncClient.connect(target, retry=FAST) as client:
            await client.append_events("l", [v1.LoopEvent(custom=v1.Custom(name="n"))])

    asyncio.run(call())
    ids = {v1.AppendEventsRequest.FromString(body).request_id for (body,) in handler.bodies}
    assert len(handler.bodies) == 3
    assert len(ids) == 1
    assert ids != {""}


def test_attempts_come_to_an_end(failing: tuple[Failing, str]) -> None:
    handler, target = failing
    handler.failures = [OVERLOADED] * 9
    with pytest.raises(SignalboxError) as raised:
        run(target, lambda client: client.route("x"))
    assert raised.value.reason == "OVERLOADED"
    assert raised.value.retry_after == 0.002
    assert len(handler.bodies) == 4


def test_no_retry_is_one_call(failing: tuple[Failing, str]) -> None:
    handler, target = failing
    handler.failures = [UNAVAILABLE]
    with pytest.raises(SignalboxError):
        run(target, lambda client: client.route("x"), NO_RETRY)
    assert len(handler.bodies) == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "CATALOG_FULL"),
        (grpc.StatusCode.INTERNAL, "INTERNAL"),
    ],
)
def test_what_would_fail_again_is_not(
    failing: tuple[Failing, str], code: grpc.StatusCode, reason: str
) -> None:
    handler, target = failing
    handler.failures = [(code, reason)]
    with pytest.raises(SignalboxError):
        run(target, lambda client: client.route("x"))
    assert len(handler.bodies) == 1


def test_what_would_be_done_twice_is_not(failing: tuple[Failing, str]) -> None:
    handler, target = failing
    handler.failures = [UNAVAILABLE]
    with pytest.raises(SignalboxError):
        run(target, lambda client: client.delete_entry("x"))
    assert len(handler.bodies) == 1
    # Refused before anything was done: that may be.
    handler.failures = [OVERLOADED]
    run(target, lambda client: client.delete_entry("x"))
    assert len(handler.bodies) == 3


def test_an_import_is_sent_whole_again(failing: tuple[Failing, str]) -> None:
    handler, target = failing
    handler.failures = [UNAVAILABLE]
    header = v1.ImportHeader(source="s")
    run(target, lambda client: client.import_entries("0123456789", header, chunk_bytes=4))
    first, second = handler.bodies
    assert first == second
    assert len(first) == 4


def test_the_timeout_is_over_all_attempts(failing: tuple[Failing, str]) -> None:
    handler, target = failing
    handler.failures = [UNAVAILABLE] * 50
    slow = RetryPolicy(attempts=50, base=30, cap=30)
    with (
        Client.connect(target, retry=slow, timeout=5) as client,
        pytest.raises(SignalboxError) as raised,
    ):
        client.route("x")
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert len(handler.bodies) == 1, "a wait of half a minute has no room in five seconds"


def test_waits_grow_and_obey_the_server() -> None:
    policy = RetryPolicy(attempts=6, base=0.1, cap=0.5)
    error = SignalboxError(grpc.StatusCode.UNAVAILABLE, "")
    waits = [policy.wait(failures, error) for failures in range(1, 6)]
    for wait, longest in zip(waits, (0.1, 0.2, 0.4, 0.5, 0.5), strict=True):
        assert wait is not None
        assert longest / 2 <= wait <= longest
    assert policy.wait(6, error) is None
    asked = SignalboxError(grpc.StatusCode.RESOURCE_EXHAUSTED, "", retry_after=7.0)
    assert policy.wait(1, asked) == 7.0


def test_the_callers_request_stays_as_it_is() -> None:
    request = v1.CreateLoopRequest(agent_id="a")
    assert identified(request).request_id
    assert request.request_id == ""
    named = v1.CreateLoopRequest(request_id="mine")
    assert identified(named).request_id == "mine"
    assert identified(v1.RouteRequest(prompt="x")) == v1.RouteRequest(prompt="x")
