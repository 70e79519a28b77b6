"""A client for the agent's tests: one prompt over two real pipes, with everything that was said on them."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from acp_agent.agents.trades.agent import TradeFileExtractor
from acp_agent.server import serve
from acp_client.protocol.streams import FdTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from acp_agent.agent import Agent

INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {"_meta": {"acp-subagents": {"complete": True}}}}


@dataclass
class Client:
    """Speaks to the agent line by line. `options` are the permissions given, one a request, by option id."""

    transport: FdTransport
    options: list[str] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)
    _sent: int = 0
    _buffer: bytes = b""

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its response; what comes before it is kept in `said`."""
        self._sent += 1
        await self._send({"id": self._sent, "method": method, "params": params})
        while True:
            message = await self._receive()
            self.said.append(message)
            if message.get("method") == "session/request_permission":
                await self._send({"id": message["id"], "result": {"outcome": self._outcome()}})
            elif message.get("id") == self._sent:
                return message

    def _outcome(self) -> dict[str, str]:
        option = self.options.pop(0)
        return {"outcome": "cancelled"} if option == "cancelled" else {"outcome": "selected", "optionId": option}

    async def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        while data:
            data = data[self.transport.send_nowait(memoryview(data)) :]
            await self.transport.wait_sendable()

    async def _receive(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            self._buffer += await self.transport.receive()
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    @property
    def completed(self) -> list[Any]:
        """The structured values that turns completed with."""
        return [m["params"]["result"] for m in self.said if m.get("method") == "_acp_subagents/complete"]

    def updates(self, kind: str) -> list[dict[str, Any]]:
        """The updates of one kind, in order."""
        found = [m["params"]["update"] for m in self.said if m.get("method") == "session/update"]
        return [update for update in found if update["sessionUpdate"] == kind]

    def asked(self) -> list[dict[str, Any]]:
        """The permission requests."""
        return [m["params"] for m in self.said if m.get("method") == "session/request_permission"]

    async def prompt(self, cwd: Path, *blocks: dict[str, Any] | str, extension: object = None) -> dict[str, Any]:
        """Begin a session and prompt it once; `extension` is what goes under our key in `_meta`."""
        session = await self.call("session/new", {"cwd": str(cwd), "mcpServers": []})
        prompt = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        params: dict[str, Any] = {"sessionId": session["result"]["sessionId"], "prompt": prompt}
        if extension is not None:
            params["_meta"] = {"acp-subagents": extension}
        return await self.call("session/prompt", params)


@asynccontextmanager
async def connected(*options: str, agent: Agent | None = None) -> AsyncIterator[Client]:
    """A client of a fresh agent (a trade file extractor unless given), initialized."""
    served = agent or TradeFileExtractor()
    to_agent, to_client = os.pipe(), os.pipe()
    client = Client(FdTransport(to_client[0], to_agent[1]), list(options))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: serve(served, transport=FdTransport(to_agent[0], to_client[1])))
            await client.call("initialize", INITIALIZE)
            yield client
            client.transport.close()
