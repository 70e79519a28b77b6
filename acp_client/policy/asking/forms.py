"""Forms that an agent asks a person to fill in: what a field takes, and what is wrong with an answer. Pure.

Owns the check of an answer before it is sent. A `pattern` is left to the agent: it is the agent's own expression, and
one that never ends would hold up our loop. (ACP v1, elicitation.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from acp_client.protocol import models

YES: Final = frozenset({"y", "yes", "true", "1"})
NO: Final = frozenset({"n", "no", "false", "0"})


def fault(schema: models.ElicitationSchema, content: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong with what was filled in, None if nothing is. Shows no value."""
    for name in content:
        if name not in schema.properties:
            there = ", ".join(map(repr, schema.properties)) or "none"
            return f"the form has no field {name!r}; there are: {there}"
    for name in schema.required or ():
        if name not in content:
            return f"the field {name!r} is required"
    for name, value in content.items():
        wrong = field_fault(schema.properties[name], value)
        if wrong is not None:
            return f"the field {name!r} {wrong}"
    return None


def field_fault(field: models.ElicitationProperty, value: Any) -> str | None:
    """What is wrong with one value, None if nothing is."""
    match field:
        case models.StringProperty():
            return _string_fault(field, value)
        case models.BooleanProperty():
            return None if isinstance(value, bool) else "must be true or false"
        case models.NumberProperty() | models.IntegerProperty():
            return _number_fault(field, value)
        case models.MultiSelectProperty():
            return _selection_fault(field, value)
    return "is of a kind that is not known here; leave it out"


def choices(field: models.ElicitationProperty) -> list[tuple[str, str]]:
    """The values that a field takes, each with its title; empty where it takes any."""
    if isinstance(field, models.StringProperty):
        titled = [(option.const, option.title) for option in field.one_of or ()]
        return titled or [(value, value) for value in field.enum or ()]
    items = field.items if isinstance(field, models.MultiSelectProperty) else None
    if isinstance(items, models.StringItems):
        return [(value, value) for value in items.enum]
    return [(option.const, option.title) for option in items.any_of] if isinstance(items, models.TitledItems) else []


def parse(field: models.ElicitationProperty, typed: str) -> Any:
    """The value that a person means by a line. Raises ValueError, which says what the field takes."""
    word = typed.strip()
    if isinstance(field, models.BooleanProperty):
        if word.lower() not in YES | NO:
            raise ValueError("say y or n")
        return word.lower() in YES
    if isinstance(field, models.IntegerProperty | models.NumberProperty):
        value: Any = _number(word, whole=isinstance(field, models.IntegerProperty))
    elif isinstance(field, models.MultiSelectProperty):
        value = [_chosen(field, part.strip()) for part in word.split(",") if part.strip()]
    else:
        value = _chosen(field, word) if choices(field) else typed
    wrong = field_fault(field, value)
    if wrong is not None:
        raise ValueError(f"it {wrong}")
    return value


def _number(word: str, *, whole: bool) -> int | float:
    try:
        return int(word)
    except ValueError:
        if whole:
            raise ValueError("say a whole number") from None
    try:
        return float(word)
    except ValueError:
        raise ValueError("say a number") from None


def _chosen(field: models.ElicitationProperty, word: str) -> str:
    """By its number on the list, else by itself."""
    known = choices(field)
    if any(word == value for value, _ in known):
        return word
    if word.isdecimal() and 1 <= int(word) <= len(known):
        return known[int(word) - 1][0]
    raise ValueError(f"say a number from 1 to {len(known)}")


def _string_fault(field: models.StringProperty, value: Any) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    known = choices(field)
    if known and value not in [choice for choice, _ in known]:
        return "must be one of the offered values"
    if field.min_length is not None and len(value) < field.min_length:
        return f"must have at least {field.min_length} characters"
    if field.max_length is not None and len(value) > field.max_length:
        return f"must have at most {field.max_length} characters"
    return None


def _number_fault(field: models.NumberProperty | models.IntegerProperty, value: Any) -> str | None:
    whole = isinstance(field, models.IntegerProperty)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return "must be a whole number" if whole else "must be a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if field.minimum is not None and value < field.minimum:
        return f"must be at least {field.minimum}"
    if field.maximum is not None and value > field.maximum:
        return f"must be at most {field.maximum}"
    return None


def _selection_fault(field: models.MultiSelectProperty, value: Any) -> str | None:
    known = {choice for choice, _ in choices(field)}
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item in known for item in value):
        return "must be a list of the offered values"
    if field.min_items is not None and len(value) < field.min_items:
        return f"must have at least {field.min_items} values"
    if field.max_items is not None and len(value) > field.max_items:
        return f"must have at most {field.max_items} values"
    return None
