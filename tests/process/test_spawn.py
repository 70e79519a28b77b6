"""The start of a process: its own session, its exact environment, and nothing kept open when it fails."""

import os
import sys
import uuid
from pathlib import Path

import anyio
import pytest

from acp_client.process.guardian import GUARDIAN
from acp_client.process.spawn import MARKER_VARIABLE, Spawned, SpawnError, discard, launch, spawn
from tests.support.kernel import descriptors, is_alive, marked, nothing_left, run_parent, zombies

ENV = {"PATH": os.environ["PATH"], "ONLY": "this"}
MARKER = f"test-spawn-{uuid.uuid4().hex}"  # whatever has it in its environment is ended with its process


def start(*command: str) -> Spawned:
    """A process for a test that will discard it."""
    return spawn(command, cwd="/", env=ENV, marker=MARKER)


def said(spawned: Spawned) -> str:
    """All that it writes to stdout; then it is discarded."""
    parts = []
    os.set_blocking(spawned.stdout, True)
    while data := os.read(spawned.stdout, 65536):
        parts.append(data)
    discard(spawned)
    return b"".join(parts).decode()


def test_a_process_leads_a_session_of_its_own_with_exactly_its_environment(tmp_path: Path) -> None:
    """Nothing of ours is merged in, and the directory is the one that was asked for."""
    program = "import os; print(os.getsid(0) == os.getpgid(0) == os.getpid(), dict(os.environ), os.getcwd(), end='')"
    command = (sys.executable, "-I", "-S", "-c", program)
    with nothing_left():
        shown = said(spawn(command, cwd=str(tmp_path), env={"ONLY": "this", "LC_ALL": "C.UTF-8"}, marker=MARKER))
    assert shown == f"True {{'ONLY': 'this', 'LC_ALL': 'C.UTF-8'}} {tmp_path}"


def test_a_process_gets_three_descriptors_and_no_other() -> None:
    """Neither those of other children nor the guardian's pipe."""
    with nothing_left():
        other = start("sleep", "600")
        shown = said(start("ls", "/proc/self/fd"))
        discard(other)
    assert shown.split() == ["0", "1", "2", "3"]  # the last one is the folder that it lists


def test_the_marker_is_a_path_of_runs_ours_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run inside a run is found by both ids."""
    for outer in ("", "outer-run"):
        monkeypatch.setenv(MARKER_VARIABLE, outer)
        with nothing_left():
            spawned = launch(("sh", "-c", f"echo ${MARKER_VARIABLE}"), cwd="/", env=ENV, run_id="inner")
            assert spawned.marker == f"{GUARDIAN.token}-inner"
            assert said(spawned).strip() == (f"outer-run:{spawned.marker}" if outer else spawned.marker)


def test_a_discarded_process_is_dead_reaped_and_forgotten() -> None:
    """At once, deaf or not; its descriptors are closed."""
    with nothing_left():
        spawned = start("sh", "-c", "trap '' TERM; sleep 600 & wait")
        discard(spawned)
        assert not is_alive(spawned.pid)
        assert zombies() == []


def test_what_a_discarded_process_has_started_goes_with_it() -> None:
    """Also what has left its session: a busy machine lets the child run far before its parent is told of it."""
    script = "setsid sh -c 'trap \"\" TERM; echo; exec sleep 600' & wait"
    env = ENV | {MARKER_VARIABLE: MARKER}
    with nothing_left():
        spawned = spawn(("sh", "-c", script), cwd="/", env=env, marker=MARKER)
        os.set_blocking(spawned.stdout, True)
        assert os.read(spawned.stdout, 1) == b"\n"
        assert len(marked(MARKER)) >= 2
        discard(spawned)
        assert marked(MARKER) == {}


@pytest.fixture
def not_programs(tmp_path: Path) -> Path:
    """A folder with things that cannot be started."""
    (tmp_path / "plain").write_text("text")
    (tmp_path / "no_interpreter").write_text("text")
    (tmp_path / "no_interpreter").chmod(0o755)
    (tmp_path / "bad_interpreter").write_text("#!/nonexistent/interpreter\n")
    (tmp_path / "bad_interpreter").chmod(0o755)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "cwd", "says"),
    [
        (("/nonexistent/agent",), "/", "no such program"),
        (("nowhere-on-the-path",), "/", "install it or give its full path"),
        (("",), "/", "cannot start"),
        (("/",), "/", "not an executable file"),
        (("{}/plain",), "/", "not an executable file"),
        (("{}/plain/below",), "/", "not an executable file"),
        (("{}/no_interpreter",), "/", "#!"),
        (("{}/bad_interpreter",), "/", "no such program"),
        (("{}/loop",), "/", "cannot start"),
        (("true", "x" * 3_000_000), "/", "cannot start"),
        (("true", "a\0b"), "/", "cannot start"),
        (("true",), "/nonexistent", "working directory"),
        (("true",), "{}/plain", "working directory"),
    ],
)
def test_what_cannot_be_started_says_why_and_keeps_nothing_open(
    command: tuple[str, ...], cwd: str, says: str, not_programs: Path
) -> None:
    """The rule and the correction, on one line."""
    folder = str(not_programs)
    with nothing_left(), pytest.raises(SpawnError) as raised:
        spawn([part.replace("{}", folder) for part in command], cwd=cwd.replace("{}", folder), env=ENV, marker=MARKER)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


SCARCE = """
import os, resource
from acp_client.process.guardian import GUARDIAN
from acp_client.process.spawn import SpawnError, discard, spawn
from tests.support.kernel import descriptors, zombies

