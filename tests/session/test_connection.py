"""The handshake: what is sent, what must be offered, and that nothing asked for is ever dropped."""

from collections.abc import Callable
from typing import Any

import pytest

from acp_client.outcome.result import Stage
from acp_client.protocol.errors import RequestFailed
from acp_client.protocol.models import NewSessionResponse
from acp_client.protocol.peer import Settled
from acp_client.protocol.states import OurRequest, ResultReceived
from acp_client.session.connection import (
    Agent,
    authenticate,
    check_prompt,
    configure,
    describe_auth,
    initialize,
    new_session,
)
from acp_client.session.ending import Ending, EndRun
from acp_client.spec import AgentSpec


class Script:
    """Answers each request with what the test said; writes down what was asked."""

    def __init__(self, **answers: Any) -> None:
        self._answers = {name.replace("__", "/"): answer for name, answer in answers.items()}
        self.asked: list[tuple[str, Stage, dict[str, Any]]] = []

    async def ask(
        self, stage: Stage, method: str, params: dict[str, Any], on_settled: Callable[[Settled], None] | None = None
    ) -> Any:
        """One answer."""
        self.asked.append((method, stage, params))
        result = self._answers[method]
        failed = isinstance(result, RequestFailed)
        if on_settled is not None:
            on_settled(result if failed else ResultReceived(OurRequest(1, method), result))
        if failed:
            raise EndRun(Ending("agent_error", "no", stage, method))
        return result


def spec(**fields: Any) -> AgentSpec:
    """A spec with these wishes."""
    return AgentSpec(command=("agent",), **fields)


async def agent_of(**answer: Any) -> Agent:
    """An agent that answered initialize so."""
    return await initialize(Script(initialize={"protocolVersion": 1} | answer))


def ending(caught: pytest.ExceptionInfo[EndRun]) -> Ending:
    """Why it ended."""
    return caught.value.ending


# ---- initialize


