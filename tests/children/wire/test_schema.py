"""Schema drift: what an agent says beyond, beside or short of the schema does not cost the run its answer."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, Runner, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted

SOME = [{"chunk": "the answer"}]


async def play(folder: Path, scenario: dict[str, Any], **spec: Any) -> tuple[RunResult, Scripted]:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK), **spec)
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go"), child


def note(params: Any) -> dict[str, Any]:
    """A raw `session/update` with any params at all."""
    return {"send": {"jsonrpc": "2.0", "method": "session/update", "params": params}}


# ---------------------------------------------------------------- updates that nobody knows

UNKNOWN: list[Any] = [
    {"sessionUpdate": "usage_update", "used": 5, "size": 10, "surprise": [{}]},
    {"sessionUpdate": "plan_removed", "planId": "p"},
    {"sessionUpdate": "totally_new", "content": {"type": "text", "text": "no answer"}},
    {"sessionUpdate": "notice", "severity": "warning", "title": "low on disk"},
    {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"},
    {"sessionUpdate": "state_update", "state": "idle", "stopReason": "refusal"},
    {"sessionUpdate": "_vendor/telemetry", "x": 1},
    {"sessionUpdate": ""},
    {"sessionUpdate": 7},
    {"sessionUpdate": None},
    {"sessionUpdate": ["agent_message_chunk"]},
    {"sessionUpdate": "AGENT_MESSAGE_CHUNK", "content": {"type": "text", "text": "no answer"}},
    {"kind": "totally_new"},
    {},
]


@pytest.mark.row("SCHEMA-1")
async def test_an_update_of_a_kind_that_nobody_knows_changes_nothing(tmp_path: Path) -> None:
    """No error and no reply; a reader of the events still sees it."""
    steps = [{"update": update} for update in UNKNOWN]
    child = Scripted(tmp_path, {"prompt": [*steps, *SOME, *steps]}, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            kinds = [getattr(event, "kind", "") async for event in run.events() if event.type == "update"]
            result = await run.result()
    assert (result.reason, result.text, result.diagnostics.dropped_frames) == ("end_turn", "the answer", 0)
    assert result.usage.context_used == 5
    assert kinds.count("plan_removed") == kinds.count("totally_new") == 2
    assert child.methods() == ["initialize", "session/new", "session/prompt"]


@pytest.mark.row("SCHEMA-1")
async def test_an_update_that_is_no_object_is_counted_and_forgotten(tmp_path: Path) -> None:
    """Nor does anything else that may stand in its place."""
    odd: list[Any] = [None, [], "text", 7, True]
    steps = [note({"sessionId": "s-1", "update": update}) for update in odd]
    steps += [note(params) for params in (None, {}, {"sessionId": "s-1"})]
    steps += [{"send": {"jsonrpc": "2.0", "method": "session/update"}}, note([1]), note("x")]
    result, child = await play(tmp_path, {"new_session": {"after": steps}, "prompt": [*steps, *SOME, *steps]})
    assert (result.reason, result.text) == ("end_turn", "the answer")
    assert result.diagnostics.dropped_frames > 0
    assert child.methods() == ["initialize", "session/new", "session/prompt"]


@pytest.mark.row("SCHEMA-1", "BUDGET-1")
async def test_figures_that_are_none_leave_usage_unknown(tmp_path: Path) -> None:
    """None is not 0, and what is no amount is none."""
    odd = [
        {"used": "5", "size": -1, "cost": {"amount": "1", "currency": "USD"}},
        {"used": True, "size": 1.5, "cost": {"amount": 1}},
        {"used": None, "size": None, "cost": None},
        {"cost": {"amount": float("inf"), "currency": "USD"}},
        {"cost": [1]},
    ]
    result, _ = await play(tmp_path, {"prompt": [*[{"usage": one} for one in odd], *SOME]})
    usage = result.usage
    assert (result.reason, usage.context_used, usage.context_size, usage.cost) == ("end_turn", None, None, None)


# ---------------------------------------------------------------- null and absent

NULL_CALL = dict.fromkeys(("title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "_meta"))
NULLS: dict[str, dict[str, Any]] = {
    "the handshake": {
        "initialize": {"add": dict.fromkeys(("agentCapabilities", "agentInfo", "authMethods", "_meta"))},
        "new_session": {"add": dict.fromkeys(("modes", "configOptions", "_meta"))},
    },
    "inside capabilities": {
        "capabilities": dict.fromkeys(("loadSession", "promptCapabilities", "mcpCapabilities", "sessionCapabilities")),
        "auth": {"methods": [{"id": "a", "name": "A", "description": None, "_meta": None}, None]},
        "agent_info": {"name": "x", "version": "1", "title": None},
    },
    "lists": {
        "modes": {"currentModeId": "a", "availableModes": None},
        "config_options": [None, {"type": "select", "id": "o", "name": "O", "currentValue": "v", "options": None}],
    },
}


@pytest.mark.row("SCHEMA-2")
@pytest.mark.parametrize("name", NULLS)
async def test_null_is_the_same_as_absent_before_the_prompt(name: str, tmp_path: Path) -> None:
    """In every answer of the handshake."""
    result, _ = await play(tmp_path, NULLS[name] | {"prompt": SOME})
    assert (result.reason, result.text) == ("end_turn", "the answer")


@pytest.mark.row("SCHEMA-2")
async def test_null_is_the_same_as_absent_in_the_turn(tmp_path: Path) -> None:
    """A null patches nothing away, and an answer's null error is no error."""
    text = {"type": "text", "text": "the answer", "annotations": None, "_meta": None}
    steps = [
        {"tool_call": {"toolCallId": "t", "title": "Read", "kind": "read", "status": "pending", "content": None}},
        {"tool_update": {"toolCallId": "t", **NULL_CALL}},
        {"update": {"sessionUpdate": "agent_message_chunk", "content": None}},
        {"update": {"sessionUpdate": "agent_message_chunk", "content": text, "messageId": None, "_meta": None}},
        {"update": {"sessionUpdate": "plan", "entries": None}},
        {"plan": [{"content": "step", "priority": None, "status": None}, None, "one"]},
        {"update": {"sessionUpdate": "available_commands_update", "availableCommands": None}},
        {"update": {"sessionUpdate": "current_mode_update", "currentModeId": None}},
        {"update": {"sessionUpdate": "config_option_update", "configOptions": None}},
        {"update": {"sessionUpdate": "session_info_update", "title": None, "updatedAt": None}},
        {"permission": {"tool_call": {"toolCallId": "t", **NULL_CALL}}},
        {"notify": {"method": "_vendor/x", "params": None}},
        {
            "send": {
                "jsonrpc": "2.0",
                "id": "${id}",
                "error": None,
                "result": {"stopReason": "end_turn", "usage": None, "_meta": None},
            }
        },
    ]
    result, _ = await play(tmp_path, {"prompt": steps})
    assert (result.reason, result.text) == ("end_turn", "the answer")
    (call,) = result.tool_calls
    assert (call.title, call.kind, call.status) == ("Read", "read", "pending")
    assert "one" in [entry.content for entry in result.plan]
    assert result.permissions[0].outcome == "selected"


