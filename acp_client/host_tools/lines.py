"""One connection of a bridge: lines of JSON-RPC over a stream on one side, the SDK's server on the other.

Owns what a flood or garbage may cost: a line, the requests that are open, and the lines that are no message are
bounded. (MCP, transports, stdio: one message a line.)
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from pydantic import ValidationError

from acp_client.host_tools.link import Link

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

MAX_LINE_BYTES: Final = 8 * 1024 * 1024
"""Of one message: arguments of a tool that are larger belong into a file."""
MAX_OPEN_REQUESTS: Final = 64
"""Of one connection; more are answered with an error at once."""
MAX_GARBAGE_LINES: Final = 100
"""Lines that are no message, each answered with an error; then the connection is closed."""

PARSE_ERROR: Final = -32700
TOO_MANY: Final = -32000


class Connection:
    """Serves one stream to its end. Never raises for what comes over it."""

    def __init__(
        self,
        link: Link,
        server: Server[Any],
        *,
        max_line_bytes: int = MAX_LINE_BYTES,
        max_open_requests: int = MAX_OPEN_REQUESTS,
    ) -> None:
        self._link = link
        self._server = server
        self._max_line_bytes = max_line_bytes
        self._max_open_requests = max_open_requests
        self._open: Counter[Any] = Counter()
        self._garbage = 0
        self._writing = anyio.Lock()

    async def serve(self, buffered: bytes = b"") -> None:
        """Until either side closes; what `buffered` holds came before. Calls that are open then are cancelled."""
        to_server, read_stream = anyio.create_memory_object_stream[Any](0)
        write_stream, from_server = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, to_server, buffered)
            tasks.start_soon(self._write, from_server)
            await self._server.run(read_stream, write_stream, self._server.create_initialization_options())
            tasks.cancel_scope.cancel()

    async def _read(self, to_server: MemoryObjectSendStream[Any], buffered: bytes) -> None:
        begun, received = bytearray(), buffered
        async with to_server:
            while True:
                first, *more = received.split(b"\n")  # what is new alone: a line may come byte by byte
                begun += first
                for part in more:
                    await self._take(bytes(begun), to_server)
                    begun = bytearray(part)
                if len(begun) > self._max_line_bytes or self._garbage >= MAX_GARBAGE_LINES:
                    return
                received = await self._link.receive()
                if not received:
                    return

    async def _take(self, line: bytes, to_server: MemoryObjectSendStream[Any]) -> None:
        from mcp.shared.message import SessionMessage  # noqa: PLC0415  # see `sdk`
        from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter  # noqa: PLC0415  # see `sdk`

        if not line.strip() or self._garbage >= MAX_GARBAGE_LINES:
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self._garbage += 1
            await self._refuse(None, PARSE_ERROR, "this line is no JSON-RPC message")
            return
        if isinstance(message, JSONRPCRequest):
            if self._open.total() >= (most := self._max_open_requests):
                await self._refuse(message.id, TOO_MANY, f"{most} requests are open; wait for an answer")
                return
            self._open[message.id] += 1
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._close((message.params or {}).get("requestId"))
        try:
            await to_server.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._garbage = MAX_GARBAGE_LINES  # the server has ended: nothing more is read

    def _close(self, request_id: Any) -> None:
        """It is answered, or no answer is wanted any more."""
        if isinstance(request_id, str | int) and self._open[request_id] > 0:
            self._open[request_id] -= 1
        self._open += Counter()  # what is at zero goes

    async def _write(self, from_server: Any) -> None:
        from mcp_types import JSONRPCRequest  # noqa: PLC0415  # see `sdk`

        async with from_server:
            async for item in from_server:
                if not isinstance(item.message, JSONRPCRequest):
                    self._close(getattr(item.message, "id", None))
                await self._send(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def _refuse(self, request_id: Any, code: int, message: str) -> None:
        from mcp_types import ErrorData, JSONRPCError  # noqa: PLC0415  # see `sdk`

        error = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
        await self._send(error.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def _send(self, line: bytes) -> None:
        with suppress(OSError):  # nobody reads any more: the reader sees the end
            async with self._writing:
                await self._link.send(line + b"\n")
