"""stdout: the answer in one of four formats.

Owns what goes to stdout and nothing else. Each format is told of every event and, once, of the result.
"""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from acp_client.cli.options import Format
from acp_client.cli.show.output import Output
from acp_client.cli.show.stream_text import StreamText
from acp_client.outcome.result import RunResult
from acp_client.safe_text import printable
from acp_client.session.events import Event, EventsLost, TextChunk

INDENT: Final = 2


class Answer(Protocol):
    """One format."""

    async def on_event(self, event: Event) -> None:
        """Something happened. Waits while stdout is full; safe to cancel."""

    def finish(self, result: RunResult) -> None:
        """The run is over."""


class TextAnswer:
    """The answer text as it comes, and a final newline; a structured value where there is no text."""

    def __init__(self, stdout: Output) -> None:
        self._stdout = stdout
        self._safe = StreamText() if stdout.is_terminal else None
        self._shown_chars = 0
        self._lost = False

    async def on_event(self, event: Event) -> None:
        """Write text. After a gap nothing more: the result has all of it."""
        if isinstance(event, TextChunk) and not self._lost:
            self._shown_chars += len(event.text)
            self._write(event.text)
            await self._stdout.room()
        self._lost = self._lost or isinstance(event, EventsLost)

    def finish(self, result: RunResult) -> None:
        """Write what the events did not bring."""
        self._write(result.text[self._shown_chars :])
        if self._safe is not None:
            self._stdout.write(self._safe.end())
        _finish_text(self._stdout, result, any_text=bool(self._shown_chars or result.text))

    def _write(self, text: str) -> None:
        self._stdout.write(text if self._safe is None else self._safe.feed(text))


class QuietAnswer:
    """The last message only, at the end: what a script wants of an agent that thinks aloud."""

    def __init__(self, stdout: Output) -> None:
        self._stdout = stdout

    async def on_event(self, event: Event) -> None:
        """Nothing yet."""

    def finish(self, result: RunResult) -> None:
        """Write the message, or the structured value where there is none."""
        text = result.last_message
        self._stdout.write(printable(text, multiline=True) if self._stdout.is_terminal else text)
        _finish_text(self._stdout, result, any_text=bool(text))


class JsonAnswer:
    """The result as one document."""

    def __init__(self, stdout: Output) -> None:
        self._stdout = stdout

    async def on_event(self, event: Event) -> None:
        """The result has it all."""

    def finish(self, result: RunResult) -> None:
        """Write the document."""
        self._stdout.write(to_text(result, indent=INDENT, safe=self._stdout.is_terminal) + "\n")


class JsonLinesAnswer:
    """Each event on a line as it comes, then `{"event": "result", …}` with the fields of the result."""

    def __init__(self, stdout: Output) -> None:
        self._stdout = stdout

    async def on_event(self, event: Event) -> None:
        """Write a line."""
        self._write(event.to_json())
        await self._stdout.room()

    def finish(self, result: RunResult) -> None:
        """Write the last line."""
        self._write({"event": "result"} | result.model_dump(mode="json"))

    def _write(self, value: dict[str, Any]) -> None:
        self._stdout.write(to_text(value, indent=None, safe=self._stdout.is_terminal) + "\n")


class ValueAnswer:
    """The value that was asked for, alone, and nothing where there is none: what a script reads."""

    def __init__(self, stdout: Output, *, indent: int | None) -> None:
        self._stdout = stdout
        self._indent = indent

    async def on_event(self, event: Event) -> None:
        """The text is on the way to the value."""

    def finish(self, result: RunResult) -> None:
        """Write the value."""
        if result.status == "completed":
            text = to_text(result.structured, indent=self._indent, safe=self._stdout.is_terminal)
            self._stdout.write(text + "\n")


ANSWERS: Final[dict[Format, type[TextAnswer | QuietAnswer | JsonAnswer | JsonLinesAnswer]]] = {
    "text": TextAnswer,
    "quiet": QuietAnswer,
    "json": JsonAnswer,
    "jsonl": JsonLinesAnswer,
}


def choose_answer(form: Format, stdout: Output, *, value: bool) -> Answer:
    """The format; with a value asked for, that alone is the answer: indented as `text`, on one line as `quiet`."""
    if value and form in ("text", "quiet"):
        return ValueAnswer(stdout, indent=INDENT if form == "text" else None)
    return ANSWERS[form](stdout)


def _finish_text(stdout: Output, result: RunResult, *, any_text: bool) -> None:
    """End the last line; where there was no text, a structured value is the answer."""
    if stdout.midline:
        stdout.write("\n")
    if not any_text and result.structured is not None:
        stdout.write(to_text(result.structured, indent=INDENT, safe=stdout.is_terminal) + "\n")


def to_text(value: Any, *, indent: int | None, safe: bool) -> str:
    """A value as JSON, non-finite numbers as null, half characters repaired.

    `safe`: for a terminal, and so in ASCII if there is anything in it that a terminal would act on.
    """
    try:
        text = to_json(value, indent=indent, inf_nan_mode="null").decode()
    except PydanticSerializationError:  # lone surrogates, as bytes of a PATH that are not UTF-8 become
        text = _repaired(json.dumps(to_jsonable_python(value, inf_nan_mode="null"), indent=indent, ensure_ascii=False))
    if safe and printable(text, multiline=True) != text:
        text = json.dumps(json.loads(text), indent=indent).replace("\x7f", "\\u007f")
    return text


def _repaired(text: str) -> str:
    """Lone surrogates, which no encoding has, joined where they fit, else replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
