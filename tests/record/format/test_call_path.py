"""Call paths: which request of whom a session answers, from what agents do, never from when."""

import random
from collections import Counter

import anyio
import pytest

from acp_client.record.format.call_path import (
    CallPaths,
    call_path_meta,
    call_path_variables,
    in_tool_call,
    is_call_path,
    of_session,
    order,
    read_call_path,
)


@pytest.mark.parametrize(
    "path",
    ["primary", "primary~2", "primary/desk.1", "primary/desk.2-1-3/risk_judge.12", "primary~2/a-b.1~3/C.1-1"],
)
def test_a_call_path_is_known_and_travels(path: str) -> None:
    """By the environment and by `_meta`."""
    assert is_call_path(path)
    assert read_call_path(call_path_variables(path)) == path
    assert call_path_meta(path) == {"call_path": path}


@pytest.mark.parametrize(
    "text",
    [
        *("", "Primary", "primary/", "primary/desk", "primary/desk.0", "primary/../x.1", "primary/desk.1\n", "desk.1"),
        *("primary/desk.1-1-1-1", "primary/d sk.1", "primary~1x", "primary/désk.1", "primary/x.1" * 400, None, 1),
        "primary/" + "x" * 65 + ".1",
    ],
)
def test_anything_else_is_none(text: object) -> None:
    """It becomes the name of a file: nothing odd may be in it."""
    assert not is_call_path(text)
    if isinstance(text, str):
        assert read_call_path({"ACP_SUBAGENTS_CALL_PATH": text}) == ""


def test_a_process_without_one_says_nothing() -> None:
    """To its children, and to itself."""
    assert (read_call_path({}), call_path_variables(""), call_path_meta("")) == ("", {}, {})


def test_requests_are_counted_by_name_in_the_order_in_which_they_are_made() -> None:
    """In what is no agent below the primary one all the same; an odd name becomes a safe one."""
    paths = CallPaths()
    asked = [paths.next(name) for name in ("judge", "desk", "judge", "a b/ç", "", "x" * 99)]
    assert asked[:4] == ["primary/judge.1", "primary/desk.1", "primary/judge.2", "primary/a-b-.1"]
    assert asked[4:] == ["primary/agent.1", f"primary/{'x' * 64}.1"]
    assert all(map(is_call_path, asked))


def test_the_count_goes_on_from_turn_to_turn() -> None:
    """Each turn has its own object."""
    counter = Counter[str]()
    assert [CallPaths("primary/desk.1", counter).next("judge") for _ in range(2)] == [
        "primary/desk.1/judge.1",
        "primary/desk.1/judge.2",
    ]


async def test_a_request_in_a_tool_call_is_known_by_it_whatever_comes_first() -> None:
    """Also one of a task that the call has started, and that outlives it."""
    for seed in range(20):
        paths, found = CallPaths("primary"), dict[int, list[str]]()

        async def ask(
            call: int, dice: random.Random, paths: CallPaths = paths, found: dict[int, list[str]] = found
        ) -> None:
            for _ in range(dice.randrange(20)):
                await anyio.lowlevel.checkpoint()
            found[call] = [paths.next("judge"), paths.next("desk"), paths.next("judge")]

        dice = random.Random(seed)  # noqa: S311  # no secret
        async with anyio.create_task_group() as tasks:
            for call in (1, 2, 3):
                with in_tool_call(2, call):
                    tasks.start_soon(ask, call, dice)
        assert found == {
            call: [f"primary/judge.2-{call}", f"primary/desk.2-{call}", f"primary/judge.2-{call}-2"]
            for call in (1, 2, 3)
        }
        assert paths.next("judge") == "primary/judge.1"


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0), (-1, 1), (1, 10**7)])
def test_tool_calls_are_counted_from_one(numbers: tuple[int, int]) -> None:
    """What cannot be in a path is refused where it is said."""
    with pytest.raises(ValueError, match="count messages and their tool calls from 1"), in_tool_call(*numbers):
        pass


def test_sessions_of_one_process_are_told_apart() -> None:
    """The first is as the process."""
    assert [of_session("primary/a.1", number) for number in (1, 2)] == ["primary/a.1", "primary/a.1~2"]


def test_the_order_is_primary_first_parents_before_children_numbers_by_value() -> None:
    """As they are listed, and shown."""
    ordered = ["primary", "primary/a.2", "primary/a.2/b.1", "primary/a.2-1", "primary/a.10", "primary/b.1", "primary~2"]
    shuffled = random.Random(1).sample(ordered, len(ordered))  # noqa: S311  # no secret
    assert sorted(shuffled, key=order) == ordered
