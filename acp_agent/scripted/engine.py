"""The loop: one thread that reads frames, plays the steps of each request, and knows when to leave.

Owns the tasks, cancellation, EOF and the exit. Steps between two waits are played in one go; tasks
take turns only where they wait. So the order of all output follows from the scenario and from what
is read, never from a clock.
"""

from __future__ import annotations

import json
import os
import time

from acp_agent.scripted import acts, frames
from acp_agent.scripted.agent import TICK_SECONDS, Agent, Call, Leave, Task
from acp_agent.scripted.conversation import OPENS, PROMPT, Session
from acp_agent.scripted.steps import play

TYPE_CHECKING = False
if TYPE_CHECKING:
    from acp_agent.scripted.agent import Steps
    from acp_agent.scripted.conversation import Plan
    from acp_agent.scripted.vocabulary import Value

EOF_GRACE_SECONDS = 0.5  # for steps that are busy when stdin ends
FLUSH_SECONDS = 0.3  # for output that the client has still to read when we exit
EXIT_OK = 0


class Reception:
    """Takes what the client sends: each request becomes a task."""

    def __init__(self, agent: Agent, tasks: list[Task]) -> None:
        self._agent = agent
        self._tasks = tasks

    def receive(self, line: bytes) -> None:
        """Take one line; what is no message is answered with an error, an empty one is not."""
        if not line.strip():
            return
        try:
            frame = json.loads(line)
        except (ValueError, RecursionError):
            self._agent.write(frames.answer(None, frames.error(frames.PARSE_ERROR, "Parse error")))
            return
        if not isinstance(frame, dict):
            self._refuse("a message has to be one JSON object")
        elif isinstance(frame.get("method"), str):
            self._dispatch(frame)
        elif "id" in frame and ("result" in frame or "error" in frame):
            self._agent.take_answer(frame)
        else:
            self._refuse("neither a request nor a response")

    def _refuse(self, why: str) -> None:
        outcome = frames.error(frames.INVALID_REQUEST, f"Invalid request: {why}")
        self._agent.write(frames.answer(None, outcome))

    def _dispatch(self, frame: dict[str, Value]) -> None:
        params = frame.get("params")
        params = params if isinstance(params, dict) else {}
        if "id" not in frame:
            self._take_notification(frame["method"], params)
        elif frame["id"] is not None and type(frame["id"]) not in (int, str):
            self._refuse("an id has to be a string, an integer or null")
        else:
            self._take_request(frame["id"], frame["method"], params)

    def _take_notification(self, method: str, params: dict[str, Value]) -> None:
        if method == "session/cancel":
            session = self._agent.conversation.session(params.get("sessionId"))
            if session is not None and session.turn is not None:
                self._cancel(session.turn)
        elif method == "$/cancel_request":
            wanted = frames.dump(params.get("requestId"))
            for call in [task.call for task in self._tasks]:
                if not call.answered and frames.dump(call.id) == wanted:
                    self._cancel(call)

    def _take_request(self, request_id: object, method: str, params: dict[str, Value]) -> None:
        conversation = self._agent.conversation
        named = conversation.session(params.get("sessionId"))  # before a close forgets it
        default = conversation.default(method, params)
        plan = conversation.plan(method, default)
        session_id = frames.dig(plan.answer, "result.sessionId") if method in OPENS else None
        if session_id is None:
            session_id = params.get("sessionId")
        session = conversation.session(session_id) or named
        session = session or Session(session_id, params.get("cwd"))
        call = Call(request_id, method, params, session)
        if method == PROMPT and "result" in default:
            session.turn = call
        if method == "session/close" and "result" in default and session.turn is not None:
            self._cancel(session.turn)
        self._tasks.append(Task(call, self._handle(call, plan)))

    def _handle(self, call: Call, plan: Plan) -> Steps:
        agent = self._agent
        yield from play(agent, call, plan.before)
        if not call.answered:
            outcome = frames.expand(plan.answer, agent.lookup(call))
            if call.cancelled and call.method == PROMPT and call.on_cancel != "ignore":
                outcome = {"result": {"stopReason": "cancelled"}}
            yield from agent.answer(call, outcome)
        yield from play(agent, call, plan.after)

    # ------------------------------------------------------------ cancel

    def _cancel(self, call: Call) -> None:
        call.cancelled = True
        if call.on_cancel is None:
            call.on_cancel = self._agent.scenario.get("on_cancel", "obey")
        if call.on_cancel != "ignore" and not call.takes_cancel:
            self.stop(call, call.on_cancel)

    def stop(self, call: Call, how: Value) -> None:
        """Play `how`, a word or steps, instead of the rest of a call's steps."""
        for task in self._tasks:
            if task.call is call:
                task.steps.close()
                task.steps = self._last_words(call, how)
                task.wait = None

    def _last_words(self, call: Call, how: Value) -> Steps:
        if isinstance(how, list):
            yield from play(self._agent, call, how)
        if call.answered:
            return
        if call.method == PROMPT:
            word = isinstance(how, str) and how != "obey"
            outcome = {"result": {"stopReason": how if word else "cancelled"}}
        else:
            outcome = frames.error(frames.REQUEST_CANCELLED, "Request cancelled")
        yield from self._agent.answer(call, outcome)


