"""What differs from run to run though nothing has changed, given names: ids, paths, times.

Owns which values those are; the only place that does. Two frames, messages or files mean the same when they are equal
after this. What to do with a difference is left to `difference` and to whoever compares. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from acp_client.record.format.lines import EXTENSION_KEY, TRANSCRIPTS_KEY

ID_KEYS: Final[Mapping[str, str]] = {
    "sessionId": "session",
    "session_id": "session",
    "toolCallId": "call",
    "tool_call_id": "call",
    "terminalId": "terminal",
    "terminal_id": "terminal",
    "messageId": "message",
    "message_id": "message",
    "elicitationId": "elicitation",
    "compactionId": "compaction",
    "run_id": "run",
    "runId": "run",
}
"""Members whose text is an id, and the kind that it is of."""
TIME: Final = "{time}"
SECRET: Final = "{secret}"  # noqa: S105  # what stands in the place of one
CWD: Final = "{cwd}"

_TRACE_KEYS: Final = frozenset({"traceparent", "tracestate", "baggage"})
_TIME_KEYS: Final = frozenset(
    {
        "timestamp",
        "duration",
        "durationms",
        "duration_ms",
        "duration_seconds",
        "elapsed",
        "elapsedms",
        "elapsed_ms",
        "elapsed_seconds",
    }
)
_SECRET_NAME: Final = re.compile(
    r"authorization|cookie|token|secret|password|passwd|api[-_]?key|credential", re.IGNORECASE
)

_MIN_ID_CHARS: Final = 8
"""A shorter id is one only where it stands alone: inside of a text it may be any word."""
_WORD: Final = re.compile(rf"[\w-]{{{_MIN_ID_CHARS},}}")
_UUID: Final = re.compile(r"(?<![\w-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![\w-])")
_INSTANT: Final = re.compile(
    r"(?<![\w-])\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?(?!\w)"
)
_PORT: Final = re.compile(r"(?<=://)(127\.0\.0\.1|localhost|\[::1\]):\d+")
_TEMPORARY: Final = re.compile(
    r"(?<![\w.\-}/])(?:/private)?/(?:tmp|var/tmp|var/folders/[^/\s]+/[^/\s]+/T)"
    r"(?:/pytest-of-[^/\s]+/pytest-(?:\d+|current)(?:/popen-gw\d+)?)?(?=/|[^\w.-]|\Z)"
)
_MADE: Final = re.compile(r"(\{tmp\}/(?:tmp|(?:[A-Za-z][\w.]*-)+))[a-z0-9_]{8}(?=/|[^\w.-]|\Z)")
_HOME: Final = re.compile(r"(?<![\w.\-}/])(?:/(?:home|Users)/[^/\s\"']+|/root)(?=/|[^\w.-]|\Z)")
_PACKAGES: Final = re.compile(r"(?<![\w.\-}])(?:\{home\}|\{tmp\})?(?:/[^/\s\"']+)*?/(?:site|dist)-packages(?=/)")


def path_pattern(path: str) -> re.Pattern[str]:
    """Where a text names this path, or what lies in it; `/work` is no part of `/workshop` or `my/work`.

    A longer one may follow upon a letter: a diff calls it `a/home/me/work`.
    """
    before = r"(?<![\w.\-}])" if path.count("/") == 1 else ""
    return re.compile(rf"{before}{re.escape(path)}(?=/|[^\w.-]|\.?\Z|\.\s)")


class Normaliser:
    """Gives names to what differs. Feed it the parts of one recording in order: an id keeps its name.

    `paths` are folders with the names that stand for them, such as {"/work/project": "{cwd}"}; the temporary folder,
    homes and installed packages are known. An id is named by its kind and by the order of first appearance
    (`{session-1}`, `{call-2}`); with `learn` off only those that were given by `give` are, and others stay as they are.
    Instants become `{time}`, UUIDs `{uuid}`, ports of this machine `{port}`, values of secret headers `{secret}`.
    What is normalised already stays so. Grows with the number of different ids.
    """

    def __init__(self, paths: Mapping[str, str] | None = None, *, learn: bool = True) -> None:
        self._learn = learn
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._paths: dict[str, tuple[re.Pattern[str] | None, str]] = {}
        for path, name in (paths or {}).items():
            self.give_path(path, name)

    def name(self, kind: str, value: str) -> str:
        """The name of an id, a new one where it has none."""
        if value not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[value] = f"{{{kind}-{self._counts[kind]}}}"
        return self._names[value]

    def named(self, value: str) -> str | None:
        """The name of an id, None if it has none yet."""
        return self._names.get(value)

    def give(self, value: str, name: str) -> None:
        """Let an id have this name: it is the same as another side's."""
        self._names[value] = name

    def forget(self, value: str) -> None:
        """Let an id have no name any more."""
        self._names.pop(value, None)

    def give_path(self, path: str, name: str) -> None:
        """Let a folder have this name. The root is named only where it stands alone."""
        stripped = path.rstrip("/")
        pattern = path_pattern(stripped) if stripped else None
        self._paths[stripped or "/"] = (pattern, name)
        self._paths = dict(sorted(self._paths.items(), key=lambda item: -len(item[0])))

    def forget_path(self, path: str) -> None:
        """Let a folder have no name any more."""
        self._paths.pop(path.rstrip("/") or "/", None)

    # ---- values

    def value(self, value: Any) -> Any:
        """A copy of a JSON value with names in the place of what differs; keys keep their order."""
        return self._value(value, "")

    def text(self, text: str) -> str:
        """The same for a text."""
        if text in self._names:
            return self._names[text]
        for path, (pattern, name) in self._paths.items():
            if pattern is None:
                text = name if text == path else text
            elif path in text:
                text = pattern.sub(lambda _match, name=name: name, text)  # type: ignore[misc]  # a name may hold \
        if "/" in text:
            text = _without_known_paths(text)
        if len(text) >= _MIN_ID_CHARS:
            text = _WORD.sub(self._word, text)
            text = _UUID.sub("{uuid}", text)
            text = _INSTANT.sub(TIME, text)
        return text

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            return self._string(value, key)
        if isinstance(value, list):
            return [self._value(item, "") for item in value]
        if isinstance(value, dict):
            if _is_secret_pair(value):
                value = {**value, "value": SECRET}
            return {self.text(name): self._value(member, name) for name, member in value.items()}
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return TIME if is_number and _is_time(key) else value

    def _string(self, text: str, key: str) -> str:
        kind = ID_KEYS.get(key)
        if kind and text and (self._learn or text in self._names):
            return text if _is_name(text) else self.name(kind, text)
        return "{trace}" if key in _TRACE_KEYS else self.text(text)

    def _word(self, match: re.Match[str]) -> str:
        return self._names.get(match[0], match[0])


