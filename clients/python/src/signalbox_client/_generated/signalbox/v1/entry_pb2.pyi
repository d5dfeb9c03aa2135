from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EntryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENTRY_KIND_UNSPECIFIED: _ClassVar[EntryKind]
    ENTRY_KIND_COMMAND: _ClassVar[EntryKind]
    ENTRY_KIND_TOOL: _ClassVar[EntryKind]
    ENTRY_KIND_SKILL: _ClassVar[EntryKind]
ENTRY_KIND_UNSPECIFIED: EntryKind
ENTRY_KIND_COMMAND: EntryKind
ENTRY_KIND_TOOL: EntryKind
ENTRY_KIND_SKILL: EntryKind

class Entry(_message.Message):
    __slots__ = ("kind", "source", "name", "title", "source_hint", "responsibility", "aliases", "capabilities", "use_when", "not_when", "examples", "triggers", "input_schema", "depends_on", "tags", "annotations")
    class AnnotationsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_HINT_FIELD_NUMBER: _ClassVar[int]
    RESPONSIBILITY_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    USE_WHEN_FIELD_NUMBER: _ClassVar[int]
    NOT_WHEN_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    TRIGGERS_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    kind: EntryKind
    source: str
    name: str
    title: str
    source_hint: str
    responsibility: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    use_when: _containers.RepeatedScalarFieldContainer[str]
    not_when: _containers.RepeatedCompositeFieldContainer[NotWhen]
    examples: _containers.RepeatedScalarFieldContainer[str]
    triggers: _containers.RepeatedScalarFieldContainer[str]
    input_schema: str
    depends_on: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    annotations: _containers.ScalarMap[str, str]
    def __init__(self, kind: _Optional[_Union[EntryKind, str]] = ..., source: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., source_hint: _Optional[str] = ..., responsibility: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[str]] = ..., use_when: _Optional[_Iterable[str]] = ..., not_when: _Optional[_Iterable[_Union[NotWhen, _Mapping]]] = ..., examples: _Optional[_Iterable[str]] = ..., triggers: _Optional[_Iterable[str]] = ..., input_schema: _Optional[str] = ..., depends_on: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., annotations: _Optional[_Mapping[str, str]] = ...) -> None: ...

class NotWhen(_message.Message):
    __slots__ = ("text", "redirect")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REDIRECT_FIELD_NUMBER: _ClassVar[int]
    text: str
    redirect: str
    def __init__(self, text: _Optional[str] = ..., redirect: _Optional[str] = ...) -> None: ...

class EntryRef(_message.Message):
    __slots__ = ("kind", "source", "name")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: EntryKind
    source: str
    name: str
    def __init__(self, kind: _Optional[_Union[EntryKind, str]] = ..., source: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...
