"""Runs that are recorded: what is in the file, where it is, and that no run fails for it."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, Transcripts
from acp_client.protocol.outbox import TAP_VARIABLE
from acp_client.record import transcript as transcript_module
from acp_client.record import writer as writer_module
from acp_client.record.format.check import check_file
from acp_client.record.format.lines import Frame, Stderr
from acp_client.record.format.reader import read_file
from acp_client.record.place import OneFile
from tests.record.kept import SECONDS, Kept, names, ran
from tests.support.kernel import REPO
from tests.support.scenarios import QUICK, Scripted
from tests.support.tiny import tiny

TALK = {
    "prompt": [
        {"stderr": "warming up"},
        {"chunk": "Let me see. "},
        {"tool_call": {"toolCallId": "c", "title": "Run tests", "kind": "execute", "status": "pending"}},
        {"permission": {"tool_call": {"toolCallId": "c", "title": "Run tests", "kind": "execute"}}},
        {"noise": "Loading…"},
        {"chunk": "Done: ${prompt}"},
    ]
}


async def test_a_run_leaves_all_that_passed_in_order(tmp_path: Path) -> None:
    """Frames of both sides, noise, stderr, who decided what, and the end; the result says where."""
    child = Scripted(tmp_path, TALK, permission="allow")
    result = await ran(child.spec, "it works", transcripts=tmp_path / "kept")
    assert result.status == "completed"
    assert result.transcript == str(tmp_path / "kept" / f"{result.run_id}.jsonl")
    kept = Kept(result.transcript)
    assert kept.faults() == []
    assert (kept.header.run_id, kept.header.parent_run_id, kept.header.depth) == (result.run_id, None, 0)
    assert kept.header.command == child.spec.command
    sent = [line.message for line in kept.lines if isinstance(line, Frame) and line.direction == "c>a"]
    assert sent == child.received()
    methods = [frame.get("method", "answer") for frame in kept.frames]
    assert methods[:6] == ["initialize", "answer", "session/new", "answer", "session/prompt", "session/update"]
    assert methods[-1] == "answer"
    assert kept.texts == ["Let me see. ", "Done: it works"]
    assert [line.raw for line in kept.lines if isinstance(line, Frame) and line.message is None] == ["Loading…"]
    assert kept.stderr == "warming up\n"
    (asked,) = kept.notes("permission")
    assert (asked["title"], asked["outcome"], asked["decided_by"]) == ("Run tests", "selected", "preset allow")
    (end,) = kept.notes("end")
    assert end["result"]["status"] == "completed"
    assert end["result"]["transcript"] == result.transcript
    assert not {"text", "messages", "last_message"} & set(end["result"])
    assert [call["title"] for call in end["result"]["tool_calls"]] == ["Run tests"]
    assert "raw" not in end["result"]["tool_calls"][0]
    times = [line.t or 0.0 for line in kept.lines if isinstance(line, Frame)]
    assert times == sorted(times)
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600


async def test_without_transcripts_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is said of any."""
    monkeypatch.chdir(tmp_path)
    result = await ran(tiny())
    assert (result.transcript, result.diagnostics.transcript_fault) == (None, None)
    assert names(tmp_path) == []


async def test_what_is_no_folder_is_refused_when_the_runner_is_made() -> None:
    """Not when the first run ends."""
    with pytest.raises(TypeError, match="transcripts must be a folder"):
        Runner(transcripts=3)  # type: ignore[arg-type]  # the mistake under test


async def test_a_run_that_starts_nothing_has_a_transcript_too(tmp_path: Path) -> None:
    """Why it failed is in it."""
    result = await ran(AgentSpec(command=("/no/such/program",)), transcripts=tmp_path)
    assert result.reason == "spawn_failed"
    assert result.transcript is not None
    kept = Kept(result.transcript)
    assert kept.frames == []
    assert kept.notes("end")[0]["result"]["reason"] == "spawn_failed"
    deep = await ran(tiny(), transcripts=tmp_path, max_depth=0)
    assert deep.reason == "depth_exceeded"
    assert deep.transcript is not None
    assert Kept(deep.transcript).notes("end")[0]["result"]["reason"] == "depth_exceeded"


async def test_many_runs_leave_many_transcripts(tmp_path: Path) -> None:
    """By one thread; each whole, each its own."""
    with anyio.fail_after(SECONDS):
        async with Runner(transcripts=tmp_path) as runner:
            results = [result async for _, result in runner.run_many([(tiny(), f"{number}") for number in range(20)])]
    assert len({result.transcript for result in results}) == 20
    for result in results:
        assert result.transcript is not None
        kept = Kept(result.transcript)
        assert (kept.header.run_id, kept.texts, len(kept.notes("end"))) == (result.run_id, ["tiny"], 1)