@pytest.mark.row("SCHEMA-2")
async def test_a_null_id_makes_no_request_of_an_update(tmp_path: Path) -> None:
    """Some agents write every field, also into notifications."""
    content = {"type": "text", "text": "the answer"}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    frame = {"jsonrpc": "2.0", "id": None, "method": "session/update", "params": {"sessionId": "s-1", "update": update}}
    result, child = await play(tmp_path, {"prompt": [{"send": frame}]})
    assert (result.reason, result.text) == ("end_turn", "the answer")
    assert child.methods() == ["initialize", "session/new", "session/prompt"]


# ---------------------------------------------------------------- versions


@pytest.mark.row("SCHEMA-4", "SCHEMA-6")
async def test_we_ask_for_version_1_as_an_integer_and_always_name_the_mcp_servers(tmp_path: Path) -> None:
    """What strict agents insist on."""
    _, child = await play(tmp_path, {"prompt": SOME})
    initialize, new_session, prompt = child.received()
    version = initialize["params"]["protocolVersion"]
    assert (type(version), version) == (int, 1)
    assert new_session["params"] == {"cwd": str(tmp_path), "mcpServers": []}
    assert prompt["params"] == {"sessionId": "s-1", "prompt": [{"type": "text", "text": "go"}]}


OTHER_VERSIONS: list[Any] = ["1", True, 1.0, 0, 2, 65535, "2024-11-05", [1], {"major": 1}]


