"""`subagent approvals`: what a reviewer sees and says, and the exit code; an agent's text cannot steer the terminal."""

import getpass
import json
import os
import pwd
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from acp_client.approvals.location import default_path
from acp_client.approvals.store import Store
from acp_client.cli import approvals as program
from acp_client.cli.command import execute
from acp_client.policy.approval import ROLES, Diff
from tests.approvals.questions import ALWAYS, NO, YES, add, approval, question, state_of, until
from tests.cli.command import Subagent

Start = Callable[..., Subagent]
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `subagent approvals …`."""
    code = execute(["approvals", *words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_roles_on_the_command_line_are_those_of_the_policy() -> None:
    """They are written down twice, so that a usage error loads nothing."""
    assert program.ROLES == ROLES


def test_the_list_has_a_line_for_each_that_waits(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Ids as short as tells them apart; what was decided on demand."""
    for name, title in (("a" * 20, "dig"), ("b" * 20, "fill"), ("a" * 10 + "c" * 10, "dig deeper")):
        add(store, question(name, title=title, role="senior"))
    store.answer("b", approval(role="admin"))
    code, out, _ = said(capsys, "list")
    lines = out.splitlines()
    assert code == 0
    assert [line.split()[0] for line in lines] == ["a" * 11, "a" * 10 + "c"]
    assert [word for word in ("senior", "23 h left", "digger", "execute", "shell: dig") if word not in lines[0]] == []
    code, out, _ = said(capsys, "list", "--all")
    assert [line.split()[1] for line in out.splitlines()] == ["waiting", "approved", "waiting"]
    assert "by alice:  digger" in out


