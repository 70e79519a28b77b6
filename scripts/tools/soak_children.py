"""The children that the soak draws from: one for each odd case that is about a child, as scenarios.

Owns data alone. Each entry: the case, the scenario for `acp_agent.scripted`, and the reasons in which its run may end
where nobody cancels it. What is not about a child (our own agents, the parent's exit) is tested elsewhere.
"""

from __future__ import annotations

from typing import Any, Final

Scenario = dict[str, Any]

DONE: Final = ("end_turn",)
TIMEOUT: Final = ("idle_timeout", "run_timeout")
STARTUP: Final = ("startup_timeout",)
EXITED: Final = ("agent_exited",)


def say(*steps: Any) -> Scenario:
    """A turn that says something after these steps."""
    return {"prompt": [*steps, {"chunk": "said"}]}


def ask(**fields: Any) -> Scenario:
    """A turn with one permission request."""
    return say({"permission": fields})


SLEEP = {"spawn": {"inherit": ["stdout", "stderr"]}}
LAST = {"jsonrpc": "2.0", "id": "${id}", "result": {"stopReason": "end_turn"}}
OPTION = {"optionId": "a", "name": "A", "kind": "allow_once"}

CHILDREN: Final[dict[str, tuple[Scenario, tuple[str, ...]]]] = {
    "SCHEMA-1": (say({"update": {"sessionUpdate": "totally_new", "x": [1]}}), DONE),
    "SCHEMA-2": ({"initialize": {"add": {"agentCapabilities": None, "authMethods": None}}, **say()}, DONE),
    "SCHEMA-5": ({"initialize": {"add": {"protocolVersion": "1"}}}, ("protocol_mismatch",)),
    "SCHEMA-6": ({"new_session": {"error": {"code": -32602, "message": "mcpServers"}}}, ("agent_error",)),
    "SCHEMA-7": (ask(id="b3c1-uuid", tool_call={"toolCallId": "c"}, options=[OPTION]), DONE),
    "SCHEMA-8": (say({"raw": {"frame": {"jsonrpc": "2.0", "id": True, "result": {}}}}), DONE),
    "SCHEMA-10": (say({"chunk": ""}, {"chunk": ""}), DONE),
    "SCHEMA-12": ({"new_session": {"result": {"sessionId": ""}}}, ("protocol_error",)),
    "ASYNC-1": (say(SLEEP, {"exit": 0}), EXITED),
    "ASYNC-7": (say({"thought": "quick"}), DONE),
    "TREE-1": (say({"ignore": ["SIGTERM", "eof"]}), DONE),
    "TREE-2": (say({"spawn": {"leave": True}}), DONE),
    "TREE-3": ({"on_eof": "ignore", **say()}, DONE),
    "TREE-6": (say({"spawn": {"session": True, "leave": True}}), DONE),
    "TREE-7": (say({"spawn": {"group": True, "ignore_term": True, "leave": True}}), DONE),
    "PERM-1": (ask(options=[OPTION, {"optionId": "b", "name": "B", "kind": "allow_always"}]), DONE),
    "PERM-3": (ask(options=[{"optionId": "b", "name": "B", "kind": "allow_always"}]), DONE),
    "PERM-5": (ask(), DONE),
    "PERM-7": (ask(tool_call={"toolCallId": "c", "kind": "switch_mode"}), DONE),
    "PERM-8": (ask(session="of-somebody-else"), DONE),
    "PERM-11": (say({"permission": {"wait": False}}), DONE),
    "PERM-12": (ask(options=[]), DONE),
    "ENC-1": (say({"chunk": "a\u2028b\u0085c"}), DONE),
    "ENC-2": ({"wire": {"bytewise": True}, **say({"chunk": "é🙂"})}, DONE),
    "ENC-3": (say({"raw": {"hex": "ff fe 0a"}}), DONE),
    "ENC-4": (say({"raw": '{"jsonrpc":"2.0","method":"session/update","params":{"x":"\\ud800"}}\n'}), DONE),
    "ENC-6": ({"wire": {"line_end": "\r\n"}, **say()}, DONE),
    "ENC-7": ({"prompt": [{"raw": {"frame": LAST, "end": ""}}, {"exit": 0}]}, DONE),
    "NOISE-1": ({"start": [{"noise": "Loaded cached credentials."}], **say({"noise": "npm warn"})}, DONE),
    "NOISE-3": (say({"raw": "Loading..."}), DONE),
    "NOISE-5": (say(*({"noise": line} for line in ("not json", "5", "null", "[]", '"s"', "{}"))), DONE),
    "NOISE-6": (say({"raw": {"frame": {"jsonrpc": "2.0", "id": None, "error": {"code": -1}}}}), DONE),
    "HANG-1": (say({"tool_call": {"toolCallId": "c", "title": "t", "status": "in_progress"}}, {"hang": True}), TIMEOUT),
    "HANG-3": ({"initialize": [{"hang": True}]}, STARTUP),
    "HANG-4": ({"start": [{"noise": "1) login"}], "initialize": [{"hang": True}]}, STARTUP),
    "HANG-5": ({"new_session": [{"hang": True}]}, STARTUP),
    "HANG-7": ({"initialize": [{"stderr": "fetching"}, {"delay": 0.05}], **say()}, DONE),
    "START-2": ({"start": [{"stderr": "npm error 403"}, {"exit": 1}]}, EXITED),
    "DEATH-1": ({"prompt": [{"close": "stdout"}, {"hang": True}]}, EXITED),
    "DEATH-3": ({"start": [{"exit": 0}]}, EXITED),
    "DEATH-4": (say({"signal": "SIGSEGV"}), EXITED),
    "ORDER-1": (say({"stop": "end_turn"}, {"delay": 0.02}), DONE),
    "ORDER-2": ({"prompt": [{"together": [{"chunk": "said"}, {"stop": "end_turn"}]}]}, DONE),
    "ORDER-3": ({"new_session": [{"update": {"sessionUpdate": "available_commands_update"}}], **say()}, DONE),
    "ORDER-4": (say({"chunk": {"text": "not ours", "session": "other"}}), DONE),
    "TEXT-2": (say({"chunk": "300"}, {"chunk": "0"}), DONE),
    "TEXT-3": (say({"chunk": "m1"}, {"tool_call": {"toolCallId": "c", "title": "t"}}), DONE),
    "TEXT-5": (say({"user": "echo"}, {"thought": "hm"}), DONE),
    "TEXT-7": (say({"chunk": {"content": {"type": "hologram", "data": 1}}}), DONE),
    "CAP-1": (say({"request": {"method": "fs/read_text_file", "params": {"path": "/etc/passwd"}}}), DONE),
    "CAP-2": (say({"request": {"method": "_vendor/x"}}, {"notify": {"method": "what/ever"}}), DONE),
    "CANCEL-1": ({"on_cancel": "end_turn", "prompt": [{"hang": True}]}, TIMEOUT),
    "CANCEL-2": (
        {"on_cancel": "ignore", "prompt": [{"repeat": {"forever": True, "steps": [{"chunk": "."}, {"delay": 0.01}]}}]},
        TIMEOUT,
    ),
    "CANCEL-3": ({"prompt": [SLEEP, {"hang": True}], "ignore": ["SIGTERM"]}, TIMEOUT),
    "ERRMSG-1": ({"prompt": [{"error": {"message": "Internal error", "data": ["a", None]}}]}, ("agent_error",)),
    "ERRMSG-2": ({"prompt": [{"stderr": "the cause"}, {"error": {"data": {}}}]}, ("agent_error",)),
    "ERRMSG-4": ({"prompt": [{"stderr": "429"}]}, DONE),
    "LIMIT-1": (say({"chunk": {"text": "x", "size": 200_000}}), DONE),
    "LIMIT-3": ({"prompt": [{"flood": {"forever": True, "line": True}}]}, ("limit_exceeded",)),
    "STOP-1": ({"prompt": [{"stop": "max_tokens"}]}, ("max_tokens",)),
    "STOP-2": ({"prompt": []}, DONE),
    "STDERR-1": (say({"flood": {"stream": "stderr", "bytes": 1_500_000}}), DONE),
    "STDERR-2": (say({"flood": {"bytes": 1_000_000}}), DONE),
    "AUTH-1": ({"auth": {"methods": [{"id": "k", "name": "K"}], "required": True}}, ("auth_required",)),
    "BUDGET-1": (say({"usage": {"used": 1, "size": 2, "cost": {"amount": 0.1, "currency": "USD"}}}), DONE),
    "STRUCT-1": (say({"complete": {"x": 1}}), DONE),
    "SECRET-1": (say({"stderr": "Authorization: Bearer not-a-real-one"}), DONE),
}
