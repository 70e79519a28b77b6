"""The fold of updates: what counts as the answer, what is patched, what is kept, and that nothing raises."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.session.turn import MAX_KEPT_RAW, MAX_TOOL_CALLS, Turn

PLENTY = 1_000_000


def chunk(text: Any, kind: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    """A piece of a message."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}


def call(call_id: Any, update: str = "tool_call", /, **fields: Any) -> dict[str, Any]:
    """A tool call."""
    return {"sessionUpdate": update, "toolCallId": call_id, **fields}


def turn(*updates: Any, limit: int = PLENTY) -> Turn:
    """A turn that is running and has folded these."""
    folded = Turn(limit)
    folded.phase = "running"
    for update in updates:
        folded.fold(update)
    return folded


# ---- the answer


def test_only_the_agent_s_message_is_answer_text() -> None:
    """Thoughts are counted, echoes of the user are not even that."""
    folded = turn(
        chunk("echo", "user_message_chunk"),
        chunk("hm", "agent_thought_chunk"),
        chunk("yes"),
        chunk("hm", "agent_thought_chunk"),
    )
    assert folded.answer.text() == "yes"
    assert folded.thoughts == 2
    assert folded.malformed == folded.unknown_count == 0


def test_an_empty_chunk_is_no_text() -> None:
    """It begins no message either."""
    folded = turn(chunk(""))
    assert folded.answer.messages() == ()
    folded = turn(chunk("a", messageId="1"), chunk("", messageId="2"), chunk("b", messageId="1"))
    assert [message.text for message in folded.answer.messages()] == ["ab"]


def test_messages_end_at_another_id_and_without_ids_after_a_new_tool_call() -> None:
    """A change of a call that is known already ends nothing."""
    folded = turn(
        chunk("Looking", messageId="m1"),
        call("c1"),
        chunk("Found", messageId=None),
        call("c1", "tool_call_update", status="completed"),
        chunk(" it", messageId=7),
        chunk("Answer", messageId="m2"),
    )
    assert [(one.id, one.text) for one in folded.answer.messages()] == [
        ("m1", "Looking"),
        (None, "Found it"),
        ("m2", "Answer"),
    ]


BLOCKS = [
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///x", "name": "x"},
    {"type": "resource", "resource": {"uri": "file:///x", "text": "t"}},
    {"type": "hologram", "depth": [1, None]},
    {"type": ""},
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_that_is_not_text_is_kept(block: dict[str, Any]) -> None:
    """As it came, beside the text."""
    folded = turn(chunk("a"), {"sessionUpdate": "agent_message_chunk", "content": block}, chunk("b"))
    (message,) = folded.answer.messages()
    assert message.text == "ab"
    assert message.model_dump(mode="json")["blocks"] == [block]


USELESS: list[Any] = [
    None,
    5,
    "text",
    [],
    {"sessionUpdate": "agent_message_chunk"},
    {"sessionUpdate": "agent_message_chunk", "content": None},
    {"sessionUpdate": "agent_message_chunk", "content": "text"},
    {"sessionUpdate": "agent_message_chunk", "content": {"text": "no type"}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": 5}},
    chunk(None),
    chunk(5),
    call(None),
    call(7),
    {"sessionUpdate": "tool_call_update"},
]


@pytest.mark.parametrize("update", USELESS)
def test_an_update_of_no_use_is_counted_and_the_next_one_is_folded(update: Any) -> None:
    """Never an error."""
    folded = turn(update, chunk("after"))
    assert folded.malformed == 1
    assert folded.answer.text() == "after"
    assert folded.tool_calls() == ()


def test_text_before_the_prompt_is_no_answer_but_state_is_kept() -> None:
    """Greetings and histories; commands, modes and usage come early too."""
    folded = Turn(PLENTY)
    folded.fold(chunk("Welcome!"))
    folded.fold({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "help"}]})
    folded.fold({"sessionUpdate": "usage_update", "used": 5, "size": 10})
    folded.phase = "running"
    folded.fold(chunk("answer"))
    assert folded.answer.text() == "answer"
    assert folded.commands == [{"name": "help"}]
    assert folded.usage().context_used == 5


