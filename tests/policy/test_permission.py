"""The option that is sent for a decision: by kind alone, and never an allow for a reject."""

import itertools
from typing import Any, get_args

import pytest

from acp_client.policy.permission import (
    TOOL_KINDS,
    Action,
    Decision,
    PermissionRequest,
    choose,
)
from acp_client.policy.rules import KINDS as KINDS_OF_RULES
from acp_client.protocol.models import PermissionOption
from acp_client.protocol.models.tool_call import PermissionOptionKind, ToolKind

KINDS = get_args(PermissionOptionKind)
ALLOWS = ("allow_once", "allow_always")
REJECTS = ("reject_once", "reject_always")


def option(kind: str | None, option_id: str = "", name: str = "") -> PermissionOption:
    """An option; its id says the opposite of its kind, so that nobody reads it."""
    misleading = {None: "allow", "allow_once": "deny-1", "allow_always": "deny-2"}.get(kind, f"allow {kind}")
    return PermissionOption(option_id=option_id or misleading, name=name or f"Yes, {misleading}", kind=kind)


ODD_KINDS = (None, "maybe", "", "ALLOW_ONCE", "allow", "deny_once")
LISTS = [
    list(order)
    for size in range(len(KINDS) + 1)
    for some in itertools.combinations((*KINDS, *ODD_KINDS[:2]), size)
    for order in itertools.permutations(some)
]


def sent(action: Action, kinds: list[Any]) -> str | None:
    """The kind that is sent, None for the outcome `cancelled`."""
    choice = choose(action, [option(kind) for kind in kinds])
    assert (choice.outcome == "cancelled") == (choice.option is None)
    assert choice.wider == (choice.option is not None and choice.option.kind == "allow_always")
    return None if choice.option is None else choice.option.kind


def best(kinds: list[Any], *wanted: str) -> str | None:
    """The first of the wanted kinds that is there."""
    return next((kind for kind in wanted if kind in kinds), None)


def test_a_reject_never_sends_an_allow_whatever_is_offered_in_whatever_order() -> None:
    """`reject_once`, else `reject_always`, else the outcome `cancelled`."""
    assert len(LISTS) > 500
    for kinds in LISTS:
        assert sent("reject", kinds) == best(kinds, *REJECTS), kinds


def test_an_allow_sends_the_narrowest_allow_and_without_one_a_reject() -> None:
    """Never a cancelled turn where there is something to say no with."""
    for kinds in LISTS:
        assert sent("allow", kinds) == best(kinds, *ALLOWS, *REJECTS), kinds


@pytest.mark.parametrize("action", ["allow", "reject"])
@pytest.mark.parametrize("kinds", [[], [None], ["maybe"], list(ODD_KINDS)], ids=repr)
def test_without_a_usable_option_the_outcome_is_cancelled(action: Action, kinds: list[Any]) -> None:
    """Kinds that are missing or unknown are never guessed at."""
    choice = choose(action, [option(kind, f"id {number}") for number, kind in enumerate(kinds)])
    assert choice.to_wire() == {"outcome": {"outcome": "cancelled"}}


@pytest.mark.parametrize("option_id", ["x", "", " ", "0", "allow_once", "é\u2028"])
def test_the_id_of_the_option_is_echoed_exactly(option_id: str) -> None:
    """Whatever it looks like."""
    chosen = PermissionOption(option_id=option_id, name="n", kind="reject_once")
    wire = choose("reject", [option("allow_once"), chosen]).to_wire()
    assert wire == {"outcome": {"outcome": "selected", "optionId": option_id}}


def test_of_two_options_of_a_kind_the_first_is_sent() -> None:
    """The agent put it there."""
    choice = choose("allow", [option("allow_once", "a"), option("allow_once", "b")])
    assert choice.option is not None
    assert choice.option.option_id == "a"


def test_a_wider_grant_than_was_asked_for_is_marked() -> None:
    """`allow_always` because there was no `allow_once`."""
    assert choose("allow", [option("allow_always"), option("reject_once")]).wider
    assert not choose("allow", [option("allow_always"), option("allow_once")]).wider


def request(kind: str, raw: dict[str, Any] | None = None) -> PermissionRequest:
    """What an agent asks."""
    return PermissionRequest("s", "c", "T", None, kind, (), raw or {})


def test_every_tool_kind_of_acp_but_the_switch_of_modes_is_a_tool() -> None:
    """A new kind in the schema must be looked at."""
    assert set(get_args(ToolKind)) - TOOL_KINDS == {"switch_mode"}
    assert set(get_args(ToolKind)) >= TOOL_KINDS


def test_a_decision_says_what_and_why() -> None:
    """As callables return it."""
    assert Decision.allow("fine") == Decision("allow", "fine", "callable")
    assert Decision.reject() == Decision("reject", None, "callable")


PATHS: list[tuple[Any, tuple[str, ...]]] = [
    (None, ()),
    ("/a", ()),
    ([], ()),
    ([{"path": "/a"}, {"path": "/b", "line": 3}], ("/a", "/b")),
    ([None, {"path": 5}, {}, "x", {"path": "/a"}], ("/a",)),
]


@pytest.mark.parametrize(("locations", "expected"), PATHS)
def test_the_paths_of_a_call_are_those_that_it_names(locations: Any, expected: tuple[str, ...]) -> None:
    """Entries of no use are left out."""
    assert request("edit", {"locations": locations}).paths == expected
    assert request("edit").paths == ()


@pytest.mark.parametrize("action", ["allow", "reject"])
def test_an_id_that_stands_for_both_is_never_sent(action: Any) -> None:
    """The agent could read it as the other one."""
    options = [
        PermissionOption(option_id="same", name="No", kind="reject_once"),
        PermissionOption(option_id="same", name="Yes", kind="allow_once"),
    ]
    assert choose(action, options).outcome == "cancelled"
    plain = PermissionOption(option_id="own", name="No", kind="reject_always")
    chosen = choose(action, [*options, plain]).option
    assert chosen is plain


def test_rules_take_the_kinds_of_the_protocol() -> None:
    """They are written down twice, so that a policy loads no models."""
    assert get_args(ToolKind) == KINDS_OF_RULES
