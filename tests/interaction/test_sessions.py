"""Handshake, sessions and optional methods between both real sides."""

import json
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_agent import Context, RpcError
from acp_client.protocol.errors import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    RESOURCE_NOT_FOUND,
    RequestFailed,
)
from acp_client.protocol.models import (
    AuthMethodAgent,
    ListSessionsResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptCapabilities,
    SetConfigOptionResponse,
)
from acp_client.session.connection import initialize
from tests.interaction.talk import Doer, hang, nothing, talking


class Able(Doer):
    """An agent with every optional method; `seen` are the requests that it got."""

    title = "Able"
    prompt_capabilities = PromptCapabilities(image=True)
    auth_methods = (AuthMethodAgent(id="key", name="API key"),)

    def __init__(self) -> None:
        super().__init__(nothing)
        self.seen: list[str] = []

    def _note(self, name: str) -> None:
        self.seen.append(name)

    async def authenticate(self, request: Any) -> None:
        """With a key."""
        self._note(f"authenticate {request.method_id}")

    async def logout(self, _request: Any) -> None:
        """Forget it."""
        self._note("logout")

    async def load_session(self, request: Any, _history: Any) -> None:
        """Only one can be loaded."""
        if request.session_id != "old":
            raise RpcError(RESOURCE_NOT_FOUND, "no such session")
        self._note("load")

    async def resume_session(self, request: Any) -> None:
        """Any."""
        self._note(f"resume {request.session_id}")

    async def list_sessions(self, _request: Any) -> ListSessionsResponse:
        """None."""
        return ListSessionsResponse(sessions=[])

    async def delete_session(self, request: Any) -> None:
        """Any."""
        self._note(f"delete {request.session_id}")

    async def close_session(self, _request: Any) -> None:
        """Any."""
        self._note("close")

    async def set_mode(self, request: Any) -> None:
        """Any."""
        self._note(f"mode {request.mode_id}")

    async def set_config_option(self, request: Any) -> SetConfigOptionResponse:
        """Any."""
        self._note(f"{request.config_id}={request.value}")
        return SetConfigOptionResponse(config_options=[])


async def code_of(asking: Any) -> int | None:
    """The code of an error answer."""
    with pytest.raises(RequestFailed) as caught:
        await asking
    return caught.value.code


# ---- initialize


async def test_an_agent_advertises_what_it_has_and_nothing_else() -> None:
    """A bare one nothing but our extension."""
    async with talking(Doer(nothing), begin=False) as talk:
        agent = await initialize(talk.session)
        assert agent.info == {"name": "doer", "version": "1"}
        assert agent.raw_capabilities == {
            "loadSession": False,
            "_meta": {"acp-subagents": {"complete": True, "history": True}},
        }
        assert agent.auth_methods == ()
    async with talking(Able(), begin=False) as talk:
        agent = await initialize(talk.session)
        assert agent.info == {"name": "doer", "version": "1", "title": "Able"}
        assert agent.raw_capabilities == {
            "loadSession": True,
            "_meta": {"acp-subagents": {"complete": True, "history": True}},
            "promptCapabilities": {"image": True},
            "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
            "auth": {"logout": {}},
        }
        assert [method.id for method in agent.auth_methods] == ["key"]


VERSIONS: list[tuple[Any, int]] = [(1, 1), (2, 1), (0, 1), (65535, 1)]


@pytest.mark.odd_frames
@pytest.mark.parametrize(("offered", "answered"), VERSIONS)
async def test_any_integer_is_answered_with_the_version_that_we_speak(offered: Any, answered: int) -> None:
    """Never echoed; also with the fields of a later version."""
    async with talking(Doer(nothing), begin=False) as talk:
        info = {"name": "x", "version": "1"}
        result = await talk.ask("initialize", protocolVersion=offered, info=info, capabilities={})
        assert (result["protocolVersion"], type(result["protocolVersion"])) == (answered, int)


@pytest.mark.odd_frames
@pytest.mark.parametrize("offered", ["2024-11-05", "1", True, 1.0, None, -1, [], {}], ids=repr)
async def test_a_version_that_is_no_integer_is_refused_and_initialize_can_be_repeated(offered: Any) -> None:
    """It is what a client of another protocol sends: the message says so."""
    async with talking(Doer(nothing), begin=False) as talk:
        with pytest.raises(RequestFailed, match="MCP") as caught:
            await talk.ask("initialize", protocolVersion=offered)
        assert caught.value.code == INVALID_PARAMS
        await talk.begin()
        assert await talk.prompt() == {"stopReason": "end_turn"}


