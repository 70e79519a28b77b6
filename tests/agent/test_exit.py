"""How an agent of ours goes: at the end of stdin, on a signal, also in mid-turn, with its children, within a second."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from acp_agent.children import descendants, end_children
from tests.agent.scripted.child import wait_gone
from tests.agent.served import ODD, REPO, WAIT_SECONDS, Served, is_running, soon, text_of

HELD = ["deaf", "thread", "block"]
"""Turns that nothing can end from inside."""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="descendants are found through /proc")


@pytest.mark.row("TREE-3", "DEATH-5")
def test_the_end_of_stdin_ends_an_idle_agent(odd: Served) -> None:
    """Exit code 0, nothing said."""
    odd.begin()
    with soon():
        assert odd.end() == 0
    assert odd.rest() == []
    assert odd.stderr() == b""


@pytest.mark.row("TREE-3", "DEATH-5")
@pytest.mark.parametrize("deed", ["wait", "deaf", "thread", "stream"])
def test_the_end_of_stdin_in_a_turn_answers_it_and_ends_the_agent(odd: Served, deed: str) -> None:
    """Whatever the turn does with its cancellation."""
    request, _ = odd.begin_turn(deed)
    with soon():
        odd.close_stdin()
        assert _answered(odd, request)["result"] == {"stopReason": "cancelled"}
        assert odd.wait() == 0
    assert b"Traceback" not in odd.stderr()


@pytest.mark.row("DEATH-5")
def test_a_permission_that_can_no_longer_be_answered_is_a_no(odd: Served) -> None:
    """The turn ends by itself, in the moment that it has for that."""
    request, _ = odd.begin_turn("ask")
    with soon():
        odd.close_stdin()
        frames = odd.until(request)
        assert text_of(frames) == "allowed=False cancelled=False option=none"
        assert frames[-1]["result"] == {"stopReason": "end_turn"}
        assert odd.wait() == 0


@pytest.mark.row("TREE-3")
def test_a_turn_that_holds_the_event_loop_does_not_hold_the_process(odd: Served) -> None:
    """There is nobody to answer then; but it goes."""
    odd.begin_turn("block")
    with soon():
        assert odd.end() == 0


@pytest.mark.row("DEATH-5")
def test_what_was_asked_before_the_end_of_stdin_is_answered(start: Callable[..., Served]) -> None:
    """All requests in one write, then EOF: the turn that can end by itself does."""
    echo = start("-m", "acp_agent", "echo")
    session = echo.begin()
    echo.prompt("hello", session)
    echo.close_stdin()
    update, response = [json.loads(line) for line in echo.rest()]
    assert update["params"]["update"]["content"]["text"] == "hello"
    assert response["result"] == {"stopReason": "end_turn"}
    assert echo.wait() == 0


@pytest.mark.row("DEATH-5")
def test_an_agent_that_was_never_asked_anything_goes_at_the_end_of_stdin(odd: Served) -> None:
    """Exit code 0."""
    with soon():
        assert odd.end() == 0
    assert odd.rest() == []


@pytest.mark.row("TREE-3")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("deed", ["wait", "deaf"])
def test_a_signal_cancels_and_answers_what_runs_and_ends_the_agent(
    odd: Served, deed: str, number: signal.Signals
) -> None:
    """As at the end of stdin, without its grace."""
    request, _ = odd.begin_turn(deed)
    with soon():
        odd.process.send_signal(number)
        assert _answered(odd, request)["result"] == {"stopReason": "cancelled"}
        assert odd.wait() == 0
    assert b"Traceback" not in odd.stderr()


@pytest.mark.row("TREE-3")
def test_a_signal_ends_an_idle_agent(odd: Served) -> None:
    """Quietly."""
    odd.begin()
    with soon():
        odd.terminate()
        assert odd.wait() == 0
    assert odd.stderr() == b""


@linux_only
@pytest.mark.row("TREE-3", "DEATH-5")
@pytest.mark.parametrize("how", ["plain", "setsid", "setsid deaf"])
def test_an_agent_takes_its_children_with_it(odd: Served, how: str) -> None:
    """Also those in a session of their own, also those that ignore SIGTERM."""
    _, pid = odd.begin_turn(f"give_birth {how}")
    assert is_running(int(pid))
    with soon():
        assert odd.end() == 0
        wait_gone(int(pid))


@linux_only
@pytest.mark.row("TREE-3", "DEATH-6")
@pytest.mark.parametrize("way", ["signal", "hang up"])
def test_children_go_too_when_the_agent_is_ended_in_another_way(odd: Served, way: str) -> None:
    """SIGTERM, or a client that has closed everything."""
    _, pid = odd.begin_turn("give_birth setsid")
    with soon():
        if way == "signal":
            odd.terminate()
        else:
            odd.hang_up()
            odd.close_stdin()
        assert odd.wait() == 0
        wait_gone(int(pid))


@pytest.mark.row("TREE-3")
@pytest.mark.parametrize("deed", ["wait", *HELD])
def test_a_killed_parent_leaves_no_agent(tmp_path: Path, deed: str) -> None:
    """Nothing but the end of stdin tells of it."""
    with _orphan(tmp_path, deed) as pid, soon():
        wait_gone(pid)


class _orphan:  # noqa: N801  # used as `with _orphan(…) as pid`
    """An agent in mid-turn whose parent was killed."""

    def __init__(self, cwd: Path, deed: str) -> None:
        requests: list[Any] = [
            {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
            {"id": 2, "method": "session/new", "params": {"cwd": str(cwd), "mcpServers": []}},
        ]
        self.program = f"""
import json, subprocess, sys
child = subprocess.Popen([sys.executable, {str(ODD)!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(**message):
    child.stdin.write(json.dumps({{"jsonrpc": "2.0", **message}}).encode() + b"\\n")
    child.stdin.flush()
    return json.loads(child.stdout.readline())
for request in {requests!r}:
    answer = send(**request)
prompt = [{{"type": "text", "text": {deed!r}}}]
send(id=3, method="session/prompt", params={{"sessionId": answer["result"]["sessionId"], "prompt": prompt}})
print(child.pid, flush=True)
sys.stdin.read()
"""

    def __enter__(self) -> int:
        with subprocess.Popen(
            [sys.executable, "-c", self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(REPO)},
        ) as parent:
            assert parent.stdout is not None
            self.pid = int(parent.stdout.readline())
            parent.kill()
        return self.pid

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _answered(odd: Served, request: int) -> Any:
    """The response to a request; what comes before it is read and left."""
    return odd.until(request)[-1]


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """A child and a grandchild of this process."""
    program = "import subprocess, sys; p = subprocess.Popen(['sleep', '300']); print(p.pid, flush=True); p.wait()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        yield child.pid, grandchild
        for pid in (grandchild, child.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@linux_only
def test_descendants_are_found_at_any_depth_nearest_first(family: tuple[int, int]) -> None:
    """And none where there are none."""
    child, grandchild = family
    found = descendants(os.getpid())
    assert found.index(child) < found.index(grandchild)
    assert descendants(grandchild) == []


@linux_only
async def test_ending_children_ends_them_all(family: tuple[int, int]) -> None:
    """Called in a process that has nothing else to lose."""
    with anyio.fail_after(WAIT_SECONDS):
        await end_children()
        for pid in family:
            await anyio.to_thread.run_sync(wait_gone, pid)
