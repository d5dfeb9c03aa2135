import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from signalbox_client._generated.signalbox.v1 import entry_pb2 as _entry_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LoopEventType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOOP_EVENT_TYPE_UNSPECIFIED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_STARTED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_PRE_HYDRATION_COMPLETE: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_REASONING_COMPLETE: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_POLICY_EVALUATED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_TOOLS_DISPATCHED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_OBSERVATIONS_COLLECTED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_RECOVERY_TRIGGERED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_STEP_LIMIT_REACHED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_LOOP_WARNING: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_ROUTE_DECIDED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_FEEDBACK_RECORDED: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_CUSTOM: _ClassVar[LoopEventType]
    LOOP_EVENT_TYPE_TERMINATED: _ClassVar[LoopEventType]

class RecoveryStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECOVERY_STRATEGY_UNSPECIFIED: _ClassVar[RecoveryStrategy]
    RECOVERY_STRATEGY_RETRY: _ClassVar[RecoveryStrategy]
    RECOVERY_STRATEGY_FALLBACK: _ClassVar[RecoveryStrategy]
    RECOVERY_STRATEGY_CACHED_RESULT: _ClassVar[RecoveryStrategy]
    RECOVERY_STRATEGY_LLM_RECOVERY: _ClassVar[RecoveryStrategy]
    RECOVERY_STRATEGY_ESCALATE: _ClassVar[RecoveryStrategy]
    RECOVERY_STRATEGY_DEAD_LETTER: _ClassVar[RecoveryStrategy]

class TerminationReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TERMINATION_REASON_UNSPECIFIED: _ClassVar[TerminationReason]
    TERMINATION_REASON_COMPLETED: _ClassVar[TerminationReason]
    TERMINATION_REASON_MAX_ITERATIONS: _ClassVar[TerminationReason]
    TERMINATION_REASON_MAX_TOKENS: _ClassVar[TerminationReason]
    TERMINATION_REASON_TIMEOUT: _ClassVar[TerminationReason]
    TERMINATION_REASON_POLICY_DENIAL: _ClassVar[TerminationReason]
    TERMINATION_REASON_STEP_LIMIT: _ClassVar[TerminationReason]
    TERMINATION_REASON_STUCK: _ClassVar[TerminationReason]
    TERMINATION_REASON_ERROR: _ClassVar[TerminationReason]
    TERMINATION_REASON_ABANDONED: _ClassVar[TerminationReason]
LOOP_EVENT_TYPE_UNSPECIFIED: LoopEventType
LOOP_EVENT_TYPE_STARTED: LoopEventType
LOOP_EVENT_TYPE_PRE_HYDRATION_COMPLETE: LoopEventType
LOOP_EVENT_TYPE_REASONING_COMPLETE: LoopEventType
LOOP_EVENT_TYPE_POLICY_EVALUATED: LoopEventType
LOOP_EVENT_TYPE_TOOLS_DISPATCHED: LoopEventType
LOOP_EVENT_TYPE_OBSERVATIONS_COLLECTED: LoopEventType
LOOP_EVENT_TYPE_RECOVERY_TRIGGERED: LoopEventType
LOOP_EVENT_TYPE_STEP_LIMIT_REACHED: LoopEventType
LOOP_EVENT_TYPE_LOOP_WARNING: LoopEventType
LOOP_EVENT_TYPE_ROUTE_DECIDED: LoopEventType
LOOP_EVENT_TYPE_FEEDBACK_RECORDED: LoopEventType
LOOP_EVENT_TYPE_CUSTOM: LoopEventType
LOOP_EVENT_TYPE_TERMINATED: LoopEventType
RECOVERY_STRATEGY_UNSPECIFIED: RecoveryStrategy
RECOVERY_STRATEGY_RETRY: RecoveryStrategy
RECOVERY_STRATEGY_FALLBACK: RecoveryStrategy
RECOVERY_STRATEGY_CACHED_RESULT: RecoveryStrategy
RECOVERY_STRATEGY_LLM_RECOVERY: RecoveryStrategy
RECOVERY_STRATEGY_ESCALATE: RecoveryStrategy
RECOVERY_STRATEGY_DEAD_LETTER: RecoveryStrategy
TERMINATION_REASON_UNSPECIFIED: TerminationReason
TERMINATION_REASON_COMPLETED: TerminationReason
TERMINATION_REASON_MAX_ITERATIONS: TerminationReason
TERMINATION_REASON_MAX_TOKENS: TerminationReason
TERMINATION_REASON_TIMEOUT: TerminationReason
TERMINATION_REASON_POLICY_DENIAL: TerminationReason
TERMINATION_REASON_STEP_LIMIT: TerminationReason
TERMINATION_REASON_STUCK: TerminationReason
TERMINATION_REASON_ERROR: TerminationReason
TERMINATION_REASON_ABANDONED: TerminationReason

