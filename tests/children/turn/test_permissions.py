"""Permission requests: by kind alone, always answered, never an allow by mistake. Looked at from the child's side."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Decision, Limits, PermissionRequest, Runner, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


def option(kind: Any, option_id: str | None = None) -> dict[str, Any]:
    """An option of this kind; its id and name say nothing or the opposite."""
    return {"optionId": option_id or f"id-{kind}", "name": "Yes, no, whatever", "kind": kind}


def options(*kinds: str) -> list[dict[str, Any]]:
    """Options of these kinds, in this order."""
    return [option(kind) for kind in kinds]


def selected(option_id: str) -> dict[str, Any]:
    """The outcome on the wire."""
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


CANCELLED = {"outcome": {"outcome": "cancelled"}}


def asking(folder: Path, ask: dict[str, Any], **spec: Any) -> Scripted:
    """A child that asks in its turn and goes on whatever it is told."""
    steps = [{"permission": ask}, {"chunk": "went on"}]
    return Scripted(folder, {"prompt": steps}, **{"limits": Limits(**QUICK), **spec})


async def go(child: Scripted) -> tuple[RunResult, list[Any]]:
    """The result, and the answers that the child got."""
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    return result, [frame.get("result", frame.get("error")) for frame in child.received() if "method" not in frame]


CHOICES: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "reject, nothing to reject with": ("reject", ["allow_once", "allow_always"], CANCELLED),
    "reject, nothing to reject with, the other way round": ("reject", ["allow_always", "allow_once"], CANCELLED),
    "reject, one allow only": ("reject", ["allow_once"], CANCELLED),
    "reject, rejects last": ("reject", ["allow_always", "allow_once", "reject_once"], selected("id-reject_once")),
    "reject, both rejects": ("reject", ["reject_always", "reject_once"], selected("id-reject_once")),
    "reject, for ever only": ("reject", ["allow_once", "reject_always"], selected("id-reject_always")),
    "allow, rejects first": ("allow", ["reject_once", "allow_once"], selected("id-allow_once")),
    "allow, the wide one first": ("allow", ["allow_always", "allow_once"], selected("id-allow_once")),
    "allow, the wide one only": ("allow", ["allow_always", "reject_once"], selected("id-allow_always")),
    "allow, nothing to allow with": ("allow", ["reject_once"], selected("id-reject_once")),
    "allow, nothing to allow with but for ever": ("allow", ["reject_always"], selected("id-reject_always")),
    "allow, no option": ("allow", [], CANCELLED),
    "reject, no option": ("reject", [], CANCELLED),
}


@pytest.mark.row("PERM-1", "PERM-3", "PERM-5", "PERM-12")
@pytest.mark.parametrize("name", CHOICES)
async def test_an_option_is_chosen_by_its_kind_alone(name: str, tmp_path: Path) -> None:
    """Not by place, id or name; a reject never becomes an allow, nor a cancelled turn where it can be said."""
    policy, kinds, outcome = CHOICES[name]
    result, answers = await go(asking(tmp_path, {"options": options(*kinds)}, permission=policy))
    assert answers == [outcome]
    assert (result.status, result.text) == ("completed", "went on")
    (record,) = result.permissions
    assert (record.action, record.outcome) == (policy, outcome["outcome"]["outcome"])
    assert record.option_id == outcome["outcome"].get("optionId")
    assert record.wider == (record.option_kind == "allow_always")
    assert (record.decided_by, record.tool_call_id) == (f"preset {policy}", "call-1")
    assert 0 <= record.seconds < 20


@pytest.mark.row("PERM-1")
@pytest.mark.parametrize("policy", ["reject", "allow"])
async def test_ids_that_say_the_opposite_mislead_nobody(policy: str, tmp_path: Path) -> None:
    """Ids are opaque, and echoed exactly, blanks and all."""
    asked = [option("allow_once", " reject_once "), option("reject_once", "allow_once"), option("reject_always", "")]
    _, answers = await go(asking(tmp_path, {"options": asked}, permission=policy))
    assert answers == [selected(" reject_once " if policy == "allow" else "allow_once")]


ODD_OPTIONS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "no kind": ([{"optionId": "a", "name": "A"}], CANCELLED),
    "a null kind": ([option(None, "a")], CANCELLED),
    "an unknown kind": ([option("maybe")], CANCELLED),
    "a kind that only begins like one": ([option("allow_forever")], CANCELLED),
    "a kind that is no text": ([option(7, "a")], CANCELLED),
    "an unknown kind beside a known one": ([option("maybe"), option("allow_once")], selected("id-allow_once")),
    "no kind beside a known one": ([{"optionId": "a", "name": "A"}, option("allow_once")], selected("id-allow_once")),
}


@pytest.mark.row("PERM-12")
@pytest.mark.odd_frames
@pytest.mark.parametrize("name", ODD_OPTIONS)
async def test_an_option_without_a_usable_kind_is_never_chosen(name: str, tmp_path: Path) -> None:
    """What is allowed cannot be said with it, so the outcome is cancelled; and it is recorded."""
    asked, outcome = ODD_OPTIONS[name]
    result, answers = await go(asking(tmp_path, {"options": asked}, permission="allow"))
    assert answers == [outcome]
    assert (result.status, result.text) == ("completed", "went on")
    assert [record.outcome for record in result.permissions] == [outcome["outcome"]["outcome"]]


@pytest.mark.row("PERM-12")
@pytest.mark.odd_frames
@pytest.mark.parametrize("asked", [None, "allow", {"optionId": "a"}, ["allow_once"], [None]])
async def test_options_that_are_none_are_answered_and_the_turn_goes_on(asked: Any, tmp_path: Path) -> None:
    """With the outcome cancelled or an error: never with an allow, never with silence."""
    result, (answer,) = await go(asking(tmp_path, {"options": asked}, permission="allow"))
    assert answer == CANCELLED or answer["code"] == -32602
    assert (result.status, result.text) == ("completed", "went on")


KINDS: dict[str, tuple[dict[str, Any], bool]] = {
    "a mode switch": ({"kind": "switch_mode"}, False),
    "a word outside the schema": ({"kind": "open_url"}, False),
    "other": ({"kind": "other"}, True),
    "absent": ({}, True),
    "null": ({"kind": None}, True),
    "execute": ({"kind": "execute"}, True),
    "fetch": ({"kind": "fetch"}, True),
}


@pytest.mark.row("PERM-7")
@pytest.mark.odd_frames
@pytest.mark.parametrize("name", KINDS)
async def test_the_preset_allow_allows_tools_only(name: str, tmp_path: Path) -> None:
    """A mode switch and words that nobody knows are refused where there is no approver; `other` is a tool."""
    fields, allowed = KINDS[name]
    ask = {"tool_call": {"toolCallId": "c", "title": "Do it", **fields}}
    result, answers = await go(asking(tmp_path, ask, permission="allow"))
    assert answers == [selected("allow" if allowed else "reject")]
    assert result.permissions[0].action == ("allow" if allowed else "reject")
    assert (result.permissions[0].why is None) == allowed


@pytest.mark.row("PERM-7")
@pytest.mark.odd_frames
async def test_a_request_without_a_kind_has_that_of_its_announced_call(tmp_path: Path) -> None:
    """Else a mode switch that was announced as one would be let through as `other`."""
    announced = {"toolCallId": "c", "title": "Leave plan mode", "kind": "switch_mode", "status": "pending"}
    steps = [{"tool_call": announced}, {"permission": {"tool_call": {"toolCallId": "c"}}}]
    child = Scripted(tmp_path, {"prompt": steps}, permission="allow", limits=Limits(**QUICK))
    result, answers = await go(child)
    assert answers == [selected("reject")]
    assert result.permissions[0].kind == "switch_mode"


@pytest.mark.row("PERM-8")
@pytest.mark.odd_frames
@pytest.mark.parametrize("policy", ["allow", "reject"])
@pytest.mark.parametrize("session", ["child-session", "", "S-1"])
async def test_a_request_of_another_session_is_answered_under_the_policy(
    session: str, policy: str, tmp_path: Path
) -> None:
    """An agent's own sub-agents ask under ids that we never opened; silence would freeze the turn."""
    result, answers = await go(asking(tmp_path, {"session": session}, permission=policy))
    assert answers == [selected(policy)]
    assert result.text == "went on"
    assert result.permissions[0].session_id == session
    assert result.tool_calls == ()


