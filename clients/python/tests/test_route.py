"""Routing, over both doors."""

from __future__ import annotations

import pytest

from signalbox_client import Client, SignalboxError, v1

PROMPT = "Create a branch for the payment form"


def test_route_ranks_the_starter_catalogue(client: Client) -> None:
    answer = client.route(PROMPT)

    assert answer.matches
    assert answer.matches[0].entry.name == "git-branch"
    assert answer.matches[0].entry.kind == v1.ENTRY_KIND_COMMAND
    scores = [match.score for match in answer.matches]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert answer.catalog_revision
    assert answer.decision.outcome in (v1.OUTCOME_ACCEPTED, v1.OUTCOME_UNCERTAIN)
    assert answer.decision.reason


def test_lexical_mode_says_which_tokens_matched(client: Client) -> None:
    answer = client.route(v1.RouteRequest(prompt=PROMPT, mode=v1.ROUTE_MODE_LEXICAL))

    assert answer.mode == v1.ROUTE_MODE_LEXICAL
    assert answer.model_id == ""
    assert "branch" in [matched.token for matched in answer.matches[0].matched_tokens]


def test_limit_caps_the_matches(client: Client) -> None:
    assert len(client.route(v1.RouteRequest(prompt=PROMPT, limit=2)).matches) <= 2
    assert not client.route(v1.RouteRequest(prompt=PROMPT, limit=0)).matches
    assert len(client.route(PROMPT).matches) <= 10


def test_kinds_can_be_left_out(client: Client) -> None:
    answer = client.route(v1.RouteRequest(prompt=PROMPT, no_commands=True))

    assert all(match.entry.kind != v1.ENTRY_KIND_COMMAND for match in answer.matches)


def test_full_view_carries_the_parts_of_each_score(client: Client) -> None:
    answer = client.route(v1.RouteRequest(prompt=PROMPT, view=v1.ROUTE_VIEW_FULL))

    assert all(match.HasField("parts") for match in answer.matches)
    assert answer.nearest


def test_exact_command_is_accepted(client: Client) -> None:
    answer = client.route("/git-branch payment-form")

    assert answer.decision.outcome == v1.OUTCOME_ACCEPTED
    assert answer.matches[0].entry.name == "git-branch"


def test_unknown_command_names_the_nearest(client: Client) -> None:
    answer = client.route("/git-brunch")

    assert answer.decision.outcome == v1.OUTCOME_UNKNOWN_COMMAND
    assert "git-branch" in answer.decision.nearest_commands


def test_prompts_in_other_scripts_arrive_whole(client: Client) -> None:
    answer = client.route("新建一个叫 refactor-cache 的分支 🚦")

    assert answer.catalog_revision


def test_batch_answers_in_order_at_one_revision(client: Client) -> None:
    prompts = [PROMPT, "/git-branch", "run the tests"]
    batch = client.batch_route(prompts)

    assert len(batch.responses) == len(prompts)
    assert {each.catalog_revision for each in batch.responses} == {batch.catalog_revision}
    assert batch.responses[0].matches[0].entry.name == "git-branch"
    assert batch.responses[1].decision.outcome == v1.OUTCOME_ACCEPTED


def test_stream_sends_the_stages_in_order_and_the_answer_last(client: Client) -> None:
    with client.stream_route(PROMPT) as stages:
        messages = list(stages)

    order = ["exact_command", "lexical", "semantic", "decision"]
    positions = [order.index(str(message.WhichOneof("stage"))) for message in messages]
    assert positions == sorted(set(positions))
    assert order.index("lexical") in positions
    assert messages[-1].WhichOneof("stage") == "decision"
    assert messages[-1].decision == client.route(PROMPT)


def test_stream_of_an_exact_command_decides_at_once(client: Client) -> None:
    with client.stream_route("/git-branch") as stages:
        messages = list(stages)

    assert [message.WhichOneof("stage") for message in messages] == ["exact_command", "decision"]
    assert messages[0].exact_command.entry.name == "git-branch"
    assert messages[-1].decision == client.route("/git-branch")


def test_calls_without_a_method_of_their_own(client: Client) -> None:
    references = client.call(v1.ExtractReferencesRequest(text="See https://example.com/a"))
    assert isinstance(references, v1.ExtractReferencesResponse)
    plan = client.plan_route(PROMPT)
    assert plan.plan.steps

    with pytest.raises(SignalboxError) as raised:
        client.call(v1.RecallKnowledgeRequest(query="x", limit=-1))
    assert raised.value.reason == "INVALID_FIELD"
    with pytest.raises(TypeError, match="no unary call"):
        client.call(v1.StreamRouteRequest())
