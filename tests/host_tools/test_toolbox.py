"""Calls of tools: recorded, permitted, run and answered, without anything around them."""

import asyncio
import threading
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, field_validator

from acp_client import Image, ToolContext
from acp_client.host_tools.toolbox import MAX_ARGUMENT_BYTES, MAX_CALLS_AT_ONCE, MAX_ERROR_CHARS, RUN_OVER, Toolbox
from tests.host_tools.serving import OTHER_SECRET, nothing, toolbox

SECONDS = 20.0


def text_of(outcome: Any) -> str:
    """The text of the only block."""
    (block,) = outcome.content
    text: str = block["text"]
    return text


async def call(box: Toolbox, name: str, **arguments: Any) -> Any:
    """One call, by nobody in particular."""
    with anyio.fail_after(SECONDS):
        return await box.call(name, arguments, nothing)


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


async def fail(how: str) -> str:
    """Fails."""
    if how == "exit":
        raise SystemExit(3)
    if how == "cancelled":
        raise anyio.get_cancelled_exc_class()() if how == "x" else asyncio.CancelledError
    raise ValueError(f"no {how}: {OTHER_SECRET}")


async def test_plain_functions_run_in_a_thread_and_async_ones_in_the_loop() -> None:
    """So that neither blocks the runs."""
    threads: list[int] = []

    def plain() -> str:
        threads.append(threading.get_ident())
        return "plain"

    async def coroutine() -> Image:
        threads.append(threading.get_ident())
        return Image(b"x", "image/png")

    box, _ = toolbox(plain, coroutine)
    assert text_of(await call(box, "plain")) == "plain"
    assert (await call(box, "coroutine")).content == [{"type": "image", "data": "eA==", "mimeType": "image/png"}]
    assert [ident == threading.get_ident() for ident in threads] == [False, True]


async def test_a_tool_gets_its_context_and_tells_of_progress_to_whoever_listens() -> None:
    """A listener that fails or hangs is no matter of the tool's."""
    heard: list[tuple[float, float | None, str | None]] = []

    async def work(context: ToolContext) -> str:
        await context.progress(1, 2, "half")
        return f"{context.run_id} {context.agent} {context.tool} {context.ordinal}"

    async def listen(*said: Any) -> None:
        heard.append(said)
        raise ConnectionError("gone")

    box, _ = toolbox(work)
    outcome = await box.call("work", {}, listen)
    assert text_of(outcome) == "run-1 an agent work 1"
    assert heard == [(1, 2, "half")]


async def test_what_fails_is_told_to_the_model_and_ends_nothing() -> None:
    """Type and message, redacted, and no traceback; then the next call goes as ever."""
    box, watch = toolbox(add, fail)
    failed = await call(box, "fail", how="luck")
    assert failed.is_error
    assert text_of(failed) == "ValueError: no luck: [redacted]"
    assert text_of(await call(box, "fail", how="exit")) == "SystemExit: 3"
    assert text_of(await call(box, "nope")) == "there is no tool 'nope'; there are: add, fail"
    assert "a: Field required" in text_of(await call(box, "add", b=1))
    assert not (await call(box, "add", a=1, b=2)).is_error
    assert [one.status for one in watch.ended] == ["failed"] * 4 + ["completed"]
    assert [one.ordinal for one in box.records()] == [1, 2, 3, 4, 5]
    assert box.records()[0].error == "ValueError: no luck: [redacted]"


