"""Permissions between both real sides: every request is answered, and nobody takes a no for a yes."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_agent import Context, PermissionAnswer, ToolCallHandle
from acp_client.policy.permission import Decision, PermissionRequest
from acp_client.protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, RequestFailed
from acp_client.protocol.models import PermissionOption
from tests.interaction.talk import Doer, talking

ALLOW = PermissionOption(option_id="y", name="Yes", kind="allow_once")
ALWAYS = PermissionOption(option_id="yy", name="Always", kind="allow_always")
REJECT = PermissionOption(option_id="n", name="No", kind="reject_once")


class Asker:
    """A turn that asks once; keeps what it was told."""

    def __init__(self, *options: PermissionOption, kind: str = "edit") -> None:
        self.options = options
        self.kind = kind
        self.answers: list[PermissionAnswer] = []

    async def deed(self, context: Context) -> str | None:
        """Ask, and say what came of it."""
        announced: dict[str, Any] = {"toolCallId": "c", "title": "Change x", "name": "patch", "kind": self.kind}
        announced |= {"status": "in_progress", "locations": [{"path": "/project/x"}]}
        await context.update({"sessionUpdate": "tool_call", **announced})  # raw, for a kind that is none of ACP's
        call = ToolCallHandle(context, announced)
        answer = await context.request_permission(call, self.options)
        self.answers.append(answer)
        if answer.allowed:
            await call.complete()
        else:
            await call.fail("not allowed")
        return None


ANSWERS: list[tuple[Any, tuple[PermissionOption, ...], bool, str | None]] = [
    ("reject", (ALLOW, REJECT), False, "n"),
    ("reject", (ALLOW, ALWAYS), False, None),
    ("reject", (), False, None),
    ("allow", (REJECT, ALWAYS, ALLOW), True, "y"),
    ("allow", (REJECT, ALWAYS), True, "yy"),
    ("allow", (REJECT,), False, "n"),
    ("allow", (), False, None),
]


@pytest.mark.parametrize(("permission", "options", "allowed", "option_id"), ANSWERS)
async def test_the_agent_gets_what_the_policy_decided(
    permission: Any, options: tuple[PermissionOption, ...], *, allowed: bool, option_id: str | None
) -> None:
    """By an option of its own list, or the outcome `cancelled` where none fits; the turn goes on."""
    asker = Asker(*options)
    async with talking(Doer(asker.deed), permission=permission) as talk:
        assert await talk.prompt() == {"stopReason": "end_turn"}
        (answer,) = asker.answers
        assert answer.allowed == allowed
        assert (answer.option.option_id if answer.option else None) == option_id
        assert answer.cancelled == (option_id is None)
        (record,) = talk.session.permissions.records
        assert (record.action, record.option_id, record.kind) == (permission, option_id, "edit")
        assert record.wider == (option_id == "yy")
        assert record.decided_by == f"preset {permission}"
        assert talk.session.turn.completed_without_asking() == ()
        (call,) = talk.session.turn.tool_calls()
        assert call.status == ("completed" if allowed else "failed")


async def test_a_callable_sees_the_call_and_decides() -> None:
    """With paths, kind and the name of the agent."""
    seen: list[PermissionRequest] = []

    async def decide(request: PermissionRequest) -> Decision:
        seen.append(request)
        return Decision.allow("looks fine")

    asker = Asker(ALLOW, REJECT)
    async with talking(Doer(asker.deed), permission=decide, name="helper") as talk:
        await talk.prompt()
        (request,) = seen
        assert (request.title, request.name, request.kind, request.agent) == ("Change x", "patch", "edit", "helper")
        assert request.paths == ("/project/x",)
        assert [option.option_id for option in request.options] == ["y", "n"]
        (record,) = talk.session.permissions.records
        assert (record.why, record.decided_by) == ("looks fine", "callable")


async def fail(_request: PermissionRequest) -> Decision:
    """A policy with a bug."""
    raise ValueError("bug")


async def shrug(_request: PermissionRequest) -> Any:
    """A policy that decides nothing."""
    return None


@pytest.mark.parametrize("policy", [fail, shrug])
async def test_a_policy_that_fails_rejects_and_the_turn_goes_on(policy: Callable[..., Awaitable[Any]]) -> None:
    """Its failure must not decide for the child."""
    asker = Asker(ALLOW, REJECT)
    async with talking(Doer(asker.deed), permission=policy) as talk:
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert [answer.allowed for answer in asker.answers] == [False]
        assert talk.session.permissions.records[0].decided_by == "policy failure"


@pytest.mark.odd_frames
@pytest.mark.parametrize("kind", ["switch_mode", "open_url"])
async def test_what_is_no_tool_is_not_allowed_by_the_preset(kind: str) -> None:
    """Leaving a plan mode is not reading a file."""
    asker = Asker(ALLOW, REJECT, kind=kind)
    async with talking(Doer(asker.deed), permission="allow") as talk:
        await talk.prompt()
        assert [answer.allowed for answer in asker.answers] == [False]


async def test_a_cancel_answers_the_open_request_and_every_later_one() -> None:
    """With the outcome `cancelled`; the turn is answered as cancelled."""
    asked = anyio.Event()

    async def never(_request: PermissionRequest) -> Decision:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    answers: list[PermissionAnswer] = []

    async def ask_twice(context: Context) -> str | None:
        call = await context.tool_call("x", kind="edit")
        with anyio.CancelScope(shield=True):
            answers.append(await context.request_permission(call, [ALLOW, REJECT]))
            answers.append(await context.request_permission(call, [ALLOW, REJECT]))
        return None

    async with talking(Doer(ask_twice), permission=never) as talk, anyio.create_task_group() as tasks:
        results = []

        async def prompt() -> None:
            results.append(await talk.prompt())

        tasks.start_soon(prompt)
        await asked.wait()
        talk.cancel()
        while not results:
            await anyio.lowlevel.checkpoint()
        assert results == [{"stopReason": "cancelled"}]
        assert [(answer.allowed, answer.cancelled) for answer in answers] == [(False, True)] * 2
        assert [record.action for record in talk.session.permissions.records] == ["cancelled"] * 2


# ---- what an agent may ask otherwise

CALL = {"toolCallId": "c", "title": "x"}
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
NO = {"outcome": {"outcome": "selected", "optionId": "n"}}
NOTHING = {"outcome": {"outcome": "cancelled"}}

REQUESTS: list[tuple[str, dict[str, Any], Any]] = [
    ("session/request_permission", {"sessionId": "other", "toolCall": CALL, "options": OPTIONS}, NO),
    ("session/request_permission", {"sessionId": "other", "toolCall": CALL, "options": []}, NOTHING),
    ("session/request_permission", {"sessionId": "s", "toolCall": CALL, "options": [{"optionId": "a"}]}, NOTHING),
    ("session/request_permission", {"sessionId": "s", "toolCall": CALL, "options": [{"kind": "x"}, 5]}, NOTHING),
    ("session/request_permission", {"toolCall": CALL, "options": OPTIONS}, INVALID_PARAMS),
    ("session/request_permission", {"sessionId": "s", "toolCall": {}, "options": OPTIONS}, INVALID_PARAMS),
    ("session/request_permission", {"sessionId": "s", "toolCall": CALL, "options": None}, INVALID_PARAMS),
    ("session/request_permission", {}, INVALID_PARAMS),
    ("fs/read_text_file", {"sessionId": "s", "path": "/etc/passwd"}, METHOD_NOT_FOUND),
    ("fs/write_text_file", {"sessionId": "s", "path": "/tmp/x", "content": ""}, METHOD_NOT_FOUND),  # noqa: S108  # not made
    ("terminal/create", {"sessionId": "s", "command": "true"}, METHOD_NOT_FOUND),
    ("elicitation/create", {"sessionId": "s", "mode": "form", "message": "?"}, METHOD_NOT_FOUND),
    ("session/unknown", {}, METHOD_NOT_FOUND),
    ("_vendor/x", {"a": 1}, METHOD_NOT_FOUND),
]


@pytest.mark.odd_frames
@pytest.mark.parametrize(("method", "params", "expected"), REQUESTS)
async def test_every_request_of_an_agent_is_answered_and_none_with_a_fake_success(
    method: str, params: dict[str, Any], expected: Any
) -> None:
    """Other sessions, unusable options, methods that we do not serve; the turn goes on."""
    answers: list[Any] = []

    async def ask(context: Context) -> str | None:
        try:
            answers.append(await context._peer.request(method, params))
        except RequestFailed as error:
            answers.append(error.code)
        context._peer.notify("_vendor/note", {})
        context._peer.notify("session/unknown", {"sessionId": context.session_id})
        await context.text("went on")
        return None

    async with talking(Doer(ask)) as talk:
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert answers == [expected]
        assert talk.text_at_answer == "went on"