@pytest.mark.parametrize("words", [("list", "--json"), ("show", "q-1", "--json")])
def test_the_file_may_be_named_after_the_command_too(
    words: tuple[str, ...], path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There it wins."""
    other = path.with_name("other.db")
    with closing(Store(other)) as store:
        add(store, question())
    assert said(capsys, "--db", "/nonexistent/x", *words, "--db", str(other))[0] == 0
    assert "q-1" in said(capsys, *words, "--db", str(other))[1]


def test_the_list_is_json_on_demand(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything, for programs."""
    add(store, question(arguments={"depth": 3}, diffs=(Diff("/a", None, "x"),)))
    code, out, _ = said(capsys, "list", "--json")
    (entry,) = json.loads(out)
    assert (code, entry["id"], entry["state"], entry["fault"]) == (0, "q-1", "waiting", None)
    assert entry["request"]["arguments"] == {"depth": 3}
    assert entry["request"]["diffs"] == [{"path": "/a", "old_text": None, "new_text": "x"}]


def test_an_approval_names_the_user_who_runs_it(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not whom the environment names."""
    monkeypatch.setenv("LOGNAME", "somebody")
    monkeypatch.setenv("USER", "somebody")
    assert getpass.getuser() == "somebody"
    add(store, question())
    code, out, _ = said(capsys, "approve", "q-1", "--why", "fine")
    user = pwd.getpwuid(os.getuid()).pw_name
    assert (code, out) == (0, f"approved  q-1 by {user} (standard)\n")
    assert (store.find("q-1").why, store.find("q-1").decided_by) == ("fine", user)


def test_who_decides_how_and_with_which_option_can_be_said(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """All of it is kept."""
    add(store, question(role="senior", options=(YES, ALWAYS, NO)))
    words = ("reject", "q-1", "--by", "zoë", "--role", "admin", "--option", "no", "--why", "no way")
    assert said(capsys, *words)[:2] == (0, "rejected  q-1 with option no by zoë (admin)\n")
    entry = store.find("q-1")
    assert (entry.decided_by, entry.decided_role, entry.option_id, entry.why) == ("zoë", "admin", "no", "no way")


def test_a_form_is_filled_in_on_the_command_line(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """As a JSON object."""
    add(store, question(subject="elicitation", schema=FORM))
    assert said(capsys, "approve", "q-1", "--content", '{"name": "x"}')[0] == 0
    assert store.find("q-1").content == {"name": "x"}


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["approve", "q-1"], 1, "the role standard may not decide this, only senior or admin may"),
        (["approve", "done", "--role", "admin"], 1, "was approved by alice (admin) before; the first answer holds"),
        (["reject", "done", "--role", "admin"], 1, "was approved by alice (admin) before"),
        (["reject", "late", "--role", "admin"], 1, "is expired: nobody answered in time"),
        (["approve", "choice"], 2, "--option: 'yes', 'always'"),
        (["approve", "choice", "--option", "no"], 2, "approves nothing; reject with it"),
        (["reject", "choice", "--option", "yes"], 2, "rejects nothing; approve with it"),
        (["approve", "choice", "--option", "maybe"], 2, "not offered; there are: 'yes', 'always', 'no'"),
        (["approve", "form"], 2, "asks for values ('name')"),
        (["approve", "form", "--content", '{"name": 3}'], 2, "'name' must be a text"),
        (["approve", "form", "--content", "{"], 2, "no JSON"),
        (["approve", "form", "--content", "[]"], 2, "no JSON object"),
        (["approve", "nobody"], 2, "no request has the id 'nobody'"),
        (["show", "\x1b[2J"], 2, r"no request has the id '\x1b[2J'"),
        (["approve", ""], 2, "no request has the id ''"),
        (["approve"], 2, "Missing argument 'ID'"),
        (["approve", "q-1", "--role", "king"], 2, "'king' is not one of"),
        (["approve", "q-1", "--by", " "], 2, "--by"),
        (["approve", "q-1", "--why", "\udcff"], 2, "not valid UTF-8"),
        (["--db", "/nonexistent/x", "list"], 2, "there is no '/nonexistent/x'"),
        (["--db", "/dev/null", "list"], 1, "no regular file"),
        (["--db", __file__, "list"], 1, "no SQLite database"),
    ],
)
def test_what_cannot_be_done_is_told_with_its_exit_code(
    words: list[str], code: int, why: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 for what was refused, 2 for what was typed; and nothing was decided."""
    add(store, question(role="senior"))
    add(store, question("choice", subject="choice", options=(YES, ALWAYS, NO)))
    add(store, question("form", subject="elicitation", schema=FORM))
    add(store, question("late", asked_at=time.time() - 100, timeout_seconds=10))
    add(store, question("done"))
    store.answer("done", approval(role="admin"))
    ended, out, error = said(capsys, *words)
    assert (ended, out) == (code, "")
    assert why in error.replace("\n", " ")
    assert "Traceback" not in error
    assert [state_of(store, name) for name in ("q-1", "choice", "form")] == ["waiting"] * 3


def test_the_queue_is_in_the_users_state_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And is there as soon as somebody looks."""
    monkeypatch.delenv("ACP_SUBAGENTS_APPROVALS", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", "relative/ones/do/not/count")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local" / "state" / "acp-subagents" / "approvals.db"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "state" / "acp-subagents" / "approvals.db"
    assert said(capsys, "list") == (0, "", f"nothing waits in '{file}'\n")
    assert said(capsys, "list", "--all") == (0, "", f"nothing is in '{file}'\n")
    assert file.is_file()


def test_a_queue_that_is_named_must_be_there(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A typing error must not look like a queue where nothing waits."""
    code, _, err = said(capsys, "list")
    assert (code, path.exists()) == (2, False)
    assert f"ACP_SUBAGENTS_APPROVALS: there is no '{path}'" in err.replace("\n", "")


def test_watch_prints_what_waits_and_then_each_new_request_until_an_interrupt(
    path: Path, store: Store, start: Start
) -> None:
    """Each once, also in a file that was not there when it began."""
    add(store, question("first"))
    watch = start("approvals", "--db", str(path), "watch", "--json")
    watch.read_until(b'"first"')
    store.answer("first", approval())
    add(store, question("second"))
    watch.read_until(b'"second"')
    watch.send(signal.SIGINT)
    assert watch.end() == 130
    assert [json.loads(line)["id"] for line in watch.stdout.splitlines()] == ["first", "second"]
    assert watch.stderr == b""


def test_watch_makes_the_queue_and_ends_when_it_is_taken_away(tmp_path: Path, start: Start) -> None:
    """Nothing would ever come."""
    path = tmp_path / "new.db"
    watch = start("approvals", "--db", str(path), "watch")
    until(path.exists)
    other = Store(path)
    add(other, question("first"))
    other.close()
    watch.read_until(b"first")
    path.unlink()
    assert watch.end() == 1
    assert b"removed or replaced" in watch.stderr
