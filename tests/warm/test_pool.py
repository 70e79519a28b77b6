"""The pool by itself: how its processes age, give way, and fail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from acp_client.admission.descriptors import Descriptors
from acp_client.process.host import TaskHost
from acp_client.process.table import ProcessTable
from acp_client.run.child.facts import plan_of
from acp_client.spec import AgentSpec
from acp_client.warm.pool import Pool
from acp_client.warm.process import Plan
from tests.support.kernel import is_alive, nothing_left
from tests.support.warm.agent import noted, until_noted, warm_spec


def _plan(spec: AgentSpec) -> Plan | None:
    return plan_of(spec, None)


@asynccontextmanager
async def _opened(pool: Pool) -> AsyncIterator[Pool]:
    tasks = TaskHost()
    pool.open(tasks, ProcessTable())
    try:
        yield pool
    finally:
        pool.close()
        await tasks.close(pool.close)


async def test_a_process_that_has_stood_too_long_is_replaced(tmp_path: Path) -> None:
    """Again and again, without a pause for failures."""
    with nothing_left(), anyio.fail_after(60):
        async with _opened(Pool({warm_spec(tmp_path): 1}, _plan, max_age_seconds=0.05)):
            pids = await until_noted(tmp_path, "initialize", 3)
        assert not any(map(is_alive, pids))


async def test_one_gives_way_where_a_run_waits_for_descriptors(tmp_path: Path) -> None:
    """And is not started again at once."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with _opened(Pool(None, _plan)) as pool:
            assert await pool.want(spec, 2) == 2
            assert repr(pool) == "<Pool of 2, 2 ready>"
            pool.give_way()
            await until_noted(tmp_path, "eof", 1)
            assert repr(pool) == "<Pool of 2, 1 ready>"
            pool.give_way()
            pool.give_way()
            await until_noted(tmp_path, "eof", 2)
    assert len(noted(tmp_path, "start")) == 2


class Full(Descriptors):
    """None to spare."""

    def take(self, *, spare: bool = False) -> bool:
        """Never."""
        return not spare


async def test_where_no_descriptors_are_to_spare_nothing_is_started(tmp_path: Path) -> None:
    """It is tried again later."""
    spec = warm_spec(tmp_path)
    with nothing_left(), anyio.fail_after(60):
        async with _opened(Pool({spec: 1}, _plan, descriptors=Full())) as pool:
            assert await pool.want(spec, 1) == 0
    assert noted(tmp_path, "start") == []


async def test_a_fault_of_ours_ends_nothing_beside_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and tried again later; as where no run may start any more."""
    spec = warm_spec(tmp_path)
    looks = 0

    def plan(of: AgentSpec) -> Plan | None:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise LookupError("ours")
        return None if looks == 4 else _plan(of)

    with nothing_left(), anyio.fail_after(60):
        async with _opened(Pool(None, plan)) as pool:
            assert await pool.want(spec, 1) == 0
            assert await pool.want(spec, 1) == 0
            assert await pool.want(spec, 1) == 1
    assert "a fault of ours" in caplog.text
