"""Loops and the journal through the client, against the real binary."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
from server import Server

from signalbox_client import AsyncClient, Client, SignalboxError, tools, v1

CALL = tools.reported("push", {"branch": "main"}, "rejected by the remote", failed=True)


def custom(name: str) -> v1.LoopEvent:
    return v1.LoopEvent(custom=v1.Custom(name=name))


def names(entries: list[v1.JournalEntry]) -> list[str]:
    return [entry.event.custom.name for entry in entries if entry.event.HasField("custom")]


def test_a_loop_filters_warns_stops_and_ends(client: Client) -> None:
    offered = [v1.LoopTool(name=name) for name in ("push", "delete_all")]
    profile = v1.ToolProfile(exclude=["delete*"])
    config = v1.LoopConfig(tool_profile=profile)
    with client.loop(input="push it", tools=offered, config=config) as loop:
        assert [tool.name for tool in tools.kept(offered, loop.tools)] == ["push"]
        decisions = []
        for turn in range(1, 8):
            verdict = loop.report(v1.ReportedStep(iteration=turn, calls=[CALL]))
            decisions.append(verdict.decision)
            if verdict.decision == v1.GUARD_DECISION_STOP:
                break
        assert v1.GUARD_DECISION_NUDGE in decisions
        assert decisions[-1] == v1.GUARD_DECISION_STOP
        assert loop.state().iterations == turn
    assert loop.ended is not None
    assert loop.ended.reason == v1.TERMINATION_REASON_STUCK


def test_an_exception_ends_the_loop_as_an_error(client: Client) -> None:
    with pytest.raises(ZeroDivisionError), client.loop() as loop:
        raise ZeroDivisionError("by nothing")
    ended = client.get_loop(loop.loop_id).terminated
    assert ended.reason == v1.TERMINATION_REASON_ERROR
    assert ended.detail == "ZeroDivisionError: by nothing"


def test_steps_are_counted(client: Client) -> None:
    config = v1.LoopConfig(step_iteration=v1.StepIteration(max_reattempts_per_step=2))
    with client.loop(config=config) as loop:
        loop.begin_step("one")
        assert loop.failed("one", "no route to host").attempts == 1
        second = loop.failed("one", "permission denied")
        assert second.attempts == 2
        assert second.verdict.decision == v1.GUARD_DECISION_STOP


def test_an_open_block_keeps_the_lease(client: Client) -> None:
    short = v1.CreateLoopRequest()
    short.lease.FromSeconds(1)
    with client.loop(request=short) as loop:
        time.sleep(2.5)
        assert not loop.state().HasField("terminated")
    left = client.loop(request=short, keep_lease=False)
    until = time.monotonic() + 30
    while not client.get_loop(left.loop_id).HasField("terminated"):
        assert time.monotonic() < until
        time.sleep(0.1)
    ended = client.get_loop(left.loop_id).terminated
    assert ended.reason == v1.TERMINATION_REASON_ABANDONED


def test_a_report_is_a_step_or_an_event(client: Client) -> None:
    with client.loop() as loop, pytest.raises(ValueError, match="either"):
        loop.report()


def test_events_are_appended_listed_and_followed(client: Client) -> None:
    loop_id = f"journal-{uuid4().hex}"
    appended = client.append_events(loop_id, [custom("a"), custom("b")])
    assert (appended.first_sequence, appended.last_sequence) == (1, 2)
    listed = list(client.list_events(v1.ListEventsRequest(loop_id=loop_id, page_size=1)))
    assert names(listed) == ["a", "b"]

    with client.follow_events(loop_id) as events:
        assert names([next(events)]) == ["a"]
        place = events.position
    with client.follow_events(loop_id, position=place, replay_only=True) as rest:
        assert names(list(rest)) == ["b"]

    foreign = client.follow_events("other", position=place)
    with pytest.raises(SignalboxError) as raised:
        next(foreign)
    assert raised.value.reason == "FOREIGN_POSITION"
    counted = client.purge_events(v1.PurgeEventsRequest(loop_id=loop_id))
    assert (counted.purge_count, counted.purged) == (2, False)


def test_close_ends_a_follower_that_waits(client: Client) -> None:
    events = client.follow_events(f"quiet-{uuid4().hex}")
    threading.Timer(0.3, events.close).start()
    assert list(events) == []


@pytest.mark.parametrize("how", ["drain", "crash"])
def test_a_follower_outlives_the_server(tmp_path: Path, how: str) -> None:
    """Case 22: 100 events, cut at 37, 10 more, resumed: each once, in order, then live."""
    data = tmp_path / "data"
    server = Server(data)
    again = None
    try:
        with Client.connect(server.tcp, timeout=30) as client:
            for n in range(1, 101):
                client.append_events("l", [custom(str(n))])
            events = client.follow_events("l")
            seen = [next(events) for _ in range(37)]
            if how == "drain":
                assert server.stop() == 0
            else:
                server.kill()
            again = Server(data, address=server.tcp)
            for n in range(101, 111):
                client.append_events("l", [custom(str(n))])
            seen += [next(events) for _ in range(73)]
            assert names(seen) == [str(n) for n in range(1, 111)]
            client.append_events("l", [custom("live")])
            assert names([next(events)]) == ["live"]
            events.close()
    finally:
        server.kill()
        server.remove()
        if again is not None:
            assert again.stop() == 0, again.logs()
            again.remove()


def test_asyncio_routes_and_changes_the_catalogue(target: str) -> None:
    async def run() -> None:
        async with AsyncClient.connect(target, timeout=30) as client:
            answers = await asyncio.gather(*(client.route("create a branch") for _ in range(8)))
            assert {answer.matches[0].entry.name for answer in answers} == {"git-branch"}
            assert len((await client.batch_route(["a", "b"])).responses) == 2
            async with client.stream_route("create a branch") as stages:
                kinds = [message.WhichOneof("stage") async for message in stages]
            assert kinds[-1] == "decision"

            entry = v1.Entry(kind=v1.ENTRY_KIND_TOOL, source="aio", name=f"tool-{uuid4().hex}")
            await client.upsert_entries([entry])
            assert (await client.get_entry(entry.name, source="aio")).entry == entry
            assert entry in [each async for each in client.list_entries(source="aio", page_size=1)]
            await client.delete_entry(entry.name, source="aio")
            async with client.watch_catalog() as changes:
                assert (await anext(changes)).WhichOneof("event") == "state"

            with pytest.raises(SignalboxError) as raised:
                await client.route("")
            assert raised.value.reason == "INVALID_FIELD"
            assert raised.value.violations[0].field == "prompt"

    asyncio.run(run())


def test_asyncio_guards_loops(target: str) -> None:
    async def run() -> None:
        async with AsyncClient.connect(target, timeout=30) as client:
            async with client.loop(input="push") as loop:
                for turn in range(1, 8):
                    verdict = await loop.report(v1.ReportedStep(iteration=turn, calls=[CALL]))
                    if verdict.decision == v1.GUARD_DECISION_STOP:
                        break
            assert loop.ended is not None
            assert loop.ended.reason == v1.TERMINATION_REASON_STUCK
            with pytest.raises(ZeroDivisionError):
                async with client.loop() as broken:
                    raise ZeroDivisionError
            ended = (await client.get_loop(broken.loop_id)).terminated
            assert ended.reason == v1.TERMINATION_REASON_ERROR

            short = v1.CreateLoopRequest()
            short.lease.FromSeconds(1)
            async with client.loop(request=short) as held:
                await asyncio.sleep(2.5)
                assert not (await held.state()).HasField("terminated")

    asyncio.run(run())


def test_asyncio_follows_the_journal(target: str) -> None:
    async def run() -> None:
        async with AsyncClient.connect(target, timeout=30) as client:
            loop_id = f"journal-{uuid4().hex}"
            await client.append_events(loop_id, [custom(name) for name in "abc"])
            async with client.follow_events(loop_id) as events:
                first = await anext(events)
                place = events.position
            assert names([first]) == ["a"]
            replay = client.follow_events(loop_id, position=place, replay_only=True)
            assert names([entry async for entry in replay]) == ["b", "c"]
            listed = client.list_events(v1.ListEventsRequest(loop_id=loop_id, page_size=2))
            assert names([entry async for entry in listed]) == ["a", "b", "c"]

            waiting = client.follow_events(f"quiet-{uuid4().hex}")
            asyncio.get_running_loop().call_later(0.3, waiting.close)
            assert [entry async for entry in waiting] == []
            # A task that is cancelled is not taken for a follower that was closed.
            async with client.follow_events(f"quiet-{uuid4().hex}") as quiet:
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(quiet), 0.3)

    asyncio.run(run())


def test_an_asyncio_follower_outlives_the_server(tmp_path: Path) -> None:
    data = tmp_path / "data"
    server = Server(data)
    started: list[Server] = []

    async def run() -> None:
        async with AsyncClient.connect(server.tcp, timeout=30) as client:
            await client.append_events("l", [custom(str(n)) for n in range(10)])
            events = client.follow_events("l")
            seen = [await anext(events) for _ in range(4)]
            server.kill()
            started.append(Server(data, address=server.tcp))
            seen += [await anext(events) for _ in range(6)]
            assert names(seen) == [str(n) for n in range(10)]
            events.close()

    try:
        asyncio.run(run())
    finally:
        server.remove()
        for each in started:
            assert each.stop() == 0, each.logs()
            each.remove()


def test_nobody_there_is_an_error_for_asyncio_too() -> None:
    async def run() -> None:
        async with AsyncClient.connect("unix:/nonexistent/door.sock", timeout=2) as client:
            with pytest.raises(SignalboxError) as raised:
                await client.server_info()
            assert raised.value.code is grpc.StatusCode.UNAVAILABLE

    asyncio.run(run())
