"""What an agent says that cannot be kept, or an approver that cannot be meant, never becomes a yes."""

from typing import Any

import pytest

from acp_agent import Context
from acp_client import Approvals, Budget, Decision, Limits, PermissionPolicy, Rule
from acp_client.policy.meter import Meter
from acp_client.session.asking.turns import approve_turn
from acp_client.session.ending import EndRun
from tests.interaction.asking import ASK, OPTIONS, Person, Requests, call
from tests.interaction.talk import Doer, talking

ROOM = Limits(max_output_bytes=2000)
HUGE = {"command": "rm -rf / #" + "x" * 3000}


def announce(context: Context, update_kind: str, **fields: Any) -> None:
    """An update of the call `c`."""
    update = {"sessionUpdate": update_kind, "toolCallId": "c", **fields}
    context._peer.notify("session/update", {"sessionId": context.session_id, "update": update})


async def ask_by_id(context: Context, requests: Requests, **fields: Any) -> None:
    """A request that says which call it is for, and no more than these."""
    await requests.ask(context, {"toolCall": {"toolCallId": "c", **fields}, "options": OPTIONS})


# ---- what was too much to keep


async def test_a_call_that_was_too_large_to_keep_is_judged_by_no_rule() -> None:
    """Its kind went with it, so the rule against it would not fit."""
    requests = Requests()

    async def deed(context: Context) -> str | None:
        announce(context, "tool_call", kind="execute", title="Run", rawInput=HUGE)
        await ask_by_id(context, requests)
        await ask_by_id(context, requests, kind="execute")
        await ask_by_id(context, requests, kind="read")
        return None

    policy = PermissionPolicy(rules=[Rule(kind="execute", action="reject")], default="allow")
    async with talking(Doer(deed), permission=policy, limits=ROOM) as talk:
        await talk.prompt()
        assert requests.sent == ["n", "n", "y"]
        first, second, _ = talk.session.permissions.records
        assert (first.decided_by, first.action) == ("limit", "reject")
        assert "max_output_bytes" in (first.why or "")
        assert second.decided_by.startswith("rule 1")


async def test_a_yes_to_what_a_call_was_before_counts_no_more() -> None:
    """The new arguments could not be kept; those that were approved are not what is asked for."""
    person, requests = Person(), Requests()

    async def deed(context: Context) -> str | None:
        announce(context, "tool_call", kind="execute", title="Run", name="bash", rawInput={"command": "ls"})
        await ask_by_id(context, requests)
        announce(context, "tool_call_update", rawInput=HUGE)
        await ask_by_id(context, requests)
        await ask_by_id(context, requests, rawInput=HUGE)
        announce(context, "tool_call_update", rawInput={"command": "ls"})
        await ask_by_id(context, requests)
        return None

    async with talking(Doer(deed), permission=ASK, approver=person, limits=ROOM) as talk:
        await talk.prompt()
        assert requests.sent == ["y", "n", "y", "y"]
        assert [question.arguments for question in person.questions] == [{"command": "ls"}, HUGE]
        assert [record.decided_by for record in talk.session.permissions.records][1] == "limit"


@pytest.mark.odd_frames
async def test_a_title_that_is_none_takes_back_no_title() -> None:
    """A rule against the call as it was announced still fits."""
    requests = Requests()

    async def deed(context: Context) -> str | None:
        announce(context, "tool_call", title="rm x", name="bash")
        await ask_by_id(context, requests, title=["rm x"], name=5)
        announce(context, "tool_call_update", title="ls")
        await ask_by_id(context, requests, name="")
        return None

    policy = PermissionPolicy(rules=[Rule(title="rm*", action="reject"), Rule(tool="bash", action="ask")])
    async with talking(Doer(deed), permission=policy) as talk:
        await talk.prompt()
        assert requests.sent == ["n", "n"]
        first, second = talk.session.permissions.records
        assert (first.title, first.rule) == ("rm x", "rule 1: reject title rm*")
        assert second.rule == "rule 2: ask tool bash"


# ---- what is asked for counts


@pytest.mark.odd_frames
async def test_a_request_is_a_step_whatever_session_it_names() -> None:
    """Else a budget could be passed by."""
    requests = Requests(*({**call({}, str(number)), "sessionId": "other"} for number in range(3)))
    async with talking(Doer(requests.deed), permission="allow") as talk:
        found: list[Any] = []
        talk.session.turn.meter = Meter(Budget(max_steps=2), None, found.append)
        await talk.prompt()
    assert [(one.figure, one.spent) for one in found if getattr(one, "over", False)] == [("steps", 3)]


# ---- decisions that mean nothing

NONSENSE: dict[str, tuple[Any, str]] = {
    "another word": (lambda: Decision("Reject"), 'action must be "allow" or "reject", not \'Reject\''),  # type: ignore[arg-type]  # on purpose, as all here
    "no word": (lambda: Decision(None), 'action must be "allow" or "reject", not None'),  # type: ignore[arg-type]
    "nobody": (lambda: Decision("allow", decided_by=None), "decided_by must be a text, not NoneType"),  # type: ignore[arg-type]
    "a form that is none": (lambda: Decision("allow", content=5), "content must be a mapping or None, not int"),  # type: ignore[arg-type]
    "a reason that is none": (lambda: Decision("allow", ValueError("x")), "why must be a text or None, not ValueError"),  # type: ignore[arg-type]
    "a yes": (lambda: True, "TypeError: it must return a Decision, not bool"),
}


@pytest.mark.parametrize("name", NONSENSE)
async def test_a_decision_that_means_nothing_rejects_and_is_recorded(name: str) -> None:
    """Of an approver, for a call and a form; and of a function. The rule that it breaks is in the record."""
    make, rule = NONSENSE[name]
    form = {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}

    async def decide(_request: Any) -> Decision:
        found: Decision = make()
        return found

    for method, params, answer in (
        ("session/request_permission", call({}), "n"),
        ("elicitation/create", form, {"action": "decline"}),
    ):
        requests = Requests(params, method=method)
        async with talking(Doer(requests.deed), permission=ASK, approver=decide) as talk:
            await talk.prompt()
            assert (requests.sent if answer == "n" else requests.answers) == [answer]
            (record,) = talk.session.permissions.records
            assert record.decided_by == "approver failure"
            assert rule in (record.why or "")

    requests = Requests(call({}))
    async with talking(Doer(requests.deed), permission=decide) as talk:
        await talk.prompt()
        assert requests.sent == ["n"]


async def test_a_turn_is_not_begun_on_a_decision_that_means_nothing() -> None:
    """It is rejected like the rest."""
    policy = PermissionPolicy(approvals=Approvals(after_turns=0))

    async with talking(Doer(Requests().deed), permission=policy, approver=lambda _request: None) as talk:
        desk = talk.session.permissions
        with pytest.raises(EndRun) as caught:
            await approve_turn("s", [], 0, desk._audit, desk._people)
        assert caught.value.ending.reason == "cancelled"
