"""A small orchestrator: routes a prompt, runs a guarded loop, and shows the journal.

    python orchestrator.py "Create a branch for the login feature"

SIGNALBOX_TARGET says where signalbox is (127.0.0.1:50051 if absent). The "model" here is a list of
calls, so that the example needs no key; put yours where `next_call` is.
"""

from __future__ import annotations

import os
import sys

from signalbox_client import Client, RetryPolicy, tools, v1

TOOLS = [
    {
        "name": "run_command",
        "description": "Runs a command of the shell and returns what it prints",
        "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
    {
        "name": "delete_repository",
        "description": "Deletes a repository for good",
        "input_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
]


def next_call(turn: int) -> dict[str, str] | None:
    """What the model asks for: here always the same, to see the guard at work."""
    return {"command": "git push"} if turn < 10 else None


def run_tool(arguments: dict[str, str]) -> tuple[str, bool]:
    """Runs a tool: output, and whether it failed."""
    return f"{arguments['command']}: remote rejected the push", True


def main() -> int:
    prompt = " ".join(sys.argv[1:]) or "Create a branch for the login feature"
    target = os.environ.get("SIGNALBOX_TARGET", "127.0.0.1:50051")
    # As a native sidecar signalbox is up before this process; elsewhere it may still start.
    with Client.connect(target, retry=RetryPolicy(attempts=10)) as signalbox:
        answer = signalbox.route(prompt)
        print(f"{v1.Outcome.Name(answer.decision.outcome)}: {answer.decision.reason}")
        for match in answer.matches[:3]:
            print(f"  {match.score:.2f} {match.entry.name}")

        config = v1.LoopConfig(tool_profile=v1.ToolProfile(exclude=["delete_*"]))
        offered = [tools.loop_tool(each, source="example") for each in TOOLS]
        with signalbox.loop(input=prompt, tools=offered, config=config) as loop:
            visible = tools.kept(TOOLS, loop.tools)
            print(f"loop {loop.loop_id} sees {[each['name'] for each in visible]}")
            for turn in range(1, 26):
                arguments = next_call(turn)
                if arguments is None:
                    break
                output, failed = run_tool(arguments)
                call = tools.reported("run_command", arguments, output, failed=failed)
                verdict = loop.report(v1.ReportedStep(iteration=turn, calls=[call]))
                print(f"turn {turn}: {v1.GuardDecision.Name(verdict.decision)} {verdict.text}")
                if verdict.decision == v1.GUARD_DECISION_STOP:
                    break
        if loop.ended is not None:
            print(f"ended: {v1.TerminationReason.Name(loop.ended.reason)}")
        with signalbox.follow_events(loop.loop_id, replay_only=True) as events:
            for entry in events:
                print(f"  {entry.sequence} {entry.event.WhichOneof('event')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
