"""Both real sides over a memory pair: our session on one end, a served agent on the other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from acp_agent import Context, serve
from acp_client.protocol.models import NewSessionRequest, NewSessionResponse
from acp_client.protocol.peer import Peer, Settled
from acp_client.protocol.streams import memory_pair
from acp_client.session.clock import Clock
from acp_client.session.connection import configure, initialize, new_session
from acp_client.session.ending import Ending, EndRun
from acp_client.session.session import Session
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec

SECONDS = 10.0
SOON_SECONDS = 4.0
"""Promised is one second; the rest is for a busy machine."""

Deed = Callable[[Context], Awaitable[str | None]]


class Doer:
    """An agent whose turns a test writes; `cancelled` are the sessions whose turns were."""

    name = "doer"
    version = "1"

    def __init__(self, deed: Deed) -> None:
        self.deed = deed
        self.cancelled: list[str] = []

    async def new_session(self, _request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session."""
        return None

    async def prompt(self, context: Context) -> str | None:
        """What the test says."""
        return await self.deed(context)

    async def cancel(self, session_id: str) -> None:
        """Note it."""
        self.cancelled.append(session_id)


async def nothing(_context: Context) -> str | None:
    """A turn without a word."""
    return None


async def hang(context: Context) -> str | None:
    """A turn that says that it began, and never ends by itself."""
    await context.text("began")
    await anyio.sleep_forever()
    return None


class Talk:
    """Our side of the conversation."""

    def __init__(self, **wishes: Any) -> None:
        self.spec = AgentSpec(command=("agent",), **wishes)
        self.ours, self.theirs = memory_pair()
        self.hub = EventHub(1000)
        self.endings: list[Ending] = []
        self.session = Session(self.spec, "run", self.hub, Clock(self.spec.limits), self.endings.append)
        self.peer = Peer(self.ours, self.session, self.session.dispatcher())
        self.session.peer = self.peer
        self.text_at_answer: str | None = None

    async def begin(self) -> str:
        """Shake hands and open the session."""
        agent = await initialize(self.session, forms=self.session.serves_forms)
        answer = await new_session(self.session, agent, self.spec, "/project", self.session.begin)
        await configure(self.session, answer.session_id, answer, self.spec)
        return answer.session_id

    async def prompt(self, *blocks: dict[str, Any]) -> Any:
        """A whole turn in the session; returns the raw result."""
        turn = self.session.turn
        turn.phase = "running"

        def settled(_outcome: Settled) -> None:
            self.text_at_answer = turn.answer.text()
            turn.phase = "late"

        params = {"sessionId": self.session.id, "prompt": list(blocks) or [{"type": "text", "text": "go"}]}
        return await self.session.ask("prompt", "session/prompt", params, settled)

    async def ask(self, method: str, **params: Any) -> Any:
        """Any request of ours; raises the wire's own error."""
        return await self.peer.request(method, params)

    async def failure(self, asking: Awaitable[Any]) -> Ending:
        """How a request fails."""
        try:
            result = await asking
        except EndRun as end:
            return end.ending
        raise AssertionError(f"it was answered with {result!r}")

    async def has_said(self, text: str) -> None:
        """Wait until the answer is this."""
        async for _ in self.hub.stream():
            if self.session.turn.answer.text() == text:
                return

    def cancel(self) -> None:
        """What a run does that is cancelled."""
        self.session.permissions.close()
        self.peer.notify("session/cancel", {"sessionId": self.session.id})


@asynccontextmanager
async def talking(agent: Any, *, begin: bool = True, **wishes: Any) -> AsyncIterator[Talk]:
    """A conversation that has begun; its end is the end of the agent's input, and the agent must go."""
    talk = Talk(**wishes)
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            served = anyio.Event()

            async def serve_it() -> None:
                await serve(agent, transport=talk.theirs)
                served.set()
                talk.theirs.close()

            tasks.start_soon(serve_it)
            tasks.start_soon(talk.peer.run)
            if begin:
                await talk.begin()
            yield talk
            talk.peer.close_send()
            await served.wait()