async def test_old_transcripts_make_room_and_a_long_one_is_cut(tmp_path: Path) -> None:
    """On request; the newest stay."""
    with anyio.fail_after(SECONDS):
        async with Runner(transcripts=Transcripts(tmp_path, max_files=2)) as runner:
            results = [await (await runner.start(tiny(), "x")).result() for _ in range(4)]
    assert names(tmp_path) == sorted(str(result.transcript) for result in results[-2:])
    cut = await ran(tiny(), transcripts=Transcripts(tmp_path / "cut", max_bytes=700))
    assert cut.status == "completed"
    assert cut.transcript is not None
    kept = Kept(cut.transcript)
    assert kept.notes("lost")[0]["why"] == "the transcript is over its bound"
    assert len(kept.notes("end")) == 1


# ---- disks that fail


@pytest.mark.parametrize("where", ["a file in the folder's place", "/proc/nowhere", "/dev/full"])
async def test_a_disk_that_fails_fails_no_run(tmp_path: Path, where: str) -> None:
    """It is said in the diagnostics, and there is no path to what is not there."""
    (tmp_path / "file").write_text("in the way")
    place = {"/proc/nowhere": Transcripts("/proc/nowhere"), "/dev/full": OneFile("/dev/full")}
    result = await ran(tiny(), transcripts=place.get(where) or tmp_path / "file" / "kept")
    assert (result.status, result.text) == ("completed", "tiny")
    assert result.transcript == ("/dev/full" if where == "/dev/full" else None)
    assert (result.diagnostics.transcript_fault or "").startswith("the transcript could not be written: ")


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file of this process may have more than 700 bytes, as on a disk that is full."""
    monkeypatch.delenv(TAP_VARIABLE, raising=False)  # a file, too
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


async def test_a_disk_that_is_full_leaves_whole_lines(tmp_path: Path, small_files: None) -> None:  # noqa: ARG001
    """What fits is there, the run is as ever, and it is said that frames are missing."""
    with anyio.fail_after(SECONDS):
        async with Runner(transcripts=tmp_path) as runner:
            resource.setrlimit(resource.RLIMIT_FSIZE, (700, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
            result = await (await runner.start(tiny(), "x")).result()
    assert (result.status, result.text) == ("completed", "tiny")
    assert "File too large" in (result.diagnostics.transcript_fault or "")
    assert result.transcript is not None
    assert Kept(result.transcript).header.run_id == result.run_id
    assert Kept(result.transcript).path.read_bytes().endswith(b"\n")


async def test_a_disk_that_hangs_holds_a_run_for_a_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the run goes on without its transcript: back-pressure has an end, and so has waiting at the end."""
    for name in ("STALLED_SECONDS", "END_SECONDS", "ROOM_SECONDS"):
        monkeypatch.setattr(transcript_module, name, 0.1)
    monkeypatch.setattr(writer_module, "CLOSE_SECONDS", 0.1)
    monkeypatch.setattr(writer_module, "MAX_QUEUED_BYTES", 1)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        filler = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        while True:
            try:
                os.write(filler, b"x" * 65536)
            except BlockingIOError:
                break
        os.close(filler)
        result = await ran(tiny(), transcripts=OneFile(fifo))
    finally:
        os.close(reader)
    assert (result.status, result.text, result.transcript) == ("completed", "tiny", None)
    assert result.diagnostics.transcript_fault == "the disk did not take the transcript in time"


async def test_no_thread_no_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that starts no thread any more runs agents all the same."""

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("acp_client.record.writer.Writer.open", refuse)
    result = await ran(tiny(), transcripts=tmp_path)
    assert (result.status, result.transcript) == ("completed", None)
    assert result.diagnostics.transcript_fault == "no thread could be started to write the transcript"


async def test_a_fault_of_ours_in_the_thread_fails_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is logged, and said."""

    def broken(*_: object) -> None:
        raise ValueError("a fault of ours")

    monkeypatch.setattr("acp_client.record.sink.TranscriptSink.take", broken)
    result = await ran(tiny(), transcripts=tmp_path)
    assert (result.status, result.transcript) == ("completed", None)
    assert result.diagnostics.transcript_fault == "a fault of this library, which was logged"
    monkeypatch.setattr("acp_client.record.transcript.Transcript.finish", broken)
    assert (await ran(tiny(), transcripts=tmp_path)).status == "completed"


# ---- floods and kills


async def test_a_flood_is_all_there_in_bounded_memory(tmp_path: Path) -> None:
    """A hundred thousand updates, from an agent that writes them as fast as it can."""
    count = 100_000
    agent = (sys.executable, str(REPO / "scripts" / "benchmarks" / "mock_agent.py"), str(count))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await ran(AgentSpec(command=agent), transcripts=tmp_path)
    assert result.status == "completed"
    assert result.transcript is not None
    chunks = sum(
        isinstance(line, Frame) and line.message is not None and line.message.get("method") == "session/update"
        for line in read_file(result.transcript, strict=True)
    )
    assert chunks == count
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 64


