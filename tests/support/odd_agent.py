"""An agent that does what its prompt says, for tests of how agents are served: `odd_agent.py [asyncio|trio]`.

The first word of the prompt is the deed, the rest its argument. What it did it says in its answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from acp_agent import Context, serve
from acp_client.protocol.errors import RpcError
from acp_client.protocol.models import NewSessionRequest, NewSessionResponse, PermissionOption

FOR_EVER: Final = 300.0
REJECT_FIRST: Final = (
    PermissionOption(option_id="no", name="No", kind="reject_once"),
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
)


class Odd:
    """One deed a turn. `cancelled` sessions are told on stderr."""

    name = "odd"
    version = "0"

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Any session will do, but for one directory that asks for a login."""
        if request.cwd == "/login":
            raise RpcError(-32000, "log in first")
        return None

    async def prompt(self, context: Context) -> str | None:
        """Do what the first word says."""
        deed, _, argument = context.text_of_prompt.partition(" ")
        return await DEEDS[deed](context, argument)

    async def cancel(self, session_id: str) -> None:
        """Tell it."""
        sys.stderr.write(f"cancel {session_id}\n")


async def say(context: Context, argument: str) -> None:
    """Say the argument."""
    await context.text(argument)


async def size(context: Context, argument: str) -> None:
    """Say how long the argument is."""
    await context.text(str(len(argument)))


async def pollute(context: Context, argument: str) -> None:
    """Write to what was stdout in every way, and let a child do so; say what the child read from its stdin."""
    print("print", argument)  # noqa: T201  # the point
    os.write(1, b"raw " + argument.encode() + b"\n")
    program = "import sys; print('child', flush=True); sys.stderr.write(repr(sys.stdin.read()))"
    child = await anyio.run_process([sys.executable, "-c", program], stdin=None, stdout=None, stderr=subprocess.PIPE)
    await context.text(child.stderr.decode())


async def ask(context: Context, argument: str) -> None:
    """Ask for permission; say what came of it."""
    call = await context.tool_call("Edit a file", kind="edit", status="pending")
    answer = await context.request_permission(call, REJECT_FIRST if argument == "reject_first" else _DEFAULT)
    await (call.complete() if answer.allowed else call.fail("not allowed"))
    option = answer.option.option_id if answer.option else "none"
    await context.text(f"allowed={answer.allowed} cancelled={answer.cancelled} option={option}")


async def wait(context: Context, _argument: str) -> None:
    """Say so and wait for a cancel."""
    await context.text("waiting")
    await anyio.sleep(FOR_EVER)


async def last_words(context: Context, argument: str) -> None:
    """Wait; when cancelled, try to say something after all."""
    try:
        await wait(context, argument)
    finally:
        with anyio.CancelScope(shield=True):
            await context.text("last words")


async def deaf(context: Context, argument: str) -> None:
    """Wait, whatever is cancelled."""
    with anyio.CancelScope(shield=True):
        await wait(context, argument)


async def thread(context: Context, _argument: str) -> None:
    """Wait in a thread, which nothing can end."""
    await context.text("waiting")
    await anyio.to_thread.run_sync(time.sleep, FOR_EVER)


async def block(context: Context, _argument: str) -> None:
    """Hold the event loop itself."""
    await context.text("waiting")
    time.sleep(FOR_EVER)  # noqa: ASYNC251  # the point


async def stream(context: Context, _argument: str) -> None:
    """Say something again and again, without a pause."""
    while True:
        await context.text("more " * 10_000)


async def give_birth(context: Context, argument: str) -> None:
    """Start a child that outlives the turn; `setsid` puts it in a session of its own, `deaf` has it ignore SIGTERM."""
    program = (
        f"import signal, time; signal.signal(signal.SIGTERM, signal.{'SIG_IGN' if 'deaf' in argument else 'SIG_DFL'})"
    )
    program += f"; print('up', flush=True); time.sleep({FOR_EVER})"
    child = subprocess.Popen(  # noqa: ASYNC220  # it is to be left behind
        [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session="setsid" in argument
    )
    assert child.stdout is not None
    await anyio.to_thread.run_sync(child.stdout.readline)
    await context.text(str(child.pid))
    await anyio.sleep(FOR_EVER)


async def stop(context: Context, argument: str) -> str:
    """End with a stop reason."""
    await context.text("as far as I got")
    return argument


async def fail(_context: Context, argument: str) -> None:
    """Have a bug."""
    raise LookupError(f"the secret is {argument}")


async def refuse(_context: Context, argument: str) -> None:
    """Answer with an error on purpose."""
    raise RpcError(int(argument), "refused", {"because": "asked"})


async def complete(context: Context, argument: str) -> None:
    """Complete with a value, twice."""
    await context.complete({"value": argument})
    await context.complete({"value": "too late"})


async def touch(context: Context, argument: str) -> None:
    """Write a file on our own disk, whatever the client offers."""
    await anyio.Path(context.cwd / argument).write_text("touched")
    await context.text(str(Path(argument)))


_DEFAULT: Final = (
    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
)
_ALL: Final[tuple[Callable[[Context, str], Awaitable[str | None]], ...]] = (
    *(say, size, pollute, ask, wait, last_words, deaf, thread, block, stream),
    *(give_birth, stop, fail, refuse, complete, touch),
)
DEEDS: Final = {deed.__name__: deed for deed in _ALL}


if __name__ == "__main__":
    anyio.run(lambda: serve(Odd()), backend=sys.argv[1] if len(sys.argv) > 1 else "asyncio")
