"""Forms of an agent's: what a person types for a field, and which values fit it."""

from typing import Any

import pytest

from acp_client.policy.asking.forms import choices, field_fault, parse
from acp_client.protocol.models.elicitation import parse_elicitation_property

TEXT = {"type": "string", "minLength": 2, "maxLength": 4}
CHOICE = {"type": "string", "enum": ["a", "b"]}
TITLED = {"type": "string", "oneOf": [{"const": "a", "title": "Ay"}]}
NUMBER = {"type": "number", "minimum": 0, "maximum": 1}
WHOLE = {"type": "integer", "minimum": 1}
YES_NO = {"type": "boolean"}
SEVERAL = {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["x", "y", "z"]}}
SEVERAL_TITLED = {"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}}
UNKNOWN = {"type": "colour"}

FAULTS = [
    (TEXT, "abc", None),
    (TEXT, 5, "must be a text"),
    (TEXT, "a", "must have at least 2 characters"),
    (TEXT, "abcde", "must have at most 4 characters"),
    (CHOICE, "b", None),
    (TITLED, "Ay", "must be one of the offered values"),
    (NUMBER, 0.5, None),
    (NUMBER, True, "must be a number"),
    (NUMBER, float("inf"), "must be a finite number"),
    (NUMBER, -1, "must be at least 0.0"),
    (NUMBER, 2, "must be at most 1.0"),
    (WHOLE, 1, None),
    (WHOLE, 1.0, "must be a whole number"),
    (YES_NO, False, None),
    (YES_NO, 0, "must be true or false"),
    (SEVERAL, ["x", "z"], None),
    (SEVERAL, "x", "must be a list of the offered values"),
    (SEVERAL, ["q"], "must be a list of the offered values"),
    (SEVERAL, [], "must have at least 1 values"),
    (SEVERAL, ["x", "y", "z"], "must have at most 2 values"),
    (UNKNOWN, "red", "is of a kind that is not known here; leave it out"),
]


@pytest.mark.parametrize(("field", "value", "fault"), FAULTS)
def test_a_value_fits_its_field_or_is_told_why_not(field: dict[str, Any], value: Any, fault: str | None) -> None:
    """The rule that it breaks, in words for a person."""
    assert field_fault(parse_elicitation_property(field), value) == fault


TYPED = [
    (TEXT, "abc", "abc"),
    (CHOICE, " 2 ", "b"),
    (TITLED, "1", "a"),
    (NUMBER, "0.25", 0.25),
    (WHOLE, "7", 7),
    (YES_NO, "Y", True),
    (YES_NO, "no", False),
    (SEVERAL, "1, z", ["x", "z"]),
]


@pytest.mark.parametrize(("field", "typed", "value"), TYPED)
def test_what_is_typed_becomes_the_value_that_is_meant(field: dict[str, Any], typed: str, value: Any) -> None:
    """Choices by their number or by themselves."""
    assert parse(parse_elicitation_property(field), typed) == value


MISTYPED = [
    (TEXT, "a", "it must have at least 2 characters"),
    (CHOICE, "3", "say a number from 1 to 2"),
    (NUMBER, "much", "say a number"),
    (WHOLE, "1.5", "say a whole number"),
    (YES_NO, "perhaps", "say y or n"),
    (SEVERAL, "", "it must have at least 1 values"),
]


@pytest.mark.parametrize(("field", "typed", "said"), MISTYPED)
def test_what_cannot_be_meant_is_said(field: dict[str, Any], typed: str, said: str) -> None:
    """In words that say what to type."""
    with pytest.raises(ValueError, match=said):
        parse(parse_elicitation_property(field), typed)


def test_the_choices_of_a_field_have_their_titles() -> None:
    """None where it takes any value."""
    fields = (CHOICE, TITLED, SEVERAL_TITLED, NUMBER)
    assert [choices(parse_elicitation_property(field)) for field in fields] == [
        [("a", "a"), ("b", "b")],
        [("a", "Ay")],
        [("x", "Ex")],
        [],
    ]
