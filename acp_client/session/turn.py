"""The pure fold of `session/update`: from raw updates, in wire order, to what a result says.

Owns messages by id, patched tool calls, the plan and session state, each bounded. Works on raw objects: a
model is built only for what the result shows. Leaves to `session` which updates belong to this session.
(ACP v1, prompt turn, tool calls, agent plan, session modes.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, Final, Literal, TypeAlias

from pydantic_core import to_json

from acp_client.outcome.result import ToolCallState, Usage
from acp_client.policy.meter import Meter
from acp_client.protocol import models
from acp_client.session.text import AnswerText
from acp_client.session.usage import UsageReports
from acp_client.spec import Keep

Phase: TypeAlias = Literal["before", "running", "late", "closed"]
"""Before the prompt, text is no answer; late text (after the answer) is kept and counted; closed: recorded only."""

MUTATING_KINDS: Final = frozenset({"edit", "delete", "move", "execute"})
"""Kinds of tool calls that change something; `completed_without_asking` looks at these."""

JUDGED: Final = frozenset({"kind", "title", "name", "rawInput", "locations", "content"})
"""What a permission is decided by."""

MAX_KEPT_RAW: Final = 1000
"""Updates of kinds that we do not know, kept as they came; more are only counted."""

MAX_TOOL_CALLS: Final = 10_000
"""Distinct tool calls of one turn; the busiest turn seen had some hundred."""


class Turn:
    """Folds the updates of one session. No method raises for what an update holds; `malformed` counts the useless."""

    def __init__(self, max_output_bytes: int, keep: Keep = "all") -> None:
        self.phase: Phase = "before"
        self.answer = AnswerText(max_output_bytes, last_only=keep == "last_message")
        self.late_updates = 0
        self.malformed = 0
        self.thoughts = 0
        self.dropped = False
        self.unknown: list[dict[str, Any]] = []
        self.unknown_count = 0
        self.plan: list[Any] = []
        self.mode: str | None = None
        self.config_options: list[Any] = []
        self.commands: list[Any] = []
        self.session_info: dict[str, Any] = {}
        self.meter: Meter | None = None
        """Told of tool calls and usage where there is a budget; text never goes past it."""
        self.on_announced: Callable[[str, dict[str, Any]], None] = _pass_over  # told of a new call before the meter is
        self._usage = UsageReports()
        self._calls: dict[str, dict[str, Any]] = {}
        self._call_bytes: dict[str, dict[str, int]] = {}
        self._lost: dict[str, set[str]] = {}
        self._raw_left = max_output_bytes
        self._asked: set[str] = set()

    def fold(self, update: Any) -> None:
        """Take one `update` object of a `session/update` notification for this session."""
        if self.phase == "running" and type(update) is dict and update.get("sessionUpdate") == "agent_message_chunk":
            self._fold_answer(update)  # the hot path
            return
        if self.phase == "closed":
            self.late_updates += 1
            return
        if self.phase == "late":
            self.late_updates += 1
        if not isinstance(update, dict):
            self.malformed += 1
            return
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            self._fold_answer(update)
        else:
            fold = self._FOLDS.get(kind) if isinstance(kind, str) else None
            if fold is not None:
                fold(self, update)
            else:
                self._keep_raw(update)

    def ignores(self, update: dict[str, Any]) -> bool:
        """True for text that is no answer, since nothing was asked yet: a greeting, a history."""
        return self.phase == "before" and update.get("sessionUpdate") == "agent_message_chunk"

    def _fold_answer(self, update: dict[str, Any]) -> None:
        if self.phase == "before":
            return  # a greeting, a history: no answer to a prompt that was not sent
        content = update.get("content")
        message_id = given if type(given := update.get("messageId")) is str else None
        if type(content) is not dict or type(kind := content.get("type")) is not str:
            self.malformed += 1
        elif kind != "text":
            self.answer.add_block(content, _size(content), message_id)
        elif type(text := content.get("text")) is not str:
            self.malformed += 1
        elif text:
            self.answer.add(text, message_id)

    def _fold_thought(self, _update: dict[str, Any]) -> None:
        self.thoughts += 1

    def fold_tool_call(self, update: dict[str, Any]) -> None:
        """A `tool_call`, a `tool_call_update`, or the call inside a permission request: patch what is known of its id.

        Only given fields change; null means unchanged; an unseen id is created (ACP v1, tool calls).
        """
        call_id = update.get("toolCallId")
        if type(call_id) is not str:
            self.malformed += 1
            return
        known = self._calls.get(call_id)
        if known is None:
            self.on_announced(call_id, update)
            self.answer.break_message()
        if self.meter is not None and self.phase in ("running", "late"):
            self.meter.on_tool_call(call_id)
        if known is None and len(self._calls) >= MAX_TOOL_CALLS:
            self.dropped = True
            return
        changed = {key: value for key, value in update.items() if value is not None and key != "sessionUpdate"}
        sizes = {key: len(key) + _size(value) for key, value in changed.items()}
        before = self._call_bytes.get(call_id, {})
        grown = sum(sizes.values()) - sum(before.get(key, 0) for key in sizes)
        lost = self._lost.get(call_id, set()) - changed.keys()
        if grown > self._raw_left:
            self.dropped = True
            if known is not None:
                self._lost[call_id] = lost | (changed.keys() & JUDGED)
            return
        self._lost[call_id] = lost
        self._raw_left -= grown
        self._call_bytes[call_id] = before | sizes
        self._calls[call_id] = (known or {}) | changed

    def _fold_plan(self, update: dict[str, Any]) -> None:
        """A plan replaces the one before it (ACP v1, agent plan)."""
        entries = update.get("entries")
        self.plan = entries if isinstance(entries, list) else []

    def _fold_mode(self, update: dict[str, Any]) -> None:
        mode = update.get("currentModeId")
        self.mode = mode if isinstance(mode, str) else self.mode

    def _fold_options(self, update: dict[str, Any]) -> None:
        options = update.get("configOptions")
        self.config_options = options if isinstance(options, list) else self.config_options

    def _fold_commands(self, update: dict[str, Any]) -> None:
        commands = update.get("availableCommands")
        self.commands = commands if isinstance(commands, list) else self.commands

    def _fold_info(self, update: dict[str, Any]) -> None:
        """Here null clears and absence leaves unchanged (ACP v1, session list)."""
        self.session_info |= {key: update[key] for key in ("title", "updatedAt") if key in update}

    def _fold_usage(self, update: dict[str, Any]) -> None:
        self._usage.fold_update(update, self.meter)

    def fold_prompt_usage(self, usage: Any) -> None:
        """The `usage` of a prompt response, any JSON value."""
        self._usage.fold_answer(usage, self.meter)

    def _keep_raw(self, update: dict[str, Any]) -> None:
        self.unknown_count += 1
        size = _size(update)
        if len(self.unknown) < MAX_KEPT_RAW and size <= self._raw_left:
            self._raw_left -= size
            self.unknown.append(update)

    _FOLDS: ClassVar[dict[str, Callable[..., None]]] = {
        "agent_thought_chunk": _fold_thought,
        "user_message_chunk": lambda _turn, _update: None,  # what the agent echoes of the prompt is no answer
        "tool_call": fold_tool_call,
        "tool_call_update": fold_tool_call,
        "plan": _fold_plan,
        "current_mode_update": _fold_mode,
        "config_option_update": _fold_options,
        "available_commands_update": _fold_commands,
        "session_info_update": _fold_info,
        "usage_update": _fold_usage,
    }

    def note_asked(self, tool_call_id: str) -> None:
        """A permission was asked for this call; only one that is known can count."""
        if tool_call_id in self._calls:
            self._asked.add(tool_call_id)

    def call(self, tool_call_id: str) -> dict[str, Any]:
        """All that is known of a call, in wire names; empty for one that is not."""
        return dict(self._calls.get(tool_call_id, {}))

    def lacks(self, tool_call_id: str, given: Collection[str]) -> bool:
        """True if what was said of a call could not be kept, and is not given again: nobody knows what it is."""
        unknown = {"kind"} if self.dropped else set()  # who says its kind again says the rest too
        return not self._lost.get(tool_call_id, unknown) <= set(given)

    def open_calls(self) -> list[tuple[str, dict[str, Any]]]:
        """The calls that are announced and not closed, by id, in wire names; the first of them first."""
        return [(key, raw) for key, raw in self._calls.items() if raw.get("status") not in ("completed", "failed")]

    def kind_of(self, tool_call_id: str) -> str | None:
        """The kind under which a call was announced, if it was."""
        kind = self._calls.get(tool_call_id, {}).get("kind")
        return kind if isinstance(kind, str) else None

    @property
    def truncated(self) -> bool:
        """True if text was cut or an update left out for size."""
        return self.answer.truncated or self.dropped

    def usage(self) -> Usage:
        """What was reported; the source says by which way."""
        return self._usage.usage()

    def tool_calls(self) -> tuple[ToolCallState, ...]:
        """The calls in the order in which they were first seen."""
        return tuple(_state(call_id, raw) for call_id, raw in self._calls.items())

    def plan_entries(self) -> tuple[models.PlanEntry, ...]:
        """The last plan; entries that are none are left out."""
        return tuple(entry for entry in map(_plan_entry, self.plan) if entry is not None)

    def completed_without_asking(self) -> tuple[str, ...]:
        """Ids of calls that changed something, completed, and were not asked for."""
        return tuple(call_id for call_id in self._calls if self.is_unasked(call_id))

    def is_unasked(self, tool_call_id: str) -> bool:
        """True for a call that changed something, completed, and was not asked for."""
        completed = self._calls.get(tool_call_id, {}).get("status") == "completed"
        return completed and self.kind_of(tool_call_id) in MUTATING_KINDS and tool_call_id not in self._asked


def _size(value: Any) -> int:
    return len(to_json(value))


def _plan_entry(entry: Any) -> models.PlanEntry | None:
    try:
        return models.PlanEntry.from_wire(entry)
    except models.ModelError:
        return None


def _pass_over(_call_id: str, _update: dict[str, Any]) -> None:
    """Nobody waits to be told."""


def _state(call_id: str, raw: dict[str, Any]) -> ToolCallState:
    def word(key: str) -> str | None:
        value = raw.get(key)
        return value if isinstance(value, str) else None

    return ToolCallState(
        id=call_id, title=word("title"), name=word("name"), kind=word("kind"), status=word("status"), raw=raw
    )
