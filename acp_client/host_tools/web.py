"""Loopback http for the host tools of all runs of a runner: one server, in a thread with an event loop of its own.

Owns the thread, the port and who gets in: each run has its path and its bearer. The thread is what makes the SDK's http
work under trio too, and keeps it going while the program's own loop is busy. (MCP, transports, streamable HTTP.)
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import uvicorn
    from mcp.server.lowlevel import Server

HOST: Final = "127.0.0.1"

MAX_CONNECTIONS: Final = 256
"""At once, for all runs; one more takes the place of whoever has asked for nothing for longest, and is closed unread
where all have asked. An agent holds two or three."""
MAX_SESSIONS: Final = 16
"""Of one run."""
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
"""Of one request, as on the socket."""
START_SECONDS: Final = 10.0
"""Until the thread listens; it takes some milliseconds once the SDK is loaded."""
HEAD_SECONDS: Final = 5.0
"""Until the head of the first request of a connection is there: whoever holds one without asking takes the place of an
agent. Refused requests end their connection."""
STOP_SECONDS: Final = 5.0
"""Until the thread has ended."""

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(slots=True)
class Route:
    """One run's: the path after the host, and what must be sent with each request."""

    path: str
    secret: str = field(repr=False)
    server: Server[Any] = field(repr=False)
    handle: Callable[[Scope, Receive, Send], Awaitable[None]] | None = None
    task: asyncio.Task[None] | None = None


class WebHost:
    """The server of one runner; started by the first run that wants it. Every method but `url` blocks, for a moment."""

    def __init__(self, *, max_connections: int = MAX_CONNECTIONS, head_seconds: float = HEAD_SECONDS) -> None:
        self._max_connections = max_connections
        self._head_seconds = head_seconds
        self._lock = threading.Lock()
        self._routes: dict[str, Route] = {}
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._web: uvicorn.Server | None = None
        self._port = 0

    def url(self, path: str) -> str:
        """Where a path is."""
        return f"http://{HOST}:{self._port}{path}"

    def mount(self, route: Route) -> None:
        """Serve a run. Raises OSError where no port or thread is to be had."""
        with self._lock:
            if self._thread is None:
                self._start()
        self._do(self._mount(route)).result(START_SECONDS)

    def unmount(self, route: Route) -> None:
        """The run is over: its sessions end, and its bearer opens nothing. Never raises."""
        with suppress(TimeoutError, RuntimeError):  # a thread that hangs, or has ended: its sessions end with it
            if self._loop is not None and route.task is not None:
                self._do(self._unmount(route)).result(STOP_SECONDS)

    def close(self) -> None:
        """End the thread. Idempotent; waits for it, though not for ever."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None and self._web is not None:
                self._web.should_exit = self._web.force_exit = True
                thread.join(STOP_SECONDS)

    # ---- the thread

    def _start(self) -> None:
        listener = socket.create_server((HOST, 0))
        self._port = listener.getsockname()[1]
        started: Future[None] = Future()
        thread = threading.Thread(target=self._serve, args=(listener, started), name="acp-host-tools", daemon=True)
        try:
            thread.start()
            started.result(START_SECONDS)
        except BaseException as error:
            listener.close()
            if isinstance(error, RuntimeError):
                raise OSError(f"no thread can be started ({error})") from error
            raise
        self._thread = thread

    def _serve(self, listener: socket.socket, started: Future[None]) -> None:
        with listener:
            asyncio.run(self._main(listener, started))

    async def _main(self, listener: socket.socket, started: Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._web = _server(self._answer, self._max_connections, self._head_seconds)
        started.set_result(None)  # the socket listens: who connects now waits for a moment
        await self._web.serve(sockets=[listener])

    def _do(self, work: Any) -> Future[Any]:
        assert self._loop is not None  # it was started
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _mount(self, route: Route) -> None:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        route.task = asyncio.create_task(self._hold(route, ready))
        await ready
        self._routes[route.path] = route

    async def _hold(self, route: Route, ready: asyncio.Future[None]) -> None:
        """The sessions of a run, until its task is cancelled."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415  # see `sdk`

        manager = StreamableHTTPSessionManager(
            route.server, max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS, session_idle_timeout=None
        )
        async with manager.run():
            route.handle = manager.handle_request
            ready.set_result(None)
            await asyncio.get_running_loop().create_future()

    async def _unmount(self, route: Route) -> None:
        assert route.task is not None  # it was mounted
        self._routes.pop(route.path, None)
        route.task.cancel()
        await asyncio.wait([route.task], timeout=STOP_SECONDS)

    # ---- who gets in

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application, for http alone: nothing is read of a request before it may come in."""
        headers = {bytes(name).lower(): bytes(value) for name, value in scope["headers"]}
        status = self._judge(headers)
        route = self._routes.get(scope["path"])
        if status is None and not _knows_secret(headers, route):
            status = 401
        if status is not None or route is None or route.handle is None:
            await _refuse(send, status or 401)
        else:
            await route.handle(scope, receive, send)

    def _judge(self, headers: Mapping[bytes, bytes]) -> int | None:
        """Against pages in a browser that reach us under another name (MCP, transports, security warning)."""
        hosts = [f"{name}:{self._port}".encode() for name in (HOST, "localhost")]
        if headers.get(b"host") not in hosts:
            return 421
        origin = headers.get(b"origin")
        return 403 if origin is not None and origin not in [b"http://" + host for host in hosts] else None


def _knows_secret(headers: Mapping[bytes, bytes], route: Route | None) -> bool:
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    return route is not None and scheme.lower() == b"bearer" and hmac.compare_digest(given, route.secret.encode())


async def _refuse(send: Send, status: int) -> None:
    more = [(b"connection", b"close")]
    if status == 401:  # noqa: PLR2004  # of http
        more.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0"), *more]})
    await send({"type": "http.response.body", "body": b""})


def _end_idle(connection: Any) -> None:
    """No head of a request has come over it so far."""
    if connection.cycle is None:
        connection.transport.abort()


def _longest_idle(connections: Iterable[Any]) -> Any:
    """Of those over which no head of a request has come, the first. There is one: the last that came."""
    idle = [one for one in connections if one.cycle is None and not one.transport.is_closing()]
    return min(idle, key=lambda one: one.until.when())


def _server(app: Any, max_connections: int, head_seconds: float) -> uvicorn.Server:
    import uvicorn  # noqa: PLC0415  # comes with the SDK
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415  # as above

    quiet = logging.Logger(__name__, logging.ERROR)  # noqa: LOG001  # of no tree: a bad request is no line on stderr
    quiet.parent = logging.getLogger("acp_client")

    class Bounded(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            self.logger = self.access_logger = quiet
            self.until = self.loop.call_later(head_seconds, _end_idle, self)
            super().connection_made(transport)
            if len(self.connections) > max_connections:
                _longest_idle(self.connections).transport.abort()

    config = uvicorn.Config(
        app,
        interface="asgi3",
        http=Bounded,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    return uvicorn.Server(config)
