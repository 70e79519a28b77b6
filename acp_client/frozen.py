"""The base of what a caller writes down: specs, limits, policies. Frozen; a misspelt name is told with the nearest.

Owns what a wrong argument is told, and that no value is shown with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import to_jsonable_python


def as_json(value: Any) -> Any:
    """A typed value in the shape of its schema; what has no such form, an instance of an odd class, as its text."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=str)


def did_you_mean(given: Any, words: Iterable[str]) -> str:
    """The end of a message about a word that is none of these: the nearest, or nothing where none is near."""
    near = get_close_matches(given, list(words), 1, 0.5) if isinstance(given, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""


class Frozen(BaseModel):
    """Frozen data of exactly these fields. Raises pydantic's ValidationError, which names the field and the rule."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _known_names(cls, given: Any) -> Any:
        """A misspelt name is told with the nearest there is."""
        for name in given if isinstance(given, dict) else ():
            if name not in cls.model_fields:
                hint = did_you_mean(name, cls.model_fields) or f"; there are: {', '.join(cls.model_fields)}"
                raise ValueError(f"{cls.__name__} has no {name!r}{hint}")
        return given
