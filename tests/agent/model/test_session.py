"""One session's model calls, recorded and replayed; each way to differ has its own error, which names the call path."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace
from typing import Final, cast

import anyio
import pytest

from acp_agent import Context
from acp_agent.model.mismatch import (
    CallPathTaken,
    ChangedRequest,
    DamagedScript,
    ExhaustedScript,
    ExtraCall,
    MissingScript,
    OverlappingCalls,
    ScriptIsThere,
    ScriptMismatch,
    SwappedScript,
    UnconsumedCalls,
    UnwritableLog,
)
from acp_agent.model.rules import Rule, RuleModel
from acp_agent.model.script import file_name
from acp_agent.model.scripts import ModelScripts
from acp_agent.model.seam import (
    Delta,
    Message,
    Model,
    ModelFailed,
    Stop,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    collect,
)
from acp_client.protocol.errors import RpcError
from tests.agent.model.model_agent import no_model

DESK: Final = "primary/desk.1"
SAYS: Final = RuleModel([Rule("(.*)", r"said \1")])


def context(call_path: str = DESK, cwd: str = "/work", session: str = "s1") -> Context:
    """What a turn knows of where it is."""
    return cast("Context", SimpleNamespace(call_path=call_path, cwd=Path(cwd), session_id=session))


class Fixed:
    """Streams what it is given; raises it if it is an error."""

    def __init__(self, *deltas: Delta | Exception) -> None:
        self.deltas = deltas

    async def stream(self, _messages: Sequence[Message], _tools: Sequence[Tool] = ()) -> AsyncGenerator[Delta, None]:
        """One call."""
        for delta in self.deltas:
            if isinstance(delta, Exception):
                raise delta
            yield delta


class Session:
    """Turns of one session: `say` is a call, whose text it returns."""

    def __init__(self, scripts: ModelScripts, model: Model | None = None, where: Context | None = None) -> None:
        self.scripts = scripts
        self.where = where or context()
        self.make: Callable[[], Model] = (lambda: model) if model is not None else no_model

    async def turn(self, *texts: str, tools: Sequence[Tool] = ()) -> list[str]:
        """A turn with so many calls."""
        with self.scripts.turn(self.where, self.make) as model:
            return [await say(model, text, tools=tools) for text in texts]

    async def stubborn_turn(self, *texts: str) -> None:
        """A turn of an agent that goes on whatever a call raises."""
        with self.scripts.turn(self.where, self.make) as model:
            for text in texts:
                with pytest.raises(ScriptMismatch):
                    await say(model, text)

    async def grouped_turn(self, text: str) -> None:
        """A turn whose call is made in a task group."""
        with self.scripts.turn(self.where, self.make) as model:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(say, model, text)

    async def overlapping_turn(self, text: str) -> None:
        """A turn whose second call begins before the first is over."""
        with self.scripts.turn(self.where, self.make) as model:
            async with aclosing(model.stream([Message("user", text)])) as first:
                await anext(first)
                await say(model, text)

    async def failing_turn(self, text: str, error: Exception) -> None:
        """A turn with one call, that the agent then ends with this."""
        with self.scripts.turn(self.where, self.make) as model:
            await say(model, text)
            raise error


async def say(model: Model, text: str, *, tools: Sequence[Tool] = ()) -> str:
    """One call."""
    return (await collect(model.stream([Message("user", text)], tools))).message.text


async def recorded(folder: Path, *turns: Sequence[str], model: Model = SAYS) -> Path:
    """A golden folder with the script of one session."""
    session = Session(ModelScripts(logs=folder, mode="record"), model)
    for texts in turns:
        await session.turn(*texts)
    return folder


def replaying(golden: Path, logs: Path | None = None, **where: str) -> Session:
    """A session that replays."""
    return Session(ModelScripts(golden, logs=logs), where=context(**where))


def told(caught: pytest.ExceptionInfo[ScriptMismatch]) -> str:
    """What the client is told, after the part that every message has."""
    assert isinstance(caught.value, RpcError)
    assert caught.value.data["call_path"] == caught.value.call_path
    return caught.value.message.removeprefix(f"model script of {caught.value.call_path}: ")


async def test_a_session_is_replayed_without_a_model_turn_by_turn(tmp_path: Path) -> None:
    """And its log is the script again, byte by byte."""
    golden = await recorded(tmp_path / "golden", ["a", "b"], ["c"])
    session = replaying(golden, tmp_path / "logs")
    assert [await session.turn("a", "b"), await session.turn("c")] == [["said a", "said b"], ["said c"]]
    name = file_name(DESK)
    assert (tmp_path / "logs" / name).read_bytes() == (golden / name).read_bytes()
    assert oct((golden / name).stat().st_mode & 0o777) == "0o600"
    assert oct(golden.stat().st_mode & 0o777) == "0o700"


async def test_without_the_variables_the_model_is_used_as_it_is() -> None:
    """Made once."""
    made: list[Model] = []

    def make() -> Model:
        made.append(SAYS)
        return SAYS

    scripts = ModelScripts.from_environment({})
    for _ in range(2):
        with scripts.turn(context(), make) as model:
            assert model is SAYS
    assert len(made) == 1


async def test_a_missing_script_is_told(tmp_path: Path) -> None:
    """With the folder that was looked into."""
    golden = await recorded(tmp_path / "golden", ["a"])
    with pytest.raises(MissingScript) as caught:
        await replaying(golden, call_path="primary/desk.2").turn("a")
    assert caught.value.call_path == "primary/desk.2"
    assert told(caught).startswith(f"there is none in {golden}; every session needs its own")


async def test_an_exhausted_script_is_told(tmp_path: Path) -> None:
    """It was one call too many."""
    golden = await recorded(tmp_path / "golden", ["a"])
    with pytest.raises(ExhaustedScript) as caught:
        await replaying(golden).turn("a", "b")
    assert told(caught).startswith("call 2 was made, and 1 call was recorded: the script is at its end")


async def test_an_extra_call_is_told_apart_from_the_end_of_the_script(tmp_path: Path) -> None:
    """The next recorded one belongs to the next turn."""
    golden = await recorded(tmp_path / "golden", ["a"], ["b"])
    with pytest.raises(ExtraCall) as caught:
        await replaying(golden).turn("a", "b")
    assert told(caught).startswith(
        "call 2 was made in turn 1, and was recorded in turn 2: turn 1 makes a call too many"
    )


async def test_unconsumed_calls_are_told_when_the_turn_ends(tmp_path: Path) -> None:
    """Though all went well until then."""
    golden = await recorded(tmp_path / "golden", ["a", "b", "c"])
    with pytest.raises(UnconsumedCalls) as caught:
        await replaying(golden).turn("a")
    assert told(caught).startswith("turn 1 ended after 1 call was made, and 3 calls were recorded")


async def test_unconsumed_calls_of_a_turn_that_failed_are_told_in_the_next(tmp_path: Path) -> None:
    """An error of its own is not covered by ours."""
    golden = await recorded(tmp_path / "golden", ["a", "b"], ["c"])
    session = replaying(golden)
    with pytest.raises(ZeroDivisionError):
        await session.failing_turn("a", ZeroDivisionError())
    with pytest.raises(UnconsumedCalls) as caught:
        await session.turn("c")
    assert told(caught).startswith("turn 1 ended after 1 call was made, and 2 calls were recorded")


async def test_a_changed_request_is_told_with_the_difference(tmp_path: Path) -> None:
    """In the error's data too, for who gets it over the wire."""
    golden = await recorded(tmp_path / "golden", ["a", "old text"])
    with pytest.raises(ChangedRequest) as caught:
        await replaying(golden).turn("a", "new text")
    assert told(caught) == "call 2 asks something else than was recorded, in messages[0] (user)"
    assert '- "text": "old text"\n+ "text": "new text"' in str(caught.value)
    assert caught.value.data["difference"] == caught.value.difference