CLIENTS: list[Any] = [None, {}, 5, {"fs": None, "terminal": "x", "session": []}]


@pytest.mark.odd_frames
@pytest.mark.parametrize("given", CLIENTS)
async def test_capabilities_of_a_client_that_cannot_be_read_are_none(given: Any) -> None:
    """The agent offers it nothing more."""
    seen: list[Context] = []

    async def look(context: Context) -> str | None:
        seen.append(context)
        return None

    async with talking(Doer(look), begin=False) as talk:
        await talk.ask("initialize", protocolVersion=1, clientCapabilities=given, _meta={"traceparent": "x"})
        talk.session.begin((await talk.ask("session/new", cwd="/project", mcpServers=[]))["sessionId"])
        await talk.prompt()
        client = seen[0].client
        assert (client.fs.read_text_file, client.terminal) == (False, False)


@pytest.mark.parametrize("method", ["session/new", "session/prompt", "session/close", "authenticate"])
@pytest.mark.odd_frames
async def test_nothing_is_served_before_initialize(method: str) -> None:
    """With a code of its own."""
    async with talking(Able(), begin=False) as talk:
        assert await code_of(talk.ask(method)) == NOT_INITIALIZED
        assert await code_of(talk.ask("_unknown")) == METHOD_NOT_FOUND


# ---- session/new

NEW: list[tuple[dict[str, Any], str]] = [
    ({"cwd": "relative", "mcpServers": []}, "relative"),
    ({"cwd": ".", "mcpServers": []}, "absolute"),
    ({"cwd": "", "mcpServers": []}, "absolute"),
    ({"mcpServers": []}, "cwd"),
    ({"cwd": 5, "mcpServers": []}, "cwd"),
    ({"cwd": "/project"}, "mcpServers"),
    ({"cwd": "/project", "mcpServers": [{}]}, "mcpServers"),
]


@pytest.mark.odd_frames
@pytest.mark.parametrize(("params", "says"), NEW)
async def test_a_session_that_cannot_be_is_refused_with_the_field(params: dict[str, Any], says: str) -> None:
    """And the connection goes on."""
    async with talking(Doer(nothing), begin=False) as talk:
        await initialize(talk.session)
        with pytest.raises(RequestFailed, match=says) as caught:
            await talk.ask("session/new", **params)
        assert caught.value.code == INVALID_PARAMS
        await talk.begin()


async def test_an_agent_may_name_its_sessions_and_else_each_gets_a_name_of_its_own() -> None:
    """What the agent says of modes is told too."""

    class Naming(Doer):
        async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
            """By the directory."""
            return NewSessionResponse(session_id=f"in {request.cwd}")

    async with talking(Naming(nothing)) as talk:
        assert talk.session.id == "in /project"
    async with talking(Doer(nothing)) as talk:
        ids = {(await talk.ask("session/new", cwd="/", mcpServers=[]))["sessionId"] for _ in range(5)}
        assert len(ids | {talk.session.id}) == 6


