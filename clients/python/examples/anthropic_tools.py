"""signalbox beside Anthropic's messages API: fewer tools for the model, and a guard on its loop.

`run` takes the client of the `anthropic` package, or anything with the same `messages.create`;
`functions` has a Python function for each tool's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from signalbox_client import Client, tools, v1


def run(
    signalbox: Client,
    anthropic: Any,
    model: str,
    prompt: str,
    definitions: Sequence[dict[str, Any]],
    functions: Mapping[str, Callable[..., Any]],
    *,
    max_tools: int = 8,
) -> str:
    """Answers a prompt with at most `max_tools` of the tools, those that fit it best."""
    config = v1.LoopConfig(tool_profile=v1.ToolProfile(max_tools=max_tools))
    offered = [tools.loop_tool(each) for each in definitions]
    messages: list[Any] = [{"role": "user", "content": prompt}]
    with signalbox.loop(input=prompt, tools=offered, config=config) as loop:
        visible = tools.kept(definitions, loop.tools)
        while True:
            answer = anthropic.messages.create(
                model=model, max_tokens=4_096, messages=messages, tools=visible
            )
            messages.append({"role": "assistant", "content": answer.content})
            text = "".join(block.text for block in answer.content if block.type == "text")
            step = v1.ReportedStep(
                message=text,
                usage=v1.Usage(
                    input_tokens=answer.usage.input_tokens,
                    output_tokens=answer.usage.output_tokens,
                ),
            )
            results: list[Any] = []
            for block in answer.content:
                if block.type != "tool_use":
                    continue
                output, failed = call_function(functions, block)
                step.calls.append(tools.anthropic_call(block, output, failed=failed))
                results.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": output,
                        "is_error": failed,
                    }
                )
            verdict = loop.report(step)
            if verdict.decision == v1.GUARD_DECISION_STOP:
                return f"Stopped: {verdict.text}"
            if not results:
                return text
            if verdict.decision == v1.GUARD_DECISION_NUDGE:
                results.append({"type": "text", "text": verdict.text})
            messages.append({"role": "user", "content": results})


def call_function(functions: Mapping[str, Callable[..., Any]], block: Any) -> tuple[str, bool]:
    """Output of a call, and whether it failed."""
    try:
        return str(functions[block.name](**block.input)), False
    except Exception as error:  # The model should see whatever went wrong.
        return f"{type(error).__name__}: {error}", True
