"""What a sub-agent sees of its parent's conversation: a snapshot, whole or capped, older calls masked."""

import copy
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from acp_client.delegate.given.frozen_copy import json_copy
from acp_client.delegate.given.history import snapshot
from tests.delegate.messages import ANTHROPIC, OPENAI, PYDANTIC_AI, TEXTS


@pytest.mark.parametrize("shape", TEXTS)
def test_without_a_cap_all_of_it_is_handed_on_verbatim(shape: str) -> None:
    """Whatever the shape, and with every field that this library does not know."""
    messages, _ = TEXTS[shape]
    assert snapshot(messages, None) == messages


@pytest.mark.parametrize("shape", TEXTS)
@pytest.mark.parametrize("cap", [0, 1, 2, 99])
def test_the_last_messages_stay_and_older_ones_lose_arguments_and_results(shape: str, cap: int) -> None:
    """The text of the older ones stays, and names and ids; a cap above the length masks nothing."""
    messages, texts = TEXTS[shape]
    told = snapshot(messages, cap)
    older = max(0, len(messages) - cap)
    assert len(told) == len(messages)
    assert told[older:] == messages[older:]
    assert "PLANT" not in json.dumps(told[:older])
    assert [text for text in texts if text not in json.dumps(told)] == []


def test_masked_calls_keep_their_shape_so_that_a_model_can_read_them() -> None:
    """Arguments are still JSON, ids still match."""
    assistant, result = snapshot(OPENAI, 0)[2:4]
    (call,) = assistant["tool_calls"]
    assert call["id"] == result["tool_call_id"] == "call_1"
    assert json.loads(call["function"]["arguments"]) == {"masked": True}
    assert result["content"] == "[masked]"
    use, back = snapshot(ANTHROPIC, 0)[1]["content"][2], snapshot(ANTHROPIC, 0)[2]["content"][0]
    assert use == {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {"masked": True}}
    assert back == {"type": "tool_result", "tool_use_id": "toolu_1", "content": "[masked]"}


def test_later_changes_of_the_caller_change_nothing() -> None:
    """A deep copy is taken."""
    messages = copy.deepcopy(ANTHROPIC)
    told = snapshot(messages, None)
    messages[1]["content"][2]["input"]["isin"]["deep"].append("later")
    messages.clear()
    assert told == ANTHROPIC


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3) | st.just("PLANT"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "type", "PLANT"]), inner),
    max_leaves=6,
)
EXTRA = st.dictionaries(st.sampled_from(["parsed", "metadata", "cache_control", "output", "data", "source"]), JSON)
TEXT = st.text("xyz", min_size=1, max_size=5)


def _with_extra(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda extra, fixed: {**extra, **fixed},
        EXTRA,
        st.fixed_dictionaries(
            {key: one if isinstance(one, st.SearchStrategy) else st.just(one) for key, one in fields.items()}
        ),
    )


KINDS = st.sampled_from(
    ["thinking", "image", "file", "server_tool_use", "code_execution_tool_result", "PLANT", "audio"]
)
BLOCKS = st.one_of(
    _with_extra(type="text", text=TEXT),
    _with_extra(type="tool_use", id="i", name="n", input=JSON),
    _with_extra(type="tool_result", tool_use_id="i", content=JSON),
    _with_extra(type=KINDS),
)
CALLS = _with_extra(id="i", function=_with_extra(name="n", arguments=JSON), args=JSON, arguments=JSON)
MESSAGES = st.one_of(
    _with_extra(role="user", content=TEXT | st.lists(BLOCKS, max_size=3)),
    _with_extra(role="assistant", content=st.none() | TEXT | st.lists(BLOCKS, max_size=3), tool_calls=st.lists(CALLS)),
    _with_extra(role="assistant", content=None, function_call=_with_extra(name="n", arguments=JSON)),
    _with_extra(role="tool", tool_call_id="i", content=st.just("PLANT") | st.lists(BLOCKS, max_size=3)),
    _with_extra(
        kind="response",
        parts=st.lists(
            st.one_of(
                _with_extra(part_kind="text", content=TEXT),
                _with_extra(part_kind=st.sampled_from(["tool-call", "thinking", "x"]), args=JSON, content=JSON),
                _with_extra(part_kind=st.sampled_from(["tool-return", "retry-prompt", "file"]), content=JSON),
            ),
            max_size=3,
        ),
    ),
)


