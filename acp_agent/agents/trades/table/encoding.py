"""From bytes to text: byte order marks, UTF-8, UTF-16 without a mark, and the Windows code page as the last guess.

Owns the guess and the refusal of empty and binary content. Leaves lines and delimiters to
`records`.
"""

import codecs
from dataclasses import dataclass

from acp_agent.agents.trades.model import UnusableInput

__all__ = ["Decoded", "decode"]

_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook (.xlsx)"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls) or another Office file"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
)
_SAMPLE_BYTES = 4096
_MANY_ZEROS = 0.4  # Western text in UTF-16 has a zero in nearly every second byte …
_FEW_ZEROS = 0.05  # … and hardly one in the others.
_MAX_CONTROL_SHARE = 0.01  # a stray control character is dirt, more than one in a hundred is no text
_ALLOWED_CONTROLS = frozenset("\t\n\r\f\v\x1a\x85")
_INVISIBLE = dict.fromkeys([0xFEFF, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0x00AD])
_FIRST_PRINTABLE, _DELETE, _AFTER_C1 = 0x20, 0x7F, 0xA0


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text, without marks and control characters, and the name of the encoding that was taken."""

    text: str
    encoding: str


def decode(content: bytes) -> Decoded:
    """Decode the content of a file, or raise UnusableInput with reason `empty`, `binary` or `encoding`."""
    if not content.strip():
        raise UnusableInput("empty", "the file is empty; a trades file needs a header line and rows")
    for signature, kind in _SIGNATURES:
        if content.startswith(signature):
            raise _binary(f"it is {kind}")
    text, encoding = _decode_text(content)
    cleaned = _clean(text)
    if not cleaned.strip():
        raise UnusableInput("empty", "the file holds only white space; a trades file needs a header line and rows")
    return Decoded(cleaned, encoding)


def _binary(why: str) -> UnusableInput:
    return UnusableInput("binary", f"the file is binary ({why}); a trades file is text, so export it as CSV first")


def _decode_text(content: bytes) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _strictly(content[len(mark) :], encoding)
    wide = _wide_encoding(content[:_SAMPLE_BYTES])
    if wide is not None:
        return _strictly(content, wide)
    if b"\x00" in content:
        raise _binary("it contains zero bytes")
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        # Line by line, because files that were pasted together mix encodings.
        return "".join(_decode_line(line) for line in content.splitlines(keepends=True)), "cp1252"


def _strictly(content: bytes, encoding: str) -> tuple[str, str]:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8":
            return "".join(_decode_line(line) for line in content.splitlines(keepends=True)), "utf-8"
        reason = f"the file says it is {encoding}, but byte {error.start} is not; save it as UTF-8 and try again"
        raise UnusableInput("encoding", reason) from error
    if "\x00" in text:
        raise _binary("it contains zero characters")
    return text, encoding


def _wide_encoding(sample: bytes) -> str | None:
    pairs = len(sample) // 2
    if not pairs:
        return None
    even, odd = sample[0::2].count(0) / pairs, sample[1::2].count(0) / pairs
    if odd > _MANY_ZEROS and even < _FEW_ZEROS:
        return "utf-16-le"
    if even > _MANY_ZEROS and odd < _FEW_ZEROS:
        return "utf-16-be"
    return None


def _decode_line(line: bytes) -> str:
    for encoding in ("utf-8", "cp1252"):
        try:
            return line.decode(encoding)
        except UnicodeDecodeError:
            continue
    return line.decode("latin-1")  # the code page leaves five bytes undefined; they count as control characters


def _is_control(char: str) -> bool:
    number = ord(char)
    return (number < _FIRST_PRINTABLE or _DELETE <= number < _AFTER_C1) and char not in _ALLOWED_CONTROLS


def _clean(text: str) -> str:
    controls = {ord(char): None for char in set(text) if _is_control(char)}
    count = sum(text.count(chr(number)) for number in controls)
    if count > len(text) * _MAX_CONTROL_SHARE:
        raise _binary("it is full of control characters")
    return text.translate(_INVISIBLE | controls | {0x1A: None, 0x85: " ", 0x0B: " ", 0x0C: " "})
