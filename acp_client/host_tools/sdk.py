"""The official MCP SDK, behind one door: its server, told what we offer and whom to ask for a call.

The only module that imports it, and only when asked: it takes a second, and need not be installed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_client._version import __version__
from acp_client.host_tools.toolbox import Serve

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

NEEDED: Final = "host tools need the official MCP SDK, version 2.3 or later: pip install 'acp-subagents[tools]'"

INSTRUCTIONS: Final = "Functions of the program that runs this agent. Call them as you need them."

Offer: TypeAlias = Callable[[], Awaitable[Sequence[dict[str, Any]]]]
"""The tools, as `tools/list` shows them."""


def is_installed() -> bool:
    """True if the SDK is there; quick, since nothing is loaded."""
    return importlib.util.find_spec("mcp") is not None


def load() -> None:
    """Load what is needed: about a second of work, once. Raises ImportError that says what to install."""
    try:
        importlib.import_module("mcp.server.lowlevel")
        importlib.import_module("mcp_types")
    except ImportError as error:
        raise ImportError(f"{NEEDED} ({error})") from error


def build_server(name: str, offer: Offer, serve: Serve) -> Server[Any]:
    """A server of the SDK's for one run: `offer` is asked for the tools, `serve` for each call."""
    import mcp_types as types  # noqa: PLC0415  # see above
    from mcp.server.lowlevel import Server  # noqa: PLC0415  # see above

    async def on_list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in await offer()])

    async def on_call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        outcome = await serve(params.name, params.arguments or {}, context.session.report_progress)
        return types.CallToolResult.model_validate({"content": outcome.content, "isError": outcome.is_error})

    return Server(
        name, version=__version__, instructions=INSTRUCTIONS, on_list_tools=on_list_tools, on_call_tool=on_call_tool
    )
