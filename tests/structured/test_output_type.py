"""What an output type is made of, what it says to a tool, and what it says of a value that does not fit."""

import asyncio
import datetime as dt
import json
import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, field_validator
from pydantic_core import core_schema
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from acp_client.structured.faults import MAX_FAULTS, OutputInvalid
from acp_client.structured.output_type import OutputType
from acp_client.structured.python_type import MAX_FOUND
from acp_client.structured.wanted import want


class Trade(BaseModel):
    """A model, with a model in it."""

    price: float = Field(gt=0)
    day: dt.date
    legs: list["Trade"] = []


class Exact(BaseModel):
    """A strict one, with a validator that fails in a way that pydantic does not know."""

    model_config = ConfigDict(strict=True)
    day: dt.date

    @field_validator("day")
    @classmethod
    def _look(cls, day: dt.date) -> dt.date:
        return {dt.date(2026, 1, 2): day}[day]


@dataclass
class Point:
    """A dataclass."""

    x: int
    y: int = 0


class Pair(TypedDict):
    """A TypedDict."""

    left: int
    right: str


FITTING: list[tuple[Any, Any, Any]] = [
    (Trade, {"price": 1, "day": "2026-01-02"}, Trade(price=1, day=dt.date(2026, 1, 2))),
    (Exact, {"day": "2026-01-02"}, Exact(day=dt.date(2026, 1, 2))),
    (Point, {"x": 1}, Point(1)),
    (Pair, {"left": 1, "right": "r"}, {"left": 1, "right": "r"}),
    (Point | int, {"x": 3}, Point(3)),
    (Point | int, 3, 3),
    (list[Point], [{"x": 1}], [Point(1)]),
    (tuple[int, str], [1, "a"], (1, "a")),
    (set[int], [1, 2], {1, 2}),
    (int, 3.0, 3),
    (Optional[int], None, None),  # noqa: UP045  # as people write it
    (Literal["a", "b"], "a", "a"),
    (Annotated[int, Field(ge=3)], 3, 3),
    (TypeAdapter(list[int]), [1], [1]),
    ({"type": "object", "required": ["a"]}, {"a": 1}, {"a": 1}),
    ({"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "null"}}}, [None], [None]),
]


@pytest.mark.parametrize(("given", "value", "typed"), FITTING)
def test_a_value_comes_back_typed_from_itself_and_from_a_tool(given: Any, value: Any, typed: Any) -> None:
    """What is no object is wrapped for a tool, and only that; the tool's schema takes it so."""
    output = OutputType(given)
    arguments = {"value": value} if output.wrapped else value
    for found in (output.validate(value), output.validate_arguments(arguments)):
        assert found == typed
        assert type(found) is type(typed)
    assert output.schema["type"] == "object"
    assert output.wrapped is (output.value_schema.get("type") != "object")
    assert OutputType(output.schema).validate(json.loads(json.dumps(arguments))) == arguments


WRONG: list[tuple[Any, Any, str]] = [
    (Trade, {"price": -1, "legs": [{"price": 1, "day": "soon"}, 3]}, "$.price: should be greater than 0 (it is a n"),
    (Trade, {"price": -1}, "$.day: is required"),
    (Trade, {"price": 1, "day": "2026-01-02", "legs": [{}, 3]}, "$.legs[1]: should be a"),
    (Point | int, {"x": "a"}, "$.x: as Point: should be a valid integer"),
    (Point | int, {}, "$.x: as Point: is required; $: as int: "),
    (dict[str, int], {"odd key": "x" * 10**6}, '$["odd key"]: '),
    (Exact, {"day": "2026-01-03"}, "the type's own validation failed with KeyError"),
    (Exact, {"day": 3}, "$.day: should be a valid date"),
    (int, float("nan"), "is no JSON value"),
    ({"type": "object", "required": ["a"], "properties": {"a": {"minimum": 3}}}, {"a": 1}, "$.a: should be at least 3"),
    ({"type": "object", "required": ["a", "b"]}, {"a": 1}, '$: lacks "b" (it is an object)'),
    ({"type": "integer"}, "x" * 10**6, "$: should be of type integer (it is a string)"),
    ({"anyOf": [{"type": "null"}, {"minLength": 3}]}, "x", "$: fits none of the 2 schemas of anyOf"),
    ({"anyOf": [{"type": "null"}, {"minLength": 3}]}, "x", "$: should have at least 3 characters"),
    ({"oneOf": [{}, {}]}, 1, "fits several"),
    ({"enum": [1, "a"]}, [], '$: should be one of [1, "a"] (it is an array)'),
    ({"additionalProperties": False}, {"b": 1}, "'b' was unexpected"),
    ({"uniqueItems": True}, [{"a": [1], "b": 0}, {"b": 0.0, "a": [1.0]}], "$: should have no item twice (it is an a"),
]


@pytest.mark.parametrize(("given", "value", "said"), WRONG)
def test_a_fault_is_told_by_its_place_its_rule_and_the_kind_of_what_is_there(given: Any, value: Any, said: str) -> None:
    """On one line, and however long the value is, it is not in it."""
    with pytest.raises(OutputInvalid) as caught:
        OutputType(given).validate(value)
    message = str(caught.value)
    assert said in message
    assert len(message) < 2000
    assert "\n" not in message
    assert "xxx" not in message


class Mute(BaseException):
    """Says nothing of itself."""

    def __str__(self) -> str:
        raise ZeroDivisionError


def raising(error: BaseException) -> Any:
    """A type whose validator raises that."""

    def validate(_value: int) -> int:
        raise error

    return Annotated[int, AfterValidator(validate)]


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), asyncio.CancelledError(), Mute()])
def test_whatever_a_validator_raises_is_a_fault_of_the_value(error: BaseException) -> None:
    """It would end the run otherwise, or the whole program; the user's own interrupt does."""
    with pytest.raises(OutputInvalid, match=f"validation failed with {type(error).__name__}: "):
        OutputType(raising(error)).validate(3)
    with pytest.raises(KeyboardInterrupt):
        OutputType(raising(KeyboardInterrupt())).validate(3)


