"""What each word of the protocol does when it is played: updates, requests, answers, order.

Owns the player and the table of all words. A word is a function of the agent, the call that is
being answered and the word's value; it returns what it waits for, in turn. Words below the protocol
are in `acts`.
"""

from __future__ import annotations

import time

from acp_agent.scripted import acts, frames
from acp_agent.scripted.agent import Fault, Wait
from acp_agent.scripted.vocabulary import STEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from acp_agent.scripted.agent import Agent, Call, Steps
    from acp_agent.scripted.vocabulary import Value, Word

COMPLETE = "_acp_subagents/complete"


def play(agent: Agent, call: Call, steps: Iterable[Value]) -> Steps:
    """Play steps one after the other; a placeholder has the value that it has at its step."""
    for step in steps:
        if isinstance(step, str):
            yield from _WORDS[step](agent, call, True)
            continue
        ((word, value),) = step.items()
        if word not in _HOLD_STEPS:
            value = frames.expand_word(value, STEPS[word], agent.lookup(call))
        yield from _WORDS[word](agent, call, value)


# ---------------------------------------------------------------- updates


def _chunk(kind: str) -> Callable[[Agent, Call, Value], Steps]:
    def write(agent: Agent, call: Call, value: Value) -> Steps:
        yield agent.write(frames.chunk(kind, value, call.session.id))

    return write


def _update(kind: str) -> Callable[[Agent, Call, Value], Steps]:
    def write(agent: Agent, call: Call, value: Value) -> Steps:
        yield agent.write(frames.update(call.session.id, {"sessionUpdate": kind, **value}))

    return write


def _any_update(agent: Agent, call: Call, value: Value) -> Steps:
    yield agent.write(frames.update(call.session.id, value))


def _plan(agent: Agent, call: Call, value: Value) -> Steps:
    yield agent.write(frames.plan(value, call.session.id))


def _complete(agent: Agent, call: Call, value: Value) -> Steps:
    params = {"sessionId": call.session.id, "result": value}
    yield agent.write(frames.notification(COMPLETE, params))


def _notify(agent: Agent, _call: Call, value: Value) -> Steps:
    yield agent.write(frames.notification(value["method"], value.get("params", {})))


# ---------------------------------------------------------------- requests to the client


def _permission(agent: Agent, call: Call, value: Value) -> Steps:
    branches = value.get("on", {})
    fields = _fields(agent, call, value, STEPS["permission"])
    params = frames.permission(fields, call.session.id)
    reply = yield from _ask(agent, "session/request_permission", params, fields)
    if reply is not None:
        branch = frames.permission_branch(params["options"], reply)
        yield from play(agent, call, branches.get(branch, []))


def _request(agent: Agent, call: Call, value: Value) -> Steps:
    branches = value.get("on", {})
    fields = _fields(agent, call, value, STEPS["request"])
    reply = yield from _ask(agent, fields["method"], fields.get("params", {}), fields)
    if reply is not None:
        branch = "error" if "error" in reply else "result"
        yield from play(agent, call, branches.get(branch, []))


def _ask(agent: Agent, method: str, params: Value, fields: Value) -> Generator[Wait, None, Value]:
    """Ask the client; returns its answer, or None if the step does not wait for it."""
    sent, slot = agent.ask(method, params, fields)
    if "save" in fields:
        agent.slots[fields["save"]] = slot
    yield sent
    if fields.get("wait") is False:
        return None
    yield Wait(lambda: "frame" in slot)
    _save(agent, fields.get("save"), slot)
    return slot["frame"]


def _save(agent: Agent, name: str | None, slot: dict[str, Value]) -> None:
    if name is not None:
        agent.saved[name] = slot["frame"]


def _wait_answer(agent: Agent, _call: Call, name: str) -> Steps:
    slot = agent.slots.get(name)
    if slot is None:
        raise Fault(f"wait_answer: no request was sent with `save: {name}` yet")
    yield Wait(lambda: "frame" in slot)
    _save(agent, name, slot)


# ---------------------------------------------------------------- the answer


def _respond(agent: Agent, call: Call, value: Value) -> Steps:
    yield from agent.answer(call, {"result": value})