def test_a_late_update_is_folded_and_counted_and_a_closed_turn_only_counts() -> None:
    """The tail of an answer is kept; after the end nothing changes any more."""
    folded = turn(chunk("a"))
    folded.phase = "late"
    folded.fold(chunk("b"))
    folded.fold(call("c", status="completed"))
    folded.phase = "closed"
    folded.fold(chunk("c"))
    folded.fold(None)
    assert folded.answer.text() == "ab"
    assert folded.late_updates == 4
    assert [one.id for one in folded.tool_calls()] == ["c"]
    assert folded.malformed == 0


# ---- tool calls


def test_an_update_changes_only_what_it_names() -> None:
    """Null is unchanged, lists replace, fields that nobody knows are kept."""
    folded = turn(
        call("c", title="Read", kind="read", status="pending", content=[1, 2], rawInput={"a": 1}, odd=True),
        call("c", "tool_call_update", status="completed", title=None, content=[3], rawOutput=None),
    )
    (state,) = folded.tool_calls()
    assert (state.id, state.title, state.kind, state.status) == ("c", "Read", "read", "completed")
    assert state.raw == {
        "toolCallId": "c",
        "title": "Read",
        "kind": "read",
        "status": "completed",
        "content": [3],
        "rawInput": {"a": 1},
        "odd": True,
    }


def test_an_update_for_a_call_that_was_never_told_creates_it() -> None:
    """In the order in which calls are first seen."""
    folded = turn(call("b", "tool_call_update", status="in_progress"), call("a", title="A"), call("b", title="B"))
    assert [(one.id, one.title, one.status) for one in folded.tool_calls()] == [
        ("b", "B", "in_progress"),
        ("a", "A", None),
    ]


def test_words_of_a_call_that_are_no_strings_are_not_shown() -> None:
    """They stay in the raw call."""
    (state,) = turn(call("c", title=5, kind=["edit"], status={"a": 1}, name=True)).tool_calls()
    assert (state.title, state.kind, state.status, state.name) == (None, None, None, None)
    assert state.raw["kind"] == ["edit"]


def test_the_kind_of_a_call_is_known_once_it_was_told() -> None:
    """For a permission request that does not repeat it."""
    folded = turn(call("c", kind="edit"), call("d", kind=5), call("e"))
    assert [folded.kind_of(one) for one in "cdex"] == ["edit", None, None, None]


MUTATING: list[tuple[dict[str, Any], bool]] = [
    *[({"kind": kind, "status": "completed"}, True) for kind in ("edit", "delete", "move", "execute")],
    *[({"kind": kind, "status": "completed"}, False) for kind in ("read", "search", "think", "fetch", "other", "odd")],
    ({"kind": "edit", "status": "failed"}, False),
    ({"kind": "edit"}, False),
    ({"status": "completed"}, False),
    ({"kind": [], "status": "completed"}, False),
    ({"kind": {}, "status": "completed"}, False),
    ({"kind": "edit", "status": ["completed"]}, False),
]


@pytest.mark.parametrize(("fields", "expected"), MUTATING)
def test_a_mutating_call_that_completed_unasked_is_flagged(fields: dict[str, Any], expected: bool) -> None:  # noqa: FBT001  # an expectation
    """Whatever its fields are, and not where it was asked for."""
    folded = turn(call("c", **fields))
    assert folded.completed_without_asking() == (("c",) if expected else ())
    folded.note_asked("c")
    assert folded.completed_without_asking() == ()


# ---- bounds


def test_text_over_the_limit_is_cut_and_flagged() -> None:
    """The turn goes on."""
    folded = turn(chunk("abcdef"), call("c"), limit=100)
    assert not folded.truncated
    folded = turn(chunk("x" * 200), call("c"), limit=100)
    assert folded.truncated
    assert folded.answer.text() == "x" * 100
    assert len(folded.tool_calls()) == 1


