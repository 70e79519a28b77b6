from typing import Any

import pytest

from acp_agent.scripted.conversation import Conversation, plan

OPEN = {"cwd": "/w", "mcpServers": []}
OPTION = {"id": "o", "type": "boolean", "currentValue": False}
ALL = {
    "loadSession": True,
    "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
    "auth": {"logout": {}},
}


def started(**scenario: Any) -> Conversation:
    """A conversation after initialize."""
    conversation = Conversation(scenario)
    conversation.default("initialize", {"protocolVersion": 1})
    return conversation


def code(outcome: dict[str, Any]) -> int:
    """The code of an error outcome."""
    found: int = outcome["error"]["code"]
    return found


@pytest.mark.parametrize("version", [0, 1, 2, 65_535])
def test_any_whole_version_is_answered_with_one(version: int) -> None:
    """An unsupported version is answered with the latest that is."""
    answer = Conversation({}).default("initialize", {"protocolVersion": version})
    assert answer["result"] == {
        "protocolVersion": 1,
        "agentCapabilities": {},
        "agentInfo": {"name": "scripted", "version": "0"},
        "authMethods": [],
    }


@pytest.mark.parametrize("version", ["2024-11-05", "1", None, True, 1.0])
def test_a_version_that_is_no_whole_number_is_refused_with_the_protocol_s_name(version: Any) -> None:
    """Who speaks another protocol learns which this is."""
    answer = Conversation({}).default("initialize", {"protocolVersion": version})
    assert code(answer) == -32602
    assert "ACP" in answer["error"]["message"]
    assert "MCP" in answer["error"]["message"]


def test_nothing_is_answered_before_initialize() -> None:
    """The first request is initialize."""
    conversation = Conversation({})
    assert code(conversation.default("session/new", OPEN)) == -32600
    assert code(conversation.default("_vendor/x", {})) == -32601


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"cwd": "/w"},
        {"cwd": ".", "mcpServers": []},
        {"cwd": 5, "mcpServers": []},
        {"cwd": "/w", "mcpServers": {}},
    ],
)
def test_a_session_needs_an_absolute_directory_and_a_list_of_servers(params: Any) -> None:
    """The required params of session/new and session/load."""
    conversation = started(capabilities=ALL)
    assert code(conversation.default("session/new", params)) == -32602
    assert code(conversation.default("session/load", {"sessionId": "s", **params})) == -32602


def test_sessions_have_ids_of_their_own_or_those_of_the_scenario() -> None:
    """Ids run out into the default ones; they may be of any type."""
    conversation = started(session_ids=["a", 5])
    found = [conversation.default("session/new", OPEN)["result"]["sessionId"] for _ in range(3)]
    assert found == ["a", 5, "s-3"]
    assert conversation.session("5") is None
    assert conversation.session(5) is not None


def test_methods_that_were_not_advertised_are_not_there() -> None:
    """Omitted and null both mean unsupported."""
    for capabilities in ({}, None, {"loadSession": False, "sessionCapabilities": None}, "nonsense"):
        conversation = started(capabilities=capabilities)
        for method in ("load", "resume", "list", "delete", "close", "set_mode", "set_config_option"):
            assert code(conversation.default(f"session/{method}", {})) == -32601, method
        assert code(conversation.default("logout", {})) == -32601


def test_an_advertised_session_life_is_served() -> None:
    """Load, resume, list, delete and close as the protocol has them."""
    conversation = started(capabilities=ALL)
    assert conversation.default("session/load", {"sessionId": "a", **OPEN}) == {"result": {}}
    assert conversation.default("session/resume", {"sessionId": "b", "cwd": "/v"}) == {"result": {}}
    assert code(conversation.default("session/load", {"sessionId": 5, **OPEN})) == -32602
    rows = [{"sessionId": "a", "cwd": "/w"}, {"sessionId": "b", "cwd": "/v"}]
    assert conversation.default("session/list", {})["result"] == {"sessions": rows}
    assert conversation.default("session/list", {"cwd": "/v"})["result"] == {"sessions": rows[1:]}
    assert conversation.default("session/delete", {"sessionId": "a"}) == {"result": {}}
    assert conversation.default("session/delete", {"sessionId": "never"}) == {"result": {}}
    assert conversation.default("session/close", {"sessionId": "b"}) == {"result": {}}
    assert code(conversation.default("session/close", {"sessionId": "b"})) == -32002


