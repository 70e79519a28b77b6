"""How a call path reaches the session that it is of: by the environment, and by `_meta`, which counts more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from acp_agent import Context
from acp_client import AgentSpec, Runner, SubAgent, SubAgents
from tests.agent.trades.client import connected
from tests.interaction.talk import Doer
from tests.support.scenarios import Scripted

VARIABLE: Final = "ACP_SUBAGENTS_CALL_PATH"
OURS: Final = {"capabilities": {"_meta": {"acp-subagents": {"complete": True, "history": True}}}}
SAY: Final = AgentSpec(command=("/bin/sh", "-c", f'echo "at <${VARIABLE}>" >&2'))
WAIT_SECONDS: Final = 30.0


def sent(child: Scripted) -> list[Any]:
    """The call path in the `_meta` of each prompt."""
    prompts = [one["params"] for one in child.received() if one.get("method") == "session/prompt"]
    return [one.get("_meta", {}).get("acp-subagents", {}).get("call_path") for one in prompts]


async def test_each_session_of_a_process_has_a_path_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client says counts, then the environment; a session keeps what its first prompt said."""
    seen: list[str] = []

    async def look(context: Context) -> str | None:
        seen.append(context.call_path)
        return None

    async with connected(agent=Doer(look)) as client:
        await client.prompt(tmp_path, "one")
        await client.prompt(tmp_path, "two")
        monkeypatch.setenv(VARIABLE, "primary/desk.4")
        await client.prompt(tmp_path, "three")
        session = client.said[-1]["result"]
        assert session["stopReason"] == "end_turn"
        await client.prompt(tmp_path, "four", extension={"call_path": "primary/judge.1"})
        opened = await client.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        for path in ("primary/judge.2", "primary/judge.3"):
            meta = {"acp-subagents": {"call_path": path}}
            prompt = [{"type": "text", "text": "five"}]
            await client.call(
                "session/prompt", {"sessionId": opened["result"]["sessionId"], "prompt": prompt, "_meta": meta}
            )
    assert seen == ["primary", "primary~2", "primary/desk.4~3", "primary/judge.1", "primary/judge.2", "primary/judge.2"]


async def test_a_request_to_a_sub_agent_says_which_it_is_in_every_turn(tmp_path: Path) -> None:
    """Also when another value is asked for; it is counted when it is made, not when it runs."""
    chunk = {"chunk": "no value"}
    child = Scripted(tmp_path, {**OURS, "prompt": [chunk]})
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner(max_concurrency=1) as runner:
            agents = SubAgents([SubAgent(name="judge", description="d", agent=child.spec)], runner=runner)
            first, second = agents.run("judge", task="one"), agents.run("judge", task="two", result_type=int)
            await second
            paths = sent(child)
            await first
    assert [*paths, *sent(child)] == ["primary/judge.2", "primary/judge.2", "primary/judge.1"]


async def test_a_run_that_is_no_request_is_a_primary_one_unless_an_agent_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is counted by its name, as a request is."""
    child = Scripted(tmp_path, {**OURS, "prompt": [{"chunk": "hi"}]}, name="my agent")
    paths = []
    for path in ("", "primary/desk.1"):
        monkeypatch.setenv(VARIABLE, path)
        with anyio.fail_after(WAIT_SECONDS):
            async with Runner() as runner:
                await (await runner.start(child.spec, "go")).result()
        paths += sent(child)
    assert paths == [None, "primary/desk.1/my-agent.1"]


async def test_the_environment_of_a_child_says_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was in its spec; a primary run may be given one by its spec, and inherits none."""
    monkeypatch.setenv(VARIABLE, "odd")
    forged = SAY.model_copy(update={"env": {VARIABLE: "primary/forged.1"}})
    with anyio.fail_after(WAIT_SECONDS):
        async with Runner() as runner:
            agents = SubAgents([SubAgent(name="judge", description="d", agent=forged)], runner=runner)
            results = [
                await agents.run("judge", task="one"),
                await (await runner.start(SAY, "one")).result(),
                await (await runner.start(forged, "one")).result(),
            ]
    told = [result.diagnostics.stderr_tail.strip() for result in results]
    assert told == ["at <primary/judge.1>", "at <>", "at <primary/forged.1>"]
