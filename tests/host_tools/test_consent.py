"""Which permission requests are for our own tools: by their names, and by nothing that looks like another call."""

from collections.abc import Iterable
from typing import Any

import pytest

from acp_client.host_tools.consent import OwnTools, server_name
from acp_client.policy.permission import PermissionRequest
from acp_client.tools.tool import HostTool


def get_price(isin: str) -> float:
    """Look a price up."""
    return float(isin)


TOOLS = [HostTool.of(get_price)]
SHOWN = [
    "host_tools__get_price",
    "mcp__host_tools__get_price",
    "host_tools_get_price",
    "host_tools-get_price",
    "host_tools/get_price",
    "host_tools.get_price",
    "get_price (host_tools MCP Server)",
]
"""As agents show it."""


def found(*, others: Iterable[str] = (), kind: str = "other", title: str | None = None, **raw: Any) -> str | None:
    """The tool that a request is for."""
    request = PermissionRequest("s", "c", title, raw.pop("name", None), kind, (), raw)
    return OwnTools("host_tools", TOOLS, others=others).find(request)


@pytest.mark.parametrize("name", [*SHOWN, "get_price"])
def test_a_call_under_a_name_of_our_tool_is_ours(name: str) -> None:
    """As title, as name, or both; with or without its arguments."""
    assert found(title=name) == "get_price"
    assert found(name=name) == "get_price"
    assert found(title=name, name="get_price", rawInput={"isin": "x"}) == "get_price"


@pytest.mark.parametrize("kind", ["read", "edit", "delete", "execute", "fetch"])
def test_a_kind_that_an_agent_guesses_needs_the_full_name_and_the_tool_s_arguments(kind: str) -> None:
    """One agent takes the kind from the words of the name; another shows a command as the title."""
    assert found(kind=kind, title="host_tools/get_price", rawInput={"isin": "x"}) == "get_price"
    assert found(kind=kind, title="host_tools/get_price") is None
    assert found(kind=kind, title="host_tools/get_price", rawInput={"command": "host_tools/get_price"}) is None
    assert found(kind=kind, title="get_price", rawInput={"isin": "x"}) is None


@pytest.mark.parametrize(
    "call",
    [
        {"title": "get_price; rm -rf /"},
        {"title": "get_price "},
        {"title": "GET_PRICE"},
        {"title": "other__get_price"},
        {"title": None},
        {"title": "host_tools__get_price", "name": "bash"},
        {"title": "rm -rf /", "name": "get_price"},
        {"title": "get_price", "rawInput": {"command": "get_price"}},
        {"title": "host_tools__get_price", "kind": "switch_mode"},
        {"title": "host_tools__get_price", "kind": "made_up"},
        {"title": "host_tools__get_price", "locations": [{"path": "/etc/passwd"}]},
        {"title": "host_tools__get_price", "content": [{"type": "diff", "path": "/x", "newText": "y"}]},
    ],
)
def test_whatever_may_be_another_call_is_not_ours(call: dict[str, Any]) -> None:
    """A name alone is what a hostile model would write."""
    assert found(**call) is None


def test_beside_other_servers_a_bare_name_is_nobody_s() -> None:
    """It may be theirs."""
    assert found(others=["files"], title="get_price") is None
    assert all(found(others=["files", "get_price"], title=name) == "get_price" for name in SHOWN)


@pytest.mark.parametrize(
    ("other", "tool", "shape"),
    [
        ("mcp", "host_tools__get_price", "{}__{}"),
        ("mcp", "host_tools_get_price", "{}_{}"),
        ("MCP", "host_tools__get_price", "{}__{}"),
        ("mcp.", "host_tools__get_price", "{}_{}"),  # some agents write a server's name so: mcp_
        ("mcp_", "host_tools__get_price", "{}_{}"),
        ("host", "tools__get_price", "{}_{}"),
        ("host", "tools_get_price", "{}_{}"),
        ("host", "tools/get_price", "{}_{}"),
        ("mcp_host", "tools_get_price", "{}_{}"),
    ],
)
def test_a_name_that_a_tool_of_another_server_can_have_is_nobody_s(other: str, tool: str, shape: str) -> None:
    """Else a server's author could call a tool so that it is allowed as ours."""
    shown = shape.format("".join(one if one.isalnum() else "_" for one in other), tool).replace("MCP", "mcp")
    assert found(title=shown) == "get_price"
    assert found(title=shown, others=["files", other]) is None


def test_beside_a_server_that_is_called_mcp_the_other_names_are_still_ours() -> None:
    """It can have no tool whose name begins otherwise."""
    kept = [name for name in SHOWN if not name.startswith("mcp")]
    assert [name for name in SHOWN if found(title=name, others=["mcp"])] == kept


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ([], "host_tools"),
        (["files", "", "\u6570\u636e"], "host_tools"),
        (["host_tools"], "host2_tools"),
        (["Host Tools"], "host2_tools"),
        (["host"], "host2_tools"),
        (["host_tools_get"], "host2_tools"),  # whose tool `price` would read as our `get_price`
        (["host.tools", "host2", "host3-tools"], "host4_tools"),
    ],
)
def test_our_server_s_name_and_another_s_begin_differently(taken: list[str], name: str) -> None:
    """Two of one name would shadow each other, and a tool of one read as a tool of the other."""
    assert server_name(taken) == name
