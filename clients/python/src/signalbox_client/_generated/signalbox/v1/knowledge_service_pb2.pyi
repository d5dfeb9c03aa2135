import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from signalbox_client._generated.signalbox.v1 import route_service_pb2 as _route_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecallScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECALL_SCOPE_UNSPECIFIED: _ClassVar[RecallScope]
    RECALL_SCOPE_SEARCH: _ClassVar[RecallScope]
    RECALL_SCOPE_DIRECTORY: _ClassVar[RecallScope]
    RECALL_SCOPE_LANGUAGE: _ClassVar[RecallScope]

class ConventionSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVENTION_SOURCE_UNSPECIFIED: _ClassVar[ConventionSource]
    CONVENTION_SOURCE_LANGUAGE: _ClassVar[ConventionSource]
    CONVENTION_SOURCE_COPILOT: _ClassVar[ConventionSource]
    CONVENTION_SOURCE_CLAUDE: _ClassVar[ConventionSource]
    CONVENTION_SOURCE_AGENTS: _ClassVar[ConventionSource]
    CONVENTION_SOURCE_RULE: _ClassVar[ConventionSource]
    CONVENTION_SOURCE_STORED: _ClassVar[ConventionSource]
RECALL_SCOPE_UNSPECIFIED: RecallScope
RECALL_SCOPE_SEARCH: RecallScope
RECALL_SCOPE_DIRECTORY: RecallScope
RECALL_SCOPE_LANGUAGE: RecallScope
CONVENTION_SOURCE_UNSPECIFIED: ConventionSource
CONVENTION_SOURCE_LANGUAGE: ConventionSource
CONVENTION_SOURCE_COPILOT: ConventionSource
CONVENTION_SOURCE_CLAUDE: ConventionSource
CONVENTION_SOURCE_AGENTS: ConventionSource
CONVENTION_SOURCE_RULE: ConventionSource
CONVENTION_SOURCE_STORED: ConventionSource

class Fact(_message.Message):
    __slots__ = ("id", "subject", "predicate", "object", "confidence", "agent_id", "stored_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    STORED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    agent_id: str
    stored_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ..., confidence: _Optional[float] = ..., agent_id: _Optional[str] = ..., stored_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Convention(_message.Message):
    __slots__ = ("id", "directory", "language", "content", "updated_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    directory: str
    language: str
    content: str
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., directory: _Optional[str] = ..., language: _Optional[str] = ..., content: _Optional[str] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RecallKnowledgeRequest(_message.Message):
    __slots__ = ("query", "limit", "directory", "scope", "max_context_tokens")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    query: str
    limit: int
    directory: str
    scope: str
    max_context_tokens: int
    def __init__(self, query: _Optional[str] = ..., limit: _Optional[int] = ..., directory: _Optional[str] = ..., scope: _Optional[str] = ..., max_context_tokens: _Optional[int] = ...) -> None: ...

class RecalledItem(_message.Message):
    __slots__ = ("fact", "convention", "scope", "levels_up", "score")
    FACT_FIELD_NUMBER: _ClassVar[int]
    CONVENTION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    LEVELS_UP_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    convention: Convention
    scope: RecallScope
    levels_up: int
    score: float
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ..., convention: _Optional[_Union[Convention, _Mapping]] = ..., scope: _Optional[_Union[RecallScope, str]] = ..., levels_up: _Optional[int] = ..., score: _Optional[float] = ...) -> None: ...

class CutConvention(_message.Message):
    __slots__ = ("id", "directory", "scope", "levels_up")
    ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    LEVELS_UP_FIELD_NUMBER: _ClassVar[int]
    id: str
    directory: str
    scope: RecallScope
    levels_up: int
    def __init__(self, id: _Optional[str] = ..., directory: _Optional[str] = ..., scope: _Optional[_Union[RecallScope, str]] = ..., levels_up: _Optional[int] = ...) -> None: ...

class RecallKnowledgeResponse(_message.Message):
    __slots__ = ("items", "cut", "cut_count", "duplicate_count", "message", "token_count", "token_counter", "left_out_count", "degraded")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    CUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTER_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RecalledItem]
    cut: _containers.RepeatedCompositeFieldContainer[CutConvention]
    cut_count: int
    duplicate_count: int
    message: str
    token_count: int
    token_counter: str
    left_out_count: int
    degraded: _containers.RepeatedCompositeFieldContainer[_route_service_pb2.Degradation]
    def __init__(self, items: _Optional[_Iterable[_Union[RecalledItem, _Mapping]]] = ..., cut: _Optional[_Iterable[_Union[CutConvention, _Mapping]]] = ..., cut_count: _Optional[int] = ..., duplicate_count: _Optional[int] = ..., message: _Optional[str] = ..., token_count: _Optional[int] = ..., token_counter: _Optional[str] = ..., left_out_count: _Optional[int] = ..., degraded: _Optional[_Iterable[_Union[_route_service_pb2.Degradation, _Mapping]]] = ...) -> None: ...

