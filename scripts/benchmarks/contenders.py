"""Who is measured: our runner in its variants, and the official SDK's client. All do the same run of the same child.

Owns one way through a whole run each: spawn, initialize, session/new, session/prompt, the child reaped, its text in
hand. Leaves the measuring to `rounds`.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import acp
from acp.schema import ClientCapabilities

from acp_client import AgentSpec, Limits, Runner

HERE = Path(__file__).parent
PROMPT = "go"

Child = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """A run as far as it is measured: how many characters it answered, and what is still to be waited for."""

    answered: int
    rest: Awaitable[object] | None = None


Contender = Callable[[Child], Awaitable[Done]]
"""Does a whole run of a child."""


@contextmanager
def mock_child() -> Iterator[Child]:
    """The command of the child, without its number of updates: C where there is a compiler, else Python."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield (sys.executable, "-S", str(HERE / "mock_agent.py"))
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "mock_agent"
        subprocess.run([compiler, "-O2", "-o", str(program), str(HERE / "mock_agent.c")], check=True)
        yield (str(program),)


def ours(runner: Runner, until: Literal["result", "answer"], limits: Limits) -> Contender:
    """Our runner, until the child is gone or until the turn is decided."""

    async def run(child: Child) -> Done:
        started = await runner.start(AgentSpec(command=child, limits=limits), PROMPT)
        outcome = await (started.result() if until == "result" else started.answer())
        if outcome.status != "completed":
            raise RuntimeError(f"our run ended as {outcome.reason}: {outcome.failure}")
        return Done(len(outcome.text), started.result())

    return run


async def official(child: Child) -> Done:
    """The official SDK's client, until the child is reaped."""
    collector = _Collector()
    client: Any = collector
    async with acp.spawn_agent_process(client, *child) as (connection, _process):
        await connection.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
        session = await connection.new_session(cwd="/", mcp_servers=[])
        await connection.prompt(session_id=session.session_id, prompt=[acp.text_block(PROMPT)])
    return Done(len("".join(collector.pieces)))


class _Collector:
    """What the official client calls of an `acp.Client` in these runs. Keeps the answer's text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def session_update(self, update: Any, **_: Any) -> None:
        """Take a chunk."""
        self.pieces.append(update.content.text)
