"""The echo agent: the smallest whole agent, and the one to test a client with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acp_client.protocol import models

if TYPE_CHECKING:
    from acp_agent.context import Context
    from acp_client.protocol.models import NewSessionRequest, NewSessionResponse


class Echo:
    """Answers with the prompt, block by block: a text as it is, a link by its URI."""

    name: Final = "echo"
    title: Final = "Echo"
    version: Final = "1.0.0"

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do."""

    async def prompt(self, context: Context) -> str | None:
        """Say each block back."""
        for block in context.prompt:
            if isinstance(block, models.TextContent):
                await context.text(block.text)
            elif isinstance(block, models.ResourceLink):
                await context.text(block.uri)
        return None

    async def cancel(self, session_id: str) -> None:
        """Nothing is left to stop."""
