"""A run as it goes: rows for what is new with each line of its transcript. Pure; who reads the file is elsewhere.

Owns when something is told: text by lines, tool calls when their status changes, a permission when it is asked and when
it is answered. What waits for more is told at the latest by `flush`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from acp_client.record.format.lines import Line
from acp_client.record.tree.fold import Folding
from acp_client.record.tree.items import ENDED, Item, Output, Permission, Request, Said, ToolCall
from acp_client.record.tree.runs import Run
from acp_client.record.viewer.cards import card
from acp_client.record.viewer.rows import Row, heading_row, item_rows, run_row, summary_rows
from acp_client.record.viewer.words import block


class Live:
    """Feed it the lines in order. `run` is what is known so far."""

    def __init__(self, source: str = "") -> None:
        self._folding: Final = Folding(source)
        self._told: dict[Item, object] = {}
        self._stream: Said | Output | None = None
        self._pieces: dict[Item, int] = {}
        self._rest = ""
        self._labelled = False
        self._headed = False
        self._answered: list[Permission] = []

    @property
    def run(self) -> Run:
        """The run."""
        return self._folding.run

    def feed(self, line: Line) -> Iterator[Row]:
        """The next line; the rows must be taken before the one after it."""
        touched = self._folding.feed(line)
        yield from self._head(touched)
        waiting, self._answered = self._answered, []
        for asked in waiting:
            if asked not in touched:
                yield from self._tell_answer(asked)
        for item in touched:
            yield from self._see(item)
        if self.run.is_over:
            yield from self.finish()

    def flush(self) -> Iterator[Row]:
        """Nothing more has come for a while: tell what is known."""
        waiting, self._answered = self._answered, []
        for asked in waiting:
            yield from self._tell_answer(asked)
        yield from self._end_line()

    def finish(self) -> Iterator[Row]:
        """No more will come: the rest, and the summary."""
        yield from self.flush()
        yield Row(0, "")
        yield run_row(self.run)
        yield from summary_rows([self.run])

    def _head(self, touched: Sequence[Item]) -> Iterator[Row]:
        """The heading, once it is known what the run is called: an agent that nobody has named says so itself."""
        if self._headed or self.run.header is None:
            return
        if self.run.given_name or self.run.agent_name or any(not _is_opening(item) for item in touched):
            self._headed = True
            yield run_row(self.run, live=True)

    def _see(self, item: Item) -> Iterator[Row]:
        if isinstance(item, (Said, Output)):
            yield from self._tell_text(item)
        elif isinstance(item, ToolCall):
            yield from self._tell_call(item)
        elif isinstance(item, Permission):
            yield from self._tell_asked(item)
        elif item not in self._told and (not isinstance(item, Request) or item.until is not None):
            self._told[item] = True
            yield from self._whole(item)

    def _whole(self, item: Item) -> Iterator[Row]:
        rows = list(item_rows(item))
        if rows:
            yield from self._end_stream()
            yield from rows

    def _tell_text(self, item: Said | Output) -> Iterator[Row]:
        if item is not self._stream:
            yield from self._end_stream()
            self._stream = item
        text = self._rest + "".join(item.pieces[self._pieces.get(item, 0) :])
        self._pieces[item] = len(item.pieces)
        *lines, self._rest = text.split("\n")
        for line in lines:
            yield self._text_row(line)

    def _text_row(self, text: str) -> Row:
        assert self._stream is not None  # the caller has set it
        shown = block(text)
        if self._labelled:
            return Row(0, shown)
        self._labelled = True
        return Row(0, shown, card(self._stream).label, t=self._stream.t)

    def _end_line(self) -> Iterator[Row]:
        if self._stream is not None and self._rest:
            yield self._text_row(self._rest)
            self._rest = ""

    def _end_stream(self) -> Iterator[Row]:
        """Something else is told: text that comes after it begins anew."""
        yield from self._end_line()
        self._labelled = False

    def _tell_call(self, call: ToolCall) -> Iterator[Row]:
        state = (call.title, call.status)
        if self._told.get(call) == state:
            return
        self._told[call] = state
        if call.status in ENDED:
            yield from self._whole(call)
        else:
            yield from self._end_stream()
            yield heading_row(card(call), 0, call.t)

    def _tell_asked(self, asked: Permission) -> Iterator[Row]:
        if asked.outcome is None:
            if asked not in self._told:
                yield from self._whole(asked)
            self._told[asked] = None
        elif asked.record is not None:
            yield from self._tell_answer(asked)
        else:
            self._answered.append(asked)  # who it was is told by the note that follows, if one does

    def _tell_answer(self, asked: Permission) -> Iterator[Row]:
        state = asked.answer, asked.decided_by
        if self._told.get(asked) != state:
            self._told[asked] = state
            yield from self._whole(asked)


def _is_opening(item: Item) -> bool:
    """The question that is answered by an agent's name."""
    return isinstance(item, Request) and item.method == "initialize" and item.until is None
