"""A model that follows rules: deterministic, without key or network, to test what surrounds a model.

Owns the matching. The first rule that fits the end of the conversation answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from acp_agent.model.seam import Delta, Message, ModelFailed, Role, Stop, TextDelta, Tool, ToolCallDelta, Usage

DEFAULT_CHUNK_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Rule:
    r"""If the end of the conversation matches `pattern`, say `text` and call the tools of `calls`.

    `pattern` is a regular expression, searched for in the last message, or in the results of all tools that were
    called together, one a line. `role` narrows it to `user` or `tool` (None: either). `calls` are pairs of a tool's
    name and its arguments. What the pattern captured may be used in the text and in the strings of the arguments, as
    in `re.sub`: `\1`, `\g<name>`.
    """

    pattern: str
    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class RuleModel:
    """Answers by the first of its rules that fits; raises ModelFailed if none does.

    The text comes in pieces of `chunk_chars` characters, each tool call in two. Ids follow from the conversation:
    `call_3_1` is the first tool call of its third assistant message.
    """

    rules: Sequence[Rule]
    chunk_chars: int = DEFAULT_CHUNK_CHARS
    _compiled: list[tuple[re.Pattern[str], Rule]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        compiled = [(re.compile(rule.pattern, re.DOTALL), rule) for rule in self.rules]
        object.__setattr__(self, "_compiled", compiled)  # frozen, and compiled once

    def stream(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> AsyncGenerator[Delta, None]:
        """One call, see `seam.Model`."""
        number = 1 + sum(message.role == "assistant" for message in messages)
        return self._stream(list(messages), {tool.name for tool in tools}, number)

    async def _stream(self, messages: list[Message], tools: set[str], number: int) -> AsyncGenerator[Delta, None]:
        role, ending = _ending(messages)
        rule, match = self._fitting(role, ending)
        text = match.expand(rule.text)
        for start in range(0, len(text), self.chunk_chars):
            yield TextDelta(text[start : start + self.chunk_chars])
        for index, (name, arguments) in enumerate(rule.calls):
            if name not in tools:
                raise ModelFailed(f"the rule {rule.pattern!r} calls {name!r}, which is no tool of this call")
            told = json.dumps(_expanded(arguments, match), ensure_ascii=False)
            half = len(told) // 2
            yield ToolCallDelta(index, f"call_{number}_{index + 1}", name, told[:half])
            yield ToolCallDelta(index, arguments=told[half:])
        yield Usage(
            input_tokens=sum(len(message.text.split()) for message in messages), output_tokens=len(text.split())
        )
        yield Stop("tool_calls" if rule.calls else "end")

    def _fitting(self, role: str, ending: str) -> tuple[Rule, re.Match[str]]:
        for pattern, rule in self._compiled:
            match = pattern.search(ending) if rule.role in (None, role) else None
            if match is not None:
                return rule, match
        raise ModelFailed(f"no rule fits the {role} message {ending[:200]!r}; add one with the pattern '' for the rest")


def _ending(messages: Sequence[Message]) -> tuple[str, str]:
    """The role and the text of the end: of the last message, or of the results of all tools called together."""
    if not messages:
        return "user", ""
    last = messages[-1]
    if last.role != "tool":
        return last.role, last.text
    results: list[str] = []
    for message in reversed(messages):
        if message.role != "tool":
            break
        results.append(message.text)
    return "tool", "\n".join(reversed(results))


def _expanded(value: Any, match: re.Match[str]) -> Any:
    if isinstance(value, str):
        return match.expand(value)
    if isinstance(value, Mapping):
        return {key: _expanded(one, match) for key, one in value.items()}
    return [_expanded(one, match) for one in value] if isinstance(value, list | tuple) else value
