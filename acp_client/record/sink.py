"""The thread's side of one transcript: bytes to lines, secrets out, lines to the file.

Owns the order of these steps. Runs in the writer's thread alone. What a frame means is nobody's matter here.
"""

from __future__ import annotations

from typing import Any, Final

from acp_client.process.redaction import Redactor
from acp_client.process.stderr import StderrEvents
from acp_client.protocol.framing import LineSplitter, Overlong
from acp_client.record.chunks import Chunks, Run
from acp_client.record.cleaner import Cleaner
from acp_client.record.file import RecordFile
from acp_client.record.format.lines import (
    END,
    LOST,
    TO_AGENT,
    TO_CLIENT,
    Direction,
    Header,
    Note,
    Stderr,
    decode_object,
    encode_line,
)
from acp_client.record.held import Held
from acp_client.record.writer import Item

STDERR: Final = "err"
_DIRECTIONS: Final[tuple[Direction, ...]] = (TO_AGENT, TO_CLIENT)


class TranscriptSink:
    """Takes the items of one run: bytes of a direction, bytes of stderr, or the fields of a note by its kind."""

    def __init__(self, header: Header, file: RecordFile, redactor: Redactor, max_frame_bytes: int) -> None:
        self.file: Final = file
        self.redactor = redactor
        """May be replaced until the first item: a secret of the run is made after it."""
        self._header = header
        self._lines = {direction: LineSplitter(max_frame_bytes) for direction in _DIRECTIONS}
        self._began = False
        self._t = 0.0
        self.is_there = False
        """After `finish`: the transcript is where it should be."""

    def take(self, items: list[Item]) -> None:
        """Write what is decided of them, in one piece."""
        if not self._began:
            self._begin()
        for t, kind, what, _size in items:
            self._t = t
            if kind in (TO_AGENT, TO_CLIENT):
                self._take_bytes(TO_AGENT if kind == TO_AGENT else TO_CLIENT, what, t)
            elif kind == STDERR:
                self._put_stderr(self._stderr.feed(what), t)
            elif kind:  # else it is the word to begin
                self._take_note(kind, what, t)
        self.file.add(self._held.take(), t=self._t)

    def finish(self) -> None:
        """Write what was held back, and close the file."""
        if not self._began:
            self._begin()
        self._settle()
        self.is_there = self.file.close()

    def _begin(self) -> None:
        self._began = True
        self._cleaner = Cleaner(self.redactor)
        self._stderr = StderrEvents(self.redactor)
        self._chunks = Chunks()
        self._held = Held(self._cleaner)
        self.file.open()
        self.file.add([self._header_line()], t=0.0, always=True)

    def _header_line(self) -> bytes:
        header = self._header
        clean = self._cleaner.text
        return encode_line(
            Header(
                run_id=header.run_id,
                parent_run_id=header.parent_run_id,
                agent=clean(header.agent),
                command=tuple(map(clean, header.command)),
                cwd=clean(header.cwd),
                started=header.started,
                depth=header.depth,
                version=header.version,
            )
        )

    def _take_bytes(self, direction: Direction, data: bytes, t: float) -> None:
        for run in self._chunks.runs(self._lines[direction].feed(data)):
            self._take_run(direction, run, t)

    def _take_run(self, direction: Direction, run: Run, t: float) -> None:
        """A run of chunks of one message passes as a whole; where it cannot, the halves of it are tried."""
        if run.key is not None and direction == TO_CLIENT:
            before = b'{"t":%.6f,"dir":"a>c","msg":' % t
            if self._held.put_run(run.key, [before + line + b"}\n" for line in run.lines], run.texts):
                return
            if len(run.lines) > 1:
                for half in run.halves():
                    self._take_run(direction, half, t)
                return
        for line in run.lines:
            self._take_line(direction, line, t)

    def _take_line(self, direction: Direction, line: bytes | Overlong, t: float) -> None:
        if isinstance(line, Overlong):
            self._held.put_line(encode_line(Note(kind=LOST, fields={"frames": 1, "why": "a frame is too long"}, t=t)))
            return
        message = decode_object(line)
        if message is not None:
            if direction == TO_CLIENT:
                self._chunks.learn(line, message, self._cleaner)
            self._held.put_frame(direction, message, t, len(line))
        elif line.strip():
            self._held.put_raw(direction, line.decode("utf-8", errors="replace"), t)

    def _put_stderr(self, text: str, t: float) -> None:
        if text:
            self._held.put_line(encode_line(Stderr(text=text, t=t)))

    def _take_note(self, kind: str, fields: dict[str, Any], t: float) -> None:
        line = encode_line(Note(kind=kind, fields=self._cleaner.json(fields), t=t))
        if kind == END:
            self._settle()
            self.file.add([line], t=t, always=True)
        else:
            self._held.put_line(line)

    def _settle(self) -> None:
        """No bytes come any more: what was cut is as whole as it gets."""
        for direction, lines in self._lines.items():
            self._take_line(direction, lines.finish(), self._t)
        self._put_stderr(self._stderr.finish(), self._t)
        self._held.finish()
        self.file.add(self._held.take(), t=self._t)
