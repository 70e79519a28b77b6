"""What a person is asked, and when: approval modes by tool, reviewer roles, and the question itself. Pure data.

Owns `Approvals` (which tools ask, whom, for how long) and `ApprovalRequest` (what an approver gets). Who answers is an
approver's business: the terminal, a callback, the queue. Asking, and the memory of a conversation, is `session`'s.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from acp_client.frozen import Frozen
from acp_client.policy.match.fields import no_word_of, one_of
from acp_client.policy.match.paths import has_diff
from acp_client.policy.permission import Decision, PermissionRequest

ApprovalMode: TypeAlias = Literal["never_ask", "ask_on_first_use", "always_ask"]
MODES: Final[tuple[ApprovalMode, ...]] = get_args(ApprovalMode)
Role: TypeAlias = Literal["standard", "senior", "admin"]
Subject: TypeAlias = Literal["tool", "choice", "elicitation", "turn"]
"""What is asked about: a tool call; a choice that is no permission (a mode, a plan); a form; the next turn."""

ROLES: Final[tuple[Role, ...]] = ("standard", "senior", "admin")
"""In order: who holds a later one may also decide what wants an earlier one."""

DEFAULT_TIMEOUT_SECONDS: Final = 86_400.0
"""A day: the reviewer may be asleep."""

CHANGES_NOTHING: Final = frozenset({"read", "search", "think", "fetch"})
"""Kinds of tools that are not asked about where nobody has said how to."""


class ToolApproval(Frozen):
    """How one tool is asked about: its mode, and who may decide. `ToolApproval("always_ask", role="senior")`."""

    mode: Annotated[ApprovalMode, one_of(*MODES)]
    role: Role | None = None

    if TYPE_CHECKING:

        def __init__(self, mode: ApprovalMode, role: Role | None = None) -> None: ...

    else:

        def __init__(self, *words: str, **fields: Any) -> None:
            if len(words) > len(type(self).model_fields):
                raise TypeError(f"ToolApproval takes a mode and a role, and was given {len(words)} words")
            super().__init__(**dict(zip(("mode", "role"), words, strict=False)), **fields)


def _copied(overrides: Mapping[str, ApprovalMode | ToolApproval]) -> Mapping[str, ApprovalMode | ToolApproval]:
    return dict(overrides)


def _mode_or_both(value: Any) -> Any:
    """One thing to say of a word that is no mode, where two are possible."""
    if isinstance(value, str) and value not in MODES:
        raise ValueError(no_word_of(MODES, value))
    if not isinstance(value, str | Mapping | ToolApproval):
        raise ValueError("must be a mode, or ToolApproval(mode, role)")  # noqa: TRY004  # pydantic wants it
    return value


class Approvals(Frozen):
    """Which tool calls that are to be asked about are really asked, whom, and how long the answer may take.

    `overrides` are by tool name: an exact one, else the first glob that fits, upper and lower case told apart. A tool
    that sends no name has none. `default` is for the others; without one, a call that changes nothing is not asked
    about and others on first use, and on first use too what a rule says to ask about. `default_role` may decide where
    an override names no role. `after_turns`: after so many turns of a conversation, each further one waits for
    approval (0: every one). An approval that is not there after `timeout_seconds` ends the run.
    """

    default: ApprovalMode | None = None
    overrides: Annotated[
        Mapping[
            Annotated[str, Field(min_length=1)], Annotated[ApprovalMode | ToolApproval, BeforeValidator(_mode_or_both)]
        ],
        AfterValidator(_copied),
    ] = Field(default_factory=dict)
    after_turns: Annotated[int, Field(ge=0, strict=True)] | None = None
    default_role: Role = "standard"
    timeout_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)] = DEFAULT_TIMEOUT_SECONDS

    def __hash__(self) -> int:
        """Equal ones are equal keys; the overrides take no part."""
        return hash((self.default, self.after_turns, self.default_role, self.timeout_seconds))

    def of(self, request: PermissionRequest, *, explicit: bool) -> ToolApproval:
        """Mode and role for a call that is to be asked about; `explicit`: a rule says so, not the policy's default."""
        found = self._override(request.name)
        if found is None:
            found = self.default or _unsaid(request, explicit=explicit)
        mode, role = (found, None) if isinstance(found, str) else (found.mode, found.role)
        return ToolApproval(mode, role or self.default_role)

    def _override(self, tool: str | None) -> ApprovalMode | ToolApproval | None:
        if tool is None:
            return None
        fits = (how for glob, how in self.overrides.items() if fnmatchcase(tool, glob))
        return self.overrides.get(tool) or next(fits, None)

    def wants_turn(self, turns: int) -> bool:
        """True if the next turn of a conversation that has had so many waits for approval."""
        return self.after_turns is not None and turns >= self.after_turns


def _unsaid(request: PermissionRequest, *, explicit: bool) -> ApprovalMode:
    harmless = request.kind in CHANGES_NOTHING and not has_diff(request)
    return "never_ask" if harmless and not explicit else "ask_on_first_use"


def suffices(role: str | None, wanted: Role) -> bool:
    """True if who holds the role may decide; an approver that names no role vouches for its people itself."""
    return role is None or (role in ROLES and ROLES.index(role) >= ROLES.index(wanted))


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """One answer that the agent offers; `name` is the agent's text."""

    id: str
    name: str
    kind: str | None


@dataclass(frozen=True, slots=True)
class Diff:
    """A change of a file that the call announces; `old_text` is None for a new file."""

    path: str
    old_text: str | None
    new_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One question to a person. Every text in it but `id`, `run_id` and `role` is the agent's: print it safely.

    `asked_at` is in seconds since the epoch, `timeout_seconds` from then on. `schema` is the form's JSON Schema where
    `subject` is "elicitation". `remembers`: a yes counts for the same call again, in this conversation.
    """

    id: str
    subject: Subject
    agent: str
    run_id: str
    session_id: str | None
    tool: str | None
    kind: str
    title: str
    tool_call_id: str | None = None
    arguments: Any = None
    paths: tuple[str, ...] = ()
    diffs: tuple[Diff, ...] = ()
    options: tuple[OfferedOption, ...] = ()
    schema: Mapping[str, Any] | None = None
    role: Role = "standard"
    why: str | None = None
    asked_at: float = field(default_factory=time.time)
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    remembers: bool = False


Approver: TypeAlias = Callable[[ApprovalRequest], Awaitable[Decision]]
"""Answers one question. It is cancelled when the answer is of no use any more: the run ended, the time is up.

One that has a limit of its own raises TimeoutError when that is over, which ends the run as `approval_timeout`; any
other failure rejects.

An approver may say more of itself: `durable = True` (its questions outlive a terminal: `run_timeout_seconds` is off
unless it is set), `serves_forms = False` (agents are not told that they can ask for a form).
"""
