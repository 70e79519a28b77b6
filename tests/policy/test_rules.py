"""Rules over kinds, names and titles, the presets, and that no decision sends an option of the other meaning."""

import itertools
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from acp_client.policy.permission import PermissionRequest, choose
from acp_client.policy.rules import PRESETS, PermissionPolicy, Rule
from acp_client.protocol.models import PermissionOption, ToolKind
from acp_client.spec import PERMISSION_PRESETS

TOOLS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other")
NO_TOOLS = ("switch_mode", "open_url", "", "EDIT", "exit_plan", "read ")
OPTION_KINDS = ("allow_once", "allow_always", "reject_once", "reject_always", None)


def request(kind: str = "other", *, name: str | None = None, title: str | None = None, **raw: Any) -> PermissionRequest:
    """What an agent asks."""
    return PermissionRequest("s", "c", title, name, kind, (), raw, cwd="/", roots=("/",))


def policy(*rules: dict[str, Any], **fields: Any) -> PermissionPolicy:
    """Rules as plain words."""
    return PermissionPolicy(rules=[Rule(**rule) for rule in rules], **fields)


def action(rules: PermissionPolicy, kind: str = "other", **fields: Any) -> str:
    """What is said of such a request."""
    return rules.rule(request(kind, **fields)).action


# ---------------------------------------------------------------- the generated table

Row = tuple[str, tuple[str, ...] | None]
ROWS: list[Row] = [
    (act, kinds)
    for act in ("allow", "reject", "ask")
    for kinds in (None, ("read",), ("edit", "delete"), ("switch_mode",), ("other", "switch_mode"))
]
OPTION_LISTS = [
    [PermissionOption(option_id=f"{place} allow", name="Yes", kind=kind) for place, kind in enumerate(order)]
    for size in range(len(OPTION_KINDS))
    for order in itertools.permutations(OPTION_KINDS, size)
]


def stated(rows: tuple[Row, ...], default: str, kind: str) -> str:
    """The rule in its own words: the first that fits, else the default; no tool is allowed but by its name."""
    for act, kinds in rows:
        if kinds is None or kind in kinds:
            if act == "allow" and kinds is None and kind not in TOOLS:
                return "ask"
            return act
    return "ask" if default == "allow" and kind not in TOOLS else default


def best(options: list[PermissionOption], *wanted: str) -> str | None:
    """The first of these kinds that is offered."""
    offered = [option.kind for option in options]
    return next((kind for kind in wanted if kind in offered), None)


def check_sent(act: Any, options: list[PermissionOption]) -> None:
    """A deny sends no allow; an allow sends a reject only where there is nothing to allow with."""
    option = choose(act, options).option
    sent = option.kind if option else None
    allow, reject = best(options, "allow_once", "allow_always"), best(options, "reject_once", "reject_always")
    assert sent == (reject if act == "reject" else allow or reject), (act, options)


def test_no_decision_of_any_rules_sends_an_option_of_the_other_meaning() -> None:
    """Rules × defaults × kinds, each with a few of all lists of options in all orders, against the rule in words."""
    lists = itertools.cycle(OPTION_LISTS)
    seen = 0
    for rows in itertools.chain.from_iterable(itertools.product(ROWS, repeat=length) for length in range(3)):
        for default in ("allow", "reject", "ask"):
            rules = policy(*({"action": act, "kind": kinds} for act, kinds in rows), default=default)
            for kind in (*TOOLS, *NO_TOOLS):
                decided = action(rules, kind)
                assert decided == stated(rows, default, kind), (rows, default, kind)
                for options in itertools.islice(lists, 3) if decided != "ask" else ():
                    check_sent(decided, options)
                    seen += 1
    assert seen > 10_000


@pytest.mark.parametrize("act", ["allow", "reject"])
def test_every_list_of_options_is_answered_by_the_meaning_of_its_kinds(act: str) -> None:
    """All of them, in all orders."""
    assert len(OPTION_LISTS) > 200
    for options in OPTION_LISTS:
        check_sent(act, options)


# ---------------------------------------------------------------- what decides


def test_the_first_rule_that_matches_decides_and_is_named() -> None:
    """By its number and in words."""
    rules = policy(
        {"action": "reject", "kind": "delete"},
        {"action": "ask", "kind": ["edit", "move"], "path": "/data"},
        {"action": "allow", "tool": ("git*", "ls"), "title": "git *"},
        default="ask",
    )
    assert (
        rules.rule(request("edit", locations=[{"path": "/data/x"}])).by == "rule 2: ask kind edit or move, path /data"
    )
    ruling = rules.rule(request(name="git", title="git log"))
    assert (ruling.action, ruling.rule, ruling.explicit) == ("allow", 3, True)
    assert ruling.by == "rule 3: allow tool git* or ls, title git *"
    last = rules.rule(request(name="git", title="rm"))
    assert (last.action, last.by, last.rule, last.explicit) == ("ask", "default", None, False)


def test_without_rules_everything_is_rejected() -> None:
    """The default is to be safe."""
    assert PermissionPolicy().rule(request("read")).action == "reject"


