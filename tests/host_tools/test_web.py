"""Host tools over loopback http: who gets in, what is answered, and what is left."""

import json
import os
import socket
import sys
import threading
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import pytest
from anyio.from_thread import BlockingPortal

from acp_client import ToolContext
from acp_client.host_tools import web
from acp_client.host_tools.hosting import Crossing
from acp_client.host_tools.toolbox import RUN_OVER
from tests.host_tools.serving import SECRET, client, nothing, served, toolbox
from tests.support.kernel import nothing_left
from tests.support.mcp import client as mcp_client

SECONDS = 30.0
HELLO = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": mcp_client.HELLO}).encode()


async def add(a: int, b: int, context: ToolContext) -> int:
    """Adds."""
    await context.progress(1, 2, "half")
    return a + b


def plain_ident() -> int:
    """Says in which thread it runs."""
    return threading.get_ident()


def exchange(address: tuple[str, int], request: bytes) -> bytes:
    """What the first bytes of the answer to a raw request are; empty where there is none."""
    with socket.create_connection(address, timeout=SECONDS) as link:
        try:
            link.sendall(request)
            return link.recv(4096)
        except ConnectionError:
            return b""


def address_of(entry: dict[str, Any]) -> tuple[str, int]:
    """Where the server listens."""
    parts = urlsplit(entry["url"])
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def hello(entry: dict[str, Any], *, drop: str = "", path: str = "", **headers: str) -> bytes:
    """A hello with these headers instead of the right ones."""
    host, port = address_of(entry)
    right = {
        "Host": f"{host}:{port}",
        "Authorization": f"Bearer {SECRET}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    fields = {name: value for name, value in (right | headers).items() if name != drop}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    line = f"POST {path or urlsplit(entry['url']).path} HTTP/1.1\r\n{head}Content-Length: {len(HELLO)}\r\n\r\n"
    return line.encode() + HELLO


async def status(entry: dict[str, Any], **other: str) -> int:
    """The status of such a hello."""
    answer = await anyio.to_thread.run_sync(exchange, address_of(entry), hello(entry, **other))
    return int(answer.split()[1])


async def test_a_client_lists_and_calls_over_http_and_hears_of_progress() -> None:
    """The tools run in the parent's loop, whichever it is."""
    loops: list[int] = []

    async def where() -> str:
        loops.append(threading.get_ident())
        return anyio.get_current_task().name or ""

    box, watch = toolbox(add, where)
    with anyio.fail_after(SECONDS), nothing_left():
        async with served(box, "http") as entry:
            assert address_of(entry)[0] == "127.0.0.1"
            assert entry["url"].endswith("/mcp")  # fast-agent would ask for that, whatever it is given
            listed, progress, answer, _ = await client(entry, ("add", {"a": 1, "b": 2}), ("where", {}))
        assert threading.get_ident() == loops[0]
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["add", "where"]
    assert progress["params"]["message"] == "half"
    assert answer["result"]["content"][0]["text"] == "3"
    assert [one.status for one in watch.ended] == ["completed", "completed"]


async def test_only_the_bearer_of_this_run_at_its_path_gets_in() -> None:
    """Every other request has the same answer, from which nothing can be learned."""
    box, watch = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "http") as entry:
            assert await status(entry) == 200
            assert await status(entry, drop="Authorization") == 401
            for wrong in ("", "Bearer", "Bearer ", f"Bearer {SECRET}x", f"Basic {SECRET}", SECRET, "Bearer \xe9"):
                assert await status(entry, Authorization=wrong) == 401
            for path in ("/", "/mcp", urlsplit(entry["url"]).path + "/", "/%2e%2e/"):
                assert await status(entry, path=path) == 401
    assert watch.began == []


