"""What is asked: which file to read and, only if the task names one, which file to write.

Owns the forms a task may take: a bare path, a sentence, JSON, a resource link, an embedded resource. Pure: a callable
says which paths are files. Leaves reading and writing to `files`.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Source", "Task", "UnclearTask", "read_task"]

_QUOTED = r"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`|[“„]([^“”\n]+)[“”]|‘([^’\n]+)’|«\s*([^»\n]+?)\s*»"
_PATH = rf"(?:{_QUOTED}|<?(file://[^\s<>\"']+)>?|([^\s\"'`“„‘«<>]+))"
_VERBS = r"(?:write|writes|written|save|saved|store|export|put|dump|output|schreib\w*|speicher\w*)"
_OUTPUT_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:->|=>|→)\s*{_PATH}",
        rf"(?:--output|--out|-o)[ =]{_PATH}",
        rf"\b(?:output|out|destination|target)(?:[ _](?:file|path))?\s*[:=]\s*{_PATH}",
        rf"\b{_VERBS}\b(?:(?!\b(?:from|of|in)\b)[^.\n\"'`/]){{0,60}}?\b(?:to|as|into|in|nach|als)\s+(?:the\s+)?(?:file\s+)?{_PATH}",
        rf"\b(?:results?|trades|them|it|output)\s+(?:to|into)\s+(?:the\s+)?(?:file\s+)?{_PATH}",
        rf"\boutput\s+(?:file\s+|to\s+)?{_PATH}",
        rf"\b{_VERBS}\s+(?:file\s+)?{_PATH}(?=\s+(?:from|with|containing)\b)",
        rf"\b(?:to|into|as)\s+(?:the\s+)?(?:file\s+)?(?=\S+\.json\b){_PATH}",
    )
)
_ANY_PATH = re.compile(rf"(?<!\w){_PATH}")
_LOOKS_LIKE_PATH = re.compile(r"(?:.*/.*|.*[^\s.]\.[A-Za-z][A-Za-z0-9]{0,7})", re.DOTALL)
_WEB = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_INPUT_KEYS = ("file", "input", "path", "source", "input_file", "uri", "trades_file")
_OUTPUT_KEYS = ("output", "out", "destination", "write_to", "output_file", "save_as", "output_path")
_SENTENCE = re.compile(
    rf"\b(?:{_VERBS}|extract\w*|read|parse|convert|process|load|get|use|take|normali[sz]e|clean|do|please|see|can|"
    r"from|in|the|this|file|path|input|is|das|die|aus|bitte|lies)\b|[:=>\"`]",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?)]}"
_MAX_WORDS_IN_PATH = 12

Exists = Callable[[Path], bool]


class UnclearTask(ValueError):
    """The task does not say which one file to read. The message says what a task should look like."""


@dataclass(frozen=True, slots=True)
class Source:
    """The trades to read: a path to a file, or the content itself under a name."""

    name: str
    path: Path | None = None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked. `output` is None unless the task names a file to write; both paths are absolute."""

    source: Source
    output: Path | None = None


def read_task(text: str, attached: Sequence[Source], *, cwd: Path, exists: Exists) -> Task:
    """Read the words of a task and the sources attached to it, or raise UnclearTask."""
    stated = text.strip()
    if stated and not attached and "\n" not in stated:
        whole = _resolved(_unquoted(stated), cwd)
        if whole is not None and exists(whole):
            return Task(_file(whole))
    asked = _read_json(stated, cwd)
    if asked is None:
        rest, output = _cut_output(stated, cwd)
        asked = _inputs(rest, cwd, exists, plain_words=not attached), output
    inputs, output = asked
    sources = {source.path or source.name: source for source in [*attached, *map(_file, inputs)]}
    if len(sources) != 1:
        raise UnclearTask(_advice(list(sources.values())))
    return Task(next(iter(sources.values())), output)


def _is_bare_name(stated: str) -> bool:
    """Say whether the task is nothing but a file's name with blanks: it looks like one and no word makes a sentence."""
    words = stated.split()
    paths = [word for word in words if _LOOKS_LIKE_PATH.fullmatch(word)]
    return len(paths) == 1 and paths == words[-1:] and not _SENTENCE.search(stated)


