"""Values of Python types: pydantic's schema for them, its validation, and its findings as faults.

A value is judged as JSON, as pydantic's `validate_json` does: a date is a string in ISO form, a tuple or a set is an
array, "3" is taken for an int, unless the type is strict. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from acp_client.structured.faults import Fault, OutputInvalid, fault, kind_of

MAX_NAME_CHARS: Final = 100
MAX_FOUND: Final = 1000
"""Faults that are put into words; each takes time, a value may have any number, and only the first are shown."""


class PythonType:
    """Whatever pydantic has a schema for. Raises TypeError that names what it has none for.

    A type's validators, hooks and names are the caller's code, and may raise anything.
    """

    def __init__(self, given: Any) -> None:
        self._adapter: Final[TypeAdapter[Any]] = _adapter(given)
        try:
            self.schema: Final[dict[str, Any]] = self._adapter.json_schema()
        except Exception as error:
            raise TypeError(f"result_type {_name(given)} has no JSON Schema: {_first_line(error)}") from error

    def validate(self, value: Any) -> Any:
        """The typed value of a JSON value. Raises OutputInvalid."""
        text = _as_json(value)
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            raise OutputInvalid(map_faults(error, value)) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: nothing that a validator raises may end the run, or the loop
            rule = f"the type's own validation failed with {type(error).__name__}: {_said(error)}"
            raise OutputInvalid([fault((), rule, kind_of(value))]) from error


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except RecursionError as error:
        raise OutputInvalid([fault((), "is nested too deeply")]) from error
    except (TypeError, ValueError) as error:
        raise OutputInvalid([fault((), f"is no JSON value: {error}")]) from error


def _adapter(given: Any) -> TypeAdapter[Any]:
    if isinstance(given, TypeAdapter):
        return given
    if given is None or isinstance(given, str | bytes):
        raise TypeError(
            f"result_type must be a type, a pydantic model, a TypeAdapter or a JSON Schema dict, not {given!r}"
        )
    try:
        return TypeAdapter(given)
    except Exception as error:
        raise TypeError(f"result_type {_name(given)} is no type that pydantic knows: {_first_line(error)}") from error


def _name(given: Any) -> str:
    try:
        name = getattr(given, "__name__", None)
        return name if isinstance(name, str) else repr(given)[:MAX_NAME_CHARS]
    except Exception:  # noqa: BLE001  # it has no name that can be told
        return f"of type {type(given).__name__}"


def _first_line(error: Exception) -> str:
    return _said(error).partition("\n")[0]


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # likewise
        return "it says nothing"


def map_faults(error: ValidationError, value: Any) -> list[Fault]:
    """The findings of pydantic, `MAX_FOUND` at the most, each at its place in the JSON value."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [_fault(details, value) for details in found[:MAX_FOUND]]


def _fault(details: ErrorDetails, value: Any) -> Fault:
    path, at, members = _place(details["loc"], value)
    rule = details["msg"].replace("Input should", "should", 1)
    as_member = f"as {' '.join(members)}: " if members else ""
    missing = details["type"] == "missing"
    if missing:
        path, rule = (*path, str(details["loc"][-1])), "is required"
        as_member = f"as {' '.join(members[:-1])}: " if members[:-1] else ""
    return fault(path, as_member + rule, "" if missing else kind_of(at))


def _place(location: Sequence[str | int], value: Any) -> tuple[tuple[str | int, ...], Any, list[str]]:
    """The path, what is there, and the steps that lead nowhere: members of a union, by which it was tried."""
    path: list[str | int] = []
    members: list[str] = []
    for step in location:
        inside = (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
        )
        if inside:
            path.append(step)
            value = value[step]
        else:
            members.append(str(step))
    return tuple(path), value, members
