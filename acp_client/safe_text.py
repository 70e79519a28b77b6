r"""Text from a child, made safe to show on a terminal and to write into a log.

Owns which characters are dangerous to a reader: those that move the cursor, change the order of
what is read, or are not seen at all. Leaves secrets to `process.redaction`, which comes first.
"""

import re
from typing import Final

ELLIPSIS: Final = "…"
"""Ends a text that was cut."""

_CONTROL: Final = r"\x00-\x1f\x7f-\x9f"
_UNSEEN: Final = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, fillers, Arabic mark
    r"\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero width, marks, line ends, bidi, invisible
    r"\u3164\ufeff\uffa0\ufff0-\ufffb"  # fillers, byte order mark, interlinear
    r"\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # surrogates, music, tags, variations
)
_JOINERS: Final = r"\u200c\u200d"  # part of emoji and of several scripts, so: between two such only
_VARIATIONS: Final = r"\ufe00-\ufe0f"  # one after a character chooses its form; more carry data
_SEEN: Final = rf"[^\x00-\x9f{_UNSEEN}{_JOINERS}]"
_OUT_OF_PLACE: Final = rf"(?<!{_SEEN})[{_JOINERS}]|[{_JOINERS}](?!{_SEEN})|(?<=[{_VARIATIONS}])[{_VARIATIONS}]"

_ONE_LINE: Final = re.compile(rf"[{_CONTROL}{_UNSEEN}]|{_OUT_OF_PLACE}")
_LINES: Final = re.compile(rf"\r\n|(?![\n\t])[{_CONTROL}{_UNSEEN}]|{_OUT_OF_PLACE}")
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\r\n": "\n"}
_HALF_ESCAPE: Final = re.compile(r"\\(?:x.?|u.{0,3}|U.{0,7})?\Z")
_TWO_HEX_DIGITS: Final = 0xFF
_FOUR_HEX_DIGITS: Final = 0xFFFF


def printable(text: str, *, max_chars: int | None = None, multiline: bool = False) -> str:
    r"""The text with every dangerous character spelled out: `\x1b`, `\u202e`, `\U000e0041`.

    Escaped are control characters, marks that turn the direction of reading, characters that are
    not seen, line ends other than LF, lone surrogates. Zero-width joiners stay between two visible
    characters beyond Latin-1 (emoji, Persian, Indic). With `multiline`, newlines and tabs stay and
    CRLF becomes LF; without, they are `\n` and `\t`. A backslash in the text stays as it is.

    `max_chars` bounds the result, in characters, the ellipsis that marks the cut included; at least
    1. Linear; never raises for any text.
    """
    if max_chars is not None and max_chars < 1:
        raise ValueError(f"max_chars is {max_chars}; it is a number of characters, 1 or more")
    dangerous = _LINES if multiline else _ONE_LINE
    if max_chars is None:
        return dangerous.sub(_escape, text)
    # No more of the text than can be shown is looked at: a CRLF is the only pair to become one.
    shown = dangerous.sub(_escape, text[: 2 * max_chars + 2])
    if len(shown) <= max_chars:
        return shown
    return _HALF_ESCAPE.sub("", shown[: max_chars - 1]) + ELLIPSIS


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found in _SHORT:
        return _SHORT[found]
    code = ord(found)
    if code <= _TWO_HEX_DIGITS:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _FOUR_HEX_DIGITS else f"\\U{code:08x}"
