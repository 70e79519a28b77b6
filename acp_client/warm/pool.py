"""The warm processes of one runner: so many for each spec, refilled in the background.

Owns them until a run takes one, their number, and what happens when an agent cannot be started ahead of need: a run
never waits for it, and starts cold.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import anyio

from acp_client.admission.descriptors import DESCRIPTORS, Descriptors
from acp_client.logs import get_logger
from acp_client.loop.threads import in_thread
from acp_client.process.child import AgentProcess
from acp_client.process.host import TaskHost
from acp_client.process.spawn import SpawnError, discard, launch
from acp_client.process.table import ProcessTable
from acp_client.session.connection import preload
from acp_client.spec import AgentSpec
from acp_client.warm.process import Plan, WarmProcess

MAX_WARM: Final = 64
"""Warm processes of one runner, together: each holds the memory of an idle agent."""
MAX_AGE_SECONDS: Final = 600.0
"""Then a fresh one takes its place: what an agent read when it started (a login, its settings) ages."""
STARTS_AT_ONCE: Final = 2
"""They are started while runs go on, which come first."""
REFILL_SECONDS: Final = 0.05
"""The run that took one asks for its session first."""
FIRST_DELAY_SECONDS: Final = 1.0
MAX_DELAY_SECONDS: Final = 60.0
"""Between the attempts with an agent that fails: doubled each time, up to this."""


class Warming(Awaitable[int]):
    """What `prewarm` gives: it is on its way; await it to wait until each process is ready or has failed."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._slots = tuple(slots)

    def __await__(self) -> Generator[Any, Any, int]:
        """How many are ready. Safe to cancel, and to leave out."""
        return self._wait().__await__()

    async def _wait(self) -> int:
        for slot in self._slots:
            await slot.tried.wait()
        return sum(slot.warm is not None for slot in self._slots)


class Slot:
    """The place of one warm process, and of those after it."""

    def __init__(self) -> None:
        self.warm: WarmProcess | None = None
        """The one that is ready."""
        self.tried = anyio.Event()
        self.again = anyio.Event()
        self.scope: Final = anyio.CancelScope()
        self.delay_seconds = 0.0

    def fill(self, warm: WarmProcess) -> None:
        """A run may take this one."""
        self.warm = warm

    def begin(self) -> None:
        """The next attempt is to come."""
        if self.tried.is_set():
            self.tried = anyio.Event()

    def retry(self) -> None:
        """Somebody wants it now: an attempt that waits is made at once."""
        if self.warm is None and self.tried.is_set():
            self.begin()
            self.again.set()