class LoopEvent(_message.Message):
    __slots__ = ("started", "pre_hydration_complete", "reasoning_complete", "policy_evaluated", "tools_dispatched", "observations_collected", "recovery_triggered", "step_limit_reached", "loop_warning", "route_decided", "feedback_recorded", "custom", "terminated")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    PRE_HYDRATION_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    REASONING_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    POLICY_EVALUATED_FIELD_NUMBER: _ClassVar[int]
    TOOLS_DISPATCHED_FIELD_NUMBER: _ClassVar[int]
    OBSERVATIONS_COLLECTED_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_TRIGGERED_FIELD_NUMBER: _ClassVar[int]
    STEP_LIMIT_REACHED_FIELD_NUMBER: _ClassVar[int]
    LOOP_WARNING_FIELD_NUMBER: _ClassVar[int]
    ROUTE_DECIDED_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_RECORDED_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    started: Started
    pre_hydration_complete: PreHydrationComplete
    reasoning_complete: ReasoningComplete
    policy_evaluated: PolicyEvaluated
    tools_dispatched: ToolsDispatched
    observations_collected: ObservationsCollected
    recovery_triggered: RecoveryTriggered
    step_limit_reached: StepLimitReached
    loop_warning: LoopWarning
    route_decided: RouteDecided
    feedback_recorded: FeedbackRecorded
    custom: Custom
    terminated: Terminated
    def __init__(self, started: _Optional[_Union[Started, _Mapping]] = ..., pre_hydration_complete: _Optional[_Union[PreHydrationComplete, _Mapping]] = ..., reasoning_complete: _Optional[_Union[ReasoningComplete, _Mapping]] = ..., policy_evaluated: _Optional[_Union[PolicyEvaluated, _Mapping]] = ..., tools_dispatched: _Optional[_Union[ToolsDispatched, _Mapping]] = ..., observations_collected: _Optional[_Union[ObservationsCollected, _Mapping]] = ..., recovery_triggered: _Optional[_Union[RecoveryTriggered, _Mapping]] = ..., step_limit_reached: _Optional[_Union[StepLimitReached, _Mapping]] = ..., loop_warning: _Optional[_Union[LoopWarning, _Mapping]] = ..., route_decided: _Optional[_Union[RouteDecided, _Mapping]] = ..., feedback_recorded: _Optional[_Union[FeedbackRecorded, _Mapping]] = ..., custom: _Optional[_Union[Custom, _Mapping]] = ..., terminated: _Optional[_Union[Terminated, _Mapping]] = ...) -> None: ...

class JournalEntry(_message.Message):
    __slots__ = ("sequence", "position", "timestamp", "loop_id", "agent_id", "iteration", "event")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    position: str
    timestamp: _timestamp_pb2.Timestamp
    loop_id: str
    agent_id: str
    iteration: int
    event: LoopEvent
    def __init__(self, sequence: _Optional[int] = ..., position: _Optional[str] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., loop_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., iteration: _Optional[int] = ..., event: _Optional[_Union[LoopEvent, _Mapping]] = ...) -> None: ...