async def test_updates_that_an_agent_sends_before_its_session_is_known_are_folded_once_it_is() -> None:
    """State is kept; text before the prompt is no answer."""
    talks: list[Any] = []

    class Eager(Doer):
        async def new_session(self, _request: NewSessionRequest) -> NewSessionResponse | None:
            """Talk first."""
            for update in (
                {"sessionUpdate": "available_commands_update", "availableCommands": []},
                {"sessionUpdate": "current_mode_update", "currentModeId": "code"},
                {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Welcome"}},
            ):
                for session_id in ("early", "other"):
                    frame = {"jsonrpc": "2.0", "method": "session/update"}
                    params = {"sessionId": session_id, "update": update}
                    talks[0].theirs.send_nowait(memoryview(json.dumps(frame | {"params": params}).encode() + b"\n"))
            return NewSessionResponse(session_id="early")

    async with talking(Eager(nothing), begin=False) as talk:
        talks.append(talk)
        await talk.begin()
        assert talk.session.turn.mode == "code"
        await talk.prompt()
        assert talk.text_at_answer == ""


# ---- the optional methods

OPTIONAL: list[tuple[str, dict[str, Any], Any, list[str]]] = [
    ("authenticate", {"methodId": "key"}, {}, ["authenticate key"]),
    ("logout", {}, {}, ["logout"]),
    ("session/load", {"sessionId": "old", "cwd": "/", "mcpServers": []}, {}, ["load"]),
    ("session/resume", {"sessionId": "x", "cwd": "/"}, {}, ["resume x"]),
    ("session/list", {}, {"sessions": []}, []),
    ("session/delete", {"sessionId": "unknown"}, {}, ["delete unknown"]),
    ("session/set_mode", {"sessionId": "SELF", "modeId": "m"}, {}, ["mode m"]),
    ("session/set_config_option", {"sessionId": "SELF", "configId": "c", "value": "v"}, {"configOptions": []}, ["c=v"]),
    ("session/close", {"sessionId": "SELF"}, {}, ["close"]),
]


@pytest.mark.parametrize(("method", "params", "result", "seen"), OPTIONAL)
async def test_an_optional_method_is_served_where_the_agent_has_it(
    method: str, params: dict[str, Any], result: Any, seen: list[str]
) -> None:
    """An empty result is `{}`, not null; without it there is no such method."""
    agent = Able()
    async with talking(agent) as talk:
        params = {key: talk.session.id if value == "SELF" else value for key, value in params.items()}
        assert await talk.ask(method, **params) == result
        assert agent.seen == seen
    async with talking(Doer(nothing)) as talk:
        assert await code_of(talk.ask(method, **params)) == METHOD_NOT_FOUND


KNOWN_ONLY = ["session/set_mode", "session/set_config_option", "session/close"]


@pytest.mark.parametrize("method", KNOWN_ONLY)
async def test_a_session_that_nobody_opened_cannot_be_changed(method: str) -> None:
    """It is not found."""
    params = {"sessionId": "other", "modeId": "m", "configId": "c", "value": "v"}
    wanted = {"session/set_mode": ["modeId"], "session/set_config_option": ["configId", "value"]}.get(method, [])
    async with talking(Able()) as talk:
        given = {key: params[key] for key in ["sessionId", *wanted]}
        assert await code_of(talk.ask(method, **given)) == RESOURCE_NOT_FOUND


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_a_session_that_was_loaded_can_be_prompted(method: str) -> None:
    """Its directory must be absolute as well."""
    async with talking(Able()) as talk:
        given = {"cwd": "relative", "mcpServers": []}
        assert await code_of(talk.ask(method, sessionId="old", **given)) == INVALID_PARAMS
        await talk.ask(method, sessionId="old", **given | {"cwd": "/"})
        prompt = [{"type": "text", "text": "go"}]
        assert await talk.ask("session/prompt", sessionId="old", prompt=prompt) == {"stopReason": "end_turn"}


async def test_closing_a_session_cancels_its_turn_and_forgets_it() -> None:
    """The prompt is answered as cancelled; the session is then not found."""
    agent = Able()
    agent.deed = hang
    async with talking(agent) as talk, anyio.create_task_group() as tasks:
        results = []

        async def prompt() -> None:
            results.append(await talk.prompt())

        tasks.start_soon(prompt)
        await talk.has_said("began")
        assert await talk.ask("session/close", sessionId=talk.session.id) == {}
        while not results:
            await anyio.lowlevel.checkpoint()
        assert results == [{"stopReason": "cancelled"}]
        assert agent.seen == ["close"]
        assert (await talk.failure(talk.prompt())).rpc_code == RESOURCE_NOT_FOUND


# ---- noise and structured values


@pytest.mark.odd_frames
async def test_an_agent_answers_each_bad_line_once_and_serves_on() -> None:
    """It never answers an answer."""
    lines = ["nonsense", "5", "[]", "{}", "", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}']
    async with talking(Doer(nothing)) as talk:
        data = memoryview("".join(f"{line}\n" for line in lines).encode())
        assert talk.ours.send_nowait(data) == len(data)
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert talk.session.dropped_frames == 4


async def test_a_structured_value_is_kept_as_it_was_sent_first() -> None:
    """Our client knows of it: it is no part of the text."""

    async def complete(context: Context) -> str | None:
        await context.complete({"a": [1, None]})
        await context.complete({"b": 2})
        await context.text("done")
        return None

    async with talking(Doer(complete)) as talk:
        await talk.prompt()
        assert talk.session.structured == {"a": [1, None]}
        assert talk.session.has_structured
        assert talk.text_at_answer == "done"
