import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from signalbox_client._generated.signalbox.v1 import entry_pb2 as _entry_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RouteMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUTE_MODE_UNSPECIFIED: _ClassVar[RouteMode]
    ROUTE_MODE_LEXICAL: _ClassVar[RouteMode]
    ROUTE_MODE_SEMANTIC: _ClassVar[RouteMode]
    ROUTE_MODE_HYBRID: _ClassVar[RouteMode]

class RouteView(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROUTE_VIEW_UNSPECIFIED: _ClassVar[RouteView]
    ROUTE_VIEW_BASIC: _ClassVar[RouteView]
    ROUTE_VIEW_FULL: _ClassVar[RouteView]

class ParameterRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PARAMETER_RULE_UNSPECIFIED: _ClassVar[ParameterRule]
    PARAMETER_RULE_CHOICE: _ClassVar[ParameterRule]
    PARAMETER_RULE_NUMBER: _ClassVar[ParameterRule]
    PARAMETER_RULE_UNIT: _ClassVar[ParameterRule]
    PARAMETER_RULE_TIME: _ClassVar[ParameterRule]
    PARAMETER_RULE_ADDRESS: _ClassVar[ParameterRule]
    PARAMETER_RULE_MAIL: _ClassVar[ParameterRule]
    PARAMETER_RULE_PATH: _ClassVar[ParameterRule]
    PARAMETER_RULE_QUOTATION: _ClassVar[ParameterRule]
    PARAMETER_RULE_IDENTIFIER: _ClassVar[ParameterRule]
    PARAMETER_RULE_FLAG: _ClassVar[ParameterRule]

class DropReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DROP_REASON_UNSPECIFIED: _ClassVar[DropReason]
    DROP_REASON_NEGATED: _ClassVar[DropReason]
    DROP_REASON_KIND_EXCLUDED: _ClassVar[DropReason]
    DROP_REASON_NOT_ASKED_FOR: _ClassVar[DropReason]
    DROP_REASON_BLOCKED: _ClassVar[DropReason]
    DROP_REASON_BELOW_FLOOR: _ClassVar[DropReason]
    DROP_REASON_BELOW_MIN_SCORE: _ClassVar[DropReason]
    DROP_REASON_NO_MATCH: _ClassVar[DropReason]
    DROP_REASON_OVER_LIMIT: _ClassVar[DropReason]

class StepFit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STEP_FIT_UNSPECIFIED: _ClassVar[StepFit]
    STEP_FIT_ACCEPTED: _ClassVar[StepFit]
    STEP_FIT_UNCERTAIN: _ClassVar[StepFit]
    STEP_FIT_MISSING: _ClassVar[StepFit]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_ACCEPTED: _ClassVar[Outcome]
    OUTCOME_UNCERTAIN: _ClassVar[Outcome]
    OUTCOME_ABSTAINED: _ClassVar[Outcome]
    OUTCOME_UNKNOWN_COMMAND: _ClassVar[Outcome]

class LexicalBand(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEXICAL_BAND_UNSPECIFIED: _ClassVar[LexicalBand]
    LEXICAL_BAND_WEAK: _ClassVar[LexicalBand]
    LEXICAL_BAND_FAIR: _ClassVar[LexicalBand]
    LEXICAL_BAND_GOOD: _ClassVar[LexicalBand]
    LEXICAL_BAND_VERY_GOOD: _ClassVar[LexicalBand]
    LEXICAL_BAND_EXACT: _ClassVar[LexicalBand]

class TokenField(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOKEN_FIELD_UNSPECIFIED: _ClassVar[TokenField]
    TOKEN_FIELD_NAME: _ClassVar[TokenField]
    TOKEN_FIELD_SOURCE_HINT: _ClassVar[TokenField]
    TOKEN_FIELD_RESPONSIBILITY: _ClassVar[TokenField]
    TOKEN_FIELD_OTHER: _ClassVar[TokenField]

class AdjustmentCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ADJUSTMENT_CAUSE_UNSPECIFIED: _ClassVar[AdjustmentCause]
    ADJUSTMENT_CAUSE_NOT_WHEN: _ClassVar[AdjustmentCause]
    ADJUSTMENT_CAUSE_REDIRECT: _ClassVar[AdjustmentCause]
    ADJUSTMENT_CAUSE_CONTEXT: _ClassVar[AdjustmentCause]
    ADJUSTMENT_CAUSE_PREFERRED: _ClassVar[AdjustmentCause]
    ADJUSTMENT_CAUSE_NEGATED: _ClassVar[AdjustmentCause]

class DegradedReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEGRADED_REASON_UNSPECIFIED: _ClassVar[DegradedReason]
    DEGRADED_REASON_MODEL_DISABLED: _ClassVar[DegradedReason]
    DEGRADED_REASON_MODEL_LOADING: _ClassVar[DegradedReason]
    DEGRADED_REASON_MODEL_FAILED: _ClassVar[DegradedReason]
    DEGRADED_REASON_MODEL_OVERLOADED: _ClassVar[DegradedReason]
    DEGRADED_REASON_VECTORS_PENDING: _ClassVar[DegradedReason]
    DEGRADED_REASON_NOT_JOURNALED: _ClassVar[DegradedReason]
    DEGRADED_REASON_CALIBRATION_STALE: _ClassVar[DegradedReason]

class WarningCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WARNING_CODE_UNSPECIFIED: _ClassVar[WarningCode]
    WARNING_CODE_LANGUAGE_UNSUPPORTED: _ClassVar[WarningCode]
ROUTE_MODE_UNSPECIFIED: RouteMode
ROUTE_MODE_LEXICAL: RouteMode
ROUTE_MODE_SEMANTIC: RouteMode
ROUTE_MODE_HYBRID: RouteMode
ROUTE_VIEW_UNSPECIFIED: RouteView
ROUTE_VIEW_BASIC: RouteView
ROUTE_VIEW_FULL: RouteView
PARAMETER_RULE_UNSPECIFIED: ParameterRule
PARAMETER_RULE_CHOICE: ParameterRule
PARAMETER_RULE_NUMBER: ParameterRule
PARAMETER_RULE_UNIT: ParameterRule
PARAMETER_RULE_TIME: ParameterRule
PARAMETER_RULE_ADDRESS: ParameterRule
PARAMETER_RULE_MAIL: ParameterRule
PARAMETER_RULE_PATH: ParameterRule
PARAMETER_RULE_QUOTATION: ParameterRule
PARAMETER_RULE_IDENTIFIER: ParameterRule
PARAMETER_RULE_FLAG: ParameterRule
DROP_REASON_UNSPECIFIED: DropReason
DROP_REASON_NEGATED: DropReason
DROP_REASON_KIND_EXCLUDED: DropReason
DROP_REASON_NOT_ASKED_FOR: DropReason
DROP_REASON_BLOCKED: DropReason
DROP_REASON_BELOW_FLOOR: DropReason
DROP_REASON_BELOW_MIN_SCORE: DropReason
DROP_REASON_NO_MATCH: DropReason
DROP_REASON_OVER_LIMIT: DropReason
STEP_FIT_UNSPECIFIED: StepFit
STEP_FIT_ACCEPTED: StepFit
STEP_FIT_UNCERTAIN: StepFit
STEP_FIT_MISSING: StepFit
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_ACCEPTED: Outcome
OUTCOME_UNCERTAIN: Outcome
OUTCOME_ABSTAINED: Outcome
OUTCOME_UNKNOWN_COMMAND: Outcome
LEXICAL_BAND_UNSPECIFIED: LexicalBand
LEXICAL_BAND_WEAK: LexicalBand
LEXICAL_BAND_FAIR: LexicalBand
LEXICAL_BAND_GOOD: LexicalBand
LEXICAL_BAND_VERY_GOOD: LexicalBand
LEXICAL_BAND_EXACT: LexicalBand
TOKEN_FIELD_UNSPECIFIED: TokenField
TOKEN_FIELD_NAME: TokenField
TOKEN_FIELD_SOURCE_HINT: TokenField
TOKEN_FIELD_RESPONSIBILITY: TokenField
TOKEN_FIELD_OTHER: TokenField
ADJUSTMENT_CAUSE_UNSPECIFIED: AdjustmentCause
ADJUSTMENT_CAUSE_NOT_WHEN: AdjustmentCause
ADJUSTMENT_CAUSE_REDIRECT: AdjustmentCause
ADJUSTMENT_CAUSE_CONTEXT: AdjustmentCause
ADJUSTMENT_CAUSE_PREFERRED: AdjustmentCause
ADJUSTMENT_CAUSE_NEGATED: AdjustmentCause
DEGRADED_REASON_UNSPECIFIED: DegradedReason
DEGRADED_REASON_MODEL_DISABLED: DegradedReason
DEGRADED_REASON_MODEL_LOADING: DegradedReason
DEGRADED_REASON_MODEL_FAILED: DegradedReason
DEGRADED_REASON_MODEL_OVERLOADED: DegradedReason
DEGRADED_REASON_VECTORS_PENDING: DegradedReason
DEGRADED_REASON_NOT_JOURNALED: DegradedReason
DEGRADED_REASON_CALIBRATION_STALE: DegradedReason
WARNING_CODE_UNSPECIFIED: WarningCode
WARNING_CODE_LANGUAGE_UNSUPPORTED: WarningCode

class RouteRequest(_message.Message):
    __slots__ = ("prompt", "limit", "min_score", "mode", "no_commands", "no_tools", "no_skills", "view", "context", "tenant", "user", "plan", "now", "time_zone", "coverage")
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    NO_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    NO_TOOLS_FIELD_NUMBER: _ClassVar[int]
    NO_SKILLS_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    limit: int
    min_score: float
    mode: RouteMode
    no_commands: bool
    no_tools: bool
    no_skills: bool
    view: RouteView
    context: ConversationContext
    tenant: str
    user: str
    plan: bool
    now: _timestamp_pb2.Timestamp
    time_zone: str
    coverage: float
    def __init__(self, prompt: _Optional[str] = ..., limit: _Optional[int] = ..., min_score: _Optional[float] = ..., mode: _Optional[_Union[RouteMode, str]] = ..., no_commands: bool = ..., no_tools: bool = ..., no_skills: bool = ..., view: _Optional[_Union[RouteView, str]] = ..., context: _Optional[_Union[ConversationContext, _Mapping]] = ..., tenant: _Optional[str] = ..., user: _Optional[str] = ..., plan: bool = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., time_zone: _Optional[str] = ..., coverage: _Optional[float] = ...) -> None: ...

class ConversationContext(_message.Message):
    __slots__ = ("turns", "summary")
    TURNS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    turns: _containers.RepeatedCompositeFieldContainer[ConversationTurn]
    summary: str
    def __init__(self, turns: _Optional[_Iterable[_Union[ConversationTurn, _Mapping]]] = ..., summary: _Optional[str] = ...) -> None: ...

class ConversationTurn(_message.Message):
    __slots__ = ("role", "text")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    role: str
    text: str
    def __init__(self, role: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class RouteResponse(_message.Message):
    __slots__ = ("decision", "matches", "catalog_revision", "mode", "model_id", "degraded", "warnings", "input_truncated", "nearest", "route_id", "plan", "unwanted", "parameters", "missing_parameters", "dropped", "prediction_set", "language")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    NEAREST_FIELD_NUMBER: _ClassVar[int]
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    UNWANTED_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    MISSING_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    PREDICTION_SET_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    matches: _containers.RepeatedCompositeFieldContainer[Match]
    catalog_revision: str
    mode: RouteMode
    model_id: str
    degraded: _containers.RepeatedCompositeFieldContainer[Degradation]
    warnings: _containers.RepeatedCompositeFieldContainer[RouteWarning]
    input_truncated: InputTruncation
    nearest: _containers.RepeatedCompositeFieldContainer[Match]
    route_id: str
    plan: Plan
    unwanted: _containers.RepeatedCompositeFieldContainer[UnwantedText]
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    missing_parameters: _containers.RepeatedScalarFieldContainer[str]
    dropped: _containers.RepeatedCompositeFieldContainer[DroppedCandidate]
    prediction_set: PredictionSet
    language: str
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping]] = ..., matches: _Optional[_Iterable[_Union[Match, _Mapping]]] = ..., catalog_revision: _Optional[str] = ..., mode: _Optional[_Union[RouteMode, str]] = ..., model_id: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[Degradation, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[RouteWarning, _Mapping]]] = ..., input_truncated: _Optional[_Union[InputTruncation, _Mapping]] = ..., nearest: _Optional[_Iterable[_Union[Match, _Mapping]]] = ..., route_id: _Optional[str] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., unwanted: _Optional[_Iterable[_Union[UnwantedText, _Mapping]]] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., missing_parameters: _Optional[_Iterable[str]] = ..., dropped: _Optional[_Iterable[_Union[DroppedCandidate, _Mapping]]] = ..., prediction_set: _Optional[_Union[PredictionSet, _Mapping]] = ..., language: _Optional[str] = ...) -> None: ...

