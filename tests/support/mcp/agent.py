"""A foreign agent that calls the tools of the MCP servers it is given: `agent.py [http] [late|lazy|never]`.

Standard library only, and none of our code: what it does over ACP and MCP is on this page and in `client`. Its
prompt is a JSON document: `{"calls": [[name, arguments], …]}`; before each, what stands in `announce` is sent as a
`tool_call`, and what in `ask` as the tool call of a permission request, whose rejection skips the call; after each,
the updates in `afterwards` are sent. Its answer is the JSON list of what came of each. With `file` it also writes there
what it was given as a server, with `raw` it sends these lines to a bridge of its own first.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.support.mcp import client as mcp_client

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Agent:
    """One session. `words` are those of the command line."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._clients: list[Any] = []
        self._servers: list[dict[str, Any]] = []
        self._ids = iter(range(1, 1_000_000))

    def serve(self) -> None:
        """Answer requests until stdin ends."""
        while (request := self._receive()) is not None:
            if "id" in request and "method" in request:
                self._send({"id": request["id"], "result": self._answer(request["method"], request["params"])})
                if request["method"] == "session/new" and "late" in self._words:
                    self._connect()
        for client in self._clients:
            client.close()

    def _receive(self) -> dict[str, Any] | None:
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def _send(self, message: dict[str, Any]) -> None:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)  # noqa: T201  # its wire

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            takes = {"http": "http" in self._words}
            return {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": takes}}
        if method == "session/new":
            self._servers = params["mcpServers"]
            if not {"late", "lazy", "never"} & set(self._words):
                self._connect()
            return {"sessionId": "s-1"}
        return self._prompt(json.loads(params["prompt"][0]["text"]))

    def _connect(self) -> None:
        for _ in range(2 if "twice" in self._words else 1):
            self._clients += [mcp_client.connect(server) for server in self._servers]
        for client in self._clients:
            list(client.ask({"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/list", "params": {}}))

    def _prompt(self, task: dict[str, Any]) -> dict[str, Any]:
        if "file" in task:
            Path(task["file"]).write_text(json.dumps(self._servers))
        if "lazy" in self._words and not self._clients:
            self._connect()
        for line in task.get("raw", ()):
            self._clients[-1].process.stdin.write(line.encode() + b"\n")
        came = [list(self._call(task, *call)) for call in task["calls"]]
        self._update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": json.dumps(came)}})
        return {"stopReason": task.get("stop", "end_turn")}

    def _call(self, task: dict[str, Any], name: str, arguments: Any) -> Iterator[Any]:
        if "announce" in task:
            self._update({"sessionUpdate": "tool_call", **task["announce"]})
        if "ask" in task and not self._is_allowed(task["ask"]):
            yield "not allowed"
            return
        for message in self._clients[-1].ask(mcp_client.call(next(self._ids), name, arguments)):
            yield message.get("result") or message.get("params") or message.get("error")
        for update in task.get("afterwards", ()):
            self._update(update)

    def _is_allowed(self, call: dict[str, Any]) -> bool:
        params = {"sessionId": "s-1", "toolCall": call, "options": OPTIONS}
        number = next(self._ids)
        self._send({"id": number, "method": "session/request_permission", "params": params})
        while (message := self._receive()) is not None:
            if message.get("id") == number:
                outcome: dict[str, Any] = message["result"]["outcome"]
                return outcome.get("optionId") == "yes"
        return False

    def _update(self, update: dict[str, Any]) -> None:
        self._send({"method": "session/update", "params": {"sessionId": "s-1", "update": update}})


if __name__ == "__main__":
    Agent(sys.argv[1:]).serve()
