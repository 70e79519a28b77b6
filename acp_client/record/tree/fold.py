"""The lines of one transcript, in wire order, folded into a run. Pure.

Owns which frames make which items, and what belongs to one. Never raises for what a frame holds: what has no shape
that is known is kept as it came, under `Request` or `Other`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar, Final

from acp_client.record.format.lines import (
    END,
    HOST_TOOL,
    PERMISSION,
    TO_AGENT,
    TO_CLIENT,
    Direction,
    Frame,
    Header,
    Line,
    Note,
)
from acp_client.record.format.lines import Stderr as StderrLine
from acp_client.record.tree.asked import Asked
from acp_client.record.tree.items import (
    ENDED,
    HostCall,
    Item,
    Other,
    Output,
    Permission,
    Plan,
    Request,
    Role,
    Said,
    ToolCall,
    members,
    number,
    word,
)
from acp_client.record.tree.runs import Run
from acp_client.session.extension import TRACE_KEY, extension_in
from acp_client.session.usage import UsageReports

VALUE: Final = "value"
"""The name of the item for the structured value that a run ended with."""
_ROLES: Final[dict[str, Role]] = {
    "agent_message_chunk": "message",
    "agent_thought_chunk": "thought",
    "user_message_chunk": "user",
}


def fold(lines: Iterable[Line], source: str = "") -> Run:
    """All lines of a transcript as a run."""
    folding = Folding(source)
    for line in lines:
        folding.feed(line)
    return folding.run


class Folding:
    """One transcript as it is read. `run` is what is known so far; `feed` says which items a line began or changed."""

    def __init__(self, source: str = "") -> None:
        self.run = Run(source=source)
        self._open: dict[tuple[Direction, str], Permission | Request] = {}
        self._calls: dict[tuple[str | None, str], ToolCall] = {}
        self._usage = UsageReports()
        self._asked = Asked(self._calls, self._add)
        self._host_calls: dict[Any, HostCall] = {}
        self._said: Said | None = None
        self._touched: list[Item] = []

    def feed(self, line: Line) -> list[Item]:
        """Take the next line."""
        self._touched = []
        if isinstance(line, Header):
            self.run.header = self.run.header or line
            return []
        if line.t is not None and number(line.t) is None:
            line = replace(line, t=None)
        if line.t is not None:
            self.run.last_t = line.t if self.run.last_t is None else max(line.t, self.run.last_t)
        if isinstance(line, Frame):
            self._frame(line)
        elif isinstance(line, StderrLine):
            self._output(line.text, line.t, noise=False)
        else:
            self._note(line)
        return self._touched

    def _add(self, item: Item) -> None:
        self.run.items.append(item)
        self._touched.append(item)

    def _output(self, text: str, t: float | None, *, noise: bool) -> None:
        last = self.run.items[-1] if self.run.items else None
        if isinstance(last, Output) and last.noise == noise:
            last.pieces.append(text)
            self._touched.append(last)
        else:
            self._add(Output(t=t, pieces=[text], noise=noise))

    # ------------------------------------------------------------ frames

    def _frame(self, frame: Frame) -> None:
        message = frame.message
        if message is None:
            self._output(f"{frame.raw}\n", frame.t, noise=True)
        elif isinstance(method := message.get("method"), str):
            params = message.get("params")
            if method == "session/update" and frame.direction != TO_AGENT:
                self._update(members(params), frame.t)
            else:
                self._request(method, params, frame)
        else:
            self._answer(message, frame)

    def _request(self, method: str, params: Any, frame: Frame) -> None:
        assert frame.message is not None  # the caller has looked
        self._said = None
        is_notification = "id" not in frame.message
        if method in ("session/request_permission", "elicitation/create"):
            item: Permission | Request = self._asked.ask(method, members(params), frame.t)
        else:
            by_client = frame.direction == TO_AGENT
            item = Request(t=frame.t, method=method, by_client=by_client, params=params, notification=is_notification)
            self._add(item)
            if method == "session/prompt":
                self._prompt(members(params), frame.t)
        if not is_notification:
            self._open[frame.direction, repr(frame.message["id"])] = item

    def _prompt(self, params: dict[str, Any], t: float | None) -> None:
        blocks = params.get("prompt")
        said = Said(t=t, role="user", session_id=word(params.get("sessionId")))
        for block in blocks if isinstance(blocks, list) else ():
            if said.pieces and _text(block) is not None:
                said.pieces.append("\n")
            _put(said, block)
        self._add(said)

    def _answer(self, message: dict[str, Any], frame: Frame) -> None:
        asked_by: Direction = TO_CLIENT if frame.direction == TO_AGENT else TO_AGENT
        item = self._open.pop((asked_by, repr(message.get("id"))), None)
        if item is None:
            self._add(Other(t=frame.t, name="an answer to nothing", fields=message))
            return
        item.until = frame.t
        self._touched.append(item)
        if isinstance(item, Permission):
            self._asked.answer(item, message)
        else:
            self._answered(item, message)

    def _answered(self, item: Request, message: dict[str, Any]) -> None:
        item.result, item.error = message.get("result"), message.get("error")
        result = members(item.result)
        if item.method == "initialize":
            self.run.agent_name = word(members(result.get("agentInfo")).get("name"))
        elif item.method == "session/prompt":
            self._said = None
            self._usage.fold_answer(result.get("usage"), None)
            self.run.usage = self._usage.usage()
            self.run.told = _list(extension_in(result).get(TRACE_KEY)) or self.run.told

    # ------------------------------------------------------------ updates

    def _update(self, params: dict[str, Any], t: float | None) -> None:
        update = members(params.get("update"))
        kind = word(update.get("sessionUpdate")) or "update"
        session_id = word(params.get("sessionId"))
        if (role := _ROLES.get(kind)) is not None:
            self._say(role, update, session_id, t)
        elif kind in ("tool_call", "tool_call_update") and isinstance(update.get("toolCallId"), str):
            self._tool_call(update, session_id, t)
        else:
            fold: Callable[..., None] = self._UPDATES.get(kind, Folding._keep)
            fold(self, update, t)

    def _say(self, role: Role, update: dict[str, Any], session_id: str | None, t: float | None) -> None:
        message_id = word(update.get("messageId"))
        said = self._said
        if said is None or (said.role, said.session_id, said.message_id) != (role, session_id, message_id):
            said = self._said = Said(t=t, role=role, session_id=session_id, message_id=message_id)
            self._add(said)
        else:
            self._touched.append(said)
        said.until = t
        _put(said, update.get("content"))

    def _tool_call(self, update: dict[str, Any], session_id: str | None, t: float | None) -> None:
        key = session_id, str(update["toolCallId"])
        call = self._calls.get(key)
        if call is None:
            self._said = None
            call = self._calls[key] = ToolCall(t=t, id=key[1], session_id=session_id)
            self._add(call)
        else:
            self._touched.append(call)
        call.fields |= {name: value for name, value in update.items() if value is not None and name != "sessionUpdate"}
        if call.status not in ENDED:
            call.until = None
        elif call.until is None:
            call.until = t

    def _plan(self, update: dict[str, Any], t: float | None) -> None:
        entries = update.get("entries")
        kept = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        self._add(Plan(t=t, entries=kept))

    def _see_usage(self, update: dict[str, Any], _t: float | None) -> None:
        self._usage.fold_update(update, None)
        self.run.usage = self._usage.usage()

    def _keep(self, update: dict[str, Any], t: float | None) -> None:
        fields = {name: value for name, value in update.items() if name != "sessionUpdate"}
        self._add(Other(t=t, name=word(update.get("sessionUpdate")) or "update", fields=fields))

    _UPDATES: ClassVar[dict[str, Callable[..., None]]] = {"plan": _plan, "usage_update": _see_usage}

    # ------------------------------------------------------------ notes

    def _note(self, note: Note) -> None:
        if note.kind == PERMISSION:
            self._touched.append(self._asked.note(_record(note, "record", "permission"), note.t))
        elif note.kind == HOST_TOOL:
            self._host_call(_record(note, "record", "call"), note.t)
        elif note.kind == END:
            self.run.result, self.run.ended = members(note.fields.get("result")), note.t
            self._take_over(self.run.result)
            if (value := self.run.result.get("structured")) is not None:
                self._add(Other(t=note.t, name=VALUE, fields=value))
        else:
            self._add(Other(t=note.t, name=note.kind or "note", fields=note.fields))

    def _host_call(self, fields: dict[str, Any], t: float | None) -> None:
        """Told as it ended; one that was told before, by its ordinal, is told on."""
        took = number(fields.get("seconds")) or 0.0
        ordinal = fields.get("ordinal") if isinstance(fields.get("ordinal"), int) else len(self._host_calls) + 1
        known = self._host_calls.get(ordinal)
        if known is None:
            known = HostCall(t=None if t is None else max(0.0, t - took), until=t, fields=fields)
            self._host_calls[ordinal] = known
            self._add(known)
        else:
            known.fields, known.until = known.fields | fields, t
            self._touched.append(known)

    def _take_over(self, result: dict[str, Any]) -> None:
        """What the notes on the way did not say."""
        self.run.told = self.run.told or _list(result.get("nested_trace"))
        if not self._asked.told:
            for record in _list(result.get("permissions")):
                self._touched.append(self._asked.note(record, None))
        if not self._host_calls:
            for call in _list(result.get("host_tool_calls")):
                self._host_call(call, None)


def _record(note: Note, *names: str) -> dict[str, Any]:
    """The record in a note: its members, or an object in one of them."""
    return next((members(note.fields[name]) for name in names if isinstance(note.fields.get(name), dict)), note.fields)


def _list(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(block: object) -> str | None:
    content = members(block)
    return word(content.get("text")) if content.get("type") == "text" else None


def _put(said: Said, block: object) -> None:
    """One block into a message."""
    text = _text(block)
    if text is not None:
        said.pieces.append(text)
    elif isinstance(block, dict) and block.get("type") != "text":
        said.blocks.append(block)
