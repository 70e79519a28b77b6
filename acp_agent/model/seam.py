"""The seam between an agent and a model: one call, messages and tools in, a stream of deltas out.

Owns the shapes alone, frozen, and their JSON form. Whoever has a model writes one method; whoever uses one folds what
it streams with `collect`. Which model it is, and where its key is, is nobody's business on this side.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
StopReason: TypeAlias = Literal["end", "tool_calls", "max_tokens", "refusal"]
ROLES: Final = get_args(Role)
STOP_REASONS: Final = get_args(StopReason)


class ModelFailed(Exception):
    """A model raises this for a call that it cannot answer: refused, overloaded, gone. The message is for people."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called. `arguments` is JSON text as the model wrote it, which may be none."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. A `tool` message answers the call of its `tool_call_id`."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: a name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of the `index`-th tool call of the message, from 0: its first has the id and the name.

    `arguments` is the next piece of their JSON text.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the call took, in tokens and US dollars; None where the model does not say. The last one counts."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The message is whole; the last delta of a call."""

    reason: StopReason = "end"


Delta: TypeAlias = TextDelta | ToolCallDelta | Usage | Stop


class Model(Protocol):
    """What a model loop calls."""

    def stream(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> AsyncGenerator[Delta, None]:
        """One call. Ends after a `Stop`, or raises ModelFailed; closing the stream gives the call up.

        A model reads what it is given when it is called: the caller may change its lists afterwards.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole call: the assistant's message, why it stopped, and what it took."""

    message: Message
    stop: StopReason
    usage: Usage = Usage()


class Fold:
    """Deltas to a reply; feed it each as it comes."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: dict[int, ToolCallDelta] = {}
        self._usage = Usage()
        self._stop: StopReason | None = None

    def add(self, delta: Delta) -> None:
        """Take the next one."""
        if isinstance(delta, TextDelta):
            self._text.append(delta.text)
        elif isinstance(delta, ToolCallDelta):
            last = self._calls.get(delta.index, ToolCallDelta(delta.index))
            self._calls[delta.index] = ToolCallDelta(
                delta.index, last.id or delta.id, last.name or delta.name, last.arguments + delta.arguments
            )
        elif isinstance(delta, Usage):
            self._usage = delta
        else:
            self._stop = delta.reason

    def reply(self) -> Reply:
        """All of it. Raises ModelFailed for a stream without a `Stop`: a part must not pass for the whole."""
        if self._stop is None:
            raise ModelFailed("the model's stream ended before its message was whole")
        calls = tuple(ToolCall(one.id, one.name, one.arguments or "{}") for _, one in sorted(self._calls.items()))
        return Reply(Message("assistant", "".join(self._text), calls), self._stop, self._usage)


async def collect(stream: AsyncGenerator[Delta, None]) -> Reply:
    """The whole of one call. Raises as the model does; cancelled, it closes the stream."""
    fold = Fold()
    async with aclosing(stream) as deltas:
        async for delta in deltas:
            fold.add(delta)
    return fold.reply()


# ---- as JSON


def message_to_json(message: Message) -> dict[str, Any]:
    """JSON data; what is empty is left out."""
    data: dict[str, Any] = {"role": message.role}
    if message.text or not message.tool_calls:
        data["text"] = message.text
    if message.tool_calls:
        data["tool_calls"] = [
            {"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.tool_calls
        ]
    if message.tool_call_id:
        data["tool_call_id"] = message.tool_call_id
    return data


def tool_to_json(tool: Tool) -> dict[str, Any]:
    """JSON data."""
    return {"name": tool.name, "description": tool.description, "schema": dict(tool.schema)}


def delta_to_json(delta: Delta) -> dict[str, Any]:
    """An object with one member, which says what it is."""
    if isinstance(delta, TextDelta):
        return {"text": delta.text}
    if isinstance(delta, Stop):
        return {"stop": delta.reason}
    if isinstance(delta, Usage):
        usage = {"input_tokens": delta.input_tokens, "output_tokens": delta.output_tokens, "cost_usd": delta.cost_usd}
        return {"usage": {name: value for name, value in usage.items() if value is not None}}
    call = {"index": delta.index, "id": delta.id, "name": delta.name, "arguments": delta.arguments}
    return {"tool_call": {name: value for name, value in call.items() if value != ""}}


def delta_from_json(data: Any) -> Delta:
    """What `delta_to_json` made. Raises ValueError for anything else; the message says the rule."""
    kind: str = ""
    value: Any = None
    if isinstance(data, dict) and len(data) == 1:
        ((kind, value),) = data.items()
    try:
        if kind == "text" and isinstance(value, str):
            return TextDelta(value)
        if kind == "stop" and value in STOP_REASONS:
            return Stop(value)
        if kind == "usage":
            return Usage(**value)
        if kind == "tool_call" and isinstance(value["index"], int):
            return ToolCallDelta(**value)
    except (TypeError, KeyError):
        pass  # told below, with all other odd shapes
    raise ValueError("a delta is an object with one member: text, tool_call (with an index), usage or stop")
