"""A copy of a caller's value as JSON data: what the caller changes afterwards changes nothing here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_jsonable_python

MAX_NESTING: Final = 150
"""Levels of lists and objects: no message of the protocol may have more than 200, and this stands within one."""


def json_copy(value: Any) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None: models, dataclasses and dates included.

    NaN and the infinities, which JSON lacks, become None, bytes base64. Raises ValueError for what is no data (a
    socket, a value that holds itself) or is nested deeper than `MAX_NESTING`; the message names the type and shows no
    value.
    """
    try:
        copy = to_jsonable_python(value, bytes_mode="base64", inf_nan_mode="null")
    except UnicodeEncodeError:
        copy = to_jsonable_python(_well_formed(value), bytes_mode="base64", inf_nan_mode="null")
    _check_nesting(copy, MAX_NESTING)
    return copy


def _check_nesting(value: Any, left: int) -> None:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if inside and not left:
        raise ValueError(f"it is nested deeper than {MAX_NESTING} levels")
    for item in inside:
        if isinstance(item, dict | list):
            _check_nesting(item, left - 1)


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_well_formed(key): _well_formed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_well_formed(item) for item in value]
    return value
