"""The official SDK's client as a whole program: `official_client.py CHILD…` runs it once and prints its answer."""

import asyncio
import sys
from typing import Any

import acp
from acp.schema import ClientCapabilities


class _Printer:
    async def session_update(self, update: Any, **_: Any) -> None:
        sys.stdout.write(update.content.text)


async def main() -> None:
    """One run."""
    client: Any = _Printer()
    async with acp.spawn_agent_process(client, *sys.argv[1:]) as (connection, _process):
        await connection.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
        session = await connection.new_session(cwd="/", mcp_servers=[])
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block("go")])


asyncio.run(main())
