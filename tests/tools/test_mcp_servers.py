"""MCP servers as people write them down."""

from typing import Any

import pytest

from acp_client import AgentSpec
from acp_client.protocol.models import McpServerStdio

FILES = {"command": "mcp-files", "args": ["-r"], "env": {"ROOT": "/data"}}
WEB = {"type": "streamable-http", "url": "http://127.0.0.1:1/mcp", "headers": {"X-Key": "k"}}
BOTH = {"files": FILES, "web": WEB}
ON_WIRE = [
    {"name": "files", "command": "mcp-files", "args": ["-r"], "env": [{"name": "ROOT", "value": "/data"}]},
    {"type": "http", "name": "web", "url": "http://127.0.0.1:1/mcp", "headers": [{"name": "X-Key", "value": "k"}]},
]


def wire(servers: Any) -> list[dict[str, Any]]:
    """What `session/new` is given."""
    return [server.to_wire() for server in AgentSpec(command=["x"], mcp_servers=servers).mcp_servers]


@pytest.mark.parametrize(
    "servers",
    [
        BOTH,
        {"mcpServers": BOTH},
        {"mcpServers": [{"name": name, **server} for name, server in BOTH.items()]},
        [{"name": name, **server} for name, server in BOTH.items()],
        ON_WIRE,
        tuple(ON_WIRE),
        {"servers": BOTH},
    ],
)
def test_every_usual_shape_means_the_same_servers(servers: Any) -> None:
    """A map by name, that map under its usual key, a list."""
    assert wire(servers) == ON_WIRE


def test_models_stay_what_they_are() -> None:
    """Beside dicts."""
    model = McpServerStdio.from_wire(ON_WIRE[0])
    assert wire([model, ON_WIRE[1]]) == ON_WIRE


@pytest.mark.parametrize(
    ("word", "kind"),
    [("http", "http"), ("streamable_http", "http"), ("streamableHttp", "http"), ("SSE", "sse"), (None, "http")],
)
def test_types_are_read_as_commonly_written(word: str | None, kind: str) -> None:
    """A url without a type is http."""
    server = {"url": "http://x/"} | ({} if word is None else {"type": word})
    assert wire({"a": server})[0]["type"] == kind


def test_stdio_may_be_said_and_a_server_may_be_switched_off() -> None:
    """What other programs note for themselves is no matter of the agent's."""
    servers = {
        "a": {"type": "stdio", "command": "x", "timeout": 5, "alwaysAllow": []},
        "b": {"command": "y", "disabled": True},
    }
    assert wire(servers) == [{"name": "a", "command": "x", "args": [], "env": []}]


@pytest.mark.parametrize(
    ("servers", "rule"),
    [
        ("files", "must be a list of servers"),
        (FILES, "one server stands alone"),
        ({"mcpServers": BOTH, "theme": "dark"}, "beside 'mcpServers' nothing may stand"),
        ({"a": {"type": "carrier-pigeon", "command": "x"}}, "['a']: type is not one of"),
        ({"a": {"command": "x", "cwd": "/"}}, "['a']: an MCP server over stdio has no 'cwd'"),
        ({"a": {"comand": "x"}}, "did you mean 'command'?"),
        ({"a": {"command": "x", "name": "b"}}, "its key and its own name differ"),
        ({"a": {"url": "u", "headers": {"X": 3}}}, "['a']"),
        ({"a": {}}, "['a']"),
        ({"a": 3}, "['a']"),
        ([{"command": "x"}], "[0]"),
        ([3], "[0]"),
    ],
)
def test_a_wrong_server_is_named_with_the_rule(servers: Any, rule: str) -> None:
    """And no value is shown."""
    with pytest.raises(ValueError, match="mcp_servers") as told:
        wire(servers)
    assert rule in str(told.value)


def test_no_secret_of_a_wrong_server_is_shown() -> None:
    """Variables and headers are where they are."""
    with pytest.raises(ValueError, match="mcp_servers") as told:
        wire({"a": {"command": ["x"], "env": {"KEY": "hunter2hunter2"}}})
    assert "hunter2hunter2" not in str(told.value)
