"""What every model of the wire shares: reading, writing, leniency, and the error of a bad frame.

Owns `WireModel`, `ModelError`, the markers for what the schema reads leniently, and the tables that
tell apart the kinds of a union. The objects themselves are in the chapters beside it; JSON-RPC
envelopes and error codes are elsewhere.

Chapters do not import `annotations` from `__future__`: evaluated annotations are cheaper to build.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, core_schema

__all__ = ["EmptyObject", "EnvVariable", "ModelError", "WireModel", "wire_name"]

MAX_PROBLEMS = 5  # that a message names: a hostile list must not make one without end
MAX_PATH_CHARS = 200  # of a field's path in a message: keys come from the peer too

_RULES = {
    "missing": "is required",
    "model_type": "should be an object",
    "dict_type": "should be an object",
    "list_type": "should be a list",
}


def wire_name(name: str) -> str:
    """The name on the wire of a Python field: camelCase, and `_meta` for `meta`."""
    if name == "meta":
        return "_meta"
    head, *rest = name.split("_")
    return head + "".join(map(str.capitalize, rest))


def _path(loc: Sequence[str | int]) -> str:
    """A location as people write it: `options[0].optionId`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc)


class ModelError(ValueError):
    """An object of the peer does not have the shape that the protocol demands.

    Answer a request with "invalid params", drop and count a notification, give up on a response.
    The message names the model, the wire paths and the rules. It never holds a value of the
    peer's: that could be a secret.

    `problems` are pairs of (path in wire names, rule); the path is empty for the object itself.
    """

    def __init__(self, model: str, problems: Sequence[tuple[str, str]]) -> None:
        self.model = model
        self.problems = tuple((path[:MAX_PATH_CHARS], rule) for path, rule in problems)
        told = [f"{path or 'it'} {rule}" for path, rule in self.problems[:MAX_PROBLEMS]]
        if len(self.problems) > MAX_PROBLEMS:
            told.append(f"and {len(self.problems) - MAX_PROBLEMS} more")
        super().__init__(f"invalid {model}: {'; '.join(told)}")


def _problems(detail: ErrorDetails) -> list[tuple[str, str]]:
    """One of pydantic's details as our problems; a nested union brings its own."""
    path = _path(detail["loc"])
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, ModelError):
        inner = ((path + (p if p.startswith("[") or not p else f".{p}"), r) for p, r in cause.problems)
        return [(p.removeprefix("."), r) for p, r in inner]
    told = str(cause) if cause else detail["msg"].removeprefix("Input ")
    return [(path.removeprefix("."), _RULES.get(detail["type"], told))]


class Fallback:
    """Marks a field whose bad value, null included, becomes the default instead of an error."""

    __slots__ = ("_default",)

    def __init__(self, default: Callable[[], object]) -> None:
        self._default = default

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The field's schema inside one that swallows its errors."""
        return core_schema.with_default_schema(handler(source), default_factory=self._default, on_error="default")


class SkipIfBad:
    """Marks the item type of a list from which bad items are dropped, each by itself."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The item's schema inside one that leaves bad items out."""
        return core_schema.with_default_schema(handler(source), on_error="omit")


class NullAs:
    """Marks a strict field where null reads as empty."""

    __slots__ = ("_empty",)

    def __init__(self, empty: Callable[[], object]) -> None:
        self._empty = empty

    def _read(self, value: object) -> object:
        return self._empty() if value is None else value

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The field's schema behind the replacement of null."""
        return core_schema.no_info_before_validator_function(self._read, handler(source))


class Reader:
    """Marks a field that a plain function reads; a ValueError of it is the rule that was broken."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[object], object]) -> None:
        self._read = read

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The function in place of the annotated type's own schema."""
        del source, handler
        return core_schema.no_info_plain_validator_function(self._read)


def _none() -> None:
    """The default of most optional fields."""


OR_NONE = Fallback(_none)
OR_FALSE = Fallback(bool)
OR_EMPTY = Fallback(list)
SKIP = SkipIfBad()
NULL_AS_EMPTY = NullAs(list)
REQUIRED = NULL_AS_EMPTY  # a function in front of OR_EMPTY hides its default: absence stays an error

LenientStr = Annotated[str | None, OR_NONE]
"""Text for display: anything but a string reads as None."""
LenientBool = Annotated[bool, OR_FALSE]
"""A capability flag: anything but true reads as false."""
UInt = Annotated[int, Field(ge=0)]
LenientUInt = Annotated[UInt | None, OR_NONE]
Strings = Annotated[list[str], NULL_AS_EMPTY]
"""A list of strings, each strict; null reads as the empty list."""


