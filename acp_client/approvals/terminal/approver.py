"""Asks whoever sits at the terminal: shows the question, reads a key, and says what that decides.

Owns the keys. Questions of several runs are asked one after another; a question that is of no use any more is taken
back, and the terminal is left as it was.
"""

from __future__ import annotations

import functools
import os
import pwd
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final

import anyio
import anyio.to_thread

from acp_client.approvals.terminal.device import DEVICE, ESCAPE_SECONDS, Interrupted, Terminal, TerminalError
from acp_client.approvals.terminal.form import fill_in
from acp_client.approvals.terminal.question import block, show
from acp_client.policy.approval import ApprovalRequest, OfferedOption
from acp_client.policy.permission import Decision

MAX_NUMBER_KEYS: Final = 9
"""Options that have a key each; of more, the number is typed as a line."""

MAX_DIGITS: Final = 9

ONCE, ALWAYS, REJECT, REASON, FILL, NUMBER = "oarwfn"
"""Small letters only: arrow keys and the like send capital ones."""


class TerminalApprover:
    """An approver that asks on the controlling terminal (`/dev/tty`), whatever stdin and stdout are.

    `aside` is entered around each question: for a program that draws on the same terminal, to step aside. Without a
    terminal, in its background, and at the end of its input every question is refused, and the reason says so.
    Cancelling takes the question back. One object for all runs, so that questions do not mix.
    """

    def __init__(
        self,
        *,
        aside: Callable[[], AbstractAsyncContextManager[Any]] | None = None,
        device: str = DEVICE,
        escape_seconds: float = ESCAPE_SECONDS,
    ) -> None:
        self.aside = aside
        self._device = device
        self._escape_seconds = escape_seconds
        self._turn: Final = anyio.Lock()

    async def __call__(self, request: ApprovalRequest) -> Decision:
        """What the person decides. `decided_by` is the user's name."""
        async with self._turn, self.aside() if self.aside is not None else nullcontext():
            terminal = Terminal(self._device, escape_seconds=self._escape_seconds)
            decision = await _in_thread(terminal, request)
        return decision if decision.decided_by != "callable" else replace(decision, decided_by=_who())


async def _in_thread(terminal: Terminal, request: ApprovalRequest) -> Decision:
    """Ask in a worker thread, which is woken, and ends, when this is cancelled."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_interrupt_at_the_end, terminal)
        asking = functools.partial(_ask, terminal, request)
        decision = await anyio.to_thread.run_sync(asking, limiter=anyio.CapacityLimiter(1))
        tasks.cancel_scope.cancel()
    return decision


async def _interrupt_at_the_end(terminal: Terminal) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        terminal.interrupt()


def _ask(terminal: Terminal, request: ApprovalRequest) -> Decision:
    """All of it, in its thread."""
    try:
        terminal.open()
        return _converse(terminal, request)
    except TerminalError as error:
        return Decision("reject", f"nobody could be asked: {error}", "no terminal")
    except Interrupted:
        terminal.write_now("\n-> taken back: no answer is needed any more\n")
        return Decision("reject", "the question was taken back", "nobody")
    finally:
        terminal.close()


def _converse(terminal: Terminal, request: ApprovalRequest) -> Decision:
    columns = terminal.columns
    keys = _keys(request)
    terminal.write(show(request, columns))
    terminal.write("".join(f"[{key}] {does}\n" for key, does in keys.items()))
    if ALWAYS in keys:
        terminal.write("".join(f"{line}\n" for line in block("[a] is", [_for_good(request)[0].name], columns, 1)))
    terminal.write("? ")
    while (key := terminal.key()) not in keys:
        pass
    terminal.write(f"{key}\n")
    decision = _decide(terminal, request, key)
    terminal.write(f"-> {'allowed' if decision.action == 'allow' else 'rejected'}\n")
    return decision


def _keys(request: ApprovalRequest) -> Mapping[str, str]:
    """Each key and what it does, in the order in which they are shown."""
    keys: dict[str, str] = {}
    if request.subject == "elicitation":
        keys[FILL] = "fill it in"
    elif request.subject != "choice":
        keys[ONCE] = "allow, also when it asks for the same again" if request.remembers else "allow this once"
    elif len(request.options) <= MAX_NUMBER_KEYS:
        keys |= {str(number): f"send option {number}" for number, _ in enumerate(request.options, 1)}
    else:
        keys[NUMBER] = "type the number of an option to send"
    if _for_good(request):
        keys[ALWAYS] = "allow for good: the agent asks no more, in words of its own"
    return keys | {REJECT: "reject", REASON: "reject, and say why"}


def _decide(terminal: Terminal, request: ApprovalRequest, key: str) -> Decision:
    if key == REJECT:
        return Decision.reject()
    if key == REASON:
        terminal.write("why? ")
        return Decision.reject(terminal.line().strip() or None)
    if key == ONCE:
        return Decision.allow()
    if key == FILL:
        return fill_in(terminal, request)
    if key == ALWAYS:
        return Decision.select(_for_good(request)[0].id)
    return Decision.select(request.options[_number(terminal, request, key) - 1].id)


def _number(terminal: Terminal, request: ApprovalRequest, key: str) -> int:
    typed = key
    while not (typed.isdecimal() and 1 <= int(typed) <= len(request.options)):
        terminal.write(f"a number from 1 to {len(request.options)}: ")
        typed = terminal.line().strip()[:MAX_DIGITS]
    return int(typed)


def _for_good(request: ApprovalRequest) -> list[OfferedOption]:
    """The one option that allows for good; none where there are several, or each call is to be asked about."""
    found = [option for option in request.options if option.kind == "allow_always"]
    return found if request.subject == "tool" and request.remembers and len(found) == 1 else []


def _who() -> str:
    try:
        return f"{pwd.getpwuid(os.getuid()).pw_name} at the terminal"
    except KeyError:  # a container without names
        return f"uid {os.getuid()} at the terminal"
