"""`HostTool`: a function of the parent's that an agent may call. Frozen; built from a typed function, or told in full.

Owns what a tool is. Offering it to an agent, and running it, is the room `host_tools`'.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias

from pydantic_core import to_json

from acp_client.tools.function import MAX_FAULTS_TOLD, BadArguments, bind_context, read_signature

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every model API takes for a tool's name."""

Handler: TypeAlias = Callable[..., Any] | Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostTool:
    """One tool. `schema` is the JSON Schema (2020-12) of its arguments, whose root is an object.

    `handler` is called with the arguments by name, checked against the schema. Async, it runs in the event loop that
    runs the agents; a plain function in a worker thread, which a cancel leaves behind to its end. It returns text,
    anything that is JSON (models and dataclasses too), an `Image`, or a list with an `Image` in it; what it raises is
    told to the model, type and message, and does not end the run. A parameter annotated `ToolContext` gets one.

    `HostTool.of(function)` reads all this from a typed function. Raises TypeError or ValueError for a wrong argument.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    handler: Handler = field(repr=False)
    context_parameter: str | None = field(default=None, repr=False)
    read: Callable[[Mapping[str, Any]], dict[str, Any]] = field(default=None, repr=False)  # type: ignore[assignment]  # set below

    def __post_init__(self) -> None:
        given: Any = self  # by a caller who may have no checker
        if not isinstance(given.name, str) or NAME.fullmatch(given.name) is None:
            raise ValueError(f"a tool is called {given.name!r}; a name is 1 to 64 of a-z, A-Z, 0-9, _ and -")
        if not isinstance(given.description, str):
            raise TypeError(f"tool {given.name!r}: description must be text, not {type(given.description).__name__}")
        if not callable(given.handler):
            raise TypeError(f"tool {given.name!r}: handler must be callable, not {type(given.handler).__name__}")
        if given.read is None:
            _set(self, "schema", _checked_schema(self.name, self.schema))
            _set(self, "read", _schema_reader(self.schema))
            _set(self, "context_parameter", bind_context(self.handler))

    @classmethod
    def of(cls, function: Handler, *, name: str | None = None, description: str | None = None) -> HostTool:
        """The tool that a typed function is: its name, its docstring, its parameters."""
        if not callable(function):
            raise TypeError(f"a tool is a typed function or a HostTool, not {type(function).__name__}")
        called = name or str(getattr(function, "__name__", ""))
        if NAME.fullmatch(called) is None:
            raise ValueError(f"{function!r} has no name for a tool; use HostTool.of(function, name=…)")
        signature = read_signature(function)
        return cls(
            name=called,
            description=signature.description if description is None else description,
            schema=signature.schema,
            handler=function,
            context_parameter=signature.context_parameter,
            read=signature.read,
        )

    @property
    def runs_in_thread(self) -> bool:
        """True for a plain function: it may block."""
        call = getattr(self.handler, "__call__", None)  # noqa: B004  # an object whose call is async
        return not (inspect.iscoroutinefunction(self.handler) or inspect.iscoroutinefunction(call))

    def to_mcp(self) -> dict[str, Any]:
        """As `tools/list` shows it."""
        return {"name": self.name, "description": self.description, "inputSchema": copy.deepcopy(dict(self.schema))}


def as_host_tools(tools: Iterable[HostTool | Handler]) -> tuple[HostTool, ...]:
    """Functions and tools as tools, whose names are unique. Raises TypeError or ValueError."""
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable):
        raise TypeError("must be a list of typed functions or HostTool objects")
    found = tuple(tool if isinstance(tool, HostTool) else HostTool.of(tool) for tool in tools)
    names: Sequence[str] = [tool.name for tool in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two tools are called {', '.join(map(repr, twice))}; names must be unique among them")
    return found


def _set(tool: HostTool, name: str, value: Any) -> None:
    object.__setattr__(tool, name, value)


def _checked_schema(name: str, schema: Any) -> dict[str, Any]:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415  # not free; most tools are functions

    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        raise ValueError(f'tool {name!r}: schema must be a JSON Schema whose root is {{"type": "object", …}}')
    copied = copy.deepcopy(dict(schema))
    try:
        Draft202012Validator.check_schema(copied)
    except SchemaError as error:
        raise ValueError(f"tool {name!r}: schema is no JSON Schema at {error.json_path}: {error.message}") from error
    return copied


def _schema_reader(schema: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    @lru_cache(maxsize=1)
    def validator() -> Any:
        from jsonschema import Draft202012Validator  # noqa: PLC0415  # as above
        from referencing import Registry  # noqa: PLC0415  # as above; one that fetches nothing

        return Draft202012Validator(schema, registry=Registry())

    def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
        faults = sorted(validator().iter_errors(dict(arguments)), key=lambda fault: fault.json_path)
        if faults:
            raise BadArguments("; ".join(_fault(fault) for fault in faults[:MAX_FAULTS_TOLD]))
        return dict(arguments)

    return read


def _fault(fault: Any) -> str:
    """The place and the rule. A value is shown by its kind alone where it is long."""
    message = fault.message if len(fault.message) <= _MESSAGE_CHARS else f"does not fit {_rule(fault)}"
    return f"{fault.json_path}: {message}"


def _rule(fault: Any) -> str:
    return f"{fault.validator} {to_json(fault.validator_value, fallback=repr).decode()[:_MESSAGE_CHARS]}"


_MESSAGE_CHARS: Final = 300