class PredictionSet(_message.Message):
    __slots__ = ("coverage", "entries", "unavailable")
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    coverage: float
    entries: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    unavailable: str
    def __init__(self, coverage: _Optional[float] = ..., entries: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ..., unavailable: _Optional[str] = ...) -> None: ...

class UnwantedText(_message.Message):
    __slots__ = ("text", "span", "entries")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    text: str
    span: ByteSpan
    entries: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    def __init__(self, text: _Optional[str] = ..., span: _Optional[_Union[ByteSpan, _Mapping]] = ..., entries: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ...) -> None: ...

class ByteSpan(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("name", "value", "span", "rule")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: _struct_pb2.Value
    span: ByteSpan
    rule: ParameterRule
    def __init__(self, name: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., span: _Optional[_Union[ByteSpan, _Mapping]] = ..., rule: _Optional[_Union[ParameterRule, str]] = ...) -> None: ...

class DroppedCandidate(_message.Message):
    __slots__ = ("entry", "score", "rank", "reason")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    entry: _entry_pb2.EntryRef
    score: float
    rank: int
    reason: DropReason
    def __init__(self, entry: _Optional[_Union[_entry_pb2.EntryRef, _Mapping]] = ..., score: _Optional[float] = ..., rank: _Optional[int] = ..., reason: _Optional[_Union[DropReason, str]] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("steps", "cycle")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[PlanStep]
    cycle: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    def __init__(self, steps: _Optional[_Iterable[_Union[PlanStep, _Mapping]]] = ..., cycle: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ...) -> None: ...

class PlanStep(_message.Message):
    __slots__ = ("number", "text", "span", "fit", "confidence", "match", "after", "unmet_dependencies", "parameters", "missing_parameters")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    MISSING_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    number: int
    text: str
    span: ByteSpan
    fit: StepFit
    confidence: float
    match: Match
    after: _containers.RepeatedScalarFieldContainer[int]
    unmet_dependencies: _containers.RepeatedScalarFieldContainer[str]
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    missing_parameters: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, number: _Optional[int] = ..., text: _Optional[str] = ..., span: _Optional[_Union[ByteSpan, _Mapping]] = ..., fit: _Optional[_Union[StepFit, str]] = ..., confidence: _Optional[float] = ..., match: _Optional[_Union[Match, _Mapping]] = ..., after: _Optional[_Iterable[int]] = ..., unmet_dependencies: _Optional[_Iterable[str]] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ..., missing_parameters: _Optional[_Iterable[str]] = ...) -> None: ...

class PlanRouteRequest(_message.Message):
    __slots__ = ("route",)
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    route: RouteRequest
    def __init__(self, route: _Optional[_Union[RouteRequest, _Mapping]] = ...) -> None: ...

class PlanRouteResponse(_message.Message):
    __slots__ = ("plan", "unwanted", "catalog_revision", "mode", "model_id", "degraded", "warnings", "route_id")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    UNWANTED_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    unwanted: _containers.RepeatedCompositeFieldContainer[UnwantedText]
    catalog_revision: str
    mode: RouteMode
    model_id: str
    degraded: _containers.RepeatedCompositeFieldContainer[Degradation]
    warnings: _containers.RepeatedCompositeFieldContainer[RouteWarning]
    route_id: str
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping]] = ..., unwanted: _Optional[_Iterable[_Union[UnwantedText, _Mapping]]] = ..., catalog_revision: _Optional[str] = ..., mode: _Optional[_Union[RouteMode, str]] = ..., model_id: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[Degradation, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[RouteWarning, _Mapping]]] = ..., route_id: _Optional[str] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("outcome", "confidence", "floor", "accept_threshold", "reason", "nearest_commands")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    NEAREST_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    confidence: float
    floor: float
    accept_threshold: float
    reason: str
    nearest_commands: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., confidence: _Optional[float] = ..., floor: _Optional[float] = ..., accept_threshold: _Optional[float] = ..., reason: _Optional[str] = ..., nearest_commands: _Optional[_Iterable[str]] = ...) -> None: ...