@pytest.mark.row("SCHEMA-5")
@pytest.mark.parametrize("version", OTHER_VERSIONS, ids=repr)
async def test_an_answered_version_is_1_or_ends_the_run_before_any_session(version: Any, tmp_path: Path) -> None:
    """Nothing is coerced into the integer 1."""
    result, child = await play(tmp_path, {"initialize": {"add": {"protocolVersion": version}}})
    assert (result.status, result.reason) == ("error", "protocol_mismatch")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.request) == ("initialize", "initialize")
    assert repr(version) in result.failure.message
    assert result.failure.retry_safe
    assert child.methods() == ["initialize"]


# ---------------------------------------------------------------- MCP servers

SERVER: dict[str, Any] = {"name": "files", "command": "/bin/true", "args": [], "env": []}
PICKY = {
    "when": {
        "value": "${params.mcpServers.0}",
        "is": None,
        "else": [{"error": {"code": -32602, "message": "Invalid params", "data": {"mcpServers": "must be empty"}}}],
    }
}


@pytest.mark.row("SCHEMA-6", "ERRMSG-1")
async def test_an_agent_that_takes_no_mcp_servers_says_so_in_the_result(tmp_path: Path) -> None:
    """Its error data are in the failure and in its message."""
    result, child = await play(tmp_path, {"new_session": [PICKY]}, mcp_servers=[SERVER])
    assert child.received()[1]["params"]["mcpServers"] == [SERVER]
    assert (result.status, result.reason) == ("error", "agent_error")
    assert result.failure is not None
    assert (result.failure.stage, result.failure.rpc_code) == ("session", -32602)
    assert result.failure.rpc_data == {"mcpServers": "must be empty"}
    assert "must be empty" in result.failure.message


@pytest.mark.row("SCHEMA-6")
async def test_the_same_agent_works_where_none_are_asked_for(tmp_path: Path) -> None:
    """The list is there and empty."""
    result, _ = await play(tmp_path, {"new_session": [PICKY], "prompt": SOME})
    assert result.reason == "end_turn"


# ---------------------------------------------------------------- ids

IDS: list[Any] = ["b3c1-77", 0, None, -5, 2**53 + 1, 1, 2, 3, "", "0", "null", "é", 2**63, -(2**63), "x" * 5000]


@pytest.mark.row("SCHEMA-7")
async def test_a_request_is_answered_under_its_id_in_its_json_type(tmp_path: Path) -> None:
    """Also under the numbers of our own requests, and two at once."""
    asks = [{"permission": {"id": one}} for one in IDS]
    both = [
        {"permission": {"id": 7, "wait": False, "save": "a"}},
        {"permission": {"id": "7", "wait": False, "save": "b"}},
    ]
    waits = [{"wait_answer": "a"}, {"wait_answer": "b"}]
    result, child = await play(tmp_path, {"prompt": [*asks, *both, *waits, *SOME]})
    assert (result.reason, result.text) == ("end_turn", "the answer")
    answers = [frame for frame in child.received() if "method" not in frame]
    assert [answer["id"] for answer in answers[:-2]] == IDS
    assert {repr(answer["id"]) for answer in answers[-2:]} == {"7", "'7'"}
    assert all(answer["result"]["outcome"]["optionId"] == "reject" for answer in answers)


@pytest.mark.row("SCHEMA-7")
@pytest.mark.parametrize("method", ["session/request_permission", "_vendor/x"])
async def test_what_is_no_id_is_not_answered_and_harms_nothing(method: str, tmp_path: Path) -> None:
    """A fraction, a boolean, a list, an object."""
    asks = [{"request": {"method": method, "id": one, "wait": False}} for one in (1.5, True, [1], {"a": 1}, 1.0, False)]
    result, child = await play(tmp_path, {"prompt": [*asks, *SOME]})
    assert (result.reason, result.text) == ("end_turn", "the answer")
    assert child.methods() == ["initialize", "session/new", "session/prompt"]


def answer(request_id: Any, result: Any) -> dict[str, Any]:
    """A response under any id, which the scenario does not take for its own answer."""
    return {"raw": {"frame": {"jsonrpc": "2.0", "id": request_id, "result": result}}}


@pytest.mark.row("SCHEMA-8")
async def test_an_answer_counts_only_under_exactly_our_id(tmp_path: Path) -> None:
    """In every stage; the others are ignored and counted."""
    early = [answer(one, {"protocolVersion": 99}) for one in ("1", True, 1.0, None, [1], 999, 2)]
    middle = [answer(one, {"sessionId": "wrong"}) for one in ("2", 2.0, {"id": 2}, 1, 3)]
    turn = [answer(one, {"stopReason": "refusal"}) for one in ("3", 3.0, True, 1, 2, 4, -3, "")]
    scenario = {"initialize": early, "new_session": middle, "prompt": [*SOME, *turn, {"chunk": "!"}]}
    result, child = await play(tmp_path, scenario)
    assert (result.reason, result.text, result.session_id) == ("end_turn", "the answer!", "s-1")
    assert result.diagnostics.dropped_frames == len(early + middle + turn)
    assert child.methods() == ["initialize", "session/new", "session/prompt"]


