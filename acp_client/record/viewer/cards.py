"""One item of a run as a card: a heading in words and a body in sections, for whoever draws it.

Owns what of an item is shown, and in which order; a terminal and the page draw the same cards. All texts are safe.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from acp_client.record.format.lines import LOST
from acp_client.record.tree.fold import VALUE
from acp_client.record.tree.items import (
    ENDED,
    HostCall,
    Item,
    Other,
    Output,
    Permission,
    Plan,
    Request,
    Said,
    ToolCall,
    members,
    word,
)
from acp_client.record.viewer.diffs import diff
from acp_client.record.viewer.words import (
    ANSWER_TONES,
    Tone,
    answer,
    answered_by,
    asked_for,
    block,
    line,
    pairs,
    value_text,
)

Group: TypeAlias = Literal["messages", "thoughts", "tools", "permissions", "plans", "output", "protocol"]
"""What can be shown or left out together."""
CALL_ID: Final = "call id"
WHO: Final = "who answered"
WHY: Final = "why"
"""Names that whoever draws a card looks for."""
SectionType: TypeAlias = Literal["text", "code", "diff", "pairs", "link"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a card's body. `content`: a text, or for "pairs" names and texts."""

    type: SectionType
    heading: str
    content: str | list[tuple[str, str]]


@dataclass(slots=True, kw_only=True)
class Card:
    """`badge` is the state in a word, `note` what else the heading says; `open`: the body is shown from the start."""

    group: Group
    label: str
    title: str = ""
    badge: str = ""
    tone: Tone = ""
    note: str = ""
    bad: bool = False
    open: bool = False
    body: list[Section] = field(default_factory=list)


def card(item: Item) -> Card:
    """The card of any item."""
    return _CARDS[type(item)](item)


def _said(item: Said) -> Card:
    labels: dict[str, str] = {"user": "prompt", "message": "message", "thought": "thought"}
    is_thought = item.role == "thought"
    text = block(item.text)
    title = line(item.text.strip().split("\n", 1)[0])
    body = [] if text.strip() == title else [Section("text", "", text)]
    return Card(
        group="thoughts" if is_thought else "messages",
        label=labels[item.role],
        title=title or ("" if item.blocks else "(no text)"),
        open=not is_thought,
        body=[*body, *(_content_block(one) for one in item.blocks)],
    )


def _content_block(content: dict[str, Any]) -> Section:
    """A block that is no text; its data is told by its size."""
    kind = line(content.get("type") or "block")
    resource = members(content.get("resource"))
    if kind == "resource_link" and word(content.get("uri")):
        return Section("link", line(content.get("name") or "link"), line(content["uri"]))
    if kind == "resource" and word(resource.get("text")):
        return Section("code", line(resource.get("uri") or kind), block(resource["text"]))
    data = word(content.get("data")) or word(resource.get("blob"))
    if data is not None:
        mime = line(content.get("mimeType") or resource.get("mimeType") or kind)
        return Section("text", "", f"{kind}: {mime}, {len(data) * 3 // 4:,} bytes, not shown")
    return Section("code", kind, value_text(content))


def _plan(item: Plan) -> Card:
    done = sum(entry.get("status") == "completed" for entry in item.entries)
    now = [line(entry.get("content")) for entry in item.entries if entry.get("status") == "in_progress"]
    steps = [(line(entry.get("status") or "pending"), line(entry.get("content"))) for entry in item.entries]
    return Card(
        group="plans",
        label="plan",
        title=f"{done} of {len(item.entries)} done" + (f"; now: {', '.join(now)}" if now else ""),
        body=[Section("pairs", "", steps)] if steps else [],
    )


_STATUS_TONES: Final[dict[str, Tone]] = {"completed": "good", "failed": "bad", "rejected": "bad", "cancelled": "warn"}


def _tool(item: ToolCall) -> Card:
    status = item.status or "pending"
    notes = [line(item.tool_kind) if item.tool_kind else "", *(_asked_note(one) for one in item.permissions)]
    if item.unasked:
        notes.append("without asking")
    output = item.fields.get("rawOutput")
    shown = [
        Section("pairs", "where", _locations(item.fields.get("locations"))),
        Section("pairs", "arguments", pairs(item.fields.get("rawInput"))),
        *_contents(item.fields.get("content")),
        Section("pairs", "raw output", pairs(output) if output not in ("", [], {}) else []),
        Section("pairs", "", [(CALL_ID, line(item.id))]),
    ]
    return Card(
        group="tools",
        label="tool",
        title=line(item.title),
        badge=line(status.replace("_", " ")),
        tone=_STATUS_TONES.get(status, "ask" if status not in ENDED else ""),
        note=", ".join(note for note in notes if note),
        bad=item.failed,
        open=item.failed,
        body=[section for section in shown if section.content],
    )


def _asked_note(item: Permission) -> str:
    by = answered_by(item)
    return item.answer + (f" by {by}" if by else "") if item.outcome else "asked, not answered"


def _locations(value: object) -> list[tuple[str, str]]:
    places = [place for place in value if isinstance(place, dict)] if isinstance(value, list) else []
    return [
        ("", line(place.get("path")) + (f":{line(place['line'])}" if place.get("line") is not None else ""))
        for place in places
    ]


