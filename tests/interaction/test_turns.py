"""Turns between both real sides: order, cancellation, errors."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_agent import Context, RpcError
from acp_client.protocol.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
    SESSION_BUSY,
    RequestFailed,
)
from acp_client.protocol.models import ImageContent
from tests.interaction.talk import SOON_SECONDS, Deed, Doer, Talk, hang, nothing, talking


async def test_every_update_is_folded_before_the_answer_resolves() -> None:
    """Text, thoughts, calls, plan and usage, in the order in which they were sent."""

    async def work(context: Context) -> str | None:
        await context.thought("hm")
        await context.text("Look")
        call = await context.tool_call("Read x", kind="read", locations=[("/project/x", 3)], raw_input={"p": 1})
        await call.progress(text="half")
        await call.complete(text="whole", raw_output=[1])
        await context.plan([("a", "completed"), ("b", "pending")])
        await context.usage(used=5, size=100, cost=(0.5, "EUR"))
        await context.text("ed", message_id=None)
        await context.block(ImageContent(data="aGk=", mime_type="image/png"))
        return None

    async with talking(Doer(work)) as talk:
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert talk.text_at_answer == "Looked"
        turn = talk.session.turn
        assert [message.text for message in turn.answer.messages()] == ["Look", "ed"]
        (call,) = turn.tool_calls()
        assert (call.title, call.kind, call.status, call.raw["rawOutput"]) == ("Read x", "read", "completed", [1])
        assert [entry.status for entry in turn.plan_entries()] == ["completed", "pending"]
        assert turn.usage().context_used == 5
        assert (turn.late_updates, turn.malformed, turn.unknown_count, turn.thoughts) == (0, 0, 0, 1)


@pytest.mark.parametrize("count", [1, 600])
async def test_a_stream_of_chunks_arrives_whole_however_long(count: int) -> None:
    """The pipe between is far smaller."""

    async def stream(context: Context) -> str | None:
        for number in range(count):
            await context.text(f"{number},")
        return None

    async with talking(Doer(stream)) as talk:
        await talk.prompt()
        assert talk.text_at_answer == "".join(f"{number}," for number in range(count))


async def test_odd_text_arrives_as_it_is() -> None:
    """Line separators, emoji, control characters, braces; a lone surrogate is replaced."""
    text = '\u2028\u2029\u0085\v\f\r\n{"jsonrpc":"2.0"}😀é\0\x1b[31m'

    async def say(context: Context) -> str | None:
        await context.text(text)
        await context.text("\udc80")
        await context.text(context.text_of_prompt)
        return None

    async with talking(Doer(say)) as talk:
        await talk.prompt({"type": "text", "text": text + "\ud800"})
        assert talk.text_at_answer == f"{text}\ufffd{text}\ufffd"


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"])
async def test_the_agent_s_stop_reason_is_answered(reason: str) -> None:
    """Every word of ACP."""

    async def stop(_context: Context) -> str | None:
        return reason

    async with talking(Doer(stop)) as talk:
        assert await talk.prompt() == {"stopReason": reason}


# ---- cancelling


async def clean_up(context: Context) -> str | None:
    """Say something while being cancelled."""
    try:
        await hang(context)
    finally:
        with anyio.CancelScope(shield=True):
            await context.text(", cleaned up")
    return None


async def fail_to_clean_up(context: Context) -> str | None:
    """Break while being cancelled."""
    try:
        await hang(context)
    finally:
        raise RuntimeError("cannot clean up")


async def answer_otherwise(context: Context) -> str | None:
    """Take the cancellation for an error and go on."""
    try:
        await hang(context)
    except BaseException:  # noqa: BLE001  # what bad agents do
        return "end_turn"
    return None


CANCELLED: list[tuple[Deed, str]] = [
    (hang, "began"),
    (clean_up, "began, cleaned up"),
    (fail_to_clean_up, "began"),
    (answer_otherwise, "began"),
]


@pytest.mark.parametrize(("deed", "text"), CANCELLED)
async def test_a_cancelled_turn_is_answered_as_cancelled_soon(deed: Deed, text: str) -> None:
    """Whatever the agent makes of it; what it says comes before the answer or not at all."""
    agent = Doer(deed)
    async with talking(agent) as talk, anyio.create_task_group() as tasks:
        results = []

        async def prompt() -> None:
            results.append(await talk.prompt())

        tasks.start_soon(prompt)
        await talk.has_said("began")
        with anyio.fail_after(SOON_SECONDS):
            for _ in range(2):
                talk.cancel()
            while not results:
                await anyio.lowlevel.checkpoint()
        assert results == [{"stopReason": "cancelled"}]
        assert talk.text_at_answer == text
        assert agent.cancelled
        agent.deed = nothing
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert talk.session.turn.answer.text() == text
        assert talk.session.turn.late_updates == 0


@pytest.mark.odd_frames
async def test_cancelling_an_idle_or_unknown_session_does_nothing() -> None:
    """The next turn runs to its end."""
    agent = Doer(nothing)
    async with talking(agent) as talk:
        talk.cancel()
        for odd in (None, 5, "other"):
            talk.peer.notify("session/cancel", {"sessionId": odd})
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert agent.cancelled == []


async def test_giving_up_the_request_itself_ends_the_turn_too() -> None:
    """`$/cancel_request`: it is answered as cancelled, and the session goes on."""
    agent = Doer(hang)
    async with talking(agent) as talk, anyio.create_task_group() as tasks:
        errors: list[Any] = []
        talk.session.turn.phase = "running"
        params = {"sessionId": talk.session.id, "prompt": [{"type": "text", "text": "go"}]}
        pending = talk.peer.start_request("session/prompt", params)

        async def wait() -> None:
            with pytest.raises(RequestFailed) as caught:
                await pending.wait()
            errors.append(caught.value.code)

        tasks.start_soon(wait)
        await talk.has_said("began")
        talk.peer.notify("$/cancel_request", {"requestId": 999})
        talk.peer.notify("$/cancel_request", {"requestId": str(pending.request.id)})
        talk.peer.notify("$/cancel_request", {"requestId": pending.request.id})
        while not errors:
            await anyio.lowlevel.checkpoint()
        assert errors == [REQUEST_CANCELLED]
        agent.deed = nothing
        assert await talk.prompt() == {"stopReason": "end_turn"}


async def test_the_end_of_input_in_a_turn_cancels_it_and_is_answered() -> None:
    """What was accepted is answered before the agent goes."""
    talks: list[Talk] = []
    results = []
    async with anyio.create_task_group() as tasks, talking(Doer(hang)) as talk:
        talks.append(talk)

        async def prompt() -> None:
            results.append(await talk.prompt())

        tasks.start_soon(prompt)
        await talk.has_said("began")
    assert results == [{"stopReason": "cancelled"}]


async def test_a_turn_that_does_not_let_go_is_answered_for_and_says_no_more() -> None:
    """The session goes on while it still runs; what it then sends goes nowhere."""
    go, gone = anyio.Event(), anyio.Event()

    async def cling(context: Context) -> str | None:
        await context.text("began")
        with anyio.CancelScope(shield=True):
            await go.wait()
            await context.text(", never to be seen")
            gone.set()
        return "end_turn"

    agent = Doer(cling)
    async with talking(agent) as talk, anyio.create_task_group() as tasks:
        results = []

        async def prompt() -> None:
            results.append(await talk.prompt())

        tasks.start_soon(prompt)
        await talk.has_said("began")
        with anyio.fail_after(SOON_SECONDS):
            talk.cancel()
            while not results:
                await anyio.lowlevel.checkpoint()
        assert results == [{"stopReason": "cancelled"}]
        go.set()
        await gone.wait()
        agent.deed = nothing
        assert await talk.prompt() == {"stopReason": "end_turn"}
        assert talk.session.turn.answer.text() == "began"
        assert talk.session.turn.late_updates == 0


# ---- busy and errors


async def test_a_second_prompt_is_refused_and_the_first_is_unharmed() -> None:
    """With an error of its own, neither "log in" nor "no such session"."""
    go = anyio.Event()

    async def wait(context: Context) -> str | None:
        await context.text("began")
        await go.wait()
        await context.text(", ended")
        return None

    async with talking(Doer(wait)) as talk, anyio.create_task_group() as tasks:
        tasks.start_soon(talk.prompt)
        await talk.has_said("began")
        with pytest.raises(RequestFailed) as caught:
            await talk.ask("session/prompt", sessionId=talk.session.id, prompt=[{"type": "text", "text": "me too"}])
        assert caught.value.code == SESSION_BUSY
        go.set()
        await talk.has_said("began, ended")


async def test_two_sessions_have_a_turn_each_at_the_same_time() -> None:
    """Neither waits for the other, and the other's updates are not our text."""
    both = anyio.Event()
    running: list[str] = []

    async def meet(context: Context) -> str | None:
        running.append(context.session_id)
        if len(running) == 2:
            both.set()
        await both.wait()
        await context.text(f"in {context.session_id}")
        return None

    async with talking(Doer(meet)) as talk, anyio.create_task_group() as tasks:
        other = (await talk.ask("session/new", cwd="/", mcpServers=[]))["sessionId"]
        assert other != talk.session.id
        tasks.start_soon(talk.prompt)
        prompt = [{"type": "text", "text": "go"}]
        assert await talk.ask("session/prompt", sessionId=other, prompt=prompt) == {"stopReason": "end_turn"}
        await talk.has_said(f"in {talk.session.id}")


