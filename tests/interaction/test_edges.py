"""What an agent must not do, though its own code would: ask, linger, or offer what the client did not take."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_agent import Context, PermissionAnswer, Updates
from acp_client.protocol.errors import RESOURCE_NOT_FOUND
from acp_client.protocol.models import (
    AuthMethodAgent,
    AuthMethodTerminal,
    BooleanConfigOption,
    NewSessionResponse,
)
from tests.interaction.talk import Doer, nothing, talking
from tests.interaction.test_sessions import Able, code_of

SECONDS = 10


async def test_closing_a_session_does_not_wait_for_a_turn_that_cannot_be_cancelled() -> None:
    """It is answered within a second, like a cancel."""
    go = anyio.Event()

    async def wedge(context: Context) -> None:
        await context.text("began")
        with anyio.CancelScope(shield=True):
            await go.wait()

    agent = Able()
    agent.deed = wedge
    with anyio.fail_after(SECONDS):
        async with talking(agent) as talk, anyio.create_task_group() as tasks:
            tasks.start_soon(talk.prompt)
            await talk.has_said("began")
            await talk.ask("session/close", sessionId=talk.session.id)
            go.set()


async def test_nobody_is_asked_after_the_prompt_was_answered() -> None:
    """A turn that outlives its cancel gets a no without a question."""
    go = anyio.Event()
    answers: list[PermissionAnswer] = []

    async def late(context: Context) -> None:
        await context.text("began")
        with anyio.CancelScope(shield=True):
            await go.wait()
            answers.append(await context.request_permission(await context.tool_call("x")))

    ended = anyio.Event()
    with anyio.fail_after(SECONDS):
        async with talking(Doer(late)) as talk, anyio.create_task_group() as tasks:

            async def prompt() -> None:
                await talk.prompt()
                ended.set()

            tasks.start_soon(prompt)
            await talk.has_said("began")
            talk.peer.notify("session/cancel", {"sessionId": talk.session.id})
            await ended.wait()
            go.set()
            while not answers:
                await anyio.lowlevel.checkpoint()
            assert talk.session.permissions.records == []
    assert answers == [PermissionAnswer(allowed=False, cancelled=True)]


async def test_a_session_that_could_not_be_loaded_takes_no_prompt() -> None:
    """It is not there."""
    async with talking(Able()) as talk:
        assert await code_of(talk.ask("session/load", sessionId="nope", cwd="/", mcpServers=[])) == RESOURCE_NOT_FOUND
        assert await code_of(talk.ask("session/prompt", sessionId="nope", prompt=[])) == RESOURCE_NOT_FOUND


async def test_a_loaded_session_replays_its_history_before_it_is_answered() -> None:
    """Both sides of it, and nothing afterwards."""
    kept: list[Updates] = []

    class Replaying(Able):
        async def load_session(self, request: Any, history: Updates) -> None:
            await super().load_session(request, history)
            await history.user("question")
            await history.text("reply")
            kept.append(history)

    async with talking(Replaying()) as talk:
        seen: list[Any] = []
        talk.session.on_notification = lambda message: seen.append(message["params"])  # type: ignore[method-assign]
        await talk.ask("session/load", sessionId="old", cwd="/", mcpServers=[])
        assert [params["update"]["sessionUpdate"] for params in seen] == ["user_message_chunk", "agent_message_chunk"]
        assert {params["sessionId"] for params in seen} == {"old"}
        await kept[0].text("too late")
        assert len(seen) == 2


@pytest.mark.parametrize("has_terminal", [False, True])
async def test_a_login_in_a_terminal_is_offered_only_where_there_is_one(has_terminal: bool) -> None:  # noqa: FBT001
    """The others always."""
    agent = Doer(nothing)
    agent.auth_methods = (  # type: ignore[attr-defined]  # an optional attribute
        AuthMethodAgent(id="key", name="API key"),
        AuthMethodTerminal(id="tui", name="Log in here", args=["login"]),
    )
    async with talking(agent, begin=False) as talk:
        answer = await talk.ask(
            "initialize", protocolVersion=1, clientCapabilities={"auth": {"terminal": has_terminal}}
        )
    assert [method["id"] for method in answer["authMethods"]] == ["key", "tui"][: 1 + has_terminal]


@pytest.mark.parametrize("takes", [False, True])
async def test_boolean_options_are_sent_only_to_a_client_that_takes_them(takes: bool) -> None:  # noqa: FBT001
    """An older client would not understand them."""

    class Optioned(Doer):
        async def new_session(self, _request: Any) -> NewSessionResponse:
            option = BooleanConfigOption(id="web", name="Web", current_value=True)
            return NewSessionResponse(session_id="s", config_options=[option])

    capabilities: Any = {"session": {"configOptions": {"boolean": {}}}} if takes else {}
    async with talking(Optioned(nothing), begin=False) as talk:
        await talk.ask("initialize", protocolVersion=1, clientCapabilities=capabilities)
        answer = await talk.ask("session/new", cwd="/", mcpServers=[])
    assert len(answer["configOptions"]) == takes
