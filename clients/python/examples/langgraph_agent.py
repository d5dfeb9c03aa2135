"""signalbox in a LangGraph graph: the model sees the tools that the loop kept, and a node reports
every turn and ends the graph where the guard says so.

    pip install langgraph langchain-core

`graph` takes a chat model of LangChain (anything with `bind_tools`) and its tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode

from signalbox_client import Loop, tools, v1


class State(TypedDict):
    """What the graph passes on."""

    messages: Annotated[list[AnyMessage], add_messages]
    stopped: str


def graph(loop: Loop, model: Any, offered: Sequence[Any]) -> Any:
    """The compiled graph. `loop` is an open loop that was created with these tools; leaving its
    `with` block ends it."""
    visible = tools.kept(offered, loop.tools)
    bound = model.bind_tools(visible)

    def think(state: State) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    def guard(state: State) -> dict[str, Any]:
        """Reports the last turn: the model's calls with their results."""
        step = v1.ReportedStep()
        results = {m.tool_call_id: m for m in state["messages"] if m.type == "tool"}
        asked = next(m for m in reversed(state["messages"]) if isinstance(m, AIMessage))
        for call in asked.tool_calls:
            result = results[call["id"]]
            failed = result.status == "error"
            step.calls.append(tools.langchain_call(call, str(result.content), failed=failed))
        if asked.usage_metadata:
            step.usage.input_tokens = asked.usage_metadata["input_tokens"]
            step.usage.output_tokens = asked.usage_metadata["output_tokens"]
        verdict = loop.report(step)
        if verdict.decision == v1.GUARD_DECISION_STOP:
            return {"stopped": verdict.text}
        if verdict.decision == v1.GUARD_DECISION_NUDGE:
            return {"messages": [HumanMessage(verdict.text)]}
        return {}

    def after_thinking(state: State) -> str:
        last = state["messages"][-1]
        return "act" if isinstance(last, AIMessage) and last.tool_calls else END

    def after_guarding(state: State) -> str:
        return END if state.get("stopped") else "think"

    built = StateGraph(State)
    built.add_node("think", think)
    built.add_node("act", ToolNode(list(visible), handle_tool_errors=True))
    built.add_node("guard", guard)
    built.add_edge(START, "think")
    built.add_conditional_edges("think", after_thinking, ["act", END])
    built.add_edge("act", "guard")
    built.add_conditional_edges("guard", after_guarding, ["think", END])
    return built.compile()
