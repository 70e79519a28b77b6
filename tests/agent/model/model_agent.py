"""An agent with a model loop that delegates: a boss asks three workers at once, each of whom asks two helpers.

A program (`model_agent.py NAME`, a process for each) and a class (for trees within one process). All workers get the
same task, and so do all helpers, and each answers with a word that its model made up when it was recorded: only the
call path tells whose script is whose. `MODEL_AGENT_JITTER` is for how many seconds at the most it dawdles, at random.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from acp_agent import Context, NewSessionRequest, NewSessionResponse, delegating, main
from acp_agent.model.loop import Conversation
from acp_agent.model.rules import Rule, RuleModel
from acp_agent.model.scripts import ModelScripts
from acp_agent.model.seam import Model, Tool, ToolCall

if TYPE_CHECKING:
    from acp_client import SubAgent

REPO: Final = Path(__file__).resolve().parents[3]
BELOW: Final = {"boss": ("worker", "clerk"), "worker": ("helper",), "clerk": ("helper",), "helper": ()}
TASK: Final = {"type": "object", "properties": {"task": {"type": "string"}, "background": {"type": "boolean"}}}

Delegate = Callable[..., AbstractAsyncContextManager[Any]]
Dawdle = Callable[[], Awaitable[None]]


def rules(name: str) -> RuleModel:
    """What the model of each does; its word differs from process to process, and from recording to recording."""
    word = secrets.token_hex(3)
    ask = {"task": "do your part"}
    every: dict[str, list[Rule]] = {
        "boss": [
            Rule("plan", "Asking three.", [("worker", ask), ("clerk", ask), ("worker", ask)], role="user"),
            Rule("background", "Starting.", [("worker", ask | {"background": True}), ("clerk", ask)], role="user"),
            Rule("in the background", "Waiting.", [("collect", {})], role="tool"),
            Rule("again", f"Once more: {word}", role="user"),
            Rule("^(.*)$", rf"All of it, {word}:\n\1", role="tool"),
        ],
        "worker": [
            Rule("part", "Asking two.", [("helper", ask), ("helper", ask)], role="user"),
            Rule(r"^(\S+)\n(\S+)$", rf"worker-{word}(\1,\2)", role="tool"),
        ],
        "clerk": [
            Rule("part", "", [("helper", ask), ("helper", ask)], role="user"),
            Rule(r"^(\S+)\n(\S+)$", rf"clerk-{word}(\1,\2)", role="tool"),
        ],
        "helper": [Rule("", f"helper-{word}")],
    }
    return RuleModel(every[name])


def no_model() -> Model:
    """For replays: they need none."""
    raise AssertionError("a replay asked for a model")


class ModelAgent:
    """One of them. `delegate` opens what it asks others by."""

    version = "0"

    def __init__(
        self, name: str, scripts: ModelScripts, *, delegate: Delegate, dawdle: Dawdle, make_model: Callable[[], Model]
    ) -> None:
        self.name = name
        self._scripts = scripts
        self._delegate = delegate
        self._dawdle = dawdle
        self._make_model = make_model
        self._conversations: dict[str, Conversation] = {}

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do."""

    async def prompt(self, context: Context) -> str | None:
        """One turn of its conversation; it completes with the last text."""
        talk = self._conversations.setdefault(context.session_id, Conversation())
        with self._scripts.turn(context, self._make_model) as model:
            async with self._delegate(context, name=self.name) as sub_agents, anyio.create_task_group() as tasks:
                errand = Errand(sub_agents, tasks, self._dawdle)
                tools = [Tool(name, f"Asks a {name}", TASK) for name in (*BELOW[self.name], "collect")]
                reply = await talk.say(context.text_of_prompt, model, tools, errand.call)
        await context.text(reply.message.text)
        return None

    async def cancel(self, session_id: str) -> None:
        """The block of the delegation ends what it started."""


class Errand:
    """The tools of one turn: each sub-agent, at once or in the background, and waiting for the latter."""

    def __init__(self, sub_agents: Any, tasks: Any, dawdle: Dawdle) -> None:
        self._sub_agents = sub_agents
        self._tasks = tasks
        self._dawdle = dawdle
        self._background: list[tuple[anyio.Event, list[str]]] = []

    async def call(self, call: ToolCall) -> str:
        """What the model gets of it."""
        arguments = json.loads(call.arguments)
        if call.name == "collect":
            return await self._collect()
        if not arguments.get("background"):
            return await self._ask(call.name, arguments["task"])
        done = anyio.Event(), list[str]()
        self._background.append(done)

        async def later() -> None:
            done[1].append(await self._ask(call.name, arguments["task"]))
            done[0].set()

        self._tasks.start_soon(later)
        return "in the background"

    async def _ask(self, name: str, task: str) -> str:
        await self._dawdle()
        reply = await self._sub_agents.request_for_model(name, task=task)
        await self._dawdle()
        told: str = reply.for_model()
        return told

    async def _collect(self) -> str:
        for done, _ in self._background:
            await done.wait()
        return "\n".join(text for _, texts in self._background for text in texts)


def declared(names: Sequence[str]) -> list[SubAgent]:
    """As processes of this program."""
    from acp_client import AgentSpec, SubAgent  # noqa: PLC0415  # only who delegates needs it

    command = (sys.executable, "-P", __file__)
    env = {"PYTHONPATH": str(REPO)}
    return [SubAgent(name=one, description=one, agent=AgentSpec(command=(*command, one), env=env)) for one in names]


def processes(context: Context, *, name: str) -> AbstractAsyncContextManager[Any]:
    """Delegates to processes."""
    return delegating(context, declared(BELOW[name]), name=name)


async def dawdle() -> None:
    """For a random time."""
    await anyio.sleep(random.random() * float(os.environ.get("MODEL_AGENT_JITTER", "0")))  # noqa: S311  # no secret


def program(name: str) -> None:
    """Serve one of them, as the environment says."""
    replays = os.environ.get("ACP_MODEL_MODE", "replay") == "replay"
    make_model = no_model if replays else lambda: rules(name)
    main(ModelAgent(name, ModelScripts.from_environment(), delegate=processes, dawdle=dawdle, make_model=make_model))


if __name__ == "__main__":
    program(sys.argv[1])
