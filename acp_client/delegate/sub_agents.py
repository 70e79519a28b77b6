"""A parent's named sub-agents: ask one for one thing and get a value, a result, or a tool result for a model.

Owns the arguments of a request and what its result becomes. What happens in between is in `call`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, TypeVar, overload

from pydantic import TypeAdapter
from pydantic_core import to_json

from acp_client.delegate.call import Answer, Call, Desk, OnTrace
from acp_client.delegate.declared import SubAgent, check_declared
from acp_client.delegate.errors import SubAgentFailed, UnknownSubAgent, shown_name, why_failed
from acp_client.delegate.given.briefing import brief, check_task, copy_context
from acp_client.delegate.given.handed_down import hand_down
from acp_client.delegate.given.history import snapshot
from acp_client.delegate.progress import OnProgress
from acp_client.delegate.reply import ToolReply
from acp_client.delegate.tools import DelegateTool
from acp_client.delegate.trace import SEPARATOR
from acp_client.logs import get_logger
from acp_client.outcome.result import RunResult
from acp_client.run.child.depth import check_levels
from acp_client.runner import Runner
from acp_client.safe_text import printable
from acp_client.structured.wanted import MAX_REPAIRS, want

MAX_PARTIAL_CHARS: Final = 4000
"""Of what a run had said before it failed: enough for a model to go on with."""
MAX_MODEL_WHY_CHARS: Final = 400
"""Of why it failed: what happened, and hardly anything of this machine; people have the trace and the result."""


class _Declared(Enum):
    DECLARED = "as declared"

    def __repr__(self) -> str:
        return "DECLARED"


DECLARED: Final = _Declared.DECLARED
"""The default of a cap and a type: as the sub-agent was declared. None is a value of its own: no cap, no type."""

_T = TypeVar("_T")
_Cap: TypeAlias = int | _Declared | None
_History: TypeAlias = Iterable[Any] | None


class SubAgents:
    """The sub-agents that a parent may ask, by name. Each request runs a fresh child; any number go side by side.

    `runner` does the work and outlives this object. `parent_name` begins every breadcrumb. `on_progress`, a plain or
    an async function, is told of each request: `SubAgentStarted`, any number of `SubAgentEvent`, `SubAgentStopped`,
    in order and paired exactly; what it raises is logged, and a slow one holds nothing up. `on_trace` gets the trace
    of each request that has ended. `max_depth` is how many levels of runs there may be below this process: with 1 the
    sub-agents are leaves, and their own are ignored with a warning.

    All arguments of a request are checked and copied when it is called, before anything is awaited: what the caller
    changes afterwards (the history grows) changes nothing. `task` says what to do. `context` is one primer message
    right before it: a string, a mapping, any JSON data or pydantic value. `history` are the parent's messages, in the
    shapes of the OpenAI and Anthropic APIs or of pydantic-ai; `history_cap` how many of the last ones are handed on
    as they are (older ones with their tool arguments and results masked; None: all as they are). `result_type` is
    what to complete with, `max_repairs` how often the agent may try again to do so.
    """

    def __init__(
        self,
        declared: Iterable[SubAgent],
        *,
        runner: Runner,
        parent_name: str = "parent",
        on_progress: OnProgress | None = None,
        on_trace: OnTrace | None = None,
        max_depth: int = 1,
    ) -> None:
        if not isinstance(runner, Runner):
            raise TypeError(f"runner must be a Runner, not {type(runner).__name__}")
        _check_parent_name(parent_name)
        if check_levels(max_depth) in (None, 0):
            raise ValueError(f"max_depth is {max_depth!r}; with sub-agents it is an integer of at least 1")
        _check_callable("on_progress", on_progress)
        _check_callable("on_trace", on_trace)
        self._declared: Final = {one.name: one for one in check_declared(declared)}
        self._below: Final = {
            one.name: hand_down(one.sub_agents) for one in self._declared.values() if one.sub_agents and max_depth > 1
        }
        self._desk: Final = Desk(runner, parent_name, on_progress=on_progress, on_trace=on_trace, max_depth=max_depth)
        _warn_of_leaves(self._declared, max_depth)

    def __repr__(self) -> str:
        return f"<SubAgents {', '.join(self._declared) or 'none'}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names there are, as declared."""
        return tuple(self._declared)

    # ---- the ways to ask

    def run(  # the arguments of a request, by name
        self,
        name: str,
        *,
        task: str,
        context: Any = None,
        history: _History = None,
        history_cap: _Cap = DECLARED,
        result_type: Any = DECLARED,
        max_repairs: int = MAX_REPAIRS,
    ) -> Coroutine[Any, Any, RunResult]:
        """Ask, and get the whole RunResult; a child's failure is in it, and never raises.

        Raises UnknownSubAgent for an undeclared name, TypeError or ValueError for another wrong argument, both at the
        call. Cancelling cancels the run; it is re-raised when nothing is left of the child.
        """
        return self._run(self._call(name, task, context, history, history_cap, result_type, max_repairs))

    @overload
    def request(
        self,
        name: str,
        *,
        task: str,
        result_type: type[_T] | TypeAdapter[_T],
        strict: Literal[True],
        context: Any = None,
        history: _History = None,
        history_cap: _Cap = DECLARED,
        max_repairs: int = MAX_REPAIRS,
    ) -> Coroutine[Any, Any, _T]: ...
    @overload
    def request(
        self,
        name: str,
        *,
        task: str,
        result_type: type[_T] | TypeAdapter[_T],
        strict: bool = False,
        context: Any = None,
        history: _History = None,
        history_cap: _Cap = DECLARED,
        max_repairs: int = MAX_REPAIRS,
    ) -> Coroutine[Any, Any, _T | str]: ...
    @overload
    def request(
        self,
        name: str,
        *,
        task: str,
        result_type: Any = DECLARED,
        strict: bool = False,
        context: Any = None,
        history: _History = None,
        history_cap: _Cap = DECLARED,
        max_repairs: int = MAX_REPAIRS,
    ) -> Coroutine[Any, Any, Any]: ...
    def request(  # noqa: PLR0913  # the arguments of a request, by name
        self,
        name: str,
        *,
        task: str,
        result_type: Any = DECLARED,
        strict: bool = False,
        context: Any = None,
        history: _History = None,
        history_cap: _Cap = DECLARED,
        max_repairs: int = MAX_REPAIRS,
    ) -> Coroutine[Any, Any, Any]:
        """Ask, and get the value: the structured one if the child completed with one, else its final text.

        Raises SubAgentFailed, which carries the RunResult, for a run that is not `completed`, and with `strict` for
        plain text too; else as `run` does.
        """
        call = self._call(name, task, context, history, history_cap, result_type, max_repairs)
        return self._value(call, strict=strict)

    def request_for_model(  # the arguments of a request, by name
        self,
        name: str,
        *,
        task: str,
        context: Any = None,
        history: _History = None,
        history_cap: _Cap = DECLARED,
        result_type: Any = DECLARED,
        max_repairs: int = MAX_REPAIRS,
    ) -> Coroutine[Any, Any, ToolReply]:
        """Ask, and get one tool result: for the model its `for_model()`, for people the trace that hangs on it.

        Raises neither for a run that fails nor for an undeclared name or a wrong argument: the reply says it.
        """
        try:
            call = self._call(name, task, context, history, history_cap, result_type, max_repairs)
        except (UnknownSubAgent, TypeError, ValueError) as error:
            return _refused(name, error)
        return self._reply(call)

    def as_tools(self, *, history: Callable[[], Iterable[Any]] | None = None) -> list[DelegateTool]:
        """Each sub-agent as a tool, for MCP, pydantic-ai and the plain function-calling APIs.

        `history` gives the parent's messages at the moment of a call; without it a sub-agent gets none.
        """
        _check_callable("history", history)

        def ask(name: str, **arguments: Any) -> Coroutine[Any, Any, ToolReply]:
            told = history() if history is not None else None
            return self.request_for_model(name, history=told, **arguments)

        return [DelegateTool(one.name, one.description, ask) for one in self._declared.values()]

    # ---- from a request to its outcome

    def _call(  # the arguments of a request, in their order
        self, name: Any, task: str, context: Any, history: Any, cap: Any, result_type: Any, max_repairs: int
    ) -> Call:
        declared = self._declared.get(name) if isinstance(name, str) else None
        if declared is None:
            raise UnknownSubAgent(name, self.names)
        messages = snapshot(history, declared.history_cap if cap is DECLARED else cap)
        briefing = brief(check_task(task), copy_context(context), messages, self._below.get(name, ()))
        wanted = want(declared.result_type if result_type is DECLARED else result_type, max_repairs)
        briefing = replace(briefing, call_path=self._desk.runner.call_paths.next(declared.name))
        return Call(declared, task, briefing, wanted)

    async def _run(self, call: Call) -> RunResult:
        return (await self._desk.carry_out(call)).result

    async def _value(self, call: Call, *, strict: bool) -> Any:
        result = await self._run(call)
        plain = not has_value(call, result)
        if result.status != "completed" or (strict and plain):
            raise SubAgentFailed(call.declared.name, result)
        return result.text if plain else result.structured

    async def _reply(self, call: Call) -> ToolReply:
        answer = await self._desk.carry_out(call)
        failed = answer.result.status != "completed"
        try:
            content = _say_failed(call, answer) if failed else _say_value(call, answer.result)
        except ValueError as error:  # a serializer of the type's own, which may say anything
            failed, why = True, printable(str(error), max_chars=MAX_MODEL_WHY_CHARS)
            content = f"sub-agent {call.declared.name!r} completed with a value that cannot be written as JSON: {why}"
        return ToolReply(call.declared.name, content, failed, answer.result, tuple(answer.trace))