def test_a_call_that_grows_over_the_limit_keeps_its_last_state_that_fitted() -> None:
    """A smaller change is taken again."""
    folded = turn(call("c", status="pending"), limit=200)
    folded.fold(call("c", "tool_call_update", rawOutput="x" * 300))
    folded.fold(call("d", rawInput="x" * 300))
    assert folded.truncated
    folded.fold(call("c", "tool_call_update", status="completed"))
    (state,) = folded.tool_calls()
    assert state.status == "completed"
    assert "rawOutput" not in state.raw


def test_a_call_may_change_any_number_of_times_within_the_limit() -> None:
    """What it held before is given back."""
    updates = [call("c", "tool_call_update", rawOutput=str(number % 10) * 100) for number in range(1000)]
    folded = turn(*updates, limit=300)
    assert not folded.truncated
    assert folded.tool_calls()[0].raw["rawOutput"] == "9" * 100


def test_calls_beyond_the_bound_are_dropped_and_flagged() -> None:
    """Those that are known still change."""
    folded = turn(*[call(str(number)) for number in range(MAX_TOOL_CALLS + 1)], limit=10**9)
    folded.fold(call("0", status="completed"))
    assert folded.truncated
    assert len(folded.tool_calls()) == MAX_TOOL_CALLS
    assert folded.tool_calls()[0].status == "completed"


UNKNOWN: list[Any] = [
    "totally_new",
    "plan_removed",
    "notice",
    "compaction_update",
    "",
    None,
    5,
    ["agent_message_chunk"],
]


@pytest.mark.parametrize("kind", UNKNOWN)
def test_an_update_of_an_unknown_kind_is_kept_as_it_came(kind: Any) -> None:
    """It is no error and no answer."""
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": "x"}}
    folded = turn(update, {"no": "kind"})
    assert folded.unknown == [update, {"no": "kind"}]
    assert (folded.malformed, folded.answer.text(), folded.truncated) == (0, "", False)


def test_unknown_updates_are_kept_up_to_a_bound_and_counted_beyond() -> None:
    """In number and in size."""
    folded = turn(*[{"sessionUpdate": "new"}] * (MAX_KEPT_RAW + 5))
    assert (len(folded.unknown), folded.unknown_count) == (MAX_KEPT_RAW, MAX_KEPT_RAW + 5)
    folded = turn({"sessionUpdate": "new", "pad": "x" * 80}, {"sessionUpdate": "new", "pad": "x" * 80}, limit=150)
    assert (len(folded.unknown), folded.unknown_count) == (1, 2)


# ---- anything at all

WORDS = st.sampled_from([*Turn._FOLDS, "agent_message_chunk", "new"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text"]), inner, max_size=2),
    max_leaves=5,
)
KEYS = st.sampled_from(
    [
        *("content", "messageId", "toolCallId", "title", "kind", "status", "entries", "currentModeId"),
        *("configOptions", "availableCommands", "used", "size", "cost"),
    ]
)


@given(st.lists(st.tuples(WORDS, st.dictionaries(KEYS, VALUES, max_size=5)), max_size=8))
def test_no_update_makes_the_fold_raise(updates: list[tuple[str, dict[str, Any]]]) -> None:
    """And what comes of it can be told as JSON."""
    folded = turn(*[{"sessionUpdate": word, **fields} for word, fields in updates])
    told = [
        *folded.answer.messages(),
        *folded.tool_calls(),
        folded.usage(),
    ]
    for model in told:
        json.dumps(model.model_dump(mode="json"))
    assert isinstance(folded.completed_without_asking(), tuple)
    assert isinstance(folded.plan_entries(), tuple)


def test_a_question_about_a_call_that_nobody_announced_counts_for_nothing() -> None:
    """Only known calls can have been asked for."""
    turn = Turn(1000)
    turn.note_asked("unheard-of")
    turn.fold({"sessionUpdate": "tool_call", "toolCallId": "unheard-of", "kind": "edit", "status": "completed"})
    assert turn.completed_without_asking() == ("unheard-of",)
