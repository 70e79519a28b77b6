"""Approvals in whole runs, with real children: what waiting for a person does to the run."""

import logging
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import (
    REASONS,
    AgentSpec,
    ApprovalRequest,
    Approvals,
    Decision,
    Limits,
    PermissionPolicy,
    Runner,
    RunResult,
    run_subagent,
)
from tests.support.scenarios import QUICK, Scripted

SECONDS = 30.0
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def child(folder: Path, *steps: dict[str, Any], limits: dict[str, Any] | None = None, **spec: Any) -> Scripted:
    """A child that plays these steps."""
    wishes = {"permission": PermissionPolicy(default="ask"), "limits": Limits(**QUICK | (limits or {})), **spec}
    return Scripted(folder, {"prompt": list(steps)}, **wishes)


ASK: dict[str, Any] = {"permission": {}}
WENT_ON = {"chunk": "went on"}


async def go(spec: AgentSpec, **runner: Any) -> RunResult:
    """One run, in bounded time."""
    with anyio.fail_after(SECONDS):
        async with Runner(**runner) as runs:
            run = await runs.start(spec, "go")
            return await run.result()


def answers(scripted: Scripted) -> list[Any]:
    """What the child was told."""
    return [frame["result"] for frame in scripted.received() if "method" not in frame]


class Nobody:
    """An approver who never answers; `asked` says that the question came, `cancelled` that it was taken back."""

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable
        self.asked = anyio.Event()
        self.cancelled = anyio.Event()

    async def __call__(self, _request: ApprovalRequest) -> Decision:
        """Wait for ever."""
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()
        raise AssertionError


@pytest.mark.parametrize(("own", "cap"), [(0.3, None), (500.0, 0.3)])
async def test_an_approval_that_nobody_answers_ends_the_run(own: float, cap: float | None, tmp_path: Path) -> None:
    """After the policy's time or the deployment's, whichever is less; and the approver is told."""
    nobody = Nobody()
    policy = PermissionPolicy(default="ask", approvals=Approvals(timeout_seconds=own))
    scripted = child(tmp_path, ASK, WENT_ON, permission=policy, approver=nobody)
    result = await go(scripted.spec, approval_timeout_cap_seconds=cap)
    assert (result.status, result.reason) == ("error", "approval_timeout")
    assert REASONS[result.reason].exit_code == 3
    assert result.failure is not None
    assert "within 0.3 s" in result.failure.message
    assert answers(scripted) == [CANCELLED]
    (record,) = result.permissions
    assert (record.action, record.decided_by, record.role) == ("cancelled", "expiry", "standard")
    assert nobody.cancelled.is_set()


async def test_neither_silence_nor_the_default_time_ends_a_run_that_waits_for_a_durable_approver(
    tmp_path: Path,
) -> None:
    """The idle clock rests, and a day is allowed unless a time was set."""
    waited = anyio.Event()

    class Queue(Nobody):
        async def __call__(self, _request: ApprovalRequest) -> Decision:
            await waited.wait()
            return Decision("allow", decided_by="Kim")

    scripted = child(tmp_path, ASK, WENT_ON, limits={"idle_timeout_seconds": 1.5}, approver=Queue(durable=True))
    assert scripted.spec.clock_limits.run_timeout_seconds is None
    assert AgentSpec(command=["a"], approver=Nobody()).clock_limits.run_timeout_seconds == 600
    with anyio.fail_after(SECONDS):
        async with Runner() as runner:
            run = await runner.start(scripted.spec, "go")
            async for event in run.events():
                if event.type == "permission_asked":
                    break
            with anyio.move_on_after(1.8):  # more silence than is allowed
                await run.result()
            waited.set()
            result = await run.result()
    assert (result.reason, result.text) == ("end_turn", "went on")
    assert result.permissions[0].decided_by == "Kim"


async def test_a_time_that_was_set_holds_while_a_durable_approver_is_asked(tmp_path: Path) -> None:
    """The absolute clock does not rest."""
    nobody = Nobody(durable=True)
    result = await go(child(tmp_path, ASK, limits={"run_timeout_seconds": 0.6}, approver=nobody).spec)
    assert result.reason == "run_timeout"
    assert nobody.cancelled.is_set()


async def test_a_cancel_takes_the_question_back(tmp_path: Path) -> None:
    """The approver is cancelled, and the child is told `cancelled`."""
    nobody = Nobody()
    scripted = child(tmp_path, ASK, approver=nobody)
    with anyio.fail_after(SECONDS):
        async with Runner() as runner:
            run = await runner.start(scripted.spec, "go")
            async for event in run.events():
                if event.type == "permission_asked":
                    await nobody.asked.wait()  # it is told of before somebody is asked
                    await run.cancel()
            result = await run.result()
    assert result.reason == "cancelled"
    assert answers(scripted) == [CANCELLED]
    assert nobody.cancelled.is_set()


