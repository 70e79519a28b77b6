"""What an agent's author gets wrong is told at the call, with the rule, and never sent."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent import Context, serve
from acp_client.protocol.errors import INTERNAL_ERROR
from tests.agent.trades.client import connected

KINDS = "read, edit, delete, move, search, execute, think, fetch, switch_mode, other"
A_STR = "must be a str, not int; say it in words, with str(…) or json.dumps(…)"
MODELS = "not dict; the models are in acp_client.protocol.models"


class Mistaken:
    """An agent whose turns make mistakes of every kind, and complete with what they were told."""

    name = "mistaken"
    version = "0"

    async def new_session(self, request: Any) -> Any:
        """Any session will do."""

    async def prompt(self, context: Context) -> None:
        """One after the other; nothing of them is sent, so that the turn goes on."""
        told = []
        for mistake in MISTAKES:
            try:
                await mistake(context)
            except (TypeError, ValueError) as error:
                told.append(f"{type(error).__name__}: {error}")
        await context.complete(told)

    async def cancel(self, session_id: str) -> None:
        """Nothing is left to stop."""


async def _fails_with_a_number(context: Any) -> None:
    await (await context.tool_call("x", kind="think")).fail(3)


async def _asks_with_a_dict(context: Any) -> None:
    await context.request_permission(await context.tool_call("x"), [{"optionId": "y"}])


MISTAKES: dict[Callable[[Any], Awaitable[Any]], str] = {
    lambda context: context.text(3): f"TypeError: text {A_STR}",
    lambda context: context.thought(3): f"TypeError: text {A_STR}",
    lambda context: context.tool_call(3): f"TypeError: title {A_STR}",
    lambda context: context.tool_call("x", name=3): f"TypeError: name {A_STR}",
    lambda context: context.tool_call("x", kind="reed"): (
        f"ValueError: kind is 'reed'; it is one of {KINDS}; did you mean 'read'?"
    ),
    lambda context: context.tool_call("x", kind=None): (f"ValueError: kind is None; it is one of {KINDS}"),
    lambda context: context.tool_call("x", status="done"): (
        "ValueError: status is 'done'; it is one of pending, in_progress, completed, failed"
    ),
    lambda context: context.plan([("a", "complete")]): (
        "ValueError: the status of an entry is 'complete'; it is one of pending, in_progress, completed; "
        "did you mean 'completed'?"
    ),
    lambda context: context.plan([(3, "pending")]): f"TypeError: an entry {A_STR}",
    lambda context: context.plan([], priority="hi"): (
        "ValueError: priority is 'hi'; it is one of high, medium, low; did you mean 'high'?"
    ),
    lambda context: context.usage(used=0.5, size=9): ("TypeError: used must be an int, a number of tokens, not float"),
    lambda context: context.block({"type": "text"}): (
        f"TypeError: block must be a content block such as ImageContent(…), {MODELS}"
    ),
    lambda context: context.tool_call("x", locations=["/a"]): (
        "TypeError: each location must be a path and a line or None, such as (\"/a.py\", 3), not '/a'"
    ),
    _fails_with_a_number: f"TypeError: text {A_STR}",
    _asks_with_a_dict: f"TypeError: each option must be a PermissionOption(…), {MODELS}",
}


async def test_a_mistake_in_a_turn_is_told_with_its_rule_and_nothing_of_it_is_sent(tmp_path: Path) -> None:
    """A client would show none of it, and say nothing; what is right beside it goes out."""
    async with connected(agent=Mistaken()) as client:
        answer = await client.prompt(tmp_path, "go")
    assert client.completed == [list(MISTAKES.values())]
    assert answer["result"] == {"stopReason": "end_turn"}
    sent = [one["params"]["update"] for one in client.said if one.get("method") == "session/update"]
    assert [(one["sessionUpdate"], one["kind"]) for one in sent] == [("tool_call", "think"), ("tool_call", "other")]


async def test_a_dict_in_place_of_an_answer_is_told_by_method_and_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log; the wire has the bare error of a bug."""

    class Answering(Mistaken):
        async def new_session(self, request: Any) -> Any:  # noqa: ARG002  # as agents are asked
            return {"sessionId": "s-1"}

    async with connected(agent=Answering()) as client:
        answer = await client.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    assert answer["error"] == {"code": INTERNAL_ERROR, "message": "Internal error"}
    told = "the answer to session/new must be NewSessionResponse(…), or None for an empty one, "
    assert f"TypeError: {told}{MODELS}" in caplog.text


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("prompt_capabilities", {"image": True}, r"prompt_capabilities must be PromptCapabilities\(…\), not dict"),
        ("auth_methods", [{"id": "key"}], r"auth_methods must hold models such as AuthMethodAgent\(…\), not dict"),
    ],
)
async def test_what_cannot_be_advertised_is_refused_before_a_client_comes(field: str, value: Any, message: str) -> None:
    """With the other rules of an agent's shape."""
    agent = Mistaken()
    setattr(agent, field, value)
    with pytest.raises(TypeError, match=message):
        await serve(agent)
