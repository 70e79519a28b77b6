"""An echo agent on the official SDK, as small as its examples make one."""

import asyncio
import uuid
from typing import Any

import acp
from acp.schema import AgentCapabilities


class _Echo:
    _client: Any

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version, agent_capabilities=AgentCapabilities())

    async def new_session(self, **_: Any) -> acp.NewSessionResponse:
        return acp.NewSessionResponse(session_id=uuid.uuid4().hex)

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> acp.PromptResponse:
        for block in prompt:
            await self._client.session_update(session_id, acp.update_agent_message(block))
        return acp.PromptResponse(stop_reason="end_turn")


agent: Any = _Echo()  # what these runs call of an `acp.Agent`
asyncio.run(acp.run_agent(agent))