async def break_down(_context: Context) -> str | None:
    """A bug."""
    raise ValueError("password=hunter2")


async def odd_word(_context: Context) -> str | None:
    """No stop reason."""
    return "done"


async def on_purpose(_context: Context) -> str | None:
    """An error for the client."""
    raise RpcError(-32099, "out of paper", {"tray": 2})


BUGS: list[tuple[Deed, int, str, Any]] = [
    (break_down, INTERNAL_ERROR, "Internal error", None),
    (odd_word, INTERNAL_ERROR, "Internal error", None),
    (on_purpose, -32099, "out of paper", {"tray": 2}),
]


@pytest.mark.parametrize(("deed", "code", "message", "data"), BUGS)
async def test_a_failing_turn_is_an_error_that_tells_what_was_meant_to_be_told(
    deed: Deed, code: int, message: str, data: Any
) -> None:
    """And the session goes on."""
    agent = Doer(deed)
    async with talking(agent) as talk:
        ending = await talk.failure(talk.prompt())
        assert (ending.reason, ending.rpc_code, ending.rpc_message) == ("agent_error", code, message)
        assert ending.rpc_data == data
        agent.deed = nothing
        assert await talk.prompt() == {"stopReason": "end_turn"}


PROMPTS: list[tuple[dict[str, Any], int, str]] = [
    ({"sessionId": "other", "prompt": []}, RESOURCE_NOT_FOUND, "other"),
    ({"prompt": []}, INVALID_PARAMS, "sessionId"),
    ({"sessionId": 5, "prompt": []}, INVALID_PARAMS, "sessionId"),
    ({"sessionId": "other"}, INVALID_PARAMS, "prompt"),
    ({"sessionId": "other", "prompt": "go"}, INVALID_PARAMS, "prompt"),
    ({"sessionId": "other", "prompt": [{"text": "x"}]}, INVALID_PARAMS, "prompt"),
]