class StoreKnowledgeRequest(_message.Message):
    __slots__ = ("subject", "predicate", "object", "confidence", "agent_id")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PREDICATE_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    subject: str
    predicate: str
    object: str
    confidence: float
    agent_id: str
    def __init__(self, subject: _Optional[str] = ..., predicate: _Optional[str] = ..., object: _Optional[str] = ..., confidence: _Optional[float] = ..., agent_id: _Optional[str] = ...) -> None: ...

class StoreKnowledgeResponse(_message.Message):
    __slots__ = ("fact",)
    FACT_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ...) -> None: ...

class ListConventionsRequest(_message.Message):
    __slots__ = ("directory", "recursive", "language", "page_size", "page_token")
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    directory: str
    recursive: bool
    language: str
    page_size: int
    page_token: str
    def __init__(self, directory: _Optional[str] = ..., recursive: bool = ..., language: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListConventionsResponse(_message.Message):
    __slots__ = ("conventions", "next_page_token")
    CONVENTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    conventions: _containers.RepeatedCompositeFieldContainer[Convention]
    next_page_token: str
    def __init__(self, conventions: _Optional[_Iterable[_Union[Convention, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpsertConventionRequest(_message.Message):
    __slots__ = ("convention",)
    CONVENTION_FIELD_NUMBER: _ClassVar[int]
    convention: Convention
    def __init__(self, convention: _Optional[_Union[Convention, _Mapping]] = ...) -> None: ...

class UpsertConventionResponse(_message.Message):
    __slots__ = ("convention",)
    CONVENTION_FIELD_NUMBER: _ClassVar[int]
    convention: Convention
    def __init__(self, convention: _Optional[_Union[Convention, _Mapping]] = ...) -> None: ...

class DeleteConventionRequest(_message.Message):
    __slots__ = ("id", "allow_missing")
    ID_FIELD_NUMBER: _ClassVar[int]
    ALLOW_MISSING_FIELD_NUMBER: _ClassVar[int]
    id: str
    allow_missing: bool
    def __init__(self, id: _Optional[str] = ..., allow_missing: bool = ...) -> None: ...

class DeleteConventionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ResolveConventionsRequest(_message.Message):
    __slots__ = ("paths", "max_context_tokens")
    PATHS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    paths: _containers.RepeatedScalarFieldContainer[str]
    max_context_tokens: int
    def __init__(self, paths: _Optional[_Iterable[str]] = ..., max_context_tokens: _Optional[int] = ...) -> None: ...

class ResolvedConvention(_message.Message):
    __slots__ = ("source", "kind", "depth", "scope", "content", "paths")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    source: str
    kind: ConventionSource
    depth: int
    scope: str
    content: str
    paths: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, source: _Optional[str] = ..., kind: _Optional[_Union[ConventionSource, str]] = ..., depth: _Optional[int] = ..., scope: _Optional[str] = ..., content: _Optional[str] = ..., paths: _Optional[_Iterable[int]] = ...) -> None: ...

class SkippedFile(_message.Message):
    __slots__ = ("path", "reason")
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    path: str
    reason: str
    def __init__(self, path: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ResolveConventionsResponse(_message.Message):
    __slots__ = ("conventions", "dropped", "duplicate_count", "skipped", "message", "token_count", "token_counter", "cut")
    CONVENTIONS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTER_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    conventions: _containers.RepeatedCompositeFieldContainer[ResolvedConvention]
    dropped: _containers.RepeatedCompositeFieldContainer[ResolvedConvention]
    duplicate_count: int
    skipped: _containers.RepeatedCompositeFieldContainer[SkippedFile]
    message: str
    token_count: int
    token_counter: str
    cut: bool
    def __init__(self, conventions: _Optional[_Iterable[_Union[ResolvedConvention, _Mapping]]] = ..., dropped: _Optional[_Iterable[_Union[ResolvedConvention, _Mapping]]] = ..., duplicate_count: _Optional[int] = ..., skipped: _Optional[_Iterable[_Union[SkippedFile, _Mapping]]] = ..., message: _Optional[str] = ..., token_count: _Optional[int] = ..., token_counter: _Optional[str] = ..., cut: bool = ...) -> None: ...

class CallKnowledgeToolRequest(_message.Message):
    __slots__ = ("name", "arguments", "agent_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    arguments: str
    agent_id: str
    def __init__(self, name: _Optional[str] = ..., arguments: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class CallKnowledgeToolResponse(_message.Message):
    __slots__ = ("content", "is_error")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    content: str
    is_error: bool
    def __init__(self, content: _Optional[str] = ..., is_error: bool = ...) -> None: ...
