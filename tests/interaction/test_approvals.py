"""Approvals between both real sides: who is asked, how often, and what comes of the answer."""

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_agent import Context
from acp_client import ApprovalRequest, Approvals, Decision, PermissionPolicy, Rule, ToolApproval
from tests.interaction.asking import ASK, OPTIONS, Person, Requests, call, decisions
from tests.interaction.talk import Doer, talking

# ---- how often

CALLS: list[tuple[str, Sequence[dict[str, Any]], int]] = [
    ("the same again", [call({"a": 1, "b": 2}), call({"b": 2, "a": 1}, "d"), call('{ "a": 1, "b": 2 }', "e")], 1),
    ("other arguments", [call({"a": 1}), call({"a": 2}), call({"a": True})], 3),
    ("another title without arguments", [call(title="one"), call(title="two")], 2),
    ("another tool", [call({"a": 1}), call({"a": 1}, name="drop")], 2),
]


@pytest.mark.parametrize(("name", "calls", "asked"), CALLS)
async def test_an_approved_call_is_asked_about_once_in_a_conversation(
    name: str, calls: Sequence[dict[str, Any]], asked: int
) -> None:
    """Whatever the order of keys and the spacing; another call is asked about itself."""
    person, turn = Person(), Requests(*calls)
    async with talking(Doer(turn.deed), permission=ASK, approver=person) as talk:
        await talk.prompt()
        assert turn.sent == ["y"] * len(calls), name
        assert len(person.questions) == asked
        first, *later = decisions(talk)
        assert first == ("allow", "approver", False)
        assert [remembered for _, _, remembered in later].count(True) == len(calls) - asked
        assert all(
            record.rule == "default" and record.role == "standard" for record in talk.session.permissions.records
        )


async def test_a_rejection_is_asked_again() -> None:
    """It is not remembered; the yes that follows is."""
    person, turn = Person(Decision.reject("not yet"), Decision.allow("now")), Requests(call({}), call({}), call({}))
    async with talking(Doer(turn.deed), permission=ASK, approver=person) as talk:
        await talk.prompt()
        assert turn.sent == ["n", "y", "y"]
        assert len(person.questions) == 2
        assert talk.session.permissions.records[0].why == "not yet"
        assert decisions(talk)[2] == ("allow", "approver", True)


async def test_a_new_conversation_is_asked_again() -> None:
    """Nothing is remembered beyond it, though it is the same approver and the same policy."""
    person = Person()
    for _ in range(2):
        turn = Requests(call({"a": 1}))
        async with talking(Doer(turn.deed), permission=ASK, approver=person) as talk:
            await talk.prompt()
    assert len(person.questions) == 2


async def test_a_request_of_another_session_is_another_conversation() -> None:
    """Also on the same connection; and nothing that was announced in ours counts for it."""
    turn = Requests(call({"a": 1}), {**call(), "sessionId": "other", "toolCall": {"toolCallId": "c"}})
    person = Person()
    async with talking(Doer(turn.deed), permission=ASK, approver=person) as talk:
        await talk.prompt()
        assert [(one.session_id == talk.session.id, one.tool) for one in person.questions] == [
            (True, "deploy"),
            (False, None),
        ]


async def test_always_ask_asks_each_time_and_never_ask_never() -> None:
    """By tool; what was not asked about is recorded as such, and the role is the override's."""
    approvals = Approvals(overrides={"deploy": ToolApproval("always_ask", role="senior"), "look": "never_ask"})
    person, turn = Person(), Requests(call({}), call({}), call({}, name="look"))
    policy = PermissionPolicy(rules=[Rule(action="ask")], approvals=approvals)
    async with talking(Doer(turn.deed), permission=policy, approver=person) as talk:
        await talk.prompt()
        assert turn.sent == ["y", "y", "y"]
        assert [(one.tool, one.role, one.remembers) for one in person.questions] == [("deploy", "senior", False)] * 2
        assert decisions(talk)[2] == ("allow", "approvals: never_ask", False)
        assert talk.session.permissions.records[2].rule == "rule 1: ask everything"


