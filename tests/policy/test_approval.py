"""Who is asked, and what counts as the same call: approvals as pure data and functions."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from acp_client import Approvals, Decision, PermissionRequest, ToolApproval
from acp_client.policy.approval import ROLES, Role, suffices
from acp_client.policy.asking.choices import is_choice, settle
from acp_client.policy.asking.memory import MAX_REMEMBERED, Memory, canonical, key_of
from acp_client.protocol.models import PermissionOption
from acp_client.protocol.models.tool_call import ToolKind


def request(
    *options: tuple[str, str | None],
    kind: str = "execute",
    name: str | None = "deploy",
    title: str = "Deploy",
    **raw: Any,
) -> PermissionRequest:
    """A request with options as (id, kind), and these fields of its call."""
    offered = tuple(PermissionOption(option_id=key, name=key, kind=its_kind) for key, its_kind in options)
    return PermissionRequest("s-1", "call-1", title, name, kind, offered, {"toolCallId": "call-1", **raw})


# ---- mode and role


def mode(approvals: Approvals, kind: str = "execute", name: str | None = "deploy", *, explicit: bool = False) -> str:
    """The mode for a call of this kind and tool."""
    return approvals.of(request(kind=kind, name=name), explicit=explicit).mode


@pytest.mark.parametrize("kind", get_args(ToolKind))
def test_without_a_default_what_changes_nothing_is_not_asked_about_and_the_rest_on_first_use(kind: str) -> None:
    """Unless a rule says to ask: then every kind is asked about on first use."""
    harmless = kind in ("read", "search", "think", "fetch")
    assert mode(Approvals(), kind) == ("never_ask" if harmless else "ask_on_first_use")
    assert mode(Approvals(), kind, explicit=True) == "ask_on_first_use"
    assert mode(Approvals(default="always_ask"), kind) == "always_ask"
    assert mode(Approvals(default="never_ask"), kind, explicit=True) == "never_ask"


@pytest.mark.parametrize("kind", ["read", "search", "think", "fetch"])
def test_a_call_that_shows_a_change_is_asked_about_whatever_its_kind(kind: str) -> None:
    """As rules take it for an edit too."""
    asked = request(kind=kind, content=[{"type": "diff", "path": "/w/x", "newText": ""}])
    assert Approvals().of(asked, explicit=False).mode == "ask_on_first_use"


def test_an_override_wins_by_exact_name_and_else_by_the_first_glob() -> None:
    """A tool without a name has none, and case matters."""
    approvals = Approvals(
        default="ask_on_first_use", overrides={"dep*": "never_ask", "d*": "always_ask", "deploy": "always_ask"}
    )
    names = {"deploy": "always_ask", "depose": "never_ask", "drop": "always_ask", "Deploy": "ask_on_first_use"}
    assert {name: mode(approvals, name=name) for name in names} == names
    assert mode(approvals, name=None) == "ask_on_first_use"


def test_an_override_names_a_role_or_leaves_the_default_one() -> None:
    """`ToolApproval` takes its mode by place."""
    approvals = Approvals(
        overrides={"deploy": ToolApproval("always_ask", role="admin"), "drop": ToolApproval("always_ask")},
        default_role="senior",
    )
    assert [approvals.of(request(name=name), explicit=True).role for name in ("deploy", "drop", "x")] == [
        "admin",
        "senior",
        "senior",
    ]


@pytest.mark.parametrize("held", [*ROLES, None, "intern"])
@pytest.mark.parametrize("wanted", ROLES)
def test_a_role_suffices_for_itself_and_what_is_below_it(held: str | None, wanted: Role) -> None:
    """Who names none is vouched for by the approver; a word that is none holds nothing."""
    expected = held is None or (held in ROLES and ROLES.index(held) >= ROLES.index(wanted))
    assert suffices(held, wanted) == expected


def test_turns_wait_from_the_given_number_on() -> None:
    """Without a number none does; with 0 the first one too."""
    assert not Approvals().wants_turn(1000)
    assert [Approvals(after_turns=2).wants_turn(turns) for turns in range(4)] == [False, False, True, True]
    assert Approvals(after_turns=0).wants_turn(0)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a misspelt field": ({"after_turn": 1}, "did you mean 'after_turns'"),
    "a misspelt mode": ({"default": "ask"}, "ask_on_first_use"),
    "a misspelt mode of an override": ({"overrides": {"x": "sometimes"}}, "overrides.x"),
    "a role that is none": ({"default_role": "boss"}, "'standard', 'senior' or 'admin'"),
    "no time": ({"timeout_seconds": 0}, "greater than 0"),
    "endless time": ({"timeout_seconds": float("inf")}, "finite"),
    "turns below 0": ({"after_turns": -1}, "greater than or equal to 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_rule(name: str) -> None:
    """When it is written, not when somebody should be asked."""
    fields, says = WRONG[name]
    with pytest.raises(ValidationError, match=says):
        Approvals(**fields)


def test_approvals_are_values() -> None:
    """Equal ones are equal keys."""
    one, other = (Approvals(overrides={"x": ToolApproval("always_ask")}) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert ToolApproval("always_ask", "senior") == ToolApproval(mode="always_ask", role="senior")


# ---- the same call

SAME: list[tuple[Any, Any]] = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"a": 1.0}),
    ({"a": [{"x": 1, "y": 2}]}, {"a": [{"y": 2, "x": 1}]}),
    ({"a": 1}, '{ "a" : 1 }'),
    ('{"b":2,"a":1}', '{"a": 1,\n "b": 2}'),
    ({"a": -0.0}, {"a": 0}),
]
OTHER: list[tuple[Any, Any]] = [
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"a": True}),
    ({"a": 0}, {"a": False}),
    ({"a": 1}, {"a": "1"}),
    ({"a": None}, {"b": None}),
    ({"a": [1, 2]}, {"a": [2, 1]}),
    ({"text": '{"a":1}'}, {"text": '{"a": 1}'}),
    ('{"a": 1, "a": 2}', {"a": 2}),
    ("ls", "ls "),
    ({"a": 2**53}, {"a": 2**53 + 1}),
    ('{"a": 1e999}', '{"a": 1e9999}'),
    ('{"a": 0.1}', '{"a": 0.10000000000000000001}'),
    ('{"a": 1e-99999999999999999999}', '{"a": 0.0}'),
    ('{"a": NaN}', {"a": float("nan")}),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_arguments_in_other_words_are_the_same_call(one: Any, other: Any) -> None:
    """Order of keys and spacing say nothing, in a text that holds an object neither."""
    assert key_of(request(rawInput=one)) == key_of(request(rawInput=other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_arguments_are_another_call(one: Any, other: Any) -> None:
    """True is not 1, and what is inside of a text is content, spacing and all."""
    assert key_of(request(rawInput=one)) != key_of(request(rawInput=other))


DIFF = {"type": "diff", "path": "/w/x", "oldText": "a", "newText": "b"}


def test_nothing_wider_than_what_was_shown_is_the_same_call() -> None:
    """Without arguments, or with the empty ones that some agents always send, the title counts; diffs always do."""
    nothings: list[dict[str, Any]] = [{}, {"rawInput": {}}, {"rawInput": ""}, {"rawInput": None}]
    for nothing in nothings:
        keys = {key_of(request(title=title, **nothing)) for title in ("rm -r build", "rm -r /")}
        assert len(keys) == 2, nothing
    told: dict[str, Any] = {"rawInput": {"a": 1}}
    assert key_of(request(title="one", **told)) == key_of(request(title="two", **told))
    assert key_of(request(name=None, title="one", **told)) != key_of(request(name=None, title="two", **told))
    changes = [[], [DIFF], [DIFF | {"newText": "c"}], [DIFF | {"path": "/w/y"}], [DIFF, DIFF]]
    assert len({key_of(request(content=change, **told)) for change in changes}) == len(changes)
    places = [[], [{"path": "/w/x"}], [{"path": "/w/y"}]]
    assert len({key_of(request(locations=place, **told)) for place in places}) == len(places)


def test_another_session_kind_or_tool_is_another_call() -> None:
    """What is approved for one tool says nothing of another."""
    first = request(rawInput={"a": 1})
    others = [replace(first, session_id="s-2"), replace(first, kind="edit"), replace(first, name="drop")]
    assert len({key_of(one) for one in (first, *others)}) == 4


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, JSON)
def test_canonical_forms_are_equal_only_for_equal_values(one: Any, other: Any) -> None:
    """Nothing is approved that was not: two values with one key would be."""

    def typed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: typed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [typed(item) for item in value]
        return (isinstance(value, bool), isinstance(value, str), value)

    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))


def test_a_text_nested_beyond_reading_is_a_text() -> None:
    """No call makes the comparison fail."""
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    assert key_of(request(rawInput=deep)) != key_of(request(rawInput=deep + " "))
    medium = '{"a":' * 400 + "1" + "}" * 400
    assert key_of(request(rawInput=medium)) == key_of(request(rawInput=medium))


def test_the_memory_is_bounded() -> None:
    """The oldest approval is forgotten, which costs a question."""
    memory = Memory()
    for number in range(MAX_REMEMBERED + 1):
        memory.keep(str(number), Decision.allow())
    assert memory.find("0") is None
    assert memory.find("1") is not None


# ---- what is no permission

ONCE, ALWAYS, NO, ODD = ("y", "allow_once"), ("yy", "allow_always"), ("n", "reject_once"), ("o", "maybe")

CHOICES: list[tuple[PermissionRequest, bool]] = [
    (request(ONCE, NO), False),
    (request(ONCE, ALWAYS, NO), False),
    (request(ALWAYS, NO), False),
    (request(NO), False),
    (request(), False),
    (request(ONCE, ODD, NO), False),
    (request(ODD, NO), True),
    (request(("a", None), NO), True),
    (request(ONCE, ("z", "allow_once"), NO), True),
    (request(ALWAYS, ("z", "allow_always"), NO), True),
    (request(ONCE, ONCE, NO), False),
    (request(ONCE, NO, ("m", "reject_once")), False),
    (request(ONCE, NO, kind="switch_mode"), True),
    (request(ONCE, NO, kind="open_url"), True),
    (request(ONCE, NO, kind="other"), False),
]


@pytest.mark.parametrize(("asked", "expected"), CHOICES)
def test_a_choice_is_where_allowing_is_not_one_clear_thing(asked: PermissionRequest, *, expected: bool) -> None:
    """By kind of the call, and by the options that allow."""
    assert is_choice(asked) == expected


SETTLED: list[tuple[PermissionRequest, Decision, str, str | None]] = [
    (request(ONCE, ALWAYS, NO), Decision.allow(), "allow", "y"),
    (request(ONCE, ALWAYS, NO), Decision.select("yy"), "allow", "yy"),
    (request(ONCE, ALWAYS, NO), Decision.select("n"), "reject", "n"),
    (request(ONCE, NO), Decision.select("x"), "reject", "n"),
    (request(ONCE, NO), Decision("reject", option_id="y"), "reject", "n"),
    (request(ONCE, NO, ("m", "reject_once")), Decision("reject", option_id="m"), "reject", "m"),
    (request(ONCE, ("z", "allow_once"), NO), Decision.allow(), "reject", "n"),
    (request(ONCE, ("z", "allow_once"), NO), Decision.select("z"), "allow", "z"),
    (request(("z", "allow_once"), ("z", "reject_once")), Decision.select("z"), "reject", None),
    (request(ONCE, ALWAYS, NO, kind="switch_mode"), Decision.allow(), "reject", "n"),
    (request(ONCE, NO, kind="switch_mode"), Decision.allow(), "allow", "y"),
    (request(ONCE, NO, kind="switch_mode"), Decision.reject(), "reject", "n"),
    (request(ODD, ("p", "also")), Decision.allow(), "reject", None),
    (request(ODD, ("p", "also")), Decision.select("p"), "allow", "p"),
    (request(ODD), Decision.allow(), "reject", None),
]


@pytest.mark.parametrize(("asked", "decision", "action", "sent"), SETTLED)
def test_a_decision_is_sent_as_it_was_meant_or_refused(
    asked: PermissionRequest, decision: Decision, action: str, sent: str | None
) -> None:
    """Never picked by order; what cannot be followed is a rejection that says why, and settling twice is the same."""
    settled, choice = settle(decision, asked)
    assert (settled.action, choice.option.option_id if choice.option else None) == (action, sent)
    if settled.action != decision.action and decision.option_id != "n":
        assert settled.why
    assert settle(settled, asked) == (settled, choice)
