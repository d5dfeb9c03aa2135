from signalbox_client._generated.signalbox.v1 import route_service_pb2 as _route_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_STATE_UNSPECIFIED: _ClassVar[ModelState]
    MODEL_STATE_DISABLED: _ClassVar[ModelState]
    MODEL_STATE_LOADING: _ClassVar[ModelState]
    MODEL_STATE_READY: _ClassVar[ModelState]
    MODEL_STATE_FAILED: _ClassVar[ModelState]
MODEL_STATE_UNSPECIFIED: ModelState
MODEL_STATE_DISABLED: ModelState
MODEL_STATE_LOADING: ModelState
MODEL_STATE_READY: ModelState
MODEL_STATE_FAILED: ModelState

class GetServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ("version", "catalog_revision", "entry_count", "model", "limits", "features", "degraded", "pending", "durable")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    DURABLE_FIELD_NUMBER: _ClassVar[int]
    version: str
    catalog_revision: str
    entry_count: int
    model: ModelInfo
    limits: ServerLimits
    features: _containers.RepeatedScalarFieldContainer[str]
    degraded: _containers.RepeatedCompositeFieldContainer[_route_service_pb2.Degradation]
    pending: _containers.RepeatedScalarFieldContainer[str]
    durable: bool
    def __init__(self, version: _Optional[str] = ..., catalog_revision: _Optional[str] = ..., entry_count: _Optional[int] = ..., model: _Optional[_Union[ModelInfo, _Mapping]] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ..., features: _Optional[_Iterable[str]] = ..., degraded: _Optional[_Iterable[_Union[_route_service_pb2.Degradation, _Mapping]]] = ..., pending: _Optional[_Iterable[str]] = ..., durable: bool = ...) -> None: ...

class ModelInfo(_message.Message):
    __slots__ = ("id", "digest", "state", "dimensions", "max_tokens", "device")
    ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    id: str
    digest: str
    state: ModelState
    dimensions: int
    max_tokens: int
    device: str
    def __init__(self, id: _Optional[str] = ..., digest: _Optional[str] = ..., state: _Optional[_Union[ModelState, str]] = ..., dimensions: _Optional[int] = ..., max_tokens: _Optional[int] = ..., device: _Optional[str] = ...) -> None: ...

class ServerLimits(_message.Message):
    __slots__ = ("max_prompt_bytes", "max_message_bytes", "max_batch", "max_entries", "max_in_flight", "max_streams")
    MAX_PROMPT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_BATCH_FIELD_NUMBER: _ClassVar[int]
    MAX_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    MAX_STREAMS_FIELD_NUMBER: _ClassVar[int]
    max_prompt_bytes: int
    max_message_bytes: int
    max_batch: int
    max_entries: int
    max_in_flight: int
    max_streams: int
    def __init__(self, max_prompt_bytes: _Optional[int] = ..., max_message_bytes: _Optional[int] = ..., max_batch: _Optional[int] = ..., max_entries: _Optional[int] = ..., max_in_flight: _Optional[int] = ..., max_streams: _Optional[int] = ...) -> None: ...
