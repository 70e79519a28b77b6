"""Who is measured: our runner in its variants, and the official SDK's client. All do the same run of the same child.

Owns one way through a whole run each: spawn, initialize, session/new, session/prompt, the child reaped, its text in
hand. The hand-written clients are in `floors`, the measuring in `rounds`.
"""

import functools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import acp
import anyio
from acp.schema import AllowedOutcome, ClientCapabilities, RequestPermissionResponse

from acp_client import AgentSpec, Limits, Run, Runner

HERE = Path(__file__).parent
PROMPT = "go"
STALL_SECONDS = 2.0
AT_ONCE = Limits(late_update_grace_seconds=0.0)
PYTHON_CHILD = (sys.executable, "-S", str(HERE / "mock_agent.py"))
"""The mock on the standard library; `sys.executable`, since a shim in front of it costs 100 ms."""

Child = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """A run as far as it is measured.

    How many characters it answered, the seconds from its prompt to the answer, and what is still to be waited for.
    """

    answered: int
    prompt_seconds: float = 0.0
    rest: Awaitable[object] | None = None


Contender = Callable[[Child], Awaitable[Done]]
"""Does a whole run of a child."""


def has_compiler() -> bool:
    """True where the C mock can be built."""
    return shutil.which("cc") is not None


@contextmanager
def mock_child() -> Iterator[Child]:
    """The command of the child, without its arguments: C where there is a compiler, else Python."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield PYTHON_CHILD
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "mock_agent"
        subprocess.run([compiler, "-O2", "-o", str(program), str(HERE / "mock_agent.c")], check=True)
        yield (str(program),)


def ours(
    runner: Runner,
    until: Literal["result", "answer"] = "result",
    limits: Limits = AT_ONCE,
    reader: Callable[[Run], Coroutine[Any, Any, None]] | None = None,
) -> Contender:
    """Our runner, until the child is gone or until the turn is decided; with a live reader of its events, if any."""

    @functools.cache
    def spec_of(child: Child) -> AgentSpec:
        return AgentSpec(command=child, limits=limits, permission="allow")  # as in a program: built once

    async def run(child: Child) -> Done:
        started = await runner.start(spec_of(child), PROMPT)
        if reader is None:
            outcome = await (started.result() if until == "result" else started.answer())
        else:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(reader, started)
                outcome = await started.result()
                tasks.cancel_scope.cancel()
        if outcome.status != "completed":
            raise RuntimeError(f"our run ended as {outcome.reason}: {outcome.failure}")
        rest = None if until == "result" else started.result()
        return Done(len(outcome.text), outcome.timings.prompt or 0.0, rest)

    return run


async def read_all(run: Run) -> None:
    """A live listener that only looks."""
    async for _event in run.events():
        pass


async def stall(run: Run) -> None:
    """A listener that is held up at its first event, and does not come back in time."""
    async for event in run.events():
        if event.type == "text":
            await anyio.sleep(STALL_SECONDS)


async def official(child: Child) -> Done:
    """The official SDK's client, until the child is reaped."""
    collector = _Collector()
    client: Any = collector
    async with acp.spawn_agent_process(client, *child) as (connection, _process):
        await connection.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
        session = await connection.new_session(cwd="/", mcp_servers=[])
        began = time.perf_counter()
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block(PROMPT)])
        seconds = time.perf_counter() - began
    return Done(len("".join(collector.pieces)), seconds)


class _Collector:
    """What the official client calls of an `acp.Client` in these runs. Keeps the answer's text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def session_update(self, update: Any, **_: Any) -> None:
        """Take a chunk."""
        self.pieces.append(update.content.text)

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        """Allow."""
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="yes"))