async def test_a_new_run_asks_again(tmp_path: Path) -> None:
    """A conversation is a run's session: another run of the same spec remembers nothing."""
    asked = []

    async def approve(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return Decision.allow()

    scripted = child(tmp_path, ASK, ASK, approver=approve)
    for _ in range(2):
        result = await go(scripted.spec)
        assert [record.remembered for record in result.permissions] == [False, True]
    assert len(asked) == 2
    assert len({request.run_id for request in asked}) == 2


TURNS = PermissionPolicy(approvals=Approvals(after_turns=0, default_role="senior"))


@pytest.mark.parametrize("approves", [True, False])
async def test_a_turn_that_waits_for_approval_is_sent_after_a_yes_alone(approves: bool, tmp_path: Path) -> None:  # noqa: FBT001  # parametrized
    """A no ends the run as our own doing: nothing was sent, and who said so is told."""
    asked = []

    async def decide(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return Decision("allow" if approves else "reject", "too dear", decided_by="Kim")

    scripted = child(tmp_path, WENT_ON, permission=TURNS, approver=decide)
    result = await go(scripted.spec)
    (question,) = asked
    assert (question.subject, question.role) == ("turn", "senior")
    assert question.arguments == {"prompt": [{"type": "text", "text": "go"}]}
    assert [(record.subject, record.outcome) for record in result.permissions] == [
        ("turn", "accepted" if approves else "declined")
    ]
    sent = [frame["method"] for frame in scripted.received() if "method" in frame]
    assert ("session/prompt" in sent) == approves
    assert "session/cancel" not in sent
    if approves:
        assert result.text == "went on"
    else:
        assert (result.status, result.reason) == ("aborted", "cancelled")
        assert result.failure is not None
        assert result.failure.retry_safe
        assert "rejected by Kim: too dear" in result.failure.message


@pytest.mark.parametrize("how", ["expiry", "cancel"])
async def test_a_turn_that_nobody_approves_is_never_sent(how: str, tmp_path: Path) -> None:
    """Not in the last moment either, when the run ends for it."""
    approvals = Approvals(after_turns=0, timeout_seconds=0.2 if how == "expiry" else 60)
    scripted = child(tmp_path, WENT_ON, permission=PermissionPolicy(approvals=approvals), approver=Nobody())
    with anyio.fail_after(SECONDS):
        async with Runner() as runner:
            run = await runner.start(scripted.spec, "go")
            async for event in run.events():
                if event.type == "permission_asked" and how == "cancel":
                    await run.cancel()
            result = await run.result()
    assert result.reason == ("approval_timeout" if how == "expiry" else "cancelled")
    assert [frame["method"] for frame in scripted.received()] == ["initialize", "session/new"]
    (record,) = result.permissions
    assert (record.subject, record.outcome) == ("turn", "cancelled")
    assert record.decided_by == ("expiry" if how == "expiry" else "cancellation")


CHANGED = {"toolCallId": "t", "title": "Write x", "kind": "edit", "status": "completed"}


@pytest.mark.parametrize("unasked", ["note", "error"])
async def test_a_change_that_was_not_asked_for_is_noted_or_ends_the_run_at_once(unasked: Any, tmp_path: Path) -> None:
    """As the policy says; the tool calls are named."""
    policy = PermissionPolicy(unasked=unasked)
    steps: list[dict[str, Any]] = [{"tool_call": CHANGED}, {"hang": True} if unasked == "error" else WENT_ON]
    result = await go(child(tmp_path, *steps, permission=policy).spec)
    assert result.flags.completed_without_asking == ("t",)
    if unasked == "note":
        assert result.reason == "end_turn"
        return
    assert (result.status, result.reason) == ("error", "completed_without_asking")
    assert result.failure is not None
    assert "'Write x' (edit)" in result.failure.message


async def test_a_change_that_was_asked_for_is_no_fault(tmp_path: Path) -> None:
    """The request and the completion belong together by the id of the call."""
    policy = PermissionPolicy(default="allow", unasked="error")
    steps: list[dict[str, Any]] = [
        {"permission": {"tool_call": {"toolCallId": "t", "kind": "edit"}}},
        {"tool_update": CHANGED},
    ]
    result = await go(child(tmp_path, *steps, permission=policy).spec)
    assert result.reason == "end_turn"


async def test_forms_are_advertised_and_filled_in_by_the_approver(tmp_path: Path) -> None:
    """Only with an approver; the child gets the values."""
    params = {
        "sessionId": "${session}",
        "mode": "form",
        "message": "Name?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    }
    steps: list[dict[str, Any]] = [
        {"request": {"method": "elicitation/create", "params": params, "save": "form"}},
        {"chunk": "${form.result.content.name}"},
    ]

    async def fill(_request: ApprovalRequest) -> Decision:
        return Decision.fill({"name": "Kim"})

    scripted = child(tmp_path, *steps, permission="reject", approver=fill)
    result = await go(scripted.spec)
    assert result.text == "Kim"
    capabilities = scripted.received()[0]["params"]["clientCapabilities"]
    assert capabilities["elicitation"] == {"form": {}}


async def test_an_approver_that_fails_is_logged_with_its_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And rejects; the run goes on."""

    async def fail(_request: ApprovalRequest) -> Decision:
        raise ValueError("the pager is broken")

    with caplog.at_level(logging.ERROR):
        result = await go(child(tmp_path, ASK, WENT_ON, approver=fail).spec)
    assert (result.reason, result.text) == ("end_turn", "went on")
    assert result.permissions[0].decided_by == "approver failure"


async def test_the_plain_call_takes_an_approver_too(tmp_path: Path) -> None:
    """Without a runner of one's own."""

    async def approve(_request: ApprovalRequest) -> Decision:
        return Decision.allow()

    with anyio.fail_after(SECONDS):
        result = await run_subagent(child(tmp_path, ASK, approver=approve).spec, "go")
    assert result.permissions[0].option_kind == "allow_once"


@pytest.mark.parametrize("cap", [0, -1, float("inf"), float("nan")])
def test_a_cap_is_a_finite_number_of_seconds(cap: float) -> None:
    """Said when the runner is made."""
    with pytest.raises(ValueError, match="finite number of seconds above 0"):
        Runner(approval_timeout_cap_seconds=cap)
