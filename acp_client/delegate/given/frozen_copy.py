"""A copy of a caller's value as JSON data: what the caller changes afterwards changes nothing here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python


def json_copy(value: Any) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None: models, dataclasses and dates included.

    NaN and the infinities, which JSON lacks, become None, bytes base64. Raises ValueError for what is no data (a
    socket, a value that holds itself); the message names the type and shows no value.
    """
    try:
        return to_jsonable_python(value, bytes_mode="base64", inf_nan_mode="null")
    except UnicodeEncodeError:
        return to_jsonable_python(_well_formed(value), bytes_mode="base64", inf_nan_mode="null")


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_well_formed(key): _well_formed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_well_formed(item) for item in value]
    return value
