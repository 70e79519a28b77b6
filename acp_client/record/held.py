"""The lines of one run on their way to its file: in order, and none before its text is decided.

Owns which texts of which frames go on in another frame, what ends them, and how much may be held back for it. Pure; one
thread. How a text in pieces is redacted is `pieces`'s, a whole frame `cleaner`'s.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from acp_client.record.cleaner import SLICE_CHARS, Cleaner
from acp_client.record.format.lines import Direction, Frame, encode_line
from acp_client.record.pieces import Piece, Pieces

MAX_HELD_LINES: Final = 256
"""So many lines wait behind a text that is open; then its open end is masked and it is decided."""
MAX_HELD_BYTES: Final = 1024 * 1024
"""The same, in bytes of the frames."""
MAX_TEXTS: Final = 256
"""Texts that are followed at once: two for a session, a few for a tool call; the one that was quiet longest goes."""
MAX_SLOTS: Final = 256
"""Strings of one tool call's update that are followed; what is beyond is looked at alone."""

_CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
_CALLS: Final = frozenset({"tool_call", "tool_call_update"})
_OUTPUTS: Final = ("content", "rawOutput", "rawInput", "_meta")
"""Where a tool call's update says what the tool said."""
_OVER: Final = frozenset({"completed", "failed"})

Key: TypeAlias = tuple[str, ...]
"""Which text it is: of a message or of a tool call, in which session."""


class _Entry:
    """One line, its size, and how many pieces of text in it are not decided."""

    __slots__ = ("line", "open", "size", "slots")

    def __init__(self, line: Frame | bytes, size: int) -> None:
        self.line = line
        self.size = size
        self.open = 0
        self.slots: list[_Slot] = []


class _Slot:
    """A string in a frame, as its pieces."""

    __slots__ = ("entry", "holder", "key", "pieces")

    def __init__(self, entry: _Entry, holder: Any, key: Any) -> None:
        self.entry = entry
        self.holder = holder
        self.key = key
        self.pieces: list[Piece] = []


