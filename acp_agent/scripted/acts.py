"""What each word below the protocol does: bytes, streams, files, processes, signals, the exit.

Owns all that a scenario may do to the operating system. Frames and order are `steps`'.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import stat
import sys
import time

from acp_agent.scripted import frames
from acp_agent.scripted.agent import TICK_SECONDS, Fault, Leave, Wait
from acp_agent.scripted.wire import PIPE_BUF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from acp_agent.scripted.agent import Agent, Call, Steps
    from acp_agent.scripted.vocabulary import Value

_FLOOD_LINE = b"x" * 79 + b"\n"
_FLOOD_BYTES = 65_536  # between two looks at stdin
_SLEEP = ("sleep", "600")  # far longer than any test, yet not for ever
_FLUSH_SECONDS = 0.3  # for output that the client has still to read when we die
_FD = {"stdin": 0, "stdout": 1, "stderr": 2}


class Spawned:
    """A process that a scenario started."""

    __slots__ = ("leads_group", "leave", "pid")

    def __init__(self, pid: int, *, leads_group: bool, leave: bool) -> None:
        self.pid = pid
        self.leads_group = leads_group
        self.leave = leave


# ---------------------------------------------------------------- bytes


def _raw(agent: Agent, _call: Call, value: Value) -> Steps:
    bytewise = isinstance(value, dict) and value.get("bytewise", False)
    yield agent.write_bytes(frames.raw(value), 1 if bytewise else PIPE_BUF)


def _noise(agent: Agent, _call: Call, value: str) -> Steps:
    yield agent.write_bytes(frames.raw(value + "\n"))


def _stderr(agent: Agent, _call: Call, value: str) -> Steps:
    agent.wire.stderr.put(frames.raw(value + "\n"))
    yield Wait(lambda: agent.wire.stderr.empty)


def _flood(agent: Agent, _call: Call, value: Value) -> Steps:
    outlet = agent.wire.stderr if value.get("stream") == "stderr" else agent.wire.stdout
    unit = b"x" if value.get("line") else _FLOOD_LINE
    block = (unit * (_FLOOD_BYTES // len(unit) + 1))[: _FLOOD_BYTES // len(unit) * len(unit)]
    left = value.get("bytes")
    while left is None or left > 0:
        piece = block if left is None else block[:left]
        outlet.put(piece)
        left = None if left is None else left - len(piece)
        yield Wait(lambda: outlet.empty, pause=True)


def _wire(agent: Agent, _call: Call, value: Value) -> Steps:
    set_wire(agent, value)
    yield from ()


def set_wire(agent: Agent, value: Mapping[str, Value]) -> None:
    """Change how frames are written."""
    if "line_end" in value:
        agent.line_end = value["line_end"].encode()
    if "bytewise" in value:
        agent.piece_bytes = 1 if value["bytewise"] else PIPE_BUF


# ---------------------------------------------------------------- files


def _wait_for(_agent: Agent, _call: Call, path: str) -> Steps:
    if not _is_fifo(path):
        yield Wait(lambda: os.path.exists(path), poll=True)  # noqa: PTH110 - pathlib is slow to start
        return
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    try:
        yield Wait(lambda: bool(poll.poll(0)), poll=True)
    finally:
        os.close(fd)


def _touch(_agent: Agent, _call: Call, path: str) -> Steps:
    if _is_fifo(path):
        while not _wake_reader(path):
            yield Wait(lambda: False, deadline=time.monotonic() + TICK_SECONDS)
    else:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))


def _wake_reader(path: str) -> bool:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nobody reads it yet
            return False
        raise
    os.write(fd, b"\n")
    os.close(fd)
    return True


def _is_fifo(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 - pathlib is slow to start
    except FileNotFoundError:
        return False


def _write(_agent: Agent, _call: Call, value: Value) -> Steps:
    write_whole(value["path"], value["text"])
    yield from ()


def write_whole(path: str, text: str) -> None:
    """Write a file so that whoever sees it sees all of it."""
    partial = f"{path}.{os.getpid()}.partial"
    with open(partial, "wb") as file:  # noqa: PTH123 - pathlib is slow to start
        file.write(frames.raw(text))
    os.replace(partial, path)  # noqa: PTH105 - the same


def _facts(agent: Agent, _call: Call, path: str) -> Steps:
    write_facts(agent, path)
    yield from ()


def write_facts(agent: Agent, path: str) -> None:
    """Write what only this process knows of itself."""
    found = {
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "pgid": os.getpgid(0),
        "sid": os.getsid(0),
        "cwd": os.getcwd(),  # noqa: PTH109 - pathlib is slow to start
        "argv": sys.orig_argv,
        "env": dict(os.environ),
        "spawned": [one.pid for one in agent.spawned],
    }
    write_whole(path, json.dumps(found))


# ---------------------------------------------------------------- processes


def _spawn(agent: Agent, _call: Call, value: Value) -> Steps:
    pid = _start(value)
    leads_group = bool(value.get("session") or value.get("group"))
    agent.spawned.append(Spawned(pid, leads_group=leads_group, leave=value.get("leave", False)))
    if "pid_file" in value:
        write_whole(value["pid_file"], f"{pid}\n")
    yield from ()


def _start(value: Value) -> int:
    argv = value.get("argv") or _SLEEP
    held = _words(value.get("inherit", []))
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for name, fd in _FD.items() if name not in held]
    wanted = {**os.environ, **value.get("env", {})}
    environment = {name: text for name, text in wanted.items() if text is not None}
    options: dict[str, Value] = {"setsid": True} if value.get("session") else {}
    if value.get("group"):
        options["setpgroup"] = 0
    deaf = value.get("ignore_term", False)
    # An ignored signal stays ignored across exec: the one way to deafen a program from outside.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN) if deaf else None
    options["setsigdef"] = [] if deaf else [signal.SIGTERM]
    try:
        return os.posix_spawnp(argv[0], argv, environment, file_actions=null, **options)
    except OSError as error:
        raise Fault(f"spawn: {argv[0]} cannot be started: {error.strerror}") from None
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def end_spawned(spawned: list[Spawned]) -> None:
    """Kill what was started and is not to be left."""
    for one in spawned:
        if not one.leave:
            # Gone already, or, between fork and setpgid, not yet a leader: then it is killed alone.
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if one.leads_group else os.kill)(one.pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(one.pid, 0)


def _ignore(agent: Agent, _call: Call, value: Value) -> Steps:
    set_ignored(agent, value)
    yield from ()


def set_ignored(agent: Agent, value: str | list[str]) -> None:
    """Become deaf to signals, to EOF, or to stdin as a whole."""
    for name in _words(value):
        if name == "eof":
            agent.eof_ignored = True
        elif name == "stdin":
            agent.wire.stdin.watched = False
        else:
            signal.signal(signal.Signals[name], signal.SIG_IGN)


def _close(agent: Agent, _call: Call, value: Value) -> Steps:
    for name in _words(value):
        if name != "stdin":
            outlet = agent.wire.stdout if name == "stdout" else agent.wire.stderr
            yield Wait(lambda outlet=outlet: outlet.empty)  # type: ignore[misc]  # a default binds it
        agent.wire.close(name)


def _exit(_agent: Agent, _call: Call, value: int) -> Steps:
    yield from ()
    raise Leave(value)


def _signal(agent: Agent, _call: Call, value: str) -> Steps:
    agent.wire.drain(_FLUSH_SECONDS)
    number = signal.Signals[value]
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    yield Wait(lambda: False)


def _words(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


# ---------------------------------------------------------------- the start


def set_up(agent: Agent, call: Call) -> None:
    """Apply the words that a scenario gives at its top."""
    scenario = agent.scenario
    set_ignored(agent, scenario.get("ignore", []))
    set_wire(agent, scenario.get("wire", {}))
    _listen(agent, scenario.get("on_signal", {}))
    if "facts" in scenario:
        write_facts(agent, frames.expand(scenario["facts"], agent.lookup(call)))


def _listen(agent: Agent, on_signal: Mapping[str, Value]) -> None:
    if not on_signal:
        return
    read_fd, write_fd = os.pipe()
    os.set_blocking(write_fd, False)
    signal.set_wakeup_fd(write_fd)
    agent.wire.wake_by(read_fd)
    for name, how in on_signal.items():
        number = signal.Signals[name]
        if how == "ignore":
            signal.signal(number, signal.SIG_IGN)
        else:
            signal.signal(number, lambda *_, name=name: agent.signals.append(name))


WORDS: dict[str, Callable[[Agent, Call, Value], Steps]] = {
    "raw": _raw,
    "noise": _noise,
    "stderr": _stderr,
    "flood": _flood,
    "wire": _wire,
    "wait_for": _wait_for,
    "touch": _touch,
    "write": _write,
    "facts": _facts,
    "spawn": _spawn,
    "ignore": _ignore,
    "close": _close,
    "exit": _exit,
    "signal": _signal,
}
