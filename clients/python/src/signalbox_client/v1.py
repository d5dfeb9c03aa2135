"""The messages and enums of `signalbox.v1`, as one flat module.

Enum values are named as in the proto files: `v1.ROUTE_MODE_LEXICAL`, `v1.ENTRY_KIND_TOOL`.
"""

from ._generated.signalbox.v1.catalog_service_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.entry_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.error_reason_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.journal_service_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.knowledge_service_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.loop_event_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.loop_service_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.route_service_pb2 import *  # noqa: F403
from ._generated.signalbox.v1.system_service_pb2 import *  # noqa: F403

# Each module brings its own; whichever came last would be a trap.
del DESCRIPTOR  # noqa: F821
