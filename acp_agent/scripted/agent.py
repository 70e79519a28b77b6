"""What steps act on: the agent's wire, its state, and the call that is being answered.

Owns Wait (what a step waits for), Task (the steps of one call and where they are), Call, and Agent,
whose methods are all that `steps` and `acts` need. When a task goes on is `engine`'s.
"""

from __future__ import annotations

import os
import sys

from acp_agent.scripted import frames
from acp_agent.scripted.conversation import OPENS, Conversation, Session
from acp_agent.scripted.validate import BUILT_IN
from acp_agent.scripted.wire import PIPE_BUF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from acp_agent.scripted.acts import Spawned
    from acp_agent.scripted.vocabulary import Value
    from acp_agent.scripted.wire import Wire

    Steps = Generator["Wait", None, None]  # steps being played; closing it ends them


TICK_SECONDS = 0.005  # how often a marker file is looked for


class Leave(Exception):
    """Exit politely."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Fault(Exception):
    """A step cannot be played; the text says which and why."""


class Wait:
    """What a task waits for: a condition, a moment, or both (whichever is first).

    A condition may be asked any number of times and has no effects.
    """

    __slots__ = ("deadline", "pause", "poll", "ready")

    def __init__(
        self, ready: Callable[[], bool], *, deadline: float | None = None, poll: bool = False, pause: bool = False
    ) -> None:
        self.ready = ready
        self.deadline = deadline
        self.poll = poll  # nothing wakes us when it becomes true: look now and then
        self.pause = pause  # though it may be true: others, and stdin, have a turn first


class Call:
    """One request of the client while it is being answered (or steps that answer nothing)."""

    __slots__ = (
        "answered",
        "cancelled",
        "id",
        "method",
        "n",
        "on_cancel",
        "params",
        "session",
        "takes_cancel",
        "takes_eof",
    )

    def __init__(self, request_id: object, method: str, params: Value, session: Session) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.session = session
        self.answered = False
        self.cancelled = False
        self.takes_cancel = False  # a step waits for the cancel itself
        self.takes_eof = False  # a step has waited for EOF itself
        self.on_cancel: Value = None  # None: as the scenario says
        self.n = 0

    def prompt_text(self) -> str:
        """The text blocks of the prompt, joined."""
        blocks = self.params.get("prompt")
        texts = [frames.dig(one, "text") for one in blocks] if isinstance(blocks, list) else []
        return "".join(one for one in texts if isinstance(one, str))


class Task:
    """The steps of one call, where they are, and what they wait for."""

    __slots__ = ("call", "steps", "wait")

    def __init__(self, call: Call, steps: Steps) -> None:
        self.call = call
        self.steps = steps
        self.wait: Wait | None = None

    def is_ready(self, now: float) -> bool:
        """True if the next step can be played."""
        wait = self.wait
        if wait is None or (wait.deadline is not None and now >= wait.deadline):
            return True
        return wait.ready()


class Agent:
    """The agent that a scenario describes, as far as steps can reach it."""

    def __init__(self, scenario: Mapping[str, Value], path: str, wire: Wire) -> None:
        self.scenario = scenario
        self.path = path
        self.wire = wire
        self.conversation = Conversation(scenario)
        self.saved: dict[str, Value] = {}  # answers of the client, by `save`
        self.slots: dict[str, dict[str, Value]] = {}  # where they will be, likewise
        self.spawned: list[Spawned] = []
        self.signals: list[str] = []  # caught and not yet acted on
        self.eof_ignored = scenario.get("on_eof") == "ignore"
        self.line_end = b"\n"
        self.piece_bytes = PIPE_BUF
        self._open: dict[bytes, dict[str, Value]] = {}
        self._next_id = 0
        self._nowhere = Session(None, os.getcwd())  # noqa: PTH109 - pathlib costs start-up

    def idle_call(self) -> Call:
        """A call for steps that answer nothing."""
        call = Call(None, "", {}, self._nowhere)
        call.answered = True
        return call

    # ------------------------------------------------------------ placeholders

    def lookup(self, call: Call) -> Callable[[str], object]:
        """What `${name}` means to the steps of this call."""

        def find(name: str) -> object:
            first, _, rest = name.partition(".")
            value = self._value(call, first)
            return frames.dig(value, rest) if rest else value

        return find

    def _value(self, call: Call, name: str) -> object:
        built_in = _BUILT_IN.get(name)
        if built_in is not None:
            return built_in(self, call)
        return self.saved[name] if name in self.saved else os.environ.get(name)

    # ------------------------------------------------------------ frames out

    def write(self, frame: object) -> Wait:
        """Write one frame; the wait is for the client's pipe to take it."""
        return self.write_bytes(frames.dump(frame) + self.line_end, self.piece_bytes)

    def write_bytes(self, data: bytes, piece_bytes: int = PIPE_BUF) -> Wait:
        """Write bytes to stdout; the wait is for the client's pipe to take them."""
        self.wire.stdout.put(data, piece_bytes)
        return Wait(lambda: self.wire.stdout.empty)

    def answer(self, call: Call, outcome: Mapping[str, Value], *, id_as: str | None = None) -> Steps:
        """Answer a call; from here on it is no longer running."""
        self.settle(call, outcome)
        yield self.write(frames.answer(frames.odd_id(call.id, id_as), outcome))

    def settle(self, call: Call, outcome: Mapping[str, Value]) -> None:
        """Note that a call is answered, and the session that the answer names."""
        call.answered = True
        if call.session.turn is call:
            call.session.turn = None
        session_id = frames.dig(outcome, "result.sessionId")
        if call.method in OPENS and session_id is not None:
            call.session = self.conversation.register(session_id, call.params.get("cwd"))

    def ask(self, method: str, params: object, fields: Mapping[str, Value]) -> tuple[Wait, dict[str, Value]]:
        """Send a request to the client; its answer will be in the slot, as `frame`."""
        if "id" in fields:
            request_id = fields["id"]
        else:
            request_id = self._next_id
            self._next_id += 1
        slot: dict[str, Value] = {}
        self._open[frames.dump(request_id)] = slot
        return self.write(frames.request(request_id, method, params)), slot

    def take_answer(self, frame: dict[str, Value]) -> None:
        """Keep the client's answer; one to nothing of ours is dropped (`record` has it)."""
        slot = self._open.pop(frames.dump(frame["id"]), None)
        if slot is not None:
            slot["frame"] = frame


_BUILT_IN: dict[str, Callable[[Agent, Call], object]] = {
    "id": lambda _agent, call: call.id,
    "session": lambda _agent, call: call.session.id,
    "prompt": lambda _agent, call: call.prompt_text(),
    "params": lambda _agent, call: call.params,
    "cwd": lambda _agent, call: call.session.cwd,
    "n": lambda _agent, call: call.n,
    "pid": lambda _agent, _call: os.getpid(),
    "python": lambda _agent, _call: sys.executable,
    "scenario_dir": lambda agent, _call: os.path.dirname(os.path.abspath(agent.path)),  # noqa: PTH100, PTH120
}
assert _BUILT_IN.keys() == set(BUILT_IN)  # what `validate` lets through has a value here
