"""Modes and config options of a session (ACP v1, session modes and session config options).

Owns what can be set in a session and the requests that set it. Options supersede modes; which of
the two to use is the caller's choice.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from acp_client.protocol.models.base import (
    OR_EMPTY,
    REQUIRED,
    SKIP,
    EmptyObject,
    Kinds,
    LenientStr,
    Reader,
    WireModel,
)

ConfigOptionCategory = Literal["mode", "model", "model_config", "thought_level"]


class SessionMode(WireModel):
    """One way for the agent to work, such as "ask" or "code"."""

    id: str
    name: str
    description: LenientStr = None


class SessionModeState(WireModel):
    """The modes that a session has and the one that it is in."""

    current_mode_id: str
    available_modes: Annotated[list[Annotated[SessionMode, SKIP]], OR_EMPTY, REQUIRED]


class SetSessionModeRequest(WireModel):
    """Params of `session/set_mode`."""

    session_id: str
    mode_id: str


class SetSessionModeResponse(EmptyObject):
    """Result of `session/set_mode`."""


class ConfigSelectOption(WireModel):
    """One value of a select."""

    value: str
    name: str
    description: LenientStr = None


class ConfigSelectGroup(WireModel):
    """Values of a select under a common heading."""

    group: str
    name: str
    options: Annotated[list[Annotated[ConfigSelectOption, SKIP]], OR_EMPTY, REQUIRED]


def _read_choices(value: object) -> list[ConfigSelectOption] | list[ConfigSelectGroup]:
    """The values of a select: all of them plain or all of them groups, as the first one is."""
    if not isinstance(value, list):
        message = "should be a list"
        raise ValueError(message)  # noqa: TRY004 - pydantic makes a problem of a ValueError only
    first = value[0] if value else None
    grouped = isinstance(first, dict) and "group" in first and "value" not in first
    if grouped or isinstance(first, ConfigSelectGroup):
        return [ConfigSelectGroup.from_wire(item) for item in value]
    return [ConfigSelectOption.from_wire(item) for item in value]


class _ConfigOption(WireModel):
    """What every kind of option has; `category` is open."""

    TAG: ClassVar[str] = "type"

    id: str
    name: str
    description: LenientStr = None
    category: LenientStr = None


class SelectConfigOption(_ConfigOption):
    """One of several values."""

    type: Literal["select"] = "select"
    current_value: str
    options: Annotated[list[ConfigSelectOption] | list[ConfigSelectGroup], Reader(_read_choices)]


class BooleanConfigOption(_ConfigOption):
    """On or off; only for clients that say they can show it."""

    type: Literal["boolean"] = "boolean"
    current_value: bool


class UnknownConfigOption(WireModel):
    """An option of a kind that v1 does not have, kept as it came; not to be set."""

    TAG: ClassVar[str] = "type"

    type: str


_CONFIG_OPTION = Kinds[SelectConfigOption | BooleanConfigOption | UnknownConfigOption](
    "SessionConfigOption",
    known=(SelectConfigOption, BooleanConfigOption),
    other=UnknownConfigOption,
)

ConfigOption = Annotated[SelectConfigOption | BooleanConfigOption | UnknownConfigOption, _CONFIG_OPTION]
ConfigOptions = Annotated[list[Annotated[ConfigOption, SKIP]], OR_EMPTY, REQUIRED]


def parse_config_option(obj: object) -> ConfigOption:
    """Read one config option.

    Raises:
        ModelError: it is no object, has no type, or does not fit the type that it names.
    """
    return _CONFIG_OPTION.parse(obj)


def _read_value(value: object) -> str | bool:
    """What an option is set to."""
    if isinstance(value, str | bool):
        return value
    message = "should be a string or a boolean"
    raise ValueError(message)


class SetConfigOptionRequest(WireModel):
    """Params of `session/set_config_option`: the id of a value, or a bool with `type="boolean"`."""

    session_id: str
    config_id: str
    type: LenientStr = None
    value: Annotated[str | bool, Reader(_read_value)]

    @model_validator(mode="after")
    def _bool_says_so(self) -> Self:
        if isinstance(self.value, bool) and self.type != "boolean":
            message = 'should have the type "boolean" for a boolean value'
            raise ValueError(message)
        return self


class SetConfigOptionResponse(WireModel):
    """Result of `session/set_config_option`: all options, not only the one that was set."""

    config_options: ConfigOptions
