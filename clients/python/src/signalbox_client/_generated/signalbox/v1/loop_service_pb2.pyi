import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from signalbox_client._generated.signalbox.v1 import loop_event_pb2 as _loop_event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LimitAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIMIT_ACTION_UNSPECIFIED: _ClassVar[LimitAction]
    LIMIT_ACTION_SKIP_STEP: _ClassVar[LimitAction]
    LIMIT_ACTION_ABORT_TASK: _ClassVar[LimitAction]
    LIMIT_ACTION_ESCALATE: _ClassVar[LimitAction]

class FilterStage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILTER_STAGE_UNSPECIFIED: _ClassVar[FilterStage]
    FILTER_STAGE_INCLUDE: _ClassVar[FilterStage]
    FILTER_STAGE_EXCLUDE: _ClassVar[FilterStage]
    FILTER_STAGE_VERIFIED: _ClassVar[FilterStage]
    FILTER_STAGE_READ_ONLY: _ClassVar[FilterStage]
    FILTER_STAGE_CAP: _ClassVar[FilterStage]

class CallOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALL_OUTCOME_UNSPECIFIED: _ClassVar[CallOutcome]
    CALL_OUTCOME_SUCCEEDED: _ClassVar[CallOutcome]
    CALL_OUTCOME_FAILED: _ClassVar[CallOutcome]
    CALL_OUTCOME_VETOED: _ClassVar[CallOutcome]

class GuardDecision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GUARD_DECISION_UNSPECIFIED: _ClassVar[GuardDecision]
    GUARD_DECISION_CONTINUE: _ClassVar[GuardDecision]
    GUARD_DECISION_NUDGE: _ClassVar[GuardDecision]
    GUARD_DECISION_STOP: _ClassVar[GuardDecision]
    GUARD_DECISION_RETRYABLE_OUTAGE: _ClassVar[GuardDecision]

class ReferenceStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFERENCE_STATUS_UNSPECIFIED: _ClassVar[ReferenceStatus]
    REFERENCE_STATUS_RESOLVED: _ClassVar[ReferenceStatus]
    REFERENCE_STATUS_FAILED: _ClassVar[ReferenceStatus]
    REFERENCE_STATUS_NO_RESOLVER: _ClassVar[ReferenceStatus]
    REFERENCE_STATUS_OVER_BUDGET: _ClassVar[ReferenceStatus]