async def test_the_same_call_asked_for_twice_at_once_is_shown_once_if_it_is_approved() -> None:
    """A yes counts for both; after a no the second one is asked about itself, since a no is not remembered."""
    for answer, asked, sent in ((Decision.allow(), 1, ["y", "y"]), (Decision.reject(), 2, ["n", "n"])):
        both = anyio.Event()
        questions: list[ApprovalRequest] = []

        async def approve(
            request: ApprovalRequest,
            answer: Decision = answer,
            both: anyio.Event = both,
            questions: list[ApprovalRequest] = questions,
        ) -> Decision:
            questions.append(request)
            await both.wait()
            return answer

        turn = Requests()

        async def at_once(context: Context, turn: Requests = turn) -> str | None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(turn.ask, context, call({"a": 1}))
                tasks.start_soon(turn.ask, context, call({"a": 1}, "d"))
            return None

        async with talking(Doer(at_once), permission=ASK, approver=approve) as talk, anyio.create_task_group() as tasks:
            tasks.start_soon(talk.prompt)
            async for event in talk.hub.stream():
                if event.type == "permission_asked" and len(talk.session.turn.tool_calls()) == 2:
                    break
            both.set()
            while len(turn.answers) < 2:
                await anyio.lowlevel.checkpoint()
        assert (len(questions), turn.sent) == (asked, sent)


# ---- what a person sees, and what counts


@pytest.mark.parametrize("said", [{}, {"locations": [], "rawInput": {}, "content": []}], ids=["no more", "as empty"])
async def test_a_request_that_says_only_which_call_is_shown_with_all_that_was_announced(said: dict[str, Any]) -> None:
    """Some agents announce the call, and ask with its id and nothing else, or with what they knew of it at first."""
    diff = {"type": "diff", "path": "/w/x", "oldText": "a", "newText": "b"}
    person = Person()

    async def deed(context: Context) -> str | None:
        update = {
            "sessionUpdate": "tool_call",
            "toolCallId": "c",
            "title": "Change x",
            "name": "patch",
            "kind": "edit",
            "rawInput": {"path": "x"},
            "content": [diff],
            "locations": [{"path": "/w/y"}],
        }
        context._peer.notify("session/update", {"sessionId": context.session_id, "update": update})
        await Requests().ask(context, {"toolCall": {"toolCallId": "c", **said}, "options": OPTIONS})
        return None

    async with talking(Doer(deed), permission=ASK, approver=person) as talk:
        await talk.prompt()
        (question,) = person.questions
        assert (question.subject, question.tool, question.kind, question.title) == ("tool", "patch", "edit", "Change x")
        assert (question.arguments, question.paths) == ({"path": "x"}, ("/w/y", "/w/x"))
        (change,) = question.diffs
        assert (change.path, change.old_text, change.new_text) == ("/w/x", "a", "b")
        assert [option.id for option in question.options] == ["y", "yy", "n"]
        (record,) = talk.session.permissions.records
        assert (record.title, record.subject) == ("Change x", "tool")
        assert next((option.id, option.name, option.kind) for option in record.options) == ("y", "Yes", "allow_once")


async def fail(_request: ApprovalRequest) -> Decision:
    """An approver with a bug."""
    raise ValueError("bug")


async def shrug(_request: ApprovalRequest) -> Any:
    """One that decides nothing."""
    return None


async def too_low(_request: ApprovalRequest) -> Decision:
    """One whose person may not decide this."""
    return Decision("allow", decided_by="Kim", role="standard")


