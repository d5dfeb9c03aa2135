"""signalbox beside OpenAI's chat API: fewer tools for the model, and a guard on its loop.

`run` takes the client of the `openai` package, or anything with the same `chat.completions.create`;
`functions` has a Python function for each tool's name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from signalbox_client import Client, tools, v1


def run(
    signalbox: Client,
    openai: Any,
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
        # The very objects that the caller gave, so nothing of them is lost.
        visible = tools.kept(definitions, loop.tools)
        while True:
            answer = openai.chat.completions.create(model=model, messages=messages, tools=visible)
            message = answer.choices[0].message
            messages.append(message)
            step = v1.ReportedStep(message=message.content or "")
            if answer.usage is not None:
                step.usage.input_tokens = answer.usage.prompt_tokens
                step.usage.output_tokens = answer.usage.completion_tokens
            for call in message.tool_calls or ():
                output, failed = call_function(functions, call.function)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
                step.calls.append(tools.openai_call(call, output, failed=failed))
            verdict = loop.report(step)
            if verdict.decision == v1.GUARD_DECISION_STOP:
                return f"Stopped: {verdict.text}"
            if not message.tool_calls:
                return message.content or ""
            if verdict.decision == v1.GUARD_DECISION_NUDGE:
                messages.append({"role": "user", "content": verdict.text})


def call_function(functions: Mapping[str, Callable[..., Any]], asked: Any) -> tuple[str, bool]:
    """Output of a call, and whether it failed."""
    try:
        return str(functions[asked.name](**json.loads(asked.arguments))), False
    except Exception as error:  # The model should see whatever went wrong.
        return f"{type(error).__name__}: {error}", True
