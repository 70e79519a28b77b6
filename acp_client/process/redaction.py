"""Redaction: secrets out of everything that is shown, logged, recorded or raised.

Owns the order of the stages and what counts as secret inside JSON. Leaves to `secret_patterns` what
a secret looks like, to `environment` which names are secret, to its callers to redact first and
truncate after.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, TypeVar, cast

from acp_client.process.environment import is_secret_name
from acp_client.process.redaction_stages import REDACTED, KnownStage, KnownStream, PatternStage, PatternStream
from acp_client.process.secret_patterns import (
    ASSIGNMENT_NEEDLES,
    LOGIN_NEEDLES,
    assignments,
    begun,
    begun_logins,
    token_needles,
    tokens,
    url_logins,
)

__all__ = ["REDACTED", "Redactor", "StreamRedactor", "hidden", "is_secret_key", "is_value_of_secret"]

DEEPEST_JSON: Final = 100
"""Levels of JSON that are looked through; what lies deeper is replaced as a whole."""

_LONGEST_SCHEME_CHARS: Final = 16  # `bearer` and the blanks after it
_LONGEST_KEY_CHARS: Final = 64
_SECRET_KEY: Final = re.compile(
    r"password|passwd|passphrase|secret|credential|apikey|privatekey|accesskey|connectionstring"
    r"|(?:token|authorization|bearer|cookie|jwt)\Z"
)
_PLAIN_KEYS: Final = frozenset(("progresstoken", "nextpagetoken", "pagetoken"))
_ENVIRONMENT_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_NAME_VALUE_KEYS: Final = frozenset(("name", "value", "_meta"))
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")

_T = TypeVar("_T")


class Redactor:
    """Replaces secrets by `REDACTED`: given values, and all that looks like one.

    `secrets` are values known to be secret (`ScrubbedEnvironment.secrets`, the secret env and
    headers of an MCP server); those under eight characters are ignored. Known values are replaced
    before anything else, also as JSON or a URL spells them. Redacting twice changes nothing. Linear
    in the length of the text; never raises for any text. Immutable, and safe to share.
    """

    __slots__ = ("_known",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known = KnownStage(secrets)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._known)} known spellings>"

    def redact(self, text: str) -> str:
        """The text without its secrets; keys, schemes and hosts stay (`password=[redacted]`)."""
        if not text:  # so that a run without a word of the child's compiles no pattern
            return text
        text = self._known.apply(text)
        for stage in _pattern_stages():
            text = stage.apply(text)
        return text

    def redact_json(self, value: _T) -> _T:
        """The same for a JSON value: every string in it, and whatever a secret key holds.

        Keys stay, as do numbers, booleans and null. Nothing is changed in place: parts without a
        secret are the same objects, the whole too if it has none. What lies deeper than
        `DEEPEST_JSON` levels is replaced unseen.
        """
        return cast("_T", self._json(value, depth=0))

    def secrets_in(self, text: str) -> list[tuple[int, int]]:
        """Where the secrets of a text stand, as (start, end), unordered: for who cannot do with a new text."""
        found = self._known.spans(text)
        for stage in _pattern_stages():
            found += stage.spans(text)
        return found

    def is_clear(self, text: str) -> bool:
        """True if it holds no known value and no word that goes with a secret, also if it is cut anywhere: cheap."""
        return not (any(stage.may_match(text) for stage in _pattern_stages()) or self._known.spans(text))

    def begun_at(self, text: str, least: int = 1, *, logins: bool = True) -> int:
        """Where a secret may begin that the text is too short to show; its length where there is none.

        `least` is of how many characters of a known value that is said. Without `logins` a URL at the end is no login.
        """
        found = [self._known.begun_at(text, least)]
        start = max(0, last_blank(text) - _LONGEST_SCHEME_CHARS)
        for pattern in (begun(), begun_logins())[: 2 if logins else 1]:
            match = pattern.search(text, start)
            found.append(len(text) if match is None else match.start())
        return min(found)

    def stream(self) -> "StreamRedactor":
        """A redactor with the same secrets for one text that comes in pieces."""
        return StreamRedactor(lambda: (self._known, *_pattern_stages()))

    def _json(self, value: object, *, depth: int) -> object:
        if isinstance(value, str):
            return self.redact(value)
        if not isinstance(value, (dict, list)):
            return value
        if depth >= DEEPEST_JSON:
            return REDACTED
        if isinstance(value, list):
            items = [self._json(item, depth=depth + 1) for item in value]
            return value if all(map(_same, items, value)) else items
        fields = {key: self._field(value, key, depth=depth + 1) for key in value}
        return value if all(_same(fields[key], value[key]) for key in value) else fields

    def _field(self, holder: dict[object, object], key: object, *, depth: int) -> object:
        value = holder[key]
        if (isinstance(key, str) and is_secret_key(key)) or is_value_of_secret(holder, key):
            value = hidden(value)
        return self._json(value, depth=depth)


def last_blank(text: str) -> int:
    """Where the last blank of a text stands, -1 without one: what begins behind it is a word that may go on."""
    return max(map(text.rfind, " \n\t\r"))


class StreamRedactor:
    """Redacts a text that arrives in pieces, wherever it is cut: made by `Redactor.stream()`.

    What `feed` and, at the end, `flush` return makes up exactly what `Redactor.redact` returns for
    the whole. The line that is not yet complete is held back, a private key until its end; bounded.
    """

    __slots__ = ("_begin", "_stages")

    def __init__(self, stages: Callable[[], Iterable[KnownStage | PatternStage]]) -> None:
        self._begin = stages
        self._stages: tuple[KnownStream | PatternStream, ...] = ()

    def feed(self, text: str) -> str:
        """Take the next piece; give what is decided by now, redacted, possibly nothing."""
        if text and not self._stages:
            self._stages = tuple(stage.stream() for stage in self._begin())
        for stage in self._stages:
            text = stage.feed(text)
        return text

    def flush(self) -> str:
        """No more will come: give the rest, redacted. Another text may follow."""
        text = ""
        for stage in self._stages:
            text = stage.feed(text) + stage.flush()
        return text


@cache
def _pattern_stages() -> tuple[PatternStage, ...]:
    """Compiled with the first text that may hold a secret, for all redactors."""
    return (
        PatternStage(tokens(), token_needles()),
        PatternStage(url_logins(), LOGIN_NEEDLES),
        PatternStage(assignments(), ASSIGNMENT_NEEDLES),
    )


def is_secret_key(key: str) -> bool:
    """True if a JSON key says that its value is secret (`apiKey`, `access_token`, `DB_PASS`).

    Narrower than the rules for environment names: `key`, `auth` and `maxTokens` are plain here.
    """
    if len(key) > _LONGEST_KEY_CHARS:
        return False
    joined = _NOT_ALPHANUMERIC.sub("", key.lower())
    if joined in _PLAIN_KEYS:
        return False
    if _SECRET_KEY.search(joined):
        return True
    return _ENVIRONMENT_NAME.fullmatch(key) is not None and is_secret_name(key)


def is_value_of_secret(holder: dict[object, object], key: object) -> bool:
    """The value of `{"name": "X-Api-Key", "value": …}`, as ACP writes a header or a variable."""
    name = holder.get("name")
    if key != "value" or not isinstance(name, str) or not holder.keys() <= _NAME_VALUE_KEYS:
        return False
    return is_secret_name(name) or is_secret_key(name)


def hidden(value: object) -> object:
    """A secret key's value: text is hidden, alone or in a list; the rest is judged by itself."""
    if isinstance(value, str):
        return REDACTED if value else value
    if isinstance(value, list):
        hidden = [REDACTED if isinstance(item, str) and item else item for item in value]
        return value if hidden == value else hidden
    return value


def _same(new: object, old: object) -> bool:
    """True for the same object; for text that was redacted before, equal is enough."""
    return new is old or (isinstance(new, str) and new == old)
