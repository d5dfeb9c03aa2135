"""When a call that failed is made again, and how long that waits."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass
from typing import Any

import grpc

from .errors import SignalboxError

REFUSED = frozenset({"OVERLOADED", "DRAINING"})
"""Reasons of calls that were refused before anything was done: any call may be made again."""

REPEATABLE = frozenset(
    {
        "AppendEvents",
        "BatchRoute",
        "CloseLoop",
        "CreateLoop",
        "ExtractReferences",
        "FilterTools",
        "GetEntry",
        "GetLoop",
        "GetPreferences",
        "GetServerInfo",
        "ImportEntries",
        "ListConventions",
        "ListEntries",
        "ListEvents",
        "PlanRoute",
        "PurgeEvents",
        "RecallKnowledge",
        "RecordAttempt",
        "ReportStep",
        "ResolveConventions",
        "Route",
        "SetPreferences",
        "UpsertConvention",
        "UpsertEntries",
    }
)
"""Methods that do no more when they are called twice: they only read, set what is given, or know
their request by its `request_id`. DeleteEntry is none: its second call would not find the entry."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is made, and the waits between: `base` seconds, doubling up to `cap`, of
    which a random part is taken; never less than the server asks for. All of it happens within
    the call's timeout."""

    attempts: int = 4
    base: float = 0.05
    cap: float = 2.0

    def wait(self, failures: int, error: SignalboxError) -> float | None:
        """Seconds to wait after so many failures in a row, or None to give up."""
        if failures >= self.attempts:
            return None
        longest = min(self.cap, self.base * 2.0 ** min(failures - 1, 32))
        return max(random.uniform(longest / 2, longest), error.retry_after or 0.0)


NO_RETRY = RetryPolicy(attempts=1)
"""Each call is made once."""

FOLLOW = RetryPolicy(attempts=12, base=0.1, cap=5.0)
"""For streams that outlive a restart of the server: about 40 seconds of failures in a row."""


def may_repeat(method: str, error: SignalboxError) -> bool:
    """Whether a call may be made again after this error. `method` is its last name."""
    if error.reason in REFUSED:
        return True
    return error.code is grpc.StatusCode.UNAVAILABLE and method in REPEATABLE


def identified(request: Any) -> Any:
    """The request with a `request_id`, if it has such a field and the caller left it empty: the
    server then does the work of repeated calls once."""
    descriptor = getattr(request, "DESCRIPTOR", None)
    if descriptor is None or "request_id" not in descriptor.fields_by_name or request.request_id:
        return request
    named = type(request)()
    named.CopyFrom(request)
    named.request_id = uuid.uuid4().hex
    return named
