"""Rules that decide permission requests without a person: first match wins, and there is always a default.

Owns `Rule`, `PermissionPolicy` and the presets. Which option is sent for a decision is `permission`'s business; asking
a person is `session`'s. All of it goes by what the agent says of its call: a rule is no sandbox.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator

from acp_client.frozen import Frozen
from acp_client.policy.approval import Approvals
from acp_client.policy.match.fields import absolute, as_list, checked_glob, one_of
from acp_client.policy.match.globs import certainly_matches, perhaps_matches
from acp_client.policy.match.paths import Places, has_diff
from acp_client.policy.permission import TOOL_KINDS, PermissionRequest
from acp_client.safe_text import printable

RuleAction: TypeAlias = Literal["allow", "reject", "ask"]

CHANGING: Final = frozenset({"edit", "delete", "move"})
"""Kinds that a call with a diff may have without being an edit as well."""
WHOLE_TREES: Final = frozenset({"delete", "move", "search"})
"""Kinds that touch all that lies under a path: one of these above a rule's directory touches that too."""
MAX_KIND_CHARS: Final = 100
"""What a reason keeps of a kind that the agent made up."""

KINDS: Final = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
"""`models.ToolKind`, without its chapter: a test compares."""
_Kinds: TypeAlias = tuple[Annotated[str, one_of(*KINDS)], ...]
_Globs: TypeAlias = tuple[Annotated[str, BeforeValidator(checked_glob)], ...]
_Paths: TypeAlias = tuple[Annotated[str, BeforeValidator(absolute)], ...]


class Rule(Frozen):
    """What to do with the requests that it matches: those that fit every field that is given.

    `kind`: words of ACP. `tool`, `title`: globs over the tool's name and the call's title. `path`: directories (or
    files), made absolute when built. Each is one text or several, any of which may fit. A field that is given does not
    match a request that says nothing of it.

    In doubt a rule that allows does not match, and one that rejects or asks does:

    - kind: a call with a diff is an edit too, unless it deletes or moves. To allow, all its kinds must be listed.
    - tool, title: to allow, the text must match to the letter, be one line, and hold nothing unseen. Else any line
      will do, whatever its case, accents, widths and unseen characters.
    - path: to allow, every path of the call must lie inside, after links. Else one is enough; for a delete, move or
      search also one above. See `match.paths.Places` for what cannot be placed.
    """

    action: Annotated[RuleAction, one_of("allow", "reject", "ask")]
    kind: Annotated[_Kinds | None, BeforeValidator(as_list)] = None
    tool: Annotated[_Globs | None, BeforeValidator(as_list)] = None
    title: Annotated[_Globs | None, BeforeValidator(as_list)] = None
    path: Annotated[_Paths | None, BeforeValidator(as_list)] = None

    if TYPE_CHECKING:  # what may be passed is wider than what is kept

        def __init__(
            self,
            *,
            action: RuleAction,
            kind: str | Sequence[str] | None = None,
            tool: str | Sequence[str] | None = None,
            title: str | Sequence[str] | None = None,
            path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        ) -> None: ...

    def matches(self, request: PermissionRequest, places: Callable[[], Places]) -> bool:
        """True if every field that is given fits. The places are asked for only where a path decides."""
        return (
            self._fits_kind(request)
            and self._fits_text(request.name, self.tool)
            and self._fits_text(request.title, self.title)
            and self._fits_path(request, places)
        )

    def _fits_kind(self, request: PermissionRequest) -> bool:
        if self.kind is None:
            return True
        fitting = [kind in self.kind for kind in kinds_of(request)]
        return all(fitting) if self.action == "allow" else any(fitting)

    def _fits_text(self, text: str | None, globs: tuple[str, ...] | None) -> bool:
        if globs is None:
            return True
        return certainly_matches(text, globs) if self.action == "allow" else perhaps_matches(text, globs)

    def _fits_path(self, request: PermissionRequest, places: Callable[[], Places]) -> bool:
        if self.path is None:
            return True
        if self.action == "allow":
            return places().all_inside(self.path)
        return places().any_inside(self.path, whole_trees=request.kind in WHOLE_TREES)

    def __str__(self) -> str:
        """In words: `allow kind read or search, path /data`."""
        fields = (("kind", self.kind), ("tool", self.tool), ("title", self.title), ("path", self.path))
        words = ", ".join(f"{name} {' or '.join(map(printable, values))}" for name, values in fields if values)
        return f"{self.action} {words or 'everything'}"