class _Row(NamedTuple):
    """How a field is written."""

    name: str
    alias: str
    is_tag: bool
    null_counts: bool


@cache
def _layout(model: "type[WireModel]") -> tuple[_Row, ...]:
    """The fields of a model in the order in which they are written."""
    rows = [
        _Row(
            name=name,
            alias=wire_name(name),
            is_tag=name == model.TAG,
            null_counts=field.is_required() or name in model.NULLABLE,
        )
        for name, field in model.model_fields.items()
    ]
    return tuple(sorted(rows, key=lambda row: row.name == "meta"))


def _plain(value: object) -> object:
    """A field's value without models; raw JSON below it is handed on as it is."""
    if isinstance(value, WireModel):
        return value.to_wire()
    if isinstance(value, list):
        return [_plain(item) if isinstance(item, WireModel) else item for item in value]
    if isinstance(value, dict):
        return {k: _plain(v) if isinstance(v, WireModel) else v for k, v in value.items()}
    return value


class WireModel(BaseModel):
    """An object of the protocol: frozen, strict, and open for fields that it does not know.

    Build one with Python names (`session_id=`), read one with `from_wire`, write one with
    `to_wire`. Unknown fields are kept (`model_extra`) and written again.
    """

    model_config = ConfigDict(
        alias_generator=wire_name,
        allow_inf_nan=False,
        defer_build=True,
        extra="allow",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
        protected_namespaces=(),
        strict=True,
    )

    TAG: ClassVar[str | None] = None
    """The field that tells this kind apart in its union; always written."""
    NULLABLE: ClassVar[frozenset[str]] = frozenset()
    """Optional fields whose null means something else than their absence."""

    meta: Annotated[dict[str, Any] | None, OR_NONE] = None

    @classmethod
    def from_wire(cls, obj: object) -> Self:
        """Read the object from decoded JSON; null reads as an object without fields.

        Raises:
            ModelError: a required field is missing, or a strict one has a bad value.
        """
        try:
            return cls.model_validate({} if obj is None else obj, by_alias=True, by_name=False)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            raise ModelError(cls.__name__, [p for d in details for p in _problems(d)]) from None

    def to_wire(self) -> dict[str, Any]:
        """The object as a JSON-ready dict under its wire names.

        Left out is what was never set, and None where it means the same as absence. Values that are
        raw JSON (`_meta`, `rawInput`, unknown fields) are handed on, not copied.
        """
        given, values = self.model_fields_set, self.__dict__
        wire: dict[str, Any] = {}
        for name, alias, is_tag, null_counts in _layout(type(self)):
            value = values[name]
            if is_tag or (name in given and (null_counts or value is not None)):
                wire[alias] = _plain(value)
        wire.update(self.model_extra or {})
        return wire


class EmptyObject(WireModel):
    """An object without fields of its own: capability markers and empty results."""


class EnvVariable(WireModel):
    """One environment variable of a process that the peer is asked to start."""

    name: str
    value: str = Field(repr=False)


_Kind = TypeVar("_Kind", bound=WireModel)


class Kinds(Generic[_Kind]):
    """The kinds of a union, told apart by a field; doubles as the marker of a pydantic field.

    Args:
        name: the union's name in error messages.
        known: the kinds; each has a tag with a default.
        other: reads what carries a tag that no kind has.
        untagged: reads what carries no tag that is a string; without it that is an error.
    """

    __slots__ = ("_all", "_known", "_name", "_other", "_tag", "_untagged")

    def __init__(
        self,
        name: str,
        *,
        known: Sequence[type[_Kind]],
        other: type[_Kind],
        untagged: type[_Kind] | None = None,
    ) -> None:
        tag = str(known[0].TAG)
        self._name = name
        self._tag = wire_name(tag)
        self._known = {kind.model_fields[tag].default: kind for kind in known}
        self._other = other
        self._untagged = untagged
        self._all = (*known, other, *([untagged] if untagged else []))

    def parse(self, obj: object) -> _Kind:
        """Read one object of the union; an instance of one of its kinds is returned as it is.

        Raises:
            ModelError: it is no object, has no usable tag, or does not fit the kind that it names.
        """
        if isinstance(obj, self._all):
            return obj
        if not isinstance(obj, dict):
            raise ModelError(self._name, [("", "should be an object")])
        tag = obj.get(self._tag)
        if isinstance(tag, str):
            return self._known.get(tag, self._other).from_wire(obj)
        if self._untagged is None:
            raise ModelError(self._name, [(self._tag, "should be a valid string")])
        return self._untagged.from_wire(obj)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """`parse` as the whole of the field's schema, so that no kind is built before its use."""
        del source, handler
        return core_schema.no_info_plain_validator_function(self.parse)
