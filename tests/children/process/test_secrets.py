"""Secrets are taken out before anything is cut, and before anything is shown, logged or raised."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, PermissionRequest, Runner, RunResult, run_subagent
from acp_client.session.events import StderrOutput
from tests.support.made_up_secrets import GITHUB, JWT, OPENAI, PEM
from tests.support.scenarios import QUICK, Scripted

SECRETS = (OPENAI, GITHUB, JWT, PEM.splitlines()[1])
HEADER = f"Authorization: Bearer {OPENAI}"


async def play(folder: Path, scenario: dict[str, Any], limits: dict[str, Any] | None = None, **spec: Any) -> RunResult:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK | (limits or {})), **spec)
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go")


def pieces(secret: str, size: int = 12) -> set[str]:
    """Every part of a secret that would be enough to see that it was cut and not taken out."""
    return {secret[start : start + size] for start in range(4, len(secret) - size + 1)}


def shows(text: str, secret: str) -> list[str]:
    """The pieces of a secret that a text holds."""
    return sorted(piece for piece in pieces(secret) if piece in text)


@pytest.mark.row("SECRET-1")
@pytest.mark.parametrize("padding", range(960, 1040, 16))
async def test_a_secret_across_the_cut_of_stderr_is_not_half_shown(padding: int, tmp_path: Path) -> None:
    """Wherever the cut falls in it, in one line that nothing ends."""
    steps = [{"stderr": f"start {HEADER} " + "z " * (padding // 2)}, {"exit": 1}]
    result = await play(tmp_path, {"prompt": steps}, {"stderr_tail_bytes": 1024})
    assert result.reason == "agent_exited"
    assert shows(result.model_dump_json(), OPENAI) == []
    assert "z " * 400 in result.diagnostics.stderr_tail


@pytest.mark.row("SECRET-1")
@pytest.mark.parametrize("padding", [440, 470, 495])
async def test_a_secret_across_the_cut_of_a_noise_line_is_not_half_shown(padding: int, tmp_path: Path) -> None:
    """Lines of noise are long, too; a known value that looks like nothing is found as well."""
    known = "zebra-crossing-at-dawn-" + "q" * 40
    noise = [{"noise": "n" * padding + f" {HEADER} tail"}, {"noise": "n" * padding + f" {known} tail"}]
    scenario = {"start": noise, "initialize": [{"hang": True}]}
    spec = {"env": {"MY_TOKEN": known}}
    result = await play(tmp_path, scenario, {"startup_timeout_seconds": 0.7}, **spec)
    assert result.reason == "startup_timeout"
    assert len(result.diagnostics.stdout_noise.first_lines) == 2
    shown = result.model_dump_json()
    assert shows(shown, OPENAI) == []
    assert shows(shown, known) == []


@pytest.mark.row("SECRET-1")
async def test_a_private_key_over_several_lines_of_noise_is_not_shown(tmp_path: Path) -> None:
    """Its lines alone look like nothing."""
    noise = [{"noise": line} for line in ("before", *PEM.splitlines(), "after")]
    result = await play(tmp_path, {"prompt": [*noise, {"chunk": "a"}]})
    assert result.reason == "end_turn"
    lines = result.diagnostics.stdout_noise.first_lines
    assert (lines[0], lines[-1]) == ("before", "after")
    assert shows("".join(lines), PEM.splitlines()[1]) == []


@pytest.mark.row("SECRET-1")
@pytest.mark.parametrize("padding", [0, 1960, 3960])
async def test_a_secret_across_the_cut_of_a_message_is_not_half_shown(padding: int, tmp_path: Path) -> None:
    """In the agent's error, its data, its stop reason, its version."""
    text = "." * padding + f" {HEADER} tail"
    error = {"code": 1, "message": text, "data": {"details": text, "list": [text]} if padding else text}
    endings: list[dict[str, Any]] = [
        {"prompt": [{"error": error}]},
        {"prompt": [{"stop": text}]},
        {"initialize": {"add": {"protocolVersion": text}}},
    ]
    for scenario in endings:
        result = await play(tmp_path, scenario)
        assert result.failure is not None
        assert shows(result.failure.model_dump_json(), OPENAI) == []