class Engine:
    """One run of a scenario over one wire."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._wire = agent.wire
        self._tasks: list[Task] = []
        self._reception = Reception(agent, self._tasks)
        self._record_fd: int | None = None
        self._start: Task | None = None
        self._leaving: Task | None = None  # the last steps before the exit
        self._eof_deadline: float | None = None

    def run(self) -> int:
        """Play until the exit; returns its code."""
        try:
            self._set_up()
            while True:
                self._turn()
        except Leave as leave:
            self._wire.drain(FLUSH_SECONDS)
            acts.end_spawned(self._agent.spawned)
            return leave.code

    def _set_up(self) -> None:
        scenario, idle = self._agent.scenario, self._agent.idle_call()
        if "record" in scenario:
            path = frames.expand(scenario["record"], self._agent.lookup(idle))
            self._record_fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC)
        acts.set_up(self._agent, idle)
        self._start = self._add(scenario.get("start", []))

    def _add(self, steps: Value) -> Task:
        call = self._agent.idle_call()
        task = Task(call, play(self._agent, call, steps if isinstance(steps, list) else []))
        self._tasks.append(task)
        return task

    def _turn(self) -> None:
        stdin = self._wire.stdin
        if not stdin.reading and self._start not in self._tasks:
            stdin.reading = True
            self._eof_deadline = None
        if self._wire.exchange(self._patience()):
            for line in stdin.lines():
                self._record(line)
                self._reception.receive(line)
        while self._agent.signals:
            self._at_signal(self._agent.signals.pop(0))
        now = time.monotonic()
        for task in tuple(self._tasks):
            if task in self._tasks and task.is_ready(now):
                self._advance(task)
        if stdin.eof or self._wire.stdout.broken or (stdin.hung_up and not stdin.reading):
            self._at_eof(now)

    def _record(self, line: bytes) -> None:
        if self._record_fd is not None:
            os.write(self._record_fd, line if line.endswith(b"\n") else line + b"\n")

    def _patience(self) -> float | None:
        """Seconds until a task can go on by itself; None if only the outside can wake us."""
        now = time.monotonic()
        moments = [] if self._eof_deadline is None else [self._eof_deadline]
        for task in self._tasks:
            if task.is_ready(now):
                return 0
            assert task.wait is not None  # else it were ready
            if task.wait.poll:
                moments.append(now + TICK_SECONDS)
            if task.wait.deadline is not None:
                moments.append(task.wait.deadline)
        return max(0, min(moments) - now) if moments else None

    def _advance(self, task: Task) -> None:
        """Play steps until one has to wait, or until a loop of steps pauses for the others."""
        for wait in task.steps:
            task.wait = wait
            if wait.pause or not task.is_ready(time.monotonic()):
                return
        self._tasks.remove(task)

    # ------------------------------------------------------------ the end

    def _at_eof(self, now: float) -> None:
        if self._agent.eof_ignored or any(task.call.takes_eof for task in self._tasks):
            return
        if self._leaving is not None:
            if self._leaving not in self._tasks:
                raise Leave(EXIT_OK)
            return
        if self._eof_deadline is None:
            self._eof_deadline = now + EOF_GRACE_SECONDS
        if now < self._eof_deadline and self._has_work(now):
            return
        self._eof_deadline = None
        for task in tuple(self._tasks):
            if task.call.method == PROMPT and not task.call.answered and not task.call.cancelled:
                self._reception.stop(task.call, "obey")
                self._advance(task)
        self._tasks.clear()
        self._leaving = self._add(self._agent.scenario.get("on_eof"))

    def _has_work(self, now: float) -> bool:
        if not self._wire.stdin.eof and not self._wire.stdout.broken:
            return True  # the steps of `start`; what is unread comes after them
        return any(task.is_ready(now) for task in self._tasks)

    def _at_signal(self, name: str) -> None:
        self._leaving = self._add(self._agent.scenario["on_signal"][name])
        self._leaving.steps = _then_leave(self._leaving.steps)


def _then_leave(steps: Steps) -> Steps:
    yield from steps
    raise Leave(EXIT_OK)