class Speechless(Exception):
    """An error whose message cannot be had."""

    def __init__(self, why: BaseException) -> None:
        self.why = why

    def __str__(self) -> str:
        raise self.why


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Speechless(RuntimeError()), "Speechless"),
        (Speechless(SystemExit(3)), "Speechless"),
        (GeneratorExit("no luck"), "GeneratorExit: no luck"),
        (StopIteration("no luck"), "RuntimeError: coroutine raised StopIteration"),
        (pytest.fail.Exception("no luck"), "Failed: no luck"),  # no Exception
        (BaseExceptionGroup("both", [SystemExit(1), ValueError()]), "BaseExceptionGroup: both (2 sub-exceptions)"),
    ],
)
async def test_whatever_a_tool_raises_is_told_and_nothing_else_ends(error: BaseException, told: str) -> None:
    """In a thread and in the loop: past here it would end the run, and under trio the whole program."""

    def plain() -> None:
        raise error

    async def coroutine() -> None:
        raise error

    box, watch = toolbox(plain, coroutine)
    in_thread = "StopIteration: no luck" if isinstance(error, StopIteration) else told
    assert [text_of(await call(box, name)) for name in ("plain", "coroutine")] == [in_thread, told]
    assert [one.status for one in watch.ended] == ["failed", "failed"]


async def interrupt(how: str) -> None:
    """Raises what a Ctrl-C does."""
    if how == "group":
        raise BaseExceptionGroup("both", [KeyboardInterrupt(), ValueError()])
    raise KeyboardInterrupt


def interrupt_thread() -> None:
    """The same, in its thread."""
    raise KeyboardInterrupt("no luck")


@pytest.mark.parametrize("how", ["alone", "group"])
async def test_what_may_be_a_ctrl_c_ends_the_program_as_ever(how: str) -> None:
    """In the main thread's loop a tool's own cannot be told from it."""
    box, watch = toolbox(interrupt)
    with anyio.fail_after(SECONDS), pytest.raises(KeyboardInterrupt):
        await box.call("interrupt", {"how": how}, nothing)
    assert [one.status for one in watch.ended] == ["cancelled"]


async def test_what_can_be_no_ctrl_c_is_told() -> None:
    """Python raises that in the main thread alone."""
    box, _ = toolbox(interrupt_thread)
    assert text_of(await call(box, "interrupt_thread")) == "KeyboardInterrupt: no luck"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_in_a_loop_beside_the_main_thread_it_is_told_too(backend: str) -> None:
    """As above."""
    told: list[str] = []

    async def main() -> None:
        box, _ = toolbox(interrupt)
        told.append(text_of(await call(box, "interrupt", how="alone")))

    thread = threading.Thread(target=anyio.run, args=(main,), kwargs={"backend": backend})
    thread.start()
    thread.join(SECONDS)
    assert told == ["KeyboardInterrupt"]


class Odd(BaseModel):
    """A type that reads what is given in its own way."""

    how: int

    @field_validator("how")
    @classmethod
    def _fail(cls, how: int) -> int:
        raise (pytest.fail.Exception("no luck") if how else SystemExit(3))


async def test_a_type_that_fails_as_it_reads_the_arguments_is_told_too() -> None:
    """Its validator is the parent's code, as the tool is."""

    def odd(value: Odd) -> None: ...

    box, watch = toolbox(odd)
    assert text_of(await call(box, "odd", value={"how": 1})) == "Failed: no luck"
    assert text_of(await call(box, "odd", value={"how": 0})) == "SystemExit: 3"
    assert [one.status for one in watch.ended] == ["failed", "failed"]


async def test_a_flood_of_calls_keeps_so_many_records() -> None:
    """All are answered."""
    box, _ = toolbox(add, max_calls_kept=2)
    assert [text_of(await call(box, "add", a=1, b=number)) for number in range(5)] == ["1", "2", "3", "4", "5"]
    assert [one.ordinal for one in box.records()] == [1, 2]


