"""The agent of `program` as a spec, and what its processes have met."""

import sys
from pathlib import Path
from typing import Any

import anyio

from acp_client import AgentSpec, Limits
from tests.support.scenarios import QUICK
from tests.support.warm import program


def warm_spec(folder: Path, mode: str = "", **fields: Any) -> AgentSpec:
    """The program as an agent that says its pid."""
    command = (sys.executable, "-S", program.__file__, str(folder), mode)
    return AgentSpec(**{"command": command, "limits": Limits(**QUICK), **fields})


def noted(folder: Path, word: str) -> list[int]:
    """The pids of the processes that have met this, in order."""
    log = folder / "log"
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [int(pid) for pid, met in lines if met == word]


async def until_noted(folder: Path, word: str, count: int) -> list[int]:
    """Wait until so many processes have met this."""
    with anyio.fail_after(30):
        while len(pids := noted(folder, word)) < count:  # noqa: ASYNC110  # another process writes it
            await anyio.sleep(0.01)
    return pids
