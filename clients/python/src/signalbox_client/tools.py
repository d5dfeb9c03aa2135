"""Tool definitions of OpenAI, Anthropic and MCP: read for signalbox, and kept as they are.

A definition may be a mapping or an object with the same attributes (a pydantic model, a tool of
LangChain). `loop_tool` makes of it what a loop filters, `entry` what a catalogue holds; `kept`
gives back the caller's own objects, in the caller's own shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from . import v1

T = TypeVar("T")

_HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}

_SCHEMAS = ("input_schema", "inputSchema", "parameters", "args_schema")


def loop_tool(definition: Any, *, source: str = "") -> v1.LoopTool:
    """A tool as a loop sees it. Known shapes: `{"type": "function", "function": {...}}` and
    `{"type": "function", "name": ...}` (OpenAI), `{"name", "input_schema"}` (Anthropic),
    `{"name", "inputSchema", "annotations"}` (MCP), and a LangChain tool."""
    inner = _inner(definition)
    name = _get(inner, "name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"no name in the tool {definition!r}")
    tool = v1.LoopTool(
        name=name,
        source=source,
        description=_get(inner, "description") or "",
        input_schema=_schema(inner),
    )
    annotations = _get(inner, "annotations")
    for theirs, ours in _HINTS.items():
        hint = _get(annotations, theirs) if annotations is not None else None
        if isinstance(hint, bool):
            setattr(tool.hints, ours, hint)
    return tool


def entry(definition: Any, *, source: str = "") -> v1.Entry:
    """A tool as an entry of the catalogue, for `upsert_entries`."""
    tool = loop_tool(definition, source=source)
    return v1.Entry(
        kind=v1.ENTRY_KIND_TOOL,
        source=source,
        name=tool.name,
        responsibility=tool.description,
        input_schema=tool.input_schema,
    )


def kept(definitions: Sequence[T], filtered: v1.FilteredTools) -> list[T]:
    """The definitions that a filter kept, the very objects, in their order. `definitions` has to
    be the sequence that was filtered."""
    return [definitions[tool.index] for tool in filtered.kept]


def chosen(definitions: Iterable[T], answer: v1.RouteResponse) -> list[T]:
    """The definitions that a route chose, best first; the names are compared."""
    by_name = {_get(_inner(each), "name"): each for each in definitions}
    names = [match.entry.name for match in answer.matches]
    return [by_name[name] for name in names if name in by_name]


def openai_call(call: Any, output: str, *, failed: bool = False) -> v1.ReportedCall:
    """A tool call of OpenAI's chat or responses API, for `ReportedStep.calls`."""
    inner = _get(call, "function") or call
    return reported(_get(inner, "name"), _get(inner, "arguments"), output, failed=failed)


def anthropic_call(block: Any, output: str, *, failed: bool = False) -> v1.ReportedCall:
    """A `tool_use` block of Anthropic's messages API, for `ReportedStep.calls`."""
    return reported(_get(block, "name"), _get(block, "input"), output, failed=failed)


def langchain_call(call: Any, output: str, *, failed: bool = False) -> v1.ReportedCall:
    """A tool call of a LangChain message, for `ReportedStep.calls`."""
    return reported(_get(call, "name"), _get(call, "args"), output, failed=failed)


def reported(tool: str, arguments: Any, output: str, *, failed: bool = False) -> v1.ReportedCall:
    """A call with its result. Arguments that are no text are written as JSON with sorted keys, so
    that equal calls look equal to the loop guard."""
    return v1.ReportedCall(
        tool=tool,
        arguments=arguments if isinstance(arguments, str) else _json(arguments),
        output=output,
        outcome=v1.CALL_OUTCOME_FAILED if failed else v1.CALL_OUTCOME_SUCCEEDED,
    )


def _inner(definition: Any) -> Any:
    inner = _get(definition, "function")
    return inner if isinstance(inner, Mapping) or _get(inner, "name") else definition


def _get(definition: Any, name: str) -> Any:
    if isinstance(definition, Mapping):
        return definition.get(name)
    return getattr(definition, name, None)


def _schema(definition: Any) -> str:
    for name in _SCHEMAS:
        schema = _get(definition, name)
        if schema is None or schema == {}:
            continue
        # A pydantic model stands for its schema.
        describe = getattr(schema, "model_json_schema", None)
        return _json(describe() if callable(describe) else schema)
    return ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
