"""What a run is asked to complete with: the type, and how often the agent may try again. Checked when it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from acp_client.structured.output_type import OutputType

MAX_REPAIRS: Final = 1
"""A model that is told its faults mends them at once, or not at all."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`output_type` is None where no value is asked for."""

    output_type: OutputType | None = None
    max_repairs: int = MAX_REPAIRS


NOTHING_WANTED: Final = Wanted()


def want(result_type: Any, max_repairs: int = MAX_REPAIRS) -> Wanted:
    """From the arguments of a call. Raises TypeError or ValueError that names the argument and the rule."""
    if type(max_repairs) is not int or max_repairs < 0:
        raise ValueError(f"max_repairs is {max_repairs!r}; it is a number of further prompts, 0 or more")
    if result_type is None:
        return Wanted(None, max_repairs)
    from acp_client.structured.output_type import OutputType  # noqa: PLC0415  # most runs ask for none

    return Wanted(OutputType.of(result_type), max_repairs)
