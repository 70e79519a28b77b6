"""Logins: none by itself, one if it is configured, and a failure that says what there is and what was removed."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, RunResult, run_subagent
from tests.support.kernel import nothing_left
from tests.support.scenarios import QUICK, Scripted

METHODS = [{"id": "cached_token", "name": "Cached token"}, {"id": "browser", "name": "Log in with a browser"}]
LOCKED: dict[str, Any] = {"auth": {"methods": METHODS, "required": True}, "prompt": [{"chunk": "Welcome"}]}


async def run(child: Scripted) -> RunResult:
    """One run that leaves nothing."""
    with nothing_left(), anyio.fail_after(15):
        return await run_subagent(child.spec, "go")


@pytest.mark.row("AUTH-1")
async def test_a_locked_agent_is_auth_required_and_lists_its_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Id and name of each, and the names that the scrub removed: one of them may be the login. No browser opens."""
    monkeypatch.setenv("SOME_AGENT_API_KEY", "not shown")
    child = Scripted(tmp_path, LOCKED, limits=Limits(**QUICK))
    result = await run(child)
    assert (result.status, result.reason) == ("error", "auth_required")
    assert result.failure is not None
    for word in ("cached_token (Cached token)", "browser (Log in with a browser)", "SOME_AGENT_API_KEY"):
        assert word in result.failure.message
    assert "not shown" not in result.model_dump_json()
    assert (result.failure.rpc_code, result.failure.request) == (-32000, "session/new")
    assert result.failure.retry_safe
    assert child.methods() == ["initialize", "session/new"]


@pytest.mark.row("AUTH-1")
@pytest.mark.parametrize("methods", [None, [], [{"id": "t", "name": "Terminal", "type": "terminal"}]])
async def test_a_locked_agent_without_a_usable_method_is_auth_required_too(methods: Any, tmp_path: Path) -> None:
    """Nothing to choose from is no other reason."""
    auth = {"required": True} if methods is None else {"required": True, "methods": methods}
    result = await run(Scripted(tmp_path, {"auth": auth}, limits=Limits(**QUICK)))
    assert (result.status, result.reason) == ("error", "auth_required")


@pytest.mark.row("AUTH-1")
@pytest.mark.parametrize("method", ["cached_token", "browser"])
async def test_a_configured_method_logs_in_once_and_the_run_goes_on(method: str, tmp_path: Path) -> None:
    """It was asked for, so it is called, whichever it is."""
    child = Scripted(tmp_path, LOCKED, auth_method=method, limits=Limits(**QUICK))
    result = await run(child)
    assert (result.reason, result.text) == ("end_turn", "Welcome")
    assert child.methods() == ["initialize", "authenticate", "session/new", "session/prompt"]
    assert child.received()[1]["params"] == {"methodId": method}


@pytest.mark.row("AUTH-1")
async def test_a_login_that_does_not_help_is_not_tried_again(tmp_path: Path) -> None:
    """One login, one session/new; no loop."""
    error = {"code": -32000, "message": "token expired"}
    child = Scripted(
        tmp_path, {**LOCKED, "new_session": {"error": error}}, auth_method="browser", limits=Limits(**QUICK)
    )
    result = await run(child)
    assert (result.status, result.reason) == ("error", "auth_required")
    assert result.failure is not None
    assert "token expired" in result.failure.message
    assert child.methods() == ["initialize", "authenticate", "session/new"]


@pytest.mark.row("AUTH-1")
async def test_a_method_that_is_not_offered_is_not_tried(tmp_path: Path) -> None:
    """The failure names those that are."""
    child = Scripted(tmp_path, LOCKED, auth_method="sso", limits=Limits(**QUICK))
    result = await run(child)
    assert (result.status, result.reason) == ("error", "unsupported_capability")
    assert result.failure is not None
    assert "'sso'" in result.failure.message
    assert "cached_token, browser" in result.failure.message
    assert child.methods() == ["initialize"]


@pytest.mark.row("AUTH-1")
@pytest.mark.parametrize("code", [-32000, -32603, 401])
async def test_a_login_that_fails_is_an_error_of_the_login(code: int, tmp_path: Path) -> None:
    """Whatever its code, with the agent's own words."""
    scenario = {**LOCKED, "authenticate": {"error": {"code": code, "message": "wrong key", "data": "key 2 of 2"}}}
    child = Scripted(tmp_path, scenario, auth_method="cached_token", limits=Limits(**QUICK))
    result = await run(child)
    assert (result.status, result.reason) == ("error", "agent_error")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.request) == ("authenticate", "authenticate")
    assert (result.failure.rpc_code, result.failure.rpc_message) == (code, "wrong key")
    assert result.failure.rpc_data == "key 2 of 2"
    assert child.methods() == ["initialize", "authenticate"]


@pytest.mark.row("AUTH-1", "AUTH-5")
@pytest.mark.parametrize("code", [-32002, -32603, -32001])
async def test_another_error_for_a_session_asks_for_no_login(code: int, tmp_path: Path) -> None:
    """Only the protocol's own code means that."""
    child = Scripted(tmp_path, {"new_session": {"error": {"code": code, "message": "busy"}}}, limits=Limits(**QUICK))
    result = await run(child)
    assert (result.status, result.reason) == ("error", "agent_error")
    assert result.failure is not None
    assert result.failure.rpc_code == code


@pytest.mark.row("AUTH-3")
@pytest.mark.parametrize("deaf", [["eof"], ["eof", "SIGHUP"], ["eof", "SIGTERM"]])
async def test_a_login_that_hangs_headless_meets_the_startup_limit(deaf: list[str], tmp_path: Path) -> None:
    """It waits for a browser that nobody has; the child is ended, however deaf."""
    limits = Limits(**QUICK | {"startup_timeout_seconds": 0.8, "term_grace_seconds": 0.3})
    scenario = {**LOCKED, "ignore": deaf, "authenticate": [{"stderr": "open http://127.0.0.1:1/login"}, {"hang": True}]}
    child = Scripted(tmp_path, scenario, auth_method="browser", limits=limits)
    result = await run(child)
    assert (result.status, result.reason) == ("error", "startup_timeout")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.request) == ("authenticate", "authenticate")
    assert "open http://127.0.0.1:1/login" in result.failure.message
    assert result.flags.killed == ("kill" if "SIGTERM" in deaf else "term")
