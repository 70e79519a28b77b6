"""A typed Python function as a tool: its parameters become a JSON Schema, and a model's arguments its parameters.

Owns which signatures can be offered, and what a model is told of arguments that do not fit.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, Required

from pydantic import ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_json
from typing_extensions import TypedDict

from acp_client.tools.context import ToolContext
from acp_client.tools.docstring import describe

MAX_FAULTS_TOLD: Final = 20
"""Of arguments that do not fit: enough to mend them all in one more call."""

_NO_NAME_OF_ITS_OWN: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


class BadArguments(ValueError):
    """What a model sent does not fit; the message lists the faults, for it to read."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes, as a model must send it."""

    description: str
    schema: dict[str, Any]
    read: Callable[[Mapping[str, Any]], dict[str, Any]]
    """The keyword arguments for what a model sent, as the hints say. Raises BadArguments."""
    context_parameter: str | None


class _Plain(GenerateJsonSchema):
    """Without titles, which only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # pydantic's signature
        return False


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read a function's parameters, hints and docstring. Raises TypeError for one that a model cannot call."""
    label = getattr(function, "__qualname__", repr(function))
    described = describe(function)
    hints = _hints(function, label)
    fields: dict[str, Any] = {}
    context_parameter = None
    for name, parameter in _parameters(function, label).items():
        hint = hints.get(name)
        if hint is None:
            raise TypeError(f"{label}: parameter {name!r} has no type hint; a model needs its type: add one")
        if _is_context(hint):
            context_parameter = name
        else:
            fields[name] = _field(hint, parameter, described.parameters.get(name))
    adapter = _adapter(fields, label)
    return Signature(described.text, _schema(adapter), _reader(adapter), context_parameter)


def bind_context(function: Callable[..., Any]) -> str | None:
    """The parameter that wants the ToolContext, of a function whose schema is given; None if there is none."""
    try:
        hints = typing.get_type_hints(_hinted(function))
    except (TypeError, NameError):
        return None
    return next((name for name, hint in hints.items() if name != "return" and _is_context(hint)), None)


def _parameters(function: Callable[..., Any], label: str) -> Mapping[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise TypeError(f"{label}: its signature cannot be read; wrap it in a function of typed parameters") from error
    for name, parameter in parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            raise TypeError(f"{label}: **{name} has no schema; name each parameter, or give HostTool a schema")
        if parameter.kind in _NO_NAME_OF_ITS_OWN:
            star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
            raise TypeError(f"{label}: {star}{name} is positional, and a model sends names; make it a named parameter")
    return parameters


def _hinted(function: Any) -> Any:
    """Where the hints are: of an object that can be called, at its `__call__`."""
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _hints(function: Any, label: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(_hinted(function), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{label}: a type hint cannot be resolved ({error}); import its name at the module's top"
        ) from error


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or ToolContext in typing.get_args(hint)


def _field(hint: Any, parameter: inspect.Parameter, description: str | None) -> Any:
    extra: dict[str, Any] = {}
    optional = parameter.default is not inspect.Parameter.empty
    if optional and isinstance(parameter.default, str | int | float | bool | None):
        extra["default"] = parameter.default
    if any(getattr(note, "description", None) for note in getattr(hint, "__metadata__", ())):
        description = None  # its own words are there already
    said = {} if description is None else {"description": description}
    told = Annotated[hint, Field(json_schema_extra=extra or None, **said)]
    return NotRequired[told] if optional else Required[told]


def _adapter(fields: dict[str, Any], label: str) -> TypeAdapter[dict[str, Any]]:
    make: Any = TypedDict  # a checker knows no dynamic one
    arguments = make("arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    try:
        return TypeAdapter(arguments)
    except PydanticUserError as error:
        first = str(error).partition("\n")[0]
        raise TypeError(f"{label}: a parameter's type has no JSON Schema: {first}") from error


def _schema(adapter: TypeAdapter[dict[str, Any]]) -> dict[str, Any]:
    schema = adapter.json_schema(schema_generator=_Plain)
    schema.pop("title", None)
    return {"type": "object", "properties": {}} | schema


def _reader(adapter: TypeAdapter[dict[str, Any]]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return adapter.validate_json(to_json(arguments))
        except ValidationError as error:
            faults = [
                f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}"
                for fault in error.errors(include_url=False, include_input=False)[:MAX_FAULTS_TOLD]
            ]
            raise BadArguments("; ".join(faults)) from error

    return read