GUARDIAN.token
GUARDIAN.settle()  # what starts it is a child for a moment, and no business of this test
before = descriptors()
highest = max(map(int, os.listdir("/proc/self/fd")))
outcomes = []
for spare in range(14):
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + spare, 4096))
    try:
        spawned = spawn(("sleep", "600"), cwd="/", env={"PATH": os.environ["PATH"]}, marker="test-spawn-scarce")
        outcomes.append("pidfd" if spawned.pidfd is not None else "no pidfd")
        discard(spawned)
    except SpawnError as error:
        assert "no file descriptors left" in str(error), error
        outcomes.append("failed")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    assert descriptors() == before, (spare, outcomes, descriptors() - before)
assert zombies() == []
assert outcomes[0] == outcomes[5] == "failed" and outcomes[-1] == "pidfd", outcomes
assert outcomes == sorted(outcomes, key=["failed", "no pidfd", "pidfd"].index), outcomes
"""


@pytest.mark.row("ASYNC-7")
async def test_descriptors_that_run_out_in_the_middle_of_a_spawn_are_all_given_back() -> None:
    """Between two pipes, between the pipes and the fork, after it: a failure, or a start without a pidfd."""
    with anyio.fail_after(30):
        await run_parent(SCARCE)


REFUSED = """
import os, resource, sys
import anyio, subprocess, structlog
from acp_client import AgentSpec, run_subagent
from tests.support.kernel import descriptors
import acp_client.protocol.peer, anyio._backends._asyncio, anyio._backends._trio

async def main():
    await run_subagent(AgentSpec(command=("true",)), "go")
    before = descriptors()
    if os.getuid() == 0:
        os.setuid(65534)  # root is never refused
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    result = await run_subagent(AgentSpec(command=("/bin/sleep", "600"), cwd="/"), "go")
    assert (result.status, result.reason) == ("error", "spawn_failed"), result
    assert "refuses another process" in result.failure.message, result.failure
    assert result.failure.retry_safe
    assert descriptors() == before, descriptors() - before

anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.row("CONC-2")
async def test_a_fork_that_the_system_refuses_is_a_result(anyio_backend: str) -> None:
    """Nor can a thread be started then: neither is an exception, nor an error of ours."""
    with anyio.fail_after(30):
        await run_parent(REFUSED, anyio_backend)


BARE = """
import os, sys
report = os.fdopen(os.dup(1), "w")
for fd in (0, 1, 2):
    os.close(fd)
from acp_client import run_subagent_sync
from tests.support.tiny import tiny
result = run_subagent_sync(tiny("sleep 600 &"), "go")
print(result.reason, result.text, file=report, flush=True)
"""


async def test_a_parent_without_stdin_stdout_and_stderr_can_run_agents() -> None:
    """As a daemon has none: the numbers 0 to 2 then are the pipes'."""
    with anyio.fail_after(30):
        assert await run_parent(BARE) == "end_turn tiny\n"


def test_a_spawn_costs_the_caller_four_descriptors() -> None:
    """Three pipe ends and a pidfd; the child's ends are closed."""
    GUARDIAN.settle()
    assert GUARDIAN.token  # the guardian has its pipe before we count
    before = descriptors()
    spawned = start("sleep", "600")
    assert (descriptors() - before).total() == 4
    discard(spawned)
    assert descriptors() == before
