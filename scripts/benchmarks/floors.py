"""The least that a client can do, by hand: the same run without a guard, a model or an error path.

Owns a minimal client on anyio, one on asyncio, and a program that only reads and decodes what the child sends.
"""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import anyio

from scripts.benchmarks.contenders import PROMPT, Child, Done

PIECE = 64 * 1024
REQUESTS = (
    ("initialize", {"protocolVersion": 1, "clientCapabilities": {}}),
    ("session/new", {"cwd": "/", "mcpServers": []}),
    ("session/prompt", {"sessionId": "session-1", "prompt": [{"type": "text", "text": PROMPT}]}),
)


def _frames() -> Iterator[bytes]:
    for number, (method, params) in enumerate(REQUESTS):
        yield json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


class _Lines:
    """Pieces in, decoded messages out; a long line is joined once."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> bool:
        """True once an answer was among them; text of updates is kept."""
        if b"\n" not in data:
            self._parts.append(data)
            return False
        *lines, rest = b"".join((*self._parts, data)).split(b"\n")
        self._parts = [rest]
        answers = [self._take(json.loads(line)) for line in lines]
        return any(answers)

    def _take(self, message: dict[str, Any]) -> bool:
        if message.get("method") == "session/update":
            self.text.append(message["params"]["update"]["content"]["text"])
        return "method" not in message


async def anyio_client(child: Child) -> Done:
    """Minimal, on anyio."""
    lines, began = _Lines(), 0.0
    async with await anyio.open_process(child, stderr=None) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for frame in _frames():
            began = time.perf_counter()
            await process.stdin.send(frame)
            while not lines.feed(await process.stdout.receive(PIECE)):
                pass
        seconds = time.perf_counter() - began
        await process.stdin.aclose()
        await process.wait()
    return Done(len("".join(lines.text)), seconds)


async def asyncio_client(child: Child) -> Done:
    """Minimal, on asyncio's own subprocesses."""
    lines, began = _Lines(), 0.0
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*child, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    for frame in _frames():
        began = time.perf_counter()
        process.stdin.write(frame)
        while not lines.feed(await process.stdout.read(PIECE)):
            pass
    seconds = time.perf_counter() - began
    process.stdin.close()
    await process.wait()
    return Done(len("".join(lines.text)), seconds)


async def decode_only(child: Child) -> Done:
    """Blocking calls and `json` alone: what reading and decoding costs without anything around it."""
    lines, began = _Lines(), 0.0
    with subprocess.Popen(  # noqa: ASYNC220  # nothing else runs in this loop: blocking is the point
        child, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for frame in _frames():
            began = time.perf_counter()
            process.stdin.write(frame)
            while not lines.feed(os.read(process.stdout.fileno(), PIECE)):
                pass
        seconds = time.perf_counter() - began
        process.stdin.close()
    return Done(len("".join(lines.text)), seconds)