def test_authentication_is_required_until_it_was_done() -> None:
    """-32000 for every session call; only advertised methods are accepted; logout forgets it."""
    conversation = started(auth={"required": True, "methods": [{"id": "m", "name": "M"}]}, capabilities=ALL)
    assert code(conversation.default("session/new", OPEN)) == -32000
    assert code(conversation.default("authenticate", {"methodId": "x"})) == -32602
    assert conversation.default("authenticate", {"methodId": "m"}) == {"result": {}}
    assert "result" in conversation.default("session/new", OPEN)
    assert conversation.default("logout", {}) == {"result": {}}
    assert code(conversation.default("session/new", OPEN)) == -32000


def test_modes_and_options_are_offered_and_set() -> None:
    """The answer to an option is the complete list; unknown ids are refused."""
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}
    options = [OPTION, {"id": "p"}]
    conversation = started(modes=modes, config_options=options)
    opened = conversation.default("session/new", OPEN)["result"]
    assert (opened["modes"], opened["configOptions"]) == (modes, options)
    session = {"sessionId": "s-1"}
    assert conversation.default("session/set_mode", {**session, "modeId": "b"}) == {"result": {}}
    assert code(conversation.default("session/set_mode", {**session, "modeId": "c"})) == -32602
    set_option = conversation.default("session/set_config_option", {**session, "configId": "o", "value": True})
    assert set_option["result"] == {"configOptions": [{**OPTION, "currentValue": True}, {"id": "p"}]}
    assert code(conversation.default("session/set_config_option", {**session, "configId": "z"})) == -32602
    assert conversation.default("session/new", OPEN)["result"]["modes"]["currentModeId"] == "b"


def test_a_prompt_needs_a_known_session_and_blocks() -> None:
    """Each refusal has its own code."""
    conversation = started()
    conversation.default("session/new", OPEN)
    assert code(conversation.default("session/prompt", {"sessionId": "x", "prompt": []})) == -32002
    assert code(conversation.default("session/prompt", {"sessionId": "s-1"})) == -32602
    done = conversation.default("session/prompt", {"sessionId": "s-1", "prompt": []})
    assert done == {"result": {"stopReason": "end_turn"}}


DEFAULT = {"result": {"a": 1}}
STEPS = [{"noise": "x"}]


@pytest.mark.parametrize(
    ("hook", "before", "answer", "after"),
    [
        ({}, [], DEFAULT, []),
        (STEPS, STEPS, DEFAULT, []),
        ({"before": STEPS, "after": STEPS}, STEPS, DEFAULT, STEPS),
        ({"result": None}, [], {"result": None}, []),
        ({"add": {"b": 2}}, [], {"result": {"a": 1, "b": 2}}, []),
        ({"error": {"code": 1}}, [], {"error": {"code": 1, "message": "Internal error"}}, []),
        ({"each": []}, [], DEFAULT, []),
        ({"each": [STEPS, {"result": 5}]}, [], {"result": 5}, []),
    ],
)
def test_a_hook_is_laid_over_the_default_answer(hook: Any, before: Any, answer: Any, after: Any) -> None:
    """For the fourth call; the last of `each` stays."""
    found = plan(hook, DEFAULT, 3)
    assert (found.before, found.answer, found.after) == (before, answer, after)


def test_fields_are_not_added_to_an_error() -> None:
    """A refusal stays what it is."""
    assert plan({"add": {"b": 2}}, {"error": {}}, 0).answer == {"error": {}}


def test_hooks_are_found_by_word_and_by_method() -> None:
    """`methods` takes any name; a prompt that is refused plays no steps."""
    conversation = started(methods={"_x/y": {"result": 1}}, new_session={"result": 2}, prompt=STEPS)
    assert conversation.plan("_x/y", DEFAULT).answer == {"result": 1}
    assert conversation.plan("session/new", DEFAULT).answer == {"result": 2}
    assert conversation.plan("logout", DEFAULT).answer == DEFAULT
    assert conversation.plan("session/prompt", DEFAULT).before == STEPS
    assert conversation.plan("session/prompt", {"error": {}}).before == []
