"""The cause of a failure reaches the caller: code, message and data of the agent's error, and its stderr."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Failure, Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


async def play(folder: Path, scenario: dict[str, Any], **spec: Any) -> RunResult:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK), **spec)
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go")


async def failing(folder: Path, error: Any) -> Failure:
    """How a run fails whose prompt is answered with this error object, verbatim."""
    frame = {"jsonrpc": "2.0", "id": "${id}", "error": error}
    result = await play(folder, {"prompt": [{"chunk": "partial"}, {"send": frame}]})
    assert (result.status, result.reason, result.text) == ("error", "agent_error", "partial")
    assert result.failure is not None
    json.loads(result.model_dump_json())
    return result.failure


DATA: dict[str, tuple[Any, str]] = {
    "an object": ({"details": "model X not supported"}, "model X not supported"),
    "a text": ("model X not supported", "its error data: model X not supported"),
    "a list": (["first cause", {"second": 2}], "first cause"),
    "false": (False, "its error data: false"),
    "characters of every kind": ({"é": "漢 \u2028 🎉"}, "漢"),
}


@pytest.mark.row("ERRMSG-1")
@pytest.mark.parametrize("name", DATA)
async def test_code_message_and_data_of_an_error_are_in_the_result(name: str, tmp_path: Path) -> None:
    """As fields, and in the one line that people see."""
    data, shown = DATA[name]
    failure = await failing(tmp_path, {"code": -32603, "message": "Internal error", "data": data})
    assert (failure.stage, failure.request) == ("prompt", "session/prompt")
    assert (failure.rpc_code, failure.rpc_message, failure.rpc_data) == (-32603, "Internal error", data)
    assert "Internal error (-32603)" in failure.message
    assert shown in failure.message
    assert not failure.retry_safe


@pytest.mark.row("ERRMSG-1", "SCHEMA-2")
@pytest.mark.parametrize("data", [None, {}], ids=repr)
async def test_data_that_say_nothing_are_not_talked_about(data: Any, tmp_path: Path) -> None:
    """Null is the same as absent."""
    failure = await failing(tmp_path, {"code": 500, "message": "boom", "data": data})
    assert (failure.rpc_code, failure.rpc_message, failure.rpc_data) == (500, "boom", data)
    assert "its error data" not in failure.message


ODD_ERRORS: dict[str, tuple[Any, int | None, str]] = {
    "a text": ("out of credit", None, "out of credit"),
    "true": (True, None, "True"),
    "nothing in it": ({}, None, "no message"),
    "a code that is text": ({"code": "429", "message": "slow down"}, None, "slow down"),
    "a code that is true": ({"code": True, "message": "slow down"}, None, "slow down"),
    "a message that is none": ({"code": 1, "message": {"x": 1}}, 1, "no message"),
    "a null message": ({"code": 0, "message": None}, 0, "no message"),
}


@pytest.mark.row("ERRMSG-1", "SCHEMA-2")
@pytest.mark.parametrize("name", ODD_ERRORS)
async def test_an_error_that_is_none_is_an_error_all_the_same(name: str, tmp_path: Path) -> None:
    """What there is of it is shown."""
    error, code, message = ODD_ERRORS[name]
    failure = await failing(tmp_path, error)
    assert failure.rpc_code == code
    assert failure.rpc_message is not None
    assert message in failure.rpc_message
    assert message in failure.message


@pytest.mark.row("ERRMSG-1")
async def test_large_data_are_cut_and_a_terminal_is_safe(tmp_path: Path) -> None:
    """The message is one screen at the most, without control characters."""
    data = {"trace": "frame \u001b[31m\n" * 50_000}
    failure = await failing(tmp_path, {"code": 1, "message": "m\u001b]0;x\u0007" * 2000, "data": data})
    assert len(json.dumps(failure.rpc_data)) < 200_000
    assert failure.rpc_message is not None
    assert max(len(failure.rpc_message), len(failure.message)) <= 4000
    assert "trace" in failure.message
    assert "\u001b" not in failure.message


@pytest.mark.row("ERRMSG-1", "SECRET-1")
async def test_secrets_in_an_error_are_redacted(tmp_path: Path) -> None:
    """In its message, in its data by key and by look, and in the one line."""
    token = "sk-ant-" + "Ab3" * 12
    data = {"headers": {"authorization": f"Bearer {token}"}, "apiKey": "plain", "url": f"https://u:{token}@h/"}
    failure = await failing(tmp_path, {"code": 1, "message": f"bad key {token}", "data": data})
    assert token not in failure.model_dump_json()
    assert "plain" not in json.dumps(failure.rpc_data)
    assert "bad key" in failure.message


STAGES: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "initialize": ({}, {}, "initialize", "initialize"),
    "authenticate": (
        {"auth": {"methods": [{"id": "k", "name": "K"}]}},
        {"auth_method": "k"},
        "authenticate",
        "authenticate",
    ),
    "new_session": ({}, {}, "session", "session/new"),
    "set_mode": (
        {"modes": {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}},
        {"mode": "b"},
        "session",
        "session/set_mode",
    ),
}


@pytest.mark.row("ERRMSG-1", "ERRMSG-2")
@pytest.mark.parametrize("hook", STAGES)
async def test_an_error_before_the_prompt_names_its_request_and_may_be_tried_again(hook: str, tmp_path: Path) -> None:
    """With data and with stderr."""
    base, spec, stage, request = STAGES[hook]
    error = {"code": -32603, "message": "broken", "data": {"why": "no disk"}}
    scenario = base | {"start": [{"stderr": "disk full on /var"}], hook: {"error": error}}
    result = await play(tmp_path, scenario, **spec)
    assert (result.reason, result.text) == ("agent_error", "")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.request, result.failure.retry_safe) == (stage, request, True)
    assert "no disk" in result.failure.message
    assert "disk full on /var" in result.failure.message


FAILURES: dict[str, list[dict[str, Any]]] = {
    "an error without data": [{"error": {"data": {}}}],
    "an exit": [{"exit": 1}],
    "a refusal": [{"stop": "refusal"}],
    "an odd stop reason": [{"stop": "odd"}],
    "no answer": [{"send": {"jsonrpc": "2.0", "id": "${id}"}}],
    "a cancel of its own": [{"stop": "cancelled"}],
}


@pytest.mark.row("ERRMSG-2")
@pytest.mark.parametrize("name", FAILURES)
async def test_stderr_is_attached_to_every_failure(name: str, tmp_path: Path) -> None:
    """Often the only clue."""
    result = await play(tmp_path, {"prompt": [{"stderr": "cause: quota used up"}, *FAILURES[name]]})
    assert result.status != "completed"
    assert "cause: quota used up" in result.diagnostics.stderr_tail


@pytest.mark.row("ERRMSG-4", "STOP-2")
@pytest.mark.parametrize("cause", ["HTTP 429 Too Many Requests", "error: invalid x-api-key (401)"])
async def test_a_providers_error_behind_an_empty_turn_can_be_seen(cause: str, tmp_path: Path) -> None:
    """Completed as the agent says, flagged as empty, with its stderr."""
    result = await play(tmp_path, {"prompt": [{"stderr": cause}, {"stop": "end_turn"}]})
    assert (result.status, result.reason, result.flags.empty) == ("completed", "end_turn", True)
    assert cause.split(":", maxsplit=1)[0] in result.diagnostics.stderr_tail