@pytest.mark.row("SCHEMA-8")
async def test_of_two_answers_the_first_one_counts(tmp_path: Path) -> None:
    """A result, an error or the same again after it changes nothing."""
    again = [
        answer(3, {"stopReason": "refusal"}),
        {"raw": {"frame": {"jsonrpc": "2.0", "id": 3, "error": {"code": 1}}}},
    ]
    steps = [*SOME, {"answer": {"result": {"stopReason": "max_tokens"}, "times": 2}}, *again]
    result, _ = await play(tmp_path, {"initialize": {"after": [answer(1, None)]}, "prompt": steps})
    assert (result.reason, result.text) == ("max_tokens", "the answer")
    assert result.diagnostics.dropped_frames == 4


# ---------------------------------------------------------------- empty chunks


@pytest.mark.row("SCHEMA-10")
async def test_an_empty_chunk_is_no_text_and_no_message(tmp_path: Path) -> None:
    """Wherever it stands, with or without an id."""
    empty: list[dict[str, Any]] = [{"chunk": ""}, {"chunk": {"text": "", "message_id": "m9"}}, {"thought": ""}]
    real: list[dict[str, Any]] = [{"chunk": {"text": "the ", "message_id": "m1"}}, {"chunk": {"text": "answer"}}]
    result, _ = await play(tmp_path, {"prompt": [*empty * 50, real[0], *empty * 50, real[1], *empty]})
    assert (result.reason, result.text, result.last_message) == ("end_turn", "the answer", "the answer")
    assert len(result.messages) == 1
    assert not result.flags.empty


@pytest.mark.row("SCHEMA-10", "STOP-2")
async def test_empty_chunks_alone_are_an_empty_answer(tmp_path: Path) -> None:
    """They do not hide that there is none."""
    result, _ = await play(tmp_path, {"prompt": [{"chunk": ""}] * 3})
    assert (result.reason, result.text, result.messages, result.flags.empty) == ("end_turn", "", (), True)


# ---------------------------------------------------------------- answers that lack what is needed

UNUSABLE: dict[str, tuple[dict[str, Any], str, str]] = {
    "an empty session": ({"new_session": {"result": {}}}, "protocol_error", "sessionId"),
    "a null session": ({"new_session": {"result": None}}, "protocol_error", "sessionId"),
    "a session list": ({"new_session": {"result": ["s-1"]}}, "protocol_error", "sessionId"),
    "an empty id": ({"new_session": {"result": {"sessionId": ""}}}, "protocol_error", "sessionId"),
    "a null id": ({"new_session": {"result": {"sessionId": None}}}, "protocol_error", "sessionId"),
    "a number as id": ({"new_session": {"result": {"sessionId": 5}}}, "protocol_error", "sessionId"),
    "a null handshake": ({"initialize": {"result": None}}, "protocol_error", "protocolVersion"),
    "a handshake list": ({"initialize": {"result": []}}, "protocol_error", "protocolVersion"),
    "a null version": ({"initialize": {"add": {"protocolVersion": None}}}, "protocol_error", "protocolVersion"),
    "no result at all": (
        {"new_session": [{"send": {"jsonrpc": "2.0", "id": "${id}", "error": None}}]},
        "protocol_error",
        "neither a result nor an error",
    ),
    "a null turn": ({"prompt": [{"respond": None}]}, "unknown_stop_reason", "stopReason"),
    "an empty turn": ({"prompt": [{"respond": {}}]}, "unknown_stop_reason", "stopReason"),
    "a turn list": ({"prompt": [{"respond": ["end_turn"]}]}, "unknown_stop_reason", "stopReason"),
}


@pytest.mark.row("SCHEMA-12")
@pytest.mark.parametrize("name", UNUSABLE)
async def test_an_answer_without_what_is_needed_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    """Never a success, never an exception."""
    scenario, reason, field = UNUSABLE[name]
    result, child = await play(tmp_path, scenario)
    assert (result.status, result.reason) == ("error", reason)
    assert result.failure is not None
    assert field in result.failure.message
    assert result.failure.retry_safe == ("session/prompt" not in child.methods())