@pytest.mark.row("PERM-8", "PERM-12")
@pytest.mark.odd_frames
@pytest.mark.parametrize("session", [None, 7, {}])
async def test_a_request_without_a_usable_session_is_answered(session: Any, tmp_path: Path) -> None:
    """Whatever stands there: an answer, and the turn goes on."""
    params = {"sessionId": session, "toolCall": {"toolCallId": "c"}, "options": options("allow_once", "reject_once")}
    steps = [{"request": {"method": "session/request_permission", "params": params}}, {"chunk": "went on"}]
    result, (answer,) = await go(Scripted(tmp_path, {"prompt": steps}, limits=Limits(**QUICK)))
    assert answer == selected("id-reject_once") or answer["code"] == -32602
    assert result.text == "went on"


@pytest.mark.row("PERM-9")
async def test_without_a_listener_a_request_is_rejected_at_once(tmp_path: Path) -> None:
    """The default policy; no deadline has to pass, and nobody has to read events."""
    child = asking(tmp_path, {}, limits=Limits(**QUICK | {"idle_timeout_seconds": None, "run_timeout_seconds": None}))
    result, answers = await go(child)
    assert answers == [selected("reject")]
    assert result.permissions[0].seconds < 1


@pytest.mark.row("PERM-9")
async def test_many_requests_at_once_are_all_answered_with_their_own_ids(tmp_path: Path) -> None:
    """Ids of every type, none waited for before the next."""
    ids = ["b3c1-4f", 0, -5, 2**53 + 1, "0", 1, 2]
    asks = [{"permission": {"id": one, "wait": False, "save": f"a{n}"}} for n, one in enumerate(ids)]
    waits = [{"wait_answer": f"a{n}"} for n in range(len(ids))]
    child = Scripted(tmp_path, {"prompt": [*asks, *waits, {"chunk": "went on"}]}, limits=Limits(**QUICK))
    result, answers = await go(child)
    assert answers == [selected("reject")] * len(ids)
    echoed = [repr(frame["id"]) for frame in child.received() if "method" not in frame]
    assert sorted(echoed) == sorted(repr(one) for one in ids)
    assert result.text == "went on"


