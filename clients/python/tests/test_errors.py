"""Calls that must fail, over both doors: the status, the reason and the field."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import grpc
import pytest
from server import Server

from signalbox_client import Client, SignalboxError, v1
from signalbox_client.errors import from_rpc_error

ROUTE = "/signalbox.v1.RouteService/Route"


def as_is(message: bytes) -> bytes:
    return message


def fields(error: SignalboxError) -> list[str]:
    return [violation.field for violation in error.violations]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        pytest.param(v1.RouteRequest(), "prompt", id="empty-prompt"),
        pytest.param(v1.RouteRequest(prompt=" \t\n"), "prompt", id="blank-prompt"),
        pytest.param(v1.RouteRequest(prompt="x" * 65_537), "prompt", id="large-prompt"),
        pytest.param(v1.RouteRequest(prompt="x", limit=-1), "limit", id="negative-limit"),
        pytest.param(v1.RouteRequest(prompt="x", limit=1_001), "limit", id="large-limit"),
        pytest.param(v1.RouteRequest(prompt="x", min_score=1.5), "min_score", id="large-score"),
        pytest.param(v1.RouteRequest(prompt="x", min_score=math.nan), "min_score", id="nan-score"),
        pytest.param(v1.RouteRequest(prompt="x", mode=99), "mode", id="unknown-mode"),
        pytest.param(v1.RouteRequest(prompt="x", view=99), "view", id="unknown-view"),
    ],
)
def test_invalid_field_is_named(client: Client, request_: v1.RouteRequest, field: str) -> None:
    with pytest.raises(SignalboxError) as raised:
        client.route(request_)

    error = raised.value
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert (error.domain, error.reason) == ("signalbox", "INVALID_FIELD")
    assert fields(error) == [field]
    assert error.violations[0].description


def test_all_invalid_fields_are_listed(client: Client) -> None:
    with pytest.raises(SignalboxError) as raised:
        client.route(v1.RouteRequest(prompt="", limit=-1, min_score=2))

    assert sorted(fields(raised.value)) == ["limit", "min_score", "prompt"]


def test_batch_names_the_request(client: Client) -> None:
    with pytest.raises(SignalboxError) as raised:
        client.batch_route(["fine", ""])

    assert raised.value.reason == "INVALID_FIELD"
    assert fields(raised.value) == ["requests[1].prompt"]


def test_many_violations_still_arrive(client: Client) -> None:
    # The status travels in HTTP/2 trailers. grpcio drops at random those above 8 KiB and all
    # above 16 KiB, and the caller sees RESOURCE_EXHAUSTED instead.
    wrong = v1.RouteRequest(prompt=" ", limit=-1, min_score=2)
    reasons = set()
    for _ in range(20):
        with pytest.raises(SignalboxError) as raised:
            client.batch_route([wrong] * 256)
        reasons.add((raised.value.code, raised.value.reason))

    assert reasons == {(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")}
    assert "requests[0].prompt" in fields(raised.value)


def test_stream_fails_like_the_unary_call(client: Client) -> None:
    with client.stream_route("") as stages, pytest.raises(SignalboxError) as raised:
        next(stages)

    assert raised.value.reason == "INVALID_FIELD"
    assert fields(raised.value) == ["route.prompt"]


def test_upsert_names_the_entry(client: Client) -> None:
    good = v1.Entry(kind=v1.ENTRY_KIND_TOOL, source="errors", name="good")
    with pytest.raises(SignalboxError) as raised:
        client.upsert_entries([good, v1.Entry(kind=v1.ENTRY_KIND_TOOL, source="errors")])

    assert raised.value.reason == "INVALID_FIELD"
    assert fields(raised.value) == ["entries[1].name"]
    assert not list(client.list_entries(source="errors")), "all or none"


def test_foreign_page_token_is_refused(client: Client) -> None:
    with pytest.raises(SignalboxError) as raised:
        client.list_page(v1.ListEntriesRequest(page_token="made up"))

    assert raised.value.reason == "INVALID_FIELD"
    assert fields(raised.value) == ["page_token"]


def test_missing_entry(client: Client) -> None:
    with pytest.raises(SignalboxError) as raised:
        client.get_entry("nowhere", source="errors")

    error = raised.value
    assert error.code is grpc.StatusCode.NOT_FOUND
    assert (error.domain, error.reason) == ("signalbox", "ENTRY_NOT_FOUND")
    assert error.metadata["name"] == "nowhere"
    assert error.metadata["source"] == "errors"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\x0a\x02\xff\xfe", id="invalid-utf8"),
        pytest.param(b"\x0a\x7fshort", id="cut-off"),
        pytest.param(b"\x0f", id="no-such-wire-type"),
    ],
)
def test_malformed_bytes(channel: grpc.Channel, raw: bytes) -> None:
    call = channel.unary_unary(ROUTE, request_serializer=as_is, response_deserializer=as_is)
    with pytest.raises(grpc.RpcError) as raised:
        call(raw, timeout=30)

    error = from_rpc_error(raised.value)
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.reason == "MALFORMED_MESSAGE"


def test_unknown_method(channel: grpc.Channel) -> None:
    call = channel.unary_unary(
        "/signalbox.v1.RouteService/Reroute",
        request_serializer=as_is,
        response_deserializer=as_is,
    )
    with pytest.raises(grpc.RpcError) as raised:
        call(b"", timeout=30)

    error = from_rpc_error(raised.value)
    assert error.code is grpc.StatusCode.UNIMPLEMENTED
    assert error.reason == "UNKNOWN_METHOD"


def test_message_over_the_limit(client: Client) -> None:
    with pytest.raises(SignalboxError) as raised:
        client.route("x" * 6_000_000)

    assert raised.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert raised.value.reason == "MESSAGE_TOO_LARGE"
    assert client.route("the connection lives").catalog_revision


def test_import_without_a_header(channel: grpc.Channel) -> None:
    call = channel.stream_unary(
        "/signalbox.v1.CatalogService/ImportEntries",
        request_serializer=v1.ImportEntriesRequest.SerializeToString,
        response_deserializer=v1.ImportEntriesResponse.FromString,
    )

    def parts() -> Iterator[v1.ImportEntriesRequest]:
        yield v1.ImportEntriesRequest(chunk=b"[]")

    with pytest.raises(grpc.RpcError) as raised:
        call(parts(), timeout=30)

    error = from_rpc_error(raised.value)
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.reason == "INVALID_FIELD"


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(lambda client: client.route("a short deadline", timeout=0.001), id="route"),
        pytest.param(
            lambda client: list(client.stream_route("a short deadline", timeout=0.001)),
            id="stream",
        ),
        pytest.param(
            lambda client: client.batch_route(["a short deadline"] * 100, timeout=0.001),
            id="batch",
        ),
    ],
)
def test_short_deadline_harms_nothing(
    client: Client, server: Server, method: Callable[[Client], object]
) -> None:
    codes = set()
    for _ in range(20):
        try:
            method(client)
        except SignalboxError as error:
            codes.add(error.code)

    assert codes <= {grpc.StatusCode.DEADLINE_EXCEEDED}
    assert server.alive
    assert client.route("no deadline to speak of").catalog_revision
