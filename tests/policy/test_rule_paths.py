"""Rules with a path: to allow, everything must lie inside for certain; to reject or ask, something may."""

import os
from pathlib import Path
from typing import Any

import pytest

from acp_client.policy.match.paths import MAX_PATHS, Places
from acp_client.policy.permission import PermissionRequest
from acp_client.policy.rules import PermissionPolicy, Rule


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """`data` with links in it, and what lies beside it."""
    for folder in ("data/sub", "data2", "outside/deep", "data/Caf\u00e9"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("data/a.txt", "data2/x", "outside/secret.txt"):
        (tmp_path / file).write_text("x")
    links = {
        "data/out": "../outside",
        "data/deep": "../outside/deep",
        "data/in": "sub",
        "data/dangling": "../outside/none",
        "data/loop": "loop",
        "data-link": "data",
        "data/%6cink": "sub",
        "data/link": "../outside",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


def asked(*paths: Any, kind: str = "read", cwd: Path | str = "/", **raw: Any) -> PermissionRequest:
    """A request that names these paths."""
    raw = {"locations": [{"path": str(path)} for path in paths]} | raw
    return PermissionRequest("s", "c", "T", None, kind, (), raw, cwd=str(cwd), roots=())


def answers(root: Path | str | list[Path], request: PermissionRequest) -> tuple[bool, bool]:
    """Does a rule on the root allow it, and does one reject it? One that asks goes with the latter."""
    allow, reject, ask = (
        PermissionPolicy(rules=[Rule(action=action, path=root)], default=default).rule(request)  # type: ignore[arg-type]
        for action, default in (("allow", "reject"), ("reject", "allow"), ("ask", "reject"))
    )
    assert (reject.action == "reject") == (ask.action == "ask")
    return allow.action == "allow", reject.action == "reject"


INSIDE = [
    "{t}/data/a.txt",
    "{t}/data",
    "{t}/data/",
    "{t}//data/./a.txt",
    "{t}/data/new/deeper/b.txt",
    "{t}/data/in/b.txt",
    "{t}/data-link/a.txt",
    "{t}/data-link/new.txt",
    "{t}/data2/../data/a.txt",
    "{t}/data/~x",
    "{t}/data/a.txt ",
    "a.txt",
    "./sub/../a.txt",
    "C:/a.txt",
    "file://{t}/data/a.txt",
    "file:{t}/data/a.txt",
    "FILE://localhost{t}/data/Caf%C3%A9",
]
OUTSIDE = [
    "{t}/data2/x",
    "{t}/data2",
    "{t}",
    "/",
    "{t}/outside/secret.txt",
    "{t}/data/../outside/secret.txt",
    "{t}/data/out/secret.txt",
    "{t}/data/out",
    "{t}/data/dangling",
    "{t}/data/out/new/x",
    "{t}/DATA2/a.txt",
    "../data2/x",
    "file://{t}/data/out/secret.txt",
]
IN_DOUBT = [
    "{t}/data/deep/../a.txt",  # the kernel follows the link first, many agents the dots
    "{t}/outside/deep/../../data/out/../a.txt",
    " {t}/outside/secret.txt",  # a name with a blank in the session's directory, or typed carelessly
    "~/x",
    " ~root",
    "",
    "  ",
    "{t}/data/\0",
    "{t}/outside/\0",
    "{t}/data/" + "x/" * 3000,
    "{t}/data/" + "x" * 300,
    "{t}/data/\ud800",
    "{t}/data/loop/x",
    "https://example.com{t}/data/a.txt",
    "http://localhost{t}/data/a.txt",
    "vscode-remote://{t}/data/a.txt",
    "file://host{t}/data/a.txt",
    "file://{t}/data/a.txt?x",
    "file://{t}/data/a.txt#/../../outside",
    "file:a.txt",
    "file://{t}/data/%2e%2e/outside/secret.txt",
    "file://{t}/data/%6cink/secret.txt",
    "file://{t}/data/%00",
    "/proc/self/cwd/data/a.txt",  # whose, ours or the agent's?
    "/proc//thread-self/cwd/a.txt",
    "{t}/../../../../../../../../proc/self/root{t}/data/a.txt",
    "/dev/fd/3",
    "/dev/stdin",
    "file:///proc/self/cwd/a.txt",
]


@pytest.mark.parametrize("path", INSIDE)
def test_what_is_inside_is_allowed_and_rejected(tree: Path, path: str) -> None:
    """After links, dots, and whatever spelling; what is not there yet too."""
    request = asked(path.format(t=tree), cwd=tree / "data")
    assert answers(tree / "data", request) == (True, True)


@pytest.mark.parametrize("path", OUTSIDE)
def test_what_is_outside_is_neither(tree: Path, path: str) -> None:
    """A link inside that points outside is outside; a name that only begins alike too."""
    assert answers(tree / "data", asked(path.format(t=tree), cwd=tree / "data")) == (False, False)


@pytest.mark.parametrize("path", IN_DOUBT)
def test_what_cannot_be_placed_for_certain_is_not_allowed_but_rejected(tree: Path, path: str) -> None:
    """And nothing raises, whatever an agent calls a path."""
    assert answers(tree / "data", asked(path.format(t=tree), cwd=tree / "data")) == (False, True)


def test_every_path_must_be_inside_to_allow_and_one_is_enough_to_reject(tree: Path) -> None:
    """Several roots count together."""
    inside, outside = tree / "data/a.txt", tree / "data2/x"
    assert answers(tree / "data", asked(inside, outside)) == (False, True)
    assert answers(tree / "data", asked(outside, inside)) == (False, True)
    assert answers([tree / "data", tree / "data2"], asked(inside, outside)) == (True, True)


def test_the_file_of_a_diff_is_a_path_of_the_call(tree: Path) -> None:
    """It is what will be written."""
    diff = {"type": "diff", "path": str(tree / "outside/x"), "newText": ""}
    request = asked(tree / "data/a.txt", content=[diff], kind="edit")
    assert answers(tree / "data", request) == (False, True)
    assert answers(tree / "outside", request) == (False, True)
    assert answers(tree, request) == (True, True)


@pytest.mark.parametrize("raw", [{}, {"locations": None}, {"locations": []}, {"locations": [], "content": "x"}])
def test_a_rule_with_a_path_does_not_match_a_call_that_names_none(tree: Path, raw: dict[str, Any]) -> None:
    """Nothing is known of where it goes; the default decides."""
    request = PermissionRequest("s", "c", "T", None, "read", (), raw, cwd=str(tree / "data"))
    assert answers(tree / "data", request) == (False, False)
    assert answers("/", request) == (False, False)


UNREADABLE: list[dict[str, Any]] = [
    {"locations": [{"path": "/data/a"}, {"path": 5}]},
    {"locations": [{"path": "/data/a"}, "/etc"]},
    {"locations": {"path": "/data/a"}},
    {"locations": [{"path": "/data/a"}], "content": [{"type": "diff", "newText": "x"}]},
]


@pytest.mark.parametrize("raw", UNREADABLE)
def test_a_place_that_is_no_text_may_be_anywhere(raw: dict[str, Any]) -> None:
    """The other paths do not make up for it."""
    assert answers("/", asked(**raw)) == (False, True)
    assert answers("/elsewhere", asked(**raw)) == (False, True)


def test_the_root_of_all_holds_every_path(tree: Path) -> None:
    """Absolute and relative ones."""
    assert answers("/", asked(tree / "data/a.txt", "x", "/")) == (True, True)


def test_a_rule_may_name_one_file(tree: Path) -> None:
    """And to reject it, it is the same file by another name."""
    secret = tree / "outside/secret.txt"
    os.link(secret, tree / "data/hard")
    assert answers(secret, asked(secret)) == (True, True)
    assert answers(secret, asked(tree / "data/out/secret.txt")) == (True, True)
    assert answers(secret, asked(tree / "data/hard")) == (False, True)


@pytest.mark.parametrize(("kind", "rejected"), [("delete", True), ("move", True), ("search", True), ("read", False)])
def test_what_is_done_to_a_whole_tree_is_done_to_all_in_it(tree: Path, kind: str, *, rejected: bool) -> None:
    """To delete a parent is to delete what a rule protects."""
    for above in (tree, tree / "data", "/", tree / "data-link"):
        assert answers(tree / "data/sub", asked(above, kind=kind)) == (False, rejected)
    assert answers(tree / "data/sub", asked(tree / "data2", kind=kind)) == (False, False)


def test_a_root_that_is_a_link_means_where_it_points(tree: Path) -> None:
    """At the time of the question: a link that is moved is followed."""
    rule = tree / "data-link"
    assert answers(rule, asked(tree / "data/a.txt")) == (True, True)
    rule.unlink()
    rule.symlink_to("data2")
    assert answers(rule, asked(tree / "data/a.txt")) == (False, False)
    assert answers(rule, asked(tree / "data2/x")) == (True, True)


def test_a_root_that_is_not_there_holds_nothing_but_what_is_named_so(tree: Path) -> None:
    """It may be made later."""
    assert answers(tree / "none", asked(tree / "none/x")) == (True, True)
    assert answers(tree / "none", asked(tree / "data/a.txt")) == (False, False)


def test_a_flood_of_paths_is_not_looked_at_to_its_end(tree: Path) -> None:
    """Each costs a look at the disk; what is not looked at may be anywhere."""
    few, many = ([f"d/{number}" for number in range(count)] for count in (MAX_PATHS, MAX_PATHS + 1))
    assert Places.of(asked(*few, cwd=tree)).all_inside([str(tree / "d")])
    assert answers(tree / "d", asked(*many, cwd=tree)) == (False, True)
    deep = [f"{tree}/data/{number}/" + "x/" * 1000 for number in range(50)]
    assert answers(tree / "data", asked(*deep)) == (False, True)


def test_a_relative_path_of_a_rule_is_made_absolute_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is built; `~` is the home of whoever writes it."""
    monkeypatch.chdir(tree)
    monkeypatch.setenv("HOME", str(tree))
    rule = Rule(action="allow", path=["data/", "~/data2", Path("x/../y"), "/"])
    monkeypatch.chdir("/")
    assert rule.path == (f"{tree}/data", f"{tree}/data2", f"{tree}/x/../y", "/")


def test_a_change_that_stands_alone_is_a_change_like_one_in_a_list(tree: Path) -> None:
    """Nobody else's content does, and it is not known what else it touches."""
    change = {"type": "diff", "path": str(tree / "data/a.txt"), "newText": ""}
    request = asked(tree / "data2/x", content=change)
    assert answers(tree / "data", request) == (False, True)
    rules = PermissionPolicy(rules=[Rule(action="reject", kind="edit")], default="allow")
    assert rules.rule(request).action == "reject"
