"""What an agent asks leave for, and who answered: the frames on the wire and the notes of the parent put together.

Owns which note belongs to which request: the oldest one of its tool call that has none yet. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_client.record.tree.items import Item, Permission, ToolCall, members, word


class Asked:
    """The requests of one run; new items go to `add`. `told`: at least one note said who answered."""

    def __init__(self, calls: dict[tuple[str | None, str], ToolCall], add: Callable[[Item], None]) -> None:
        self.told = False
        self._calls = calls
        self._add = add
        self._unexplained: list[Permission] = []

    def ask(self, method: str, params: dict[str, Any], t: float | None) -> Permission:
        """A request; the tool call in it is announced, or changed, by that (ACP v1, requesting permission)."""
        is_form = method == "elicitation/create"
        asked = members(params.get("toolCall"))
        call_id = word(params.get("toolCallId") if is_form else asked.get("toolCallId"))
        call = self._call(word(params.get("sessionId")), call_id, asked, t)
        item = Permission(
            t=t, subject="elicitation" if is_form else "tool", tool_call_id=call_id, call=call, params=params
        )
        if call is not None:
            call.permissions.append(item)
        self._add(item)
        self._unexplained.append(item)
        return item

    def _call(
        self, session_id: str | None, call_id: str | None, asked: dict[str, Any], t: float | None
    ) -> ToolCall | None:
        if call_id is None:
            return None
        call = self._calls.get((session_id, call_id))
        if call is None and asked:
            call = self._calls[session_id, call_id] = ToolCall(t=t, id=call_id, session_id=session_id)
            self._add(call)
        if call is not None:
            call.fields |= {name: value for name, value in asked.items() if value not in (None, [], {})}
        return call

    def answer(self, item: Permission, message: dict[str, Any]) -> None:
        """The answer on the wire."""
        result = members(message.get("result"))
        if item.subject == "elicitation":
            action = word(result.get("action"))
            item.outcome = {"accept": "accepted", "decline": "declined"}.get(action or "", "cancelled")
            return
        outcome = members(result.get("outcome"))
        item.outcome = word(outcome.get("outcome")) or "cancelled"
        item.option_id = word(outcome.get("optionId"))

    def note(self, record: dict[str, Any], t: float | None) -> Permission:
        """What the parent says of an answer; of one that was never asked on the wire (a turn) it is all there is."""
        self.told = True
        call_id = word(record.get("tool_call_id"))
        subject = word(record.get("subject")) or "tool"
        item = next((one for one in self._unexplained if _fits(one, subject, call_id)), None)
        if item is None:
            item = Permission(t=t, until=t, subject=subject, tool_call_id=call_id)
            self._add(item)
        else:
            self._unexplained.remove(item)
        item.record = record
        item.subject = subject
        item.outcome = item.outcome or word(record.get("outcome"))
        item.option_id = item.option_id or word(record.get("option_id"))
        return item


def _fits(item: Permission, subject: str, call_id: str | None) -> bool:
    if subject == "turn":
        return False
    if (subject == "elicitation") != (item.subject == "elicitation"):
        return False
    return item.tool_call_id == call_id or (subject == "elicitation" and not item.tool_call_id)