async def never(_request: PermissionRequest) -> Decision:
    """A person who does not look."""
    await anyio.sleep(math.inf)
    raise AssertionError


async def allows_after_cancel(_request: PermissionRequest) -> Decision:
    """A policy that takes its own cancellation for a yes."""
    try:
        await anyio.sleep(math.inf)
    except anyio.get_cancelled_exc_class():
        return Decision.allow()
    raise AssertionError


@pytest.mark.row("PERM-11")
@pytest.mark.parametrize("policy", [never, allows_after_cancel])
@pytest.mark.parametrize("pending", [1, 3])
async def test_a_cancel_answers_every_open_request_and_every_later_one(
    pending: int, policy: Callable[[PermissionRequest], Awaitable[Decision]], tmp_path: Path
) -> None:
    """`session/cancel` first, then `cancelled` for what was open; what is asked after it gets the same."""
    asks = [{"permission": {"wait": False}} for _ in range(pending)]
    later = [{"permission": {"save": "late"}}, {"chunk": "${late.result.outcome.outcome}"}, {"stop": "cancelled"}]
    scenario = {"prompt": [*asks, {"hang": True}], "on_cancel": later}
    child = Scripted(tmp_path, scenario, permission=policy, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        async with Runner() as runner:
            run = await runner.start(child.spec, "go")
            asked = 0
            async for event in run.events():
                asked += event.type == "permission_asked"
                if asked == pending:
                    await run.cancel()
            result = await run.result()
    assert (result.status, result.reason) == ("aborted", "cancelled")
    assert result.text == "cancelled"
    answers = [frame["result"] for frame in child.received() if "method" not in frame]
    assert answers == [CANCELLED] * (pending + 1)
    assert [record.action for record in result.permissions] == ["cancelled"] * (pending + 1)
    assert [record.decided_by for record in result.permissions] == ["cancellation"] * (pending + 1)


@pytest.mark.row("PERM-11")
async def test_a_limit_that_ends_the_turn_answers_open_requests_too(tmp_path: Path) -> None:
    """Nobody answered within the run's time: the child is told `cancelled`, not left alone."""
    child = asking(tmp_path, {}, permission=never, limits=Limits(**QUICK | {"run_timeout_seconds": 1.0}))
    result, answers = await go(child)
    assert (result.status, result.reason) == ("error", "run_timeout")
    assert answers == [CANCELLED]


@pytest.mark.row("ASYNC-6", "PERM-9")
async def test_a_policy_that_awaits_what_was_cancelled_rejects_and_the_turn_goes_on(
    tmp_path: Path, anyio_backend_name: str
) -> None:
    """On asyncio that raises the same as a cancellation of the policy itself, and nobody has cancelled it."""
    if anyio_backend_name == "trio":
        return  # there it cannot happen

    async def policy(_request: PermissionRequest) -> Decision:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future
        return Decision.allow()

    scenario = {"prompt": [{"permission": {"on": {"rejected": [{"chunk": "went on"}]}}}]}
    child = Scripted(tmp_path, scenario, limits=Limits(**QUICK), permission=policy)
    with anyio.fail_after(20):
        result = await run_subagent(child.spec, "go")
    assert (result.reason, result.text) == ("end_turn", "went on")
    assert result.permissions[0].decided_by == "policy failure"


async def test_a_plain_function_is_as_good_a_policy_as_an_async_one(tmp_path: Path) -> None:
    """It is called in the event loop, so it must not block; that is all the difference."""

    def decide(request: PermissionRequest) -> Decision:
        return Decision.allow(f"asked for {request.kind}")

    result, (answer,) = await go(asking(tmp_path, {"options": options("allow_once", "reject_once")}, permission=decide))
    assert answer["outcome"]["outcome"] == "selected"
    assert (result.permissions[0].action, result.permissions[0].option_kind) == ("allow", "allow_once")
