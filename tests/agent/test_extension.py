"""What a client may give along with a prompt over our extension, and what goes back with the answer."""

from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import BaseModel

from acp_agent import Context, NewSessionRequest, NewSessionResponse
from acp_agent.extension import MAX_HISTORY_MESSAGES, MAX_TRACE_CHARS, HandedUp, read_briefing
from acp_client.protocol.errors import INVALID_PARAMS, RpcError
from tests.agent.delegating_agent import Delegating
from tests.agent.trades.client import connected

HISTORY: Final = [
    {"role": "user", "content": "book it"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "ok"},
]
SCHEMA: Final = {"type": "object", "properties": {"approved": {"type": "boolean"}}}


class Looker:
    """Completes with what it was given; hands a trace up before it, or after, as the task says."""

    name = "looker"
    version = "0"

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do."""

    async def prompt(self, context: Context) -> str | None:
        """Say it all."""
        if context.text_of_prompt == "before":
            context.hand_up([{"agent": "Looker › early"}])
        await context.complete([list(context.history), context.primer, context.result_schema, list(context.faults)])
        if context.text_of_prompt in ("before", "after"):
            context.hand_up([{"agent": "Looker › late"}])
        return None

    async def cancel(self, session_id: str) -> None:
        """Nothing is left to stop."""


async def given(tmp_path: Path, extension: object) -> Any:
    """What the agent's context held."""
    async with connected(agent=Looker()) as client:
        answer = await client.prompt(tmp_path, "look", extension=extension)
    assert answer["result"] == {"stopReason": "end_turn"}
    return client.completed[0]


async def test_the_extension_is_advertised_with_what_it_can_do() -> None:
    """Beside the protocol's own capabilities, for clients that know of it."""
    async with connected(agent=Looker()) as client:
        capabilities = client.said[0]["result"]["agentCapabilities"]
    assert capabilities["_meta"] == {"acp-subagents": {"complete": True, "history": True}}
    async with connected(agent=Delegating()) as client:
        capabilities = client.said[0]["result"]["agentCapabilities"]
    assert capabilities["_meta"] == {"acp-subagents": {"complete": True, "history": True, "sub_agents": True}}


async def test_history_context_and_schema_reach_the_agent_as_they_were_sent(tmp_path: Path) -> None:
    """Real messages, in their order, with all that is in them."""
    limits = {"limits": {"max_quantity": 10}}
    sent = {"history": HISTORY, "context": limits, "result": SCHEMA, "later": "ignored"}
    assert await given(tmp_path, sent) == [HISTORY, limits, SCHEMA, []]


async def test_a_turn_that_asks_for_another_value_says_what_was_wrong_with_the_last(tmp_path: Path) -> None:
    """The faults, one by one; how often it was tried is the client's own affair."""
    sent = {"result": SCHEMA, "repair": {"attempt": 1, "faults": ["$.approved: is missing"]}}
    assert await given(tmp_path, sent) == [[], None, SCHEMA, ["$.approved: is missing"]]


async def test_a_client_without_the_extension_gives_nothing(tmp_path: Path) -> None:
    """No history, no context, no schema; the prompt alone."""
    assert await given(tmp_path, None) == [[], None, None, []]
    assert await given(tmp_path, {}) == [[], None, None, []]


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        (["history"], '_meta["acp-subagents"] is a list; it must be an object'),
        ({"history": {"role": "user"}}, '_meta["acp-subagents"].history is an object; it must be a list of objects'),
        ({"history": [{}, "hi"]}, '_meta["acp-subagents"].history[1] is a string; it must be an object'),
        ({"history": [None]}, '_meta["acp-subagents"].history[0] is null; it must be an object'),
        ({"result": True}, '_meta["acp-subagents"].result is a boolean; it must be an object'),
        ({"sub_agents": {"a": {}}}, '_meta["acp-subagents"].sub_agents is an object; it must be a list of objects'),
        ({"sub_agents": [{}] * 101}, '_meta["acp-subagents"].sub_agents has 101 entries; at most 100 are taken'),
        ({"repair": {"faults": [1]}}, '_meta["acp-subagents"].repair.faults must be a list of strings, at least one'),
        ({"repair": {"attempt": 1}}, '_meta["acp-subagents"].repair.faults must be a list of strings, at least one'),
        ({"depth": True}, '_meta["acp-subagents"].depth must be an integer of at least 0'),
        ({"max_depth": -1}, '_meta["acp-subagents"].max_depth must be an integer of at least 0'),
        ({"result": 1}, '_meta["acp-subagents"].result is a number; it must be an object'),
        ({"call_path": "../x"}, '_meta["acp-subagents"].call_path must be a call path, such as primary/desk.1'),
    ],
)
async def test_a_wrong_shape_is_refused_with_its_place_and_rule(
    tmp_path: Path, extension: object, message: str
) -> None:
    """The key is ours: what is wrong in it is no custom data to be passed over."""
    async with connected(agent=Looker()) as client:
        answer = await client.prompt(tmp_path, "look", extension=extension)
    assert (answer["error"]["code"], answer["error"]["message"]) == (INVALID_PARAMS, message)
    assert client.completed == []


