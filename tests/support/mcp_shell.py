"""A server of the Model Context Protocol over stdio with one tool, `shell`, which runs a command.

For agents that ask before they call a tool of somebody else's, but not before their own. Standard library only:
whichever agent starts it, any Python will do.
"""

import json
import subprocess
import sys
from typing import Any

TOOL = {
    "name": "shell",
    "description": "Runs a command.",
    "inputSchema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
NAME = "workshop"
SPEC = {"name": NAME, "command": sys.executable, "args": [__file__], "env": []}
"""How an agent is told of it: an entry of `mcp_servers`."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The result of one request."""
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            server = {"name": NAME, "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            command = ["sh", "-c", request["params"]["arguments"]["command"]]
            done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            return {"content": [{"type": "text", "text": done.stdout}], "isError": done.returncode != 0}
    return {}  # `ping`, and lists of what there is none of


def main() -> None:
    """Answer requests until stdin ends; what is no request has no answer."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}), flush=True)  # noqa: T201  # its wire


if __name__ == "__main__":
    main()
