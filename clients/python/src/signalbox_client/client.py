"""The client: one method for each call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import grpc

from . import requests, v1
from ._generated.signalbox.v1.catalog_service_pb2_grpc import CatalogServiceStub
from ._generated.signalbox.v1.journal_service_pb2_grpc import JournalServiceStub
from ._generated.signalbox.v1.loop_service_pb2_grpc import LoopServiceStub
from ._generated.signalbox.v1.route_service_pb2_grpc import RouteServiceStub
from ._generated.signalbox.v1.system_service_pb2_grpc import SystemServiceStub
from .errors import from_rpc_error
from .journal import JournalFollower
from .loop import Loop
from .requests import DEFAULT_TIMEOUT, IMPORT_CHUNK_BYTES, Deadline, channel_options
from .retry import FOLLOW, RetryPolicy, identified, may_repeat
from .stream import Stream

__all__ = ["DEFAULT_TIMEOUT", "Client", "channel_options"]


class Client:
    """Calls one signalbox. Threads may share it.

    Every method raises `SignalboxError` where its call does not end with OK. `timeout` is in
    seconds: None means the client's own, `math.inf` means no deadline. A call that was refused,
    or that found no server, is made again as `retry` says, within its timeout; one that would do
    something twice is not.
    """

    def __init__(
        self,
        channel: grpc.Channel,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retry: RetryPolicy | None = None,
    ) -> None:
        """Uses a channel that the caller has set up, and owns it; `connect` makes the usual one."""
        self._channel = channel
        self._timeout = timeout
        self._retry = RetryPolicy() if retry is None else retry
        self._route: Any = RouteServiceStub(channel)
        self._catalog: Any = CatalogServiceStub(channel)
        self._journal: Any = JournalServiceStub(channel)
        self._loop: Any = LoopServiceStub(channel)
        self._system: Any = SystemServiceStub(channel)

    @classmethod
    def connect(
        cls,
        target: str = "127.0.0.1:50051",
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retry: RetryPolicy | None = None,
        options: Sequence[tuple[str, Any]] = (),
    ) -> Client:
        """Makes a client of `host:port` or `unix:/path/to/socket`. Without TLS: a sidecar is
        reached within its pod. The first call connects."""
        channel = grpc.insecure_channel(target, options=[*channel_options(target), *options])
        return cls(channel, timeout=timeout, retry=retry)

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

    def call(self, request: Any, *, timeout: float | None = None) -> Any:
        """Makes the unary call that takes this request, of whatever service, and answers its
        response: `client.call(v1.RecallKnowledgeRequest(query="..."))`. For calls that have no
        method of their own here."""
        path, name, answer = requests.method_of(request)
        method: Any = self._channel.unary_unary(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        return self._unary(name, method, request, timeout)

    # RouteService

    def route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> v1.RouteResponse:
        """Routes one prompt; a `v1.RouteRequest` can say more than the prompt."""
        response: v1.RouteResponse = self._unary(
            "Route", self._route.Route, requests.routed(prompt), timeout
        )
        return response

    def batch_route(
        self, prompts: Iterable[str | v1.RouteRequest], *, timeout: float | None = None
    ) -> v1.BatchRouteResponse:
        """Routes several prompts against one catalogue revision."""
        request = v1.BatchRouteRequest(requests=[requests.routed(prompt) for prompt in prompts])
        response: v1.BatchRouteResponse = self._unary(
            "BatchRoute", self._route.BatchRoute, request, timeout
        )
        return response

    def plan_route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> v1.PlanRouteResponse:
        """The steps of a prompt that asks for several things, in the order meant."""
        request = v1.PlanRouteRequest(route=requests.routed(prompt))
        response: v1.PlanRouteResponse = self._unary(
            "PlanRoute", self._route.PlanRoute, request, timeout
        )
        return response

    def stream_route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> Stream[v1.StreamRouteResponse]:
        """Routes one prompt and answers stage by stage; the decision is the last message."""
        request = v1.StreamRouteRequest(route=requests.routed(prompt))
        return Stream(self._route.StreamRoute(request, timeout=self._seconds(timeout)))

    # CatalogService

    def set_preferences(
        self, request: v1.SetPreferencesRequest, *, timeout: float | None = None
    ) -> v1.SetPreferencesResponse:
        """Replaces the preferences of a tenant or of one of its users."""
        response: v1.SetPreferencesResponse = self._unary(
            "SetPreferences", self._catalog.SetPreferences, request, timeout
        )
        return response

    def get_preferences(
        self, *, tenant: str = "", user: str = "", timeout: float | None = None
    ) -> v1.GetPreferencesResponse:
        """The preferences of a tenant or user, and what holds for its calls."""
        request = v1.GetPreferencesRequest(tenant=tenant, user=user)
        response: v1.GetPreferencesResponse = self._unary(
            "GetPreferences", self._catalog.GetPreferences, request, timeout
        )
        return response

    def get_entry(
        self, name: str, *, source: str = "", timeout: float | None = None
    ) -> v1.GetEntryResponse:
        """One entry; an empty source means `api`."""
        request = v1.GetEntryRequest(source=source, name=name)
        response: v1.GetEntryResponse = self._unary(
            "GetEntry", self._catalog.GetEntry, request, timeout
        )
        return response

    def list_page(
        self, request: v1.ListEntriesRequest, *, timeout: float | None = None
    ) -> v1.ListEntriesResponse:
        """One page of entries."""
        response: v1.ListEntriesResponse = self._unary(
            "ListEntries", self._catalog.ListEntries, request, timeout
        )
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
            "UpsertEntries", self._catalog.UpsertEntries, request, timeout
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
        response: v1.DeleteEntryResponse = self._unary(
            "DeleteEntry", self._catalog.DeleteEntry, request, timeout
        )
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
        parts = requests.import_parts(document, header, chunk_bytes)
        response: v1.ImportEntriesResponse = self._repeated(
            "ImportEntries",
            lambda left: self._catalog.ImportEntries(parts(), timeout=left),
            timeout,
        )
        return response

    def watch_catalog(
        self, *, resume_token: str = "", timeout: float = math.inf
    ) -> Stream[v1.WatchCatalogResponse]:
        """Says what changes from now on, or from a resume token on."""
        request = v1.WatchCatalogRequest(resume_token=resume_token)
        return Stream(self._catalog.WatchCatalog(request, timeout=self._seconds(timeout)))

    # LoopService

    def loop(
        self,
        *,
        input: str = "",
        tools: Iterable[v1.LoopTool] = (),
        config: v1.LoopConfig | None = None,
        agent_id: str = "",
        loop_id: str = "",
        request: v1.CreateLoopRequest | None = None,
        keep_lease: bool = True,
        timeout: float | None = None,
    ) -> Loop:
        """Begins a loop, for a `with` block. A `v1.CreateLoopRequest` can say more."""
        create = requests.create_request(request, tools, config, input, agent_id, loop_id)
        return Loop(self, self.create_loop(create, timeout=timeout), keep_lease=keep_lease)

    def create_loop(
        self, request: v1.CreateLoopRequest, *, timeout: float | None = None
    ) -> v1.CreateLoopResponse:
        """Begins a loop and filters its tools."""
        response: v1.CreateLoopResponse = self._unary(
            "CreateLoop", self._loop.CreateLoop, request, timeout
        )
        return response

    def filter_tools(
        self, request: v1.FilterToolsRequest, *, timeout: float | None = None
    ) -> v1.FilterToolsResponse:
        """Filters tools by a profile, or by that of a loop."""
        response: v1.FilterToolsResponse = self._unary(
            "FilterTools", self._loop.FilterTools, request, timeout
        )
        return response

    def report_step(
        self, request: v1.ReportStepRequest, *, timeout: float | None = None
    ) -> v1.ReportStepResponse:
        """Reports what happened in a loop; answers whether to go on."""
        response: v1.ReportStepResponse = self._unary(
            "ReportStep", self._loop.ReportStep, request, timeout
        )
        return response

    def record_attempt(
        self, request: v1.RecordAttemptRequest, *, timeout: float | None = None
    ) -> v1.RecordAttemptResponse:
        """Records a failed attempt at a step, or begins a step anew."""
        response: v1.RecordAttemptResponse = self._unary(
            "RecordAttempt", self._loop.RecordAttempt, request, timeout
        )
        return response

    def get_loop(self, loop_id: str, *, timeout: float | None = None) -> v1.Loop:
        """Where a loop stands."""
        request = v1.GetLoopRequest(loop_id=loop_id)
        response: v1.GetLoopResponse = self._unary("GetLoop", self._loop.GetLoop, request, timeout)
        return response.loop

    def close_loop(
        self,
        loop_id: str,
        *,
        reason: v1.TerminationReason = v1.TERMINATION_REASON_UNSPECIFIED,
        detail: str = "",
        timeout: float | None = None,
    ) -> v1.Loop:
        """Ends a loop; one that has ended already answers how it did."""
        request = v1.CloseLoopRequest(loop_id=loop_id, reason=reason, detail=detail)
        response: v1.CloseLoopResponse = self._unary(
            "CloseLoop", self._loop.CloseLoop, request, timeout
        )
        return response.loop

    def run_loop_stream(self, messages: Iterator[v1.RunLoopRequest]) -> Any:
        """The bare stream of RunLoop; it raises `grpc.RpcError`."""
        return self._loop.RunLoop(messages)

    # JournalService

    def append_events(
        self,
        loop_id: str,
        events: Iterable[v1.LoopEvent | v1.NewLoopEvent],
        *,
        agent_id: str = "",
        request_id: str = "",
        expected_sequence: int | None = None,
        timeout: float | None = None,
    ) -> v1.AppendEventsResponse:
        """Appends events to a loop, all or none; they are on disk when this returns."""
        request = requests.append_request(loop_id, events, agent_id, request_id, expected_sequence)
        response: v1.AppendEventsResponse = self._unary(
            "AppendEvents", self._journal.AppendEvents, request, timeout
        )
        return response

    def list_events(
        self, request: v1.ListEventsRequest | None = None, *, timeout: float | None = None
    ) -> Iterator[v1.JournalEntry]:
        """All events that a request asks for, fetched page by page; `timeout` is for each."""
        asked = v1.ListEventsRequest()
        asked.CopyFrom(request or v1.ListEventsRequest())
        while True:
            page: v1.ListEventsResponse = self._unary(
                "ListEvents", self._journal.ListEvents, asked, timeout
            )
            yield from page.entries
            if not page.next_page_token:
                return
            asked.page_token = page.next_page_token

    def purge_events(
        self, request: v1.PurgeEventsRequest, *, timeout: float | None = None
    ) -> v1.PurgeEventsResponse:
        """Removes events, or says how many would be."""
        response: v1.PurgeEventsResponse = self._unary(
            "PurgeEvents", self._journal.PurgeEvents, request, timeout
        )
        return response

    def follow_events(
        self,
        loop_id: str = "",
        *,
        position: str = "",
        from_now: bool = False,
        replay_only: bool = False,
        types: Iterable[v1.LoopEventType] = (),
        agent_id: str = "",
        retry: RetryPolicy = FOLLOW,
    ) -> JournalFollower:
        """Replays events and then follows, through broken connections and restarts."""
        request = requests.stream_request(loop_id, position, from_now, replay_only, types, agent_id)
        return JournalFollower(self._journal.StreamEvents, request, retry)

    # SystemService

    def server_info(self, *, timeout: float | None = None) -> v1.GetServerInfoResponse:
        """Version, model, limits, and what is degraded or pending."""
        response: v1.GetServerInfoResponse = self._unary(
            "GetServerInfo", self._system.GetServerInfo, v1.GetServerInfoRequest(), timeout
        )
        return response

    def _seconds(self, timeout: float | None) -> float | None:
        seconds = self._timeout if timeout is None else timeout
        return None if seconds == math.inf else seconds

    def _unary(self, name: str, method: Any, request: Any, timeout: float | None) -> Any:
        request = identified(request)
        return self._repeated(name, lambda left: method(request, timeout=left), timeout)

    def _repeated(
        self, name: str, call: Callable[[float | None], Any], timeout: float | None
    ) -> Any:
        deadline = Deadline(self._seconds(timeout))
        failures = 0
        while True:
            try:
                return call(deadline.left())
            except grpc.RpcError as raw:
                error = from_rpc_error(raw)
                failures += 1
                wait = self._retry.wait(failures, error) if may_repeat(name, error) else None
                if wait is None or not deadline.allows(wait):
                    raise error from raw
            time.sleep(wait)
