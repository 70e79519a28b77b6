"""What can go wrong before an agent speaks: nothing to start, nothing that lasts, nothing that answers."""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, Limits, Runner, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


async def run(
    command: tuple[str, ...], prompt: Any = "go", limits: dict[str, Any] | None = None, **spec: Any
) -> RunResult:
    """One run of a command."""
    with anyio.fail_after(20):
        return await run_subagent(AgentSpec(command=command, limits=Limits(**QUICK | (limits or {})), **spec), prompt)


def python(program: str) -> tuple[str, ...]:
    """A child of a few lines."""
    return (sys.executable, "-c", program)


# ---------------------------------------------------------------- nothing to start


def _things(folder: Path) -> None:
    (folder / "plain.txt").write_text("no program")
    (folder / "locked.sh").write_text("#!/bin/sh\n")
    (folder / "locked.sh").chmod(0o644)
    for name, text in {"no_interpreter": "#!/nonexistent/python\n", "no_format": "just text", "empty": ""}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "dangling").symlink_to(folder / "nowhere")


NOT_STARTED: dict[str, tuple[str, ...]] = {
    "a missing path": ("/nonexistent/agent", "--acp"),
    "a missing name": ("no-such-agent-anywhere", "--acp"),
    "a missing relative path": ("./no-such-agent",),
    "a directory": ("/",),
    "a file below a file": ("/dev/null/agent",),
    "a plain file": ("{folder}/plain.txt",),
    "a script that may not run": ("{folder}/locked.sh",),
    "a script without its interpreter": ("{folder}/no_interpreter",),
    "a text file that may run": ("{folder}/no_format",),
    "an empty file": ("{folder}/empty",),
    "a dangling link": ("{folder}/dangling",),
    "a name that is too long": ("x" * 5000,),
    "a path that is too long": ("/" + "x/" * 5000,),
    "a shell line": ("echo hello && sleep 1",),
    "an argument that is too long": ("true", "x" * 5_000_000),
}


@pytest.mark.row("START-1", "START-3")
@pytest.mark.parametrize("name", NOT_STARTED)
async def test_what_cannot_be_started_is_a_result_that_names_command_place_and_path(name: str, tmp_path: Path) -> None:
    """At once, without an exception, and safe to try again."""
    _things(tmp_path)
    command = tuple(part.replace("{folder}", str(tmp_path)) for part in NOT_STARTED[name])
    result = await run(command, cwd=tmp_path)
    assert (result.status, result.reason) == ("error", "spawn_failed")
    failure = result.failure
    assert failure is not None
    assert (failure.stage, failure.retry_safe) == ("spawn", True)
    assert command[0][:60] in failure.message
    assert str(tmp_path) in failure.message or len(command[0]) > 1000
    assert len(failure.message) <= 4000
    assert result.diagnostics.path_used == os.environ["PATH"]
    assert (result.session_id, result.text, result.diagnostics.exit_code) == (None, "", None)


@pytest.mark.row("START-1", "START-3")
@pytest.mark.parametrize("path", ["/nowhere", "", "/nowhere:/neither", None])
async def test_a_failure_to_start_shows_the_path_that_was_searched(path: str | None, tmp_path: Path) -> None:
    """The child's, not ours; also where there is none."""
    result = await run(("some-agent-tool",), cwd=tmp_path, env={"PATH": path})
    assert result.reason == "spawn_failed"
    assert result.failure is not None
    assert "some-agent-tool" in result.failure.message
    assert (path or "PATH") in result.failure.message
    assert os.environ["PATH"] not in result.failure.message
    assert result.diagnostics.path_used == path


@pytest.mark.row("START-3")
async def test_a_program_is_searched_on_the_path_that_the_child_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool's folder that is only in `env` is found; one that is only in ours is found without it."""
    tool = tmp_path / "bin" / "my-agent"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import sys; sys.exit(7)'\n")
    tool.chmod(0o755)
    both = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
    given = await run(("my-agent",), env={"PATH": both})
    hidden = await run(("my-agent",))
    monkeypatch.setenv("PATH", both)
    ours = await run(("my-agent",))
    assert [one.reason for one in (given, hidden, ours)] == ["agent_exited", "spawn_failed", "agent_exited"]
    assert (given.diagnostics.exit_code, ours.diagnostics.exit_code) == (7, 7)


@pytest.mark.row("START-1")
async def test_one_that_cannot_start_does_not_disturb_the_others(tmp_path: Path) -> None:
    """Results by job, whatever each comes to."""
    good = Scripted(tmp_path, {"prompt": [{"chunk": "a"}]}, limits=Limits(**QUICK)).spec
    bad = AgentSpec(command=("/nonexistent/agent",))
    reasons = []
    with anyio.fail_after(20):
        async with Runner() as runner:
            async for job, result in runner.run_many([(bad, "x"), (good, "x"), (bad, "y")]):
                reasons.append((job[1], result.reason))
    assert sorted(reasons) == [("x", "end_turn"), ("x", "spawn_failed"), ("y", "spawn_failed")]


