"""The bridge and its socket: real bridges, strangers, floods, and what is left."""

import json
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from anyio.abc import SocketStream

from acp_client import ToolContext
from acp_client.host_tools.lines import MAX_GARBAGE_LINES, PARSE_ERROR, TOO_MANY, Connection
from acp_client.host_tools.socket_door import MAX_CONNECTIONS, MAX_WAITING, peer_uid
from tests.host_tools.serving import SECRET, behind_door, client, served, toolbox
from tests.support.kernel import nothing_left
from tests.support.mcp import client as mcp_client

SECONDS = 10.0
NOBODY = 65534


async def add(a: int, b: int, context: ToolContext) -> int:
    """Adds."""
    await context.progress(1, 2, "half")
    return a + b


async def wait() -> None:
    """Waits."""
    await anyio.sleep_forever()


def path_of(entry: dict[str, Any]) -> str:
    """The socket of a server's entry."""
    path: str = entry["args"][3]
    return path


@asynccontextmanager
async def connected(path: str) -> AsyncIterator[SocketStream]:
    """A connection to the socket, after the secret."""
    async with await anyio.connect_unix(path) as link:
        await link.send(SECRET.encode() + b"\n")
        yield link


async def read_to_end(link: SocketStream) -> bytes:
    """All that comes until it is closed."""
    received = b""
    try:
        while True:
            received += await link.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return received


async def answers(link: SocketStream, count: int) -> list[dict[str, Any]]:
    """So many lines."""
    received = b""
    while received.count(b"\n") < count:
        received += await link.receive()  # raises EndOfStream
    return [json.loads(line) for line in received.splitlines()]


def frame(number: Any, method: str, **params: Any) -> bytes:
    """A request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


HELLO = frame(0, "initialize", **mcp_client.HELLO)


async def test_a_client_lists_and_calls_over_the_bridge_and_hears_of_progress() -> None:
    """By way of a real bridge that has no environment but the secret."""
    box, watch = toolbox(add)
    with anyio.fail_after(SECONDS), nothing_left():
        async with served(box, "stdio") as entry:
            listed, progress, answer, failed = await client(entry, ("add", {"a": 1, "b": 2}), ("add", {}))
            folder = Path(path_of(entry)).parent
            assert folder.stat().st_mode & 0o777 == 0o700
        assert not folder.exists()
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["add"]
    assert progress["params"] == {"progressToken": "p2", "progress": 1, "total": 2, "message": "half"}
    assert answer["result"] == {"content": [{"type": "text", "text": "3"}], "isError": False}
    assert failed["result"]["isError"] is True
    assert box.listed.is_set()
    assert watch.began == ["add", "add"]


@pytest.mark.parametrize("secret", ["", "wrong", SECRET[:-1], SECRET + "x", "x" * 1_000_000])
async def test_without_the_secret_nothing_is_said(secret: str) -> None:
    """The connection is closed without a word, and others are served."""
    box, watch = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "stdio") as entry:
            async with await anyio.connect_unix(path_of(entry)) as link:
                with suppress(anyio.BrokenResourceError):  # it was closed before all was sent
                    await link.send(secret.encode() + b"\n" + HELLO)
                assert await read_to_end(link) == b""
            async with connected(path_of(entry)) as link:
                await link.send(HELLO)
                assert (await answers(link, 1))[0]["id"] == 0
    assert watch.began == []


async def test_who_sends_no_secret_is_sent_away() -> None:
    """In bounded time, so that silence holds no place; who goes by itself leaves its place too."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with behind_door(box, secret_seconds=0.01) as path, await anyio.connect_unix(path) as link:
            assert await read_to_end(link) == b""
        async with behind_door(box, secret_seconds=inf) as path:
            for _ in range(MAX_WAITING + 1):
                async with await anyio.connect_unix(path) as link:
                    await link.send_eof()
                    assert await read_to_end(link) == b""


async def test_who_only_waits_keeps_no_bridge_out() -> None:
    """Those that have shown no secret hold places of their own, and the first of them goes for one more."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with behind_door(box, secret_seconds=inf) as path:
            silent = [await anyio.connect_unix(path) for _ in range(MAX_WAITING)]
            async with connected(path) as link:
                await link.send(HELLO)
                assert (await answers(link, 1))[0]["id"] == 0
                assert await read_to_end(silent[0]) == b""
                silent.append(await anyio.connect_unix(path))
                async with connected(path) as second:
                    await second.send(HELLO)
                    assert await answers(second, 1)
                await link.send(frame(1, "tools/list"))
                assert "result" in (await answers(link, 1))[0]
            for one in silent:
                await one.aclose()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_another_user_s_process_cannot_connect_even_if_it_knows_all() -> None:
    """Neither through the folder nor, were that open, past the check of who is at the other end."""
    program = (
        "import os, socket, sys\n"
        f"os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "link = socket.socket(socket.AF_UNIX)\n"
        "try:\n    link.connect(sys.argv[1])\n"
        "except PermissionError:\n    print('no way in'); sys.exit()\n"
        "link.sendall(sys.argv[2].encode() + b'\\n' + sys.argv[3].encode())\n"
        "print('told:', link.recv(1000))\n"
    )
    box, watch = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "stdio") as entry:
            path = Path(path_of(entry))
            argv = [sys.executable, "-I", "-S", "-c", program, str(path), SECRET, HELLO.decode()]
            assert (await anyio.run_process(argv)).stdout == b"no way in\n"
            path.parent.chmod(0o755)  # a moment
            path.chmod(0o777)  # noqa: ASYNC240  # a moment
            told = await anyio.run_process(argv, check=False)
            assert told.stdout in (b"told: b''\n", b"")  # closed, before or after it could send
    assert watch.began == []


def test_the_kernel_says_who_is_at_the_other_end() -> None:
    """Here it is us."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert peer_uid(ours) == os.geteuid()