class Started(_message.Message):
    __slots__ = ("input", "tools", "config", "parent_loop_id", "delegation_depth")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    PARENT_LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_DEPTH_FIELD_NUMBER: _ClassVar[int]
    input: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    config: str
    parent_loop_id: str
    delegation_depth: int
    def __init__(self, input: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ..., config: _Optional[str] = ..., parent_loop_id: _Optional[str] = ..., delegation_depth: _Optional[int] = ...) -> None: ...

class PreHydrationComplete(_message.Message):
    __slots__ = ("reference_count", "resolved_count", "token_count", "duration", "failed_count")
    REFERENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    FAILED_COUNT_FIELD_NUMBER: _ClassVar[int]
    reference_count: int
    resolved_count: int
    token_count: int
    duration: _duration_pb2.Duration
    failed_count: int
    def __init__(self, reference_count: _Optional[int] = ..., resolved_count: _Optional[int] = ..., token_count: _Optional[int] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., failed_count: _Optional[int] = ...) -> None: ...

class ReasoningComplete(_message.Message):
    __slots__ = ("iteration", "actions", "usage", "text")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    actions: _containers.RepeatedCompositeFieldContainer[Action]
    usage: Usage
    text: str
    def __init__(self, iteration: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[Action, _Mapping]]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("call_id", "tool_name", "arguments")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool_name: str
    arguments: str
    def __init__(self, call_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., arguments: _Optional[str] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ...) -> None: ...

class PolicyEvaluated(_message.Message):
    __slots__ = ("iteration", "action_count", "denied_count")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    ACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    DENIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    action_count: int
    denied_count: int
    def __init__(self, iteration: _Optional[int] = ..., action_count: _Optional[int] = ..., denied_count: _Optional[int] = ...) -> None: ...