class Pool:
    """The warm processes of a runner. `plan` says what a spec starts now; None where no run may start."""

    def __init__(
        self,
        wanted: Mapping[AgentSpec, int] | None,
        plan: Callable[[AgentSpec], Plan | None],
        *,
        max_age_seconds: float = MAX_AGE_SECONDS,
        first_delay_seconds: float = FIRST_DELAY_SECONDS,
        descriptors: Descriptors = DESCRIPTORS,
    ) -> None:
        self._wanted = check_wanted({} if wanted is None else wanted)
        self._plan = plan
        self._max_age_seconds = max_age_seconds
        self._first_delay_seconds = first_delay_seconds
        self._descriptors = descriptors
        self._slots: dict[AgentSpec, list[Slot]] = {}
        self._refills = True
        self._preloads = True

    def __repr__(self) -> str:
        slots = [slot for row in self._slots.values() for slot in row]
        return f"<Pool of {len(slots)}, {sum(slot.warm is not None for slot in slots)} ready>"

    def open(self, tasks: TaskHost, table: ProcessTable) -> None:
        """The runner is open: fill what was wanted."""
        self._tasks = tasks
        self._table = table
        self._starts = anyio.Semaphore(STARTS_AT_ONCE)
        for spec, number in self._wanted.items():
            self.want(spec, number)

    def want(self, spec: AgentSpec, number: int) -> Warming:
        """From now on so many are kept ready for this spec; 0 ends those that are. Returns at once."""
        self._wanted = check_wanted({**self._wanted, spec: number})
        if number and self._plan(spec) is None:
            get_logger(__name__).info("nothing is kept warm where no run may start", agent=spec.label)
            number = 0
        slots = self._slots.setdefault(spec, [])
        for slot in slots[number:]:
            slot.scope.cancel()
        del slots[number:]
        for slot in slots:
            slot.retry()
        while len(slots) < number:
            slots.append(slot := Slot())
            self._tasks.start_soon(self._keep, spec, slot, name=f"warm {spec.label}")
        return Warming(slots)

    async def take(self, spec: AgentSpec, plan: Plan) -> WarmProcess | None:
        """A process for a run of this spec, the oldest first; None if there is none, and the run starts cold.

        Only one that was started as the run itself would start it. Cancelled, it leaves nothing behind.
        """
        for slot in sorted(self._kept_for(spec), key=_age, reverse=True):
            warm = slot.warm
            if warm is None or not warm.is_alive:
                continue
            if warm.plan == plan:
                slot.warm = None
                if await _hand_over(warm):
                    return warm
            elif warm.plan != self._plan(spec):  # the world has changed since, not this run alone
                slot.warm = None
                warm.retire("the environment or the working directory has changed")
        return None

    def _kept_for(self, spec: AgentSpec) -> list[Slot]:
        """Those of an equal spec; else of one that has another name, which changes nothing of a process."""
        if spec in self._slots or not self._slots:
            return self._slots.get(spec, [])
        unnamed = _unnamed(spec)
        return [slot for kept, row in self._slots.items() if _unnamed(kept) == unnamed for slot in row]

    def give_way(self) -> None:
        """A run waits for descriptors: end the oldest that is ready, and do not start another at once."""
        ready = [slot for row in self._slots.values() for slot in row if slot.warm is not None]
        if ready:
            oldest = max(ready, key=_age)
            assert oldest.warm is not None  # chosen so
            oldest.warm.lose("a run needs its descriptors")
            oldest.warm = None

    def wind_down(self) -> None:
        """No run will come any more, but some may still start: what is ready stays for them, nothing is refilled."""
        self._refills = False
        for row in self._slots.values():
            for slot in row:
                if slot.warm is None:
                    slot.scope.cancel()

    def close(self) -> None:
        """End them all. Returns at once; idempotent. The runner's tasks end when they have gone."""
        self._refills = False
        for row in self._slots.values():
            for slot in row:
                slot.scope.cancel()

    # ---- one slot

    async def _keep(self, spec: AgentSpec, slot: Slot) -> None:
        """One process after another, until this slot is not wanted any more."""
        try:
            with slot.scope:
                while self._refills:
                    slot.begin()
                    why = await self._fill(spec, slot)
                    if why is None:
                        slot.delay_seconds = 0.0
                        await anyio.sleep(REFILL_SECONDS)
                    else:
                        await self._rest(spec, slot, why)
        finally:
            slot.tried.set()

    async def _rest(self, spec: AgentSpec, slot: Slot, why: str) -> None:
        delay = slot.delay_seconds = min(slot.delay_seconds * 2 or self._first_delay_seconds, MAX_DELAY_SECONDS)
        log = get_logger(__name__)
        log.warning("an agent is not kept warm for now", agent=spec.label, why=why, retry_seconds=delay)
        slot.again = anyio.Event()
        slot.tried.set()
        with anyio.move_on_after(delay):
            await slot.again.wait()

    async def _fill(self, spec: AgentSpec, slot: Slot) -> str | None:
        """One process, from its start until it is taken or ended; says what is wrong with the agent, if anything is."""
        with ExitStack() as turn:
            await self._starts.acquire()
            turn.callback(self._starts.release)
            if not self._descriptors.take(spare=True):
                return "there are no file descriptors to spare"
            try:
                return await self._live(spec, slot, turn)
            except SpawnError as error:
                return str(error)
            except Exception:  # noqa: BLE001  # the boundary: our fault must not end the runs beside it
                get_logger(__name__).exception("a warm process failed inside", agent=spec.label)
                return "a fault of ours"
            finally:
                self._descriptors.give_back()

    async def _live(self, spec: AgentSpec, slot: Slot, turn: ExitStack) -> str | None:
        plan, process = await self._start(spec)
        settled = functools.partial(_on_settled, slot, turn)
        warm = WarmProcess(spec, plan, process, on_ready=slot.fill, on_settled=settled)
        try:
            await warm.run(self._max_age_seconds)
            return warm.fault
        finally:
            slot.warm = None
            with anyio.CancelScope(shield=True):
                await warm.end()

    async def _start(self, spec: AgentSpec) -> tuple[Plan, AgentProcess]:
        try:
            plan = self._plan(spec)
            if plan is None:
                raise SpawnError("no run may start here")
            start = functools.partial(
                launch, plan.command, cwd=plan.cwd, env=plan.variables, run_id=f"warm-{uuid.uuid4().hex}"
            )
            spawned = await in_thread(start, discard)
        finally:
            self._descriptors.note_started()
        if self._preloads:
            self._preloads = False
            self._tasks.start_soon(in_thread, preload, name="warm handshake")
        return plan, AgentProcess(spawned, self._table)


def _on_settled(slot: Slot, turn: ExitStack) -> None:
    turn.close()
    slot.tried.set()


async def _hand_over(warm: WarmProcess) -> bool:
    """False if it has gone meanwhile."""
    alive = False
    try:
        await warm.hand_over()
        alive = warm.is_alive
    finally:
        if not alive:  # or we are natively cancelled: it is nobody's now
            with anyio.CancelScope(shield=True):
                await warm.end(taken=True)
    return alive


def _age(slot: Slot) -> float:
    return slot.warm.ready_seconds if slot.warm is not None else -1.0


def check_wanted(wanted: Any) -> dict[AgentSpec, int]:
    """Raises TypeError or ValueError unless it says how many processes to keep for which specs."""
    if not isinstance(wanted, Mapping):
        raise TypeError(f"warm must be a mapping such as {{spec: 2}}, not {type(wanted).__name__}")
    for spec, number in wanted.items():
        if not isinstance(spec, AgentSpec):
            raise TypeError(f"warm: a key must be an AgentSpec, not {type(spec).__name__}")
        if type(number) is not int or number < 0:
            raise ValueError(f"warm: {number!r} processes of {spec.label!r}; it must be an integer of at least 0")
    total = sum(wanted.values())
    if total > MAX_WARM:
        raise ValueError(f"warm: {total} processes together; at most {MAX_WARM} are kept, so ask for fewer")
    return dict(wanted)


def _unnamed(spec: AgentSpec) -> AgentSpec:
    return spec if spec.name is None else spec.model_copy(update={"name": None})
