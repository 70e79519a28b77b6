"""Answers to permission requests: pure functions from what is asked and what was decided to the option that is sent.

Owns the choice of an option, by its `kind` alone. Leaves asking the caller's policy to `session`.
(ACP v1, tool calls, requesting permission.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from acp_client.protocol import models
from acp_client.safe_text import printable

Action: TypeAlias = Literal["allow", "reject"]

TOOL_KINDS: Final = frozenset({"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"})
"""Kinds of ACP v1 that mean a tool. `switch_mode` is one too on the wire, but asks for something else."""

MAX_ACTION_CHARS: Final = 40
"""What a message keeps of an action that is none."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What the agent asks. `kind` is its own, else that of the call announced under the same id, else "other".

    `raw` is all that is known of the tool call: what was announced under its id, patched by the request. Every text
    in it is the agent's: make it safe before a terminal shows it. `cwd` and `roots` are those of the session: where a
    relative path starts, and the directories that the agent was given.
    """

    session_id: str | None
    tool_call_id: str
    title: str | None
    name: str | None
    kind: str
    options: tuple[models.PermissionOption, ...]
    raw: Mapping[str, Any]
    agent: str = ""
    run_id: str = ""
    cwd: str = "/"
    roots: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that the call says it touches: its locations, then the files of its diffs."""
        places = [place for key in ("locations", "content") for place in _dicts(self.raw.get(key))]
        return tuple(dict.fromkeys(place["path"] for place in places if isinstance(place.get("path"), str)))

    @property
    def arguments(self) -> Any:
        """What the tool is called with (`rawInput`), None where the agent does not say."""
        return self.raw.get("rawInput")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_FIELDS: Final[Mapping[str, tuple[Any, str]]] = {
    "why": (str | None, "a text or None"),
    "decided_by": (str, "a text"),
    "role": (str | None, "a text or None"),
    "option_id": (str | None, "a text or None"),
    "content": (Mapping | None, "a mapping or None"),
}
"""Of a Decision, beside its action."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Allow or reject, and why. `decided_by` names who did: a rule, a person, a policy; `role` the person's role.

    `option_id` picks one option by its id, for a choice that is no permission; `content` is a form, filled in.

    Raises ValueError for another action, TypeError for a field of another type.
    """

    action: Action
    why: str | None = None
    decided_by: str = "callable"
    role: str | None = None
    option_id: str | None = None
    content: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """What would decide nothing is told here, where it is made."""
        if self.action not in ("allow", "reject"):
            given = printable(repr(self.action), max_chars=MAX_ACTION_CHARS)
            raise ValueError(f'action must be "allow" or "reject", not {given}; see Decision.allow and Decision.reject')
        for name, (kind, rule) in _FIELDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} must be {rule}, not {type(value).__name__}")

    @classmethod
    def allow(cls, why: str | None = None) -> Decision:
        """Let the agent do it."""
        return cls("allow", why)

    @classmethod
    def reject(cls, why: str | None = None) -> Decision:
        """Do not let the agent do it."""
        return cls("reject", why)

    @classmethod
    def select(cls, option_id: str, why: str | None = None) -> Decision:
        """Send this option, whatever it means: for a choice that is no permission, such as between two plans."""
        return cls("allow", why, option_id=option_id)

    @classmethod
    def fill(cls, content: Mapping[str, Any], why: str | None = None) -> Decision:
        """Accept a form with these values."""
        return cls("allow", why, content=content)


PermissionCallable: TypeAlias = Callable[[PermissionRequest], Awaitable[Decision] | Decision]
"""The caller's policy: async, or a plain function, which must not block, for it is called in the event loop."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is sent: an option, or the outcome `cancelled` where there is none to send."""

    outcome: Literal["selected", "cancelled"]
    option: models.PermissionOption | None = None
    wider: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The result of `session/request_permission`; the id is echoed exactly."""
        if self.option is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": self.option.option_id}}


CANCELLED: Final = Choice("cancelled")

ALLOWING: Final = frozenset({"allow_once", "allow_always"})

PREFERENCE: Final[Mapping[Action, tuple[str, ...]]] = {
    # Without an option to allow with, the answer is a rejection: never a cancelled turn, never another meaning.
    "allow": ("allow_once", "allow_always", "reject_once", "reject_always"),
    "reject": ("reject_once", "reject_always"),
}


def choose(action: Action, options: Sequence[models.PermissionOption]) -> Choice:
    """The option for a decision, by kind: order, ids and names of options mean nothing. Never an allow for a reject."""
    allowing = {option.option_id for option in options if option.kind in ALLOWING}
    refusing = {option.option_id for option in options if option.kind not in ALLOWING}
    for kind in PREFERENCE[action]:
        for option in options:
            # An id that stands for both says nothing: the agent could read it as the other.
            if option.kind == kind and option.option_id not in allowing & refusing:
                return Choice("selected", option, wider=kind == "allow_always")
    return CANCELLED
