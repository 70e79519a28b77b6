"""Drives one scripted agent over raw pipes, every wait bounded."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

REPO = Path(__file__).parents[3]
WAIT_SECONDS = 20.0  # a busy machine; a test that waits so long has failed
POLITE_SECONDS = 2.0  # an agent that hears EOF is gone by then
READ_BYTES = 65_536


class Child:
    """A running scripted agent; the methods read and write as a client would."""

    def __init__(self, scenario: Path, cwd: Path, *, env: dict[str, str] | None = None) -> None:
        path = os.pathsep.join(filter(None, [str(REPO), os.environ.get("PYTHONPATH")]))
        # A shell lets its background jobs ignore SIGINT, and a child inherits that; ours must not.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "acp_agent.scripted", str(scenario)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env={**os.environ, "PYTHONPATH": path, **(env or {})},
                start_new_session=True,
                bufsize=0,
            )
        finally:
            signal.signal(signal.SIGINT, before)
        self.reads: list[bytes] = []  # what each read gave
        self._rest = b""
        self._next_id = 100

    # ------------------------------------------------------------ writing

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, frame: object) -> None:
        """Write one frame."""
        self.send_bytes(json.dumps(frame).encode() + b"\n")

    def notify(self, method: str, **params: object) -> None:
        """Write a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, **params: object) -> int:
        """Write a request; returns its id."""
        self._next_id += 1
        frame = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        self.send(frame)
        return self._next_id

    def reply(self, request_id: object, result: object) -> None:
        """Answer a request of the agent."""
        self.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def select(self, request_id: object, option_id: str) -> None:
        """Answer a permission request with an option."""
        self.reply(request_id, {"outcome": {"outcome": "selected", "optionId": option_id}})

    def close_stdin(self) -> None:
        """The end of stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    # ------------------------------------------------------------ reading

    def line(self) -> bytes:
        """The next line with its end; what is there at EOF; b"" after it."""
        while b"\n" not in self._rest:
            data = self.read_some()
            if not data:
                rest, self._rest = self._rest, b""
                return rest
        head, _, self._rest = self._rest.partition(b"\n")
        return head + b"\n"

    def read_some(self) -> bytes:
        """One read of stdout."""
        assert self.process.stdout is not None
        data = _read(self.process.stdout.fileno())
        self.reads.append(data)
        self._rest += data
        return data

    def frame(self) -> Any:
        """The next line as JSON."""
        line = self.line()
        assert line, "the agent closed stdout"
        return json.loads(line)

    def until(self, request_id: object) -> list[Any]:
        """All frames up to the response to a request, that one included."""
        frames = [self.frame()]
        while "method" in frames[-1] or frames[-1].get("id") != request_id:
            frames.append(self.frame())
        return frames

    def call(self, method: str, **params: object) -> Any:
        """A request and its response; nothing may come before it."""
        request_id = self.request(method, **params)
        (response,) = self.until(request_id)
        return response

    def rest(self) -> list[bytes]:
        """All lines up to EOF."""
        lines = []
        while line := self.line():
            lines.append(line)
        return lines

    def stderr(self, size: int | None = None) -> bytes:
        """All of stderr up to its EOF, or as soon as there is so much."""
        assert self.process.stderr is not None
        found = b""
        while (size is None or len(found) < size) and (data := _read(self.process.stderr.fileno())):
            found += data
        return found

    # ------------------------------------------------------------ the conversation

    def initialize(self) -> Any:
        """The first request, and its result."""
        return self.call("initialize", protocolVersion=1)["result"]

    def open(self) -> Any:
        """Do initialize and session/new; returns the session id."""
        self.initialize()
        return self.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]

    def prompt(self, text: str = "go", session: object = "s-1") -> int:
        """A prompt; returns the id of the request."""
        return self.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def turn(self, text: str = "go", session: object = "s-1") -> list[Any]:
        """A prompt, and all frames up to its response."""
        return self.until(self.prompt(text, session))

    # ------------------------------------------------------------ the end

    def wait(self) -> int:
        """The exit code."""
        return self.process.wait(WAIT_SECONDS)

    def end(self) -> int:
        """Close stdin; returns the exit code."""
        self.close_stdin()
        return self.wait()

    def clean_up(self) -> None:
        """Let the agent end by the end of stdin, kill what is left of the group, close the pipes."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(POLITE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(WAIT_SECONDS)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


def _read(fd: int) -> bytes:
    ready, _, _ = select.select([fd], [], [], WAIT_SECONDS)
    assert ready, "nothing to read in time"
    return os.read(fd, READ_BYTES)


def text_of(frames: list[Any]) -> str:
    """The answer text in these frames."""
    updates = [one["params"]["update"] for one in frames if one.get("method") == "session/update"]
    return "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == "agent_message_chunk")


def wait_for(path: Path) -> str:
    """Wait until a marker file is there; returns its text."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        select.select([], [], [], 0.002)
    return path.read_text()


def wait_gone(pid: int) -> None:
    """Wait until a process that is not our child is gone, or a zombie that nobody reaps."""
    deadline = time.monotonic() + WAIT_SECONDS
    while is_running(pid):
        assert time.monotonic() < deadline, f"{pid} is still running"
        select.select([], [], [], 0.002)


def is_running(pid: int) -> bool:
    """True for a process that is there and no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def children_of(parent: int) -> list[int]:
    """The pids of a process's children, oldest first."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                stat = (entry / "stat").read_text()
                if int(stat.rpartition(")")[2].split()[1]) == parent:
                    found.append(int(entry.name))
    return sorted(found)