class Match(_message.Message):
    __slots__ = ("entry", "score", "lexical_score", "lexical_band", "matched_tokens", "parts", "title")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_BAND_FIELD_NUMBER: _ClassVar[int]
    MATCHED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    entry: _entry_pb2.EntryRef
    score: float
    lexical_score: float
    lexical_band: LexicalBand
    matched_tokens: _containers.RepeatedCompositeFieldContainer[MatchedToken]
    parts: ScoreParts
    title: str
    def __init__(self, entry: _Optional[_Union[_entry_pb2.EntryRef, _Mapping]] = ..., score: _Optional[float] = ..., lexical_score: _Optional[float] = ..., lexical_band: _Optional[_Union[LexicalBand, str]] = ..., matched_tokens: _Optional[_Iterable[_Union[MatchedToken, _Mapping]]] = ..., parts: _Optional[_Union[ScoreParts, _Mapping]] = ..., title: _Optional[str] = ...) -> None: ...

class MatchedToken(_message.Message):
    __slots__ = ("token", "field", "weight")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    token: str
    field: TokenField
    weight: float
    def __init__(self, token: _Optional[str] = ..., field: _Optional[_Union[TokenField, str]] = ..., weight: _Optional[float] = ...) -> None: ...

class ScoreParts(_message.Message):
    __slots__ = ("coverage", "similarity", "nearest_example_similarity", "nearest_example", "hub", "raw", "adjustments", "negated", "pinned")
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    NEAREST_EXAMPLE_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    NEAREST_EXAMPLE_FIELD_NUMBER: _ClassVar[int]
    HUB_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    ADJUSTMENTS_FIELD_NUMBER: _ClassVar[int]
    NEGATED_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    coverage: float
    similarity: float
    nearest_example_similarity: float
    nearest_example: str
    hub: float
    raw: float
    adjustments: _containers.RepeatedCompositeFieldContainer[ScoreAdjustment]
    negated: bool
    pinned: bool
    def __init__(self, coverage: _Optional[float] = ..., similarity: _Optional[float] = ..., nearest_example_similarity: _Optional[float] = ..., nearest_example: _Optional[str] = ..., hub: _Optional[float] = ..., raw: _Optional[float] = ..., adjustments: _Optional[_Iterable[_Union[ScoreAdjustment, _Mapping]]] = ..., negated: bool = ..., pinned: bool = ...) -> None: ...