async def test_changed_tools_and_another_number_of_messages_are_told_as_that(tmp_path: Path) -> None:
    """Not as a wall of everything."""
    golden = await recorded(tmp_path / "golden", ["a"])
    with pytest.raises(ChangedRequest) as caught:
        await replaying(golden).turn("a", tools=[Tool("add")])
    assert told(caught).endswith("in the tools")
    session = replaying(golden)
    with (
        pytest.raises(ChangedRequest, match="in the number of messages, 2 instead of 1") as caught,
        session.scripts.turn(session.where, no_model) as model,
    ):
        await collect(model.stream([Message("user", "a"), Message("user", "b")]))
    assert '"text": "b"' in caught.value.difference


async def test_the_script_of_another_call_path_is_told(tmp_path: Path) -> None:
    """Also in the log; the prompt gets it, though no call was made."""
    golden = await recorded(tmp_path / "golden", ["a"])
    (golden / file_name(DESK)).rename(golden / file_name("primary/desk.2"))
    with pytest.raises(SwappedScript) as caught:
        await replaying(golden, tmp_path / "logs", call_path="primary/desk.2").turn("a")
    assert told(caught) == f"{golden / file_name('primary/desk.2')} holds the script of {DESK}; put it back"
    assert "holds the script" in (tmp_path / "logs" / file_name("primary/desk.2")).read_text()


