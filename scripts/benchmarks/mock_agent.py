"""The child where there is no C compiler: `mock_agent.py UPDATES`, the standard library only."""

import json
import os
import sys

TEXT = "the quick brown fox jumps over the lazy dog and runs away"
PIECE = 64 * 1024


def main() -> None:
    """Answer initialize, session/new and session/prompt, the last one after so many chunks."""
    updates = b"".join(_update(TEXT[: 12 + at % 40]) for at in range(int(sys.argv[1])))
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            _put(updates)
        if "id" in message:
            _put(_frame({"id": message["id"], "result": RESULTS.get(message["method"], {})}))


def _update(text: str) -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return _frame({"method": "session/update", "params": {"sessionId": "session-1", "update": update}})


def _frame(message: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def _put(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest[:PIECE]) :]


RESULTS: dict[str, object] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []},
    "session/new": {"sessionId": "session-1"},
    "session/prompt": {"stopReason": "end_turn"},
}


if __name__ == "__main__":
    main()
