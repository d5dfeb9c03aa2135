"""Health, reflection, server info and the life of the process."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from server import Server

from signalbox_client import Client, SignalboxError, v1

SERVICES = {
    "signalbox.v1.CatalogService",
    "signalbox.v1.RouteService",
    "signalbox.v1.SystemService",
}


@pytest.mark.parametrize(
    "service", ["", "signalbox.v1.RouteService", "startup", "readiness", "liveness"]
)
def test_health(channel: grpc.Channel, service: str) -> None:
    health = health_pb2_grpc.HealthStub(channel)
    answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=30)

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_health_of_an_unknown_service(channel: grpc.Channel) -> None:
    health = health_pb2_grpc.HealthStub(channel)
    with pytest.raises(grpc.RpcError) as raised:
        health.Check(health_pb2.HealthCheckRequest(service="nobody"), timeout=30)

    assert raised.value.code() is grpc.StatusCode.NOT_FOUND


def test_reflection_lists_and_describes_the_services(channel: grpc.Channel) -> None:
    reflection = ProtoReflectionDescriptorDatabase(channel)

    assert {*reflection.get_services()} >= {*SERVICES, "grpc.health.v1.Health"}
    for service in SERVICES:
        described = reflection.FindFileContainingSymbol(service)
        assert service.rpartition(".")[2] in [each.name for each in described.service]


def test_server_info(client: Client) -> None:
    info = client.server_info()

    assert info.version
    assert info.entry_count > 0
    assert info.catalog_revision == client.route("anything").catalog_revision
    assert info.limits.max_prompt_bytes == 65_536
    assert info.limits.max_message_bytes == 4 * 1024 * 1024
    assert info.limits.max_batch == 256
    assert not info.pending


def test_doors_and_readiness_are_announced(server: Server) -> None:
    lines = server.stdout()

    assert f"listening on {server.tcp}" in lines
    assert f"listening on {server.unix}" in lines
    assert any(line.startswith("ready") for line in lines)


def test_socket_is_open_to_its_owner_only(server: Server) -> None:
    assert server.socket.is_socket()
    assert server.socket.stat().st_mode & 0o007 == 0


def test_nobody_there() -> None:
    with (
        Client.connect("unix:/nonexistent/door.sock", timeout=5) as client,
        pytest.raises(SignalboxError) as raised,
    ):
        client.server_info()

    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert raised.value.reason == ""


def test_sigterm_closes_watches_and_exits_cleanly() -> None:
    server = Server()
    try:
        with Client.connect(server.unix) as client, client.watch_catalog(timeout=60) as changes:
            assert next(changes).WhichOneof("event") == "state"
            server.terminate()
            last = next(changes)
            assert last.WhichOneof("event") == "closing"
            assert last.resume_token
            with pytest.raises(SignalboxError) as raised:
                next(changes)
            assert raised.value.reason == "DRAINING"
    finally:
        code = server.stop()
    assert code == 0, server.logs()
    assert not server.socket.exists()
    server.remove()


def test_changes_outlive_the_process_with_a_data_directory(tmp_path: Path) -> None:
    kept = v1.Entry(kind=v1.ENTRY_KIND_TOOL, source="durable", name="kept", title="Kept")
    revisions = []
    for start in range(2):
        server = Server(data_dir=tmp_path / "data")
        try:
            with Client.connect(server.tcp, timeout=30) as client:
                info = client.server_info()
                assert info.durable
                if start == 0:
                    revisions.append(client.upsert_entries([kept]).catalog_revision)
                else:
                    got = client.get_entry("kept", source="durable")
                    assert got.entry == kept
                    revisions.append(got.catalog_revision)
        finally:
            code = server.stop()
        assert code == 0, server.logs()
        server.remove()
    assert revisions[0] == revisions[1], "equal catalogues have equal revisions"
