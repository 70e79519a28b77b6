"""Ids, paths and times get names; nothing else changes, and what has its name keeps it."""

# ruff: noqa: S108  # names of temporary folders are what is tested
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client.record.format.normalise import Normaliser, comparable, path_pattern

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 2026-12-01T04:00:00.123Z.", "at {time}."),
        ("2026-12-01 04:00:00+01:00 and 2026-12-01T04:00:00", "{time} and {time}"),
        ("due 2026-12-01", "due 2026-12-01"),
        ("id 123e4567-e89b-12d3-a456-426614174000!", "id {uuid}!"),
        ("/tmp/x/a.txt", "{tmp}/x/a.txt"),
        ("/tmp/pytest-of-me/pytest-17/test_a0/a.txt", "{tmp}/test_a0/a.txt"),
        ("/private/var/folders/ab/c_1/T/x", "{tmp}/x"),
        ("/tmp/acp-tools-k3j2h4_x/s and /tmp/tmpab12cd34", "{tmp}/acp-tools-{random}/s and {tmp}/tmp{random}"),
        ("/tmpfile /var/tmp", "/tmpfile {tmp}"),
        ("/home/me/a /root/b /Users/you", "{home}/a {home}/b {home}"),
        ("/rootless", "/rootless"),
        ("/opt/v/lib/python3.11/site-packages/x/y.py", "{packages}/x/y.py"),
        ("/home/me/.venv/lib/python3/dist-packages/x", "{packages}/x"),
        ("see site-packages/ there", "see site-packages/ there"),
        ("http://127.0.0.1:8123/mcp http://[::1]:9/ http://example.com:80/", None),
    ],
)
def test_a_text_has_names_for_what_differs(text: str, expected: str | None) -> None:
    """Instants, UUIDs, temporary and home folders, installed packages, ports of this machine."""
    wanted = expected or "http://127.0.0.1:{port}/mcp http://[::1]:{port}/ http://example.com:80/"
    assert Normaliser().text(text) == wanted
    assert Normaliser().text(wanted) == wanted


def test_an_id_is_named_by_its_kind_and_order() -> None:
    """The same id has the same name, under another member too."""
    normaliser = Normaliser()
    value = {"sessionId": "b", "items": [{"toolCallId": "x"}, {"toolCallId": "y"}, {"session_id": "b"}]}
    assert normaliser.value(value) == {
        "sessionId": "{session-1}",
        "items": [{"toolCallId": "{call-1}"}, {"toolCallId": "{call-2}"}, {"session_id": "{session-1}"}],
    }
    assert normaliser.value({"sessionId": "a"}) == {"sessionId": "{session-2}"}
    assert normaliser.named("a") == "{session-2}"
    assert normaliser.named("c") is None


def test_an_id_is_found_inside_of_a_text_if_it_is_long() -> None:
    """A short one may be any word; alone it is the id."""
    normaliser = Normaliser()
    normaliser.value({"sessionId": "s1", "toolCallId": "call_12345678"})
    assert normaliser.text("s1 did call_12345678, not call_123456789") == "s1 did {call-1}, not call_123456789"
    assert normaliser.text("s1") == "{session-1}"
    assert normaliser.value({"call_12345678": 1}) == {"{call-1}": 1}


def test_without_learning_only_given_ids_have_names() -> None:
    """The other side's names are given to this side's ids, and taken back."""
    normaliser = Normaliser(learn=False)
    normaliser.give("live", "{session-1}")
    value = {"sessionId": "live", "toolCallId": "x"}
    assert normaliser.value(value) == {"sessionId": "{session-1}", "toolCallId": "x"}
    normaliser.forget("live")
    assert normaliser.value(value) == value


def test_given_folders_have_their_names() -> None:
    """The longest first; `/work` is no part of `/workshop`, a diff's `a/home/x/w` is one of the folder."""
    normaliser = Normaliser({"/work": "{cwd}", "/work/sub/": "{sub}", "/srv/me/p": "{p}"})
    assert normaliser.text("/work/a /work/sub/b /workshop my/work /work.") == "{cwd}/a {sub}/b /workshop my/work {cwd}."
    assert normaliser.text("diff a/srv/me/p/x b/srv/me/p/x") == "diff a{p}/x b{p}/x"
    normaliser.forget_path("/work/sub")
    assert normaliser.text("/work/sub") == "{cwd}/sub"