# ---------------------------------------------------------------- gone before it speaks

EARLY_EXITS: dict[str, tuple[str, str, str]] = {
    "an npm error": (
        "sys.stderr.write('npm error 403 Forbidden\\n'); sys.exit(1)",
        "exit code 1",
        "npm error 403 Forbidden",
    ),
    "a traceback": ("raise RuntimeError('no config')", "exit code 1", "RuntimeError: no config"),
    "no newline": ("sys.stderr.write('cannot open display'); sys.exit(71)", "exit code 71", "cannot open display"),
    "much before it": (
        "sys.stderr.write('x' * 70 + '\\n' * 900 + 'the cause\\n'); sys.exit(2)",
        "exit code 2",
        "the cause",
    ),
    "words after stdout": ("os.close(1); sys.stderr.write('late cause\\n'); sys.exit(3)", "exit code 3", "late cause"),
    "a signal": ("sys.stderr.write('aborting\\n'); sys.stderr.flush(); os.abort()", "signal 6", "aborting"),
    "success": ("sys.stderr.write('usage: agent --acp\\n'); sys.exit(0)", "exit code 0", "usage: agent --acp"),
}


@pytest.mark.row("START-2", "DEATH-1")
@pytest.mark.parametrize("name", EARLY_EXITS)
async def test_an_early_exit_says_with_what_code_and_with_which_last_words(name: str) -> None:
    """In the message that people see; `answer` knows it too."""
    program, code, words = EARLY_EXITS[name]
    spec = AgentSpec(command=python(f"import os, sys; {program}"), limits=Limits(**QUICK))
    with anyio.fail_after(20):
        async with Runner() as runner:
            started = await runner.start(spec, "go")
            answer, result = await started.answer(), await started.result()
    for one in (answer, result):
        assert (one.status, one.reason) == ("error", "agent_exited")
        assert one.failure is not None
        assert one.failure.retry_safe
        assert code in one.failure.message
    assert result.failure is not None
    assert words in result.failure.message


@pytest.mark.row("START-2")
async def test_what_an_agent_that_exits_said_on_stdout_is_shown_as_well(tmp_path: Path) -> None:
    """Some complain there."""
    result = await run(python("print('error: unknown option --acp'); raise SystemExit(2)"), cwd=tmp_path)
    assert (result.reason, result.diagnostics.exit_code) == ("agent_exited", 2)
    assert result.diagnostics.stdout_noise.first_lines == ("error: unknown option --acp",)
    assert result.failure is not None
    assert "unknown option --acp" in result.failure.message


# ---------------------------------------------------------------- silence

SILENT = {
    "nothing at all": "import time; time.sleep(60)",
    "words on stderr": "import sys, time; sys.stderr.write('resolving packages'); sys.stderr.flush(); time.sleep(60)",
    "it read and closed its stdin": "import os, time; os.read(0, 65536); os.close(0); time.sleep(60)",
}


@pytest.mark.row("START-5", "HANG-3")
@pytest.mark.parametrize("name", SILENT)
async def test_an_agent_that_does_not_speak_meets_the_startup_limit(name: str) -> None:
    """Its own limit, not that of the prompt; the message says what was started."""
    result = await run(python(SILENT[name]), limits={"startup_timeout_seconds": 0.7, "eof_grace_seconds": 0.2})
    assert (result.status, result.reason) == ("error", "startup_timeout")
    assert result.failure is not None
    assert (result.failure.request, result.failure.retry_safe) == ("initialize", True)
    assert "startup_timeout_seconds = 0.7" in result.failure.message
    assert sys.executable in result.failure.message
    if "stderr" in name:
        assert "resolving packages" in result.failure.message


# ---------------------------------------------------------------- flushed at once

LINE_BY_LINE = """
import json, sys
results = iter([{"protocolVersion": 1}, {"sessionId": "s"}, {"stopReason": "end_turn"}])
for result in results:
    frame = json.loads(READ())
    if "prompt" in frame["params"]:
        text = frame["params"]["prompt"][0]["text"]
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        note = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
        print(json.dumps(note), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
"""
READERS = [
    "sys.stdin.readline",
    "input",
    "open(0, 'rb', buffering=0, closefd=False).readline",
]


@pytest.mark.row("START-7")
@pytest.mark.parametrize("reader", READERS)
async def test_each_frame_reaches_a_child_that_reads_line_by_line(reader: str) -> None:
    """Each is flushed before the next one is thought of."""
    result = await run(python(LINE_BY_LINE.replace("READ", reader)), "é" * 40_000)
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "é" * 40_000)
