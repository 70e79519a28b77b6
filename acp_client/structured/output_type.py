"""What a structured answer must be: a Python type, a TypeAdapter or a JSON Schema, behind one interface.

Owns the two shapes of it: the value, and the arguments of a tool that takes it, which are always an object. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_client.structured.faults import Fault, OutputInvalid, kind_of
from acp_client.structured.json_schema import SchemaType
from acp_client.structured.python_type import PythonType

VALUE: Final = "value"
"""The one argument of a tool that takes what is no object."""

_HOISTED: Final = ("$defs", "definitions")
_PLAIN: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, no schemas."""


class OutputType:
    """The type of an answer. Immutable; make it once and use it in any number of runs.

    `given`: a pydantic model, a dataclass, a TypedDict, a union, a list, a scalar, whatever else pydantic has a
    schema for, a TypeAdapter, or a JSON Schema (2020-12) as a dict. Raises TypeError or ValueError that names what is
    wrong with it.

    `value_schema` describes the value. `schema` describes the arguments of a tool that takes it: the same where the
    value is an object, else `{"value": …}`, and `wrapped` is True.
    """

    def __init__(self, given: Any) -> None:
        self._checker: Final = SchemaType(given) if isinstance(given, Mapping) else PythonType(given)
        self.value_schema: Final[dict[str, Any]] = _flat(self._checker.schema)
        self.wrapped: Final = self.value_schema.get("type") != "object"
        self.schema: Final[dict[str, Any]] = _wrap(self.value_schema) if self.wrapped else self.value_schema
        self.takes_text: Final = _takes_text(self.value_schema, self.value_schema)
        """A string can be such a value."""
        self.is_text: Final = self.value_schema.get("type") == "string"
        """Nothing but a string can be."""

    def __repr__(self) -> str:
        return f"<OutputType {self.value_schema.get('title', self.value_schema.get('type', 'of a schema'))!r}>"

    @classmethod
    def of(cls, given: Any) -> OutputType | None:
        """As a caller says it: None where no value is asked for; one that is made already stays what it is."""
        return given if given is None or isinstance(given, cls) else cls(given)

    def validate(self, value: Any) -> Any:
        """The typed value of a JSON value. Raises OutputInvalid, which lists every fault."""
        return self._checker.validate(value)

    def validate_arguments(self, arguments: Any) -> Any:
        """The typed value of a tool's arguments. Raises OutputInvalid; a wrapped value is judged without its wrap."""
        if not self.wrapped:
            return self.validate(arguments)
        if not isinstance(arguments, dict) or arguments.keys() != {VALUE}:
            rule = f'should be an object with "{VALUE}" and nothing else'
            raise OutputInvalid([Fault("$", rule, kind_of(arguments))])
        return self.validate(arguments[VALUE])


def _flat(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that is one reference to a definition of its own (a recursive model) as that definition."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    target = schema.get("$defs", {}).get(name)
    return (
        {**target, "$defs": schema["$defs"]}
        if isinstance(target, dict) and schema.keys() == {"$ref", "$defs"}
        else schema
    )


def _takes_text(schema: Any, root: dict[str, Any], depth: int = 0) -> bool:
    if not isinstance(schema, dict) or depth > 8:  # noqa: PLR2004  # alternatives within alternatives
        return False
    kinds = schema.get("type")
    if kinds == "string" or (isinstance(kinds, list) and "string" in kinds):
        return True
    if any(isinstance(one, str) for one in (*schema.get("enum", ()), schema.get("const"))):
        return True
    target = root.get("$defs", {}).get(str(schema.get("$ref", "")).removeprefix("#/$defs/"))
    members = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), target]
    return any(_takes_text(member, root, depth + 1) for member in members)


def _wrap(schema: dict[str, Any]) -> dict[str, Any]:
    """An object with the value in it. Definitions move to the root, where references look for them."""
    own = "$id" in schema  # a resource of its own: its references mean itself, wherever it stands
    hoisted = {} if own else {name: schema[name] for name in _HOISTED if name in schema}
    inner = {name: part for name, part in schema.items() if name != "$schema" and name not in hoisted}
    wrapped = {"type": "object", "properties": {VALUE: inner}, "required": [VALUE], "additionalProperties": False}
    return wrapped | hoisted if own else _moved(wrapped | hoisted)


def _moved(part: Any) -> Any:
    """References to the root lead to where it is now."""
    if isinstance(part, list):
        return [_moved(one) for one in part]
    if not isinstance(part, dict) or "$id" in part:
        return part
    return {
        key: _new_place(value)
        if key == "$ref" and isinstance(value, str)
        else value
        if key in _PLAIN
        else _moved(value)
        for key, value in part.items()
    }


def _new_place(reference: str) -> str:
    hoisted = any(reference.startswith(f"#/{name}/") for name in _HOISTED)
    inside = reference == "#" or reference.startswith("#/")
    return f"#/properties/{VALUE}{reference[1:]}" if inside and not hoisted else reference
