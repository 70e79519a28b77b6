"""`subagent policy test`: which rule decides, what is sent, whom it would ask; and an exit code for each."""

import json
from pathlib import Path
from typing import Any

import pytest

from acp_client.cli.command import execute
from tests.cli.command import subagent

OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No\x1b[2J", "kind": "reject_once"},
]
CALL = {"toolCallId": "c", "title": "Read", "kind": "read", "locations": [{"path": "a.txt"}]}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, and we in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(
        "rules:\n"
        "  - {action: reject, path: secret}\n"
        "  - {action: allow, kind: read, path: .}\n"
        "  - {action: ask, tool: deploy*}\n"
        "approvals:\n"
        "  overrides: {deploy_all: {mode: always_ask, role: senior}, deploy_test: never_ask}\n"
        "  timeout_seconds: 60\n"
    )
    return tmp_path


def params(options: list[dict[str, Any]] | None = None, **call: Any) -> dict[str, Any]:
    """The params of a request."""
    return {"sessionId": "s", "toolCall": CALL | call, "options": OPTIONS if options is None else options}


def tried(capsys: pytest.CaptureFixture[str], policy: str, document: Any, *words: str) -> tuple[int, str]:
    """Exit code and stdout."""
    Path("r.json").write_text(json.dumps(document))
    code = execute(["policy", "test", policy, "r.json", *words])
    out, err = capsys.readouterr()
    return code, out or err


