"""Typed functions as tools: what a model is shown of them, and what it is told of arguments that do not fit."""

import datetime as dt
import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from acp_client import HostTool, ToolContext
from acp_client.tools.docstring import describe
from acp_client.tools.function import BadArguments
from acp_client.tools.tool import as_host_tools


class Side(Enum):
    """One of two."""

    BUY = "buy"
    SELL = "sell"


class Limits(BaseModel):
    """A model."""

    most: int


@dataclass
class Place:
    """A dataclass."""

    name: str


def resolve(  # noqa: D417  # on purpose
    isin: str,
    side: Side,
    on: dt.date,
    context: ToolContext,
    limits: Limits | None = None,
    count: Annotated[int, Field(ge=1, description="at least one")] = 3,
) -> str:
    """Resolve an instrument.

    It may take a moment.

    Args:
        isin: The ISIN,
            twelve characters.
        side (Side): Buy or sell.
        count: Not shown, since the hint says it.

    Returns:
        Its name.
    """
    return f"{isin} {side} {on} {context.tool} {limits} {count}"


def test_a_function_is_shown_with_its_docstring_its_types_and_its_defaults() -> None:
    """The context is ours to give, and no part of the schema."""
    shown = HostTool.of(resolve).to_mcp()
    properties = shown["inputSchema"]["properties"]
    assert (shown["name"], shown["description"]) == ("resolve", "Resolve an instrument.\n\nIt may take a moment.")
    assert properties["isin"] == {"type": "string", "description": "The ISIN, twelve characters."}
    assert properties["side"] == {"$ref": "#/$defs/Side", "description": "Buy or sell."}
    assert properties["on"] == {"type": "string", "format": "date"}
    assert properties["count"] == {"type": "integer", "minimum": 1, "description": "at least one", "default": 3}
    assert shown["inputSchema"]["required"] == ["isin", "side", "on"]
    assert shown["inputSchema"]["additionalProperties"] is False
    assert "context" not in properties


def test_arguments_become_what_the_hints_say_and_defaults_stay_the_function_s() -> None:
    """As pydantic reads JSON."""
    read = HostTool.of(resolve).read({"isin": "x", "side": "buy", "on": "2026-01-02", "limits": {"most": 5}})
    assert read == {"isin": "x", "side": Side.BUY, "on": dt.date(2026, 1, 2), "limits": Limits(most=5)}


def test_faults_of_arguments_are_all_told_by_place_and_rule() -> None:
    """And without the values."""
    with pytest.raises(BadArguments) as told:
        HostTool.of(resolve).read({"isin": 3, "side": "hold-secret", "limits": {}, "more": 1, "count": 0})
    message = str(told.value)
    for part in ("isin: ", "side: ", "on: Field required", "limits.most: Field required", "more: ", "count: "):
        assert part in message
    assert "hold-secret" not in message


def test_sphinx_fields_describe_parameters_and_unknown_sections_stay_description() -> None:
    """The two plain shapes are read; the rest is left as it is."""

    def tool(one: int, two: int) -> None:
        """Do it.

        Careful:
            it is slow.

        :param one: The first,
            of two.
        :param int two: The second.
        :returns: nothing
        """

    found = describe(tool)
    assert found.text == "Do it.\n\nCareful:\n    it is slow."
    assert found.parameters == {"one": "The first, of two.", "two": "The second."}


def test_names_that_models_of_pydantic_reserve_are_names_of_parameters_all_the_same() -> None:
    """A parameter may be called anything."""

    def tool(schema: str, json: int, _x: int, model_config: int) -> None:
        """Nothing."""

    given = {"schema": "a", "json": 1, "_x": 2, "model_config": 3}
    assert HostTool.of(tool).read(given) == given


def test_types_of_every_kind_are_read_from_json() -> None:
    """Dataclasses, sets, literals, tuples."""

    def tool(place: Place, tags: set[str], word: Literal["a", "b"], pair: tuple[int, str]) -> None:
        """Nothing."""

    read = HostTool.of(tool).read({"place": {"name": "x"}, "tags": ["a", "a"], "word": "a", "pair": [1, "b"]})
    assert read == {"place": Place("x"), "tags": {"a"}, "word": "a", "pair": (1, "b")}


