"""A `PermissionPolicy` from a YAML file. Owns what a wrong file is told: where, which field, which rule, what to write.

The format is the Python names: `default`, `rules`, `approvals`, `unasked`. A relative `path` of a rule starts at the
file. Reading YAML with its marks is `yaml_marks`' business, the fields are `rules`' and `approval`'s.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from acp_client.frozen import did_you_mean
from acp_client.policy.match.fields import absolute_from, no_word_of
from acp_client.policy.rules import PRESETS, PermissionPolicy
from acp_client.policy.yaml_marks import Marked, Place, YamlError, read_yaml
from acp_client.safe_text import printable

MAX_FILE_BYTES: Final = 256 * 1024
"""A policy is written by people; this is thousands of rules."""

MAX_FAULTS: Final = 50
"""Of a file with more, the first of these is told: they are held against one another."""

_RULES: Final = {
    "string_type": "must be a text; put it in quotes",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "mapping_type": "must be a mapping",
    "model_type": "must be a mapping of fields to values",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "finite_number": "must be a finite number",
}
"""What pydantic finds, in words for somebody who writes a file."""


class PolicyFileError(ValueError):
    """The file is no policy. One line: the file, the line and column, the field, the rule and the correction."""


def load_policy(path: str | os.PathLike[str]) -> PermissionPolicy:
    """Read a policy from a YAML file; it is looked at once, here.

    Raises PolicyFileError for a file that cannot be read, is no YAML, or is no policy.
    """
    name = printable(os.fspath(path))
    try:
        marked = read_yaml(_read(path, name))
    except YamlError as error:
        raise PolicyFileError(f"{name}:{error.line}:{error.column}: {error}") from None
    try:
        return _policy(marked, os.path.dirname(os.path.abspath(path)))  # noqa: PTH100, PTH120  # no link is resolved
    except _Wrong as wrong:
        raise PolicyFileError(_at(name, marked, wrong.place, wrong.rule)) from None


def find_policy(word: str) -> PermissionPolicy:
    """A policy as a command line names it: a preset's name, else a file (./ask for one that is called like a preset).

    Raises PolicyFileError.
    """
    if word in PRESETS:
        return PRESETS[word]
    if not os.path.lexists(word):
        hint = f"there is no such file, and no such preset: {', '.join(PRESETS)}{did_you_mean(word, PRESETS)}"
        raise PolicyFileError(f"{printable(word)}: {hint}")
    return load_policy(word)


class _Wrong(Exception):
    def __init__(self, place: Place, rule: str) -> None:
        super().__init__(rule)
        self.place = place
        self.rule = rule


def _read(path: str | os.PathLike[str], name: str) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise PolicyFileError(f"{name}: cannot be read: {why}; a policy is a readable YAML file") from None
    if len(data) > MAX_FILE_BYTES:
        raise PolicyFileError(
            f"{name}: is longer than {MAX_FILE_BYTES} bytes, which is the most that a policy may have"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PolicyFileError(f"{name}:{line}: is not UTF-8 (byte {error.start}); convert it") from None


def _policy(marked: Marked, folder: str) -> PermissionPolicy:
    value = marked.value
    if value is None:
        raise _Wrong((), "is empty; the least that a policy says is `default: reject`")
    if not isinstance(value, dict):
        raise _Wrong((), "must be a mapping with `default:` and `rules:` at the top, not a list or a single value")
    for place, one in marked.scalars.items():
        if one is None:
            raise _Wrong(place, "is empty; give a value, or leave the field out")
    _place_paths(value, folder)
    try:
        return PermissionPolicy.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise _first(found, marked) from None


def _place_paths(value: dict[str, Any], folder: str) -> None:
    """Relative paths of rules start at the file; what has the wrong shape is the model's to complain of."""
    rules = value.get("rules")
    for number, rule in enumerate(rules if isinstance(rules, list) else []):
        if isinstance(rule, dict) and isinstance(rule.get("path"), str | list):
            given = rule["path"]
            several = given if isinstance(given, list) else [given]
            rule["path"] = [_place(one, folder, ("rules", number, "path", index)) for index, one in enumerate(several)]


def _place(path: Any, folder: str, place: Place) -> Any:
    try:
        return absolute_from(folder, path)
    except ValueError as error:
        raise _Wrong(place, str(error)) from None


def _first(details: list[ErrorDetails], marked: Marked) -> _Wrong:
    """The first thing that is wrong, in the order of the file; of a value that may be two things, what is inside it."""
    wrongs = [_wrong(detail, marked) for detail in details[:MAX_FAULTS]]
    places = [one.place for one in wrongs]
    inner = [one for one in wrongs if not any(one.place == other[: len(one.place)] != other for other in places)]
    return min(inner, key=lambda one: marked.mark(one.place))


def _wrong(detail: ErrorDetails, marked: Marked) -> _Wrong:
    place = marked.known(detail["loc"])
    told = detail["msg"].removeprefix("Value error, ").removeprefix("Input ").replace("should be", "must be")
    if detail["type"] == "missing":
        return _Wrong((*place, detail["loc"][-1]), "is missing")
    if detail["type"] == "literal_error":
        return _Wrong(place, _no_word(detail, marked.scalars.get(place, ())))
    for key in marked.keys(place):
        if f" has no {key!r};" in told:  # a name that is not known: its own line
            return _Wrong((*place, key), f"is no field; {told.partition('; ')[2]}")
    return _Wrong(place, _RULES.get(detail["type"], told))


def _no_word(detail: ErrorDetails, value: Any) -> str:
    words = re.findall(r"'([^']+)'", detail["ctx"]["expected"])
    return no_word_of(words, value)


def _at(name: str, marked: Marked, place: Place, rule: str) -> str:
    line, column = marked.mark(place)
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{printable(part)}" for part in place)
    return f"{name}:{line}:{column}: {f'{field[1:]}: ' if field else ''}{rule}"