async def test_we_offer_version_1_and_only_what_we_serve() -> None:
    """An integer, our name, and no file system and no terminal."""
    script = Script(initialize={"protocolVersion": 1})
    await initialize(script)
    ((method, stage, params),) = script.asked
    assert (method, stage) == ("initialize", "initialize")
    assert type(params["protocolVersion"]) is int
    assert params["protocolVersion"] == 1
    assert params["clientInfo"].keys() == {"name", "title", "version"}
    assert params["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert params["clientCapabilities"]["terminal"] is False


@pytest.mark.parametrize("version", ["1", True, 1.0, 0, 2, -1, [], {}, "2024-11-05"], ids=repr)
async def test_another_version_than_the_integer_1_is_a_mismatch(version: Any) -> None:
    """`True == 1 == 1.0`, and none of them is coerced."""
    with pytest.raises(EndRun) as caught:
        await agent_of(protocolVersion=version)
    assert ending(caught).reason == "protocol_mismatch"
    assert repr(version) in ending(caught).message


@pytest.mark.parametrize("result", [None, {}, {"protocolVersion": None}, [], "1", 1], ids=repr)
async def test_no_version_is_a_protocol_error_that_names_the_field(result: Any) -> None:
    """Whatever the answer is."""
    with pytest.raises(EndRun) as caught:
        await initialize(Script(initialize=result))
    assert ending(caught).reason == "protocol_error"
    assert "protocolVersion" in ending(caught).message


NULLS: list[dict[str, Any]] = [
    {},
    {"agentCapabilities": None, "authMethods": None, "agentInfo": None},
    {"agentCapabilities": 5, "authMethods": {}, "agentInfo": "x"},
    {"agentCapabilities": {"promptCapabilities": None, "mcpCapabilities": [], "sessionCapabilities": 1}},
]


@pytest.mark.parametrize("answer", NULLS)
async def test_a_capability_that_is_null_or_malformed_is_not_there(answer: dict[str, Any]) -> None:
    """An agent that offers nothing can still be run."""
    agent = await agent_of(**answer)
    assert agent.info is None
    assert describe_auth(agent) == "none"
    check_prompt(agent, [{"type": "text", "text": "hi"}, {"type": "resource_link", "uri": "u", "name": "n"}])
    script = Script(session__new={"sessionId": "s"})
    await new_session(script, agent, spec(), "/w", lambda _id: None)
    assert script.asked[0][2] == {"cwd": "/w", "mcpServers": []}


async def test_what_the_agent_says_of_itself_is_kept() -> None:
    """With fields that nobody knows."""
    agent = await agent_of(agentInfo={"name": "a", "version": "1", "odd": 2})
    assert agent.info == {"name": "a", "version": "1", "odd": 2}


# ---- authenticate

METHODS = [{"id": "key", "name": "API key"}, {"id": "term", "name": "Terminal", "type": "terminal"}, {"id": 5}]


async def test_a_login_is_asked_for_once_by_its_id() -> None:
    """Where it is offered; entries of no use are left out."""
    agent = await agent_of(authMethods=METHODS)
    assert describe_auth(agent) == "key (API key), term (Terminal)"
    script = Script(authenticate=None)
    await authenticate(script, agent, "key")
    assert script.asked == [("authenticate", "authenticate", {"methodId": "key"})]


@pytest.mark.parametrize("method", ["term", "other", ""])
async def test_a_login_that_is_not_offered_or_wants_a_terminal_ends_the_run(method: str) -> None:
    """Nothing is sent."""
    agent = await agent_of(authMethods=METHODS)
    script = Script()
    with pytest.raises(EndRun) as caught:
        await authenticate(script, agent, method)
    assert (ending(caught).reason, ending(caught).stage) == ("unsupported_capability", "authenticate")
    assert "key" in ending(caught).message
    assert script.asked == []


# ---- session/new


async def test_the_session_is_known_before_the_caller_wakes() -> None:
    """At the answer's place in wire order."""
    seen: list[str] = []
    answer = await new_session(Script(session__new={"sessionId": "s"}), Agent(), spec(), "/w", seen.append)
    assert (seen, answer.session_id) == (["s"], "s")


@pytest.mark.parametrize("result", [None, {}, {"sessionId": ""}, {"sessionId": None}, {"sessionId": 5}, [], "s"])
async def test_an_answer_without_a_session_id_is_a_protocol_error_that_names_the_field(result: Any) -> None:
    """And no session begins."""
    seen: list[str] = []
    with pytest.raises(EndRun) as caught:
        await new_session(Script(session__new=result), Agent(), spec(), "/w", seen.append)
    assert (ending(caught).reason, ending(caught).stage) == ("protocol_error", "session")
    assert "sessionId" in ending(caught).message
    assert seen == []


async def test_an_error_to_session_new_begins_no_session() -> None:
    """The one who asks ends the run."""
    seen: list[str] = []
    with pytest.raises(EndRun):
        await new_session(
            Script(session__new=RequestFailed("session/new", -1, "no")), Agent(), spec(), "/w", seen.append
        )
    assert seen == []


STDIO = {"name": "m", "command": "c", "args": [], "env": []}
HTTP = {"type": "http", "name": "m", "url": "http://h/", "headers": []}
SSE = {"type": "sse", "name": "m", "url": "http://h/", "headers": []}
ODD = STDIO | {"type": "pigeon"}

# wishes; what the agent must offer for them (None: nothing); what is then in the params
WISHES: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]] = {
    "a stdio server": ({"mcp_servers": [STDIO]}, None, {"mcpServers": [STDIO]}),
    "an http server": ({"mcp_servers": [HTTP]}, {"mcpCapabilities": {"http": True}}, {"mcpServers": [HTTP]}),
    "an sse server": ({"mcp_servers": [SSE]}, {"mcpCapabilities": {"sse": True}}, {"mcpServers": [SSE]}),
    "a server of another kind": ({"mcp_servers": [ODD]}, {"mcpCapabilities": {"pigeon": True}}, {"mcpServers": [ODD]}),
    "directories": (
        {"additional_directories": ("/a",)},
        {"sessionCapabilities": {"additionalDirectories": {}}},
        {"mcpServers": [], "additionalDirectories": ["/a"]},
    ),
    "a system prompt": (
        {"system_prompt": "Be brief"},
        {"sessionCapabilities": {"systemPrompt": {}}},
        {
            "mcpServers": [],
            "systemPrompt": {"mode": "append", "content": [{"type": "text", "text": "Be brief"}]},
        },
    ),
}


@pytest.mark.parametrize("name", WISHES)
async def test_a_wish_is_sent_where_it_is_offered_and_ends_the_run_where_not(name: str) -> None:
    """Never dropped; `{}` is offered, null and absence are not."""
    wishes, offer, params = WISHES[name]
    agent = await agent_of(agentCapabilities=offer or {})
    script = Script(session__new={"sessionId": "s"})
    await new_session(script, agent, spec(**wishes), "/w", lambda _id: None)
    assert script.asked == [("session/new", "session", {"cwd": "/w"} | params)]
    if offer is not None:
        script = Script()
        with pytest.raises(EndRun) as caught:
            await new_session(script, await agent_of(), spec(**wishes), "/w", lambda _id: None)
        assert ending(caught).reason == "unsupported_capability"
        assert script.asked == []


# ---- the prompt

BLOCKS: dict[str, str] = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


@pytest.mark.parametrize("kind", [*BLOCKS, "hologram"])
async def test_a_block_is_taken_only_where_it_is_offered(kind: str) -> None:
    """The message names its place and what is taken."""
    blocks = [{"type": "text", "text": "t"}, {"type": kind}]
    with pytest.raises(EndRun) as caught:
        check_prompt(await agent_of(), blocks)
    assert (ending(caught).reason, ending(caught).stage) == ("unsupported_content", "prompt")
    assert "prompt[1]" in ending(caught).message
    assert "resource_link, text" in ending(caught).message
    if kind in BLOCKS:
        check_prompt(await agent_of(agentCapabilities={"promptCapabilities": {BLOCKS[kind]: True}}), blocks)


async def test_nothing_to_configure_sends_nothing() -> None:
    """Whatever the session offers."""
    script = Script()
    await configure(script, "s", NewSessionResponse(session_id="s"), spec())
    assert script.asked == []
