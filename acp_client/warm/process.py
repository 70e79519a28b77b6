"""One agent ahead of its run: greeted, answered, and watched until a run takes it or it is ended.

Owns the process until then, and what it wrote. Everything about it is the run's from `hand_over` on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from acp_client.process.child import AgentProcess, ladder
from acp_client.process.stderr import MARGIN_BYTES
from acp_client.protocol.link import Link
from acp_client.protocol.states import ErrorReceived, MalformedReceived, OverlongReceived, RequestLost, ResultReceived
from acp_client.session.asking.forms import serves_forms
from acp_client.session.connection import initialize_params, read_agent
from acp_client.session.ending import EndRun
from acp_client.spec import STARTUP_TIMEOUT_SECONDS, AgentSpec
from acp_client.warm.replay import Replay
from acp_client.warm.rest import is_gone, settle

EOF_SECONDS: Final = 1.0
"""For an agent that never had a session: there is nothing that it could save."""
STEADY_SECONDS: Final = 5.0
"""One that is ready and goes sooner by itself has failed."""

_FAILURES: Final = (ErrorReceived, MalformedReceived, OverlongReceived, RequestLost)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a process is started with, whole: a run takes a process only if its own plan is the same."""

    command: tuple[str, ...]
    cwd: str
    variables: Mapping[str, str] = field(repr=False)


class WarmProcess:
    """A process that belongs to no run yet. `run` must be running until it is handed over."""

    def __init__(
        self,
        spec: AgentSpec,
        plan: Plan,
        process: AgentProcess,
        *,
        on_ready: Callable[[WarmProcess], None],
        on_settled: Callable[[], None],
    ) -> None:
        self.plan: Final = plan
        self.process: Final = process
        self.ready: Final = anyio.Event()
        self.ended: Final = anyio.Event()
        """It is of no use any more: it has gone, or closed its stdout, or answered what cannot be used."""
        self.why = "it ended"
        self.stderr: Final[deque[bytes]] = deque()
        self.taken = False
        self.retired = False
        """It was ended for no fault of its own."""
        self._on_ready = on_ready
        self._on_settled = on_settled
        self._limits = spec.limits
        self._stderr_left = spec.limits.stderr_tail_bytes + MARGIN_BYTES
        self._link = Link(max_frame_bytes=spec.limits.max_frame_bytes)
        self._request, self._greeting = self._link.request("initialize", initialize_params(forms=serves_forms(spec)))
        self.transport: Final = Replay(process.transport, self._greeting)
        self._ready_at = 0.0
        self._scope = anyio.CancelScope()
        self._left = anyio.Event()

    def __repr__(self) -> str:
        return f"<WarmProcess {self.process.pid} {'ready' if self.ready.is_set() else 'starting'}>"

    # ---- ahead of its run

    async def run(self, max_age_seconds: float) -> None:
        """From the greeting until it is taken, of no use, or too old. Safe to cancel; then `end` it."""
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    self.process.watch(tasks.start_soon)
                    self.process.drain_stderr(self._on_stderr, tasks.start_soon)
                    tasks.start_soon(self._await_end)
                    tasks.start_soon(self._write)
                    tasks.start_soon(self._read)
                    await self._live(max_age_seconds)
                    tasks.cancel_scope.cancel()
        finally:
            self._left.set()

    async def _live(self, max_age_seconds: float) -> None:
        self.why = "it did not answer initialize in time"
        with anyio.move_on_after(self._limits.startup_timeout_seconds or STARTUP_TIMEOUT_SECONDS):
            await self.ready.wait()
        if not self.ready.is_set() or self.ended.is_set():
            return
        self._on_ready(self)
        await settle(self.process.pid)
        self._on_settled()
        with anyio.move_on_after(max_age_seconds) as life:
            await self.ended.wait()
        if life.cancelled_caught:
            self.retire("it became too old")

    async def _await_end(self) -> None:
        await self.process.exited.wait()
        self._end("it ended")

    async def _write(self) -> None:
        rest = memoryview(self._greeting)
        with suppress(OSError):  # it reads no more: `_await_end` or `_read` tells
            while rest := rest[self.process.transport.send_nowait(rest) :]:
                await self.process.transport.wait_sendable()

    async def _read(self) -> None:
        while data := await self.process.transport.receive():
            if not self.transport.record(data):
                self._end("it said too much before it had a session")
                return
            if not self.ready.is_set():
                self._look_for_answer(data)
        self._end("it closed its stdout")

    def _look_for_answer(self, data: bytes) -> None:
        for event in self._link.receive(data):
            if isinstance(event, ResultReceived) and event.request is self._request:
                self._judge(event.result)
            elif isinstance(event, _FAILURES):
                self._end("it refused to initialize")

    def _judge(self, answer: Any) -> None:
        try:
            read_agent(answer)
        except EndRun:  # the run that starts one itself says what is wrong
            self._end("its answer to initialize cannot be used")
        else:
            self._ready_at = time.monotonic()
            self.ready.set()

    def _on_stderr(self, data: bytes) -> None:
        if data:
            self.stderr.append(data)
        self._stderr_left -= len(data)
        while self._stderr_left < 0 and len(self.stderr) > 1:
            self._stderr_left += len(self.stderr.popleft())

    def _end(self, why: str) -> None:
        if not self.ended.is_set():
            self.why = why
            self.ended.set()
            self.ready.set()

    def lose(self, why: str) -> None:
        """It has to go, and another one would too."""
        self._ready_at = time.monotonic()
        self._end(why)

    def retire(self, why: str) -> None:
        """It is not wanted any more. Idempotent."""
        self.retired = True
        self._end(why)

    @property
    def is_alive(self) -> bool:
        """A run may take it, or go on with it."""
        return not self.ended.is_set() and not is_gone(self.process.pid)

    @property
    def fault(self) -> str | None:
        """What is wrong with the agent, if this one says so: it was not ready, or not for long."""
        fine = self.taken or self.retired or self.ready_seconds > STEADY_SECONDS
        return None if fine else self.why

    @property
    def ready_seconds(self) -> float:
        """How long it has been ready; 0 if it never was."""
        return time.monotonic() - self._ready_at if self._ready_at else 0.0

    # ---- and then

    async def hand_over(self) -> None:
        """It is the caller's from now on, also if this is cancelled; nobody else reads its pipes after it."""
        self.taken = True
        self._scope.cancel()
        await self._left.wait()

    async def end(self, *, taken: bool = False) -> None:
        """End it, unless it is taken: stdin is closed, and the ladder climbed. Bounded; run it shielded.

        `taken`: whoever took it does not want it after all.
        """
        if self.taken and not taken:
            return
        self.taken = True
        limits = self._limits
        eof_seconds = min(EOF_SECONDS, limits.eof_grace_seconds) if self._ready_at else 0
        self.process.transport.close_send()
        try:
            async with anyio.create_task_group() as tasks:
                self.process.watch(tasks.start_soon)
                await self.process.stop(ladder(eof_seconds, limits.term_grace_seconds, limits.kill_wait_seconds))
                tasks.cancel_scope.cancel()
        finally:
            self.process.release()
