"""Stands between us and an agent, and clears its word that it takes MCP over http: `without_http.py COMMAND…`.

So that an agent that takes both ways is offered the one over stdio. The agent reads our stdin itself, and nothing but
its answer to `initialize` is changed. Standard library only.
"""

import json
import subprocess
import sys
from typing import Any


def cleared(line: bytes) -> bytes:
    """The line; without the capability, where it is the answer that has it."""
    message: Any = json.loads(line) if b"mcpCapabilities" in line else {}
    answer = message.get("result")
    if not isinstance(answer, dict) or "agentCapabilities" not in answer:
        return line
    answer["agentCapabilities"]["mcpCapabilities"]["http"] = False
    return json.dumps(message).encode() + b"\n"


def main() -> int:
    """Pass on what it says until it ends, and end as it did."""
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as agent:
        assert agent.stdout is not None
        for line in agent.stdout:
            sys.stdout.buffer.write(cleared(line))
            sys.stdout.buffer.flush()
    return agent.returncode


if __name__ == "__main__":
    sys.exit(main())
