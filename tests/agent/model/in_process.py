"""A tree of agents within one process: each is served over a memory pair, as its parent's process would serve it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio.lowlevel

from acp_agent import Context
from acp_agent.agent import Agent
from acp_agent.model.scripts import Mode, ModelScripts
from acp_agent.model.seam import Model
from acp_client.record.format.call_path import CallPaths
from acp_client.session.ending import EndRun
from tests.agent.model.model_agent import ModelAgent, no_model, rules
from tests.interaction.talk import talking


class Tree:
    """One run of the whole tree. `seed` decides how everybody dawdles."""

    def __init__(
        self, golden: Path | None, logs: Path | None, mode: Mode = "replay", *, seed: int = 0, **models: Model
    ) -> None:
        self._folders: dict[str, Any] = {"scripts": golden, "logs": logs, "mode": mode}
        self._replays = mode == "replay"
        self._random = random.Random(seed)  # noqa: S311  # no secret
        self._models = models

    async def run(self, *tasks: str, agent: str = "boss") -> list[str]:
        """What the agent answers to each task, in one session; an error in words."""
        return await asked(self.agent(agent), *tasks, call_path="")

    def agent(self, name: str) -> ModelAgent:
        """As one process has it."""
        make: Callable[[], Model] = (lambda: self._models.get(name) or rules(name)) if not self._replays else no_model
        return ModelAgent(
            name, ModelScripts(**self._folders), delegate=self._delegating, dawdle=self._dawdle, make_model=make
        )

    async def _dawdle(self) -> None:
        for _ in range(self._random.choice([0, 0, 1, 5, 40])):
            await anyio.lowlevel.checkpoint()

    @asynccontextmanager
    async def _delegating(self, context: Context, *, name: str) -> AsyncIterator[Any]:
        paths = CallPaths(context.call_path, context.session.requests)

        async def ask(child: Agent, task: str, path: str) -> SimpleNamespace:
            (text,) = await asked(child, task, call_path=path)
            return SimpleNamespace(for_model=lambda: text)

        assert name
        yield SimpleNamespace(request_for_model=lambda one, task: ask(self.agent(one), task, paths.next(one)))


async def asked(agent: Agent, *tasks: str, call_path: str) -> list[str]:
    """Prompts in one session of an agent, with this call path: what it answers to each."""
    answers: list[str] = []
    meta = {"_meta": {"acp-subagents": {"call_path": call_path}}} if call_path else {}
    async with talking(agent) as talk:
        for task in tasks:
            before = len(talk.session.turn.answer.text())
            talk.session.turn.phase = "running"
            params = {"sessionId": talk.session.id, "prompt": [{"type": "text", "text": task}], **meta}
            try:
                await talk.session.ask("prompt", "session/prompt", params, lambda _outcome: None)
            except EndRun as end:
                answers.append(end.ending.message)
            else:
                answers.append(talk.session.turn.answer.text()[before:])
    return answers
