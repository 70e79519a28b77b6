"""The async shell: order, answers, cancellation and floods, over a memory pair on both loops."""

from typing import Any

import anyio
import pytest

from acp_client.protocol.errors import (
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    TOO_MANY_REQUESTS,
    FrameTooLong,
    MalformedAnswer,
    RequestFailed,
)
from acp_client.protocol.link import MAX_THEIR_REQUESTS
from acp_client.protocol.peer import MAX_QUEUED_ANSWER_BYTES
from acp_client.protocol.states import FrameDropped, TheirRequest
from tests.protocol.peer.desk import SECONDS, Desk, answer, ask, note, running

pytestmark = pytest.mark.odd_frames


async def quick(request: TheirRequest) -> Any:
    """Answer at once."""
    return {"method": request.method}


async def test_an_answer_resolves_at_its_place_among_notifications() -> None:
    """All that came before it was told before, in one read, whatever tasks are there."""
    desk = Desk()
    async with running(desk):
        pending = desk.peer.start_request("m", {}, desk.seen.told.append)
        assert (await desk.hear())["method"] == "m"
        desk.say(note("a"), note("b"), answer(1, result=7), note("c"))
        assert await pending.wait() == 7
        assert await pending.wait() == 7
    a, b, result, c, *_ = desk.seen.told
    assert (a, b, result.result, c) == ("a", "b", 7, "c")
    assert desk.seen.bytes > 0


OUTCOMES: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "an error": ({"error": {"code": -3, "message": "no"}}, RequestFailed, "no"),
    "neither": ({}, MalformedAnswer, "neither"),
    "both": ({"result": 1, "error": {}}, MalformedAnswer, "both"),
}


@pytest.mark.parametrize("name", OUTCOMES)
async def test_an_answer_that_is_no_result_raises(name: str) -> None:
    """Named by what it was, with the method."""
    outcome, error, says = OUTCOMES[name]
    desk = Desk()
    desk.say(answer(1, **outcome))
    async with running(desk):
        with pytest.raises(error, match=says):
            await desk.peer.request("m", {})


async def test_a_handler_may_ask_the_other_side_before_it_answers() -> None:
    """It never runs on the read loop."""
    desk = Desk()

    async def relay(request: TheirRequest) -> Any:
        return await desk.peer.request(f"about {request.id}", {})

    desk.handlers["ask"] = relay
    async with running(desk):
        desk.say(ask("x", "ask"))
        asked = await desk.hear()
        assert asked["method"] == "about x"
        desk.say(answer(asked["id"], result="told"))
        assert await desk.hear() == answer("x", result="told")


async def test_an_unknown_method_is_answered_though_jsonrpcserver_is_not_loaded_yet() -> None:
    """It is loaded in a worker thread meanwhile."""
    desk = Desk()
    async with running(desk):
        desk.say(ask(5, "_vendor/x"), ask("six", "elicitation/create"))
        heard = [await desk.hear(), await desk.hear()]
    assert {one["id"]: one["error"]["code"] for one in heard} == {5: METHOD_NOT_FOUND, "six": METHOD_NOT_FOUND}


async def test_a_request_that_they_cancel_is_answered_as_cancelled() -> None:
    """Others go on, and the session of frames too."""
    desk = Desk()
    started = anyio.Event()

    async def slow(_request: TheirRequest) -> Any:
        started.set()
        await anyio.sleep_forever()

    desk.handlers |= {"slow": slow, "quick": quick}
    async with running(desk):
        desk.say(ask(1, "slow"))
        await started.wait()
        desk.say({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}, ask(2, "quick"))
        heard = {one["id"]: one for one in [await desk.hear(), await desk.hear()]}
    assert heard[1]["error"]["code"] == REQUEST_CANCELLED
    assert heard[2]["result"] == {"method": "quick"}


async def test_a_caller_that_is_cancelled_gives_the_request_up() -> None:
    """They are told, and their late answer is read and dropped."""
    desk = Desk()
    async with running(desk):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(desk.peer.request, "m", {})
                assert (await desk.hear())["method"] == "m"
                scope.cancel()
        cancel = await desk.hear()
        assert (cancel["method"], cancel["params"]) == ("$/cancel_request", {"requestId": 1})
        desk.say(answer(1, result={}), note("after"))
        await desk.see("after")


