"""What of a session's model calls is the same in every run: requests normalised, deltas without directory and secrets.

Owns the way into a script and back. Which values differ from run to run is `acp_client.record.format.normalise`'s to
say, and what is secret the parent's half of this library, through `delegation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from acp_agent.model.seam import (
    Delta,
    Message,
    TextDelta,
    Tool,
    ToolCallDelta,
    delta_from_json,
    delta_to_json,
    message_to_json,
    tool_to_json,
)
from acp_client.record.format.normalise import CWD, Normaliser, path_pattern


class Keeper:
    """For one session: an id has the same name in all of its calls. `mask` takes secrets out of JSON data."""

    def __init__(self, cwd: str, mask: Callable[[Any], Any]) -> None:
        self._cwd: Final = cwd.rstrip("/")
        self._pattern: Final = path_pattern(self._cwd) if self._cwd else None
        self._mask: Final = mask
        self._names: Final = Normaliser({cwd: CWD})

    def request(self, messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
        """A request as it is compared, and kept."""
        for message in messages:
            for call in message.tool_calls:  # here an id comes first, under a key that others use too
                if call.id:
                    self._names.name("call", call.id)
        data = {"messages": [message_to_json(one) for one in messages], "tools": [tool_to_json(one) for one in tools]}
        kept: dict[str, Any] = self._names.value(self._mask(data))
        return kept

    def keep(self, deltas: Iterable[Delta]) -> tuple[dict[str, Any], ...]:
        """Deltas as they are kept. Pieces that a path or a secret is cut across become one."""
        kept: list[dict[str, Any]] = []
        for _, group in groupby(deltas, _stream):
            kept += self._keep_together([delta_to_json(delta) for delta in group])
        return tuple(kept)

    def give(self, deltas: Iterable[Mapping[str, Any]]) -> list[Delta]:
        """Deltas as the model would stream them in this session's directory."""
        return [
            delta_from_json(self._mapped(delta, lambda text: text.replace(CWD, self._cwd or "/"))) for delta in deltas
        ]

    def _keep_together(self, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        clean = [self._mapped(part, self._clean) for part in parts]
        whole = _joined(parts)
        if whole is None or _text(_joined(clean)) == self._clean(_text(whole)):
            return clean
        return [self._mapped(whole, self._clean)]

    def _clean(self, text: str) -> str:
        masked: str = self._mask(text)
        return self._pattern.sub(lambda _: CWD, masked) if self._pattern is not None else masked

    @staticmethod
    def _mapped(delta: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
        if "text" in delta:
            return {"text": change(delta["text"])}
        call = delta.get("tool_call", {})
        return {"tool_call": {**call, "arguments": change(call["arguments"])}} if "arguments" in call else dict(delta)


def _stream(delta: Delta) -> object:
    """What belongs together: the pieces of one text, of the arguments of one call; anything else is by itself."""
    if isinstance(delta, TextDelta):
        return "text"
    return delta.index if isinstance(delta, ToolCallDelta) else None


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if "text" in parts[0]:
        return {"text": "".join(part["text"] for part in parts)}
    if "tool_call" not in parts[0]:
        return None
    whole: dict[str, Any] = {}
    for part in parts:
        whole = {**part["tool_call"], **{key: value for key, value in whole.items() if key != "arguments"}}
    return {"tool_call": {**whole, "arguments": "".join(part["tool_call"].get("arguments", "") for part in parts)}}


def _text(delta: Mapping[str, Any] | None) -> str:
    assert delta is not None  # both sides of a comparison are there, or neither
    text: str = delta["text"] if "text" in delta else delta["tool_call"]["arguments"]
    return text
