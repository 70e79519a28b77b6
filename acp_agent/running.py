"""The sessions of a process, and a prompt that runs: how it is cancelled, and how long its answer may take after that.

Owns the turn's task and its outcome. Leaves to `serve` which session it belongs to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import anyio

from acp_agent.agent import Agent
from acp_agent.context import Context
from acp_agent.extension import SessionState
from acp_client.protocol.errors import INTERNAL_ERROR, RESOURCE_NOT_FOUND, RpcError

CANCEL_ANSWER_SECONDS: Final = 0.7
"""How long a cancelled turn may take to end by itself; then it is answered for: a cancel is answered in a second."""
STOP_REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")


class Sessions:
    """Those that are open, numbered in the order in which they were opened."""

    def __init__(self) -> None:
        self._open: dict[str | None, SessionState] = {}
        self._opened = 0

    def open(self, session_id: str, cwd: str) -> None:
        """A new one, or one that is opened again: that keeps what it had, but for its directory."""
        state = self._open.get(session_id)
        if state is None:
            self._opened += 1
            state = self._open[session_id] = SessionState(Path(cwd), self._opened)
        state.cwd = Path(cwd)

    def find(self, session_id: str | None) -> SessionState:
        """Raises RpcError for one that is not open."""
        state = self._open.get(session_id)
        if state is None:
            raise RpcError(RESOURCE_NOT_FOUND, f"no session {session_id!r}; open one with session/new")
        return state

    def close(self, session_id: str | None) -> None:
        """Forget it."""
        self._open.pop(session_id, None)


class RunningTurn:
    """One turn. `run` in a task of its own; `settled` waits for what came of it."""

    def __init__(self, context: Context) -> None:
        self.context: Final = context
        self.scope: Final = anyio.CancelScope()
        self.done: Final = anyio.Event()
        self.error: RpcError | None = None
        self._stop_reason = "end_turn"
        self._cancelled = anyio.Event()
        self._answer_seconds = CANCEL_ANSWER_SECONDS

    def cancel(self, answer_seconds: float = CANCEL_ANSWER_SECONDS) -> None:
        """Cancel it; it is answered for `answer_seconds` later at the latest. Idempotent, the first call counts."""
        if not self._cancelled.is_set():
            self._answer_seconds = answer_seconds
            self.context.cancelled = True
            self.scope.cancel()
            self._cancelled.set()

    async def run(self, agent: Agent) -> None:
        """Have the agent work on it. Raises nothing but cancellation."""
        try:
            with self.scope:
                self._stop_reason = _checked(await agent.prompt(self.context))
        except RpcError as error:
            self.error = error
        except Exception:  # noqa: BLE001  # the agent's code: its bug must not end the connection
            log_failure("prompt failed", session_id=self.context.session_id)
            self.error = RpcError(INTERNAL_ERROR, "Internal error")
        finally:
            self.done.set()

    async def settled(self) -> None:
        """Return when it has ended; once it is cancelled, not much later, whatever it does."""
        async with anyio.create_task_group() as waiting:

            async def bound() -> None:
                await self._cancelled.wait()
                await anyio.sleep(self._answer_seconds)
                waiting.cancel_scope.cancel()

            waiting.start_soon(bound)
            await self.done.wait()
            waiting.cancel_scope.cancel()

    def answer(self) -> dict[str, Any]:
        """The result of `session/prompt`. Raises the turn's error."""
        return {"stopReason": self.stop_reason(), **self.context.handed_up}

    def stop_reason(self) -> str:
        """Why it ended. A cancelled turn is `cancelled` however it ended (ACP v1, prompt turn). Raises its error."""
        if self.context.cancelled:
            return "cancelled"
        if self.error is not None:
            raise self.error
        return self._stop_reason


def _checked(reason: str | None) -> str:
    if reason is None:
        return "end_turn"
    if reason not in STOP_REASONS:
        raise ValueError(f"prompt() returned {reason!r}; a stop reason is one of {STOP_REASONS}, or None for end_turn")
    return reason


def log_failure(what: str, **facts: object) -> None:
    """Log the exception that is being handled, with its traceback."""
    from acp_agent.logs import get_logger  # noqa: PLC0415  # failing is rare, its import is not free

    get_logger().exception(what, **facts)