async def test_giving_up_what_is_settled_or_cannot_be_told_does_nothing() -> None:
    """Cancelling races with answers and with ends."""
    desk = Desk()
    desk.say(answer(1, result=1))
    async with running(desk):
        pending = desk.peer.start_request("m", {})
        await pending.wait()
        desk.peer.cancel(pending)
        other = desk.peer.start_request("n", {})
        desk.peer.close_send()
        desk.peer.cancel(other)
        assert (await desk.hear())["method"] == "m"
        assert (await desk.hear())["method"] == "n"
        with anyio.fail_after(SECONDS):
            assert await desk.far.receive() == b""


@pytest.mark.parametrize("answers", [True, False])
async def test_only_an_agent_answers_noise(answers: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Once a line; a client says nothing."""
    desk = Desk(answer_noise=answers)
    desk.handlers["quick"] = quick
    async with running(desk):
        desk.say(b"nonsense\n\n", ask(1, "quick"))
        if answers:
            noise = await desk.hear()
            assert (noise["id"], noise["error"]["code"]) == (None, -32700)
        assert (await desk.hear())["id"] == 1
    assert desk.seen.told[0] == b"nonsense"


async def test_a_client_answers_a_request_whose_params_cannot_be_used() -> None:
    """No object, or nested too deeply: whoever sent it waits."""
    desk = Desk()
    deep = b'{"jsonrpc":"2.0","id":2,"method":"quick","params":{"a":' + b"[" * 300 + b"]" * 300 + b"}}\n"
    async with running(desk):
        desk.say(b'{"jsonrpc":"2.0","id":1,"method":"quick","params":[1]}\n', deep)
        answers = [await desk.hear(), await desk.hear()]
    assert [(one["id"], one["error"]["code"]) for one in answers] == [(1, -32602), (2, -32602)]


async def test_noise_after_our_own_end_is_told_and_not_answered() -> None:
    """There is nobody to tell."""
    desk = Desk(answer_noise=True)
    desk.peer.close_send()
    desk.say(b"nonsense\n")
    desk.far.close_send()
    with anyio.fail_after(SECONDS):
        await desk.peer.run()
    assert desk.seen.told == [b"nonsense", "|", "|", "eof"]


async def test_one_request_too_many_is_refused_at_once() -> None:
    """The ones before it are still served."""
    desk = Desk()
    go = anyio.Event()

    async def slow(_request: TheirRequest) -> Any:
        await go.wait()
        return {}

    desk.handlers["slow"] = slow
    async with running(desk):
        desk.say(*[ask(number, "slow") for number in range(MAX_THEIR_REQUESTS + 1)])
        refused = await desk.hear()
        assert (refused["id"], refused["error"]["code"]) == (MAX_THEIR_REQUESTS, TOO_MANY_REQUESTS)
        go.set()
        served = {(await desk.hear())["id"] for _ in range(MAX_THEIR_REQUESTS)}
    assert served == set(range(MAX_THEIR_REQUESTS))


async def test_answers_that_nobody_reads_stop_our_reading() -> None:
    """A flood of requests meets back-pressure; reading their answers lets them go on."""
    desk = Desk(capacity=4096)

    async def big(_request: TheirRequest) -> Any:
        return "x" * (MAX_QUEUED_ANSWER_BYTES // 2)

    desk.handlers["quick"] = big
    async with running(desk):
        for number in range(4):
            desk.say(ask(number, "quick"))
            await anyio.wait_all_tasks_blocked()
        desk.say(note("unread"))
        await anyio.wait_all_tasks_blocked()
        assert "unread" not in desk.seen.told
        assert {(await desk.hear())["id"] for _ in range(4)} == {0, 1, 2, 3}
        await anyio.wait_all_tasks_blocked()
        assert "unread" in desk.seen.told


async def test_a_frame_over_the_limit_fails_what_waits_and_is_told() -> None:
    """An answer may have been in it; a later answer to the same request finds nobody."""
    desk = Desk(max_frame_bytes=100)
    async with running(desk):
        pending = desk.peer.start_request("m", {})
        desk.say(answer(1, result="x" * 200))
        with pytest.raises(FrameTooLong) as caught:
            await pending.wait()
        assert caught.value.limit_bytes == 100
        desk.say(answer(1, result={}), note("after"))
        await desk.see("after")
    assert FrameDropped("a frame over max_frame_bytes", None, None) in desk.seen.told


async def test_a_stray_answer_is_told_as_dropped() -> None:
    """With the id that it had."""
    desk = Desk()
    async with running(desk):
        desk.say(answer(99, result={}), note("after"))
        await desk.see("after")
    assert desk.seen.told[0] == FrameDropped("an answer to no open request", None, 99)