@pytest.mark.row("SECRET-1")
async def test_a_secret_in_pieces_on_stderr_is_taken_out_of_the_events_too(tmp_path: Path) -> None:
    """One byte at a time, and split where it is most awkward."""
    program = f"""
import sys, os, time
for part in {[HEADER[:20], HEADER[20:40], HEADER[40:], chr(10), *PEM, chr(10), "end", chr(10)]!r}:
    os.write(2, part.encode())
sys.exit(1)
"""
    spec = AgentSpec(command=(sys.executable, "-c", program), cwd=str(tmp_path), limits=Limits(**QUICK))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(spec, "go")
            told = "".join([event.text async for event in run.events() if isinstance(event, StderrOutput)])
            result = await run.result()
    assert result.reason == "agent_exited"
    for text in (told, result.model_dump_json()):
        assert [shows(text, secret) for secret in SECRETS] == [[]] * len(SECRETS)
    assert "[redacted]" in told


SERVERS: list[dict[str, Any]] = [
    {
        "name": "files",
        "command": "/bin/files",
        "args": [],
        "env": [{"name": "FILES_TOKEN", "value": "blue-walrus-7733"}, {"name": "PLAIN", "value": OPENAI}],
    },
    {
        "type": "http",
        "name": "web",
        "url": "https://example.org/mcp",
        "headers": [
            {"name": "Authorization", "value": "Bearer green-otter-8844"},
            {"name": "X-Api-Key", "value": "red-yak-9955"},
        ],
    },
]
VALUES = ("blue-walrus-7733", OPENAI, "green-otter-8844", "red-yak-9955")


@pytest.mark.row("SECRET-1", "ERRMSG-1")
async def test_secrets_of_mcp_servers_reach_the_agent_and_nothing_else(tmp_path: Path) -> None:
    """Though the agent repeats them on stderr, on stdout, in its error and in that error's data."""
    echo = "${params.mcpServers}"
    scenario = {
        "capabilities": {"mcpCapabilities": {"http": True}},
        "new_session": [
            {"stderr": f"starting {echo}"},
            {"noise": f"starting {echo}"},
            {
                "error": {
                    "code": -32602,
                    "message": f"bad servers: {echo}",
                    "data": {"params": "${params}", "text": echo},
                }
            },
        ],
    }
    child = Scripted(tmp_path, scenario, limits=Limits(**QUICK), mcp_servers=SERVERS)
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert child.received()[1]["params"]["mcpServers"] == SERVERS
    assert result.reason == "agent_error"
    for shown in (result.model_dump_json(), repr(result), repr(child.spec)):
        assert [value for value in VALUES if value in shown] == []
    assert "starting" in result.diagnostics.stderr_tail
    assert "files" in json.dumps(result.failure.rpc_data if result.failure else None)


@pytest.mark.row("SECRET-1")
async def test_nothing_secret_is_logged_whatever_goes_wrong(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Frames dropped, noise, errors, a policy that fails over what it read, at the most talkative level."""
    caplog.set_level(0)

    async def policy(request: PermissionRequest) -> Any:
        raise RuntimeError(f"the policy broke at {request.title} \x1b]0;owned\x07") from LookupError(HEADER)

    stray = {"jsonrpc": "2.0", "id": 99, "result": {"apiKey": OPENAI}}
    steps = [
        {"raw": {"frame": stray}},
        {"noise": HEADER},
        {"permission": {"tool_call": {"toolCallId": "t", "title": HEADER, "rawInput": {"token": OPENAI}}}},
        {"request": {"method": "_vendor/x", "params": {"key": OPENAI}}},
        {"stderr": HEADER},
        {"error": {"code": 1, "message": HEADER}},
    ]
    result = await play(tmp_path, {"prompt": steps}, mcp_servers=[SERVERS[0]], permission=policy)
    assert result.reason == "agent_error"
    assert result.permissions[0].outcome == "selected"
    logged = caplog.text + "".join(capfd.readouterr())
    assert shows(logged, OPENAI) == []
    assert "blue-walrus-7733" not in logged
    assert r"RuntimeError: the policy broke at" in logged
    assert r"\x1b]0;owned\x07" in logged
    assert "\x1b" not in logged


@pytest.mark.row("SECRET-1", "START-1")
async def test_a_secret_in_the_command_line_or_environment_is_not_in_a_failure_to_start(tmp_path: Path) -> None:
    """The failure names the command, not what is secret in it."""
    spec = AgentSpec(
        command=("/nonexistent/agent", "--api-key", "grey-heron-1122", OPENAI),
        cwd=str(tmp_path),
        env={"MY_PASSWORD": "pink-ibis-2233"},
    )
    result = await run_subagent(spec, "go")
    assert result.reason == "spawn_failed"
    for shown in (result.model_dump_json(), repr(result)):
        assert [value for value in ("grey-heron-1122", OPENAI, "pink-ibis-2233") if value in shown] == []
    assert "pink-ibis-2233" not in repr(spec)
