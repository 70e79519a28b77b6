"""What the guardian does once its parent has gone, called here by itself: it runs without site packages otherwise."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from acp_client.process.guardian import Guardian, _read_together, end_all, members, read_groups, signal_all
from tests.support.kernel import HEADLESS, is_alive

SLEEP = [sys.executable, "-S", "-c", "print(flush=True); import time; time.sleep(600)"]
NO_GROUP = 2**22 + 1  # above the largest pid that Linux gives

DEAF = [
    sys.executable,
    "-S",
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)",
]


@pytest.fixture
def orphans() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A token, and processes that carry it: one polite, one deaf to SIGTERM, each in a session of its own."""
    token = uuid.uuid4().hex
    with ExitStack() as stack:
        started = []
        for argv in (SLEEP, DEAF):
            process = subprocess.Popen(argv, stdout=subprocess.PIPE, env={"X": token}, start_new_session=True)
            stack.callback(process.kill)
            assert process.stdout is not None
            stack.callback(process.stdout.close)
            process.stdout.readline()
            started.append(process)
        yield token, started
        for process in started:
            process.kill()
            process.wait(10)


def test_those_that_carry_the_token_are_found_in_any_session(
    orphans: tuple[str, list[subprocess.Popen[bytes]]],
) -> None:
    """By their environment, or by the session that was told."""
    token, started = orphans
    pids = {process.pid for process in started}
    assert set(members(set(), token)) == pids
    assert set(members({started[0].pid}, "of-nobody")) == {started[0].pid}
    assert signal_all(set(), token, 0)
    assert not signal_all(set(), "of-nobody", 0)


def test_all_of_them_are_ended_the_deaf_one_by_force(orphans: tuple[str, list[subprocess.Popen[bytes]]]) -> None:
    """SIGTERM first, SIGKILL for who is left."""
    token, (polite, deaf) = orphans
    end_all({polite.pid, deaf.pid}, token)
    assert (polite.wait(10), deaf.wait(10)) == (-15, -9)


def test_one_whose_first_thread_has_ended_is_found_and_ended() -> None:
    """It looks like a zombie, without any environment; in no session that was told."""
    token = uuid.uuid4().hex
    with subprocess.Popen([sys.executable, "-c", HEADLESS], stdout=subprocess.PIPE, env={"X": token}) as process:
        assert process.stdout is not None
        try:
            assert int(process.stdout.readline()) == process.pid
            assert members(set(), token) == [process.pid]
            assert is_alive(process.pid)
            end_all(set(), token)
            assert process.wait(10) == -15
        finally:
            process.kill()


def test_nobody_left_is_soon_seen() -> None:
    """A few empty looks, then it goes."""
    end_all(set(), uuid.uuid4().hex)


def test_the_groups_that_are_left_are_those_that_were_not_forgotten() -> None:
    """A torn last line names nobody: a parent that died while it wrote must not have a stranger's group killed."""
    reading, writing = os.pipe()
    with ThreadPoolExecutor(1) as thread:
        groups = thread.submit(read_groups, reading)
        for piece in (b"+12\n+3", b"4\n" + b"-12\n" * 9, b"+56"):
            os.write(writing, piece)
        os.close(writing)
        assert groups.result(timeout=10) == {34}
    os.close(reading)


def test_many_groups_wake_the_guardian_a_few_times_only() -> None:
    """It leaves what comes in the pipe for a while, and reads it in one piece."""
    reading, writing = os.pipe()
    with ThreadPoolExecutor(1) as thread:
        pieces = thread.submit(list, _read_together(reading))
        for _ in range(1000):
            os.write(writing, b"-1\n+1\n")
        os.close(writing)
        got = pieces.result(timeout=10)
    os.close(reading)
    assert b"".join(got) == b"-1\n+1\n" * 1000
    assert len(got) < 100


def test_another_process_gets_a_guardian_and_a_token_of_its_own() -> None:
    """After a fork, also one that has passed by the hook; nothing of the parent's is used."""
    guardian = Guardian()
    first = guardian.token
    guardian.watch(NO_GROUP)
    guardian.settle()
    guardian._owner = -1
    second = guardian.token
    guardian.forget(NO_GROUP)
    guardian.settle()  # here its starter is ours, and no zombie may stay
    guardian.after_fork()
    assert not guardian._send("+1\n")
    third = guardian.token
    guardian.settle()
    guardian._close()
    assert len({first, second}) == 2
    assert third
