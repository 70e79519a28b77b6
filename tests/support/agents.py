"""Real agents and clients, where `scripts/install_agents` has put them, and how a test configures them.

Owns what each needs to run offline: its own HOME, its own project folder, a fake model. Installing them is left to
`scripts/tools/agents.py`, what the model says to `tests/support/fake_model.py`.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Runner, RunResult, run_subagent
from scripts.tools.agents import Entry, index_path
from scripts.tools.all_pythons import AGAIN_VARIABLE
from tests.support import mcp_shell
from tests.support.fake_model import NAME, Call, FakeModel, Step, fake_model
from tests.support.kernel import named, nothing_left
from tests.support.mcp import without_http

LOOK_SECONDS = 0.01
TURN_SECONDS = 90.0
"""For one turn of an agent that takes five seconds of CPU to start, on a busy machine."""


def real_agent(name: str) -> Entry:
    """How to start a real agent or client; skips the test where it is not installed.

    In CI a missing one fails the test: a skip would look like a check that was made. Not so where the installer has
    found that the machine cannot have it, and has said so.
    """
    index = index_path()
    found: dict[str, Entry] = json.loads(index.read_text()) if index.is_file() else {}
    if name in found:
        if "unavailable" in found[name]:
            pytest.skip(found[name]["unavailable"])
        return found[name]
    reason = f"{name} is not in {index}; scripts/install_agents installs it"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _once(name: str) -> Entry:
    """`real_agent`, for one that costs seconds of CPU a start: on the first Python of several only."""
    if AGAIN_VARIABLE in os.environ:
        pytest.skip(f"{name} is the same program whichever Python we run on: it was run on another")
    return real_agent(name)


def typescript_example(**fields: Any) -> AgentSpec:
    """The example agent of the TypeScript SDK, which reads one file unasked and asks before it edits another.

    It touches no file: all of it is told.
    """
    entry = _once("ts-sdk-example")
    return AgentSpec(**{"command": entry["argv"], "env": entry["env"], "cwd": "/", **fields})


def fast_agent_passthrough(folder: Path, **fields: Any) -> AgentSpec:
    """fast-agent, saying back what it is told: no model, no tools."""
    return _fast_agent(folder, ["--model", "passthrough"], {}, fields)


def fast_agent(folder: Path, model: FakeModel, **fields: Any) -> AgentSpec:
    """fast-agent with a shell of its own (`bash`, which it uses unasked where the client offers no terminal).

    It asks before each call of an MCP server's tool (`{server}__{tool}`): give it `mcp_servers=[mcp_shell.SPEC]`.
    """
    env = {"GENERIC_BASE_URL": model.base_url, "GENERIC_API_KEY": "none"}
    return _fast_agent(folder, ["--shell", "--model", f"generic.{NAME}"], env, fields)


def _fast_agent(folder: Path, arguments: list[str], env: dict[str, str], fields: Mapping[str, Any]) -> AgentSpec:
    home = {"FAST_AGENT_HOME": str(folder / "home" / "fast-agent")}  # else it writes into the project
    return _spec(folder, _once("fast-agent"), ["acp", *arguments], env | home, fields)


def opencode(
    folder: Path, model: FakeModel, *, ask: Sequence[str] = ("bash", "edit", "read"), **fields: Any
) -> AgentSpec:
    """opencode, which asks before it runs a command (`bash`), or reads or writes a file (`read`, `write`, `edit`).

    It calls an MCP server's tools (`{server}_{tool}`) unasked, but not with `ask=["*"]`. Beside the turn it asks the
    model for a title.
    """
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # comes with it
        "options": {"baseURL": model.base_url, "apiKey": "none"},
        "models": {NAME: {}},
    }
    config = {
        "provider": {"fake": provider},
        "enabled_providers": ["fake"],
        "model": f"fake/{NAME}",
        "small_model": f"fake/{NAME}",
        "permission": dict.fromkeys(ask, "ask"),
        "share": "disabled",
    }
    env = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "npm_config_offline": "true",  # else it installs a library for plugins at every start
    }
    return _spec(folder, _once("opencode"), ["acp"], env, fields)


def _spec(
    folder: Path, entry: Entry, arguments: list[str], env: Mapping[str, str], fields: Mapping[str, Any]
) -> AgentSpec:
    home, project = folder / "home", folder / "project"
    for one in (home, project):
        one.mkdir(exist_ok=True)
    offline = {"HOME": str(home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    command = [*entry["argv"], *arguments]
    return AgentSpec(**{"command": command, "env": {**entry["env"], **offline, **env}, "cwd": project, **fields})


def without_mcp_over_http(spec: AgentSpec) -> AgentSpec:
    """The same agent, saying that it takes MCP servers over stdio only."""
    return spec.model_copy(update={"command": (sys.executable, without_http.__file__, *spec.command)})


def _asking_fast_agent(folder: Path, model: FakeModel, **fields: Any) -> AgentSpec:
    return fast_agent(folder, model, mcp_servers=[mcp_shell.SPEC], **fields)


ASKING: dict[str, tuple[Callable[..., AgentSpec], str]] = {
    "fast-agent": (_asking_fast_agent, "shell"),
    "opencode": (opencode, "bash"),
}
"""Agents that ask before they run a command, and the end of the name of the tool by which they run it."""


async def command_turn(
    agent: str, folder: Path, *, then: Sequence[Step] = ("DONE",), **fields: Any
) -> tuple[RunResult, bool]:
    """One turn of an agent of `ASKING` whose model wants a command run; the result, and whether the command ran.

    `then` is what the model says once it has the command's result, `fields` is for `AgentSpec` (`permission`).
    """
    build, tool = ASKING[agent]
    ran = folder / "project" / "ran"  # outside of it opencode asks twice
    command = Call(tool, {"command": f"touch {ran}", "description": "Leave a trace"})
    with anyio.fail_after(TURN_SECONDS), fake_model([command, *then]) as model:
        result = await run_subagent(build(folder, model, **fields), "Leave a trace")
    return result, ran.exists()


async def cancelled_in_its_shell(build: Callable[..., AgentSpec], folder: Path) -> RunResult:
    """The result of a turn that is cancelled while a command runs in the agent's shell; nothing of it may be left."""
    started = folder / "started"
    os.mkfifo(started)
    reader = os.open(started, os.O_RDONLY | os.O_NONBLOCK)
    command = Call("bash", {"command": f"echo > {started}; tail -f {started}", "description": "Run for ever"})
    try:
        with anyio.fail_after(TURN_SECONDS), nothing_left(), fake_model([command, "DONE"]) as model:
            async with Runner() as runner:
                run = await runner.start(build(folder, model, permission="allow"), "Run it")
                await anyio.wait_readable(reader)
                while not named(folder):  # noqa: ASYNC110  # a shell that stays may not have begun the command yet
                    await anyio.sleep(LOOK_SECONDS)
                await run.cancel()
                result = await run.result()
    finally:
        os.close(reader)
    assert named(folder) == []
    return result
