"""Trades written as JSON objects, in one array or one a line, turned into the same records as a delimited file.

Owns the flattening. A row of an array is numbered by its place, from 1; a row of JSON lines by its line. The header
that such a file does not have is row 0.
"""

import json
from collections.abc import Sequence

from acp_agent.agents.trades.table.records import Record

__all__ = ["looks_like_objects", "read_objects"]

_FIRST_ROW = 1


def looks_like_objects(text: str) -> bool:
    """Say whether the text can only be JSON."""
    return text.lstrip()[:1] in ("{", "[")


def read_objects(text: str) -> list[Record] | None:
    """Return a header record and one record an object.

    None when the text holds no list of objects.
    """
    whole = _load(text)
    numbered: list[tuple[int, object]]
    if whole is not None:
        numbered = list(enumerate(_items(whole), _FIRST_ROW))
    else:
        numbered = [(n, _load(line)) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    objects = [(number, item) for number, item in numbered if isinstance(item, dict)]
    if not objects or len(objects) != len(numbered):
        return None
    names = list(dict.fromkeys(name for _, item in objects for name in item))
    rows = [Record(number, tuple(_cell(item.get(name)) for name in names)) for number, item in objects]
    return [Record(0, tuple(names)), *rows]


def _load(text: str) -> object | None:
    try:
        loaded: object = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return loaded


def _items(whole: object) -> Sequence[object]:
    if isinstance(whole, dict):
        lists = [value for value in whole.values() if isinstance(value, list)]
        return lists[0] if len(lists) == 1 else [whole]
    return whole if isinstance(whole, list) else [whole]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
