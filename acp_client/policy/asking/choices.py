"""Requests that are no plain permission, and what a person's decision on one means. Pure.

Owns which requests are a choice, and the mapping from a decision to what is sent. The choice of an option by its kind
is `permission`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from acp_client.policy.permission import (
    ALLOWING,
    TOOL_KINDS,
    Choice,
    Decision,
    PermissionRequest,
    choose,
)
from acp_client.protocol import models

REFUSING: Final = frozenset({"reject_once", "reject_always"})


def is_choice(request: PermissionRequest) -> bool:
    """True where allowing is not one clear thing: no tool, no kind that allows, or several options that do alike.

    A mode switch, the end of a plan, a word outside the schema; options whose kinds are outside the four, with none
    to allow with beside them; two "yes, once" that mean different things.
    """
    return request.kind not in TOOL_KINDS or _is_ambiguous(request)


def _is_ambiguous(request: PermissionRequest) -> bool:
    kinds = [option.kind for option in _distinct(request.options)]
    narrowest = next((kind for kind in ("allow_once", "allow_always") if kind in kinds), None)
    if narrowest is None:
        return any(kind not in REFUSING for kind in kinds)
    return kinds.count(narrowest) > 1


def settle(decision: Decision, request: PermissionRequest) -> tuple[Decision, Choice]:
    """What is sent for a decision of a person or a program, and the decision as it counts.

    One that picks an option is sent exactly so; one that cannot be followed is a rejection that says why. A plain
    allow of a choice with several ways to allow is ambiguous: no order decides.
    """
    if decision.option_id is not None:
        return _settle_selected(decision, decision.option_id, request)
    if decision.action == "allow" and is_choice(request):
        ways = [option for option in _distinct(request.options) if option.kind not in REFUSING]
        if ways and (len(ways) > 1 or ways[0].kind not in ALLOWING):
            return refuse(
                decision, "it is not clear what allows this; pick an option with Decision.select(id)", request
            )
    return decision, choose(decision.action, request.options)


def settle_program(decision: Decision, request: PermissionRequest) -> tuple[Decision, Choice]:
    """The same for the caller's own function, which has seen what kind of thing is asked: its allow needs no tool."""
    if decision.action == "allow" and decision.option_id is None and not _is_ambiguous(request):
        return decision, choose("allow", request.options)
    return settle(decision, request)


def _settle_selected(decision: Decision, option_id: str, request: PermissionRequest) -> tuple[Decision, Choice]:
    found = [option for option in request.options if option.option_id == option_id]
    if not found:
        offered = ", ".join(repr(option.option_id) for option in request.options) or "none"
        return refuse(decision, f"option {option_id!r} was not offered; there are: {offered}", request)
    if len({option.kind for option in found}) > 1:
        return refuse(decision, f"option {option_id!r} is there with two meanings", request)
    if found[0].kind in REFUSING:
        return replace(decision, action="reject"), Choice("selected", found[0])
    if decision.action == "reject":
        return refuse(decision, f"a rejection cannot send {option_id!r}, which rejects nothing", request)
    return decision, Choice("selected", found[0])


def refuse(decision: Decision, why: str, request: PermissionRequest) -> tuple[Decision, Choice]:
    """A rejection in the name of who decided otherwise."""
    return replace(decision, action="reject", why=why, option_id=None), choose("reject", request.options)


def _distinct(options: Sequence[models.PermissionOption]) -> list[models.PermissionOption]:
    """An id that is there twice is one option, if it means the same."""
    return list({(option.option_id, option.kind): option for option in options}.values())
