"""A form at the terminal: one field after another, each until what is typed fits it."""

from __future__ import annotations

from typing import Any, Final, Protocol

from acp_client.approvals.terminal.question import block
from acp_client.policy.approval import ApprovalRequest
from acp_client.policy.asking.forms import choices, fault, parse
from acp_client.policy.permission import Decision
from acp_client.protocol.models.elicitation import ElicitationProperty, ElicitationSchema, UnknownProperty

FIELD_LINES: Final = 12
"""Lines of the terminal that a field's texts may take."""

_LEFT_OUT: Final = object()


class Lines(Protocol):
    """What of a terminal is needed here."""

    @property
    def columns(self) -> int:
        """How wide it is."""

    def write(self, text: str) -> None:
        """Show text."""

    def line(self) -> str:
        """The next line."""


def fill_in(terminal: Lines, request: ApprovalRequest) -> Decision:
    """The form with values, or a rejection if it is not to be sent in the end."""
    form = ElicitationSchema.from_wire(dict(request.schema or {}))
    content = {}
    for name, field in form.properties.items():
        value = _ask(terminal, name, field, required=name in (form.required or ()))
        if value is not _LEFT_OUT:
            content[name] = value
    wrong = fault(form, content)
    if wrong is not None:
        return Decision.reject(f"the form cannot be filled in here: {wrong}")
    terminal.write("send it (y), or not? ")
    if terminal.line().strip().lower() in ("y", "yes"):
        return Decision.fill(content)
    return Decision.reject("filled in, and not sent")


def _ask(terminal: Lines, name: str, field: ElicitationProperty, *, required: bool) -> Any:
    default = getattr(field, "default", None)
    for line in _about(terminal, name, field, default):
        terminal.write(f"{line}\n")
    if isinstance(field, UnknownProperty):
        terminal.write("a field of a kind that is not known here: left out\n")
        return _LEFT_OUT
    what = _WHAT[field.type]
    empty = "empty: as it is now" if default is not None else "required" if required else "empty: left out"
    while True:
        terminal.write(f"{what} ({empty}): ")
        typed = terminal.line()
        if not typed.strip():
            if default is not None or not required:
                return _LEFT_OUT if default is None else default
            continue
        try:
            return parse(field, typed)
        except ValueError as error:
            terminal.write(f"{error}\n")


_WHAT: Final = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "y or n",
    "array": "numbers with commas between",
}


def _about(terminal: Lines, name: str, field: ElicitationProperty, default: Any) -> list[str]:
    """What the agent says of the field, behind the margin."""
    texts = [getattr(field, "title", None) or name, *(getattr(field, "description", None) or "").split("\n")]
    texts += [f"{number}  {title} ({value})" for number, (value, title) in enumerate(choices(field), 1)]
    texts += [f"now: {default}"] if default is not None else []
    return list(block("field", filter(None, texts), terminal.columns, FIELD_LINES))
