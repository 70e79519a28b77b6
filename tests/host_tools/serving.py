"""A toolbox and its way in without a run around it: what tests of serving start from."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from acp_client.host_tools import sdk
from acp_client.host_tools.folder import make_folder
from acp_client.host_tools.hosting import Hosting, Way
from acp_client.host_tools.lines import Connection
from acp_client.host_tools.link import listen
from acp_client.host_tools.socket_door import SECRET_SECONDS, Doorkeeper
from acp_client.host_tools.toolbox import Call, Toolbox
from acp_client.host_tools.web import WebHost
from acp_client.outcome.result import HostToolCall
from acp_client.process.redaction import Redactor
from acp_client.tools.tool import as_host_tools
from tests.support.mcp import client as mcp_client

SECRET = "a-secret-of-one-run-0123456789"  # made up
OTHER_SECRET = "hunter2hunter2"  # made up


class Watch:
    """An overseer that permits all but what is in `refuse`, and notes what it sees."""

    def __init__(self) -> None:
        self.refuse: dict[str, str] = {}
        self.began: list[str] = []
        self.ended: list[HostToolCall] = []

    def begin(self, call: Call) -> None:
        """It begins."""
        self.began.append(call.name)

    def end(self, call: Call) -> None:
        """It is over."""
        self.ended.append(call.record(anyio.current_time()))

    async def permit(self, call: Call, arguments: Mapping[str, Any]) -> str | None:  # noqa: ARG002  # the protocol's
        """As the test says."""
        return self.refuse.get(call.name)


def toolbox(*tools: Callable[..., Any], **bounds: int) -> tuple[Toolbox, Watch]:
    """A toolbox of these functions, and what watches over it."""
    watch, redactor = Watch(), Redactor([OTHER_SECRET, SECRET])
    return Toolbox(as_host_tools(tools), watch, redactor, run_id="run-1", agent="an agent", **bounds), watch


async def nothing(done: float, total: float | None, message: str | None) -> None:
    """Nobody wants to hear of progress."""


@asynccontextmanager
async def served(
    box: Toolbox, way: Way, *, web: WebHost | None = None, secret: str = SECRET, **bounds: Any
) -> AsyncIterator[dict[str, Any]]:
    """The entry of `mcpServers` for a toolbox that is served, with others by `web`; nothing is left at the end.

    `bounds` are those of a WebHost of its own.
    """
    shared = web or WebHost(**bounds)
    hosting = Hosting(box, name="host_tools", secret=secret, web=lambda: shared)
    try:
        async with anyio.create_task_group() as tasks:
            yield await tasks.start(hosting.serve, way)
            tasks.cancel_scope.cancel()
    finally:
        if web is None:
            await anyio.to_thread.run_sync(shared.close)


@asynccontextmanager
async def behind_door(box: Toolbox, *, secret_seconds: float = SECRET_SECONDS, **bounds: Any) -> AsyncIterator[str]:
    """The path of a socket by which a toolbox is reached, without a bridge; `bounds` are those of a connection."""

    async def offer() -> Any:
        return box.offer()

    server = sdk.build_server("host_tools", offer, box.call)
    keeper = Doorkeeper(
        SECRET, lambda link, rest: Connection(link, server, **bounds).serve(rest), secret_seconds=secret_seconds
    )
    folder = make_folder()
    try:
        with listen(folder.socket) as listener:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(keeper.serve, listener)
                yield str(folder.socket)
                tasks.cancel_scope.cancel()
    finally:
        folder.remove()


async def client(entry: dict[str, Any], *calls: tuple[str, Any], **more: Any) -> list[dict[str, Any]]:
    """What a client in a process of its own is answered: to `tools/list`, and to each call."""
    task = json.dumps({"server": entry, "calls": calls, **more}).encode()
    done = await anyio.run_process([sys.executable, mcp_client.__file__], input=task, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]