async def test_a_page_in_a_browser_does_not_get_in_even_with_the_bearer() -> None:
    """Not under another name of the host, nor from another origin (DNS rebinding)."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "http") as entry:
            port = address_of(entry)[1]
            assert await status(entry, Host=f"evil.example:{port}") == 421
            assert await status(entry, Host="127.0.0.1") == 421
            assert await status(entry, Host=f"127.0.0.1:{port}.evil.example") == 421
            for origin in ("null", "https://evil.example", f"http://127.0.0.1:{port}.evil.example", "http://127.0.0.1"):
                assert await status(entry, Origin=origin) == 403
            assert await status(entry, Origin=f"http://127.0.0.1:{port}") == 200
            assert await status(entry, Host=f"localhost:{port}") == 200


async def test_who_connects_and_asks_for_nothing_is_sent_away() -> None:
    """Else any user of this machine could hold all places; so is who asked once without the secret."""
    box, _ = toolbox(add)

    def hold(begun: bytes) -> bytes:
        with socket.create_connection(address, timeout=SECONDS) as link:
            link.sendall(begun)
            received = b""
            try:
                while more := link.recv(4096):
                    received += more
            except ConnectionError:
                pass
            return received

    with anyio.fail_after(SECONDS):
        async with served(box, "http", head_seconds=0.2) as entry:
            address = address_of(entry)
            for begun in (b"", b"POST /x HTTP/1.1\r\nHost: "):
                assert await anyio.to_thread.run_sync(hold, begun) == b""
            refused = await anyio.to_thread.run_sync(hold, b"GET / HTTP/1.1\r\nHost: evil\r\n\r\nGET")
            assert refused.startswith(b"HTTP/1.1 421")
            assert "result" in (await client(entry))[0]


async def test_garbage_and_more_connections_than_may_be_harm_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """And leave no line on the program's stderr; the next client is served, in the place of who asks for nothing."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "http", max_connections=3, head_seconds=SECONDS) as entry:
            address = address_of(entry)
            for garbage in (b"\x00\xff" * 100, b"GET / HTTP/9\r\n\r\n", b"x" * 100_000, b"\r\n" * 100):
                await anyio.to_thread.run_sync(exchange, address, garbage)
            idle = [socket.create_connection(address, timeout=SECONDS) for _ in range(3)]
            assert "result" in (await client(entry))[0]
            assert await anyio.to_thread.run_sync(idle[0].recv, 1) == b""
            for one in idle:
                one.close()
    assert capfd.readouterr().err == ""


async def test_where_all_have_asked_one_more_is_closed_unread() -> None:
    """A stranger takes no place of an agent."""
    box, _ = toolbox(add)

    def ask(link: socket.socket, request: bytes) -> bytes:
        link.sendall(request)
        return link.recv(4096)

    with anyio.fail_after(SECONDS):
        async with served(box, "http", max_connections=2) as entry:
            address = address_of(entry)
            held = [socket.create_connection(address, timeout=SECONDS) for _ in range(2)]
            for link in held:
                answer = await anyio.to_thread.run_sync(ask, link, hello(entry))
                assert answer.startswith(b"HTTP/1.1 200")
            assert await anyio.to_thread.run_sync(exchange, address, b"GET / HTTP/1.1\r\n\r\n") == b""
            for link in held:
                link.close()


async def test_the_end_of_a_run_ends_its_calls_and_its_bearer_and_no_other_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Both are served by one thread; the secret of one opens nothing of the other."""
    started, ended = anyio.Event(), anyio.Event()

    async def wait() -> None:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    box, watch = toolbox(wait)
    other, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        both = web.WebHost()
        async with served(other, "http", web=both, secret="another") as other_entry:
            assert await status(other_entry) == 401
            async with anyio.create_task_group() as tasks:

                async def call(entry: dict[str, Any]) -> None:
                    task = json.dumps({"server": entry, "calls": [("wait", {})]}).encode()
                    await anyio.run_process([sys.executable, mcp_client.__file__], input=task, check=False)

                async with served(box, "http", web=both) as entry:
                    assert address_of(entry) == address_of(other_entry)
                    tasks.start_soon(call, entry)
                    await started.wait()
                assert ended.is_set()
            assert await status(other_entry | {"url": entry["url"]}) == 401
            assert "result" in (await client(other_entry))[0]
        await anyio.to_thread.run_sync(both.close)
    assert [one.status for one in watch.ended] == ["cancelled"]
    assert "Traceback" not in capfd.readouterr().err


async def test_where_no_port_is_to_be_had_an_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an OSError, of which the run makes its result."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(24, os.strerror(24))

    monkeypatch.setattr(socket, "create_server", full)
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        with pytest.raises(ExceptionGroup) as caught:
            async with served(box, "http"):
                pass
        assert caught.group_contains(OSError, match="Too many open files")


async def test_where_no_thread_can_be_started_an_error_says_so_and_the_port_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As above; a thread is one more thing that the system may not give."""

    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    host = web.WebHost()
    with nothing_left(), monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", full)
        with pytest.raises(OSError, match="no thread can be started"):
            host.mount(web.Route("/", SECRET, server=None))  # type: ignore[arg-type]  # not reached
    host.close()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the thread's own loop
async def test_a_request_that_comes_as_the_run_ends_finds_no_tools() -> None:
    """Before the way in is closed, the run's loop takes no calls any more."""
    box, watch = toolbox(add)
    crossing = Crossing(box)
    with anyio.fail_after(SECONDS):
        async with BlockingPortal() as crossing.portal:
            pass
        assert await crossing.offer() == ()
        outcome = await crossing.call("add", {"a": 1, "b": 2}, nothing)
    assert (outcome.is_error, outcome.content[0]["text"]) == (True, RUN_OVER)
    assert watch.began == []