def test_a_history_without_end_is_refused() -> None:
    """So many messages and no more; the frame bounds their bytes."""
    messages = [{"role": "user"}] * (MAX_HISTORY_MESSAGES + 1)
    assert len(read_briefing({"acp-subagents": {"history": messages[1:]}}).history) == MAX_HISTORY_MESSAGES
    with pytest.raises(RpcError, match="has 10001 entries; at most 10000 are taken"):
        read_briefing({"acp-subagents": {"history": messages}})


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ({}, None),
        ({"depth": 2}, None),
        ({"max_depth": 3}, 3),
        ({"depth": 2, "max_depth": 3}, 1),
        ({"depth": 4, "max_depth": 3}, 0),
    ],
)
def test_the_levels_left_are_counted_from_where_the_client_puts_us(given: dict[str, int], levels: int | None) -> None:
    """None where it says no limit; never below zero."""
    assert read_briefing({"acp-subagents": given}).levels == levels


def test_the_folder_for_transcripts_is_an_absolute_path() -> None:
    """Or none."""
    assert read_briefing({"acp-subagents": {"transcripts": "/kept/x"}}).transcripts == "/kept/x"
    assert read_briefing({"acp-subagents": {}}).transcripts == ""
    for wrong in ("kept", 3, "/kept\0x"):
        with pytest.raises(RpcError, match="transcripts must be an absolute path"):
            read_briefing({"acp-subagents": {"transcripts": wrong}})


@pytest.mark.parametrize(("when", "early"), [("before", ["Looker › early"]), ("after", [])])
async def test_a_trace_goes_up_with_the_value_so_far_and_whole_with_the_answer(
    tmp_path: Path, when: str, early: list[str]
) -> None:
    """Under our key in `_meta`; without one there is no such field (the tests above)."""
    async with connected(agent=Looker()) as client:
        answer = await client.prompt(tmp_path, when)
    (completed,) = (m["params"] for m in client.said if m.get("method") == "_acp_subagents/complete")
    assert agents(completed) == early
    assert agents(answer["result"]) == [*early, "Looker › late"]


def test_what_is_handed_up_is_bounded_and_what_is_left_out_is_counted() -> None:
    """An answer must not become too long for its client to read."""
    handed_up = HandedUp()
    assert handed_up.meta() == {}
    small, large = {"agent": "a › b", "type": "message"}, {"agent": "a › b", "type": "x", "text": "x" * MAX_TRACE_CHARS}
    handed_up.add([small, large])
    handed_up.add([small])
    told = handed_up.meta()["_meta"]["acp-subagents"]["sub_agent_trace"]
    assert told == [small, {"agent": "a › b", "type": "cut", "count": 2}]


def agents(frame: dict[str, Any]) -> list[str]:
    """Whose trace a frame carries."""
    meta = frame.get("_meta", {"acp-subagents": {"sub_agent_trace": []}})
    return [entry["agent"] for entry in meta["acp-subagents"]["sub_agent_trace"]]


class Verdict(BaseModel):
    """A value as an agent has it."""

    approved: bool
    why: str


async def test_a_model_is_a_value_for_a_client_of_any_kind(tmp_path: Path) -> None:
    """As JSON over the extension, as a block of text without it."""

    class Judge(Looker):
        async def prompt(self, context: Context) -> str | None:
            await context.complete(Verdict(approved=True, why="ü"))
            return None

    async with connected(agent=Judge()) as client:
        await client.prompt(tmp_path, "judge")
        await client.call("initialize", {"protocolVersion": 1})
        await client.prompt(tmp_path, "judge")
    assert client.completed == [{"approved": True, "why": "ü"}]
    (update,) = client.updates("agent_message_chunk")
    assert update["content"]["text"] == '\n```json\n{\n  "approved": true,\n  "why": "ü"\n}\n```\n'
