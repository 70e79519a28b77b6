"""What a served agent answers to requests: versions, directories, capabilities, order, and what it does not know."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import auth_methods, capabilities
from acp_client.protocol.errors import NOT_INITIALIZED, SESSION_BUSY
from acp_client.protocol.models import AuthMethodAgent, ClientCapabilities, PromptCapabilities
from tests.agent.served import Served

PREDEFINED = {-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32002}


@pytest.mark.row("SCHEMA-4")
def test_any_integer_version_is_answered_with_the_one_we_speak(odd: Served) -> None:
    """ACP v1, initialization: the agent's own latest where it does not know the client's."""
    for version in (1, 2, 0, 65_535, 2**40):
        assert odd.call("initialize", protocolVersion=version)["result"]["protocolVersion"] == 1, version


@pytest.mark.row("SCHEMA-4")
@pytest.mark.odd_frames
def test_a_version_of_another_kind_is_refused_with_a_hint(odd: Served) -> None:
    """-32602 that names both protocols; the client may then do it right."""
    bad: list[Any] = ["2024-11-05", "1", True, 1.0, None, -1, [1]]
    for params in ({}, *({"protocolVersion": version} for version in bad)):
        error = odd.call("initialize", **params)["error"]
        assert error["code"] == -32602, params
        assert "ACP" in error["message"], params
        assert "MCP" in error["message"], params
    assert odd.initialize()["protocolVersion"] == 1


@pytest.mark.row("CWD-1")
def test_a_relative_directory_is_refused(odd: Served) -> None:
    """With what is wrong with it; no session begins."""
    odd.initialize()
    for cwd in (".", "~", "~/x", "a/b", "", "../x"):
        error = odd.call("session/new", cwd=cwd, mcpServers=[])["error"]
        assert error["code"] == -32602, cwd
        assert "cwd" in error["message"], cwd


@pytest.mark.row("AUTH-5")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/new", {"cwd": "/", "mcpServers": []}),
        ("session/prompt", {"sessionId": "s", "prompt": []}),
    ],
)
def test_requests_before_initialize_have_a_code_of_their_own(odd: Served, method: str, params: dict[str, Any]) -> None:
    """No code that ACP has given another meaning: clients would begin a login, or report a lost file."""
    answer = odd.call(method, **params)
    assert answer["error"]["code"] == NOT_INITIALIZED
    assert not {NOT_INITIALIZED, SESSION_BUSY} & PREDEFINED


@pytest.mark.row("AUTH-5")
def test_only_the_agent_itself_asks_for_a_login(odd: Served) -> None:
    """With -32000, from its own code."""
    odd.initialize()
    answer = odd.call("session/new", cwd="/login", mcpServers=[])
    assert answer["error"] == {"code": -32000, "message": "log in first"}


def test_a_session_that_is_not_there_is_not_found(odd: Served) -> None:
    """-32002, and what to do."""
    odd.initialize()
    answer = odd.until(odd.prompt("say x", "no such session"))[-1]
    assert answer["error"]["code"] == -32002
    assert "session/new" in answer["error"]["message"]


@pytest.mark.odd_frames
def test_what_an_agent_does_not_have_is_not_found(odd: Served) -> None:
    """-32601, never a made-up success; notifications of that kind are ignored."""
    odd.initialize()
    for method in ("session/unknown", "_vendor/x", "session/load", "authenticate", "terminal/kill"):
        odd.notify(method, sessionId="s")
        assert odd.call(method, sessionId="s")["error"]["code"] == -32601, method


def test_request_ids_are_echoed_as_they_are(odd: Served) -> None:
    """Strings stay strings, whatever the number."""
    for request_id in ("b3c1-4f", 0, -5, 2**53 + 1, "", "0"):
        odd.send({"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": {"protocolVersion": 1}})
        answer = odd.frame()
        assert (answer["id"], type(answer["id"])) == (request_id, type(request_id))


@pytest.mark.odd_frames
def test_a_request_without_what_it_needs_is_refused_by_the_field(odd: Served) -> None:
    """-32602, and the connection goes on."""
    odd.initialize()
    bad: list[dict[str, Any]] = [{"mcpServers": []}, {"cwd": 7, "mcpServers": []}, {}]
    for params in bad:
        error = odd.call("session/new", **params)["error"]
        assert error["code"] == -32602, params
        assert "cwd" in error["message"], params


def test_blocks_that_were_not_offered_are_refused(odd: Served) -> None:
    """By their place and with what is taken; links are always taken."""
    session = odd.begin()
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    answer = odd.call("session/prompt", sessionId=session, prompt=[link, image])
    assert answer["error"]["code"] == -32602
    assert "prompt[1]" in answer["error"]["message"]


def test_sessions_have_ids_of_their_own(odd: Served) -> None:
    """Distinct ones."""
    odd.initialize()
    ids = {odd.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"] for _ in range(3)}
    assert len(ids) == 3


def test_the_echo_agent_says_back_text_and_links(start: Callable[..., Served]) -> None:
    """And tells its name."""
    echo = start("-m", "acp_agent", "echo")
    answer = echo.initialize()
    assert answer["agentInfo"] == {"name": "echo", "title": "Echo", "version": "1.0.0"}
    session = echo.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    request = echo.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "hello"}, link])
    first, second, response = echo.until(request)
    assert [one["params"]["update"]["content"]["text"] for one in (first, second)] == ["hello", "file:///a"]
    assert response["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (["--help"], 0, "echo"),
        ([], 2, "usage"),
        (["no_such_agent"], 2, "no_such_agent"),
        (["echo", "more"], 2, "takes no arguments"),
    ],
)
def test_a_wrong_command_line_is_told_what_there_is(
    start: Callable[..., Served], argv: list[str], code: int, says: str
) -> None:
    """On stderr with exit code 2; help on stdout with 0."""
    child = start("-m", "acp_agent", *argv)
    assert child.wait() == code
    out = b"".join(child.rest())
    assert bool(out) == (code == 0)
    assert says in (out + child.stderr()).decode()


class _Bare:
    """An agent with nothing optional."""

    name = "bare"
    version = "1"


class _Rich(_Bare):
    """An agent with all of it."""

    prompt_capabilities = PromptCapabilities(image=True)
    auth_methods = (AuthMethodAgent(id="key", name="API key"),)
    load_session = logout = list_sessions = delete_session = resume_session = close_session = None


def test_an_agent_advertises_what_it_has_and_nothing_else() -> None:
    """By its methods."""
    bare: Any = _Bare()
    rich: Any = _Rich()
    ours = {"acp-subagents": {"complete": True, "history": True}}
    assert capabilities(bare) == {"loadSession": False, "_meta": ours}
    assert auth_methods(bare, ClientCapabilities) == []
    assert capabilities(rich) == {
        "loadSession": True,
        "_meta": ours,
        "promptCapabilities": PromptCapabilities(image=True).to_wire(),
        "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
        "auth": {"logout": {}},
    }
    assert [method["id"] for method in auth_methods(rich, ClientCapabilities)] == ["key"]


def test_logs_go_to_stderr_at_the_level_that_was_asked_for(start: Callable[..., Served], tmp_path: Path) -> None:
    """One line an event, none of it on the wire."""
    program = (
        "import json, os\n"
        "from acp_agent.logs import get_logger\n"
        "for level in ('debug', 'error', 'nonsense'):\n"
        "    os.environ['ACP_AGENT_LOG'] = level\n"
        "    from acp_agent import logs; logs.configure()\n"
        "    get_logger().debug('quiet', level=level); get_logger().error('loud', level=level)\n"
        "print(json.dumps('done'))\n"
    )
    (tmp_path / "logging_agent.py").write_text(program)
    child = start("logging_agent.py")
    assert child.wait() == 0
    assert json.loads(child.line()) == "done"
    said = child.stderr().decode().splitlines()
    assert ["quiet" in line for line in said] == [True, False, False, False]
    assert ["loud" in line for line in said] == [False, True, True, True]
