import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from signalbox_client._generated.signalbox.v1 import loop_event_pb2 as _loop_event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StreamOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STREAM_ORIGIN_UNSPECIFIED: _ClassVar[StreamOrigin]
    STREAM_ORIGIN_EARLIEST: _ClassVar[StreamOrigin]
    STREAM_ORIGIN_NOW: _ClassVar[StreamOrigin]
STREAM_ORIGIN_UNSPECIFIED: StreamOrigin
STREAM_ORIGIN_EARLIEST: StreamOrigin
STREAM_ORIGIN_NOW: StreamOrigin

class AppendEventsRequest(_message.Message):
    __slots__ = ("loop_id", "agent_id", "events", "request_id", "expected_sequence")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    agent_id: str
    events: _containers.RepeatedCompositeFieldContainer[NewLoopEvent]
    request_id: str
    expected_sequence: int
    def __init__(self, loop_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[NewLoopEvent, _Mapping]]] = ..., request_id: _Optional[str] = ..., expected_sequence: _Optional[int] = ...) -> None: ...

class NewLoopEvent(_message.Message):
    __slots__ = ("iteration", "event")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    event: _loop_event_pb2.LoopEvent
    def __init__(self, iteration: _Optional[int] = ..., event: _Optional[_Union[_loop_event_pb2.LoopEvent, _Mapping]] = ...) -> None: ...

class AppendEventsResponse(_message.Message):
    __slots__ = ("first_sequence", "last_sequence", "position", "timestamp", "repeated_request")
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    REPEATED_REQUEST_FIELD_NUMBER: _ClassVar[int]
    first_sequence: int
    last_sequence: int
    position: str
    timestamp: _timestamp_pb2.Timestamp
    repeated_request: bool
    def __init__(self, first_sequence: _Optional[int] = ..., last_sequence: _Optional[int] = ..., position: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., repeated_request: bool = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "loop_id", "agent_id", "types", "start_time", "end_time")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    loop_id: str
    agent_id: str
    types: _containers.RepeatedScalarFieldContainer[_loop_event_pb2.LoopEventType]
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., loop_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., types: _Optional[_Iterable[_Union[_loop_event_pb2.LoopEventType, str]]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("entries", "next_page_token")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_loop_event_pb2.JournalEntry]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[_loop_event_pb2.JournalEntry, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PurgeEventsRequest(_message.Message):
    __slots__ = ("loop_id", "before_time", "through_position", "force")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    BEFORE_TIME_FIELD_NUMBER: _ClassVar[int]
    THROUGH_POSITION_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    before_time: _timestamp_pb2.Timestamp
    through_position: str
    force: bool
    def __init__(self, loop_id: _Optional[str] = ..., before_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., through_position: _Optional[str] = ..., force: bool = ...) -> None: ...

class PurgeEventsResponse(_message.Message):
    __slots__ = ("purge_count", "purge_bytes", "purged")
    PURGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PURGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PURGED_FIELD_NUMBER: _ClassVar[int]
    purge_count: int
    purge_bytes: int
    purged: bool
    def __init__(self, purge_count: _Optional[int] = ..., purge_bytes: _Optional[int] = ..., purged: bool = ...) -> None: ...

class StreamEventsRequest(_message.Message):
    __slots__ = ("loop_id", "agent_id", "types", "position", "origin", "replay_only", "heartbeat_interval")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    REPLAY_ONLY_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    agent_id: str
    types: _containers.RepeatedScalarFieldContainer[_loop_event_pb2.LoopEventType]
    position: str
    origin: StreamOrigin
    replay_only: bool
    heartbeat_interval: _duration_pb2.Duration
    def __init__(self, loop_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., types: _Optional[_Iterable[_Union[_loop_event_pb2.LoopEventType, str]]] = ..., position: _Optional[str] = ..., origin: _Optional[_Union[StreamOrigin, str]] = ..., replay_only: bool = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class StreamEventsResponse(_message.Message):
    __slots__ = ("resume_token", "events", "heartbeat", "closing")
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    events: EventBatch
    heartbeat: Heartbeat
    closing: StreamClosing
    def __init__(self, resume_token: _Optional[str] = ..., events: _Optional[_Union[EventBatch, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., closing: _Optional[_Union[StreamClosing, _Mapping]] = ...) -> None: ...

class EventBatch(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_loop_event_pb2.JournalEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[_loop_event_pb2.JournalEntry, _Mapping]]] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("timestamp",)
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    timestamp: _timestamp_pb2.Timestamp
    def __init__(self, timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StreamClosing(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