class ToolsDispatched(_message.Message):
    __slots__ = ("iteration", "tool_count", "duration")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    TOOL_COUNT_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    tool_count: int
    duration: _duration_pb2.Duration
    def __init__(self, iteration: _Optional[int] = ..., tool_count: _Optional[int] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ObservationsCollected(_message.Message):
    __slots__ = ("iteration", "observation_count", "observations")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    OBSERVATIONS_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    observation_count: int
    observations: _containers.RepeatedCompositeFieldContainer[Observation]
    def __init__(self, iteration: _Optional[int] = ..., observation_count: _Optional[int] = ..., observations: _Optional[_Iterable[_Union[Observation, _Mapping]]] = ...) -> None: ...

class Observation(_message.Message):
    __slots__ = ("call_id", "tool_name", "output", "output_bytes", "is_error", "fingerprint")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool_name: str
    output: str
    output_bytes: int
    is_error: bool
    fingerprint: str
    def __init__(self, call_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., output: _Optional[str] = ..., output_bytes: _Optional[int] = ..., is_error: bool = ..., fingerprint: _Optional[str] = ...) -> None: ...

class RecoveryTriggered(_message.Message):
    __slots__ = ("iteration", "tool_name", "strategy", "error")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    tool_name: str
    strategy: RecoveryStrategy
    error: str
    def __init__(self, iteration: _Optional[int] = ..., tool_name: _Optional[str] = ..., strategy: _Optional[_Union[RecoveryStrategy, str]] = ..., error: _Optional[str] = ...) -> None: ...

class StepLimitReached(_message.Message):
    __slots__ = ("step_id", "attempts", "reason")
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    step_id: str
    attempts: int
    reason: str
    def __init__(self, step_id: _Optional[str] = ..., attempts: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class LoopWarning(_message.Message):
    __slots__ = ("rule", "text", "evidence", "step_id")
    RULE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    rule: str
    text: str
    evidence: _containers.RepeatedScalarFieldContainer[int]
    step_id: str
    def __init__(self, rule: _Optional[str] = ..., text: _Optional[str] = ..., evidence: _Optional[_Iterable[int]] = ..., step_id: _Optional[str] = ...) -> None: ...

class RouteDecided(_message.Message):
    __slots__ = ("route_id", "request", "catalog_revision", "model_id", "model_digest", "mode", "outcome", "confidence", "floor", "accept_threshold", "matches", "degraded", "agent_id")
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    route_id: str
    request: RoutedRequest
    catalog_revision: str
    model_id: str
    model_digest: str
    mode: str
    outcome: str
    confidence: float
    floor: float
    accept_threshold: float
    matches: _containers.RepeatedCompositeFieldContainer[RoutedMatch]
    degraded: _containers.RepeatedScalarFieldContainer[str]
    agent_id: str
    def __init__(self, route_id: _Optional[str] = ..., request: _Optional[_Union[RoutedRequest, _Mapping]] = ..., catalog_revision: _Optional[str] = ..., model_id: _Optional[str] = ..., model_digest: _Optional[str] = ..., mode: _Optional[str] = ..., outcome: _Optional[str] = ..., confidence: _Optional[float] = ..., floor: _Optional[float] = ..., accept_threshold: _Optional[float] = ..., matches: _Optional[_Iterable[_Union[RoutedMatch, _Mapping]]] = ..., degraded: _Optional[_Iterable[str]] = ..., agent_id: _Optional[str] = ...) -> None: ...

class RoutedRequest(_message.Message):
    __slots__ = ("prompt", "limit", "min_score", "mode", "no_commands", "no_tools", "no_skills", "context", "tenant", "user", "pinned", "blocked", "preferred")
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    NO_COMMANDS_FIELD_NUMBER: _ClassVar[int]
    NO_TOOLS_FIELD_NUMBER: _ClassVar[int]
    NO_SKILLS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    limit: int
    min_score: float
    mode: str
    no_commands: bool
    no_tools: bool
    no_skills: bool
    context: str
    tenant: str
    user: str
    pinned: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    blocked: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    preferred: _containers.RepeatedCompositeFieldContainer[_entry_pb2.EntryRef]
    def __init__(self, prompt: _Optional[str] = ..., limit: _Optional[int] = ..., min_score: _Optional[float] = ..., mode: _Optional[str] = ..., no_commands: bool = ..., no_tools: bool = ..., no_skills: bool = ..., context: _Optional[str] = ..., tenant: _Optional[str] = ..., user: _Optional[str] = ..., pinned: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ..., blocked: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ..., preferred: _Optional[_Iterable[_Union[_entry_pb2.EntryRef, _Mapping]]] = ...) -> None: ...

class RoutedMatch(_message.Message):
    __slots__ = ("entry", "score", "lexical_score")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    entry: _entry_pb2.EntryRef
    score: float
    lexical_score: float
    def __init__(self, entry: _Optional[_Union[_entry_pb2.EntryRef, _Mapping]] = ..., score: _Optional[float] = ..., lexical_score: _Optional[float] = ...) -> None: ...

class FeedbackRecorded(_message.Message):
    __slots__ = ("feedback_id", "route_id", "entry", "verdict", "comment")
    FEEDBACK_ID_FIELD_NUMBER: _ClassVar[int]
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    feedback_id: str
    route_id: str
    entry: _entry_pb2.EntryRef
    verdict: str
    comment: str
    def __init__(self, feedback_id: _Optional[str] = ..., route_id: _Optional[str] = ..., entry: _Optional[_Union[_entry_pb2.EntryRef, _Mapping]] = ..., verdict: _Optional[str] = ..., comment: _Optional[str] = ...) -> None: ...

class Custom(_message.Message):
    __slots__ = ("name", "data")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    name: str
    data: str
    def __init__(self, name: _Optional[str] = ..., data: _Optional[str] = ...) -> None: ...

class Terminated(_message.Message):
    __slots__ = ("reason", "iterations", "total_usage", "duration", "detail")
    REASON_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_USAGE_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    reason: TerminationReason
    iterations: int
    total_usage: Usage
    duration: _duration_pb2.Duration
    detail: str
    def __init__(self, reason: _Optional[_Union[TerminationReason, str]] = ..., iterations: _Optional[int] = ..., total_usage: _Optional[_Union[Usage, _Mapping]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., detail: _Optional[str] = ...) -> None: ...
