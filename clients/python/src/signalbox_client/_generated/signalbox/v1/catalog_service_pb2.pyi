from signalbox_client._generated.signalbox.v1 import entry_pb2 as _entry_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImportFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IMPORT_FORMAT_UNSPECIFIED: _ClassVar[ImportFormat]
    IMPORT_FORMAT_YAML: _ClassVar[ImportFormat]
    IMPORT_FORMAT_JSON: _ClassVar[ImportFormat]
    IMPORT_FORMAT_JSONL: _ClassVar[ImportFormat]
    IMPORT_FORMAT_SKILL_MD: _ClassVar[ImportFormat]
IMPORT_FORMAT_UNSPECIFIED: ImportFormat
IMPORT_FORMAT_YAML: ImportFormat
IMPORT_FORMAT_JSON: ImportFormat
IMPORT_FORMAT_JSONL: ImportFormat
IMPORT_FORMAT_SKILL_MD: ImportFormat

class GetEntryRequest(_message.Message):
    __slots__ = ("source", "name")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    source: str
    name: str
    def __init__(self, source: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class GetEntryResponse(_message.Message):
    __slots__ = ("entry", "catalog_revision")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    entry: _entry_pb2.Entry
    catalog_revision: str
    def __init__(self, entry: _Optional[_Union[_entry_pb2.Entry, _Mapping]] = ..., catalog_revision: _Optional[str] = ...) -> None: ...

class ListEntriesRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "kind", "source")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    kind: _entry_pb2.EntryKind
    source: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., kind: _Optional[_Union[_entry_pb2.EntryKind, str]] = ..., source: _Optional[str] = ...) -> None: ...

class ListEntriesResponse(_message.Message):
    __slots__ = ("entries", "next_page_token", "catalog_revision", "total_size")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_entry_pb2.Entry]
    next_page_token: str
    catalog_revision: str
    total_size: int
    def __init__(self, entries: _Optional[_Iterable[_Union[_entry_pb2.Entry, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., catalog_revision: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class UpsertEntriesRequest(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[_entry_pb2.Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[_entry_pb2.Entry, _Mapping]]] = ...) -> None: ...

class UpsertEntriesResponse(_message.Message):
    __slots__ = ("summary",)
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    summary: ChangeSummary
    def __init__(self, summary: _Optional[_Union[ChangeSummary, _Mapping]] = ...) -> None: ...

class DeleteEntryRequest(_message.Message):
    __slots__ = ("source", "name", "allow_missing")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALLOW_MISSING_FIELD_NUMBER: _ClassVar[int]
    source: str
    name: str
    allow_missing: bool
    def __init__(self, source: _Optional[str] = ..., name: _Optional[str] = ..., allow_missing: bool = ...) -> None: ...

class DeleteEntryResponse(_message.Message):
    __slots__ = ("summary",)
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    summary: ChangeSummary
    def __init__(self, summary: _Optional[_Union[ChangeSummary, _Mapping]] = ...) -> None: ...

class ImportEntriesRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: ImportHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[ImportHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class ImportHeader(_message.Message):
    __slots__ = ("format", "source", "kind", "replace_source")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REPLACE_SOURCE_FIELD_NUMBER: _ClassVar[int]
    format: ImportFormat
    source: str
    kind: _entry_pb2.EntryKind
    replace_source: bool
    def __init__(self, format: _Optional[_Union[ImportFormat, str]] = ..., source: _Optional[str] = ..., kind: _Optional[_Union[_entry_pb2.EntryKind, str]] = ..., replace_source: bool = ...) -> None: ...

class ImportEntriesResponse(_message.Message):
    __slots__ = ("summary", "diagnostics")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    summary: ChangeSummary
    diagnostics: _containers.RepeatedCompositeFieldContainer[ImportDiagnostic]
    def __init__(self, summary: _Optional[_Union[ChangeSummary, _Mapping]] = ..., diagnostics: _Optional[_Iterable[_Union[ImportDiagnostic, _Mapping]]] = ...) -> None: ...

class ImportDiagnostic(_message.Message):
    __slots__ = ("code", "message", "line")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    line: int
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class ChangeSummary(_message.Message):
    __slots__ = ("catalog_revision", "created", "updated", "deleted", "unchanged", "vectors_pending")
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    UPDATED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    VECTORS_PENDING_FIELD_NUMBER: _ClassVar[int]
    catalog_revision: str
    created: int
    updated: int
    deleted: int
    unchanged: int
    vectors_pending: int
    def __init__(self, catalog_revision: _Optional[str] = ..., created: _Optional[int] = ..., updated: _Optional[int] = ..., deleted: _Optional[int] = ..., unchanged: _Optional[int] = ..., vectors_pending: _Optional[int] = ...) -> None: ...

class Preferences(_message.Message):
    __slots__ = ("pinned", "blocked", "preferred")
    PINNED_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_FIELD_NUMBER: _ClassVar[int]
    pinned: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    blocked: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    preferred: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    def __init__(self, pinned: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ..., blocked: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ..., preferred: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ...) -> None: ...

class SetPreferencesRequest(_message.Message):
    __slots__ = ("tenant", "user", "preferences")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    PREFERENCES_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    user: str
    preferences: Preferences
    def __init__(self, tenant: _Optional[str] = ..., user: _Optional[str] = ..., preferences: _Optional[_Union[Preferences, _Mapping]] = ...) -> None: ...

class SetPreferencesResponse(_message.Message):
    __slots__ = ("preferences", "unknown")
    PREFERENCES_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    preferences: Preferences
    unknown: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    def __init__(self, preferences: _Optional[_Union[Preferences, _Mapping]] = ..., unknown: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ...) -> None: ...

class GetPreferencesRequest(_message.Message):
    __slots__ = ("tenant", "user")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    user: str
    def __init__(self, tenant: _Optional[str] = ..., user: _Optional[str] = ...) -> None: ...

class GetPreferencesResponse(_message.Message):
    __slots__ = ("preferences", "effective")
    PREFERENCES_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_FIELD_NUMBER: _ClassVar[int]
    preferences: Preferences
    effective: Preferences
    def __init__(self, preferences: _Optional[_Union[Preferences, _Mapping]] = ..., effective: _Optional[_Union[Preferences, _Mapping]] = ...) -> None: ...

class WatchCatalogRequest(_message.Message):
    __slots__ = ("resume_token",)
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    def __init__(self, resume_token: _Optional[str] = ...) -> None: ...

class WatchCatalogResponse(_message.Message):
    __slots__ = ("resume_token", "state", "change", "closing")
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    state: CatalogState
    change: CatalogChange
    closing: WatchClosing
    def __init__(self, resume_token: _Optional[str] = ..., state: _Optional[_Union[CatalogState, _Mapping]] = ..., change: _Optional[_Union[CatalogChange, _Mapping]] = ..., closing: _Optional[_Union[WatchClosing, _Mapping]] = ...) -> None: ...

class CatalogState(_message.Message):
    __slots__ = ("catalog_revision", "entry_count")
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    catalog_revision: str
    entry_count: int
    def __init__(self, catalog_revision: _Optional[str] = ..., entry_count: _Optional[int] = ...) -> None: ...

class CatalogChange(_message.Message):
    __slots__ = ("catalog_revision", "upserted", "deleted")
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    UPSERTED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    catalog_revision: str
    upserted: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    deleted: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    def __init__(self, catalog_revision: _Optional[str] = ..., upserted: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ..., deleted: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ...) -> None: ...

class WatchClosing(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
