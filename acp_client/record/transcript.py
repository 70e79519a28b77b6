"""The transcript of one run, as the run sees it: it tells what passes, and learns at the end where it is.

Owns the run's side only: nothing here waits for a disk, redacts or writes. The bytes go into a queue, and the writer's
thread does the rest (`sink`). Made for a run that is to be recorded; a run that is not has none, and pays nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import anyio

from acp_client._version import __version__
from acp_client.logs import get_logger
from acp_client.loop.threads import in_daemon_thread
from acp_client.outcome.result import HostToolCall, PermissionRecord, RunResult
from acp_client.process.environment import argument_secrets
from acp_client.process.redaction import REDACTED, Redactor
from acp_client.protocol.framing import DEFAULT_MAX_FRAME_BYTES
from acp_client.protocol.transport import Transport
from acp_client.record.file import RecordFile
from acp_client.record.format.lines import END, HOST_TOOL, PERMISSION, TO_AGENT, TO_CLIENT, Header
from acp_client.record.place import OneFile, Transcripts
from acp_client.record.sink import STDERR, TranscriptSink
from acp_client.record.tap import Tap
from acp_client.record.writer import RunQueue, Writer
from acp_client.spec import AgentSpec

ROOM_SECONDS: Final = 0.25
"""How long a thread waits for room before it looks again."""
STALLED_SECONDS: Final = 10.0
"""A disk that took nothing for so long takes no more: the run goes on without its transcript."""
END_SECONDS: Final = 30.0
"""How long the end of a run waits until its transcript is written, as long as that gets on."""
NOTE_BYTES: Final = 1024
"""What a note counts in the queue."""
_LEFT_OUT: Final[Mapping[str, Any]] = {
    "text": True,
    "messages": True,
    "last_message": True,
    "tool_calls": {"__all__": {"raw"}},
}
"""Of the result: what the frames say."""


class Transcript:
    """Told by the run: its bytes, its notes, its end. `path` and `fault` are there to be read after `finish`."""

    def __init__(
        self,
        header: Header,
        file: RecordFile,
        writer: Writer,
        *,
        began: float,
        max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES,
    ) -> None:
        self.place: Final = file.place
        self._began = began
        self._sink = TranscriptSink(header, file, Redactor(), max_frame_bytes)
        self._queue: RunQueue | None = None
        self._writer = writer
        self._given_up = False
        self._fault = ""
        self._finished = False

    @property
    def path(self) -> str | None:
        """Where it is; None where it could not be written, as far as that is known."""
        gone = self._fault or (not self._sink.is_there if self._finished else self._sink.file.is_missing)
        return None if gone else str(self.place.path)

    @property
    def fault(self) -> str | None:
        """What went wrong with it, if anything did."""
        failed = "a fault of this library, which was logged" if self._queue is not None and self._queue.failed else None
        return self._fault or self._sink.file.fault or failed

    def begin(self, redactor: Redactor) -> None:
        """The run starts its child, or ends without one; its secrets are known by now. Idempotent."""
        if self._queue is not None or self._fault:
            return
        self._sink.redactor = redactor
        try:
            self._queue = self._writer.open(self._sink)
        except RuntimeError:
            self._fault = "no thread could be started to write the transcript"
        else:
            self._queue.put(0.0, "", None, 0)

    def tap(self, transport: Transport) -> Transport:
        """The transport of the child, with our ear on it."""
        return Tap(transport, self) if self._queue is not None else transport

    # ---- what passes

    @property
    def is_behind(self) -> bool:
        """True while no more should be read of the child."""
        return self._queue is not None and self._queue.is_full and not self._given_up

    def received(self, data: bytes) -> None:
        """The agent sent these."""
        self._put(TO_CLIENT, data, len(data))

    def sent(self, data: bytes) -> None:
        """The agent was sent these."""
        self._put(TO_AGENT, data, len(data))

    def stderr(self, data: bytes) -> None:
        """The agent wrote these on stderr."""
        self._put(STDERR, data, len(data))

    def permission(self, record: PermissionRecord) -> None:
        """Something was asked and is decided."""
        self._put(PERMISSION, record.model_dump(mode="json"), NOTE_BYTES)

    def host_tool(self, call: HostToolCall) -> None:
        """The agent has called one of the parent's functions."""
        self._put(HOST_TOOL, call.model_dump(mode="json"), NOTE_BYTES)

    async def caught_up(self) -> None:
        """Return when it is not behind any more, or takes no more at all. Safe to cancel."""
        if (queue := self._queue) is not None:
            await self._wait(queue, queue.wait_for_room, lambda: not self.is_behind, math.inf)

    async def conclude(self, redactor: Redactor, report: Callable[[], RunResult]) -> None:
        """The run has ended; only now all is known that is to be said. Raises nothing but a native cancel."""
        try:
            self.begin(redactor)  # a run that never got so far has one too
            await self.finish(report)
        except Exception:  # noqa: BLE001  # the boundary: no run fails for its transcript
            get_logger(__name__).exception("a transcript was not finished", path=str(self.place.path))

    async def finish(self, report: Callable[[], RunResult]) -> None:
        """The run has ended as it reports. Returns when that is written, after `END_SECONDS` at the most."""
        result = report()
        queue = self._queue
        if queue is None:
            self._finished = True
            return
        self._put(END, {"result": result.model_dump(mode="json", exclude=dict(_LEFT_OUT))}, 0)
        queue.close()
        await self._wait(queue, queue.wait_for_end, lambda: queue.ended, END_SECONDS)
        self._finished = True
        if self.fault:
            get_logger(__name__).warning(self.fault, run_id=result.run_id, path=str(self.place.path))

    def add_to(self, result: RunResult) -> RunResult:
        """The result with what is known of the transcript."""
        if self.fault is not None:
            diagnostics = result.diagnostics.model_copy(update={"transcript_fault": self.fault})
            result = result.model_copy(update={"diagnostics": diagnostics})
        return result.model_copy(update={"transcript": self.path})

    def abandon(self) -> None:
        """The loop is being closed: nobody can wait. What is queued is still written."""
        if self._queue is not None and not self._finished:
            self._queue.close()
        self._finished = True

    def _put(self, kind: str, what: Any, size: int) -> None:
        if self._queue is not None and not self._given_up:
            self._queue.put(time.monotonic() - self._began, kind, what, size)

    async def _wait(
        self, queue: RunQueue, wait: Callable[[float], object], is_over: Callable[[], bool], seconds: float
    ) -> None:
        """Until it is over, as long as the thread gets on; a transcript that does not get on is given up."""
        began = since = time.monotonic()
        taken = queue.taken_bytes
        while not (self._given_up or is_over()):
            await _in_own_thread(wait)
            now = time.monotonic()
            if queue.taken_bytes != taken:
                taken, since = queue.taken_bytes, now
            if (now - since > STALLED_SECONDS or now - began > seconds) and not is_over():
                self._given_up = True
                self._fault = "the disk did not take the transcript in time"


def transcript_of(
    spec: AgentSpec, run_id: str, transcripts: Transcripts | OneFile, writer: Writer, *, cwd: str, depth: int
) -> Transcript:
    """For a run that begins now. What the command's options say is secret is not in its header."""
    place = transcripts.place(run_id)
    secrets = argument_secrets(spec.command)
    header = Header(
        run_id=run_id,
        parent_run_id=place.parent_run_id,
        agent=spec.label,
        command=tuple(REDACTED if word in secrets else word for word in spec.command),
        cwd=cwd,
        started=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        depth=depth,
        version=__version__,
    )
    file = RecordFile(place, transcripts.make_room)
    return Transcript(header, file, writer, began=time.monotonic(), max_frame_bytes=spec.limits.max_frame_bytes)


async def _in_own_thread(wait: Callable[[float], object]) -> None:
    """A wait in a thread that no other work needs; where there is none, a short sleep. Safe to cancel."""
    try:
        await in_daemon_thread(lambda: wait(ROOM_SECONDS))
    except RuntimeError:  # the system starts no thread any more
        await anyio.sleep(ROOM_SECONDS / 10)
