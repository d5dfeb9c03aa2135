"""The client: one method for each call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import grpc

from . import v1
from ._generated.signalbox.v1.catalog_service_pb2_grpc import CatalogServiceStub
from ._generated.signalbox.v1.route_service_pb2_grpc import RouteServiceStub
from ._generated.signalbox.v1.system_service_pb2_grpc import SystemServiceStub
from .errors import from_rpc_error
from .stream import Stream

DEFAULT_TIMEOUT = 10.0
"""Seconds that a call may take unless told otherwise."""

IMPORT_CHUNK_BYTES = 256 * 1024
"""Size of the pieces that `import_entries` sends: far below the 4 MiB a server takes at most."""

MAX_RECEIVED_BYTES = 64 * 1024 * 1024
"""Largest answer taken: a page of 1,000 entries can be larger than gRPC's own limit of 4 MiB."""


class Client:
    """Calls one signalbox. Threads may share it.

    Every method raises `SignalboxError` where its call does not end with OK. `timeout` is in
    seconds: None means the client's own, `math.inf` means no deadline.
    """

    def __init__(self, channel: grpc.Channel, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Uses a channel that the caller has set up, and owns it; `connect` makes the usual one."""
        self._channel = channel
        self._timeout = timeout
        self._route: Any = RouteServiceStub(channel)
        self._catalog: Any = CatalogServiceStub(channel)
        self._system: Any = SystemServiceStub(channel)

    @classmethod
    def connect(
        cls,
        target: str = "127.0.0.1:50051",
        *,
        timeout: float = DEFAULT_TIMEOUT,
        options: Sequence[tuple[str, Any]] = (),
    ) -> Client:
        """Makes a client of `host:port` or `unix:/path/to/socket`. Without TLS: a sidecar is
        reached within its pod. The first call connects."""
        channel = grpc.insecure_channel(target, options=[*channel_options(target), *options])
        return cls(channel, timeout=timeout)

    def close(self) -> None:
        """Closes the channel. Calls in flight end with CANCELLED."""
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # RouteService

    def route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> v1.RouteResponse:
        """Routes one prompt; a `v1.RouteRequest` can say more than the prompt."""
        response: v1.RouteResponse = self._unary(self._route.Route, _routed(prompt), timeout)
        return response

    def batch_route(
        self, prompts: Iterable[str | v1.RouteRequest], *, timeout: float | None = None
    ) -> v1.BatchRouteResponse:
        """Routes several prompts against one catalogue revision."""
        request = v1.BatchRouteRequest(requests=[_routed(prompt) for prompt in prompts])
        response: v1.BatchRouteResponse = self._unary(self._route.BatchRoute, request, timeout)
        return response

    def plan_route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> v1.PlanRouteResponse:
        """The steps of a prompt that asks for several things, in the order meant."""
        request = v1.PlanRouteRequest(route=_routed(prompt))
        response: v1.PlanRouteResponse = self._unary(self._route.PlanRoute, request, timeout)
        return response

    def stream_route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> Stream[v1.StreamRouteResponse]:
        """Routes one prompt and answers stage by stage; the decision is the last message."""
        request = v1.StreamRouteRequest(route=_routed(prompt))
        return Stream(self._route.StreamRoute(request, timeout=self._seconds(timeout)))

    # CatalogService

    def set_preferences(
        self, request: v1.SetPreferencesRequest, *, timeout: float | None = None
    ) -> v1.SetPreferencesResponse:
        """Replaces the preferences of a tenant or of one of its users."""
        response: v1.SetPreferencesResponse = self._unary(
            self._catalog.SetPreferences, request, timeout
        )
        return response

    def get_preferences(
        self, *, tenant: str = "", user: str = "", timeout: float | None = None
    ) -> v1.GetPreferencesResponse:
        """The preferences of a tenant or user, and what holds for its calls."""
        request = v1.GetPreferencesRequest(tenant=tenant, user=user)
        response: v1.GetPreferencesResponse = self._unary(
            self._catalog.GetPreferences, request, timeout
        )
        return response

    def get_entry(
        self, name: str, *, source: str = "", timeout: float | None = None
    ) -> v1.GetEntryResponse:
        """One entry; an empty source means `api`."""
        request = v1.GetEntryRequest(source=source, name=name)
        response: v1.GetEntryResponse = self._unary(self._catalog.GetEntry, request, timeout)
        return response

    def list_page(
        self, request: v1.ListEntriesRequest, *, timeout: float | None = None
    ) -> v1.ListEntriesResponse:
        """One page of entries."""
        response: v1.ListEntriesResponse = self._unary(self._catalog.ListEntries, request, timeout)
        return response

    def list_entries(
        self,
        *,
        kind: v1.EntryKind = v1.ENTRY_KIND_UNSPECIFIED,
        source: str = "",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[v1.Entry]:
        """All entries of a kind and source, fetched page by page; `timeout` is for each page."""
        request = v1.ListEntriesRequest(kind=kind, source=source, page_size=page_size)
        while True:
            page = self.list_page(request, timeout=timeout)
            yield from page.entries
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def upsert_entries(
        self, entries: Iterable[v1.Entry], *, timeout: float | None = None
    ) -> v1.ChangeSummary:
        """Inserts or replaces entries, all or none; they are routable when this returns."""
        request = v1.UpsertEntriesRequest(entries=entries)
        response: v1.UpsertEntriesResponse = self._unary(
            self._catalog.UpsertEntries, request, timeout
        )
        return response.summary

    def delete_entry(
        self,
        name: str,
        *,
        source: str = "",
        allow_missing: bool = False,
        timeout: float | None = None,
    ) -> v1.ChangeSummary:
        """Deletes one entry; an empty source means `api`."""
        request = v1.DeleteEntryRequest(source=source, name=name, allow_missing=allow_missing)
        response: v1.DeleteEntryResponse = self._unary(self._catalog.DeleteEntry, request, timeout)
        return response.summary

    def import_entries(
        self,
        document: str | bytes,
        header: v1.ImportHeader,
        *,
        chunk_bytes: int = IMPORT_CHUNK_BYTES,
        timeout: float | None = None,
    ) -> v1.ImportEntriesResponse:
        """Imports one catalogue document, all or none. `header` names its format."""
        raw = document.encode() if isinstance(document, str) else document

        def parts() -> Iterator[v1.ImportEntriesRequest]:
            yield v1.ImportEntriesRequest(header=header)
            for start in range(0, len(raw), chunk_bytes):
                yield v1.ImportEntriesRequest(chunk=raw[start : start + chunk_bytes])

        response: v1.ImportEntriesResponse = self._unary(
            self._catalog.ImportEntries, parts(), timeout
        )
        return response

    def watch_catalog(
        self, *, resume_token: str = "", timeout: float = math.inf
    ) -> Stream[v1.WatchCatalogResponse]:
        """Says what changes from now on, or from a resume token on."""
        request = v1.WatchCatalogRequest(resume_token=resume_token)
        return Stream(self._catalog.WatchCatalog(request, timeout=self._seconds(timeout)))

    # SystemService

    def server_info(self, *, timeout: float | None = None) -> v1.GetServerInfoResponse:
        """Version, model, limits, and what is degraded or pending."""
        response: v1.GetServerInfoResponse = self._unary(
            self._system.GetServerInfo, v1.GetServerInfoRequest(), timeout
        )
        return response

    def _seconds(self, timeout: float | None) -> float | None:
        seconds = self._timeout if timeout is None else timeout
        return None if seconds == math.inf else seconds

    def _unary(self, method: Any, request: Any, timeout: float | None) -> Any:
        try:
            return method(request, timeout=self._seconds(timeout))
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error


def channel_options(target: str) -> list[tuple[str, Any]]:
    """What a channel to signalbox needs, for those who make their own."""
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
        # A proxy named by the environment is for the world outside the pod.
        ("grpc.enable_http_proxy", 0),
    ]
    if target.startswith(("unix:", "unix-abstract:")):
        # grpcio would send the socket's path as `:authority`, which HTTP/2 servers in Rust
        # refuse with a reset.
        options.append(("grpc.default_authority", "localhost"))
    return options


def _routed(prompt: str | v1.RouteRequest) -> v1.RouteRequest:
    return prompt if isinstance(prompt, v1.RouteRequest) else v1.RouteRequest(prompt=prompt)