def kinds_of(request: PermissionRequest) -> frozenset[str]:
    """Its own kind; and "edit" for a call that shows a change of a file under another."""
    return frozenset({request.kind, "edit"} if has_diff(request) and request.kind not in CHANGING else {request.kind})


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a policy says of one request. `by` names what decided: a rule in words, the default, a preset.

    `explicit` is True where a rule said so, not the default; `rule` is then its number, from 1. `why` says why an
    allow became an ask.
    """

    action: RuleAction
    by: str
    explicit: bool
    why: str | None = None
    rule: int | None = None


def _in_order(value: Any) -> Any:
    """One rule is a mapping to pydantic, and a set has no first."""
    if isinstance(value, Rule | AbstractSet):
        raise ValueError("must be a list of rules, in order: rules=[Rule(…)]")  # noqa: TRY004  # pydantic wants it
    return value


class PermissionPolicy(Frozen):
    """Rules in order; the first that matches decides, else the default ("reject", unless you say otherwise).

    What is no tool (a switch of modes, a kind outside of the protocol) is allowed only by a rule that names its kind;
    where another rule or the default would allow it, a person is asked, or it is refused where there is none.
    `approvals`: which of what is to be asked about a person really sees, and who may decide. `unasked` says what a
    change is that an agent made without asking: a note in the result, or an error.
    """

    rules: Annotated[tuple[Rule, ...], BeforeValidator(_in_order)] = ()
    default: Annotated[RuleAction, one_of("allow", "reject", "ask")] = "reject"
    approvals: Approvals | None = None
    unasked: Annotated[Literal["note", "error"], one_of("note", "error")] = "note"

    if TYPE_CHECKING:  # as above

        def __init__(
            self,
            *,
            rules: Sequence[Rule] = ...,
            default: RuleAction = ...,
            approvals: Approvals | None = ...,
            unasked: Literal["note", "error"] = ...,
        ) -> None: ...

    def rule(self, request: PermissionRequest) -> Ruling:
        """Decide one request. Looks at the disk where a rule has a path; never raises for what an agent says."""
        places = _once(lambda: Places.of(request))
        for number, rule in enumerate(self.rules, 1):
            if rule.matches(request, places):
                ruling = Ruling(rule.action, f"rule {number}: {rule}", explicit=True, rule=number)
                return ruling if request.kind in (rule.kind or ()) else _of_tools(ruling, request)
        return _of_tools(Ruling(self.default, "default", explicit=False), request)


def _of_tools(ruling: Ruling, request: PermissionRequest) -> Ruling:
    """An allow that was not meant for this kind becomes an ask if the kind is no tool."""
    if ruling.action != "allow" or request.kind in TOOL_KINDS:
        return ruling
    kind = printable(request.kind, max_chars=MAX_KIND_CHARS)
    return replace(ruling, action="ask", why=f"kind {kind!r} is no tool")


def _once(look: Callable[[], Places]) -> Callable[[], Places]:
    seen: list[Places] = []

    def first() -> Places:
        if not seen:
            seen.append(look())
        return seen[0]

    return first


class _Preset(PermissionPolicy):
    """A policy with a name."""

    name: str = ""

    if TYPE_CHECKING:

        def __init__(self, *, name: str, default: RuleAction, approvals: Approvals | None = None) -> None: ...

    def rule(self, request: PermissionRequest) -> Ruling:
        """As its default says; the preset is named as what decided."""
        return replace(super().rule(request), by=f"preset {self.name}")


class _ReadOnly(_Preset):
    """Reading, searching and thinking inside of the session's directories."""

    def rule(self, request: PermissionRequest) -> Ruling:
        """Reject what is or may be anything else, or elsewhere. Thinking alone needs no path."""
        ruling = super().rule(request)
        if not kinds_of(request) <= {"read", "search", "think"}:
            return ruling
        places = Places.of(request)
        thinks = request.kind == "think" and places.sure and not places.real
        allowed = thinks or places.all_inside(request.roots)
        return replace(ruling, action="allow", explicit=True) if allowed else ruling


PRESETS: Final[Mapping[str, PermissionPolicy]] = MappingProxyType(
    {
        "reject": _Preset(name="reject", default="reject"),
        "allow": _Preset(name="allow", default="allow"),
        "read-only": _ReadOnly(name="read-only", default="reject"),
        "ask": _Preset(name="ask", default="ask", approvals=Approvals(default="ask_on_first_use")),
    }
)
"""The policies that have a name."""