def _stop(agent: Agent, call: Call, value: Value) -> Steps:
    yield from agent.answer(call, {"result": {"stopReason": value}})


def _error(agent: Agent, call: Call, value: Value) -> Steps:
    yield from agent.answer(call, frames.error_as_written(value))


def _answer(agent: Agent, call: Call, value: Value) -> Steps:
    outcome = frames.error_as_written(value["error"]) if "error" in value else {"result": value["result"]}
    for _ in range(value.get("times", 1)):
        yield from agent.answer(call, outcome, id_as=value.get("id_as"))


def _no_answer(_agent: Agent, call: Call, _value: Value) -> Steps:
    call.answered = True
    yield from ()


def _hang(_agent: Agent, _call: Call, _value: Value) -> Steps:
    yield Wait(lambda: False)


def _on_cancel(_agent: Agent, call: Call, value: Value) -> Steps:
    call.on_cancel = value
    yield from ()


def _send(agent: Agent, call: Call, value: Value) -> Steps:
    if isinstance(value, dict) and ("result" in value or "error" in value):
        agent.settle(call, value)
    yield agent.write(value)


# ---------------------------------------------------------------- order


def _repeat(agent: Agent, call: Call, value: Value) -> Steps:
    until_cancel = "until_cancel" in value
    call.takes_cancel = call.takes_cancel or until_cancel
    outer, count, times = call.n, 0, value.get("times")
    while count != times and not (until_cancel and call.cancelled):
        call.n = count
        yield from play(agent, call, value["steps"])
        count += 1
        yield Wait(lambda: True, pause=True)  # else a cancel were never read
    call.n = outer


def _when(agent: Agent, call: Call, value: Value) -> Steps:
    lookup = agent.lookup(call)
    equal = frames.expand(value["value"], lookup) == frames.expand(value["is"], lookup)
    yield from play(agent, call, value.get("then" if equal else "else", []))


def _together(agent: Agent, call: Call, value: Value) -> Steps:
    agent.wire.stdout.hold()
    try:
        yield from play(agent, call, value)
    finally:
        agent.wire.stdout.release()
    yield Wait(lambda: agent.wire.stdout.empty)


def _delay(_agent: Agent, _call: Call, value: Value) -> Steps:
    yield Wait(lambda: False, deadline=time.monotonic() + value)


def _wait_cancel(_agent: Agent, call: Call, _value: Value) -> Steps:
    call.takes_cancel = True
    yield Wait(lambda: call.cancelled)


def _wait_eof(agent: Agent, call: Call, _value: Value) -> Steps:
    call.takes_eof = True
    yield Wait(lambda: agent.wire.stdin.eof or agent.wire.stdin.hung_up)


def _fields(agent: Agent, call: Call, value: Value, word: Word) -> dict[str, Value]:
    """The fields of a request step, expanded, without those that hold steps."""
    rest = {key: part for key, part in value.items() if key != "on"}
    expanded: dict[str, Value] = frames.expand_word(rest, word, agent.lookup(call))
    return expanded


_HOLD_STEPS = ("permission", "request", "repeat", "when", "together", "on_cancel")

_WORDS: dict[str, Callable[[Agent, Call, Value], Steps]] = {
    "chunk": _chunk("agent_message_chunk"),
    "thought": _chunk("agent_thought_chunk"),
    "user": _chunk("user_message_chunk"),
    "tool_call": _update("tool_call"),
    "tool_update": _update("tool_call_update"),
    "usage": _update("usage_update"),
    "update": _any_update,
    "plan": _plan,
    "complete": _complete,
    "permission": _permission,
    "request": _request,
    "wait_answer": _wait_answer,
    "notify": _notify,
    "respond": _respond,
    "stop": _stop,
    "error": _error,
    "answer": _answer,
    "no_answer": _no_answer,
    "hang": _hang,
    "on_cancel": _on_cancel,
    "send": _send,
    "repeat": _repeat,
    "when": _when,
    "together": _together,
    "delay": _delay,
    "wait_cancel": _wait_cancel,
    "wait_eof": _wait_eof,
    **acts.WORDS,
}
