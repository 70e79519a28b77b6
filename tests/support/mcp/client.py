"""A small MCP client over a server that it starts: standard library only, for agents that tests script.

As a program it takes a JSON document on stdin, `{"server": entry of mcpServers, "calls": [[name, arguments], …]}`, and
prints a JSON line for each answer. An http server is spoken to as the streamable transport says.
"""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

VERSION = "2025-06-18"
HELLO = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Bridge:
    """A stdio server, started with the environment that its entry gives and no other."""

    def __init__(self, server: dict[str, Any]) -> None:
        env = {pair["name"]: pair["value"] for pair in server["env"]}
        argv = [server["command"], *server["args"]]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)

    def send(self, message: dict[str, Any]) -> None:
        """One message; no answer is waited for."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """One request; what comes until its answer, the answer last."""
        assert self.process.stdout is not None
        self.send(message)
        for line in self.process.stdout:
            received = json.loads(line)
            yield received
            if received.get("id") == message["id"]:
                return

    def close(self) -> None:
        """End its stdin and wait."""
        self.process.communicate()


class Web:
    """An http server: each request is a POST whose answer is JSON or a stream of events."""

    def __init__(self, server: dict[str, Any]) -> None:
        self._url = server["url"]
        self._headers = {pair["name"]: pair["value"] for pair in server["headers"]}
        self._headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def send(self, message: dict[str, Any]) -> None:
        """One message; no answer is waited for."""
        list(self.ask(message))

    def ask(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """One request; what comes until its answer, the answer last."""
        request = urllib.request.Request(self._url, json.dumps(message).encode(), self._headers)  # noqa: S310  # ours
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request) as response:
            if session := response.headers.get("Mcp-Session-Id"):
                self._headers["Mcp-Session-Id"] = session
            for line in response:
                if line.startswith(b"data: {"):
                    yield json.loads(line[6:])
                elif line.startswith(b"{"):
                    yield json.loads(line)

    def close(self) -> None:
        """Nothing is held open."""


def connect(server: dict[str, Any]) -> Bridge | Web:
    """A client of a server that has said hello and listed the tools."""
    client = Web(server) if server.get("type") == "http" else Bridge(server)
    list(client.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}))
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return client


def call(number: int, name: str, arguments: Any) -> dict[str, Any]:
    """The request to call a tool, which wants to hear of progress."""
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": f"p{number}"}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def main() -> None:
    """List and call what the document says."""
    task = json.load(sys.stdin)
    client = connect(task["server"])
    if task.get("list", True):
        for message in client.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}):
            print(json.dumps(message), flush=True)  # noqa: T201  # for the test
    for number, (name, arguments) in enumerate(task["calls"], 2):
        for message in client.ask(call(number, name, arguments)):
            print(json.dumps(message), flush=True)  # noqa: T201  # for the test
    if task.get("hang"):
        os.read(0, 1)
    client.close()


if __name__ == "__main__":
    main()
