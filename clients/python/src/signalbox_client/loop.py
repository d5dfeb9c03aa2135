"""A loop as a `with` block."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING

import grpc

from . import requests, v1
from .errors import SignalboxError, from_rpc_error
from .journal import is_resumable
from .retry import FOLLOW

if TYPE_CHECKING:
    from .client import Client


class Loop:
    """A guarded loop; made by `Client.loop`. Leaving the `with` block closes it: as an error if
    an exception leaves it, else as the server sees it.

    While the block runs, an open stream keeps the loop's lease, however long a tool takes; if
    this process dies, the loop ends as ABANDONED once the lease has run out.
    """

    def __init__(
        self, client: Client, created: v1.CreateLoopResponse, *, keep_lease: bool = True
    ) -> None:
        self._client = client
        self.loop_id: str = created.loop.loop_id
        self.tools: v1.FilteredTools = created.tools
        """What the tool profile kept and dropped, and why."""
        self.ended: v1.Terminated | None = None
        """How it ended, once it has."""
        self._lease = _Lease(client, self.loop_id) if keep_lease else None

    def report(
        self,
        step: v1.ReportedStep | None = None,
        *,
        event: v1.LoopEvent | None = None,
        step_id: str = "",
        timeout: float | None = None,
    ) -> v1.Verdict:
        """Says what happened, and answers whether to go on."""
        request = requests.report_request(self.loop_id, step, event, step_id)
        return self._client.report_step(request, timeout=timeout).verdict

    def begin_step(self, step_id: str, *, timeout: float | None = None) -> v1.Verdict:
        """Begins a step, or begins it anew: its counters are 0."""
        request = v1.RecordAttemptRequest(
            loop_id=self.loop_id, step_id=step_id, begin=v1.BeginStep()
        )
        return self._client.record_attempt(request, timeout=timeout).verdict

    def failed(
        self, step_id: str, error: str, *, action: str = "", timeout: float | None = None
    ) -> v1.RecordAttemptResponse:
        """Records a failed attempt at a step."""
        request = requests.failed_request(self.loop_id, step_id, error, action)
        return self._client.record_attempt(request, timeout=timeout)

    def filter(
        self, tools: Iterable[v1.LoopTool], *, prompt: str = "", timeout: float | None = None
    ) -> v1.FilteredTools:
        """Filters tools by the loop's profile."""
        request = v1.FilterToolsRequest(loop_id=self.loop_id, tools=tools, prompt=prompt)
        return self._client.filter_tools(request, timeout=timeout).tools

    def state(self, *, timeout: float | None = None) -> v1.Loop:
        """Where the loop stands."""
        return self._client.get_loop(self.loop_id, timeout=timeout)

    def close(
        self,
        reason: v1.TerminationReason = v1.TERMINATION_REASON_UNSPECIFIED,
        *,
        detail: str = "",
        timeout: float | None = None,
    ) -> v1.Loop:
        """Ends the loop. One that has ended already answers how it did."""
        if self._lease is not None:
            self._lease.release()
        closed = self._client.close_loop(
            self.loop_id, reason=reason, detail=detail, timeout=timeout
        )
        self.ended = closed.terminated
        return closed

    def __enter__(self) -> Loop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.ended is not None:
            return
        if error is None:
            self.close()
            return
        # The block's own exception matters more than one of saying goodbye.
        with contextlib.suppress(SignalboxError):
            self.close(v1.TERMINATION_REASON_ERROR, detail=requests.describe(error))


class _Lease:
    """Keeps a loop's lease with an open stream, and opens it again where it breaks."""

    def __init__(self, client: Client, loop_id: str) -> None:
        self._client = client
        self._loop_id = loop_id
        self._released = threading.Event()
        # Set to end the stream of now; each stream has its own.
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._hold, name=f"lease-{loop_id}", daemon=True)
        self._thread.start()

    def release(self) -> None:
        self._released.set()
        self._done.set()
        self._thread.join(timeout=5)

    def _messages(self, done: threading.Event) -> Iterator[v1.RunLoopRequest]:
        yield v1.RunLoopRequest(resume=v1.ResumeLoop(loop_id=self._loop_id))
        done.wait()

    def _hold(self) -> None:
        failures = 0
        while not self._released.is_set():
            done = self._done = threading.Event()
            # `release` may have set the one before.
            if self._released.is_set():
                return
            try:
                for answer in self._client.run_loop_stream(self._messages(done)):
                    failures = 0
                    if answer.HasField("ended"):
                        return
            except grpc.RpcError as raw:
                error = from_rpc_error(raw)
                failures += 1
                wait = FOLLOW.wait(failures, error) if is_resumable(error) else None
                if wait is None or self._released.wait(wait):
                    return
            finally:
                done.set()
