"""Client of signalbox, the gRPC routing sidecar.

`Client` makes the calls, `v1` holds the messages and enums, and `SignalboxError` is what a call
that fails raises.
"""

from . import v1
from .client import Client
from .errors import FieldViolation, SignalboxError
from .stream import Stream

__all__ = ["Client", "FieldViolation", "SignalboxError", "Stream", "v1"]
