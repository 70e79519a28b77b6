"""The ends of a connection: EOF, drains, closing, broken pipes, cancellation; nobody waits for ever."""

from typing import Any

import anyio
import pytest

from acp_client.protocol.errors import INTERNAL_ERROR, ConnectionClosed
from acp_client.protocol.states import TheirRequest
from tests.protocol.peer.desk import SECONDS, Desk, answer, ask, note, running

pytestmark = pytest.mark.odd_frames


async def test_their_end_loses_every_open_request_and_lets_none_begin() -> None:
    """Each caller hears of it."""
    desk = Desk()
    pending = [desk.peer.start_request("m", {}) for _ in range(3)]
    desk.far.close_send()
    with anyio.fail_after(SECONDS):
        await desk.peer.run()
        for one in pending:
            with pytest.raises(ConnectionClosed):
                await one.wait()
    with pytest.raises(ConnectionClosed) as caught:
        desk.peer.start_request("m", {})
    assert not caught.value.sent
    assert desk.seen.told == ["|", "eof"]


async def test_a_peer_that_is_cancelled_loses_what_is_open() -> None:
    """Nobody waits for ever."""
    desk = Desk()
    pending = desk.peer.start_request("m", {})
    async with running(desk):
        await anyio.wait_all_tasks_blocked()
    with anyio.fail_after(SECONDS), pytest.raises(ConnectionClosed):
        await pending.wait()


async def test_handlers_may_finish_after_their_end_for_a_while() -> None:
    """What was accepted is answered, in the time that there is."""
    desk = Desk(drain_seconds=SECONDS)
    go = anyio.Event()

    async def slow(_request: TheirRequest) -> Any:
        await go.wait()
        return "done"

    desk.handlers["slow"] = slow
    async with running(desk):
        desk.say(ask(1, "slow"))
        desk.far.close_send()
        await desk.see("eof")
        go.set()
        assert await desk.hear() == answer(1, jsonrpc="2.0", result="done")


async def test_a_handler_that_does_not_finish_is_answered_for_at_the_end() -> None:
    """Its cancellation is no excuse for silence."""
    desk = Desk()

    async def slow(_request: TheirRequest) -> Any:
        await anyio.sleep_forever()

    desk.handlers["slow"] = slow
    desk.say(ask(1, "slow"))
    desk.far.close_send()
    with anyio.fail_after(SECONDS):
        await desk.peer.run()
    heard = await desk.hear()
    assert (heard["id"], heard["error"]["code"]) == (1, INTERNAL_ERROR)


async def test_after_our_own_end_their_requests_are_left_and_their_updates_are_told() -> None:
    """Those that were open, those that come later, and the cancelling of either: nothing of it ends the reader."""
    desk = Desk()
    go = anyio.Event()

    async def slow(_request: TheirRequest) -> Any:
        await go.wait()

    desk.handlers["slow"] = slow
    async with running(desk):
        desk.say(ask(1, "slow"), note("open"))
        await desk.see("open")
        desk.peer.close_send()
        go.set()
        await anyio.wait_all_tasks_blocked()
        desk.say(ask(2, "quick"), note("later"))
        await desk.see("later")
        await anyio.wait_all_tasks_blocked()
        cancels = [note("$/cancel_request") | {"params": {"requestId": number}} for number in (1, 2)]
        desk.say(*cancels, note("last"))
        await desk.see("last")
        assert await desk.far.receive() == b""
    assert repr(desk.peer) == ("<Peer <Link half_closed_local, 0 of our requests open, 0 of theirs>, nothing to write>")


async def test_a_flood_of_requests_after_our_own_end_is_not_kept() -> None:
    """Each is forgotten as it comes."""
    desk = Desk()
    async with running(desk):
        desk.peer.close_send()
        for round_ in range(3):
            desk.say(*[ask(number, "quick") for number in range(200)], note(f"round {round_}"))
            await desk.see(f"round {round_}")
            await anyio.wait_all_tasks_blocked()
        assert "0 of theirs" in repr(desk.peer)


async def test_a_notification_is_lost_without_a_word_once_we_have_closed() -> None:
    """Whoever sends it cannot know; before the end it arrives, and closing twice is once."""
    desk = Desk()
    desk.peer.notify("before", {})
    for _ in range(2):
        desk.peer.close_send()
    desk.peer.notify("after", {})
    assert (await desk.hear())["method"] == "before"
    assert await desk.far.receive() == b""


async def test_what_they_will_never_read_is_lost_and_told() -> None:
    """A request that cannot be written whole fails; `lost` returns and so does `flush`."""
    desk = Desk(capacity=64)
    async with running(desk):
        pending = desk.peer.start_request("m", {"pad": "x" * 200})
        assert "writing" in repr(desk.peer)
        desk.stop_reading()
        await desk.peer.lost()
        await desk.peer.flush()
        with pytest.raises(ConnectionClosed):
            await pending.wait()
        with pytest.raises(ConnectionClosed):
            await desk.peer.request("m", {})


async def test_a_large_request_and_a_large_answer_pass_each_other() -> None:
    """Reading does not wait for writing: both pipes are far too small."""
    desk = Desk(capacity=100)
    big = "x" * 50_000
    async with running(desk), anyio.create_task_group() as tasks:
        pending = desk.peer.start_request("m", {"pad": big})

        async def answer_it() -> None:
            rest = memoryview(b'{"jsonrpc":"2.0","id":1,"result":"' + big.encode() + b'"}\n')
            while rest:
                rest = rest[desk.far.send_nowait(rest) :]
                await desk.far.wait_sendable()

        tasks.start_soon(answer_it)
        assert await pending.wait() == big
        assert (await desk.hear())["params"]["pad"] == big
        await desk.peer.flush()


async def test_what_has_arrived_can_be_handled_without_waiting() -> None:
    """For a caller that wants all that is in the pipe before it decides."""
    desk = Desk()
    desk.peer.read_pending()
    assert desk.seen.told == []
    pending = desk.peer.start_request("m", {})
    desk.say(note("a"), answer(1, result=3))
    desk.peer.read_pending()
    assert desk.seen.told == ["a", "|"]
    assert await pending.wait() == 3