def test_the_rule_that_decides_and_the_option_that_is_sent_are_said(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    """The narrowest that allows, the one that rejects; the agent's text is made safe."""
    code, said = tried(capsys, "p.yaml", params())
    assert said == f"allow    rule 2: allow kind read, path {here}\nsends    allow_once: 'y' 'Yes'\n"
    assert code == 0
    code, said = tried(capsys, "p.yaml", params(locations=[{"path": "secret/x"}]))
    assert said == f"reject   rule 1: reject path {here}/secret\nsends    reject_once: 'n' 'No\\x1b[2J'\n"
    assert code == 5
    code, said = tried(capsys, "p.yaml", params(kind="edit"))
    assert (code, said.splitlines()[0]) == (5, "reject   default")


def test_a_person_that_would_be_asked_is_named_and_is_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """A script must not take it for an allow."""
    code, said = tried(capsys, "p.yaml", params(name="deploy_all", kind="execute"))
    assert (code, said) == (4, "ask      rule 3: ask tool deploy*\nasks     always_ask, role senior, 60 s to answer\n")
    code, said = tried(capsys, "allow", params(kind="switch_mode"))
    assert code == 4
    assert "why      kind 'switch_mode' is no tool" in said
    assert tried(capsys, "ask", params())[0] == 4


def test_what_is_never_asked_about_is_allowed_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    """The approval mode says so."""
    code, said = tried(capsys, "p.yaml", params(name="deploy_test", kind="execute"))
    assert (code, said.splitlines()[0]) == (0, "allow    rule 3: ask tool deploy*")
    assert "never_ask" in said


def test_an_allow_that_cannot_be_sent_is_a_rejection(capsys: pytest.CaptureFixture[str]) -> None:
    """What is sent counts."""
    code, said = tried(capsys, "allow", params([OPTIONS[2]]))
    assert (code, said.split()[0]) == (5, "allow")
    assert "sends    reject_once" in said
    assert tried(capsys, "allow", params([]))[0] == 5


def test_an_allow_that_may_mean_two_things_is_asked_about(capsys: pytest.CaptureFixture[str]) -> None:
    """As in a run: no order decides."""
    code, said = tried(capsys, "allow", params([OPTIONS[1], OPTIONS[1] | {"optionId": "y2"}]))
    assert (code, said.split()[0]) == (4, "ask")


@pytest.mark.parametrize(
    "document",
    [
        params(),
        {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params()},
        CALL,
        {"kind": "read", "locations": CALL["locations"]},
        {"toolCall": {"kind": "read", "locations": CALL["locations"]}, "options": OPTIONS},
    ],
    ids=["params", "frame", "call", "no ids", "no session"],
)
def test_a_request_is_params_a_frame_or_a_call(capsys: pytest.CaptureFixture[str], document: Any) -> None:
    """Ids decide nothing and may be left out."""
    assert tried(capsys, "p.yaml", document)[0] == 0
    assert tried(capsys, "read-only", document)[0] == 0


def test_nothing_is_said_of_options_where_none_were_given(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """A tool call alone offers none."""
    assert tried(capsys, "p.yaml", CALL) == (0, f"allow    rule 2: allow kind read, path {here}\n")


def test_the_directories_of_the_session_may_be_given(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """Relative paths of the request start at --cwd; presets look at both."""
    (here / "one").mkdir()
    (here / "two").mkdir()
    document = params(locations=[{"path": "a.txt"}, {"path": str(here / "two/b")}])
    assert tried(capsys, "read-only", document)[0] == 0
    assert tried(capsys, "read-only", document, "--cwd", "one")[0] == 5
    assert tried(capsys, "read-only", document, "--cwd", "one", "--add-dir", "two")[0] == 0


def test_as_json_it_is_one_document(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """With all that is known."""
    code, said = tried(capsys, "p.yaml", params(), "--json")
    assert code == 0
    assert json.loads(said) == {
        "action": "allow",
        "by": f"rule 2: allow kind read, path {here}",
        "rule": 2,
        "explicit": True,
        "why": None,
        "sends": {"outcome": {"outcome": "selected", "optionId": "y"}},
        "option_kind": "allow_once",
        "asks": None,
        "request": {"kind": "read", "tool": None, "title": "Read", "paths": ["a.txt"], "arguments": None},
    }
    asks = json.loads(tried(capsys, "p.yaml", params(name="deploy_all", kind="edit"), "--json")[1])["asks"]
    assert asks == {"mode": "always_ask", "role": "senior", "timeout_seconds": 60}


WRONG: list[tuple[str, Any, str]] = [
    ("alow", params(), "alow: there is no such file, and no such preset: reject, allow, read-only, ask"),
    ("broken.yaml", params(), 'broken.yaml:1:1: default: must be allow, reject or ask, not "alow"'),
    ("allow", [], "is no JSON object"),
    ("allow", {"a": 1}, "has no toolCall and is none"),
    ("allow", {"method": "session/update", "params": {}}, "the frame is no session/request_permission"),
    ("allow", {"method": "session/request_permission"}, "the frame has no params"),
    ("allow", {"toolCall": 5, "options": []}, "toolCall"),
    ("allow", params() | {"options": 5}, "options"),
]


@pytest.mark.parametrize(("policy", "document", "says"), WRONG)
def test_a_wrong_file_is_exit_code_2_and_one_line(
    capsys: pytest.CaptureFixture[str], policy: str, document: Any, says: str
) -> None:
    """On stderr."""
    Path("broken.yaml").write_text("default: alow")
    code, said = tried(capsys, policy, document)
    assert code == 2
    assert says in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("data", "says"), [(b"{", "is no JSON at 1:2"), (b"\xff", "UTF-8"), (b"[" * 100_000, "cannot be read")]
)
def test_a_request_that_is_no_json_is_told_so(capsys: pytest.CaptureFixture[str], data: bytes, says: str) -> None:
    """With the place."""
    Path("r.json").write_bytes(data)
    assert execute(["policy", "test", "allow", "r.json"]) == 2
    assert says in capsys.readouterr().err
    assert execute(["policy", "test", "allow", "none.json"]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_request_comes_from_stdin_too(here: Path) -> None:
    """As the whole program."""
    done = subagent("policy", "test", "read-only", "-", cwd=here, stdin=json.dumps(params()).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"allow    preset read-only\n")