def _advice(sources: Sequence[Source]) -> str:
    found = f"{len(sources)} files ({', '.join(source.name for source in sources)})" if sources else "no file"
    return f"the task names {found}; it must name exactly one trades file, such as `Extract the trades from trades.csv`"


def _file(path: Path) -> Source:
    return Source(path.name, path)


def _read_json(text: str, cwd: Path) -> tuple[list[Path], Path | None] | None:
    if not text.startswith("{"):
        return None
    try:
        task = json.loads(text)
    except (ValueError, RecursionError):
        return None
    assert isinstance(task, dict), "a JSON text that begins with a brace is an object"
    inputs = [path for path in _values(task, _INPUT_KEYS, cwd) if path]
    outputs = [path for path in _values(task, _OUTPUT_KEYS, cwd) if path]
    return inputs, outputs[0] if outputs else None


def _values(task: dict[str, object], keys: Sequence[str], cwd: Path) -> Iterator[Path | None]:
    return (_resolved(value, cwd) for key in keys if isinstance(value := task.get(key), str) and value.strip())


def _cut_output(text: str, cwd: Path) -> tuple[str, Path | None]:
    """Find where the result is to be written, and return the text without that place."""
    for form in _OUTPUT_FORMS:
        for match in form.finditer(text):
            written, quoted = _written(match)
            path = _resolved(written, cwd)
            if path is not None and (quoted or _LOOKS_LIKE_PATH.fullmatch(written)):
                return text[: match.start()] + " \n " + text[match.end() :], path
    return text, None


def _inputs(text: str, cwd: Path, exists: Exists, *, plain_words: bool) -> list[Path]:
    """Return the files that the text names.

    Words that look like paths come first: those that exist, else all of them. A plain word (`from trades`) is one only
    if nothing looks like a path or is attached, and a file has that name.
    """
    likely: list[Path] = []
    plain: list[Path] = []
    for match in _ANY_PATH.finditer(text):
        written, quoted = _written(match)
        path = _resolved(written, cwd)
        if path is None:
            continue
        looks = _LOOKS_LIKE_PATH.fullmatch(written) is not None
        if looks and not quoted and not exists(path):
            path = _with_blanks(text[: match.start()], written, cwd, exists) or path
        if looks or (quoted and exists(path)):
            likely.append(path)
        elif plain_words and exists(path):
            plain.append(path)
    existing = [path for path in likely if exists(path)]
    if not existing and plain_words and _is_bare_name(text):
        likely = [path for path in [_resolved(text, cwd)] if path]
    return list(dict.fromkeys(existing or likely or plain))


def _with_blanks(before: str, last: str, cwd: Path, exists: Exists) -> Path | None:
    """Find a file whose name holds blanks and was not quoted: the most words that together name one."""
    words = before.rsplit("\n", 1)[-1].split()[-_MAX_WORDS_IN_PATH:]
    for start in range(len(words)):
        path = _resolved(" ".join([*words[start:], last]), cwd)
        if path is not None and exists(path):
            return path
    return None


def _written(match: re.Match[str]) -> tuple[str, bool]:
    """Return the path as it was written, and whether quotes or a scheme mark it as one."""
    *marked, bare = match.groups()
    for text in marked:
        if text is not None:
            return text.strip(), True
    return str(bare).lstrip("([").rstrip(_TRAILING), False


def _unquoted(text: str) -> str:
    match = re.fullmatch(_PATH, text)
    return _written(match)[0] if match and match.groups()[-1] is None else text


def _resolved(written: str, cwd: Path) -> Path | None:
    """Return an absolute path; None for nothing, and for addresses that are no files."""
    if written.casefold().startswith("file://"):
        parts = urlsplit(written)
        return Path(unquote(parts.path)) if parts.netloc in ("", "localhost") and parts.path else None
    if not written or "\x00" in written or _WEB.match(written):
        return None
    return Path(cwd, written)
