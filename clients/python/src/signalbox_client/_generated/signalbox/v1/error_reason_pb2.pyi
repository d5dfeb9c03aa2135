from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_FIELD: _ClassVar[ErrorReason]
    ERROR_REASON_MALFORMED_MESSAGE: _ClassVar[ErrorReason]
    ERROR_REASON_MESSAGE_TOO_LARGE: _ClassVar[ErrorReason]
    ERROR_REASON_OVERLOADED: _ClassVar[ErrorReason]
    ERROR_REASON_DEADLINE_EXCEEDED: _ClassVar[ErrorReason]
    ERROR_REASON_ENTRY_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_CATALOG_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_IMPORT_REJECTED: _ClassVar[ErrorReason]
    ERROR_REASON_RESUME_TOKEN_EXPIRED: _ClassVar[ErrorReason]
    ERROR_REASON_DRAINING: _ClassVar[ErrorReason]
    ERROR_REASON_SLOW_CONSUMER: _ClassVar[ErrorReason]
    ERROR_REASON_UNKNOWN_METHOD: _ClassVar[ErrorReason]
    ERROR_REASON_INTERNAL: _ClassVar[ErrorReason]
    ERROR_REASON_STORAGE_FAILED: _ClassVar[ErrorReason]
    ERROR_REASON_TRANSPORT: _ClassVar[ErrorReason]
    ERROR_REASON_SEQUENCE_MISMATCH: _ClassVar[ErrorReason]
    ERROR_REASON_REQUEST_ID_REUSED: _ClassVar[ErrorReason]
    ERROR_REASON_LOOP_ENDED: _ClassVar[ErrorReason]
    ERROR_REASON_POSITION_OUT_OF_RANGE: _ClassVar[ErrorReason]
    ERROR_REASON_FOREIGN_POSITION: _ClassVar[ErrorReason]
    ERROR_REASON_DATA_LOSS: _ClassVar[ErrorReason]
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_INVALID_FIELD: ErrorReason
ERROR_REASON_MALFORMED_MESSAGE: ErrorReason
ERROR_REASON_MESSAGE_TOO_LARGE: ErrorReason
ERROR_REASON_OVERLOADED: ErrorReason
ERROR_REASON_DEADLINE_EXCEEDED: ErrorReason
ERROR_REASON_ENTRY_NOT_FOUND: ErrorReason
ERROR_REASON_CATALOG_FULL: ErrorReason
ERROR_REASON_IMPORT_REJECTED: ErrorReason
ERROR_REASON_RESUME_TOKEN_EXPIRED: ErrorReason
ERROR_REASON_DRAINING: ErrorReason
ERROR_REASON_SLOW_CONSUMER: ErrorReason
ERROR_REASON_UNKNOWN_METHOD: ErrorReason
ERROR_REASON_INTERNAL: ErrorReason
ERROR_REASON_STORAGE_FAILED: ErrorReason
ERROR_REASON_TRANSPORT: ErrorReason
ERROR_REASON_SEQUENCE_MISMATCH: ErrorReason
ERROR_REASON_REQUEST_ID_REUSED: ErrorReason
ERROR_REASON_LOOP_ENDED: ErrorReason
ERROR_REASON_POSITION_OUT_OF_RANGE: ErrorReason
ERROR_REASON_FOREIGN_POSITION: ErrorReason
ERROR_REASON_DATA_LOSS: ErrorReason
