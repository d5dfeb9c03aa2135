"""The client for asyncio: the methods of `Client`, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
import grpc.aio

from . import requests, v1
from ._generated.signalbox.v1.catalog_service_pb2_grpc import CatalogServiceStub
from ._generated.signalbox.v1.journal_service_pb2_grpc import JournalServiceStub
from ._generated.signalbox.v1.loop_service_pb2_grpc import LoopServiceStub
from ._generated.signalbox.v1.route_service_pb2_grpc import RouteServiceStub
from ._generated.signalbox.v1.system_service_pb2_grpc import SystemServiceStub
from .errors import SignalboxError, from_aio_error
from .journal import Place, is_resumable
from .requests import DEFAULT_TIMEOUT, IMPORT_CHUNK_BYTES, Deadline, channel_options
from .retry import FOLLOW, RetryPolicy, identified, may_repeat

T = TypeVar("T")


class AsyncStream(Generic[T]):
    """Iterates over the messages of one call; leaving its `async with` block cancels the call."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._cancelled = False

    def cancel(self) -> None:
        """Ends the call."""
        self._cancelled = True
        self._call.cancel()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        try:
            message: T = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise from_aio_error(error) from error
        except asyncio.CancelledError:
            # The task's own end passes on; that of the call is just the end.
            if not self._cancelled:
                raise
            raise StopAsyncIteration from None
        if message is grpc.aio.EOF:
            raise StopAsyncIteration
        return message

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()