async def test_garbage_is_answered_and_ends_only_its_own_connection() -> None:
    """Unknown methods, a second hello, calls before any and cancels of nothing are answered or passed over."""
    box, watch = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "stdio") as entry:
            async with connected(path_of(entry)) as link:
                await link.send(frame(1, "server/wonder") + HELLO + HELLO + frame("x", "tools/wonder"))
                told = sorted((str(one["id"]), "error" in one) for one in await answers(link, 4))
                assert told == [("0", False), ("0", False), ("1", True), ("x", True)]
                await link.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n')
                await link.send(b"\n[]\nnull\n\xff\xfe\n" + b"[" * 10_000 + b"\n")
                assert [one["error"]["code"] for one in await answers(link, 4)] == [PARSE_ERROR] * 4
                await link.send(frame(2, "tools/call", name="add", arguments={"a": 1, "b": 2}))
                assert (await answers(link, 1))[0]["result"]["content"][0]["text"] == "3"
                await link.send(b"garbage\n" * MAX_GARBAGE_LINES)
                assert (await read_to_end(link)).count(b"\n") == MAX_GARBAGE_LINES - 4
            async with connected(path_of(entry)) as link:
                await link.send(HELLO)
                assert await answers(link, 1)
    assert watch.began == ["add"]


async def test_a_line_without_an_end_closes_its_connection() -> None:
    """In bounded memory."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with behind_door(box, max_line_bytes=100_000) as path, connected(path) as link:
            with pytest.raises(anyio.BrokenResourceError):
                await link.send(b"x" * 10_000_000)


class Dripping:
    """A link by which a long line comes in one piece and then byte by byte."""

    def __init__(self, pieces: int) -> None:
        self.pieces = pieces

    async def receive(self) -> bytes:
        """The next byte; nothing after the last."""
        self.pieces -= 1
        return b"x" if self.pieces >= 0 else b""


async def test_a_long_line_that_comes_byte_by_byte_costs_a_byte_each_time() -> None:
    """The parent's loop is no more busy with it than its child."""
    link, server = Dripping(2000), None
    to_server, from_reader = anyio.create_memory_object_stream[Any](1)
    begun = time.process_time()
    with from_reader:
        await Connection(cast("Any", link), cast("Any", server))._read(to_server, b"x" * 7_000_000)
    assert link.pieces < 0
    assert time.process_time() - begun < 1.5


async def test_a_flood_of_calls_is_bounded_and_the_other_connections_are_served() -> None:
    """What is over the bound is answered with an error at once, whatever ids it has."""
    box, watch = toolbox(add, wait)
    with anyio.fail_after(SECONDS):
        async with behind_door(box, max_open_requests=5) as path, connected(path) as link:
            await link.send(HELLO)
            await answers(link, 1)
            flood = frame(7, "tools/call", name="wait", arguments={}) * 100
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(link.send, flood)
                refused = await answers(link, 95)
            assert {one["error"]["code"] for one in refused} == {TOO_MANY}
            async with connected(path) as other:
                await other.send(HELLO)
                assert "result" in (await answers(other, 1))[0]
    assert watch.began == ["wait"] * 5


async def test_more_connections_than_may_be_are_closed() -> None:
    """Those that are there go on; a place that is left is free again."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "stdio") as entry:
            links = [await anyio.connect_unix(path_of(entry)) for _ in range(MAX_CONNECTIONS)]
            for link in links:
                await link.send(SECRET.encode() + b"\n" + HELLO)
                assert await answers(link, 1)
            async with await anyio.connect_unix(path_of(entry)) as late:
                with suppress(anyio.BrokenResourceError):
                    await late.send(SECRET.encode() + b"\n" + HELLO)
                assert await read_to_end(late) == b""
            for link in links:
                await link.aclose()
            assert (await client(entry))[0]["id"] == 1


async def test_a_cancelled_call_is_cancelled_in_the_parent() -> None:
    """And the connection goes on."""
    box, watch = toolbox(add, wait)
    with anyio.fail_after(SECONDS):
        async with served(box, "stdio") as entry, connected(path_of(entry)) as link:
            await link.send(HELLO + frame(1, "tools/call", name="wait", arguments={}))
            await answers(link, 1)
            while not watch.began:
                await anyio.wait_all_tasks_blocked()
            await link.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
            await link.send(frame(2, "tools/call", name="add", arguments={"a": 1, "b": 1}))
            while not any(one["id"] == 2 for one in await answers(link, 1)):
                pass
    assert watch.ended[0].status == "cancelled"


async def test_a_client_that_reads_nothing_holds_nobody_up() -> None:
    """Its answers wait in bounded memory, and its connection ends with the run."""

    def much() -> str:
        return "x" * 190_000

    box, _ = toolbox(add, much)
    with anyio.fail_after(SECONDS), nothing_left():
        async with served(box, "stdio") as entry, connected(path_of(entry)) as deaf:
            await deaf.send(HELLO)
            for number in range(1, 40):
                await deaf.send(frame(number, "tools/call", name="much", arguments={}))
            assert "result" in (await client(entry, ("add", {"a": 1, "b": 1})))[-1]