def _without_known_paths(text: str) -> str:
    text = _MADE.sub(r"\1{random}", _TEMPORARY.sub("{tmp}", text))
    text = _HOME.sub("{home}", text)
    if "-packages/" in text:
        text = _PACKAGES.sub("{packages}", text)
    return _PORT.sub(r"\1:{port}", text)


def comparable(frame: Mapping[str, Any]) -> dict[str, Any]:
    """What of a JSON-RPC frame two runs must agree on: without its id, and without who the client is.

    Of `initialize` only that it asks for a version: another release of a client must not make a difference by its name,
    its number, or by what it can do beside. Nor is it one whether the client keeps transcripts, and where.
    """
    kept = {key: value for key, value in frame.items() if key not in ("jsonrpc", "id")}
    if kept.get("method") == "initialize":
        params = kept.get("params")
        version = params.get("protocolVersion") if isinstance(params, dict) else None
        kept["params"] = {"protocolVersion": "{version}" if type(version) is int else version}
    elif kept.get("method") == "session/prompt":
        kept["params"] = _without_place(kept.get("params"))
    if not kept.get("params", True):
        del kept["params"]
    return kept


def _without_place(params: Any) -> Any:
    meta = params.get("_meta") if isinstance(params, dict) else None
    ours = meta.get(EXTENSION_KEY) if isinstance(meta, dict) else None
    if meta is None or not isinstance(ours, dict) or TRANSCRIPTS_KEY not in ours:
        return params
    ours = {key: value for key, value in ours.items() if key != TRANSCRIPTS_KEY}
    return {**params, "_meta": {**meta, EXTENSION_KEY: ours}}


def _is_secret_pair(value: dict[str, Any]) -> bool:
    name = value.get("name")
    return isinstance(name, str) and isinstance(value.get("value"), str) and bool(_SECRET_NAME.search(name))


def _is_time(key: str) -> bool:
    return key.endswith(("At", "_at")) or key.lower() in _TIME_KEYS


def _is_name(text: str) -> bool:
    return text.startswith("{") and text.endswith("}")
