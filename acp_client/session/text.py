"""The answer text of a turn, as it comes: verbatim, in wire order, by message, in bounded memory.

Owns joining and cutting. Pure; leaves to `turn` which text is answer text and where a message begins.
"""

from __future__ import annotations

from typing import Any, Final

from acp_client.outcome.result import Message
from acp_client.protocol import models

MAX_ID_CHARS: Final = 256
"""What is kept of a message's id; a longer one is cut."""
MAX_SEGMENTS: Final = 100_000
"""Changes from one message to another that are kept; after these all text belongs to the last one."""
PIECES_PER_BLOCK: Final = 4096
"""So many pieces are joined into one string: a list of small strings costs several times their text."""


class _Segment:
    """Consecutive text of one message."""

    __slots__ = ("blocks", "joined", "message", "pieces")

    def __init__(self, message: int) -> None:
        self.message = message
        self.joined: list[str] = []
        self.pieces: list[str] = []
        self.blocks: list[dict[str, Any]] = []

    def join(self) -> None:
        """Make one string of the pieces; those joined before are not copied."""
        self.joined.append("".join(self.pieces))
        self.pieces = []

    def text(self) -> str:
        """All of it, kept as one string, so that whoever asks shares it."""
        self.joined = ["".join(self.joined + self.pieces)]
        self.pieces = []
        return self.joined[0]


class AnswerText:
    """Collects text and blocks. `truncated` is set once something was cut at `max_bytes` (UTF-8 bytes).

    With `last_only` a message is let go as the next one begins, and what comes for it later is not kept.
    """

    __slots__ = (
        "_boundary",
        "_current",
        "_current_id",
        "_ids",
        "_last_only",
        "_left",
        "_left_aside",
        "_made",
        "_max_bytes",
        "_messages",
        "_parts",
        "_segments",
        "_text",
        "_turn_began",
        "truncated",
    )

    def __init__(self, max_bytes: int, *, last_only: bool = False) -> None:
        self._last_only = last_only
        self._max_bytes = self._left = max_bytes
        self._left_aside: int | None = None
        self._parts: list[str] = []
        self._text = ""
        self._made: tuple[list[str], int, tuple[Message, ...]] = ([], 0, ())
        self._segments: list[_Segment] = []
        self._messages: list[str | None] = []
        self._ids: dict[str, int] = {}
        self._current: _Segment | None = None
        self._current_id: str | None = None
        self._boundary = False
        self._turn_began = 0
        self.truncated = False

    def __bool__(self) -> bool:
        return any(segment.blocks or any(segment.pieces) or any(segment.joined) for segment in self._segments)

    def break_message(self) -> None:
        """What follows without an id is another message (a tool call came between)."""
        self._boundary = True

    def begin_turn(self) -> None:
        """What follows answers another prompt."""
        self._current = None
        self._boundary = True
        self._turn_began = len(self._segments)

    def add(self, text: str, message_id: str | None) -> None:
        """Append text, cut at the limit. The hot path of a run."""
        segment = self._current
        if segment is None or self._boundary or (message_id is not None and message_id != self._current_id):
            if not text:
                return
            segment = self._segment(message_id)
        size = len(text) if text.isascii() else len(text.encode())
        if size > self._left:
            self.truncated = True
            text = text.encode()[: self._left].decode(errors="ignore")
            size = self._left
        self._left -= size
        segment.pieces.append(text)
        if len(segment.pieces) >= PIECES_PER_BLOCK:
            segment.join()

    def add_block(self, block: dict[str, Any], size: int, message_id: str | None) -> None:
        """Append a block that is not text (an image, a link, an unknown kind), or drop it where it does not fit."""
        if size > self._left:
            self.truncated = True
            return
        segment = self._segment(message_id)
        self._left -= size
        segment.blocks.append(block)

    def _segment(self, message_id: str | None) -> _Segment:
        current = self._current
        if current is not None:
            if message_id is None and not self._boundary:
                return current
            if message_id is not None and self._current_id == message_id:
                self._boundary = False
                return current
            if max(len(self._segments), len(self._messages)) >= MAX_SEGMENTS:
                return current
        self._boundary = False
        self._current_id = message_id
        self._current = _Segment(self._message(message_id))
        if self._last_only:
            self._keep_last(self._current)
        else:
            self._segments.append(self._current)
        return self._current

    def _keep_last(self, segment: _Segment) -> None:
        """Make room for the message that began last; what goes on with another one is kept aside, for nobody."""
        if self._left_aside is not None:
            self._left, self._left_aside = self._left_aside, None
        if segment.message < self.omitted:
            self._left_aside = self._left
            return
        if self._segments and self._segments[-1].message != segment.message:
            self._segments.clear()
            self._left = self._max_bytes
            self._turn_began = 0
        self._segments.append(segment)

    @property
    def omitted(self) -> int:
        """How many messages were let go."""
        return max(0, len(self._messages) - 1) if self._last_only else 0

    def _message(self, message_id: str | None) -> int:
        """The index of a message: a known id goes on with its own message, anything else begins one."""
        if message_id is not None and message_id in self._ids:
            return self._ids[message_id]
        kept = message_id if message_id is None or len(message_id) <= MAX_ID_CHARS else message_id[:MAX_ID_CHARS]
        self._messages.append(kept)
        index = len(self._messages) - 1
        if kept is not None:
            self._ids[kept] = index
        return index

    def text(self) -> str:
        """All answer text in wire order; the same string each time, while nothing is added."""
        parts = [segment.text() for segment in self._segments]
        if parts != self._parts:
            self._parts, self._text = parts, "".join(parts)
        return self._text

    def turn_texts(self) -> tuple[str, str]:
        """The text of the last turn: verbatim, and with its messages apart, each on lines of its own."""
        parts = [segment.text() for segment in self._segments[self._turn_began :]]
        return "".join(parts), "\n".join(parts)

    def messages(self) -> tuple[Message, ...]:
        """The messages in the order in which they began; the same ones each time, while nothing is added."""
        parts = [segment.text() for segment in self._segments]
        count = sum(len(segment.blocks) for segment in self._segments)
        if self._made[:2] != (parts, count):
            self._made = (parts, count, self._make())
        return self._made[2]

    def _make(self) -> tuple[Message, ...]:
        kept = self._messages[self.omitted :]
        texts: list[list[str]] = [[] for _ in kept]
        blocks: list[list[Any]] = [[] for _ in kept]
        for segment in self._segments:
            index = segment.message - self.omitted
            texts[index].append(segment.text())
            blocks[index] += [_typed(block) for block in segment.blocks]
        rows = zip(kept, texts, blocks, strict=True)
        return tuple(Message(id=mid, text="".join(parts), blocks=tuple(kept)) for mid, parts, kept in rows)


def _typed(block: dict[str, Any]) -> Any:
    """The block as a model; kept as an unknown kind where it does not fit its own."""
    try:
        return models.parse_content_block(block)
    except models.ModelError:
        return models.UnknownContent.from_wire(block)
