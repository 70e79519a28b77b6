"""One run as its transcript tells it: who it was, what happened, how it ended, and which runs it started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from acp_client.outcome.reasons import REASONS, Reason
from acp_client.outcome.result import Usage
from acp_client.record.format.lines import Header
from acp_client.record.format.reader import Fault
from acp_client.record.tree.items import HostCall, Item, Output, Permission, Request, ToolCall, members, number, word

RunStatus: TypeAlias = Literal["completed", "aborted", "error", "unfinished"]

_Wanted = TypeVar("_Wanted", bound=Item)
_REASONS: Final[dict[str, Reason]] = {reason: reason for reason in get_args(Reason)}
_STATUSES: Final[dict[str, RunStatus]] = {status: status for status in get_args(RunStatus)}
_GRAVITY: Final = ("error", "aborted", "unfinished")
_UNTOLD: Final = "the record ends here, without its end note: the run still goes on, or whoever wrote it was killed"


@dataclass(slots=True, kw_only=True, eq=False)
class Run:
    """`source` is where the transcript was, `result` the run's result as the end note has it, None without one.

    `told` is what the agent says of its own sub-agents; `handed_up`: this run is known from that alone.
    """

    source: str = ""
    header: Header | None = None
    items: list[Item] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    agent_name: str | None = None
    ended: float | None = None
    last_t: float | None = None
    result: dict[str, Any] | None = None
    faults: list[Fault] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)
    handed_up: bool = False
    parent: Run | None = None
    children: list[Run] = field(default_factory=list)

    @property
    def run_id(self) -> str | None:
        """As its header says."""
        return (self.header.run_id or None) if self.header else None

    @property
    def name(self) -> str:
        """What the parent calls the agent, else what it calls itself, else its program, else the file."""
        program = self.header.agent if self.header else ""
        return self.given_name or self.agent_name or program or self.source.rpartition("/")[2] or "agent"

    @property
    def given_name(self) -> str:
        """What the parent calls it; empty where nobody has named it, and its header has the name of a program."""
        if self.header is None or not self.header.command:
            return self.header.agent if self.header else ""
        program = self.header.command[0].rpartition("/")[2]
        return self.header.agent if self.header.agent != program else ""

    @property
    def breadcrumb(self) -> tuple[str, ...]:
        """The names from the outermost run down to this one."""
        return tuple(run.name for run in reversed(list(self.lineage())))

    def lineage(self) -> Iterator[Run]:
        """This run, its parent, and so on."""
        run: Run | None = self
        while run is not None:
            yield run
            run = run.parent

    def walk(self) -> Iterator[Run]:
        """This run and all below it, each before its children."""
        open_runs = [self]
        while open_runs:
            run = open_runs.pop()
            yield run
            open_runs.extend(reversed(run.children))

    def of(self, kind: type[_Wanted]) -> list[_Wanted]:
        """The items of a kind."""
        return [item for item in self.items if isinstance(item, kind)]

    @property
    def started(self) -> datetime | None:
        """When, where the header says."""
        try:
            began = datetime.fromisoformat(self.header.started) if self.header else None
        except ValueError:
            return None
        return began if began is None or began.tzinfo else None

    @property
    def is_over(self) -> bool:
        """True with an end note."""
        return self.result is not None

    @property
    def seems_over(self) -> bool:
        """True where nobody writes an end note, and the last prompt is answered: there may be another, but need not."""
        return self._wire_reason() is not None

    @property
    def seconds(self) -> float | None:
        """How long it ran, or as far as the record goes."""
        total = number(members((self.result or {}).get("timings")).get("total"))
        return self.last_t if total is None else total

    @property
    def reason(self) -> str:
        """Of `outcome.REASONS`, or what a later release calls it; "unfinished" without an end."""
        told = word((self.result or {}).get("reason")) or self._wire_reason()
        return told or ("unknown" if self.is_over else "unfinished")

    @property
    def status(self) -> RunStatus:
        """As the result says, else by the reason."""
        told = _STATUSES.get(word((self.result or {}).get("status")) or "")
        known = _REASONS.get(self.reason)
        return told or (REASONS[known].status if known else "error" if self.is_over else "unfinished")

    @property
    def failed(self) -> bool:
        """True for one that did not complete."""
        return self.status != "completed"

    @property
    def meaning(self) -> str:
        """What the reason means."""
        known = _REASONS.get(self.reason)
        return REASONS[known].meaning if known else _UNTOLD if self.status == "unfinished" else ""

    @property
    def failure(self) -> dict[str, Any]:
        """`Failure` as JSON; empty where there is none."""
        return members((self.result or {}).get("failure"))

    @property
    def stderr(self) -> str:
        """What the agent said on stderr, of the frames' record or else the result's tail of it."""
        text = "".join(item.text for item in self.of(Output) if not item.noise)
        return text or word(members((self.result or {}).get("diagnostics")).get("stderr_tail")) or ""

    def _wire_reason(self) -> str | None:
        """How the last prompt was answered: all there is where no parent of ours has written the record."""
        if self.header is not None:
            return None
        prompts = [item for item in self.items if isinstance(item, Request) and item.method == "session/prompt"]
        if not prompts:
            return None
        if prompts[-1].error is not None:
            return "agent_error"
        stop = word(members(prompts[-1].result).get("stopReason"))
        if stop is None:
            return None
        told = "cancelled_by_agent" if stop == "cancelled" else stop
        return told if told in _REASONS else "unknown_stop_reason"


@dataclass(frozen=True, slots=True)
class Counts:
    """What there is in some runs."""

    runs: int = 0
    failed: int = 0
    aborted: int = 0
    unfinished: int = 0
    permissions: int = 0
    denied: int = 0
    tool_calls: int = 0
    failed_calls: int = 0


def counts(runs: Iterable[Run]) -> Counts:
    """Added up over these runs; not over their children."""
    every = list(runs)
    calls = [call for run in every for call in (*run.of(ToolCall), *run.of(HostCall))]
    asked = [item for run in every for item in run.of(Permission)]
    statuses = [run.status for run in every]
    return Counts(
        runs=len(every),
        failed=statuses.count("error"),
        aborted=statuses.count("aborted"),
        unfinished=statuses.count("unfinished"),
        permissions=len(asked),
        denied=sum(item.answer == "denied" for item in asked),
        tool_calls=len(calls),
        failed_calls=sum(call.failed for call in calls),
    )


def failures(runs: Iterable[Run]) -> list[Run]:
    """Those that did not complete, what failed first, then what was aborted, then what has no end."""
    return sorted((run for run in runs if run.failed), key=lambda run: _GRAVITY.index(run.status))
