"""Redaction of whole frames, as many as a flood has: every string and every key, each known one looked at once.

Owns the memory of texts that hold no secret, and the slices in which a long text is looked at: a pattern holds Python's
lock while it looks, and the loop must not wait for it. What is secret is the redactor's to say.
"""

from __future__ import annotations

from typing import Any, Final

from acp_client.process.redaction import (
    DEEPEST_JSON,
    REDACTED,
    Redactor,
    hidden,
    is_secret_key,
    is_value_of_secret,
)

SLICE_CHARS: Final = 16 * 1024
"""A longer text is looked at in slices: a few milliseconds each."""
REMEMBERED_CHARS: Final = 64
"""Texts up to this length are remembered: keys, kinds, ids, words."""
MAX_REMEMBERED: Final = 4096


class Cleaner:
    """For one run, in one thread. `json` gives a new value and leaves the given one as it is."""

    __slots__ = ("_clean", "_keys", "redactor")

    def __init__(self, redactor: Redactor) -> None:
        self.redactor: Final = redactor
        self._clean: set[str] = set()
        self._keys: dict[str, tuple[str, bool]] = {}

    def text(self, text: str) -> str:
        """A text without its secrets."""
        if text in self._clean:
            return text
        if len(text) > SLICE_CHARS:
            return self._long(text)
        redacted = self.redactor.redact(text)
        if redacted == text and len(text) <= REMEMBERED_CHARS:
            if len(self._clean) >= MAX_REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return redacted

    def json(self, value: Any, depth: int = 0) -> Any:
        """A JSON value likewise; what lies deeper than the redactor looks is replaced as a whole."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is dict or kind is list:
            if depth >= DEEPEST_JSON:
                return REDACTED
            if kind is list:
                return [self.json(item, depth + 1) for item in value]
            return {self._key(key)[0]: self._member(value, key, depth + 1) for key in value}
        return value

    def _member(self, holder: dict[Any, Any], key: str, depth: int) -> Any:
        value = holder[key]
        if self._key(key)[1] or (key == "value" and is_value_of_secret(holder, key)):
            value = hidden(value)
        return self.json(value, depth)

    def _key(self, key: str) -> tuple[str, bool]:
        """The key without a secret in it, and whether it says that its value is one."""
        known = self._keys.get(key)
        if known is None:
            known = (self.text(key), is_secret_key(key))
            if len(key) <= REMEMBERED_CHARS:
                if len(self._keys) >= MAX_REMEMBERED:
                    self._keys.clear()
                self._keys[key] = known
        return known

    def _long(self, text: str) -> str:
        stream = self.redactor.stream()
        slices = (text[start : start + SLICE_CHARS] for start in range(0, len(text), SLICE_CHARS))
        return "".join((*map(stream.feed, slices), stream.flush()))