@pytest.mark.odd_frames
@pytest.mark.parametrize(("params", "code", "says"), PROMPTS)
async def test_a_prompt_that_cannot_be_read_is_an_error_that_names_the_field(
    params: dict[str, Any], code: int, says: str
) -> None:
    """Nothing is run."""
    async with talking(Doer(break_down)) as talk:
        with pytest.raises(RequestFailed, match=says) as caught:
            await talk.ask("session/prompt", **params)
        assert caught.value.code == code


@pytest.mark.odd_frames
@pytest.mark.parametrize("kind", ["image", "audio", "resource", "hologram"])
async def test_a_block_that_was_not_advertised_is_refused_by_its_place(kind: str) -> None:
    """A text and a link are always taken."""
    blocks: dict[str, dict[str, Any]] = {
        "image": {"data": "", "mimeType": "x"},
        "audio": {"data": "", "mimeType": "x"},
        "resource": {"resource": {"uri": "u", "text": "t"}},
        "hologram": {},
    }
    link = {"type": "resource_link", "uri": "file:///x", "name": "x"}
    async with talking(Doer(nothing)) as talk:
        assert await talk.prompt(link, {"type": "text", "text": "t"}) == {"stopReason": "end_turn"}
        ending = await talk.failure(talk.prompt(link, {"type": kind} | blocks[kind]))
        assert ending.rpc_code == INVALID_PARAMS
        assert "prompt[1]" in (ending.rpc_message or "")