@pytest.mark.parametrize("dialect", [{}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}])
def test_items_are_compared_as_json_in_time_that_grows_with_their_number(dialect: dict[str, Any]) -> None:
    """An agent chooses how many there are; pairwise it would be minutes. The root is reached by a reference too."""
    given = {**dialect, "uniqueItems": True, "items": {"$ref": "#"}}
    alike = [1, True, "1", None, 0, False, "", [], {}, [1], [True], {"a": 1}, {"a": True}, [[]], [{}], [[], {}]]
    assert OutputType(given).validate(alike) == alike
    many = [[n, {"a": n}, str(n)][n % 3] for n in range(20_000)]
    began = time.process_time()
    OutputType(given).validate([many])
    assert time.process_time() - began < 10


def test_of_very_many_faults_the_first_are_listed_and_the_rest_counted() -> None:
    """Each by its own index."""
    with pytest.raises(OutputInvalid) as caught:
        OutputType(list[int]).validate(["x"] * 500)
    assert (len(caught.value.faults), caught.value.count) == (MAX_FAULTS, 500)
    assert caught.value.faults[7].path == "$[7]"
    assert str(caught.value).endswith("and 470 more")
    with pytest.raises(OutputInvalid) as caught:
        OutputType(list[int]).validate(["x"] * (MAX_FOUND + 500))
    assert caught.value.count == MAX_FOUND  # to put all of them into words would take the loop's time


