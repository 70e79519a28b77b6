"""The child where a child in Python is wanted, or no C compiler is there: `mock_agent.py [UPDATES [CHARS [ASKS]]]`.

The standard library only; does what mock_agent.c does.
"""

import json
import os
import sys

TEXT = "the quick brown fox jumps over the lazy dog and runs away"
PIECE = 64 * 1024


def main() -> None:
    """Answer initialize, session/new and session/prompt, the last one after its permissions and chunks."""
    count, chars, asks = (int(word) for word in (*sys.argv[1:4], *("1", "0", "0")[len(sys.argv) - 1 :]))
    updates = b"".join(_update("x" * chars or TEXT[: 12 + at % 40]) for at in range(count))
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            _ask(asks)
            _put(updates)
        if "id" in message:
            _put(_frame({"id": message["id"], "result": RESULTS.get(message["method"], {})}))


def _ask(count: int) -> None:
    for number in range(1, count + 1):
        call = {"toolCallId": f"call-{number}", "title": "write a file", "kind": "edit"}
        params = {"sessionId": "session-1", "toolCall": call, "options": OPTIONS}
        _put(_frame({"id": number, "method": "session/request_permission", "params": params}))
        if b'"yes"' not in sys.stdin.buffer.readline():
            sys.exit(2)


def _update(text: str) -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return _frame({"method": "session/update", "params": {"sessionId": "session-1", "update": update}})


def _frame(message: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def _put(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest[:PIECE]) :]


OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
RESULTS: dict[str, object] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []},
    "session/new": {"sessionId": "session-1"},
    "session/prompt": {"stopReason": "end_turn"},
}


if __name__ == "__main__":
    main()
