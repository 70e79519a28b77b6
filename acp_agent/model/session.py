"""The model of one session while its calls are recorded or replayed.

Owns the number of each call, and that every mismatch is loud: it is raised where it is found, again by every later
call, and at the end of the turn if the agent went on; and it stands in the session's log.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, NoReturn

import anyio
import anyio.lowlevel

from acp_agent.model.keeping import Keeper
from acp_agent.model.mismatch import (
    CallPathTaken,
    ChangedRequest,
    ExhaustedScript,
    ExtraCall,
    MissingScript,
    OverlappingCalls,
    ScriptMismatch,
    UnconsumedCalls,
    UnwritableLog,
)
from acp_agent.model.script import Script, ScriptCall, call_line, file_name, header_line, mismatch_line
from acp_agent.model.seam import Delta, Message, Model, ModelFailed, Stop, Tool
from acp_client.record.format.difference import difference, same

_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700


class Log:
    """The file of one session in the folder of logs; without a folder nothing is written. Each line goes out whole."""

    def __init__(self, folder: Path | None, call_path: str) -> None:
        self._file = None if folder is None else folder / file_name(call_path)
        self._call_path = call_path
        self._before: ScriptCall | None = None
        self._number = 0
        if self._file is not None:
            self._make(self._file)
            self._write(header_line(call_path))

    def add(self, call: ScriptCall) -> None:
        """The next call."""
        self._number += 1
        self._write(call_line(self._number, call, self._before))
        self._before = call

    def fail(self, error: ScriptMismatch) -> None:
        """The last line."""
        self._write(mismatch_line(error.reason, error.message, error.difference))

    def _write(self, line: str) -> None:
        if self._file is not None:
            try:
                with self._file.open("ab", buffering=0) as file:
                    file.write(line.encode())
            except OSError as error:
                raise UnwritableLog(self._call_path, str(self._file), error.strerror) from error

    def _make(self, file: Path) -> None:
        try:
            file.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise UnwritableLog(self._call_path, str(file), error.strerror) from error
        try:
            file.touch(mode=_FILE_MODE, exist_ok=False)
        except FileExistsError as error:
            raise CallPathTaken(self._call_path, str(file)) from error
        except OSError as error:
            raise UnwritableLog(self._call_path, str(file), error.strerror) from error


class SessionModel:
    """A `Model`: what the session's agent calls. Made by `ModelScripts`, one for each session."""

    def __init__(self, call_path: str, keeper: Keeper, log: Log) -> None:
        self.call_path: Final = call_path
        self.failure: ScriptMismatch | None = None
        self._keeper = keeper
        self._log = log
        self._made = 0
        self._turn = 0
        self._is_open = False

    def begin_turn(self) -> None:
        """A prompt begins."""
        self._turn += 1

    def end_turn(self) -> None:
        """It has ended well: raise what was wrong in it."""
        if self.failure is not None:
            raise self.failure

    def stream(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> AsyncGenerator[Delta, None]:
        """One call, see `seam.Model`. Raises a ScriptMismatch, too."""
        self._made += 1
        return self._guarded(self._made, list(messages), list(tools))

    async def _guarded(self, number: int, messages: list[Message], tools: list[Tool]) -> AsyncGenerator[Delta, None]:
        if self.failure is not None:
            raise self.failure
        if self._is_open:
            self.fail(OverlappingCalls(self.call_path, number))
        self._is_open = True
        try:
            async with aclosing(self._answer(number, messages, tools)) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            self._is_open = False

    def _answer(self, number: int, messages: list[Message], tools: list[Tool]) -> AsyncGenerator[Delta, None]:
        raise NotImplementedError  # one of the two below

    def fail(self, error: ScriptMismatch) -> NoReturn:
        """The first thing that is wrong: all that comes after it follows from it."""
        self.failure = error
        self._log.fail(error)
        raise error


class ReplayedModel(SessionModel):
    """Plays a script. `script` is None where there is none in `where`."""

    def __init__(self, call_path: str, keeper: Keeper, log: Log, script: Script | None, where: str) -> None:
        super().__init__(call_path, keeper, log)
        self._calls: Final = script.calls if script is not None else ()
        self._is_missing: Final = script is None
        self._where: Final = where

    def end_turn(self) -> None:
        """Raises UnconsumedCalls for a turn that made fewer calls than it did when it was recorded."""
        super().end_turn()
        if self._made < sum(call.turn <= self._turn for call in self._calls):
            self._fail_unconsumed(self._made, self._turn)

    async def _answer(self, number: int, messages: list[Message], tools: list[Tool]) -> AsyncGenerator[Delta, None]:
        call = self._call(number)
        request = self._keeper.request(messages, tools)
        if not same(call.request, request):
            where, shown = what_differs(call.request, request)
            self.fail(ChangedRequest(self.call_path, number, where, shown))
        self._log.add(call)
        for delta in self._keeper.give(call.deltas):
            await anyio.lowlevel.checkpoint()
            yield delta
        if call.failed is not None:
            raise ModelFailed(call.failed)
        if call.cut:
            await anyio.sleep_forever()  # who recorded it did not wait for the rest, and cancelled

    def _call(self, number: int) -> ScriptCall:
        if self._is_missing:
            self.fail(MissingScript(self.call_path, self._where))
        if number > len(self._calls):
            self.fail(ExhaustedScript(self.call_path, len(self._calls)))
        call = self._calls[number - 1]
        if call.turn > self._turn:
            self.fail(ExtraCall(self.call_path, number, self._turn, call.turn))
        if call.turn < self._turn:  # a turn before this one was cancelled, or failed, earlier than in the recording
            self._fail_unconsumed(number - 1, call.turn)
        return call

    def _fail_unconsumed(self, made: int, turn: int) -> NoReturn:
        recorded = sum(call.turn <= turn for call in self._calls)
        self.fail(UnconsumedCalls(self.call_path, made, recorded, f"turn {turn}"))


class RecordedModel(SessionModel):
    """Asks a model, and keeps what it says."""

    def __init__(self, call_path: str, keeper: Keeper, log: Log, model: Callable[[], Model]) -> None:
        super().__init__(call_path, keeper, log)
        self._model = model

    async def _answer(self, _number: int, messages: list[Message], tools: list[Tool]) -> AsyncGenerator[Delta, None]:
        request = self._keeper.request(messages, tools)
        deltas: list[Delta] = []
        failed, ended = None, False
        try:
            async with aclosing(self._model().stream(messages, tools)) as stream:
                async for delta in stream:
                    deltas.append(delta)
                    ended = isinstance(delta, Stop)
                    yield delta
            ended = True
        except Exception as error:
            failed = str(error) if isinstance(error, ModelFailed) else type(error).__name__
            raise
        finally:
            kept = self._keeper.keep(deltas)
            self._log.add(ScriptCall(self._turn, request, kept, failed, cut=failed is None and not ended))


def what_differs(expected: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str]:
    """Where two requests first differ, in words, and the difference."""
    before, now = expected["messages"], found["messages"]
    for index, (one, other) in enumerate(zip(before, now, strict=False)):
        if not same(one, other):
            return f"messages[{index}] ({other.get('role')})", difference(one, other)
    if len(before) != len(now):
        shared = min(len(before), len(now))
        return f"the number of messages, {len(now)} instead of {len(before)}", difference(before[shared:], now[shared:])
    return "the tools", difference(expected["tools"], found["tools"])
