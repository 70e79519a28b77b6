"""What a run does, told in lines for a person. Pure.

Owns the words. Everything that comes from the child is made safe here, on one line, and cut.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Any, Final

from acp_client.outcome.result import PermissionRecord, RunResult
from acp_client.policy.budget import say_amount
from acp_client.safe_text import printable
from acp_client.session.events import (
    BudgetUnreported,
    BudgetWarning,
    Event,
    EventsLost,
    HostToolReturned,
    PermissionAnswered,
    PermissionAsked,
    PlanUpdated,
    RunStarted,
    SessionStarted,
    StderrOutput,
    ToolCallUpdated,
)

LINE_CHARS: Final = 500
MAX_TITLES: Final = 1000
"""Tool calls whose titles are remembered; later ones are told by their id where an update has no title."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a word that says what kind, and the rest. `passing`: only of interest while it is so."""

    word: str
    text: str
    passing: bool = False

    def __str__(self) -> str:
        return f"{self.word:<8} {self.text}"


def safe(text: Any) -> str:
    """A child's text for one line."""
    return printable(str(text).strip(), max_chars=LINE_CHARS)


class Narrator:
    """Remembers the titles of tool calls, since an update says only what has changed, and which are still open."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str | None]] = {}
        self._open: dict[str, str] = {}

    @property
    def open_call(self) -> str | None:
        """The tool call that was opened last, of those that have not ended."""
        return next(reversed(self._open.values()), None)

    def lines(self, event: Event) -> list[Line]:
        """The lines for an event; most need none or one."""
        if isinstance(event, ToolCallUpdated):
            return self._tool_call(event)
        if isinstance(event, StderrOutput):
            lines = [line for line in event.text.splitlines() if line.strip()]
            return [Line("stderr", safe(line), passing=True) for line in lines]
        if isinstance(event, PermissionAsked):
            title = self._title(event.request.tool_call_id, event.request.title)
            return [Line("ask", f"{title} ({safe(event.request.kind)})", passing=True)]
        if isinstance(event, PermissionAnswered):
            title = self._title(event.record.tool_call_id, event.record.title)
            return [Line("answer", f"{title}: {_answer(event.record)}")]
        line = _line(event)
        return [] if line is None else [line]

    def _title(self, call_id: str, title: str | None) -> str:
        return safe(title or self._calls.get(call_id, (call_id, None))[0])

    def _tool_call(self, event: ToolCallUpdated) -> list[Line]:
        known = self._calls.get(event.id, (event.id, None))
        title, status = event.title or known[0], event.status or known[1]
        if (title, status) == known:
            return []
        if event.id in self._calls or len(self._calls) < MAX_TITLES:
            self._calls[event.id] = (title, status)
        kind = f" ({safe(event.kind)})" if event.kind else ""
        text = f"{safe(title)}{kind}: {safe(status or 'pending')}"
        if status in _ENDED:
            self._open.pop(event.id, None)
        elif event.id in self._open or len(self._open) < MAX_TITLES:
            self._open[event.id] = text
        return [Line("tool", text, passing=status not in _ENDED)]


_ENDED: Final = ("completed", "failed")


def _line(event: Event) -> Line | None:
    match event:
        case RunStarted():
            return Line("start", f"{safe(event.agent)} (pid {event.pid})", passing=True)
        case SessionStarted():
            return Line("session", safe(event.session_id), passing=True)
        case PlanUpdated():
            return Line("plan", _plan(event.entries), passing=True)
        case HostToolReturned(call=call):
            why = f": {safe(call.error)}" if call.error else ""
            return Line("tool", f"{safe(call.name)} (of this program): {call.status}{why}")
        case BudgetWarning():
            spent, limit = (say_amount(event.figure, amount) for amount in (event.spent, event.limit))
            who = ", by all runs together" if event.shared else ""
            return Line("warning", f"{spent} of max_{event.figure} = {limit} spent{who}")
        case BudgetUnreported():
            return Line("warning", f"max_{event.figure} cannot hold: {safe(event.why)}")
        case EventsLost():
            return Line(
                "warning", f"{_many(event.count, 'event is', 'events are')} not shown: the output was read too slowly"
            )
    return None


def _plan(entries: list[Any]) -> str:
    steps = [entry for entry in entries if isinstance(entry, dict)]
    done = sum(step.get("status") == "completed" for step in steps)
    now = [safe(step.get("content")) for step in steps if step.get("status") == "in_progress"]
    return f"{done} of {len(steps)} done" + (f"; now: {', '.join(now)}" if now else "")


def _answer(record: PermissionRecord) -> str:
    picked = record.subject != "tool" and record.action == "allow" and record.outcome in ("accepted", "selected")
    allowed = (record.option_kind or "").startswith("allow") or picked
    word = "allowed" if allowed else "cancelled" if record.action == "cancelled" else "denied"
    wider = ", for good: the agent offers no narrower answer" if record.wider else ""
    why = f" ({safe(record.why)})" if record.why else ""
    return f"{word}{wider} by {safe(record.decided_by)}{why}"


def ending(result: RunResult) -> list[Line]:
    """What there is to say at the end: warnings, then how it ended."""
    seconds = f" after {result.timings.total:.1f} s" if result.timings.total is not None else ""
    lines = [Line("warning", text) for text in _warnings(result)]
    if result.failure is None:
        return [*lines, Line("done", f"{result.reason}{seconds}")]
    return [*lines, failure(result)]


def failure(result: RunResult) -> Line:
    """Why a run is not completed."""
    assert result.failure is not None  # the caller has looked
    seconds = f" after {result.timings.total:.1f} s" if result.timings.total is not None else ""
    word = "aborted" if result.status == "aborted" else "failed"
    message = printable(result.failure.message, multiline=True).replace("\n", "\n         ")
    return Line(word, f"{result.reason}{seconds}: {message}")


def output_failure(error: OSError) -> Line | None:
    """Why stdout could not be written to; nothing where its reader has just gone."""
    return None if error.errno == errno.EPIPE else Line("failed", f"stdout cannot be written to: {error.strerror}")


_UNASKED: Final = ("tool call that changes something was", "tool calls that change something were")
_NOISE: Final = ("line on the agent's stdout is", "lines on the agent's stdout are")


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _warnings(result: RunResult) -> list[str]:
    flags, noise = result.flags, result.diagnostics.stdout_noise
    blocks = sum(len(message.blocks) for message in result.messages)
    unasked = len(flags.completed_without_asking)
    over = result.budget.exceeded if result.budget and result.failure is None else None
    found = [
        (flags.empty, "the agent said nothing"),
        (
            blocks,
            f"the answer holds {_many(blocks, 'block that is', 'blocks that are')} not text; --format json shows them",
        ),
        (flags.truncated, "the output was too long and is cut"),
        (unasked, f"{_many(unasked, *_UNASKED)} made without asking"),
        (noise.count, f"{_many(noise.count, *_NOISE)} not ACP: {safe(' | '.join(noise.first_lines))}"),
        (over, f"it is complete, but went over max_{over} of its budget"),
        (flags.killed, f"the agent's processes did not end by themselves: SIG{(flags.killed or '').upper()}"),
    ]
    return [text for applies, text in found if applies]
