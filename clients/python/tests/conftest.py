from __future__ import annotations

import time
from collections.abc import Iterator

import grpc
import pytest
from server import Server

from signalbox_client import Client, v1
from signalbox_client.client import channel_options

DOORS = ("tcp", "unix")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One process for all tests that do not end it: each keeps to entries of its own."""
    running = Server(model=True)
    try:
        with Client.connect(running.tcp) as client:
            _settle(client)
        yield running
    finally:
        code = running.stop()
        logs = running.logs()
        running.remove()
    assert code == 0, f"SIGTERM ended it with {code}:\n{logs}"


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> str:
    """Each test that uses a connection runs once for each way in."""
    return str(request.param)


@pytest.fixture
def target(server: Server, door: str) -> str:
    return server.tcp if door == "tcp" else server.unix


@pytest.fixture
def client(target: str) -> Iterator[Client]:
    with Client.connect(target, timeout=30) as connected:
        yield connected


@pytest.fixture
def channel(target: str) -> Iterator[grpc.Channel]:
    """A bare channel, for what the client would not send."""
    with grpc.insecure_channel(target, options=channel_options(target)) as opened:
        yield opened


def _settle(client: Client) -> None:
    """Waits until no model is loading and no vectors are pending: answers before that may
    differ from answers after it."""
    passing = {v1.DEGRADED_REASON_MODEL_LOADING, v1.DEGRADED_REASON_VECTORS_PENDING}
    until = time.monotonic() + 900
    while time.monotonic() < until:
        info = client.server_info()
        reasons = {each.reason for each in info.degraded}
        if not info.pending and not reasons & passing:
            return
        time.sleep(0.2)
    raise AssertionError(f"still settling: {info}")
