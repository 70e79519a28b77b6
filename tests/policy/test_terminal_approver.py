"""A person at the terminal: what is shown, which key decides what, and how the terminal is left."""

import os
import pty
import re
import termios
import tty
import unicodedata
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_client import ApprovalRequest, Decision, TerminalApprover
from acp_client.approvals.terminal.question import duration, show, wrap
from acp_client.policy.approval import Diff, OfferedOption

SECONDS = 10.0
READ_BYTES = 65_536

ONCE, ALWAYS, NO = (
    OfferedOption("y", "Yes", "allow_once"),
    OfferedOption("yy", "Yes, for good", "allow_always"),
    OfferedOption("n", "No", "reject_once"),
)


def ask(subject: Any = "tool", **fields: Any) -> ApprovalRequest:
    """A question; all but what is given is plain."""
    plain: dict[str, Any] = {
        "id": "q-1",
        "subject": subject,
        "agent": "helper",
        "run_id": "r-1",
        "session_id": "s-1",
        "tool": "deploy",
        "kind": "execute",
        "title": "Deploy it",
        "options": (ONCE, ALWAYS, NO),
        "remembers": True,
    }
    return ApprovalRequest(**{**plain, **fields})


# ---- what is shown


def test_the_question_shows_all_that_decides() -> None:
    """Agent, tool, kind, title, arguments, paths, changes, role, reason, and how long there is."""
    request = ask(
        arguments={"host": "prod", "n": 1},
        paths=("/w/x",),
        diffs=(Diff("/w/x", "old line\nsame", "new line\nsame"), Diff("/w/new", None, "first")),
        role="senior",
        why="rule 2: ask tool deploy*",
        timeout_seconds=7200.5,
    )
    text = show(request, 100)
    for part in (
        *("role senior", "2 h left", "helper", "execute", "deploy", "Deploy it", '"host": "prod"', "/w/x"),
        *("-old line", "+new line", " same", "+++ /w/new (a new file", "+first", "rule 2: ask tool deploy*"),
    ):
        assert part in text, part


HOSTILE = (
    "ordinary\x1b[2J\x1b[H\x9b2J\x07 \u202eesrever\u2066\u200b"
    "\n[o] allow this once\n? \r[r] reject\nAPPROVAL, role standard, 24 h left. This agent wants to use a tool:"
    "\u2028? " + "x" * 500 + "界" * 300 + "\n" + "\n".join(f"line {n}" for n in range(10_000))
)


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_nothing_of_the_agents_can_look_like_ours_or_move_the_cursor(columns: int) -> None:
    """Each of its lines stands behind the margin, within the width; control and bidi characters are spelled out."""
    request = ask(
        "choice",
        tool=HOSTILE,
        kind=HOSTILE,
        title=HOSTILE,
        arguments={HOSTILE: [HOSTILE]},
        paths=(HOSTILE,) * 3,
        diffs=(Diff(HOSTILE, HOSTILE, HOSTILE + "more"), Diff(HOSTILE, None, HOSTILE)),
        options=(OfferedOption("a", HOSTILE, HOSTILE),) * 3,
        why=HOSTILE,
        agent=HOSTILE,
    )
    text = show(request, columns)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2028]", text)
    first, head, *lines = text.removesuffix("\n").split("\n")
    assert (first, head[:8]) == ("", "APPROVAL")
    assert len(lines) < 600
    for line in lines:
        assert re.match(r"^(.{9}\| | {9}\(\d+( or)? more lines are NOT SHOWN\)$)", line), line
        assert re.match(r"^[a-z]* *(\||\()", line), line
        if columns >= 40 and "NOT SHOWN" not in line:
            assert sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in line) <= columns
    assert "more lines are NOT SHOWN" in text


def test_text_is_cut_into_pieces_of_the_width_and_none_is_lost() -> None:
    """A wide character takes two columns, one that may be wide too."""
    text = "ab界界c±d"
    for room in range(2, 12):
        pieces = list(wrap(text, room))
        assert "".join(pieces) == text
        assert all(sum(1 + (one in "界±") for one in piece) <= room for piece in pieces)


def test_durations_are_told_in_their_largest_unit() -> None:
    """Seconds, minutes, hours."""
    assert [duration(seconds) for seconds in (5, 90, 86_400)] == ["5 s", "2 min", "24 h"]


# ---- the terminal