@given(st.lists(MESSAGES, max_size=5), st.integers(0, 6))
def test_nothing_of_an_older_argument_or_result_is_left_anywhere(messages: list[dict[str, Any]], cap: int) -> None:
    """In no field, block or key, known or not; the younger messages are as they were."""
    told = snapshot(messages, cap)
    older = max(0, len(messages) - cap)
    assert "PLANT" not in json.dumps(told[:older])
    assert told[older:] == messages[older:]


WRONG: dict[str, tuple[Any, str]] = {
    "no list": ("hello", "history must be a list of messages, not str"),
    "one message": ({"role": "user", "content": "x"}, "history must be a list of messages, not dict"),
    "a string in it": ([{"role": "user", "content": "x"}, "hello"], r"history\[1\] is of type str"),
    "no role": ([{"content": "x"}], r"history\[0\] has no `role`"),
    "a role of nobody": ([{"role": "observer", "content": "x"}], r"history\[0\]\.role must be one of system"),
    "a role that is no text": ([{"role": ["user"], "content": "x"}], r"history\[0\]\.role"),
    "content of a number": ([{"role": "user", "content": 5}], r"history\[0\]\.content must be a string, a list"),
    "a block without a type": ([{"role": "user", "content": [{"text": "x"}]}], r"history\[0\]\.content\[0\]"),
    "text that is none": ([{"role": "user", "content": [{"type": "text", "text": {}}]}], r"content\[0\]\.text must"),
    "calls of a string": ([{"role": "assistant", "tool_calls": "x"}], r"history\[0\]\.tool_calls must be a list"),
    "parts without a kind": ([{"parts": []}], r"history\[0\]\.kind must be 'request' or 'response'"),
    "parts of strings": ([{"kind": "request", "parts": ["x"]}], r"history\[0\]\.parts must be a list of dicts"),
    "no data": ([{"role": "user", "content": "x", "socket": object()}], r"history\[0\] is no data: .*object"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_shape_is_told_with_its_place_and_the_rule(case: str) -> None:
    """Before anything is started."""
    history, message = WRONG[case]
    with pytest.raises((TypeError, ValueError), match=message):
        snapshot(history, 0)


@pytest.mark.parametrize("cap", [-1, True, 1.5, "2"])
def test_a_cap_is_a_number_of_messages(cap: Any) -> None:
    """Nothing else, and no boolean."""
    with pytest.raises(ValueError, match=r"history_cap is .*it is a number of messages"):
        snapshot([], cap)


def test_what_is_for_display_only_is_handed_to_nobody() -> None:
    """A trace that hangs on a tool result is stripped, with or without a cap."""
    messages = [{"role": "tool", "tool_call_id": "i", "content": "ok", "sub_agent_trace": [{"agent": "a"}]}]
    assert snapshot(messages, None) == [{"role": "tool", "tool_call_id": "i", "content": "ok"}]


def test_messages_may_be_objects_of_a_library() -> None:
    """Pydantic models (the SDKs' messages) and dataclasses (pydantic-ai's) alike."""

    class Message(BaseModel):
        role: str
        content: str | None = None
        tool_calls: list[Any] | None = None

    @dataclass
    class Part:
        content: str
        part_kind: str = "text"

    @dataclass
    class Response:
        parts: list[Part]
        kind: str = "response"

    told = snapshot((Message(role="user", content="x"), Response([Part("y")])), 0)
    assert told[0] == {"role": "user", "content": "x"}
    assert told[1] == {"kind": "response", "parts": [{"part_kind": "text", "content": "y"}]}
    assert snapshot(iter(PYDANTIC_AI), None) == PYDANTIC_AI


def test_half_a_character_and_what_json_lacks_are_replaced() -> None:
    """UTF-8 cannot write the one, JSON not the other."""
    assert json_copy({"a\ud800": ["\udc00", float("nan")], "b": (b"\xff",)}) == {
        "a\ufffd": ["\ufffd", None],
        "b": ["_w=="],
    }


def test_no_history_is_no_message() -> None:
    """Neither None nor an empty list."""
    assert snapshot(None, 3) == snapshot([], None) == []