def test_a_rule_without_fields_matches_everything() -> None:
    """It says so in words."""
    assert policy({"action": "allow"}).rule(request()).by == "rule 1: allow everything"


@pytest.mark.parametrize("kind", NO_TOOLS)
def test_what_is_no_tool_is_asked_about_where_a_rule_or_the_default_would_allow_it(kind: str) -> None:
    """It may mean anything, such as leaving the plan mode; the reason says so."""
    for rules in (policy({"action": "allow"}), policy(default="allow"), policy({"action": "allow", "title": "*"})):
        ruling = rules.rule(request(kind, title="x"))
        assert ruling.action == "ask"
        assert "is no tool" in (ruling.why or "")


def test_a_switch_of_modes_is_allowed_by_a_rule_that_names_it() -> None:
    """Somebody has thought of it."""
    assert action(policy({"action": "allow", "kind": "switch_mode"}), "switch_mode") == "allow"


def test_a_call_with_a_diff_is_an_edit_too() -> None:
    """Whatever it calls itself, but for those that change files in another way."""
    diff: dict[str, Any] = {"content": [{"type": "diff", "path": "/x", "newText": ""}]}
    assert action(policy({"action": "allow", "kind": "read"}), "read", **diff) == "reject"
    assert action(policy({"action": "allow", "kind": ["read", "edit"]}), "read", **diff) == "allow"
    assert action(policy({"action": "allow", "kind": "delete"}), "delete", **diff) == "allow"
    assert action(policy({"action": "reject", "kind": "edit"}, default="allow"), "other", **diff) == "reject"


# ---------------------------------------------------------------- names and titles

TEXTS: list[tuple[str, str, bool, bool]] = [  # glob, title, to allow, to reject
    ("git *", "git status", True, True),
    ("git *", "  git status\n", True, True),
    ("git *", "Git status", False, True),
    ("git *", "gitk", False, False),
    ("git *", "git status\nrm -rf /", False, True),
    ("rm *", "git status\nrm -rf /", False, True),
    ("rm *", "git status\r\u2028rm -rf /", False, True),
    ("git *", "git\u200b status", False, True),
    ("git *", "git \u202esutats", False, True),
    ("git *", "\x1b[2Kgit status", False, False),
    ("rm *", "\u200brm x", False, True),
    ("rm -rf *", "rm\t-rf /", False, True),
    ("rm -rf *", "rm  -rf /", False, True),
    ("rm -rf *", "rm\n-rf /", False, True),
    ("rm  -rf *", "rm -rf /", False, True),
    ("rm *", "\uff52\uff4d x", False, True),
    ("rm *", "r\u0301m x", False, True),
    ("rm *", "rm\ufe0f x", False, True),
    ("rm *", "rm\u00a0x", False, True),
    ("gr[öo]ße*", "größer", True, True),
    ("?", "ab", False, False),
    ("[!a]", "b", True, True),
    ("*", "", False, False),
    ("*", "a" * 10_001, False, True),
    ("b", "a" * 10_001, False, True),
]


@pytest.mark.parametrize(("glob", "text", "allows", "rejects"), TEXTS)
@pytest.mark.parametrize("field", ["tool", "title"])
def test_a_glob_allows_only_what_is_seen_and_rejects_what_may_be_meant(
    field: str, glob: str, text: str, *, allows: bool, rejects: bool
) -> None:
    """In doubt a rule that allows does not match, and one that rejects or asks does."""
    given = {"name" if field == "tool" else "title": text}
    assert action(policy({"action": "allow", field: glob}), **given) == ("allow" if allows else "reject")
    assert action(policy({"action": "reject", field: glob}, default="allow"), **given) == (
        "reject" if rejects else "allow"
    )
    assert action(policy({"action": "ask", field: glob}), **given) == ("ask" if rejects else "reject")


def test_a_request_without_a_name_or_a_title_matches_no_glob() -> None:
    """Nothing is known of it."""
    for field in ("tool", "title"):
        for act in ("allow", "ask", "reject"):
            rules = policy({"action": act, field: "*"}, default="ask" if act == "reject" else "reject")
            assert rules.rule(request()).by == "default"


def test_a_glob_full_of_stars_is_matched_in_no_time() -> None:
    """Titles are the agent's, and long."""
    title = "a" * 10_000
    assert action(policy({"action": "allow", "title": "*a" * 40 + "b"}), title=title) == "reject"


# ---------------------------------------------------------------- construction

WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "action"),
    ({"action": "alow"}, 'must be allow, reject or ask, not "alow"; did you mean "allow"?'),
    ({"action": None}, "must be allow, reject or ask"),
    ({"action": "ask", "kind": "raed"}, 'switch_mode or other, not "raed"; did you mean "read"?'),
    ({"action": "ask", "kind": ["read", "Edit"]}, 'not "Edit"; did you mean "edit"?'),
    ({"action": "ask", "kind": []}, "must not be empty"),
    ({"action": "ask", "kind": 5}, "not 5 without quotes"),
    ({"action": "ask", "kinds": "read"}, "Rule has no 'kinds'; did you mean 'kind'?"),
    ({"action": "ask", "tool": ""}, "one line of visible text"),
    ({"action": "ask", "tool": [b"x"]}, "must be a text"),
    ({"action": "ask", "title": "a\nb"}, "one line of visible text"),
    ({"action": "ask", "title": "a\u200b"}, "one line of visible text"),
    ({"action": "ask", "path": ""}, "the path of a directory"),
    ({"action": "ask", "path": "a\0b"}, "the path of a directory"),
    ({"action": "ask", "path": "/data/*"}, "leave the * out"),
    ({"action": "ask", "path": "file:///data"}, "no URI"),
    ({"action": "ask", "path": "$HOME/x"}, "no variable"),
    ({"action": "ask", "path": "~nobody_known_here/x"}, "not known here"),
    ({"action": "ask", "path": {"a": "b"}}, "a text or a list of texts"),
]


@pytest.mark.parametrize("rules", [Rule(action="allow"), {Rule(action="allow")}], ids=["one", "a set"])
def test_rules_that_are_no_list_are_told_so_once(rules: Any) -> None:
    """One rule is a mapping to pydantic, which would complain of each of its fields; a set has no order."""
    with pytest.raises(ValidationError) as caught:
        PermissionPolicy(rules=rules)
    (error,) = caught.value.errors()
    assert (error["loc"], error["msg"]) == (
        ("rules",),
        "Value error, must be a list of rules, in order: rules=[Rule(…)]",
    )


@pytest.mark.parametrize(("fields", "says"), WRONG)
def test_a_wrong_rule_names_the_rule_and_the_correction(fields: dict[str, Any], says: str) -> None:
    """When it is built: a rule that can never match is a gap."""
    with pytest.raises(ValidationError) as caught:
        Rule(**fields)
    assert says in str(caught.value)


def test_a_wrong_policy_is_told_likewise() -> None:
    """Its own fields."""
    for fields, says in (({"default": "deny"}, "allow, reject or ask"), ({"unasked": "eror"}, '"error"?')):
        with pytest.raises(ValidationError, match="must be") as caught:
            PermissionPolicy(**fields)  # type: ignore[arg-type]  # on purpose
        assert says in str(caught.value)


def test_every_kind_of_acp_may_be_named() -> None:
    """And equal policies are equal keys."""
    one, other = (policy({"action": "ask", "kind": get_args(ToolKind)}) for _ in range(2))
    assert (one, hash(one)) == (other, hash(other))


# ---------------------------------------------------------------- presets


@pytest.mark.parametrize("kind", [*TOOLS, *NO_TOOLS])
def test_the_presets_reject_allow_and_ask_treat_all_tools_alike(kind: str) -> None:
    """What is no tool is not allowed, but asked about."""
    said = {name: PRESETS[name].rule(request(kind)) for name in ("reject", "allow", "ask")}
    assert {name: ruling.by for name, ruling in said.items()} == {name: f"preset {name}" for name in said}
    assert said["reject"].action == "reject"
    assert said["allow"].action == ("allow" if kind in TOOLS else "ask")
    assert said["ask"].action == "ask"


INSIDE, OUTSIDE = {"path": "/project/x"}, {"path": "/etc/x"}
DIFF = {"type": "diff", "path": "/project/x", "newText": ""}
READ_ONLY: list[tuple[str, dict[str, Any], bool]] = [
    ("read", {"locations": [INSIDE]}, True),
    ("search", {"locations": [INSIDE, {"path": "/more/y"}]}, True),
    ("read", {"locations": [INSIDE, OUTSIDE]}, False),
    ("read", {"locations": [INSIDE, {"path": 5}]}, False),
    ("read", {}, False),
    ("search", {"locations": []}, False),
    ("think", {}, True),
    ("think", {"locations": [INSIDE]}, True),
    ("think", {"locations": [OUTSIDE]}, False),
    ("think", {"locations": [{"path": "~/x"}]}, False),
    ("read", {"locations": [INSIDE], "content": [DIFF]}, False),
    *((kind, {"locations": [INSIDE]}, False) for kind in ("edit", "execute", "fetch", "other", *NO_TOOLS)),
]


@pytest.mark.parametrize(("kind", "raw", "allowed"), READ_ONLY)
def test_read_only_allows_reading_inside_of_the_roots(kind: str, raw: dict[str, Any], *, allowed: bool) -> None:
    """And thinking, which needs no path; everything else is rejected."""
    asked = PermissionRequest("s", "c", "T", None, kind, (), raw, cwd="/project", roots=("/project", "/more"))
    ruling = PRESETS["read-only"].rule(asked)
    assert (ruling.action, ruling.by) == ("allow" if allowed else "reject", "preset read-only")


def test_the_presets_are_those_that_a_spec_takes() -> None:
    """They are written down twice: the types know one list, the code the other."""
    assert tuple(PRESETS) == PERMISSION_PRESETS == ("reject", "allow", "read-only", "ask")
