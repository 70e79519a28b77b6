"""SIGINT and SIGTERM during a run: the first one cancels it politely, any further one kills its processes.

Owns which signal came first, which decides the exit code. How a run is cancelled or killed is `Run`'s.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import TaskStatus

from acp_client.run.handle import Run

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """`say` shows a line to the user at once."""

    def __init__(self, say: Callable[[str, str], None]) -> None:
        self.first: signal.Signals | None = None
        self.stopping = anyio.Event()
        self._say = say
        self._run: Run | None = None

    def watch_over(self, run: Run) -> None:
        """The run that signals are for, from now on; one that came before counts too."""
        self._run = run
        if self.first is not None:
            run.cancel_now()

    async def listen(self, *, task_status: TaskStatus[None]) -> None:
        """Take the signals over until cancelled; one that we were started with ignored (`nohup`, `&`) stays so."""
        heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        with anyio.open_signal_receiver(*heard) as signals:
            task_status.started()
            async for number in signals:
                self.on_signal(number)

    def on_signal(self, number: signal.Signals) -> None:
        """One signal."""
        if self.first is None:
            self.first = number
            self.stopping.set()
            self._say("stop", f"{number.name}: cancelling the run; once more kills it")
            if self._run is not None:
                self._run.cancel_now()
        else:
            self._say("stop", f"{number.name} again: killing the agent's processes")
            if self._run is not None:
                self._run.kill_now()
