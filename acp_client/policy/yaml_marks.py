"""YAML as plain values, with the line of each. Owns the few things that YAML may do here; knows no policy.

Mappings with text for keys, lists, texts, numbers, true, false and null, in one document. Anchors, aliases, tags and a
key given twice are errors; so the values are never larger than the text. `yes`, `on` and `1:30` are texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_client.safe_text import printable

if TYPE_CHECKING:
    import yaml

Place: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys and indexes."""
Mark: TypeAlias = tuple[int, int]
"""Line and column, both from 1."""

MAX_DEPTH: Final = 16
"""Mappings and lists in one another; people's files have four."""

_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_INT: Final = re.compile(r"[-+]?[0-9](?:_?[0-9])*")
_FLOAT: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_MAX_NUMBER_CHARS: Final = 40


class YamlError(ValueError):
    """The text is no YAML, or does what is not taken here."""

    def __init__(self, problem: str, mark: Mark) -> None:
        super().__init__(problem)
        self.line, self.column = mark


@dataclass(slots=True)
class Marked:
    """A value, and where each part of it stands; `scalars` are those parts that hold no others, in order."""

    value: Any = None
    marks: dict[Place, Mark] = field(default_factory=dict)
    scalars: dict[Place, Any] = field(default_factory=dict)

    def known(self, place: Place) -> Place:
        """Those parts of a way that are in the file."""
        found: Place = ()
        for part in place:
            if (*found, part) in self.marks:
                found = (*found, part)
        return found

    def mark(self, place: Place) -> Mark:
        """Where a value stands, else what would hold it."""
        return self.marks.get(self.known(place), (1, 1))

    def keys(self, place: Place) -> list[str | int]:
        """The keys of a mapping."""
        return [other[-1] for other in self.marks if other and other[:-1] == place]


def read_yaml(text: str) -> Marked:
    """Parse one document. Raises YamlError with line and column, for whatever text."""
    import yaml  # noqa: PLC0415  # only who has a file pays for it

    try:
        builder = _Builder(yaml.parse(text, Loader=yaml.SafeLoader))
        return builder.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = printable(str(error.problem or error.context))
        hint = "; use spaces, not tabs" if "'\\t'" in str(error.problem) else ""
        raise YamlError(f"is no YAML: {problem}{hint}", where) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        where = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        character = printable(text[error.position])
        raise YamlError(f"is no YAML: the character {character} is not taken; leave it out", where) from None


class _Builder:
    """Values out of PyYAML's events, which are bounded by the text, unlike what aliases make of them."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._marked = Marked()

    def document(self) -> Marked:
        import yaml  # noqa: PLC0415  # as above

        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if self._marked.marks:
                    raise YamlError("holds a second document; a file is one policy", _mark(event))
            elif not isinstance(event, yaml.StreamStartEvent | yaml.DocumentEndEvent | yaml.StreamEndEvent):
                self._marked.value = self._value(event, ())
        return self._marked

    def _value(self, event: yaml.Event, place: Place) -> Any:
        import yaml  # noqa: PLC0415  # as above

        _refuse(event, place)
        self._marked.marks.setdefault(place, _mark(event))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(place)
        assert isinstance(event, yaml.ScalarEvent)  # what else begins a value
        value = _plain(event.value) if event.implicit[0] else event.value
        self._marked.scalars[place] = value
        return value

    def _mapping(self, place: Place) -> dict[str, Any]:
        import yaml  # noqa: PLC0415  # as above

        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            _refuse(event, place)
            if not isinstance(event, yaml.ScalarEvent):
                raise YamlError("a key must be a text, not a mapping or a list", _mark(event))
            key = event.value
            if key in found:
                raise YamlError(f"the key {printable(key)!r} is given twice; keep one", _mark(event))
            self._marked.marks[*place, key] = _mark(event)
            found[key] = self._value(next(self._events), (*place, key))
        return found

    def _sequence(self, place: Place) -> list[Any]:
        import yaml  # noqa: PLC0415  # as above

        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, (*place, len(found))))
        return found


def _mark(event: yaml.Event) -> Mark:
    assert event.start_mark is not None  # the parser marks all that it finds
    return event.start_mark.line + 1, event.start_mark.column + 1


def _refuse(event: yaml.Event, place: Place) -> None:
    """What YAML can do and a policy need not."""
    if getattr(event, "anchor", None) is not None:
        raise YamlError("anchors and aliases (&, *) are not taken; write the value out, or in quotes", _mark(event))
    if getattr(event, "tag", None) is not None:
        raise YamlError("tags (!) are not taken; write the value plainly, or in quotes", _mark(event))
    if len(place) > MAX_DEPTH:
        raise YamlError(f"more than {MAX_DEPTH} mappings and lists in one another; a policy has four", _mark(event))


def _plain(word: str) -> Any:
    """What a word without quotes means: JSON's words and numbers, else a text."""
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if len(word) <= _MAX_NUMBER_CHARS:
        if _INT.fullmatch(word):
            return int(word)
        if _FLOAT.fullmatch(word):
            return float(word)
    return word
