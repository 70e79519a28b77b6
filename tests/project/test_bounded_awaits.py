"""No await on a child is unbounded: read from the code itself.

An await counts as bounded inside `move_on_after`, `move_on_at` or `fail_after`. Every function with another one stands
in `WHY`, with what bounds it; a function that is not there, or an entry that no longer is needed, fails.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "acp_client"
ROOMS = ("run", "process", "session", "protocol", "loop", "admission", "warm")
BOUNDS = {"move_on_after", "move_on_at", "fail_after"}

CLOCK = "broken off by the run's clock, through the verdict"
LADDER = "ends when the pipes are closed, which the ladder's end does at the latest"
CALLER = "the caller's own wait, which it may bound or cancel"
PEOPLE = "the approval's time, and cancelled when the run ends"
STEPS = "awaits only what is bounded itself"
WARM = "broken off when the runner ends, or a run takes the process"

WHY = {
    "loop/apart.py:start_task.whole": "the work, bounded by whoever starts it",
    "loop/waits.py:Alarm._sleep": "cancelled by `cancel`, at the run's end",
    "loop/waits.py:LazyEvent.wait": CALLER,
    "loop/waits.py:Readable._await": "what is awaited is bounded itself; cancelled with the run's helpers",
    "loop/waits.py:Readable._wait": LADDER,
    "loop/waits.py:Readable._watch": LADDER,
    "process/child.py:AgentProcess._wait_elsewhere": "cancelled with the run's helpers, after the ladder",
    "process/host.py:Helpers._help": "cancelled when the work ends",
    "process/host.py:Helpers.attend": STEPS,
    "protocol/outbox.py:Serving._serve": "cancelled when the reader ends; the import takes a tenth of a second",
    "protocol/peer.py:Peer._read": LADDER,
    "protocol/peer.py:Peer._room": "cancelled with the connection",
    "run/child/start.py:leave_nothing": STEPS,
    "run/child/start.py:start_cold": "calls of milliseconds",
    "run/deadlines.py:Deadlines._judge": "three turns of the loop",
    "run/life.py:Life._talk_and_end": STEPS,
    "run/teardown.py:Teardown.finish": STEPS,
    "warm/process.py:WarmProcess._await_end": WARM,
    "process/child.py:AgentProcess.stop": STEPS,
    "process/child.py:AgentProcess._sweep": STEPS,
    "process/child.py:AgentProcess._kill": "called inside the grace of the kill",
    "process/child.py:AgentProcess._end_each": "called inside the grace of its signal",
    "process/child.py:AgentProcess.end": STEPS,
    "process/child.py:_poll_while": "called inside the grace of its signal",
    "process/host.py:TaskHost.close": "the runs, each bounded by its limits",
    "process/host.py:TaskHost._run": "the runs, each bounded by its limits",
    "process/table.py:ProcessTable.survivors": "looks at the process table take milliseconds",
    "process/table.py:ProcessTable._perform": "looks at the process table take milliseconds",
    "process/table.py:ProcessTable._look": "looks at the process table take milliseconds",
    "loop/threads.py:in_thread": "calls of milliseconds, by its contract",
    "loop/threads.py:in_daemon_thread": "cancelled with the run's tasks, after the ladder",
    "protocol/outbox.py:Outbox.changed": CALLER,
    "protocol/outbox.py:Outbox.flush": CALLER,
    "protocol/outbox.py:Outbox._write_rest": "cancelled when the reader ends",
    "protocol/outbox.py:Pending.wait": CALLER,
    "protocol/peer.py:Peer.answer_all": CALLER,
    "protocol/peer.py:Peer.flush": CALLER,
    "protocol/peer.py:Peer.lost": CALLER,
    "protocol/peer.py:Peer.request": CALLER,
    "protocol/peer.py:Peer.run": LADDER,
    "protocol/dispatch.py:Dispatcher.dispatch": "the handler, cancelled when the reader ends",
    "protocol/dispatch.py:Dispatcher._load.method.call": "the handler, cancelled when the reader ends",
    "protocol/dispatch.py:_answer": "the handler, cancelled when the reader ends",
    "protocol/streams.py:FdReader.receive": LADDER,
    "protocol/streams.py:FdReader._wait": LADDER,
    "protocol/streams.py:FdTransport.wait_sendable": "returns when the descriptor is closed",
    "protocol/streams.py:MemoryTransport.receive": "a test's own pair",
    "protocol/streams.py:MemoryTransport.wait_sendable": "a test's own pair",
    "protocol/streams.py:_Channel.changed": "a test's own pair",
    "run/conversation.py:Conversation.hold": CLOCK,
    "run/conversation.py:Conversation._handshake": CLOCK,
    "run/conversation.py:Conversation._ask": CLOCK,
    "run/conversation.py:Conversation._take_turn": CLOCK,
    "run/conversation.py:Conversation._is_unfit": CLOCK,
    "run/conversation.py:Conversation._open_tools": CLOCK,
    "run/handle.py:Run.answer": CALLER,
    "run/handle.py:Run.result": CALLER,
    "run/offering.py:Offering._load": "an import: a second",
    "run/offering.py:Offering._serve": CLOCK,
    "run/offering.py:Offering.await_listing": STEPS,
    "run/offering.py:Offering.open": CLOCK,
    "run/offering.py:Offering.permit": "cancelled with the call, by the run's end at the latest",
    "run/life.py:Life.live": STEPS,
    "run/life.py:Life._spawn_and_run": STEPS,
    "run/life.py:Life._run": STEPS,
    "run/verdict.py:Verdict.interrupt": "broken off by the verdict, which the clock decides at the latest",
    "session/asking/forms.py:FormDesk.answer": PEOPLE,
    "session/asking/forms.py:FormDesk._ask": PEOPLE,
    "session/asking/people.py:People.ask": PEOPLE,
    "session/asking/people.py:People.ask.once": PEOPLE,
    "session/asking/people.py:People._ask_once": PEOPLE,
    "session/asking/people.py:People._consult": PEOPLE,
    "session/asking/people.py:People.consult": "a person: its time; a policy: cancelled when the turn is over",
    "session/asking/turns.py:approve_turn": PEOPLE,
    "session/connection.py:initialize": CLOCK,
    "session/connection.py:authenticate": CLOCK,
    "session/connection.py:new_session": CLOCK,
    "session/connection.py:configure": CLOCK,
    "session/connection.py:_Settings.set_mode": CLOCK,
    "session/connection.py:_Settings.set_option": CLOCK,
    "session/permissions.py:PermissionDesk.permit_own": "cancelled with the call, by the run's end at the latest",
    "session/permissions.py:PermissionDesk._await": "cancelled when the turn is over",
    "session/permissions.py:PermissionDesk._ask": "cancelled when the turn is over",
    "session/permissions.py:PermissionDesk._call_policy": "cancelled when the turn is over",
    "session/permissions.py:PermissionDesk._call_policy.decide": "cancelled when the turn is over",
    "session/session.py:Session.ask": CLOCK,
    "session/session.py:Session.approve_turn": CLOCK,
    "session/stream.py:EventStream.__anext__": CALLER,
    "admission/gate.py:Gate._look": "a moment each; ends when nobody waits any more",
    "warm/pool.py:Pool.take": "two turns of the loop",
    "warm/pool.py:Pool._fill": WARM,
    "warm/pool.py:Pool._keep": WARM,
    "warm/pool.py:Pool._live": WARM,
    "warm/pool.py:Pool._start": "calls of milliseconds",
    "warm/pool.py:Warming._wait": CALLER,
    "warm/pool.py:_hand_over": STEPS,
    "warm/process.py:WarmProcess._read": WARM,
    "warm/process.py:WarmProcess._write": WARM,
    "warm/process.py:WarmProcess.run": STEPS,
    "warm/process.py:WarmProcess._live": STEPS,
    "warm/process.py:WarmProcess.end": STEPS,
    "warm/process.py:WarmProcess.hand_over": "two turns of the loop",
    "warm/replay.py:Replay.receive": LADDER,
    "warm/replay.py:Replay.wait_sendable": "returns when the descriptor is closed",
}


WALL_CLOCK = (
    *("policy/approval.py", "approvals/", "cli/approvals.py", "record/transcript.py"),
    "host_tools/folder.py",  # the age of a file
)
"""Times of the day that people see, or that several processes share; each wait there has a monotonic bound too."""


def unbounded() -> set[str]:
    """`file:function` of every await that no bound encloses."""
    found = set()
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / room]:
            where = str(path.relative_to(PACKAGE))
            found |= {f"{where}:{name}" for name in _outside(ast.parse(path.read_text()), (), bounded=False)}
    return found


def _outside(node: ast.AST, names: tuple[str, ...], *, bounded: bool) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        names, bounded = (*names, node.name), False
    if isinstance(node, ast.With) and any(_is_bound(item.context_expr) for item in node.items):
        bounded = True
    if isinstance(node, ast.Await | ast.AsyncFor) and not bounded:
        yield ".".join(names)
    for child in ast.iter_child_nodes(node):
        yield from _outside(child, names, bounded=bounded)


def _is_bound(expression: ast.expr) -> bool:
    return (
        isinstance(expression, ast.Call)
        and isinstance(expression.func, ast.Attribute)
        and expression.func.attr in BOUNDS
    )


def test_every_await_is_bounded_or_says_what_bounds_it() -> None:
    """By name: a new one must be thought about."""
    assert sorted(unbounded() - WHY.keys()) == []


def test_no_reason_outlives_its_await() -> None:
    """A stale one would hide the next."""
    assert sorted(WHY.keys() - unbounded()) == []


def test_a_wall_clock_bounds_nothing() -> None:
    """Deadlines are monotonic: a clock that is set back changes none of them."""
    calls = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"time.time", "datetime.now", "datetime.utcnow"}
    }
    assert {call for call in calls if not call.startswith(WALL_CLOCK)} == set()
