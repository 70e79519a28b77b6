"""The words for runs and for what was asked and answered, the same on a terminal and on the page.

Owns how amounts, values and endings are said. All that is returned is safe to print. Pure.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal, TypeAlias

from acp_client.outcome.result import Usage
from acp_client.record.tree.items import Permission, Said, members, word
from acp_client.record.tree.runs import Counts, Run, counts
from acp_client.safe_text import ELLIPSIS, printable

Tone: TypeAlias = Literal["", "good", "bad", "warn", "ask", "dim"]
"""How a word is coloured; what it says is always in the word too."""

CRUMB: Final = " › "
"""Between the names of a breadcrumb."""
LINE_CHARS: Final = 500
TASK_CHARS: Final = 120
BLOCK_CHARS: Final = 200_000
"""Of one text that is shown whole; the transcript has the rest."""
MINUTE: Final = 60.0


def line(value: object) -> str:
    """A child's text for one line."""
    return printable(str(value).strip(), max_chars=LINE_CHARS)


def block(text: str) -> str:
    """A child's text on lines of its own."""
    if len(text) <= BLOCK_CHARS:
        return printable(text, multiline=True)
    left = len(text) - BLOCK_CHARS
    return f"{printable(text[:BLOCK_CHARS], multiline=True)}{ELLIPSIS} ({left} characters more in the transcript)"


def value_text(value: Any) -> str:
    """Any JSON value as text: a string as it is, else indented JSON."""
    if isinstance(value, str):
        return block(value)
    indent = 2 if isinstance(value, (dict, list)) else None
    return block(json.dumps(value, ensure_ascii=False, indent=indent))


def pairs(value: Any) -> list[tuple[str, str]]:
    """An object as names and texts; anything else under no name; nothing for nothing."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [(line(key), value_text(member)) for key, member in value.items()]
    return [("", value_text(value))]


def seconds(amount: float | None) -> str:
    """A length of time; empty where it is not known."""
    if amount is None:
        return ""
    if amount < 0.01:  # noqa: PLR2004  # below that the figure is the event loop's, not the agent's
        return "0 s"
    if amount < MINUTE:
        return f"{amount:.2f} s" if amount < 10 else f"{amount:.1f} s"  # noqa: PLR2004  # three figures each
    minutes, rest = divmod(round(amount), 60)
    return f"{minutes} min {rest} s"


def many(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def crumb(run: Run) -> str:
    """The names down to a run."""
    return CRUMB.join(map(line, run.breadcrumb))


def task(run: Run) -> str:
    """What it was asked to do, in a line: several children of one name are told apart by it."""
    asked = next((item.text for item in run.of(Said) if item.role == "user"), "")
    return printable(asked.strip().split("\n", 1)[0], max_chars=TASK_CHARS)


def status_word(run: Run, *, live: bool = False) -> tuple[str, Tone]:
    """How a run ended, in a word; `live`: somebody watches it, so that no end means it goes on."""
    if run.status == "unfinished":
        return ("running", "ask") if live else ("unfinished", "warn")
    words: dict[str, tuple[str, Tone]] = {"completed": ("completed", "good"), "aborted": ("aborted", "warn")}
    return words.get(run.status, ("failed", "bad"))


def why_failed(run: Run) -> str:
    """Why a run is not completed: the message of its failure, else what its reason means."""
    told = word(run.failure.get("message"))
    return block(told) if told else run.meaning


def facts(run: Run) -> list[str]:
    """What a run's own line says after its status: reason, time, calls, permissions."""
    found = counts_of(run)
    took = seconds(run.seconds)
    failed = f", {found.failed_calls} failed" if found.failed_calls else ""
    denied = f", {found.denied} denied" if found.denied else ""
    known = [
        line(run.reason) if run.reason != run.status else "",
        took,
        many(found.tool_calls, "tool call") + failed if found.tool_calls else "",
        many(found.permissions, "permission") + denied if found.permissions else "",
    ]
    return [fact for fact in known if fact]


def counts_of(run: Run) -> Counts:
    """What there is in this run alone."""
    return counts([run])


def told_counts(found: Counts) -> str:
    """The headline over some runs."""
    parts = [
        f"{found.failed} failed" if found.failed else "",
        f"{found.aborted} aborted" if found.aborted else "",
        f"{found.unfinished} unfinished" if found.unfinished else "",
        many(found.tool_calls, "tool call") + (f" ({found.failed_calls} failed)" if found.failed_calls else ""),
        many(found.permissions, "permission asked", "permissions asked")
        + (f" ({found.denied} denied)" if found.denied else ""),
    ]
    return ", ".join([many(found.runs, "run"), *(part for part in parts if part)])


ANSWER_TONES: Final[dict[str, Tone]] = {
    "allowed": "good",
    "denied": "bad",
    "cancelled": "warn",
    "open": "ask",
    "answered": "",
}


def asked_for(item: Permission) -> str:
    """What was asked for."""
    kind = line(item.tool_kind) if item.tool_kind else "" if item.subject == "tool" else item.subject
    return f"{line(item.title)} ({kind})" if kind else line(item.title)


def answered_by(item: Permission) -> str:
    """Who answered; empty where the record does not say."""
    by = line(item.decided_by) if item.decided_by else ""
    role = word((item.record or {}).get("role"))
    return f"{by}, as {line(role)}" if by and role else by


def answer(item: Permission) -> str:
    """The answer in a sentence: what, by whom, why, after how long."""
    if item.answer == "open":
        return "not answered"
    record = item.record or {}
    option = item.option
    by = answered_by(item)
    picked = line(option.get("name") or item.option_id) if option else line(item.option_id) if item.option_id else ""
    parts = [
        item.answer + (f" by {by}" if by else ""),
        f"({line(item.why)})" if item.why else "",
        f"with {picked!r}" if picked else "",
        "for good: nothing narrower was offered" if record.get("wider") is True else "",
        "as remembered" if record.get("remembered") is True else "",
        f"after {seconds(item.waited)}" if item.waited is not None else "",
    ]
    return " ".join(part for part in parts if part)


_FIGURES: Final = {
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "cached_tokens": "cached tokens",
    "thought_tokens": "thought tokens",
    "total_tokens": "tokens in all",
    "context_used": "context used",
    "context_size": "context size",
}


def usage(told: Usage, result: dict[str, Any] | None) -> list[tuple[str, str]]:
    """What was used, by name; the frames' figures, and where there are none those of the result."""
    figures = told.model_dump(mode="json")
    if told.source is None:
        figures = members((result or {}).get("usage"))
    found = [(name, f"{figures[key]:,}") for key, name in _FIGURES.items() if type(figures.get(key)) is int]
    cost = members(figures.get("cost"))
    if isinstance(cost.get("amount"), (int, float)):
        found.append(("cost", line(f"{cost['amount']:g} {cost.get('currency', '')}")))
    return found
