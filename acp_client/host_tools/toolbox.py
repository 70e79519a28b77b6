"""The tools of one run at work: each call is recorded, permitted, run and answered; none outlives the run.

Owns the running of calls and what is known of them. How a call gets here, over a socket or http, is not its business.
Everything here happens in the event loop of the runner.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar
from pydantic_core import to_json

from acp_client.outcome.result import HostToolCall, HostToolStatus
from acp_client.process.redaction import Redactor
from acp_client.safe_text import printable
from acp_client.session.asking.callback import raise_if_ours, words_of
from acp_client.tools.context import Report, ToolContext
from acp_client.tools.function import BadArguments
from acp_client.tools.results import content_of
from acp_client.tools.tool import Handler, HostTool

MAX_CALLS_AT_ONCE: Final = 32
"""Of one run. A model asks for a handful side by side; more is a flood, and told to come one after another."""
MAX_CALLS_KEPT: Final = 10_000
"""Records of one run; later calls are answered and only counted."""
MAX_ARGUMENT_BYTES: Final = 16 * 1024
"""Of the arguments that a record keeps; larger ones as the beginning of their text."""
MAX_ERROR_CHARS: Final = 2000
"""Of an error, for the model and for the record."""
TOOL_THREADS: Final = 16
"""Plain functions at once, for all runs of an event loop."""
PROGRESS_SECONDS: Final = 1.0
"""How long telling the agent of progress may take; then it is let be, and the tool goes on."""

RUN_OVER: Final = "the run is over"

_limiter: Final = RunVar[anyio.CapacityLimiter]("acp_subagents_tool_threads")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the agent gets for a call: blocks in MCP's shape."""

    content: list[dict[str, Any]]
    is_error: bool = False

    @classmethod
    def error(cls, text: str) -> Outcome:
        """A failure that a model can read."""
        return cls([{"type": "text", "text": text}], is_error=True)


@dataclass(slots=True)
class Call:
    """One call as it goes. `reported_as` is the id under which the agent announced it, where that is known."""

    ordinal: int
    name: str
    arguments: Any
    began: float
    status: HostToolStatus = "running"
    seconds: float | None = None
    error: str | None = None
    reported_as: str | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def record(self, now: float) -> HostToolCall:
        """As it is now."""
        return HostToolCall(
            ordinal=self.ordinal,
            name=self.name,
            arguments=self.arguments,
            status=self.status,
            seconds=now - self.began if self.seconds is None else self.seconds,
            error=self.error,
            tool_call_id=self.reported_as,
        )


class Overseer(Protocol):
    """What the run has to say of a call."""

    def begin(self, call: Call) -> None:
        """It begins: counted and told."""

    def end(self, call: Call) -> None:
        """It is over, however."""

    async def permit(self, call: Call, arguments: Mapping[str, Any]) -> str | None:
        """None if it may go on, else why not."""


Serve: TypeAlias = Callable[[str, Mapping[str, Any], Report], Awaitable[Outcome]]