class AsyncJournalFollower:
    """`JournalFollower` for asyncio: each event once and in order, through broken connections."""

    def __init__(
        self,
        open_stream: Callable[[v1.StreamEventsRequest], Any],
        request: v1.StreamEventsRequest,
        policy: RetryPolicy,
    ) -> None:
        self._open = open_stream
        self._place = Place(request)
        self._policy = policy
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
        """Ends the iteration."""
        self._closed = True
        if self._call is not None:
            self._call.cancel()

    def __aiter__(self) -> AsyncIterator[v1.JournalEntry]:
        return self

    async def __anext__(self) -> v1.JournalEntry:
        while not self._closed:
            if self._entries:
                entry = self._entries.popleft()
                self._place.passed(entry.position)
                return entry
            self._place.passed(self._resume)
            if not await self._receive():
                break
        raise StopAsyncIteration

    async def _receive(self) -> bool:
        try:
            if self._call is None:
                self._call = self._open(self._place.request())
            message = await self._call.read()
        except grpc.aio.AioRpcError as raw:
            self._call, self._resume = None, ""
            if self._closed:
                return False
            error = from_aio_error(raw)
            self._failures += 1
            wait = self._policy.wait(self._failures, error) if is_resumable(error) else None
            if wait is None:
                raise error from raw
            await asyncio.sleep(wait)
            return True
        except asyncio.CancelledError:
            if not self._closed:
                raise
            return False
        if message is grpc.aio.EOF:
            return False
        self._failures = 0
        self._resume = message.resume_token
        self._entries.extend(message.events.entries)
        return True

    async def __aenter__(self) -> AsyncJournalFollower:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncLoop:
    """`Loop` for asyncio; made by `AsyncClient.loop`."""

    def __init__(self, client: AsyncClient, create: v1.CreateLoopRequest, keep_lease: bool) -> None:
        self._client = client
        self._create = create
        self._keep_lease = keep_lease
        self._lease: asyncio.Task[None] | None = None
        self.loop_id = ""
        self.tools = v1.FilteredTools()
        """What the tool profile kept and dropped, and why."""
        self.ended: v1.Terminated | None = None
        """How it ended, once it has."""

    async def report(
        self,
        step: v1.ReportedStep | None = None,
        *,
        event: v1.LoopEvent | None = None,
        step_id: str = "",
        timeout: float | None = None,
    ) -> v1.Verdict:
        """Says what happened, and answers whether to go on."""
        request = requests.report_request(self.loop_id, step, event, step_id)
        return (await self._client.report_step(request, timeout=timeout)).verdict

    async def begin_step(self, step_id: str, *, timeout: float | None = None) -> v1.Verdict:
        """Begins a step, or begins it anew: its counters are 0."""
        request = v1.RecordAttemptRequest(
            loop_id=self.loop_id, step_id=step_id, begin=v1.BeginStep()
        )
        return (await self._client.record_attempt(request, timeout=timeout)).verdict

    async def failed(
        self, step_id: str, error: str, *, action: str = "", timeout: float | None = None
    ) -> v1.RecordAttemptResponse:
        """Records a failed attempt at a step."""
        request = requests.failed_request(self.loop_id, step_id, error, action)
        return await self._client.record_attempt(request, timeout=timeout)

    async def filter(
        self, tools: Iterable[v1.LoopTool], *, prompt: str = "", timeout: float | None = None
    ) -> v1.FilteredTools:
        """Filters tools by the loop's profile."""
        request = v1.FilterToolsRequest(loop_id=self.loop_id, tools=tools, prompt=prompt)
        return (await self._client.filter_tools(request, timeout=timeout)).tools

    async def state(self, *, timeout: float | None = None) -> v1.Loop:
        """Where the loop stands."""
        return await self._client.get_loop(self.loop_id, timeout=timeout)

    async def close(
        self,
        reason: v1.TerminationReason = v1.TERMINATION_REASON_UNSPECIFIED,
        *,
        detail: str = "",
        timeout: float | None = None,
    ) -> v1.Loop:
        """Ends the loop. One that has ended already answers how it did."""
        await self._release()
        closed = await self._client.close_loop(
            self.loop_id, reason=reason, detail=detail, timeout=timeout
        )
        self.ended = closed.terminated
        return closed

    async def __aenter__(self) -> AsyncLoop:
        created = await self._client.create_loop(self._create)
        self.loop_id, self.tools = created.loop.loop_id, created.tools
        if self._keep_lease:
            self._lease = asyncio.create_task(self._hold())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.ended is not None:
            await self._release()
            return
        if error is None:
            await self.close()
            return
        with contextlib.suppress(SignalboxError):
            await self.close(v1.TERMINATION_REASON_ERROR, detail=requests.describe(error))

    async def _release(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await lease

    async def _hold(self) -> None:
        failures = 0
        resume = v1.RunLoopRequest(resume=v1.ResumeLoop(loop_id=self.loop_id))
        while True:
            stream = self._client.run_loop_stream()
            try:
                await stream.write(resume)
                while (answer := await stream.read()) is not grpc.aio.EOF:
                    failures = 0
                    if answer.HasField("ended"):
                        return
            except grpc.aio.AioRpcError as raw:
                error = from_aio_error(raw)
                failures += 1
                wait = FOLLOW.wait(failures, error) if is_resumable(error) else None
                if wait is None:
                    return
                await asyncio.sleep(wait)
            finally:
                stream.cancel()


class AsyncClient:
    """Calls one signalbox from one event loop. Everything said of `Client` holds."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
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
    ) -> AsyncClient:
        """Makes a client of `host:port` or `unix:/path/to/socket`. Has to be called where the
        event loop runs; the first call connects."""
        channel = grpc.aio.insecure_channel(target, options=[*channel_options(target), *options])
        return cls(channel, timeout=timeout, retry=retry)

    async def close(self) -> None:
        """Closes the channel. Calls in flight are cancelled."""
        await self._channel.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def call(self, request: Any, *, timeout: float | None = None) -> Any:
        """Makes the unary call that takes this request, of whatever service, and answers its
        response: `await client.call(v1.RecallKnowledgeRequest(query="..."))`. For calls without a
        method of their own here."""
        path, name, answer = requests.method_of(request)
        method: Any = self._channel.unary_unary(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        return await self._unary(name, method, request, timeout)

    # RouteService

    async def route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> v1.RouteResponse:
        """Routes one prompt."""
        request = requests.routed(prompt)
        response: v1.RouteResponse = await self._unary("Route", self._route.Route, request, timeout)
        return response

    async def batch_route(
        self, prompts: Iterable[str | v1.RouteRequest], *, timeout: float | None = None
    ) -> v1.BatchRouteResponse:
        """Routes several prompts against one catalogue revision."""
        request = v1.BatchRouteRequest(requests=[requests.routed(prompt) for prompt in prompts])
        response: v1.BatchRouteResponse = await self._unary(
            "BatchRoute", self._route.BatchRoute, request, timeout
        )
        return response

    def stream_route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> AsyncStream[v1.StreamRouteResponse]:
        """Routes one prompt and answers stage by stage; the decision is the last message."""
        request = v1.StreamRouteRequest(route=requests.routed(prompt))
        return AsyncStream(self._route.StreamRoute(request, timeout=self._seconds(timeout)))

    async def plan_route(
        self, prompt: str | v1.RouteRequest, *, timeout: float | None = None
    ) -> v1.PlanRouteResponse:
        """The steps of a prompt that asks for several things, in the order meant."""
        request = v1.PlanRouteRequest(route=requests.routed(prompt))
        response: v1.PlanRouteResponse = await self.call(request, timeout=timeout)
        return response

    # CatalogService

    async def set_preferences(
        self, request: v1.SetPreferencesRequest, *, timeout: float | None = None
    ) -> v1.SetPreferencesResponse:
        """Replaces the preferences of a tenant or of one of its users."""
        response: v1.SetPreferencesResponse = await self.call(request, timeout=timeout)
        return response

    async def get_preferences(
        self, *, tenant: str = "", user: str = "", timeout: float | None = None
    ) -> v1.GetPreferencesResponse:
        """The preferences of a tenant or user, and what holds for its calls."""
        request = v1.GetPreferencesRequest(tenant=tenant, user=user)
        response: v1.GetPreferencesResponse = await self.call(request, timeout=timeout)
        return response

    async def get_entry(
        self, name: str, *, source: str = "", timeout: float | None = None
    ) -> v1.GetEntryResponse:
        """One entry; an empty source means `api`."""
        request = v1.GetEntryRequest(source=source, name=name)
        response: v1.GetEntryResponse = await self._unary(
            "GetEntry", self._catalog.GetEntry, request, timeout
        )
        return response

    async def list_page(
        self, request: v1.ListEntriesRequest, *, timeout: float | None = None
    ) -> v1.ListEntriesResponse:
        """One page of entries."""
        response: v1.ListEntriesResponse = await self._unary(
            "ListEntries", self._catalog.ListEntries, request, timeout
        )
        return response

    async def list_entries(
        self,
        *,
        kind: v1.EntryKind = v1.ENTRY_KIND_UNSPECIFIED,
        source: str = "",
        page_size: int = 0,
        timeout: float | None = None,
    ) -> AsyncIterator[v1.Entry]:
        """All entries of a kind and source, fetched page by page; `timeout` is for each page."""
        request = v1.ListEntriesRequest(kind=kind, source=source, page_size=page_size)
        while True:
            page = await self.list_page(request, timeout=timeout)
            for entry in page.entries:
                yield entry
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def upsert_entries(
        self, entries: Iterable[v1.Entry], *, timeout: float | None = None
    ) -> v1.ChangeSummary:
        """Inserts or replaces entries, all or none; they are routable when this returns."""
        request = v1.UpsertEntriesRequest(entries=entries)
        response: v1.UpsertEntriesResponse = await self._unary(
            "UpsertEntries", self._catalog.UpsertEntries, request, timeout
        )
        return response.summary

    async def delete_entry(
        self,
        name: str,
        *,
        source: str = "",
        allow_missing: bool = False,
        timeout: float | None = None,
    ) -> v1.ChangeSummary:
        """Deletes one entry; an empty source means `api`."""
        request = v1.DeleteEntryRequest(source=source, name=name, allow_missing=allow_missing)
        response: v1.DeleteEntryResponse = await self._unary(
            "DeleteEntry", self._catalog.DeleteEntry, request, timeout
        )
        return response.summary

    async def import_entries(
        self,
        document: str | bytes,
        header: v1.ImportHeader,
        *,
        chunk_bytes: int = IMPORT_CHUNK_BYTES,
        timeout: float | None = None,
    ) -> v1.ImportEntriesResponse:
        """Imports one catalogue document, all or none. `header` names its format."""
        parts = requests.import_parts(document, header, chunk_bytes)
        response: v1.ImportEntriesResponse = await self._repeated(
            "ImportEntries",
            lambda left: self._catalog.ImportEntries(parts(), timeout=left),
            timeout,
        )
        return response

    def watch_catalog(
        self, *, resume_token: str = "", timeout: float = math.inf
    ) -> AsyncStream[v1.WatchCatalogResponse]:
        """Says what changes from now on, or from a resume token on."""
        request = v1.WatchCatalogRequest(resume_token=resume_token)
        return AsyncStream(self._catalog.WatchCatalog(request, timeout=self._seconds(timeout)))

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
    ) -> AsyncLoop:
        """A loop for an `async with` block, which begins it."""
        create = requests.create_request(request, tools, config, input, agent_id, loop_id)
        return AsyncLoop(self, create, keep_lease)

    async def create_loop(
        self, request: v1.CreateLoopRequest, *, timeout: float | None = None
    ) -> v1.CreateLoopResponse:
        """Begins a loop and filters its tools."""
        response: v1.CreateLoopResponse = await self._unary(
            "CreateLoop", self._loop.CreateLoop, request, timeout
        )
        return response

    async def filter_tools(
        self, request: v1.FilterToolsRequest, *, timeout: float | None = None
    ) -> v1.FilterToolsResponse:
        """Filters tools by a profile, or by that of a loop."""
        response: v1.FilterToolsResponse = await self._unary(
            "FilterTools", self._loop.FilterTools, request, timeout
        )
        return response

    async def report_step(
        self, request: v1.ReportStepRequest, *, timeout: float | None = None
    ) -> v1.ReportStepResponse:
        """Reports what happened in a loop; answers whether to go on."""
        response: v1.ReportStepResponse = await self._unary(
            "ReportStep", self._loop.ReportStep, request, timeout
        )
        return response

    async def record_attempt(
        self, request: v1.RecordAttemptRequest, *, timeout: float | None = None
    ) -> v1.RecordAttemptResponse:
        """Records a failed attempt at a step, or begins a step anew."""
        response: v1.RecordAttemptResponse = await self._unary(
            "RecordAttempt", self._loop.RecordAttempt, request, timeout
        )
        return response

    async def get_loop(self, loop_id: str, *, timeout: float | None = None) -> v1.Loop:
        """Where a loop stands."""
        request = v1.GetLoopRequest(loop_id=loop_id)
        response: v1.GetLoopResponse = await self._unary(
            "GetLoop", self._loop.GetLoop, request, timeout
        )
        return response.loop

    async def close_loop(
        self,
        loop_id: str,
        *,
        reason: v1.TerminationReason = v1.TERMINATION_REASON_UNSPECIFIED,
        detail: str = "",
        timeout: float | None = None,
    ) -> v1.Loop:
        """Ends a loop; one that has ended already answers how it did."""
        request = v1.CloseLoopRequest(loop_id=loop_id, reason=reason, detail=detail)
        response: v1.CloseLoopResponse = await self._unary(
            "CloseLoop", self._loop.CloseLoop, request, timeout
        )
        return response.loop

    def run_loop_stream(self) -> Any:
        """The bare stream of RunLoop; it raises `grpc.aio.AioRpcError`."""
        return self._loop.RunLoop()

    # JournalService

    async def append_events(
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
        response: v1.AppendEventsResponse = await self._unary(
            "AppendEvents", self._journal.AppendEvents, request, timeout
        )
        return response

    async def list_events(
        self, request: v1.ListEventsRequest | None = None, *, timeout: float | None = None
    ) -> AsyncIterator[v1.JournalEntry]:
        """All events that a request asks for, fetched page by page; `timeout` is for each."""
        asked = v1.ListEventsRequest()
        asked.CopyFrom(request or v1.ListEventsRequest())
        while True:
            page: v1.ListEventsResponse = await self._unary(
                "ListEvents", self._journal.ListEvents, asked, timeout
            )
            for entry in page.entries:
                yield entry
            if not page.next_page_token:
                return
            asked.page_token = page.next_page_token

    async def purge_events(
        self, request: v1.PurgeEventsRequest, *, timeout: float | None = None
    ) -> v1.PurgeEventsResponse:
        """Removes events, or says how many would be."""
        response: v1.PurgeEventsResponse = await self._unary(
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
    ) -> AsyncJournalFollower:
        """Replays events and then follows, through broken connections and restarts."""
        request = requests.stream_request(loop_id, position, from_now, replay_only, types, agent_id)
        return AsyncJournalFollower(self._journal.StreamEvents, request, retry)

    # SystemService

    async def server_info(self, *, timeout: float | None = None) -> v1.GetServerInfoResponse:
        """Version, model, limits, and what is degraded or pending."""
        response: v1.GetServerInfoResponse = await self._unary(
            "GetServerInfo", self._system.GetServerInfo, v1.GetServerInfoRequest(), timeout
        )
        return response

    def _seconds(self, timeout: float | None) -> float | None:
        seconds = self._timeout if timeout is None else timeout
        return None if seconds == math.inf else seconds

    async def _unary(self, name: str, method: Any, request: Any, timeout: float | None) -> Any:
        request = identified(request)
        return await self._repeated(name, lambda left: method(request, timeout=left), timeout)

    async def _repeated(
        self, name: str, call: Callable[[float | None], Awaitable[Any]], timeout: float | None
    ) -> Any:
        deadline = Deadline(self._seconds(timeout))
        failures = 0
        while True:
            try:
                return await call(deadline.left())
            except grpc.aio.AioRpcError as raw:
                error = from_aio_error(raw)
                failures += 1
                wait = self._retry.wait(failures, error) if may_repeat(name, error) else None
                if wait is None or not deadline.allows(wait):
                    raise error from raw
            await asyncio.sleep(wait)