class ScoreAdjustment(_message.Message):
    __slots__ = ("cause", "amount", "detail")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    cause: AdjustmentCause
    amount: float
    detail: str
    def __init__(self, cause: _Optional[_Union[AdjustmentCause, str]] = ..., amount: _Optional[float] = ..., detail: _Optional[str] = ...) -> None: ...

class Degradation(_message.Message):
    __slots__ = ("reason", "detail")
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    reason: DegradedReason
    detail: str
    def __init__(self, reason: _Optional[_Union[DegradedReason, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class RouteWarning(_message.Message):
    __slots__ = ("code", "detail")
    CODE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    code: WarningCode
    detail: str
    def __init__(self, code: _Optional[_Union[WarningCode, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class InputTruncation(_message.Message):
    __slots__ = ("prompt_tokens", "used_tokens")
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    USED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    prompt_tokens: int
    used_tokens: int
    def __init__(self, prompt_tokens: _Optional[int] = ..., used_tokens: _Optional[int] = ...) -> None: ...

class BatchRouteRequest(_message.Message):
    __slots__ = ("requests",)
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[RouteRequest]
    def __init__(self, requests: _Optional[_Iterable[_Union[RouteRequest, _Mapping]]] = ...) -> None: ...

class BatchRouteResponse(_message.Message):
    __slots__ = ("responses", "catalog_revision")
    RESPONSES_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    responses: _containers.RepeatedCompositeFieldContainer[RouteResponse]
    catalog_revision: str
    def __init__(self, responses: _Optional[_Iterable[_Union[RouteResponse, _Mapping]]] = ..., catalog_revision: _Optional[str] = ...) -> None: ...

class StreamRouteRequest(_message.Message):
    __slots__ = ("route",)
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    route: RouteRequest
    def __init__(self, route: _Optional[_Union[RouteRequest, _Mapping]] = ...) -> None: ...

class StreamRouteResponse(_message.Message):
    __slots__ = ("exact_command", "lexical", "semantic", "decision")
    EXACT_COMMAND_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_FIELD_NUMBER: _ClassVar[int]
    SEMANTIC_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    exact_command: ExactCommandStage
    lexical: LexicalStage
    semantic: SemanticStage
    decision: RouteResponse
    def __init__(self, exact_command: _Optional[_Union[ExactCommandStage, _Mapping]] = ..., lexical: _Optional[_Union[LexicalStage, _Mapping]] = ..., semantic: _Optional[_Union[SemanticStage, _Mapping]] = ..., decision: _Optional[_Union[RouteResponse, _Mapping]] = ...) -> None: ...

class ExactCommandStage(_message.Message):
    __slots__ = ("entry",)
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    entry: _entry_pb2.EntryRef
    def __init__(self, entry: _Optional[_Union[_entry_pb2.EntryRef, _Mapping]] = ...) -> None: ...

class LexicalStage(_message.Message):
    __slots__ = ("matches",)
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[Match]
    def __init__(self, matches: _Optional[_Iterable[_Union[Match, _Mapping]]] = ...) -> None: ...

class SemanticStage(_message.Message):
    __slots__ = ("matches", "model_id")
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    matches: _containers.RepeatedCompositeFieldContainer[Match]
    model_id: str
    def __init__(self, matches: _Optional[_Iterable[_Union[Match, _Mapping]]] = ..., model_id: _Optional[str] = ...) -> None: ...