def test_the_root_is_named_only_where_it_stands_alone() -> None:
    """It is in every path."""
    normaliser = Normaliser({"/": "{cwd}"})
    assert normaliser.value({"cwd": "/", "path": "/etc/x"}) == {"cwd": "{cwd}", "path": "/etc/x"}


def test_numbers_are_times_under_the_names_of_times() -> None:
    """Others are what they are; a flag is no number."""
    value = {
        "updatedAt": 1,
        "created_at": 2.5,
        "durationMs": 3,
        "timestamp": 4,
        "retryAt": True,
        "size": 5,
        "list": [6],
    }
    times = dict.fromkeys(("updatedAt", "created_at", "durationMs", "timestamp"), "{time}")
    assert Normaliser().value(value) == {**times, "retryAt": True, "size": 5, "list": [6]}


def test_secrets_of_headers_and_variables_are_not_shown() -> None:
    """A value beside a name that says that it is one; trace ids differ each time."""
    value = [{"name": "Authorization", "value": "Bearer x"}, {"name": "MODE", "value": "x"}, {"traceparent": "00-1"}]
    expected = [
        {"name": "Authorization", "value": "{secret}"},
        {"name": "MODE", "value": "x"},
        {"traceparent": "{trace}"},
    ]
    assert Normaliser().value(value) == expected


@given(JSON)
def test_what_is_normalised_stays_so(value: Any) -> None:
    """Names are no ids."""
    once = Normaliser().value({"sessionId": "some-session", "value": value})
    assert Normaliser().value(once) == once
    json.dumps(once)


def test_frames_are_compared_without_their_ids() -> None:
    """Params that are empty are as good as none."""
    assert comparable({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {}}) == {"method": "x"}
    assert comparable({"jsonrpc": "2.0", "id": 1, "result": {}}) == {"result": {}}


def test_where_a_client_keeps_transcripts_is_no_difference() -> None:
    """All else beside it is one."""

    def prompt(**ours: Any) -> dict[str, Any]:
        return {"method": "session/prompt", "params": {"_meta": {"acp-subagents": ours, "x": 1}, "prompt": []}}

    assert comparable(prompt(depth=1, transcripts="/kept")) == comparable(prompt(depth=1))
    assert comparable(prompt(depth=1)) != comparable(prompt(depth=2, transcripts="/kept"))
    for odd in ({"_meta": None}, {"_meta": {"acp-subagents": "x"}}, ["x"]):
        assert comparable({"method": "session/prompt", "params": odd})["params"] == odd


def test_initialize_is_compared_by_asking_for_a_version() -> None:
    """Who asks does not matter; a date, as MCP has it, is no version."""
    one = {"method": "initialize", "params": {"protocolVersion": 1, "clientInfo": {"name": "a"}}}
    other = {"method": "initialize", "params": {"protocolVersion": 2, "clientCapabilities": {"x": 1}}}
    assert comparable(one) == comparable(other)
    for odd in ("2025-03-26", None, True):
        assert comparable({"method": "initialize", "params": {"protocolVersion": odd}}) != comparable(one)
    assert comparable({"method": "initialize"}) != comparable(one)


def test_a_long_text_is_looked_through_quickly() -> None:
    """Slashes, braces and words without end: linear."""
    for piece in ("/a", "!/x", "{tmp}/tmp", "-packages/", "/home/", "1234-5678-", "2026-12-01T"):
        Normaliser({"/a/b": "{cwd}"}).text(piece * 50_000)


@pytest.mark.parametrize("text", ["/a/b", "/a/b/c", "(/a/b)", "x/a/b", "/a/b."])
def test_a_path_is_found_where_it_stands(text: str) -> None:
    """Whatever is around it, but for more of a name."""
    assert path_pattern("/a/b").search(text)
    assert not path_pattern("/a/b").search("/a/bc /a/b.txt /a/b-c")
