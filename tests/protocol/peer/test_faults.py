"""Faults and floods that a peer must stand: refused requests, no threads, a listener that breaks, a broken pipe."""

import os
import signal
import threading
from typing import Any

import anyio
import pytest

from acp_client.loop import threads
from acp_client.loop.descriptors import write_quietly
from acp_client.protocol.dispatch import Dispatcher
from acp_client.protocol.errors import METHOD_NOT_FOUND, TOO_MANY_REQUESTS
from acp_client.protocol.link import MAX_THEIR_REQUESTS
from acp_client.protocol.peer import Peer
from acp_client.protocol.streams import memory_pair
from tests.protocol.peer.desk import SECONDS, Desk, Seen, ask, note, running

pytestmark = pytest.mark.odd_frames


async def test_a_request_that_was_refused_may_be_cancelled() -> None:
    """It has its answer; the connection lives on."""
    desk = Desk(capacity=1024 * 1024)
    go = anyio.Event()

    async def slow(_request: Any) -> str:
        await go.wait()
        return "done"

    desk.handlers["slow"] = slow
    flood = [ask(number, "slow") for number in range(MAX_THEIR_REQUESTS + 1)]
    cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": MAX_THEIR_REQUESTS}}
    async with running(desk):
        desk.say(*flood, cancel, note("still"))
        await desk.see("still")
        refused = await desk.hear()
        assert (refused["id"], refused["error"]["code"]) == (MAX_THEIR_REQUESTS, TOO_MANY_REQUESTS)
        go.set()
        assert {(await desk.hear())["result"] for _ in range(MAX_THEIR_REQUESTS)} == {"done"}


async def test_handlers_are_loaded_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the loop, then."""
    loaded: list[threading.Thread] = []

    def refuse(_run: Any) -> None:
        raise RuntimeError("can't start new thread")

    class Watched(Dispatcher):
        def load(self) -> None:
            loaded.append(threading.current_thread())
            super().load()

    monkeypatch.setattr(threads._Worker, "give", refuse)

    ours, far = memory_pair()
    desk = Desk()
    desk.far = far
    peer = Peer(ours, Seen(), Watched({}))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(peer.run)
        desk.say(ask(1, "what/ever"))
        assert (await desk.hear())["error"]["code"] == METHOD_NOT_FOUND
        tasks.cancel_scope.cancel()
    assert loaded == [threading.current_thread()]


async def test_a_fault_of_ours_is_raised_and_is_not_taken_for_the_end_of_the_other_side() -> None:
    """What waits for an answer is left to whoever hears of the fault."""

    class Broken(Seen):
        def on_notification(self, message: dict[str, Any]) -> None:  # noqa: ARG002  # as the listener's
            raise LookupError("a fault of ours")

    ours, far = memory_pair()
    desk = Desk()
    desk.far = far
    peer = Peer(ours, Broken(), Dispatcher({}))
    pending = peer.start_request("m", {})
    desk.say(note("x"))
    with anyio.fail_after(SECONDS), pytest.raises(ExceptionGroup) as caught:
        await peer.run()
    assert caught.group_contains(LookupError, match="a fault of ours")
    assert pending.outcome is None


async def test_nothing_is_read_after_the_end() -> None:
    """A request that comes then would find nobody to serve it."""
    desk = Desk()
    async with running(desk):
        await anyio.wait_all_tasks_blocked()
    desk.say(ask(1, "quick"))
    desk.peer.read_pending()
    assert desk.seen.told == []


def test_a_broken_pipe_does_not_end_a_program_that_has_sigpipe_at_its_default() -> None:
    """As many command line tools have it; what else it does with the signal stays."""
    reading, writing = os.pipe()
    before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        assert write_quietly(writing, b"x") == 1
        os.close(reading)
        with pytest.raises(BrokenPipeError):
            write_quietly(writing, b"x")
        assert signal.SIGPIPE not in signal.sigpending()
        assert signal.SIGPIPE not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.signal(signal.SIGPIPE, before)
        os.close(writing)


async def test_all_that_was_asked_is_answered_before_we_go() -> None:
    """`answer_all` returns with the last answer."""
    desk = Desk()
    go = anyio.Event()

    async def slow(_request: Any) -> str:
        await go.wait()
        return "done"

    desk.handlers["slow"] = slow
    async with running(desk):
        desk.say(ask(1, "slow"), note("then"))
        await desk.see("then")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.peer.answer_all)
            await anyio.wait_all_tasks_blocked()
            go.set()
        assert (await desk.hear())["result"] == "done"
