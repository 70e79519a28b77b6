"""What happens in a run, as a person reads it: one kind of item each, in the order in which it began.

Owns the shapes; they grow while their transcript is read. The values of a frame stand in them as they came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, ClassVar, Final, Literal, TypeAlias

from acp_client.record.format.lines import LOST
from acp_client.session.turn import MUTATING_KINDS

ENDED: Final = ("completed", "failed")
"""Statuses of a tool call that is over."""

Role: TypeAlias = Literal["user", "message", "thought"]


def word(value: object) -> str | None:
    """Text as it is, None for anything else and for nothing."""
    return value if isinstance(value, str) and value else None


def members(value: object) -> dict[str, Any]:
    """An object as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def number(value: object) -> float | None:
    """A number as it is, None for anything else and for what no clock can say."""
    return float(value) if type(value) in (int, float) and isfinite(value) else None  # type: ignore[arg-type]  # exact


@dataclass(slots=True, kw_only=True, eq=False)
class Item:
    """Something that began at `t` seconds of its run, None where the record does not say."""

    kind: ClassVar[str] = "item"
    t: float | None
    until: float | None = None
    """When it was over; None for what has no length, or is open."""

    @property
    def seconds(self) -> float | None:
        """How long it took, where that is known."""
        return None if self.t is None or self.until is None else max(0.0, self.until - self.t)

    @property
    def failed(self) -> bool:
        """True for what went wrong."""
        return False


@dataclass(slots=True, kw_only=True, eq=False)
class Said(Item):
    """Text of one message, thought or prompt, its pieces put together; `blocks` are those that are not text."""

    kind: ClassVar[str] = "said"
    role: Role
    session_id: str | None = None
    message_id: str | None = None
    pieces: list[str] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)


@dataclass(slots=True, kw_only=True, eq=False)
class Plan(Item):
    """The agent's plan, as it was from here on."""

    kind: ClassVar[str] = "plan"
    entries: list[dict[str, Any]]


@dataclass(slots=True, kw_only=True, eq=False)
class ToolCall(Item):
    """A tool call as its updates left it; `fields` are in wire names, later ones over earlier ones.

    `hearsay`: nobody here saw its wire, so that nothing follows from what is not told of it.
    """

    kind: ClassVar[str] = "tool"
    id: str
    session_id: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    permissions: list[Permission] = field(default_factory=list)
    hearsay: bool = False

    @property
    def title(self) -> str:
        """What it calls itself, else its name, else its id."""
        return word(self.fields.get("title")) or word(self.fields.get("name")) or self.id

    @property
    def tool_kind(self) -> str | None:
        """As the protocol names it: `read`, `edit`, `execute` and so on."""
        return word(self.fields.get("kind"))

    @property
    def status(self) -> str | None:
        """As it was told last."""
        return word(self.fields.get("status"))

    @property
    def failed(self) -> bool:
        """The agent says so."""
        return self.status == "failed"

    @property
    def unasked(self) -> bool:
        """True for one that changed something, completed, and was not asked for."""
        changed = self.status == "completed" and self.tool_kind in MUTATING_KINDS
        return changed and not self.permissions and not self.hearsay


@dataclass(slots=True, kw_only=True, eq=False)
class Permission(Item):
    """Something that was asked: what for, the options, the answer on the wire, and in `record` who gave it and why.

    `subject` is "tool", "choice", "elicitation" or "turn". `outcome` is None while nobody has answered.
    """

    kind: ClassVar[str] = "permission"
    subject: str = "tool"
    tool_call_id: str | None = None
    call: ToolCall | None = None
    params: dict[str, Any] = field(default_factory=dict)
    outcome: str | None = None
    option_id: str | None = None
    record: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        """What it is about."""
        asked = members(self.params.get("toolCall"))
        named = word(asked.get("title")) or word((self.record or {}).get("title")) or word(self.params.get("message"))
        return named or (self.call.title if self.call else None) or self.tool_call_id or self.subject

    @property
    def tool_kind(self) -> str | None:
        """The kind of the call that is asked about."""
        asked = word(members(self.params.get("toolCall")).get("kind"))
        return asked or word((self.record or {}).get("kind")) or (self.call.tool_kind if self.call else None)

    @property
    def options(self) -> list[dict[str, Any]]:
        """What was offered, in wire names or the record's."""
        offered = self.params.get("options") or (self.record or {}).get("options")
        return [option for option in offered if isinstance(option, dict)] if isinstance(offered, list) else []

    @property
    def option(self) -> dict[str, Any] | None:
        """The option that was picked."""
        if self.option_id is None:
            return None
        return next((one for one in self.options if self.option_id in (one.get("optionId"), one.get("id"))), None)

    @property
    def answer(self) -> Literal["open", "allowed", "denied", "cancelled", "answered"]:
        """In a word: "open" while it is not answered, "answered" for an option of no known kind."""
        if self.outcome is None:
            return "open"
        if self.outcome in ("accepted", "declined"):
            return "allowed" if self.outcome == "accepted" else "denied"
        action = (self.record or {}).get("action")
        if self.outcome != "selected":
            return "denied" if action == "reject" else "cancelled"
        option_kind = word((self.option or {}).get("kind")) or ""
        if option_kind.startswith(("allow", "reject")):
            return "allowed" if option_kind.startswith("allow") else "denied"
        return "allowed" if action == "allow" else "denied" if action == "reject" else "answered"

    @property
    def decided_by(self) -> str | None:
        """Who or which rule answered, where the record says so."""
        return word((self.record or {}).get("decided_by"))

    @property
    def why(self) -> str | None:
        """What it was answered so for."""
        return word((self.record or {}).get("why"))

    @property
    def waited(self) -> float | None:
        """Seconds until the answer."""
        told = number((self.record or {}).get("seconds"))
        return self.seconds if told is None else told


@dataclass(slots=True, kw_only=True, eq=False)
class HostCall(Item):
    """A call of one of the parent's functions, as the parent saw it."""

    kind: ClassVar[str] = "host"
    fields: dict[str, Any]

    @property
    def failed(self) -> bool:
        """It raised, or was not let through."""
        return self.fields.get("status") in ("failed", "rejected")


@dataclass(slots=True, kw_only=True, eq=False)
class Request(Item):
    """Any other request, of the client (`by_client`) or of the agent, with its answer once there is one."""

    kind: ClassVar[str] = "request"
    method: str
    by_client: bool
    params: Any = None
    result: Any = None
    error: Any = None
    notification: bool = False

    @property
    def failed(self) -> bool:
        """It was answered with an error."""
        return self.error is not None


@dataclass(slots=True, kw_only=True, eq=False)
class Output(Item):
    """What the agent wrote to stderr, or to stdout where it was no frame (`noise`)."""

    kind: ClassVar[str] = "stderr"
    pieces: list[str]
    noise: bool = False

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)


@dataclass(slots=True, kw_only=True, eq=False)
class Other(Item):
    """An update or a note of a kind that needs no item of its own: modes, commands, what was lost."""

    kind: ClassVar[str] = "other"
    name: str
    fields: Any

    @property
    def failed(self) -> bool:
        """Part of the record is missing."""
        return self.name == LOST
