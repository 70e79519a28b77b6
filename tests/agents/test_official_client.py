"""The official Python SDK's client drives our agents: sessions, permissions, cancels. It needs asyncio."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import anyio
import pytest
from acp.schema import AllowedOutcome, ClientCapabilities, DeniedOutcome, RequestPermissionResponse

REPO = Path(__file__).parents[2]
WAIT_SECONDS = 30.0
ECHO = ("-m", "acp_agent", "echo")
ODD = (str(REPO / "tests" / "support" / "odd_agent.py"),)


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The loop that the official SDK runs on."""
    backend: str = request.param
    return backend


class Client:
    """A client that keeps what it is told and answers permissions with the option of a kind, or not at all."""

    def __init__(self, kind: str | None = None) -> None:
        self.kind = kind
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.heard = anyio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Keep it, by session."""
        self.updates.append((session_id, update))
        self.heard.set()

    async def request_permission(self, options: Any, tool_call: Any, **_: Any) -> RequestPermissionResponse:
        """Choose by kind; without one wait for ever."""
        self.asked.append(tool_call)
        self.heard.set()
        if self.kind is None:
            await anyio.sleep_forever()
        if self.kind == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = next(option.option_id for option in options if option.kind == self.kind)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    def on_connect(self, conn: Any) -> None:
        """Nothing to do."""

    def text(self, session_id: str) -> str:
        """The answer's text in a session."""
        kept = [update for session, update in self.updates if session == session_id]
        return "".join(one.content.text for one in kept if one.session_update == "agent_message_chunk")


@asynccontextmanager
async def connected(agent: tuple[str, ...], client: Client) -> AsyncIterator[Any]:
    """The SDK's connection to a fresh agent, initialized; the agent must go by itself afterwards."""
    as_client: Any = client
    with anyio.fail_after(WAIT_SECONDS):
        spawned = acp.spawn_agent_process(as_client, sys.executable, *agent, env={"PYTHONPATH": str(REPO)}, cwd=REPO)
        async with spawned as (connection, process):
            answer = await connection.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
            assert answer.protocol_version == 1
            yield connection
        assert process.returncode == 0


async def _prompt(connection: Any, session_id: str, text: str) -> str:
    answer = await connection.prompt(session_id=session_id, prompt=[acp.text_block(text)])
    reason: str = answer.stop_reason
    return reason


async def test_several_prompts_in_several_sessions_are_answered_each_in_its_own() -> None:
    """The echo agent, as shipped."""
    client = Client()
    async with connected(ECHO, client) as connection:
        first = (await connection.new_session(cwd="/", mcp_servers=[])).session_id
        second = (await connection.new_session(cwd="/", mcp_servers=[])).session_id
        for word in ("one ", "two ", "three"):
            assert await _prompt(connection, first, word) == "end_turn"
        assert await _prompt(connection, second, "other") == "end_turn"
    assert client.text(first) == "one two three"
    assert client.text(second) == "other"


@pytest.mark.parametrize(
    ("kind", "said", "status"),
    [
        ("allow_once", "allowed=True cancelled=False option=yes", "completed"),
        ("reject_once", "allowed=False cancelled=False option=no", "failed"),
        ("cancelled", "allowed=False cancelled=True option=none", "failed"),
    ],
)
async def test_a_permission_is_asked_and_its_answer_obeyed(kind: str, said: str, status: str) -> None:
    """The call is shown before, and closed after it."""
    client = Client(kind)
    async with connected(ODD, client) as connection:
        session = (await connection.new_session(cwd="/", mcp_servers=[])).session_id
        assert await _prompt(connection, session, "ask") == "end_turn"
    assert client.text(session) == said
    calls = [update for _, update in client.updates if update.session_update.startswith("tool_call")]
    assert [call.status for call in calls] == ["pending", status]
    assert {call.tool_call_id for call in calls} == {client.asked[0].tool_call_id}


@pytest.mark.parametrize("deed", ["wait", "ask", "deaf"])
async def test_a_cancel_in_mid_turn_is_answered_cancelled_and_the_session_goes_on(deed: str) -> None:
    """Also while a permission is open, which this client never answers."""
    client = Client()
    async with connected(ODD, client) as connection:
        session = (await connection.new_session(cwd="/", mcp_servers=[])).session_id
        reasons = []

        async def prompt() -> None:
            reasons.append(await _prompt(connection, session, deed))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await client.heard.wait()
            while deed == "ask" and not client.asked:
                client.heard = anyio.Event()
                await client.heard.wait()
            await connection.cancel(session_id=session)
        assert reasons == ["cancelled"]
        assert await _prompt(connection, session, "say after") == "end_turn"
    assert client.text(session).endswith("after")


async def test_errors_reach_the_client_as_errors() -> None:
    """With code and data."""
    async with connected(ODD, Client()) as connection:
        session = (await connection.new_session(cwd="/", mcp_servers=[])).session_id
        with pytest.raises(acp.RequestError) as caught:
            await _prompt(connection, session, "refuse -31000")
    assert caught.value.code == -31000
    assert caught.value.data == {"because": "asked"}
