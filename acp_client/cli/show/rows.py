"""Rows of a trace to stdout: with colours on a terminal, plain lines elsewhere. Owns the colours; imports rich late."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Final

from acp_client.record.viewer.rows import INDENT, LABEL_CHARS, Row

_STYLES: Final = {"good": "green", "bad": "bold red", "warn": "yellow", "ask": "magenta", "dim": "dim"}
_GUIDE: Final = "│ "


def printer() -> Callable[[Iterable[Row]], None]:
    """Prints rows, and flushes after each call."""
    return _drawn() if sys.stdout.isatty() else _plain


def _plain(rows: Iterable[Row]) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    for row in rows:
        sys.stdout.write(f"{row}\n".encode(encoding, errors="replace").decode(encoding))
    sys.stdout.flush()


def _drawn() -> Callable[[Iterable[Row]], None]:
    from rich.console import Console  # noqa: PLC0415  # a pipe has no use for it
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False)
    assert len(_GUIDE) == len(INDENT)  # as wide as in a plain line

    def draw(row: Row) -> Text:
        style = _STYLES.get(row.tone, "")
        marked = bool(row.mark)
        label = ("bold" if row.label == "run" else style or "cyan") if not marked else "cyan"
        text = style if row.label and not marked and row.tone in ("bad", "warn") else "dim" if row.tone == "dim" else ""
        return Text.assemble(
            (_GUIDE * row.depth, "dim"),
            (row.time, "dim"),
            " ",
            (f"{row.label:<{LABEL_CHARS}}", label),
            " ",
            (f"{row.mark}: " if marked else "", style),
            (row.text, text),
        )

    def show(rows: Iterable[Row]) -> None:
        for row in rows:
            console.print(draw(row), soft_wrap=True)

    return show