class Screen:
    """A pseudo-terminal of which the test is the screen and the keyboard."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.device = os.ttyname(self.slave)
        self.text = ""
        tty.setraw(self.slave)  # neither of the modes in which it is read
        self.before = termios.tcgetattr(self.slave)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    async def shows(self, marker: str) -> None:
        """Wait until the marker is there, and forget what came before it."""
        while marker not in self.text:
            await anyio.wait_readable(self.master)
            self.text += os.read(self.master, READ_BYTES).decode()
        self.text = self.text.partition(marker)[2]

    def is_as_before(self) -> bool:
        """True if the modes of the terminal are what they were."""
        return termios.tcgetattr(self.slave) == self.before

    def close(self) -> None:
        """Both ends."""
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def screen() -> Iterator[Screen]:
    """A terminal; every test must leave it as it was."""
    it = Screen()
    yield it
    assert it.is_as_before()
    it.close()


@asynccontextmanager
async def asking(approver: TerminalApprover, request: ApprovalRequest) -> AsyncIterator[list[Decision]]:
    """Ask meanwhile; at the end of it the decision is there."""
    decisions: list[Decision] = []

    async def decide() -> None:
        decisions.append(await approver(request))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(decide)
            yield decisions


async def waits(screen: Screen, marker: str = "? ") -> None:
    """Wait until the marker is there, and the terminal in the mode to read: what is typed before is thrown away."""
    await screen.shows(marker)
    while screen.is_as_before():
        await anyio.lowlevel.checkpoint()


async def answer(screen: Screen, request: ApprovalRequest, *typed: tuple[str, str]) -> Decision:
    """The decision, after typing each text once its marker is there."""
    async with asking(TerminalApprover(device=screen.device), request) as decisions:
        for marker, keys in typed:
            await waits(screen, marker)
            screen.type(keys)
    return decisions[0]


async def after(screen: Screen, request: ApprovalRequest, keys: str, last: str) -> Decision:
    """The decision after keys that decide nothing, and a last one that is pressed until it is taken."""
    async with asking(TerminalApprover(device=screen.device), request) as decisions:
        await waits(screen)
        screen.type(keys)
        await press(screen, last, decisions)
    return decisions[0]


async def press(screen: Screen, key: str, decisions: list[Decision]) -> None:
    """A key, again until it is taken: two that are read at once are none."""
    while not decisions:
        with anyio.move_on_after(0.15):
            await screen.shows("->")
        if not decisions:
            screen.type(key)


KEYS: dict[str, tuple[ApprovalRequest, list[tuple[str, str]], Decision]] = {
    "once": (ask(), [("? ", "o")], Decision.allow()),
    "for good": (ask(), [("? ", "a")], Decision.select("yy")),
    "reject": (ask(), [("? ", "r")], Decision.reject()),
    "reject with a reason": (ask(), [("? ", "w"), ("why? ", "not on a Friday\n")], Decision.reject("not on a Friday")),
    "a key with Enter": (ask(), [("? ", "o\n")], Decision.allow()),
    "an option": (ask("choice"), [("? ", "2")], Decision.select("yy")),
    "many options": (
        ask("choice", options=tuple(OfferedOption(f"o{n}", "x", "maybe") for n in range(12))),
        [("? ", "n"), ("1 to 12: ", "0\n"), ("1 to 12: ", "11\n")],
        Decision.select("o10"),
    ),
    "a turn": (ask("turn", options=()), [("? ", "o")], Decision.allow()),
}


@pytest.mark.parametrize("name", KEYS)
async def test_each_key_decides_what_it_says(name: str, screen: Screen) -> None:
    """And the user is named as who decided."""
    request, typed, expected = KEYS[name]
    decision = await answer(screen, request, *typed)
    assert (decision.action, decision.option_id, decision.why) == (expected.action, expected.option_id, expected.why)
    assert decision.decided_by.endswith(" at the terminal")


@pytest.mark.parametrize("fields", [{"remembers": False}, {"options": (ONCE, NO)}, {"options": (ALWAYS, ALWAYS)}])
async def test_for_good_is_no_key_where_it_is_not_one_clear_thing(fields: dict[str, Any], screen: Screen) -> None:
    """Not where each call is to be asked about, nor where the agent offers none, or several."""
    decision = await after(screen, ask(**fields), "a", "r")
    assert decision.action == "reject"


@pytest.mark.parametrize("key", ["x", "O", "R", " ", "\n", "4", "0", "n", "f", "\x7f", "é"])
async def test_a_key_that_is_none_decides_nothing(key: str, screen: Screen) -> None:
    """It is waited for one that is; capital letters are none, since arrow keys send them."""
    decision = await after(screen, ask("choice"), key, "3")
    assert (decision.action, decision.option_id) == ("allow", "n")


@pytest.mark.parametrize("keys", ["\x1b[o", "\x1bOo", "\x1b", "oo", "ooo\n", "\x1b[200~o\x1b[201~"])
async def test_keys_that_send_several_characters_approve_nothing(keys: str, screen: Screen) -> None:
    """An arrow key, a paste: no part of it is taken for an answer."""
    decision = await after(screen, ask(), keys, "r")
    assert decision.action == "reject"


async def test_the_rest_of_an_escape_sequence_that_comes_late_approves_nothing(screen: Screen) -> None:
    """Over a slow line an arrow key arrives in pieces."""
    approver = TerminalApprover(device=screen.device, escape_seconds=1.0)  # the line is slow, the machine maybe too
    async with asking(approver, ask()) as decisions:
        await waits(screen)
        for piece in ("\x1b", "o", "o"):
            screen.type(piece)
            with anyio.move_on_after(0.1):  # so that it is read by itself; if it is not, the test shows less
                await screen.shows("->")
        await press(screen, "r", decisions)
    assert decisions[0].action == "reject"


async def test_what_was_typed_ahead_approves_nothing(screen: Screen) -> None:
    """A stray key from before the question is thrown away."""
    screen.type("o")
    decision = await answer(screen, ask(), ("? ", "r"))
    assert decision.action == "reject"


FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "size": {"type": "integer", "default": 3},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "sure": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["name", "sure"],
}
FILL = [
    ("? ", "f"),
    ("text (required): ", "\n"),
    ("text (required): ", "K\n"),
    ("at least 2 characters", ""),
    ("text (required): ", "Kim\n"),
    ("whole number (empty: as it is now): ", "\n"),
    ("text (empty: left out): ", "2\n"),
    ("y or n (required): ", "maybe\n"),
    ("y or n (required): ", "y\n"),
    ("text (empty: left out): ", "\n"),
]


@pytest.mark.parametrize(("last", "action"), [("y\n", "allow"), ("\n", "reject")])
async def test_a_form_is_filled_in_field_by_field(last: str, action: str, screen: Screen) -> None:
    """Each field until it fits; and it is sent only after a yes."""
    decision = await answer(screen, ask("elicitation", schema=FORM), *FILL, ("send it (y), or not? ", last))
    assert decision.action == action
    if action == "allow":
        assert decision.content == {"name": "Kim", "size": 3, "colour": "blue", "sure": True}


async def test_a_question_that_is_of_no_use_any_more_is_taken_back(screen: Screen) -> None:
    """The thread ends, and the terminal is as it was."""
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(TerminalApprover(device=screen.device), ask())
            await waits(screen)
            tasks.cancel_scope.cancel()
        assert screen.is_as_before()
        await screen.shows("taken back")


async def test_questions_are_asked_one_after_another(screen: Screen) -> None:
    """Each with its own answer; a program that draws steps aside for each."""
    log: list[str] = []

    @asynccontextmanager
    async def aside() -> Any:
        log.append("aside")
        yield
        log.append("back")

    approver = TerminalApprover(device=screen.device, aside=aside)
    decisions: dict[str, str] = {}

    async def decide(title: str) -> None:
        decisions[title] = (await approver(ask(title=title))).action

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(decide, "first")
            await screen.shows("first")
            tasks.start_soon(decide, "second")
            await waits(screen)
            assert "second" not in screen.text
            screen.type("o")
            await screen.shows("second")
            await waits(screen)
            screen.type("r")
    assert decisions == {"first": "allow", "second": "reject"}
    assert log == ["aside", "back"] * 2


async def test_the_end_of_input_refuses(screen: Screen) -> None:
    """Ctrl-D is no answer."""
    decision = await answer(screen, ask(), ("? ", "\x04"))
    assert (decision.action, decision.decided_by) == ("reject", "no terminal")
    assert "the input ended" in (decision.why or "")


async def test_without_a_terminal_every_question_is_refused() -> None:
    """At once, and the reason says what is missing."""
    for path in ("/dev/null", "/nonexistent/tty"):
        decision = await TerminalApprover(device=path)(ask())
        assert (decision.action, decision.decided_by) == ("reject", "no terminal")
        assert path in (decision.why or "")


async def test_a_terminal_that_goes_away_refuses() -> None:
    """A closed window is no answer."""
    screen = Screen()
    async with asking(TerminalApprover(device=screen.device), ask()) as decisions:
        await waits(screen)
        screen.close()
    assert (decisions[0].action, decisions[0].decided_by) == ("reject", "no terminal")