class Toolbox:
    """The tools of one run. `listed` is set once the agent has asked what there is."""

    def __init__(
        self,
        tools: Sequence[HostTool],
        overseer: Overseer,
        redactor: Redactor,
        *,
        run_id: str,
        agent: str,
        max_calls_kept: int = MAX_CALLS_KEPT,
    ) -> None:
        self.tools: Final = {tool.name: tool for tool in tools}
        self.listed: Final = anyio.Event()
        self.closed = False
        self._overseer = overseer
        self._redactor = redactor
        self._run_id = run_id
        self._agent = agent
        self._max_calls_kept = max_calls_kept
        self._count = 0
        self._calls: list[Call] = []
        self._running: dict[int, Call] = {}

    def offer(self) -> list[dict[str, Any]]:
        """The tools for `tools/list`."""
        self.listed.set()
        return [tool.to_mcp() for tool in self.tools.values()]

    def records(self) -> tuple[HostToolCall, ...]:
        """The calls so far, in the order in which they came."""
        now = anyio.current_time()
        return tuple(call.record(now) for call in self._calls)

    def close(self) -> None:
        """No call goes on, and none begins. A plain function runs to its end in its thread, for nobody."""
        self.closed = True
        for call in self._running.values():
            call.scope.cancel()

    async def call(self, name: str, arguments: Mapping[str, Any], report: Report) -> Outcome:
        """Answer one call. Never raises for the tool; cancelled, it leaves nothing but a thread."""
        if self.closed:
            return Outcome.error(RUN_OVER)
        if len(self._running) >= MAX_CALLS_AT_ONCE:
            return Outcome.error(
                f"{MAX_CALLS_AT_ONCE} calls of tools are running, and no more may; wait for one to end"
            )
        call = self._begin(name, arguments)
        outcome = Outcome.error(RUN_OVER)
        try:
            with call.scope:
                outcome = await self._answer(call, arguments, report)
        finally:
            self._end(call, outcome)
        return outcome

    def _begin(self, name: str, arguments: Mapping[str, Any]) -> Call:
        self._count += 1
        call = Call(self._count, self._shown(name), self._kept(arguments), anyio.current_time())
        self._running[call.ordinal] = call
        if len(self._calls) < self._max_calls_kept:
            self._calls.append(call)
        self._overseer.begin(call)
        return call

    def _end(self, call: Call, outcome: Outcome) -> None:
        del self._running[call.ordinal]
        call.seconds = anyio.current_time() - call.began
        if call.status == "running":
            call.status = "cancelled"
            call.error = "cancelled before it had a result"
        elif outcome.is_error:
            call.error = outcome.content[0]["text"]
        self._overseer.end(call)

    async def _answer(self, call: Call, arguments: Mapping[str, Any], report: Report) -> Outcome:
        tool = self.tools.get(call.name)
        if tool is None:
            call.status = "failed"
            return Outcome.error(f"there is no tool {call.name!r}; there are: {', '.join(self.tools)}")
        try:
            read = tool.read(arguments)
        except BadArguments as error:
            call.status = "failed"
            return Outcome.error(self._shown(f"the arguments do not fit the tool's schema: {error}"))
        except BaseException as error:  # noqa: BLE001  # the type's own validator, or a schema that is none
            raise_if_ours(error)
            return self._failed(call, error)
        refused = await self._overseer.permit(call, arguments)
        if refused is not None:
            call.status = "rejected"
            return Outcome.error(self._shown(refused))
        return await self._run(call, tool, read, report)

    async def _run(self, call: Call, tool: HostTool, arguments: dict[str, Any], report: Report) -> Outcome:
        if tool.context_parameter is not None:
            context = ToolContext(self._run_id, self._agent, tool.name, call.ordinal, functools.partial(_tell, report))
            arguments = arguments | {tool.context_parameter: context}
        try:
            outcome = Outcome(content_of(await _value(tool, arguments)))
        except _RaisedInThread as raised:
            return self._failed(call, raised.error)
        except BaseException as error:  # noqa: BLE001  # the boundary: a tool's failure is told to the model
            raise_if_ours(error)
            return self._failed(call, error)
        call.status = "completed"
        return outcome

    def _failed(self, call: Call, error: BaseException) -> Outcome:
        call.status = "failed"
        return Outcome.error(self._shown(words_of(error)))

    def _shown(self, text: str) -> str:
        return printable(self._redactor.redact(text[: 4 * MAX_ERROR_CHARS]), max_chars=MAX_ERROR_CHARS, multiline=True)

    def _kept(self, arguments: Mapping[str, Any]) -> Any:
        text = to_json(arguments, inf_nan_mode="null")
        if len(text) <= MAX_ARGUMENT_BYTES:
            return self._redactor.redact_json(dict(arguments))
        shown = self._redactor.redact(text[: 2 * MAX_ARGUMENT_BYTES].decode(errors="ignore"))
        return shown[:MAX_ARGUMENT_BYTES]


async def _value(tool: HostTool, arguments: dict[str, Any]) -> Any:
    """What the handler returns: awaited here, or had from a thread that a cancel leaves behind."""
    if tool.runs_in_thread:
        call = functools.partial(_call_in_thread, tool.handler, arguments)
        value = await anyio.to_thread.run_sync(call, limiter=_own_limiter(), abandon_on_cancel=True)
    else:
        value = tool.handler(**arguments)
    return await value if inspect.isawaitable(value) else value


class _RaisedInThread(Exception):
    """By the tool itself: no cancel and no Ctrl-C reaches its thread."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _call_in_thread(handler: Handler, arguments: dict[str, Any]) -> Any:
    try:
        return handler(**arguments)
    except BaseException as error:
        raise _RaisedInThread(error) from error


async def _tell(report: Report, done: float, total: float | None, message: str | None) -> None:
    with anyio.move_on_after(PROGRESS_SECONDS):
        with suppress(Exception):  # the agent is gone, or does not read: that is no fault of the tool
            await report(done, total, message)


def _own_limiter() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(TOOL_THREADS)
        _limiter.set(limiter)
        return limiter
