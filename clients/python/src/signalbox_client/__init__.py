"""Client of signalbox, the gRPC sidecar that routes prompts, guards loops and keeps a journal.

`Client` makes the calls and `AsyncClient` the same for asyncio, `v1` holds the messages and enums,
and `SignalboxError` is what a call that fails raises. `tools` reads and keeps the tool definitions
of OpenAI, Anthropic and MCP.
"""

from . import tools, v1
from .aio import AsyncClient, AsyncJournalFollower, AsyncLoop, AsyncStream
from .client import Client
from .errors import FieldViolation, SignalboxError
from .journal import JournalFollower
from .loop import Loop
from .retry import NO_RETRY, RetryPolicy
from .stream import Stream

__all__ = [
    "NO_RETRY",
    "AsyncClient",
    "AsyncJournalFollower",
    "AsyncLoop",
    "AsyncStream",
    "Client",
    "FieldViolation",
    "JournalFollower",
    "Loop",
    "RetryPolicy",
    "SignalboxError",
    "Stream",
    "tools",
    "v1",
]