async def test_a_flood_of_stderr_meets_back_pressure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are bounded as those of the wire are, and all of them are there."""
    monkeypatch.setattr(writer_module, "MAX_QUEUED_BYTES", 100_000)
    child = Scripted(
        tmp_path,
        {"prompt": [{"flood": {"bytes": 2_000_000, "stream": "stderr"}}, {"chunk": "x"}]},
        limits=Limits(**QUICK),
    )
    result = await ran(child.spec, transcripts=tmp_path / "kept")
    assert result.status == "completed"
    assert result.transcript is not None
    assert sum(len(line.text) for line in read_file(result.transcript) if isinstance(line, Stderr)) >= 2_000_000


KILLED = """
import sys, anyio
from acp_client import AgentSpec, Runner

async def main():
    async with Runner(transcripts=sys.argv[1]) as runner:
        run = await runner.start(AgentSpec(command=tuple(sys.argv[2:])), "x")
        await run.result()

anyio.run(main)
"""


async def test_a_killed_parent_leaves_a_transcript_up_to_the_last_whole_frame(tmp_path: Path) -> None:
    """What the agent said before is there; the run is unfinished, and nothing else is wrong with it."""
    child = Scripted(tmp_path, {"prompt": [{"chunk": "before the end"}, {"stderr": "a line"}, {"hang": True}]})
    program = [sys.executable, "-c", KILLED, str(tmp_path / "kept"), *child.spec.command]
    parent = await anyio.to_thread.run_sync(lambda: subprocess.Popen(program, cwd=tmp_path))
    try:
        with anyio.fail_after(SECONDS):
            while not any(b"before the end" in file.read_bytes() for file in (tmp_path / "kept").glob("*.jsonl")):  # noqa: ASYNC110  # another process writes it
                await anyio.sleep(0.02)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    (file,) = (tmp_path / "kept").glob("*.jsonl")
    kept = Kept(file)
    assert kept.texts == ["before the end"]
    assert kept.notes("end") == []
    assert kept.faults() == []
    assert "the run is unfinished: there is no end" in [finding.rule for finding in check_file(file)]
    await ran(tiny(), transcripts=Transcripts(tmp_path / "kept", max_files=1))
    assert not file.exists(), "nobody writes it any more: it makes room"


# ---- trees


async def test_runs_inside_of_runs_make_a_tree(tmp_path: Path) -> None:
    """Whoever delegates with this library; each file says which run is around it."""
    script = tmp_path / "nested.py"
    script.write_text(NESTED)
    agent = AgentSpec(command=(sys.executable, str(script), "2"), env={"PYTHONPATH": str(REPO)})
    result = await ran(agent, transcripts=tmp_path / "kept")
    assert (result.status, result.text) == ("completed", "2 1 0 ")
    found = {str(path.relative_to(tmp_path / "kept")) for path in (tmp_path / "kept").rglob("*.jsonl")}
    top = Kept(tmp_path / "kept" / f"{result.run_id}.jsonl")
    (middle_file,) = (tmp_path / "kept" / result.run_id).glob("*.jsonl")
    middle = Kept(middle_file)
    (leaf_file,) = middle_file.with_suffix("").glob("*.jsonl")
    leaf = Kept(leaf_file)
    assert len(found) == 3
    assert [one.header.parent_run_id for one in (top, middle, leaf)] == [None, top.header.run_id, middle.header.run_id]
    assert [one.header.depth for one in (top, middle, leaf)] == [0, 1, 2]
    assert leaf.texts == ["0 "]


NESTED = """
import json, sys
from acp_client import AgentSpec, run_subagent_sync

level = int(sys.argv[1])
RESULTS = {
    "initialize": {"protocolVersion": 1},
    "session/new": {"sessionId": "s"},
    "session/prompt": {"stopReason": "end_turn"},
}

def put(**frame):
    print(json.dumps({"jsonrpc": "2.0", **frame}), flush=True)

for line in sys.stdin:
    frame = json.loads(line)
    if frame["method"] == "session/prompt":
        below = ""
        if level:
            below = run_subagent_sync(AgentSpec(command=(sys.executable, sys.argv[0], str(level - 1))), "x").text
        content = {"type": "text", "text": f"{level} {below}"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        put(method="session/update", params={"sessionId": "s", "update": update})
    put(id=frame["id"], result=RESULTS[frame["method"]])
"""


async def test_a_spec_cannot_say_where_the_transcripts_of_its_agent_go(tmp_path: Path) -> None:
    """Only a recorded run around it can."""
    child = Scripted(tmp_path, {"facts": "facts.json"}, env={"ACP_SUBAGENTS_TRANSCRIPTS": "/elsewhere"})
    await ran(child.spec)
    assert "ACP_SUBAGENTS_TRANSCRIPTS" not in json.loads(child.facts_file.read_text())["env"]
