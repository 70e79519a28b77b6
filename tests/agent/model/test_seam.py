"""The seam: deltas fold to a reply, shapes survive JSON; the model that follows rules; the smallest loop."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio
import pytest

from acp_agent.model.loop import Conversation, TooManySteps
from acp_agent.model.rules import Rule, RuleModel
from acp_agent.model.seam import (
    Delta,
    Message,
    Model,
    ModelFailed,
    Reply,
    Stop,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    Usage,
    collect,
    delta_from_json,
    delta_to_json,
    message_to_json,
    tool_to_json,
)
from acp_client.record.format.call_path import CallPaths

ADD = Tool("add", "Adds", {"type": "object"})


class Fixed:
    """Streams what it is given."""

    def __init__(self, *deltas: Delta) -> None:
        self.deltas = deltas
        self.closed = False

    async def stream(self, _messages: Sequence[Message], _tools: Sequence[Tool] = ()) -> AsyncGenerator[Delta, None]:
        """One call."""
        try:
            for delta in self.deltas:
                yield delta
        finally:
            self.closed = True


async def ask(model: Model, *messages: Message, tools: Sequence[Tool] = (ADD,)) -> Reply:
    """One whole call."""
    return await collect(model.stream(messages, tools))


async def test_deltas_fold_to_one_message() -> None:
    """Text and the arguments of each call in pieces, in any mixture; the last usage counts."""
    model = Fixed(
        TextDelta("Hel"),
        ToolCallDelta(1, "b", "add"),
        ToolCallDelta(0, "a", "add", '{"x"'),
        Usage(1),
        TextDelta("lo"),
        ToolCallDelta(0, arguments=": 1}"),
        Usage(2, 3, 0.5),
        Stop("tool_calls"),
    )
    calls = (ToolCall("a", "add", '{"x": 1}'), ToolCall("b", "add", "{}"))
    assert await ask(model) == Reply(Message("assistant", "Hello", calls), "tool_calls", Usage(2, 3, 0.5))
    assert model.closed


async def test_a_stream_without_a_stop_is_no_reply() -> None:
    """A part must not pass for the whole."""
    with pytest.raises(ModelFailed, match="ended before its message was whole"):
        await ask(Fixed(TextDelta("Hel")))


@pytest.mark.parametrize(
    ("delta", "data"),
    [
        (TextDelta("a"), {"text": "a"}),
        (Stop("refusal"), {"stop": "refusal"}),
        (Usage(1, None, 0.1), {"usage": {"input_tokens": 1, "cost_usd": 0.1}}),
        (ToolCallDelta(0, "a", "add"), {"tool_call": {"index": 0, "id": "a", "name": "add"}}),
        (ToolCallDelta(2, arguments="{}"), {"tool_call": {"index": 2, "arguments": "{}"}}),
    ],
)
def test_a_delta_survives_json(delta: Delta, data: dict[str, Any]) -> None:
    """As an object with one member."""
    assert delta_to_json(delta) == data
    assert delta_from_json(data) == delta


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], {}, {"text": "a", "stop": "end"}, {"text": 1}, {"stop": "x"}, {"usage": 1}, {"usage": {"x": 1}}),
        *({"tool_call": {"id": "a"}}, {"tool_call": {"index": "0"}}, {"tool_call": {"index": 0, "x": 1}}, {"x": 1}),
        {"tool_call": []},
    ],
)
def test_what_is_no_delta_is_told_with_the_rule(data: Any) -> None:
    """Whatever its shape."""
    with pytest.raises(ValueError, match="a delta is an object with one member"):
        delta_from_json(data)


def test_messages_and_tools_are_json_without_what_is_empty() -> None:
    """A message that says nothing has an empty text, unless it calls."""
    call = ToolCall("a", "add")
    assert message_to_json(Message("user")) == {"role": "user", "text": ""}
    assert message_to_json(Message("tool", "3", tool_call_id="a")) == {
        "role": "tool",
        "text": "3",
        "tool_call_id": "a",
    }
    assert message_to_json(Message("assistant", tool_calls=(call,))) == {
        "role": "assistant",
        "tool_calls": [{"id": "a", "name": "add", "arguments": "{}"}],
    }
    assert tool_to_json(ADD) == {"name": "add", "description": "Adds", "schema": {"type": "object"}}


# ---- rules


async def test_the_first_rule_that_fits_answers_with_what_it_captured() -> None:
    """In the text, and in the strings of the arguments at any depth."""
    arguments = {"sum": [r"\1", {"of": r"\g<b>"}], "n": 2}
    model = RuleModel([Rule(r"add (\d+) (?P<b>\d+)", r"Adding \1.", [("add", arguments)]), Rule("", "never")])
    reply = await ask(model, Message("user", "please add 1 22 now"))
    (call,) = reply.message.tool_calls
    assert (reply.message.text, reply.stop) == ("Adding 1.", "tool_calls")
    assert (call.id, call.name, call.arguments) == ("call_1_1", "add", '{"sum": ["1", {"of": "22"}], "n": 2}')


async def test_a_rule_for_tools_sees_the_results_of_all_that_were_called_together() -> None:
    """One a line; an older result is no part of them."""
    model = RuleModel([Rule("x", "user", role="user"), Rule("^(.*)$", r"got \1", role="tool")], chunk_chars=3)
    results = [Message("tool", "0"), Message("assistant", "x"), Message("tool", "1"), Message("tool", "2")]
    assert (await ask(model, *results)).message.text == "got 1\n2"
    assert (await ask(model, *results[-2:])).message.text == "got 1\n2"
    deltas = [delta async for delta in model.stream(results)]
    assert deltas[:3] == [TextDelta("got"), TextDelta(" 1\n"), TextDelta("2")]


async def test_a_model_without_a_rule_fails_and_says_how_to_help() -> None:
    """So does one whose rule calls a tool that it was not given."""
    model = RuleModel([Rule("x", calls=[("gone", {})])])
    with pytest.raises(ModelFailed, match="no rule fits the user message 'y'; add one"):
        await ask(model, Message("user", "y"))
    with pytest.raises(ModelFailed, match="calls 'gone', which is no tool of this call"):
        await ask(model, Message("user", "x"))
    assert (await ask(RuleModel([Rule("", "hi")]))).message.text == "hi"


# ---- the loop

TWICE = RuleModel(
    [Rule("go", "Going. ", [("add", {"n": 1}), ("add", {"n": 2})], role="user"), Rule("(.*)", r"\1!", role="tool")]
)


async def test_tools_run_side_by_side_and_their_results_stand_in_the_order_of_the_calls() -> None:
    """Each as the call that it is: what it asks of sub-agents has the same path, whichever is first."""
    said: list[str] = []
    second = anyio.Event()
    paths = CallPaths("primary")

    async def call(one: ToolCall) -> str:
        if one.arguments == '{"n": 1}':
            await second.wait()
        second.set()
        return paths.next("judge")

    async def on_text(text: str) -> None:
        said.append(text)

    talk = Conversation()
    with anyio.fail_after(5):
        for turn in (1, 2):
            reply = await talk.say("go", TWICE, [ADD], call, on_text)
            number = 2 * turn - 1
            assert reply.message.text == f"primary/judge.{number}-1\nprimary/judge.{number}-2!"
    assert [message.role for message in talk.messages] == ["user", "assistant", "tool", "tool", "assistant"] * 2
    assert "".join(said[:2]) == "Going. primary/judge.1-"


async def test_a_tool_that_raises_ends_the_others_and_the_turn_bare() -> None:
    """No group around it."""

    async def call(one: ToolCall) -> str:
        if one.id.endswith("2"):
            raise ValueError("odd")
        await anyio.sleep_forever()
        return ""

    with anyio.fail_after(5), pytest.raises(ValueError, match="odd"):
        await Conversation().say("go", TWICE, [ADD], call)


async def test_a_model_that_goes_round_in_circles_is_stopped() -> None:
    """After so many steps."""

    async def call(_one: ToolCall) -> str:
        return "go"

    with pytest.raises(TooManySteps, match="after 3 steps"):
        await Conversation(max_steps=3).say("go", RuleModel([Rule("", calls=[("add", {})])]), [ADD], call)


async def test_without_tools_to_call_the_first_reply_is_the_last() -> None:
    """Also if it asks for some."""
    reply = await Conversation([Message("system", "Be brief.")]).say("go", TWICE, [ADD])
    assert len(reply.message.tool_calls) == 2