class Held:
    """Put lines in; take out what is ready to be written. `count` says how many are held."""

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner = cleaner
        self._lines: deque[_Entry] = deque()
        self._bytes = 0
        self._texts: OrderedDict[Key, Pieces] = OrderedDict()
        self._ready: list[bytes] = []

    def __len__(self) -> int:
        return len(self._lines)

    def put_line(self, line: bytes) -> None:
        """A line that is redacted already."""
        self._append(_Entry(line, len(line)))

    def put_raw(self, direction: Direction, text: str, t: float) -> None:
        """A line of the wire that was no JSON object; a private key goes over several."""
        entry = _Entry(Frame(direction=direction, raw=text, t=t), len(text))
        self._append(entry)
        holder = {"raw": text}
        self._follow(entry, ("raw", direction), holder, "raw", after="\n")
        self._bound()

    def put_frame(self, direction: Direction, message: dict[str, Any], t: float, size: int) -> None:
        """A frame, which is ours from now on."""
        entry = _Entry(Frame(direction=direction, message=message, t=t), size)
        self._append(entry)
        if direction == "a>c":
            update = _update(message)
            if update is None:
                self._end_texts(message)
            else:
                self._look_at_update(entry, message, update)
            self._bound()

    def put_run(self, key: Key, lines: Iterable[bytes], texts: list[str]) -> bool:
        """Frames of one text in pieces, written out already; False if they have to be put one by one."""
        self._ready.extend(self._decided())
        if self._lines or not self._text(key).pass_by(texts):
            return False
        self._ready.extend(lines)
        return True

    def take(self) -> list[bytes]:
        """The lines that are decided, in order."""
        ready = self._ready
        ready.extend(self._decided())
        self._ready = []
        return ready

    def _decided(self) -> Iterator[bytes]:
        while self._lines and not self._lines[0].open:
            entry = self._lines.popleft()
            self._bytes -= entry.size
            yield entry.line if isinstance(entry.line, bytes) else self._written(entry, entry.line)

    def finish(self) -> None:
        """Nothing more comes: all is decided."""
        for pieces in self._texts.values():
            self._tell(pieces.close())

    # ---- what goes on where

    def _look_at_update(self, entry: _Entry, message: dict[str, Any], update: dict[str, Any]) -> None:
        session, chunk = _word(message["params"].get("sessionId")), key_of_chunk(message)
        kind = _word(update.get("sessionUpdate"))
        if chunk is not None:
            if kind == "agent_message_chunk":
                self._close("tool", session)
            self._follow(entry, chunk, update["content"], "text")
        elif kind in _CALLS:
            call = _word(update.get("toolCallId"))
            if kind == "tool_call":
                self._close("message", session)
            slots = [slot for name in _OUTPUTS if name in update for slot in _strings(update, name, (name,))]
            for holder, key, path in slots[:MAX_SLOTS]:
                self._follow(entry, ("tool", session, call, *path), holder, key)
            if _word(update.get("status")) in _OVER:
                self._close("tool", session, call)

    def _end_texts(self, message: dict[str, Any]) -> None:
        """A request of the agent's ends what it was saying, an answer also what its tools said."""
        self._close("message")
        if "method" not in message:
            self._close("tool")

    def _follow(self, entry: _Entry, key: Key, holder: Any, member: Any, *, after: str = "") -> None:
        text = holder[member]
        if not text and not after:
            return
        pieces = self._text(key)
        slot = _Slot(entry, holder, member)
        entry.slots.append(slot)
        for start in range(0, len(text) or 1, SLICE_CHARS):
            end = start + SLICE_CHARS
            piece = Piece(text[start:end], slot)
            slot.pieces.append(piece)
            entry.open += 1
            self._tell(pieces.feed(piece, after if end >= len(text) else ""))

    def _text(self, key: Key) -> Pieces:
        pieces = self._texts.get(key)
        if pieces is None:
            pieces = self._texts[key] = Pieces(self._cleaner.redactor)
            if len(self._texts) > MAX_TEXTS:
                self._tell(self._texts.popitem(last=False)[1].close())
        else:
            self._texts.move_to_end(key)
        return pieces

    def _close(self, *beginning: str) -> None:
        for key, pieces in self._texts.items():
            if pieces.is_open and key[: len(beginning)] == beginning:
                self._tell(pieces.close())

    def _tell(self, decided: list[Piece]) -> None:
        for piece in decided:
            assert isinstance(piece.owner, _Slot)  # made in `_follow`
            piece.owner.entry.open -= 1

    def _append(self, entry: _Entry) -> None:
        self._lines.append(entry)
        self._bytes += entry.size

    def _bound(self) -> None:
        if self._lines and self._lines[0].open and (len(self._lines) > MAX_HELD_LINES or self._bytes > MAX_HELD_BYTES):
            for pieces in self._texts.values():
                self._tell(pieces.close(forced=True))

    def _written(self, entry: _Entry, frame: Frame) -> bytes:
        for slot in entry.slots:
            slot.holder[slot.key] = "".join(piece.text for piece in slot.pieces)
        if frame.message is None:
            raw = entry.slots[0].holder["raw"]
            return encode_line(Frame(direction=frame.direction, raw=self._cleaner.text(raw), t=frame.t))
        message = self._cleaner.json(frame.message)
        return encode_line(Frame(direction=frame.direction, message=message, t=frame.t))


def key_of_chunk(message: dict[str, Any]) -> Key | None:
    """Which text this frame is a piece of, if it is one of a message."""
    update = _update(message)
    kind = update.get("sessionUpdate") if update is not None else None
    if update is None or not isinstance(kind, str) or kind not in _CHUNKS:
        return None
    content = update.get("content")
    if not (isinstance(content, dict) and isinstance(content.get("text"), str)):
        return None
    return "message", _word(message["params"].get("sessionId")), kind


def _update(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params") if message.get("method") == "session/update" else None
    update = params.get("update") if isinstance(params, dict) else None
    return update if isinstance(update, dict) else None


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _strings(holder: Any, key: Any, path: Key, depth: int = 0) -> Iterator[tuple[Any, Any, Key]]:
    """The strings below, each with where it stands; the places of a list are one place."""
    value = holder[key]
    if isinstance(value, str):
        yield holder, key, path
    elif depth < 8:  # noqa: PLR2004  # deeper is no output that anybody shows
        if isinstance(value, dict):
            for name in value:
                yield from _strings(value, name, (*path, name), depth + 1)
        elif isinstance(value, list):
            for index in range(len(value)):
                yield from _strings(value, index, path, depth + 1)