@pytest.mark.parametrize("depth", [10_000, 100_000])
@pytest.mark.parametrize("given", [list[Any], {"type": "array", "items": {"$ref": "#"}}, Any])
def test_a_value_of_absurd_depth_is_a_fault_and_no_crash(given: Any, depth: int) -> None:
    """As one that a hostile agent sends."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    with pytest.raises(OutputInvalid):
        OutputType(given).validate(value)


class NoName(type):
    """Makes classes that cannot be shown."""

    def __repr__(cls) -> str:
        raise ZeroDivisionError


class Hooked:
    """Has a hook for pydantic that fails, and no name."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        return core_schema.int_schema()

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> Any:
        raise KeyError("hook")


NO_TYPES: list[tuple[Any, str]] = [
    (NoName("Odd", (), {}), "result_type Odd is no type that pydantic knows: "),
    (Hooked(), "result_type of type Hooked is no type that pydantic knows"),
    (Hooked, "result_type Hooked has no JSON Schema: 'hook'"),
    ({"type": "strin"}, "result_type at $.type: no JSON Schema 2020-12: should be one of"),
    ({"properties": {"a": {"minimum": "x"}}}, "at $.properties.a.minimum: "),
    ({"properties": {"a": {"pattern": "("}}}, "at $.properties.a.pattern: "),
    ({"$ref": "#/nowhere"}, '$ref "#/nowhere" leads nowhere'),
    ({"items": {"$ref": "https://example.com/x.json"}}, "nothing is fetched"),
    ({"$ref": "#"}, "leads to itself"),
    ({"$schema": "http://json-schema.org/draft-07/schema#"}, "another dialect"),
    ({"enum": [{1}]}, "is no JSON"),
    ("int", "must be a type"),
    (b"", "must be a type"),
    (5, "no type that pydantic knows"),
    (object(), "no type that pydantic knows"),
    (pytest, "no type that pydantic knows"),
]


@pytest.mark.parametrize(("given", "said"), NO_TYPES)
def test_what_is_no_type_is_a_wrong_argument(given: Any, said: str) -> None:
    """It names the argument, the place in a schema, and the rule."""
    with pytest.raises((TypeError, ValueError), match="result_type") as caught:
        OutputType(given)
    assert said in str(caught.value)


@pytest.mark.parametrize("repairs", [-1, True, 1.0, "1"])
def test_repairs_are_a_number_of_prompts(repairs: Any) -> None:
    """Anything else is a wrong argument; no type at all wants nothing."""
    assert want(None).output_type is None
    with pytest.raises(ValueError, match="max_repairs"):
        want(int, repairs)


REFERRING: list[dict[str, Any]] = [
    {"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "null"}]},
    {"type": "array", "prefixItems": [{"type": "null"}, {"$ref": "#/prefixItems/0"}], "minItems": 2},
    {
        "$id": "https://example.com/own",
        "type": "array",
        "items": {"$ref": "#/$defs/n"},
        "$defs": {"n": {"type": "null"}},
    },
    {"type": "array", "items": {"$ref": "#n"}, "$defs": {"n": {"$anchor": "n", "type": "null"}}},
    {"type": "array", "items": {"const": None}, "default": {"$ref": "#"}},
]


@pytest.mark.parametrize("schema", REFERRING)
def test_references_mean_the_same_inside_the_wrap(schema: dict[str, Any]) -> None:
    """To the root, into it, by name, and from a schema with an id of its own."""
    output = OutputType(schema)
    tool = OutputType(output.schema)
    assert tool.validate({"value": [None, None]}) == {"value": [None, None]}
    for wrong in ({"value": [None, 3]}, {"value": [[None], 3]}, {}, {"value": [None, None], "more": 1}, [None, None]):
        with pytest.raises(OutputInvalid):
            tool.validate(wrong)
        with pytest.raises(OutputInvalid):
            output.validate_arguments(wrong)


def test_a_schema_is_what_it_was_when_it_was_given() -> None:
    """The caller may go on with its dict."""
    given = {"type": "integer"}
    output = OutputType(given)
    given["type"] = "string"
    assert output.validate(3) == 3
    assert OutputType.of(output) is output
