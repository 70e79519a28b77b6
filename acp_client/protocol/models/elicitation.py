"""Questions of the agent's to the user (ACP v1, elicitation).

Owns the request in its modes, the schema of a form, and the answer. Showing a form, and checking
what was filled in against its schema, is left to whoever serves it.
"""

from math import isfinite
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from acp_client.protocol.models.base import (
    OR_NONE,
    SKIP,
    Fallback,
    Kinds,
    LenientStr,
    NullAs,
    Reader,
    UInt,
    WireModel,
)
from acp_client.protocol.models.prompt import RequestId

StringFormat = Literal["email", "uri", "date", "date-time"]
ElicitationAction = Literal["accept", "decline", "cancel"]


class EnumOption(WireModel):
    """One value of a choice, with the title to show."""

    const: str
    title: str
    description: LenientStr = None


class _Property(WireModel):
    """What every field of a form may have."""

    TAG: ClassVar[str] = "type"

    title: LenientStr = None
    description: LenientStr = None


class StringProperty(_Property):
    """Text, or one of several values (`enum`, or `one_of` with titles); `format` is open."""

    type: Literal["string"] = "string"
    min_length: UInt | None = None
    max_length: UInt | None = None
    pattern: str | None = None
    format: str | None = None
    default: LenientStr = None
    enum: list[str] | None = None
    one_of: list[EnumOption] | None = None


class NumberProperty(_Property):
    """A number."""

    type: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    default: Annotated[float | None, OR_NONE] = None


class IntegerProperty(_Property):
    """A whole number."""

    type: Literal["integer"] = "integer"
    minimum: int | None = None
    maximum: int | None = None
    default: Annotated[int | None, OR_NONE] = None


class BooleanProperty(_Property):
    """Yes or no."""

    type: Literal["boolean"] = "boolean"
    default: Annotated[bool | None, OR_NONE] = None


class StringItems(WireModel):
    """The values of a multiple choice, bare."""

    TAG: ClassVar[str] = "type"

    type: Literal["string"] = "string"
    enum: list[str]


class TitledItems(WireModel):
    """The values of a multiple choice, with titles."""

    any_of: list[EnumOption]


class UnknownItems(WireModel):
    """Values of a kind that v1 does not have, kept as they came."""

    TAG: ClassVar[str] = "type"

    type: str


_ITEMS = Kinds[StringItems | TitledItems | UnknownItems](
    "MultiSelectItems", known=(StringItems,), other=UnknownItems, untagged=TitledItems
)


class MultiSelectProperty(_Property):
    """Any number of several values."""

    type: Literal["array"] = "array"
    min_items: UInt | None = None
    max_items: UInt | None = None
    items: Annotated[StringItems | TitledItems | UnknownItems, _ITEMS]
    default: Annotated[list[Annotated[str, SKIP]] | None, OR_NONE] = None


class UnknownProperty(WireModel):
    """A field of a kind that v1 does not have, kept as it came."""

    TAG: ClassVar[str] = "type"

    type: str


_KnownProperty = StringProperty | NumberProperty | IntegerProperty | BooleanProperty | MultiSelectProperty
_PROPERTY = Kinds[_KnownProperty | UnknownProperty](
    "ElicitationPropertySchema",
    known=(StringProperty, NumberProperty, IntegerProperty, BooleanProperty, MultiSelectProperty),
    other=UnknownProperty,
)

ElicitationProperty = Annotated[_KnownProperty | UnknownProperty, _PROPERTY]


def parse_elicitation_property(obj: object) -> ElicitationProperty:
    """Read one field of a form.

    Raises:
        ModelError: it is no object, has no type, or does not fit the type that it names.
    """
    return _PROPERTY.parse(obj)


class ElicitationSchema(WireModel):
    """A form: an object of flat fields, in the vocabulary of JSON Schema."""

    TAG: ClassVar[str] = "type"

    type: Annotated[Literal["object"], Fallback(lambda: "object")] = "object"
    title: LenientStr = None
    description: LenientStr = None
    properties: Annotated[dict[str, ElicitationProperty], NullAs(dict)] = Field(default_factory=dict)
    required: list[str] | None = None


class CreateElicitationRequest(WireModel):
    """Params of `elicitation/create`, in a mode that v1 does not have.

    The known modes are subclasses, and `from_wire` returns the one that fits. The question belongs
    to a session, and maybe a tool call in it, or else to a request.
    """

    NULLABLE: ClassVar[frozenset[str]] = frozenset({"request_id"})

    mode: str
    message: str
    session_id: str | None = None
    tool_call_id: LenientStr = None
    request_id: RequestId = None

    @classmethod
    def from_wire(cls, obj: object) -> Self:
        """As `WireModel.from_wire`, in the class that the mode asks for."""
        mode = obj.get("mode") if isinstance(obj, dict) else None
        wanted = _MODES.get(mode) if isinstance(mode, str) else None
        if wanted is not None and issubclass(wanted, cls) and wanted is not cls:
            return wanted.from_wire(obj)
        return super().from_wire(obj)

    @model_validator(mode="after")
    def _has_a_scope(self) -> Self:
        if self.session_id is None and "request_id" not in self.model_fields_set:
            message = "should have a sessionId or a requestId"
            raise ValueError(message)
        return self


class FormElicitationRequest(CreateElicitationRequest):
    """A form for the user to fill in."""

    TAG: ClassVar[str] = "mode"

    mode: Literal["form"] = "form"
    requested_schema: ElicitationSchema


class UrlElicitationRequest(CreateElicitationRequest):
    """A page for the user to visit; `elicitation/complete` tells when that is done."""

    TAG: ClassVar[str] = "mode"

    mode: Literal["url"] = "url"
    elicitation_id: str
    url: str


_MODES: dict[str, type[CreateElicitationRequest]] = {
    "form": FormElicitationRequest,
    "url": UrlElicitationRequest,
}


def _read_answer(value: object) -> str | int | float | bool | list[str]:
    """What was filled into one field."""
    if isinstance(value, str | int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    message = "should be a string, a finite number, a boolean or a list of strings"
    raise ValueError(message)


ElicitationValue = Annotated[str | int | float | bool | list[str], Reader(_read_answer)]


class CreateElicitationResponse(WireModel):
    """Result of `elicitation/create`: an action, which is open, and what was filled in."""

    action: str
    content: dict[str, ElicitationValue] | None = None


class CompleteElicitationNotification(WireModel):
    """Params of `elicitation/complete`: the user is done with the page."""

    elicitation_id: str
