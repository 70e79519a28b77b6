"""The host tools of one run, offered: the way in opens once it is known what the agent can, and closes with the run.

Owns the choice between loopback http and the bridge, and the entry that goes into `session/new`.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import anyio
import anyio.abc
from anyio.from_thread import BlockingPortal
from pydantic_core import to_json

from acp_client.host_tools import bridge, sdk
from acp_client.host_tools.folder import Folder, make_folder
from acp_client.host_tools.lines import Connection
from acp_client.host_tools.link import listen
from acp_client.host_tools.socket_door import Doorkeeper
from acp_client.host_tools.toolbox import RUN_OVER, Outcome, Toolbox
from acp_client.host_tools.web import Route, WebHost
from acp_client.loop.threads import in_thread
from acp_client.tools.context import Report
from acp_client.tools.tool import HostTool

LISTING_SECONDS: Final = 1.0
"""How long the prompt waits for the agent to list the tools: most have done so before they answer session/new, some
do at their first call only."""
HASH_CHARS: Final = 16
MAX_TELLING: Final = 8
"""Words of progress of one call that are on their way over http; more are dropped."""

Way: TypeAlias = Literal["http", "stdio"]


def hash_of(tools: Sequence[HostTool]) -> str:
    """Names the tool set: an agent that keeps descriptors by a server's address sees that they are others now."""
    told = to_json(sorted((tool.to_mcp() for tool in tools), key=lambda tool: str(tool["name"])))
    return hashlib.sha256(told).hexdigest()[:HASH_CHARS]


class Hosting:
    """Serves one run's toolbox under a name; `serve` does so until it is cancelled."""

    def __init__(self, toolbox: Toolbox, *, name: str, secret: str, web: Callable[[], WebHost]) -> None:
        self.toolbox: Final = toolbox
        self.name: Final = name
        self._secret = secret
        self._web = web
        self._hash = hash_of(tuple(toolbox.tools.values()))

    async def serve(self, way: Way, *, task_status: anyio.abc.TaskStatus[dict[str, Any]]) -> None:
        """Open the way in and hold it; what is started is the server as `session/new` wants it. Raises OSError.

        Cancelled, it leaves nothing: no call, no connection, no socket, no folder.
        """
        try:
            if way == "http":
                await self._serve_http(task_status)
            else:
                await self._serve_bridges(task_status)
        finally:
            self.toolbox.close()

    async def await_listing(self) -> bool:
        """True once the agent has listed the tools; waits a bounded moment for it."""
        with anyio.move_on_after(LISTING_SECONDS):
            await self.toolbox.listed.wait()
        return self.toolbox.listed.is_set()

    # ---- the bridge

    async def _serve_bridges(self, task_status: anyio.abc.TaskStatus[dict[str, Any]]) -> None:
        folder = await in_thread(make_folder, Folder.remove)
        try:
            server = sdk.build_server(self.name, self._offer, self.toolbox.call)
            keeper = Doorkeeper(self._secret, lambda link, rest: Connection(link, server).serve(rest))
            with listen(folder.socket) as listener:
                task_status.started(self._stdio_entry(folder.socket))
                await keeper.serve(listener)
        finally:
            folder.remove()

    def _stdio_entry(self, path: Path) -> dict[str, Any]:
        arguments = ["-I", "-S", str(Path(bridge.__file__).resolve()), str(path), self._hash]
        env = [{"name": bridge.SECRET_VARIABLE, "value": self._secret}]
        return {"name": self.name, "command": sys.executable, "args": arguments, "env": env}

    async def _offer(self) -> Sequence[dict[str, Any]]:
        return self.toolbox.offer()

    # ---- http

    async def _serve_http(self, task_status: anyio.abc.TaskStatus[dict[str, Any]]) -> None:
        web = self._web()
        crossing = Crossing(self.toolbox)
        server = sdk.build_server(self.name, crossing.offer, crossing.call)
        path = f"/{secrets.token_hex(8)}/{self._hash}/mcp"  # some agents add this end to a path that has another
        route = Route(path, self._secret, server)
        try:
            await in_thread(lambda: web.mount(route))
            async with BlockingPortal() as crossing.portal:
                task_status.started(self._http_entry(web.url(route.path)))
                await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await in_thread(lambda: web.unmount(route))

    def _http_entry(self, url: str) -> dict[str, Any]:
        headers = [{"name": "Authorization", "value": f"Bearer {self._secret}"}]
        return {"type": "http", "name": self.name, "url": url, "headers": headers}


class Crossing:
    """Calls from the thread of the http server into the loop of the run, and progress back."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.portal: BlockingPortal | None = None
        self._toolbox = toolbox

    async def offer(self) -> Sequence[dict[str, Any]]:
        """In the thread: the tools; none once the run is over."""
        assert self.portal is not None  # it is there before the agent is told the address
        try:
            return await asyncio.wrap_future(self.portal.start_task_soon(self._toolbox.offer))
        except RuntimeError:  # it is closed
            return ()

    async def call(self, name: str, arguments: Mapping[str, Any], report: Report) -> Outcome:
        """In the thread: a call. If it is cancelled here it is there."""
        assert self.portal is not None  # as above
        loop = asyncio.get_running_loop()
        telling: list[Future[None]] = []

        async def tell(done: float, total: float | None, message: str | None) -> None:
            telling[:] = [one for one in telling if not one.done()]
            if len(telling) < MAX_TELLING:
                telling.append(asyncio.run_coroutine_threadsafe(_awaited(report(done, total, message)), loop))

        try:
            work = self.portal.start_task_soon(self._toolbox.call, name, arguments, tell)
            return await asyncio.wrap_future(work)
        except RuntimeError:  # it is closed
            return Outcome.error(RUN_OVER)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return Outcome.error(RUN_OVER)  # it was cancelled there, with the run


async def _awaited(step: Awaitable[None]) -> None:
    await step