class ReferenceFailure(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFERENCE_FAILURE_UNSPECIFIED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_TIMEOUT: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_TOOL_EXCLUDED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_POLICY_DENIED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_TOOL_FAILED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_UNSUPPORTED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_SCHEME_REFUSED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_ADDRESS_REFUSED: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_TOO_MANY_REDIRECTS: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_NETWORK: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_HTTP_STATUS: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_TOO_LARGE: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_NOT_TEXT: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_OUTSIDE_ROOTS: _ClassVar[ReferenceFailure]
    REFERENCE_FAILURE_NOT_FOUND: _ClassVar[ReferenceFailure]
LIMIT_ACTION_UNSPECIFIED: LimitAction
LIMIT_ACTION_SKIP_STEP: LimitAction
LIMIT_ACTION_ABORT_TASK: LimitAction
LIMIT_ACTION_ESCALATE: LimitAction
FILTER_STAGE_UNSPECIFIED: FilterStage
FILTER_STAGE_INCLUDE: FilterStage
FILTER_STAGE_EXCLUDE: FilterStage
FILTER_STAGE_VERIFIED: FilterStage
FILTER_STAGE_READ_ONLY: FilterStage
FILTER_STAGE_CAP: FilterStage
CALL_OUTCOME_UNSPECIFIED: CallOutcome
CALL_OUTCOME_SUCCEEDED: CallOutcome
CALL_OUTCOME_FAILED: CallOutcome
CALL_OUTCOME_VETOED: CallOutcome
GUARD_DECISION_UNSPECIFIED: GuardDecision
GUARD_DECISION_CONTINUE: GuardDecision
GUARD_DECISION_NUDGE: GuardDecision
GUARD_DECISION_STOP: GuardDecision
GUARD_DECISION_RETRYABLE_OUTAGE: GuardDecision
REFERENCE_STATUS_UNSPECIFIED: ReferenceStatus
REFERENCE_STATUS_RESOLVED: ReferenceStatus
REFERENCE_STATUS_FAILED: ReferenceStatus
REFERENCE_STATUS_NO_RESOLVER: ReferenceStatus
REFERENCE_STATUS_OVER_BUDGET: ReferenceStatus
REFERENCE_FAILURE_UNSPECIFIED: ReferenceFailure
REFERENCE_FAILURE_TIMEOUT: ReferenceFailure
REFERENCE_FAILURE_TOOL_EXCLUDED: ReferenceFailure
REFERENCE_FAILURE_POLICY_DENIED: ReferenceFailure
REFERENCE_FAILURE_TOOL_FAILED: ReferenceFailure
REFERENCE_FAILURE_UNSUPPORTED: ReferenceFailure
REFERENCE_FAILURE_SCHEME_REFUSED: ReferenceFailure
REFERENCE_FAILURE_ADDRESS_REFUSED: ReferenceFailure
REFERENCE_FAILURE_TOO_MANY_REDIRECTS: ReferenceFailure
REFERENCE_FAILURE_NETWORK: ReferenceFailure
REFERENCE_FAILURE_HTTP_STATUS: ReferenceFailure
REFERENCE_FAILURE_TOO_LARGE: ReferenceFailure
REFERENCE_FAILURE_NOT_TEXT: ReferenceFailure
REFERENCE_FAILURE_OUTSIDE_ROOTS: ReferenceFailure
REFERENCE_FAILURE_NOT_FOUND: ReferenceFailure

class LoopConfig(_message.Message):
    __slots__ = ("max_iterations", "max_total_tokens", "timeout", "tool_timeout", "max_concurrent_tools", "context_token_budget", "max_delegation_depth", "budget_warning", "recovery", "rules", "tool_profile", "step_iteration", "pre_hydration")
    MAX_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    TOOL_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    MAX_CONCURRENT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_DELEGATION_DEPTH_FIELD_NUMBER: _ClassVar[int]
    BUDGET_WARNING_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    TOOL_PROFILE_FIELD_NUMBER: _ClassVar[int]
    STEP_ITERATION_FIELD_NUMBER: _ClassVar[int]
    PRE_HYDRATION_FIELD_NUMBER: _ClassVar[int]
    max_iterations: int
    max_total_tokens: int
    timeout: _duration_pb2.Duration
    tool_timeout: _duration_pb2.Duration
    max_concurrent_tools: int
    context_token_budget: int
    max_delegation_depth: int
    budget_warning: float
    recovery: Recovery
    rules: LoopRules
    tool_profile: ToolProfile
    step_iteration: StepIteration
    pre_hydration: PreHydration
    def __init__(self, max_iterations: _Optional[int] = ..., max_total_tokens: _Optional[int] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., tool_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_concurrent_tools: _Optional[int] = ..., context_token_budget: _Optional[int] = ..., max_delegation_depth: _Optional[int] = ..., budget_warning: _Optional[float] = ..., recovery: _Optional[_Union[Recovery, _Mapping]] = ..., rules: _Optional[_Union[LoopRules, _Mapping]] = ..., tool_profile: _Optional[_Union[ToolProfile, _Mapping]] = ..., step_iteration: _Optional[_Union[StepIteration, _Mapping]] = ..., pre_hydration: _Optional[_Union[PreHydration, _Mapping]] = ...) -> None: ...

class Recovery(_message.Message):
    __slots__ = ("retry_attempts", "retry_base", "fallback_tool", "cached_result", "llm_recovery", "escalate", "dead_letter")
    RETRY_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    RETRY_BASE_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_TOOL_FIELD_NUMBER: _ClassVar[int]
    CACHED_RESULT_FIELD_NUMBER: _ClassVar[int]
    LLM_RECOVERY_FIELD_NUMBER: _ClassVar[int]
    ESCALATE_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTER_FIELD_NUMBER: _ClassVar[int]
    retry_attempts: int
    retry_base: _duration_pb2.Duration
    fallback_tool: str
    cached_result: bool
    llm_recovery: bool
    escalate: bool
    dead_letter: bool
    def __init__(self, retry_attempts: _Optional[int] = ..., retry_base: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., fallback_tool: _Optional[str] = ..., cached_result: bool = ..., llm_recovery: bool = ..., escalate: bool = ..., dead_letter: bool = ...) -> None: ...

class RuleLimits(_message.Message):
    __slots__ = ("nudge", "stop")
    NUDGE_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    nudge: int
    stop: int
    def __init__(self, nudge: _Optional[int] = ..., stop: _Optional[int] = ...) -> None: ...

class LoopRules(_message.Message):
    __slots__ = ("repeated_call", "repeated_failure", "immediate_repeat", "error_streak", "similar_call", "same_result", "cycle", "polling", "repeated_text", "monologue", "similarity", "polling_tools", "backoff_base", "backoff_max")
    REPEATED_CALL_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FAILURE_FIELD_NUMBER: _ClassVar[int]
    IMMEDIATE_REPEAT_FIELD_NUMBER: _ClassVar[int]
    ERROR_STREAK_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_CALL_FIELD_NUMBER: _ClassVar[int]
    SAME_RESULT_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    POLLING_FIELD_NUMBER: _ClassVar[int]
    REPEATED_TEXT_FIELD_NUMBER: _ClassVar[int]
    MONOLOGUE_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    POLLING_TOOLS_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_BASE_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_MAX_FIELD_NUMBER: _ClassVar[int]
    repeated_call: RuleLimits
    repeated_failure: RuleLimits
    immediate_repeat: RuleLimits
    error_streak: RuleLimits
    similar_call: RuleLimits
    same_result: RuleLimits
    cycle: RuleLimits
    polling: RuleLimits
    repeated_text: RuleLimits
    monologue: RuleLimits
    similarity: float
    polling_tools: _containers.RepeatedScalarFieldContainer[str]
    backoff_base: _duration_pb2.Duration
    backoff_max: _duration_pb2.Duration
    def __init__(self, repeated_call: _Optional[_Union[RuleLimits, _Mapping]] = ..., repeated_failure: _Optional[_Union[RuleLimits, _Mapping]] = ..., immediate_repeat: _Optional[_Union[RuleLimits, _Mapping]] = ..., error_streak: _Optional[_Union[RuleLimits, _Mapping]] = ..., similar_call: _Optional[_Union[RuleLimits, _Mapping]] = ..., same_result: _Optional[_Union[RuleLimits, _Mapping]] = ..., cycle: _Optional[_Union[RuleLimits, _Mapping]] = ..., polling: _Optional[_Union[RuleLimits, _Mapping]] = ..., repeated_text: _Optional[_Union[RuleLimits, _Mapping]] = ..., monologue: _Optional[_Union[RuleLimits, _Mapping]] = ..., similarity: _Optional[float] = ..., polling_tools: _Optional[_Iterable[str]] = ..., backoff_base: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., backoff_max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ToolProfile(_message.Message):
    __slots__ = ("include", "exclude", "max_tools", "require_verified", "read_only", "trust_annotations")
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOLS_FIELD_NUMBER: _ClassVar[int]
    REQUIRE_VERIFIED_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    TRUST_ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    include: _containers.RepeatedScalarFieldContainer[str]
    exclude: _containers.RepeatedScalarFieldContainer[str]
    max_tools: int
    require_verified: bool
    read_only: bool
    trust_annotations: bool
    def __init__(self, include: _Optional[_Iterable[str]] = ..., exclude: _Optional[_Iterable[str]] = ..., max_tools: _Optional[int] = ..., require_verified: bool = ..., read_only: bool = ..., trust_annotations: bool = ...) -> None: ...

class StepIteration(_message.Message):
    __slots__ = ("max_reattempts_per_step", "similarity_threshold", "on_limit_reached")
    MAX_REATTEMPTS_PER_STEP_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ON_LIMIT_REACHED_FIELD_NUMBER: _ClassVar[int]
    max_reattempts_per_step: int
    similarity_threshold: float
    on_limit_reached: LimitAction
    def __init__(self, max_reattempts_per_step: _Optional[int] = ..., similarity_threshold: _Optional[float] = ..., on_limit_reached: _Optional[_Union[LimitAction, str]] = ...) -> None: ...

class ReferencePattern(_message.Message):
    __slots__ = ("ref_type", "pattern")
    REF_TYPE_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    ref_type: str
    pattern: str
    def __init__(self, ref_type: _Optional[str] = ..., pattern: _Optional[str] = ...) -> None: ...

class PreHydration(_message.Message):
    __slots__ = ("custom_patterns", "resolution_tools", "timeout", "max_references", "max_context_tokens")
    class ResolutionToolsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CUSTOM_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_TOOLS_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    MAX_REFERENCES_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    custom_patterns: _containers.RepeatedCompositeFieldContainer[ReferencePattern]
    resolution_tools: _containers.ScalarMap[str, str]
    timeout: _duration_pb2.Duration
    max_references: int
    max_context_tokens: int
    def __init__(self, custom_patterns: _Optional[_Iterable[_Union[ReferencePattern, _Mapping]]] = ..., resolution_tools: _Optional[_Mapping[str, str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_references: _Optional[int] = ..., max_context_tokens: _Optional[int] = ...) -> None: ...

class ToolHints(_message.Message):
    __slots__ = ("read_only", "destructive", "idempotent", "open_world")
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    DESTRUCTIVE_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    OPEN_WORLD_FIELD_NUMBER: _ClassVar[int]
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    def __init__(self, read_only: bool = ..., destructive: bool = ..., idempotent: bool = ..., open_world: bool = ...) -> None: ...

class LoopTool(_message.Message):
    __slots__ = ("name", "source", "description", "input_schema", "hints")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    HINTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    source: str
    description: str
    input_schema: str
    hints: ToolHints
    def __init__(self, name: _Optional[str] = ..., source: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[str] = ..., hints: _Optional[_Union[ToolHints, _Mapping]] = ...) -> None: ...

class KeptTool(_message.Message):
    __slots__ = ("index", "name", "source", "digest", "verified_by")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_BY_FIELD_NUMBER: _ClassVar[int]
    index: int
    name: str
    source: str
    digest: str
    verified_by: str
    def __init__(self, index: _Optional[int] = ..., name: _Optional[str] = ..., source: _Optional[str] = ..., digest: _Optional[str] = ..., verified_by: _Optional[str] = ...) -> None: ...

class DroppedTool(_message.Message):
    __slots__ = ("index", "name", "source", "stage", "reason")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    index: int
    name: str
    source: str
    stage: FilterStage
    reason: str
    def __init__(self, index: _Optional[int] = ..., name: _Optional[str] = ..., source: _Optional[str] = ..., stage: _Optional[_Union[FilterStage, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class UnmatchedPattern(_message.Message):
    __slots__ = ("field", "pattern")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    field: str
    pattern: str
    def __init__(self, field: _Optional[str] = ..., pattern: _Optional[str] = ...) -> None: ...

class FilteredTools(_message.Message):
    __slots__ = ("kept", "dropped", "unmatched_patterns")
    KEPT_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    UNMATCHED_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    kept: _containers.RepeatedCompositeFieldContainer[KeptTool]
    dropped: _containers.RepeatedCompositeFieldContainer[DroppedTool]
    unmatched_patterns: _containers.RepeatedCompositeFieldContainer[UnmatchedPattern]
    def __init__(self, kept: _Optional[_Iterable[_Union[KeptTool, _Mapping]]] = ..., dropped: _Optional[_Iterable[_Union[DroppedTool, _Mapping]]] = ..., unmatched_patterns: _Optional[_Iterable[_Union[UnmatchedPattern, _Mapping]]] = ...) -> None: ...

class CreateLoopRequest(_message.Message):
    __slots__ = ("loop_id", "agent_id", "request_id", "config", "tools", "input", "lease", "parent_loop_id", "delegation_depth")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    PARENT_LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_DEPTH_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    agent_id: str
    request_id: str
    config: LoopConfig
    tools: _containers.RepeatedCompositeFieldContainer[LoopTool]
    input: str
    lease: _duration_pb2.Duration
    parent_loop_id: str
    delegation_depth: int
    def __init__(self, loop_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., request_id: _Optional[str] = ..., config: _Optional[_Union[LoopConfig, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[LoopTool, _Mapping]]] = ..., input: _Optional[str] = ..., lease: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., parent_loop_id: _Optional[str] = ..., delegation_depth: _Optional[int] = ...) -> None: ...

class CreateLoopResponse(_message.Message):
    __slots__ = ("loop", "tools")
    LOOP_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    loop: Loop
    tools: FilteredTools
    def __init__(self, loop: _Optional[_Union[Loop, _Mapping]] = ..., tools: _Optional[_Union[FilteredTools, _Mapping]] = ...) -> None: ...

class FilterToolsRequest(_message.Message):
    __slots__ = ("tools", "profile", "loop_id", "prompt")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[LoopTool]
    profile: ToolProfile
    loop_id: str
    prompt: str
    def __init__(self, tools: _Optional[_Iterable[_Union[LoopTool, _Mapping]]] = ..., profile: _Optional[_Union[ToolProfile, _Mapping]] = ..., loop_id: _Optional[str] = ..., prompt: _Optional[str] = ...) -> None: ...

class FilterToolsResponse(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: FilteredTools
    def __init__(self, tools: _Optional[_Union[FilteredTools, _Mapping]] = ...) -> None: ...

class RecordAttemptRequest(_message.Message):
    __slots__ = ("loop_id", "request_id", "step_id", "begin", "failed")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    request_id: str
    step_id: str
    begin: BeginStep
    failed: FailedAttempt
    def __init__(self, loop_id: _Optional[str] = ..., request_id: _Optional[str] = ..., step_id: _Optional[str] = ..., begin: _Optional[_Union[BeginStep, _Mapping]] = ..., failed: _Optional[_Union[FailedAttempt, _Mapping]] = ...) -> None: ...

class BeginStep(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FailedAttempt(_message.Message):
    __slots__ = ("action", "error")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    action: str
    error: str
    def __init__(self, action: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class RecordAttemptResponse(_message.Message):
    __slots__ = ("verdict", "attempts", "similarity", "similarity_cut", "begun_implicitly")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_CUT_FIELD_NUMBER: _ClassVar[int]
    BEGUN_IMPLICITLY_FIELD_NUMBER: _ClassVar[int]
    verdict: Verdict
    attempts: int
    similarity: float
    similarity_cut: bool
    begun_implicitly: bool
    def __init__(self, verdict: _Optional[_Union[Verdict, _Mapping]] = ..., attempts: _Optional[int] = ..., similarity: _Optional[float] = ..., similarity_cut: bool = ..., begun_implicitly: bool = ...) -> None: ...

class ReportedCall(_message.Message):
    __slots__ = ("tool", "arguments", "output", "outcome", "http_status", "retry_after")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    tool: str
    arguments: str
    output: str
    outcome: CallOutcome
    http_status: int
    retry_after: _duration_pb2.Duration
    def __init__(self, tool: _Optional[str] = ..., arguments: _Optional[str] = ..., output: _Optional[str] = ..., outcome: _Optional[_Union[CallOutcome, str]] = ..., http_status: _Optional[int] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ReportedStep(_message.Message):
    __slots__ = ("iteration", "usage", "message", "calls", "delegation_depth", "concurrent_tools")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_DEPTH_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    usage: _loop_event_pb2.Usage
    message: str
    calls: _containers.RepeatedCompositeFieldContainer[ReportedCall]
    delegation_depth: int
    concurrent_tools: int
    def __init__(self, iteration: _Optional[int] = ..., usage: _Optional[_Union[_loop_event_pb2.Usage, _Mapping]] = ..., message: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[ReportedCall, _Mapping]]] = ..., delegation_depth: _Optional[int] = ..., concurrent_tools: _Optional[int] = ...) -> None: ...

class ReportStepRequest(_message.Message):
    __slots__ = ("loop_id", "request_id", "step_id", "step", "event")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    request_id: str
    step_id: str
    step: ReportedStep
    event: _loop_event_pb2.LoopEvent
    def __init__(self, loop_id: _Optional[str] = ..., request_id: _Optional[str] = ..., step_id: _Optional[str] = ..., step: _Optional[_Union[ReportedStep, _Mapping]] = ..., event: _Optional[_Union[_loop_event_pb2.LoopEvent, _Mapping]] = ...) -> None: ...

class ReportStepResponse(_message.Message):
    __slots__ = ("verdict",)
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    verdict: Verdict
    def __init__(self, verdict: _Optional[_Union[Verdict, _Mapping]] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("decision", "rule", "count", "evidence", "text", "retry_after", "action", "termination", "sequence")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    TERMINATION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    decision: GuardDecision
    rule: str
    count: int
    evidence: _containers.RepeatedScalarFieldContainer[int]
    text: str
    retry_after: _duration_pb2.Duration
    action: LimitAction
    termination: _loop_event_pb2.TerminationReason
    sequence: int
    def __init__(self, decision: _Optional[_Union[GuardDecision, str]] = ..., rule: _Optional[str] = ..., count: _Optional[int] = ..., evidence: _Optional[_Iterable[int]] = ..., text: _Optional[str] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., action: _Optional[_Union[LimitAction, str]] = ..., termination: _Optional[_Union[_loop_event_pb2.TerminationReason, str]] = ..., sequence: _Optional[int] = ...) -> None: ...

class Loop(_message.Message):
    __slots__ = ("loop_id", "agent_id", "iterations", "usage", "elapsed", "lease_left", "last_sequence", "terminated")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_FIELD_NUMBER: _ClassVar[int]
    LEASE_LEFT_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TERMINATED_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    agent_id: str
    iterations: int
    usage: _loop_event_pb2.Usage
    elapsed: _duration_pb2.Duration
    lease_left: _duration_pb2.Duration
    last_sequence: int
    terminated: _loop_event_pb2.Terminated
    def __init__(self, loop_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., iterations: _Optional[int] = ..., usage: _Optional[_Union[_loop_event_pb2.Usage, _Mapping]] = ..., elapsed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., lease_left: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., last_sequence: _Optional[int] = ..., terminated: _Optional[_Union[_loop_event_pb2.Terminated, _Mapping]] = ...) -> None: ...

class GetLoopRequest(_message.Message):
    __slots__ = ("loop_id",)
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    def __init__(self, loop_id: _Optional[str] = ...) -> None: ...

class GetLoopResponse(_message.Message):
    __slots__ = ("loop",)
    LOOP_FIELD_NUMBER: _ClassVar[int]
    loop: Loop
    def __init__(self, loop: _Optional[_Union[Loop, _Mapping]] = ...) -> None: ...

class CloseLoopRequest(_message.Message):
    __slots__ = ("loop_id", "reason", "detail")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    reason: _loop_event_pb2.TerminationReason
    detail: str
    def __init__(self, loop_id: _Optional[str] = ..., reason: _Optional[_Union[_loop_event_pb2.TerminationReason, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class CloseLoopResponse(_message.Message):
    __slots__ = ("loop",)
    LOOP_FIELD_NUMBER: _ClassVar[int]
    loop: Loop
    def __init__(self, loop: _Optional[_Union[Loop, _Mapping]] = ...) -> None: ...

class RunLoopRequest(_message.Message):
    __slots__ = ("message_id", "create", "resume", "report", "attempt", "filter", "close", "heartbeat")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    create: CreateLoopRequest
    resume: ResumeLoop
    report: ReportStepRequest
    attempt: RecordAttemptRequest
    filter: FilterToolsRequest
    close: CloseLoopRequest
    heartbeat: LoopHeartbeat
    def __init__(self, message_id: _Optional[str] = ..., create: _Optional[_Union[CreateLoopRequest, _Mapping]] = ..., resume: _Optional[_Union[ResumeLoop, _Mapping]] = ..., report: _Optional[_Union[ReportStepRequest, _Mapping]] = ..., attempt: _Optional[_Union[RecordAttemptRequest, _Mapping]] = ..., filter: _Optional[_Union[FilterToolsRequest, _Mapping]] = ..., close: _Optional[_Union[CloseLoopRequest, _Mapping]] = ..., heartbeat: _Optional[_Union[LoopHeartbeat, _Mapping]] = ...) -> None: ...

class ResumeLoop(_message.Message):
    __slots__ = ("loop_id", "last_sequence")
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    loop_id: str
    last_sequence: int
    def __init__(self, loop_id: _Optional[str] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class LoopHeartbeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunLoopResponse(_message.Message):
    __slots__ = ("message_id", "created", "resumed", "missed", "report", "attempt", "filter", "ended", "heartbeat", "refused", "closing")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    created: CreateLoopResponse
    resumed: Loop
    missed: Verdict
    report: ReportStepResponse
    attempt: RecordAttemptResponse
    filter: FilterToolsResponse
    ended: Loop
    heartbeat: LoopHeartbeat
    refused: RefusedMessage
    closing: ResumeLoop
    def __init__(self, message_id: _Optional[str] = ..., created: _Optional[_Union[CreateLoopResponse, _Mapping]] = ..., resumed: _Optional[_Union[Loop, _Mapping]] = ..., missed: _Optional[_Union[Verdict, _Mapping]] = ..., report: _Optional[_Union[ReportStepResponse, _Mapping]] = ..., attempt: _Optional[_Union[RecordAttemptResponse, _Mapping]] = ..., filter: _Optional[_Union[FilterToolsResponse, _Mapping]] = ..., ended: _Optional[_Union[Loop, _Mapping]] = ..., heartbeat: _Optional[_Union[LoopHeartbeat, _Mapping]] = ..., refused: _Optional[_Union[RefusedMessage, _Mapping]] = ..., closing: _Optional[_Union[ResumeLoop, _Mapping]] = ...) -> None: ...

class RefusedMessage(_message.Message):
    __slots__ = ("code", "reason", "detail")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    code: int
    reason: str
    detail: str
    def __init__(self, code: _Optional[int] = ..., reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class ExtractReferencesRequest(_message.Message):
    __slots__ = ("text", "custom_patterns", "include_fenced_code")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FENCED_CODE_FIELD_NUMBER: _ClassVar[int]
    text: str
    custom_patterns: _containers.RepeatedCompositeFieldContainer[ReferencePattern]
    include_fenced_code: bool
    def __init__(self, text: _Optional[str] = ..., custom_patterns: _Optional[_Iterable[_Union[ReferencePattern, _Mapping]]] = ..., include_fenced_code: bool = ...) -> None: ...

class ExtractReferencesResponse(_message.Message):
    __slots__ = ("references", "reference_count")
    REFERENCES_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    references: _containers.RepeatedCompositeFieldContainer[Reference]
    reference_count: int
    def __init__(self, references: _Optional[_Iterable[_Union[Reference, _Mapping]]] = ..., reference_count: _Optional[int] = ...) -> None: ...

class Reference(_message.Message):
    __slots__ = ("ref_type", "value", "line", "start", "end")
    REF_TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    ref_type: str
    value: str
    line: int
    start: int
    end: int
    def __init__(self, ref_type: _Optional[str] = ..., value: _Optional[str] = ..., line: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class HydrateContextRequest(_message.Message):
    __slots__ = ("start", "result")
    START_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    start: StartHydration
    result: ToolResult
    def __init__(self, start: _Optional[_Union[StartHydration, _Mapping]] = ..., result: _Optional[_Union[ToolResult, _Mapping]] = ...) -> None: ...

class StartHydration(_message.Message):
    __slots__ = ("text", "config", "loop_id", "tools", "tool_profile", "include_fenced_code")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    LOOP_ID_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_PROFILE_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FENCED_CODE_FIELD_NUMBER: _ClassVar[int]
    text: str
    config: PreHydration
    loop_id: str
    tools: _containers.RepeatedCompositeFieldContainer[LoopTool]
    tool_profile: ToolProfile
    include_fenced_code: bool
    def __init__(self, text: _Optional[str] = ..., config: _Optional[_Union[PreHydration, _Mapping]] = ..., loop_id: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[LoopTool, _Mapping]]] = ..., tool_profile: _Optional[_Union[ToolProfile, _Mapping]] = ..., include_fenced_code: bool = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("call_id", "content", "error", "denied")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    content: str
    error: str
    denied: str
    def __init__(self, call_id: _Optional[str] = ..., content: _Optional[str] = ..., error: _Optional[str] = ..., denied: _Optional[str] = ...) -> None: ...

class HydrateContextResponse(_message.Message):
    __slots__ = ("resolve", "hydrated")
    RESOLVE_FIELD_NUMBER: _ClassVar[int]
    HYDRATED_FIELD_NUMBER: _ClassVar[int]
    resolve: ResolveReference
    hydrated: HydratedContext
    def __init__(self, resolve: _Optional[_Union[ResolveReference, _Mapping]] = ..., hydrated: _Optional[_Union[HydratedContext, _Mapping]] = ...) -> None: ...

class ResolveReference(_message.Message):
    __slots__ = ("call_id", "tool", "reference", "timeout")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    reference: Reference
    timeout: _duration_pb2.Duration
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., reference: _Optional[_Union[Reference, _Mapping]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class HydratedContext(_message.Message):
    __slots__ = ("message", "token_count", "token_counter", "reference_count", "resolved_count", "failed_count", "outcomes", "duration", "sequence")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTER_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    FAILED_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    message: str
    token_count: int
    token_counter: str
    reference_count: int
    resolved_count: int
    failed_count: int
    outcomes: _containers.RepeatedCompositeFieldContainer[ReferenceOutcome]
    duration: _duration_pb2.Duration
    sequence: int
    def __init__(self, message: _Optional[str] = ..., token_count: _Optional[int] = ..., token_counter: _Optional[str] = ..., reference_count: _Optional[int] = ..., resolved_count: _Optional[int] = ..., failed_count: _Optional[int] = ..., outcomes: _Optional[_Iterable[_Union[ReferenceOutcome, _Mapping]]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., sequence: _Optional[int] = ...) -> None: ...

class ReferenceOutcome(_message.Message):
    __slots__ = ("reference", "status", "failure", "detail", "tool", "origin", "token_count", "cut", "duration")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    reference: Reference
    status: ReferenceStatus
    failure: ReferenceFailure
    detail: str
    tool: str
    origin: str
    token_count: int
    cut: bool
    duration: _duration_pb2.Duration
    def __init__(self, reference: _Optional[_Union[Reference, _Mapping]] = ..., status: _Optional[_Union[ReferenceStatus, str]] = ..., failure: _Optional[_Union[ReferenceFailure, str]] = ..., detail: _Optional[str] = ..., tool: _Optional[str] = ..., origin: _Optional[str] = ..., token_count: _Optional[int] = ..., cut: bool = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...