async def test_two_sessions_with_one_call_path_are_told(tmp_path: Path) -> None:
    """So is a folder that was not empty."""
    golden = await recorded(tmp_path / "golden", ["a"])
    await replaying(golden, tmp_path / "logs").turn("a")
    with pytest.raises(CallPathTaken, match="or a second session has the same call path"):
        await replaying(golden, tmp_path / "logs").turn("a")


async def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With the variable to set; a file in the place of the folder, here and above it."""
    golden = await recorded(tmp_path / "golden", ["a"])
    (tmp_path / "file").touch()
    for folder, why in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "logs", "Not a directory")):
        with pytest.raises(UnwritableLog) as caught:
            await replaying(golden, folder).turn("a")
        assert f"its calls cannot be logged in {folder}/{file_name(DESK)}: {why}; ACP_MODEL_LOGS names" in told(caught)
    with pytest.raises(UnwritableLog, match="No such file or directory"):
        await replaying(golden, Path("/proc")).turn("a")
    session = Session(ModelScripts(logs=tmp_path / "logs", mode="refresh"), SAYS)
    await session.turn("a")
    (tmp_path / "logs" / file_name(DESK)).unlink()
    (tmp_path / "logs" / file_name(DESK)).mkdir()
    with pytest.raises(UnwritableLog, match="Is a directory"):
        await session.turn("b")


async def test_recording_overwrites_nothing_and_refreshing_does(tmp_path: Path) -> None:
    """Neither writes into the golden folder by itself."""
    golden = await recorded(tmp_path / "golden", ["a"])
    before = (golden / file_name(DESK)).read_bytes()
    with pytest.raises(ScriptIsThere, match="`record` overwrites nothing; use `refresh`"):
        await Session(ModelScripts(golden, logs=tmp_path / "one", mode="record"), SAYS).turn("a")
    refreshed = Session(ModelScripts(golden, logs=tmp_path / "two", mode="refresh"), SAYS)
    assert await refreshed.turn("b") == ["said b"]
    other = Session(ModelScripts(golden, logs=tmp_path / "two", mode="record"), SAYS, context("primary/desk.2"))
    assert await other.turn("b") == ["said b"]
    assert (golden / file_name(DESK)).read_bytes() == before


async def test_an_agent_that_goes_on_after_a_mismatch_fails_all_the_same(tmp_path: Path) -> None:
    """Each later call says the first; so does the end of the turn, and the group of a task group hides nothing."""
    golden = await recorded(tmp_path / "golden", ["a"])
    session = replaying(golden, tmp_path / "logs")
    with pytest.raises(ChangedRequest):
        await session.stubborn_turn("b", "a")
    with pytest.raises(ChangedRequest):
        await session.turn()
    with pytest.raises(ChangedRequest):
        await session.grouped_turn("a")
    last = (tmp_path / "logs" / file_name(DESK)).read_text().splitlines()[-1]
    assert last.startswith('{"mismatch":{"reason":"changed","message":"model script of primary/desk.1: call 1 asks')


@pytest.mark.parametrize("mode", ["record", "replay"])
async def test_two_calls_at_once_are_refused(mode: str, tmp_path: Path) -> None:
    """Their order would be the clock's."""
    golden = await recorded(tmp_path / "golden", ["a", "a"])
    scripts = ModelScripts(golden) if mode == "replay" else ModelScripts(logs=tmp_path / "logs", mode="record")
    session = Session(scripts, SAYS if mode == "record" else None)
    with pytest.raises(OverlappingCalls, match="call 2 begins while"):
        await session.overlapping_turn("a")


# ---- what a call was


async def test_a_model_that_failed_fails_again(tmp_path: Path) -> None:
    """With its message after what it had said; of another error only the kind is kept."""
    for name, error in (("one", ModelFailed("overloaded")), ("two", OSError("no route to 10.0.0.1"))):
        recording = Session(ModelScripts(logs=tmp_path / name, mode="record"), Fixed(TextDelta("so far"), error))
        with pytest.raises(type(error)):
            await recording.turn("a")
        session = replaying(tmp_path / name)
        with session.scripts.turn(session.where, no_model) as model:
            stream = model.stream([Message("user", "a")])
            assert await anext(stream) == TextDelta("so far")
            with pytest.raises(ModelFailed, match="overloaded" if name == "one" else "^OSError$"):
                await anext(stream)