def _warn_of_leaves(declared: Mapping[str, SubAgent], max_depth: int) -> None:
    parents = [name for name, one in declared.items() if one.sub_agents]
    if parents and max_depth == 1:
        get_logger(__name__).warning(
            "sub-agents of sub-agents are ignored: with max_depth=1 sub-agents are leaves", declared_by=parents
        )


def _check_parent_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or SEPARATOR.strip() in name:
        raise ValueError(f"parent_name must be a name that people read, without {SEPARATOR.strip()!r}")


def _check_callable(field: str, given: object) -> None:
    if given is not None and not callable(given):
        raise TypeError(f"{field} must be a function, or None; it is of type {type(given).__name__}")


def has_value(call: Call, result: RunResult) -> bool:
    """True if a completed run has a structured value, which may be None where a type was asked for."""
    return result.structured is not None or call.wanted.output_type is not None


async def _refused(name: object, error: Exception) -> ToolReply:
    shown = shown_name(name)
    content = str(error) if isinstance(error, UnknownSubAgent) else f"sub-agent {shown!r} was not asked: {error}"
    return ToolReply(shown, content, is_error=True)


def _say_value(call: Call, result: RunResult) -> str:
    if has_value(call, result):
        return to_json(result.structured, inf_nan_mode="null", fallback=str).decode()
    return result.text or f"sub-agent {call.declared.name!r} completed without an answer"


def _say_failed(call: Call, answer: Answer) -> str:
    said = printable(answer.result.text, max_chars=MAX_PARTIAL_CHARS, multiline=True) if answer.result.text else ""
    partial = f"\nIt had said by then:\n{said}" if said else ""
    return f"sub-agent {call.declared.name!r} {why_failed(answer.result, MAX_MODEL_WHY_CHARS)}{partial}"
