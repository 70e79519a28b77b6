"""An agent of the standard library alone, that starts in milliseconds: run as `program.py FOLDER MODE`.

Each of its processes notes in `FOLDER/log`, a line each, its pid and what it met. Modes say how it goes wrong.
"""

import json
import os
import signal
import sys
from typing import Any

FOLDER, MODE = sys.argv[1:3] if __name__ == "__main__" else ("", "")


def note(word: str) -> None:
    """One line, whole."""
    with open(f"{FOLDER}/log", "ab", buffering=0) as file:  # noqa: PTH123  # pathlib takes longer than all the rest
        file.write(f"{os.getpid()} {word}\n".encode())


def send(message: dict[str, Any]) -> None:
    """One frame."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def initialize() -> dict[str, Any]:
    """The answer, or what goes wrong instead."""
    if MODE == "exit":
        sys.exit(3)
    if MODE == "silent":
        signal.pause()
    if MODE == "refuse":
        return {"error": {"code": -32603, "message": "no"}}
    if MODE == "stderr":
        sys.stderr.write("early words\n" * 3)
        sys.stderr.flush()
    version = 2 if MODE == "version" else 1
    return {"result": {"protocolVersion": version, "agentInfo": {"name": "warm", "version": "1"}}}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What is said to a request; a prompt says the pid."""
    if request["method"] == "initialize":
        return initialize()
    if request["method"] == "session/new":
        return {"result": {"sessionId": "s"}}
    words = {"type": "text", "text": str(os.getpid())}
    update = {"sessionUpdate": "agent_message_chunk", "content": words}
    send({"method": "session/update", "params": {"sessionId": "s", "update": update}})
    return {"result": {"stopReason": "end_turn"}}


def main() -> None:
    """Serve until EOF."""
    note("start")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            note(request["method"])
            send({"id": request["id"], **answer(request)})
            if MODE == "leave" and request["method"] == "initialize":
                return
            if MODE == "mute" and request["method"] == "initialize":
                os.close(1)
            if MODE == "flood" and request["method"] == "initialize":
                sys.stdout.write("x" * 2_000_000 + "\n")
                sys.stdout.flush()
    note("eof")


if __name__ == "__main__":
    main()