async def test_a_call_that_was_given_up_is_given_up_again(tmp_path: Path) -> None:
    """After what there was of it, it waits until it is cancelled; one that was left at its stop is whole."""
    for name, left_after in (("cut", TextDelta), ("whole", Stop)):
        recording = Session(ModelScripts(logs=tmp_path / name, mode="record"), Fixed(TextDelta("so far"), Stop()))
        with recording.scripts.turn(recording.where, recording.make) as model:
            async with aclosing(model.stream([Message("user", "a")])) as stream:
                async for delta in stream:
                    if isinstance(delta, left_after):
                        break
        session, text = replaying(tmp_path / name), ""
        with session.scripts.turn(session.where, no_model) as model, anyio.move_on_after(0.05) as scope:
            text = await say(model, "a")
        assert (scope.cancelled_caught, text) == ((True, "") if name == "cut" else (False, "so far"))


async def test_ids_paths_and_times_of_another_run_make_no_difference(tmp_path: Path) -> None:
    """The session's directory comes back as that of the replay."""

    def asked(cwd: str, call_id: str, when: str) -> list[Message]:
        call = Message("assistant", tool_calls=(ToolCall(call_id, "read"),))
        return [Message("user", f"read {cwd}/a.csv at {when}"), call, Message("tool", "x", tool_call_id=call_id)]

    pieces: list[Delta] = [TextDelta("See /wo"), TextDelta("rk/a.csv or /workshop"), ToolCallDelta(0, "call_1", "read")]
    arguments: list[Delta] = [
        ToolCallDelta(0, arguments='{"path": "/work'),
        ToolCallDelta(0, arguments='/a.csv"}'),
        Stop(),
    ]
    recording = Session(ModelScripts(logs=tmp_path / "golden", mode="record"), Fixed(*pieces, *arguments))
    with recording.scripts.turn(recording.where, recording.make) as model:
        await collect(model.stream(asked("/work", "toolu_0123456789", "2026-12-01T04:00:00Z")))
    session = replaying(tmp_path / "golden", cwd="/elsewhere/x")
    with session.scripts.turn(session.where, no_model) as model:
        reply = await collect(model.stream(asked("/elsewhere/x", "toolu_9876543210", "2027-01-01T00:00:00Z")))
    assert reply.message.text == "See /elsewhere/x/a.csv or /workshop"
    assert [call.arguments for call in reply.message.tool_calls] == ['{"path": "/elsewhere/x/a.csv"}']


async def test_no_secret_is_kept_of_a_request_or_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also cut across two deltas; known ones of the environment, and what looks like one."""
    monkeypatch.setenv("DESK_API_KEY", "hunter2-hunter2-hunter2")
    model = Fixed(TextDelta("it is hunter2-hun"), TextDelta("ter2-hunter2, ok"), Stop())
    recording = Session(ModelScripts(logs=tmp_path / "golden", mode="record"), model)
    token = "ghp_" + "a1B2" * 9
    assert await recording.turn(f"use hunter2-hunter2-hunter2 or {token}") == ["it is hunter2-hunter2-hunter2, ok"]
    text = (tmp_path / "golden" / file_name(DESK)).read_text()
    assert ("hunter2" in text, token in text, text.count("[redacted]")) == (False, False, 3)
    monkeypatch.delenv("DESK_API_KEY")
    assert await replaying(tmp_path / "golden").turn("use other or another") == ["it is [redacted], ok"]


# ---- what a process is told


@pytest.mark.parametrize(
    ("environment", "rule"),
    [
        ({"ACP_MODEL_SCRIPTS": "golden"}, "ACP_MODEL_SCRIPTS is 'golden'; it must be absolute"),
        ({"ACP_MODEL_SCRIPTS": "/g", "ACP_MODEL_LOGS": "logs"}, "ACP_MODEL_LOGS is 'logs'; it must be absolute"),
        ({"ACP_MODEL_SCRIPTS": "/g", "ACP_MODEL_MODE": "play"}, "it is one of replay, record, refresh"),
        ({"ACP_MODEL_MODE": "record"}, "ACP_MODEL_MODE=record needs ACP_MODEL_LOGS"),
        ({"ACP_MODEL_LOGS": "/logs"}, "ACP_MODEL_LOGS without ACP_MODEL_SCRIPTS"),
    ],
)
def test_what_cannot_be_meant_names_the_variable(environment: dict[str, str], rule: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ValueError, match=rule):
        ModelScripts.from_environment(environment)


async def test_a_script_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Bytes that are no text, a folder in its place."""
    file = tmp_path / file_name(DESK)
    file.write_bytes(b"\xff")
    with pytest.raises(DamagedScript, match="cannot be read"):
        await replaying(tmp_path).turn("a")
    file.unlink()
    file.mkdir()
    with pytest.raises(DamagedScript, match="cannot be read"):
        await replaying(tmp_path).turn("a")
