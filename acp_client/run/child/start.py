"""The first and the last that a run does with its process, where it is neither warm nor ends in order."""

from __future__ import annotations

import time
from collections.abc import Callable

from acp_client.logs import get_logger
from acp_client.loop.threads import in_thread
from acp_client.process.child import AgentProcess
from acp_client.process.spawn import Spawned, discard
from acp_client.process.table import ProcessTable
from acp_client.run.child.facts import Facts
from acp_client.spec import AgentSpec


async def start_cold(facts: Facts, table: ProcessTable, meanwhile: Callable[[], object]) -> AgentProcess:
    """Start the child in a thread; `meanwhile` is done on the loop. Raises SpawnError."""

    def launch() -> Spawned:
        spawned = facts.launch()
        table.add(spawned.pid)
        return spawned

    def give_up(spawned: Spawned) -> None:
        discard(spawned)
        table.drop(spawned.pid)

    began = time.monotonic()
    process = facts.process = AgentProcess(await in_thread(launch, give_up, meanwhile), table)
    facts.timings["spawn"] = time.monotonic() - began
    facts.waited_for_thread = facts.launched_at - began
    return process


async def leave_nothing(facts: Facts, spec: AgentSpec) -> None:
    """Only after a fault of ours, or a native cancel: what the script did not stop is stopped now."""
    process = facts.process
    if process is not None and not process.released:
        try:
            await process.end(spec.limits.kill_wait_seconds)
        except Exception:  # noqa: BLE001  # the boundary, as above; it is released all the same
            get_logger(__name__).exception("a child was not stopped in order", run_id=facts.run_id)
