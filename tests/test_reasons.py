"""Every row of the reason table, with a real child that ends in exactly that status and reason."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import (
    REASONS,
    AgentSpec,
    ApprovalRequest,
    Approvals,
    Budget,
    Decision,
    Limits,
    PermissionPolicy,
    Runner,
    RunResult,
    run_subagent,
)
from tests.support.scenarios import QUICK, Scripted

PARTIAL = [{"chunk": "partial "}]
CHANGED = {"toolCallId": "t", "title": "Write x", "kind": "edit", "status": "completed"}
APPROVE_SOON = Approvals(timeout_seconds=0.2)


async def nobody(_request: ApprovalRequest) -> Decision:
    """An approver who never answers."""
    await anyio.sleep_forever()
    raise AssertionError


@dataclass(frozen=True)
class Row:
    """A scenario and what must come of it."""

    reason: str
    scenario: dict[str, Any]
    text: str = ""
    limits: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    prompt: Any = "go"
    asked: dict[str, Any] = field(default_factory=dict)
    says: str = ""
    retry_safe: bool = False


def _stop(word: Any) -> dict[str, Any]:
    return {"prompt": [*PARTIAL, {"stop": word}]}


ROWS = {
    "the turn ends": Row("end_turn", {"prompt": [{"chunk": "whole"}]}, "whole"),
    "cancelled by the agent": Row("cancelled_by_agent", _stop("cancelled"), "partial "),
    "max tokens": Row("max_tokens", _stop("max_tokens"), "partial "),
    "max turn requests": Row("max_turn_requests", _stop("max_turn_requests"), "partial "),
    "refusal": Row("refusal", _stop("refusal"), "partial "),
    "another stop reason": Row("unknown_stop_reason", _stop("pause"), "partial ", says="'pause'"),
    "a null stop reason": Row("unknown_stop_reason", _stop(None), "partial ", says="stopReason"),
    "a stop reason that is no string": Row("unknown_stop_reason", _stop(7), "partial ", says="7"),
    "no stop reason": Row("unknown_stop_reason", {"prompt": [*PARTIAL, {"respond": {}}]}, "partial "),
    "a null prompt result": Row("unknown_stop_reason", {"prompt": [*PARTIAL, {"respond": None}]}, "partial "),
    "no session in time": Row(
        "startup_timeout",
        {"initialize": [{"stderr": "loading the model"}, {"hang": True}]},
        limits={"startup_timeout_seconds": 0.7},
        says="loading the model",
        retry_safe=True,
    ),
    "talk instead of ACP": Row(
        "startup_timeout",
        {"start": [{"noise": "Choose: 1) login 2) quit"}], "initialize": [{"hang": True}]},
        limits={"startup_timeout_seconds": 0.7},
        says="Choose: 1) login 2) quit",
        retry_safe=True,
    ),
    "silence in the turn": Row(
        "idle_timeout", {"prompt": [*PARTIAL, {"hang": True}]}, "partial ", limits={"idle_timeout_seconds": 0.7}
    ),
    "too long": Row(
        "run_timeout",
        {"prompt": [*PARTIAL, {"repeat": {"forever": True, "steps": [{"thought": "."}, {"delay": 0.01}]}}]},
        "partial ",
        limits={"run_timeout_seconds": 1.0, "idle_timeout_seconds": 5.0},
    ),
    "too dear": Row(
        "budget_exceeded",
        {
            "prompt": [
                *PARTIAL,
                {"usage": {"used": 1, "size": 2, "cost": {"amount": 0.3, "currency": "USD"}}},
                {"hang": True},
            ]
        },
        "partial ",
        spec={"budget": Budget(max_cost_usd=0.2)},
        says="max_cost_usd",
    ),
    "nobody approves": Row(
        "approval_timeout",
        {"prompt": [*PARTIAL, {"permission": {}}]},
        "partial ",
        spec={"permission": PermissionPolicy(default="ask", approvals=APPROVE_SOON), "approver": nobody},
        says="within 0.2 s",
    ),
    "no value": Row(
        "output_invalid",
        {"prompt": PARTIAL},
        "partial partial ",
        asked={"result_type": int},
        says="repairs tried: 1",
    ),
    "a change that was not asked for": Row(
        "completed_without_asking",
        {"prompt": [*PARTIAL, {"tool_call": CHANGED}, {"hang": True}]},
        "partial ",
        spec={"permission": PermissionPolicy(unasked="error")},
        says="'Write x' (edit)",
    ),
    "another version": Row(
        "protocol_mismatch", {"initialize": {"add": {"protocolVersion": 2}}}, says="2", retry_safe=True
    ),
    "no session id": Row("protocol_error", {"new_session": {"result": {}}}, says="sessionId", retry_safe=True),
    "a null session": Row("protocol_error", {"new_session": {"result": None}}, says="sessionId", retry_safe=True),
    "an empty session id": Row(
        "protocol_error", {"new_session": {"result": {"sessionId": ""}}}, says="sessionId", retry_safe=True
    ),
    "no version": Row(
        "protocol_error", {"initialize": {"result": {"agentCapabilities": {}}}}, says="protocolVersion", retry_safe=True
    ),
    "pretty-printed frames": Row(
        "protocol_error", {"start": [{"raw": "{\n"}, {"hang": True}]}, says="one line", retry_safe=True
    ),
    "a first line that does not close": Row(
        "protocol_error", {"start": [{"raw": '{"jsonrpc": "2.0",\n'}, {"hang": True}]}, says="one line", retry_safe=True
    ),
    "a block that is not taken": Row(
        "unsupported_content",
        {},
        prompt=[{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
        says="prompt[0]",
        retry_safe=True,
    ),
    "a mode that is not there": Row("unsupported_capability", {}, spec={"mode": "plan"}, says="plan", retry_safe=True),
    "a model that is not there": Row(
        "unsupported_capability", {}, spec={"model": "huge"}, says="model", retry_safe=True
    ),
    "an option that is not there": Row(
        "unsupported_capability", {}, spec={"config_options": {"speed": "fast"}}, says="speed", retry_safe=True
    ),
    "a directory that is not taken": Row(
        "unsupported_capability", {}, spec={"additional_directories": ("/",)}, says="directories", retry_safe=True
    ),
    "a system prompt that is not taken": Row(
        "unsupported_capability", {}, spec={"system_prompt": "Be brief"}, says="system prompt", retry_safe=True
    ),
    "an MCP transport that is not taken": Row(
        "unsupported_capability",
        {},
        spec={"mcp_servers": [{"type": "http", "name": "x", "url": "http://127.0.0.1:1/", "headers": []}]},
        says="http",
        retry_safe=True,
    ),
    "a login is wanted": Row(
        "auth_required",
        {"auth": {"methods": [{"id": "key", "name": "API key"}], "required": True}},
        says="key (API key)",
        retry_safe=True,
    ),
    "an exit in the turn": Row(
        "agent_exited", {"prompt": [*PARTIAL, {"stderr": "out of memory"}, {"exit": 3}]}, "partial ", says="exit code 3"
    ),
    "an exit before the handshake": Row("agent_exited", {"start": [{"exit": 4}]}, says="exit code 4", retry_safe=True),
    "death by signal": Row("agent_exited", {"prompt": [*PARTIAL, {"signal": "SIGKILL"}]}, "partial ", says="signal 9"),
    "a closed stdout": Row(
        "agent_exited", {"prompt": [*PARTIAL, {"close": "stdout"}, {"hang": True}]}, "partial ", says="closed"
    ),
    "an error for the prompt": Row(
        "agent_error",
        {
            "prompt": [
                *PARTIAL,
                {"error": {"code": -32603, "message": "Internal error", "data": {"details": "no model"}}},
            ]
        },
        "partial ",
        says="Internal error",
    ),
    "an error for initialize": Row(
        "agent_error", {"initialize": {"error": {"code": -32603, "message": "broken"}}}, says="broken", retry_safe=True
    ),
    "an answer that is too long": Row(
        "limit_exceeded",
        {"prompt": [*PARTIAL, {"respond": {"stopReason": "end_turn", "_meta": {"pad": "x" * 9000}}}]},
        "partial ",
        limits={"max_frame_bytes": 8000},
        says="max_frame_bytes",
    ),
    "a line that never ends": Row(
        "limit_exceeded",
        {"prompt": [*PARTIAL, {"flood": {"forever": True, "line": True}}]},
        "partial ",
        limits={"max_frame_bytes": 100_000},
    ),
}


def check(result: RunResult, row: Row) -> None:
    """The promises of the contract for one row."""
    assert (result.reason, result.status) == (row.reason, REASONS[result.reason].status), result
    assert result.text == row.text
    assert (result.failure is None) == (result.status == "completed")
    if result.failure is not None:
        assert row.says in result.failure.message
        assert result.failure.retry_safe == row.retry_safe


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.odd_frames  # a system prompt and image blocks are refused before they are sent, but stand in the specs
async def test_a_run_ends_with_its_reason(name: str, tmp_path: Path) -> None:
    """What happened decides status, reason, text and failure."""
    row = ROWS[name]
    child = Scripted(tmp_path, row.scenario, limits=Limits(**QUICK | row.limits), **row.spec)
    with anyio.fail_after(20):
        check(await run_subagent(child.spec, row.prompt, **row.asked), row)


async def test_a_cancelled_run_is_aborted_and_keeps_its_text(tmp_path: Path) -> None:
    """Our cancel wins over the agent's word, which is kept."""
    child = Scripted(tmp_path, {"prompt": [*PARTIAL, {"hang": True}], "on_cancel": "end_turn"}, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            async for event in run.events():
                if event.type == "text":
                    await run.cancel()
            result = await run.result()
    assert (result.status, result.reason, result.stop_reason) == ("aborted", "cancelled", "end_turn")
    assert result.text == "partial "
    assert child.methods()[-1] == "session/cancel"


@pytest.mark.parametrize(
    ("command", "cwd", "says"),
    [
        (("/nonexistent/agent",), None, "no such program"),
        (("no-such-agent-anywhere",), None, "PATH: "),
        (("/",), None, "not an executable file"),
        ((sys.executable,), "/nonexistent/dir", "working directory"),
    ],
)
async def test_what_cannot_be_started_is_spawn_failed(command: tuple[str, ...], cwd: str | None, says: str) -> None:
    """A world that does not fit the spec is a result, not an exception."""
    result = await run_subagent(AgentSpec(command=command, cwd=cwd), "go")
    assert (result.status, result.reason) == ("error", "spawn_failed")
    assert result.failure is not None
    assert says in result.failure.message
    assert result.failure.stage == "spawn"
    assert result.failure.retry_safe


async def test_a_fault_of_ours_is_an_internal_error_and_ends_the_child(tmp_path: Path) -> None:
    """A policy object that breaks our own code must not become the caller's exception."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "never"}]}, limits=Limits(**QUICK))

    class Broken(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("a mapping that cannot be read")

    spec = child.spec.model_copy(update={"config_options": Broken(), "mode": None})
    with anyio.fail_after(20):
        result = await run_subagent(spec, "go")
    assert (result.status, result.reason) == ("error", "internal_error")


def test_every_reason_has_a_row_here() -> None:
    """No reason without a real child."""
    elsewhere = {"cancelled", "spawn_failed", "internal_error", "depth_exceeded"}
    assert {row.reason for row in ROWS.values()} | elsewhere == set(REASONS)