REFUSALS: dict[str, tuple[Any, str, str]] = {
    "nobody": (None, "no approver", "set AgentSpec(approver=…)"),
    "a bug": (fail, "approver failure", "failed"),
    "no decision": (shrug, "approver failure", "failed"),
    "too low a role": (too_low, "Kim", "'senior'"),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_what_nobody_may_or_can_approve_is_refused_and_the_turn_goes_on(name: str) -> None:
    """At once, and the reason is recorded."""
    approver, by, why = REFUSALS[name]
    turn = Requests(call({}))
    policy = PermissionPolicy(default="ask", approvals=Approvals(default_role="senior"))
    async with talking(Doer(turn.deed), permission=policy, approver=approver) as talk:
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert turn.sent == ["n"]
        (record,) = talk.session.permissions.records
        assert (record.decided_by, record.action) == (by, "reject")
        assert why in (record.why or "")


async def leak(_request: Any) -> Decision:
    """One whose failure quotes what nobody should read, at length."""
    raise RuntimeError("POST https://u:hunter22@pager/?token=abc\n\x1b[2J said 500 " + "x" * 5000)


@pytest.mark.parametrize("field", ["approver", "permission"])
async def test_what_the_callers_code_raised_is_in_the_record_without_secrets_on_one_line(field: str) -> None:
    """Type and message, so that nobody has to look for a log; and it is short."""
    turn = Requests(call({}))
    who = {"approver": leak, "permission": ASK} if field == "approver" else {"permission": leak}
    async with talking(Doer(turn.deed), **who) as talk:
        talk.session.people.redact = lambda text: text.replace("hunter22", "[redacted]")
        await talk.prompt()
        (record,) = talk.session.permissions.records
    what = "approver" if field == "approver" else "permission policy"
    says = rf"the {what} failed: RuntimeError: POST https://u:[redacted]@pager/?token=abc\n\x1b[2J said 500 x"
    assert (record.why or "").startswith(says)
    assert len(record.why or "") == 500


async def dumb(_request: Any) -> Decision:
    """One that cannot even say what is wrong."""

    class Dumb(Exception):
        def __str__(self) -> str:
            raise ValueError

    raise Dumb


async def test_a_failure_without_words_is_told_by_its_type() -> None:
    """Whatever the error does when it is asked."""
    async with talking(Doer(Requests(call({})).deed), permission=dumb) as talk:
        await talk.prompt()
        assert talk.session.permissions.records[0].why == "the permission policy failed: Dumb"


async def test_a_model_is_not_told_what_the_callers_code_raised() -> None:
    """Where it calls a tool of the parent's: that it was not approved is all that it needs."""
    policy = PermissionPolicy(rules=[Rule(action="ask", tool="pay")])
    async with talking(Doer(Requests().deed), permission=policy, approver=fail) as talk:
        decision = await talk.session.permissions.permit_own("c", "pay", {})
        assert (decision.action, decision.why) == ("reject", "the approver failed")
        assert talk.session.permissions.records[0].why == "the approver failed: ValueError: bug"


# ---- too late


async def give_up(_request: ApprovalRequest) -> Decision:
    """An approver with a limit of its own."""
    raise TimeoutError


async def late(_request: ApprovalRequest) -> Decision:
    """One that answers once it is told that nobody needs it any more."""
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        return Decision.allow()
    raise AssertionError


@pytest.mark.parametrize(("approver", "seconds"), [(give_up, 60.0), (late, 0.01)])
async def test_an_approval_that_runs_out_ends_the_run_and_is_no_answer(approver: Any, seconds: float) -> None:
    """The request is answered `cancelled`, and so is every later one: nothing is approved by accident."""
    turn = Requests(call({}), call({}))
    policy = PermissionPolicy(default="ask", approvals=Approvals(timeout_seconds=seconds))
    async with talking(Doer(turn.deed), permission=policy, approver=approver) as talk:
        await talk.prompt()
        assert [ending.reason for ending in talk.endings] == ["approval_timeout"]
        assert turn.answers == [{"outcome": "cancelled"}] * 2
        assert [by for _, by, _ in decisions(talk)] == ["expiry", "cancellation"]