async def test_a_tool_whose_own_tasks_fail_as_it_is_cancelled_ends_nothing_else() -> None:
    """The group that comes of it holds both, or under asyncio the failure alone."""

    async def forever(started: anyio.Event) -> None:
        try:
            started.set()
            await anyio.sleep_forever()
        finally:
            raise pytest.fail.Exception("while it was cancelled")

    started = [anyio.Event(), anyio.Event()]

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(forever, started[0])
            started[1].set()
            await anyio.sleep_forever()

    box, watch = toolbox(both)
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, box, "both")
            for one in started:
                await one.wait()
            box.close()
    assert [one.status for one in watch.ended] in (["cancelled"], ["failed"])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_awaited_what_was_cancelled_has_failed() -> None:
    """On asyncio that is the exception by which a task is cancelled; ours is not."""
    box, watch = toolbox(fail)
    assert text_of(await call(box, "fail", how="cancelled")) == "CancelledError"
    assert watch.ended[0].status == "failed"


async def test_errors_and_arguments_are_bounded_and_redacted() -> None:
    """A record is looked at by people, an error by a model."""

    def shout(words: str, token: str = "") -> None:
        raise ValueError(f"\x1b[31m{words} {token}")

    box, _ = toolbox(shout)
    assert text_of(await call(box, "shout", words="x", token=OTHER_SECRET)) == r"ValueError: \x1b[31mx [redacted]"
    outcome = await call(box, "shout", words="x" * 100_000)
    assert len(text_of(outcome)) <= MAX_ERROR_CHARS
    small, large = box.records()
    assert small.arguments == {"words": "x", "token": "[redacted]"}
    assert isinstance(large.arguments, str)
    assert len(large.arguments) <= MAX_ARGUMENT_BYTES


async def test_what_is_not_permitted_does_not_run() -> None:
    """And the model is told why."""
    ran: list[int] = []
    box, watch = toolbox(lambda_tool(ran))
    watch.refuse["touch"] = "the call was not allowed: rule 1"
    outcome = await call(box, "touch")
    assert (outcome.is_error, text_of(outcome)) == (True, "the call was not allowed: rule 1")
    assert ran == []
    assert box.records()[0].status == "rejected"


def lambda_tool(ran: list[int]) -> Any:
    """A tool that notes that it ran."""

    def touch() -> None:
        ran.append(1)

    return touch


async def test_the_end_of_the_run_cancels_what_runs_and_lets_nothing_begin() -> None:
    """The function in a thread is left to its end; nobody waits for it."""
    started, release = anyio.Event(), threading.Event()
    outcomes: list[Any] = []

    async def wait() -> None:
        started.set()
        await anyio.sleep_forever()

    def block() -> None:
        release.wait(SECONDS)

    box, watch = toolbox(wait, block)

    async def keep(name: str) -> None:
        outcomes.append(await box.call(name, {}, nothing))

    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep, "block")
            tasks.start_soon(keep, "wait")
            await started.wait()
            box.close()
    release.set()
    assert [text_of(one) for one in outcomes] == [RUN_OVER] * 2
    assert {one.status for one in watch.ended} == {"cancelled"}
    assert text_of(await call(box, "wait")) == RUN_OVER
    assert len(box.records()) == 2


async def test_a_caller_that_gives_up_cancels_its_call_alone() -> None:
    """As `notifications/cancelled` does."""
    started = anyio.Event()

    async def wait() -> None:
        started.set()
        await anyio.sleep_forever()

    box, watch = toolbox(wait, add)
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.call, "wait", {}, nothing)
            await started.wait()
            tasks.cancel_scope.cancel()
    assert [one.status for one in watch.ended] == ["cancelled"]
    assert text_of(await call(box, "add", a=1, b=1)) == "2"


async def test_more_calls_than_may_run_at_once_are_told_so() -> None:
    """A flood costs no more than an answer."""

    async def wait() -> None:
        await anyio.sleep_forever()

    box, watch = toolbox(wait)
    with anyio.fail_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for _ in range(MAX_CALLS_AT_ONCE):
                tasks.start_soon(box.call, "wait", {}, nothing)
            await anyio.wait_all_tasks_blocked()
            refused = await box.call("wait", {}, nothing)
            tasks.cancel_scope.cancel()
    assert refused.is_error
    assert len(watch.began) == MAX_CALLS_AT_ONCE
