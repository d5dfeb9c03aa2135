"""Tool definitions in the shapes of other APIs, and the examples that use them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from server import Server

from signalbox_client import Client, tools, v1

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TEXTS = {
    "read_file": "Reads the content of a file",
    "write_file": "Writes text into a file",
    "create_branch": "Creates a branch in a repository",
    "send_email": "Sends an email to somebody",
    "search_web": "Searches the web",
}


def nested(name: str) -> dict[str, Any]:
    function = {"name": name, "description": TEXTS[name], "parameters": SCHEMA}
    return {"type": "function", "function": function}


def flat(name: str) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": TEXTS[name], "parameters": SCHEMA}


def anthropic(name: str) -> dict[str, Any]:
    return {"name": name, "description": TEXTS[name], "input_schema": SCHEMA}


def mcp(name: str) -> dict[str, Any]:
    return {"name": name, "description": TEXTS[name], "inputSchema": SCHEMA}


SHAPES = {each.__name__: [each(name) for name in TEXTS] for each in (nested, flat, anthropic, mcp)}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_every_shape_is_the_same_tool(shape: str) -> None:
    read = [tools.loop_tool(each) for each in SHAPES[shape]]
    assert read == [tools.loop_tool(each) for each in SHAPES["anthropic"]]
    assert read[0].name == "read_file"
    assert read[0].input_schema == '{"properties":{"path":{"type":"string"}},"type":"object"}'


def test_hints_are_read() -> None:
    annotations = {"readOnlyHint": True, "destructiveHint": False, "title": "x"}
    tool = tools.loop_tool({"name": "n", "annotations": annotations})
    assert tool.hints == v1.ToolHints(read_only=True, destructive=False)
    assert not tools.loop_tool({"name": "n"}).hints.HasField("read_only")


def test_a_tool_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="no name"):
        tools.loop_tool({"type": "web_search"})


def test_objects_are_read_like_mappings() -> None:
    class Arguments:
        @staticmethod
        def model_json_schema() -> dict[str, Any]:
            return SCHEMA

    made = SimpleNamespace(name="n", description="d", args_schema=Arguments)
    assert tools.loop_tool(made).input_schema == tools.loop_tool(SHAPES["mcp"][0]).input_schema


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_the_callers_own_objects_come_back(client: Client, shape: str) -> None:
    definitions = SHAPES[shape]
    request = v1.FilterToolsRequest(
        tools=[tools.loop_tool(each) for each in definitions],
        profile=v1.ToolProfile(max_tools=2),
        prompt="Create a branch and read the content of the file",
    )
    kept = tools.kept(definitions, client.filter_tools(request).tools)
    assert kept == [definitions[0], definitions[2]]
    assert all(any(each is own for own in definitions) for each in kept)


def test_a_route_chooses_among_the_callers_tools(client: Client) -> None:
    definitions = SHAPES["mcp"]
    client.upsert_entries(tools.entry(each, source="tools-test") for each in definitions)
    answer = client.route(v1.RouteRequest(prompt="Send an email to somebody", limit=100))
    assert tools.chosen(definitions, answer)[0]["name"] == "send_email"
    for name in TEXTS:
        client.delete_entry(name, source="tools-test")


def test_calls_look_the_same_from_every_api() -> None:
    arguments = '{"a":1,"b":[2]}'
    function = SimpleNamespace(name="t", arguments=arguments)
    calls = [
        tools.openai_call(SimpleNamespace(function=function), "out"),
        tools.openai_call({"name": "t", "arguments": arguments}, "out"),
        tools.anthropic_call({"name": "t", "input": {"b": [2], "a": 1}}, "out"),
        tools.langchain_call({"name": "t", "args": {"a": 1, "b": [2]}}, "out"),
    ]
    assert all(call == calls[0] for call in calls)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # LangGraph looks the state's types up there.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def push(branch: str) -> str:
    raise RuntimeError(f"remote rejected {branch}")


class OpenAi:
    """Asks for the same call for ever, as a model that is stuck."""

    def __init__(self) -> None:
        self.chat = SimpleNamespace(completions=self)
        self.asked: list[dict[str, Any]] = []

    def create(self, **asked: Any) -> Any:
        self.asked.append(asked | {"messages": list(asked["messages"])})
        function = SimpleNamespace(name="push", arguments='{"branch": "main"}')
        call = SimpleNamespace(id=f"call-{len(self.asked)}", function=function)
        message = SimpleNamespace(content=None, tool_calls=[call])
        usage = SimpleNamespace(prompt_tokens=10, completion_tokens=5)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)], usage=usage)


class Anthropic:
    """Asks for two calls and then gives up."""

    def __init__(self) -> None:
        self.messages = self
        self.asked: list[dict[str, Any]] = []

    def create(self, **asked: Any) -> Any:
        self.asked.append(asked | {"messages": list(asked["messages"])})
        usage = SimpleNamespace(input_tokens=10, output_tokens=5)
        if len(self.asked) == 3:
            text = SimpleNamespace(type="text", text="I give up.")
            return SimpleNamespace(content=[text], usage=usage)
        block = SimpleNamespace(
            type="tool_use", id=f"use-{len(self.asked)}", name="push", input={"branch": "main"}
        )
        return SimpleNamespace(content=[block], usage=usage)


PUSH = {"name": "push", "description": "Pushes a branch", "input_schema": {}}
TOOLS = [PUSH, *SHAPES["anthropic"]]


def test_the_openai_example_is_stopped(client: Client) -> None:
    model = OpenAi()
    answer = example("openai_tools").run(
        client, model, "m", "Push the branch main", TOOLS, {"push": push}, max_tools=3
    )
    assert answer.startswith("Stopped:")
    assert 2 < len(model.asked) < 10
    assert len(model.asked[0]["tools"]) == 3
    assert PUSH in model.asked[0]["tools"]
    said = [m for m in model.asked[-1]["messages"] if isinstance(m, dict) and m["role"] == "user"]
    assert len(said) == 2, "the prompt, and one nudge"


def test_the_anthropic_example_ends_by_itself(client: Client) -> None:
    model = Anthropic()
    answer = example("anthropic_tools").run(
        client, model, "m", "Push the branch main", TOOLS, {"push": push}
    )
    assert answer == "I give up."
    (result, *_) = model.asked[1]["messages"][-1]["content"]
    assert result["is_error"] is True
    assert "remote rejected main" in result["content"]


def test_the_langgraph_example_is_stopped(client: Client) -> None:
    pytest.importorskip("langgraph", reason="not among the pinned packages")
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool

    class Model:
        def bind_tools(self, bound: Any) -> Model:
            return self

        def invoke(self, messages: Any) -> AIMessage:
            call = {"id": f"c{len(messages)}", "name": "push", "args": {"branch": "main"}}
            return AIMessage(content="", tool_calls=[call])

    made = tool("push", description="Pushes a branch")(push)
    with client.loop(input="Push", tools=[tools.loop_tool(made)]) as loop:
        graph = example("langgraph_agent").graph(loop, Model(), [made])
        end = graph.invoke({"messages": [("user", "Push main")], "stopped": ""})
    assert end["stopped"].startswith("Stopped:")
    assert loop.ended is not None
    assert loop.ended.reason == v1.TERMINATION_REASON_STUCK


def test_the_orchestrator_runs(server: Server, target: str) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "orchestrator.py", "Create a branch for the login feature"],
        env=os.environ | {"SIGNALBOX_TARGET": target},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "git-branch" in done.stdout
    assert "sees ['run_command']" in done.stdout
    assert "ended: TERMINATION_REASON_STUCK" in done.stdout
    assert done.stdout.rstrip().endswith("terminated")