def _contents(value: object) -> list[Section]:
    return [_content(one) for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _content(content: dict[str, Any]) -> Section:
    """A piece of what a tool call shows (ACP v1, tool call content)."""
    kind, inner = content.get("type"), members(content.get("content"))
    if kind == "diff" and isinstance(content.get("newText"), str):
        old = content.get("oldText")
        shown = diff(old if isinstance(old, str) else None, content["newText"])
        path = line(content.get("path") or "diff")
        return Section("diff", path if isinstance(old, str) else f"{path} (new)", block(shown) or "(no change)")
    if kind == "terminal":
        return Section("text", "", f"terminal {line(content.get('terminalId'))}")
    if inner.get("type") == "text" and isinstance(inner.get("text"), str):
        return Section("code", "output", block(inner["text"]) or "(empty)")
    return _content_block(inner or content)


def _permission(item: Permission) -> Card:
    by = answered_by(item)
    return Card(
        group="permissions",
        label="asked",
        title=asked_for(item),
        badge=item.answer if item.answer != "open" else "not answered",
        tone=ANSWER_TONES[item.answer],
        note=(f"by {by}" if by else "") + (f": {line(item.why)}" if item.why else ""),
        open=item.answer not in ("allowed", "answered"),
        body=[section for section in (_who_answered(item), *_what_was_asked(item)) if section.content],
    )


def _who_answered(item: Permission) -> Section:
    rule = word((item.record or {}).get("rule"))
    told = [
        ("answer", answer(item)),
        (WHO, answered_by(item) or ("nobody" if item.answer == "open" else "the record does not say")),
        (WHY, block(item.why) if item.why else ""),
        ("rule", line(rule) if rule and rule != item.decided_by else ""),
    ]
    return Section("pairs", "", [(name, text) for name, text in told if text])


def _what_was_asked(item: Permission) -> list[Section]:
    asked = members(item.params.get("toolCall"))
    known = item.call.fields if item.call else {}
    options = [
        (line(option.get("kind") or "option"), line(option.get("name") or option.get("optionId") or option.get("id")))
        for option in item.options
    ]
    return [
        Section("pairs", "options offered", options),
        Section("pairs", "where", _locations(asked.get("locations") or known.get("locations"))),
        Section("pairs", "arguments", pairs(asked.get("rawInput") or known.get("rawInput"))),
        *_contents(asked.get("content")),
        Section("pairs", "form", pairs(item.params.get("requestedSchema"))),
    ]


def _host(item: HostCall) -> Card:
    status = line(item.fields.get("status") or "running")
    error = word(item.fields.get("error"))
    body = [
        Section("pairs", "arguments", pairs(item.fields.get("arguments"))),
        Section("code", "error", block(error) if error else ""),
    ]
    return Card(
        group="tools",
        label="host tool",
        title=line(item.fields.get("name") or "?"),
        badge=status,
        tone=_STATUS_TONES.get(status, "ask"),
        note=f"of the parent; {line(error)}" if error else "of the parent",
        bad=item.failed,
        open=item.failed,
        body=[section for section in body if section.content],
    )


def _request(item: Request) -> Card:
    error = members(item.error)
    answered = item.until is not None or item.result is not None or item.failed
    title = line(item.method) if item.by_client else f"{line(item.method)} (of the agent)"
    failed = f"error {line(error.get('code'))}: {line(error.get('message'))}" if item.failed else ""
    body = [
        Section("pairs", "params", pairs(item.params)),
        Section("pairs", "answer", pairs(item.result)),
        Section("pairs", "error", pairs(item.error)),
    ]
    return Card(
        group="protocol",
        label="notice" if item.notification else "request",
        title=title,
        badge="failed" if item.failed else "" if answered or item.notification else "not answered",
        tone="bad" if item.failed else "warn",
        note=failed,
        bad=item.failed,
        open=item.failed,
        body=[section for section in body if section.content],
    )


def _output(item: Output) -> Card:
    text = block(item.text.rstrip("\n"))
    lines = [one for one in text.split("\n") if one.strip()]
    more = f"(and {len(lines) - 1} lines more)" if len(lines) > 1 else ""
    return Card(
        group="output",
        label="stdout" if item.noise else "stderr",
        title=line(lines[0]) if lines else "(blank)",
        note=" ".join(part for part in (more, "no frame" if item.noise else "") if part),
        body=[Section("code", "", text)],
    )


def _other(item: Other) -> Card:
    told = [Section("pairs", "", found)] if (found := pairs(item.fields)) else []
    if item.name == VALUE:
        return Card(group="messages", label=VALUE, title="the structured answer", body=told)
    if item.name == LOST:
        title = "part of the record is missing"
        return Card(group="output", label=LOST, title=title, tone="bad", bad=True, open=True, body=told)
    return Card(group="protocol", label="note", title=line(item.name), body=told)


_CARDS: Final[dict[type[Item], Callable[[Any], Card]]] = {
    Said: _said,
    Plan: _plan,
    ToolCall: _tool,
    Permission: _permission,
    HostCall: _host,
    Request: _request,
    Output: _output,
    Other: _other,
}