def _star(*items: int) -> None: ...
def _stars(**items: int) -> None: ...
def _positional(item: int, /) -> None: ...
def _untyped(item) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001  # the point
def _unknown(item: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821  # the point
def _no_json(item: functools.partial[int]) -> None: ...


@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (_star, "*items is positional"),
        (_stars, "**items has no schema"),
        (_positional, "item is positional"),
        (_untyped, "'item' has no type hint"),
        (_unknown, "cannot be resolved"),
        (_no_json, "no JSON Schema"),
        (lambda: 1, "no name for a tool"),
        (3, "typed function or a HostTool, not int"),
    ],
)
def test_a_function_that_a_model_cannot_call_is_refused_when_the_tool_is_made(function: Any, rule: str) -> None:
    """With what to change."""
    with pytest.raises((TypeError, ValueError), match=r".") as told:
        HostTool.of(function)
    assert rule in str(told.value)


def tool(**fields: Any) -> HostTool:
    """A tool told in full."""
    return HostTool(
        **{"name": "t", "description": "", "schema": {"type": "object"}, "handler": lambda **given: given, **fields}
    )


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"name": ""}, "1 to 64"),
        ({"name": "a b"}, "1 to 64"),
        ({"name": "x" * 65}, "1 to 64"),
        ({"name": "t\n"}, "1 to 64"),
        ({"name": None}, "1 to 64"),
        ({"description": None}, "must be text"),
        ({"handler": "x"}, "must be callable"),
        ({"schema": {"type": "array"}}, 'root is {"type": "object"'),
        ({"schema": {"type": "object", "properties": {"a": {"type": "nonsense"}}}}, "no JSON Schema at"),
    ],
)
def test_a_tool_that_is_told_wrongly_is_refused(fields: dict[str, Any], rule: str) -> None:
    """With the rule."""
    with pytest.raises((TypeError, ValueError), match=r".") as told:
        tool(**fields)
    assert rule in str(told.value)


def test_a_given_schema_is_what_arguments_are_held_against() -> None:
    """It is copied: what the caller does with its own later changes nothing; nothing is fetched for it."""
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    made = tool(schema=schema)
    schema["required"].clear()
    assert made.read({"a": 1, "b": 2}) == {"a": 1, "b": 2}
    with pytest.raises(BadArguments, match=r"\$: 'a' is a required property"):
        made.read({})
    with pytest.raises(BadArguments, match=r"\$\.a: ") as told:
        made.read({"a": "long" * 1000})
    assert len(str(told.value)) < 400


def test_the_context_of_a_told_tool_is_found_by_its_annotation() -> None:
    """Given arguments go by name beside it."""

    def handler(context: ToolContext, **given: Any) -> None: ...

    assert tool(handler=handler).context_parameter == "context"
    assert tool().context_parameter is None


def test_functions_partials_methods_and_objects_are_tools() -> None:
    """Whatever can be called and has a name."""

    class Adder:
        async def __call__(self, a: int) -> int:
            return a

        def method(self, a: int) -> int:
            """Of an object."""
            return a

    def add(a: int, b: int) -> int:
        return a + b

    named: list[tuple[Callable[..., Any], str]] = [(Adder(), "adder"), (functools.partial(add, b=1), "plus")]
    made = [HostTool.of(one, name=name) for one, name in named]
    assert [one.runs_in_thread for one in made] == [False, True]
    assert HostTool.of(Adder().method).description == "Of an object."


def test_names_of_tools_are_unique() -> None:
    """Two of one name could not be told apart."""
    with pytest.raises(ValueError, match="two tools are called 'resolve'"):
        as_host_tools([resolve, HostTool.of(resolve)])
    with pytest.raises(TypeError, match="must be a list"):
        as_host_tools("resolve")  # type: ignore[arg-type]  # the point
