"""What is wrong with a command line is said before anything is started, and is exit code 2."""

import shlex
from pathlib import Path

import pytest

from acp_client import catalog
from acp_client.cli.command import execute
from acp_client.cli.options import RunOptions, resolve_agent

GIVEN = RunOptions(
    agent="echo",
    cwd=None,
    timeout=None,
    permission="reject",
    format="text",
    file=None,
    env=(),
    env_passthrough=(),
    model=None,
    mode=None,
    config_option=(),
    auth_method=None,
    add_dir=(),
    task=("do", "it"),
)


def given(**options: object) -> RunOptions:
    """The options of a sound command line, with these changes."""
    names = RunOptions.__dataclass_fields__
    return RunOptions(**{name: options.get(name, getattr(GIVEN, name)) for name in names})  # type: ignore[arg-type]  # as click does


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "hi"], ["--agent is missing", "echo, trade_file_extractor"]),
        (["run", "--agent", "nobody_i_know", "hi"], ["nobody_i_know", "PATH", "echo, trade_file_extractor"]),
        (["run", "--agent", "'open", "hi"], ["--agent", "close every quote"]),
        (["run", "--agent", " ", "hi"], ["--agent is empty"]),
        (["run", "--agent", "echo"], ["no task is given", "-f FILE"]),
        (["run", "--agent", "echo", " "], ["no task is given"]),
        (["run", "--agent", "echo", "-f", "x", "hi"], ["given twice"]),
        (["run", "--agent", "echo", "-f", "/nonexistent"], ["'/nonexistent'", "No such file"]),
        (["run", "--agent", "echo", "\udcff"], ["not valid UTF-8"]),
        (["run", "--agent", "echo", "--timeout", "0", "hi"], ["--timeout", "greater than 0"]),
        (["run", "--agent", "echo", "--timeout", "nan", "hi"], ["--timeout", "finite"]),
        (["run", "--agent", "echo", "--timeout", "-1", "hi"], ["'-1' is not", "greater than 0; say --timeout 600"]),
        (["run", "--agent", "echo", "--timeout", "inf", "hi"], ["--timeout", "finite"]),
        (["run", "--agent", "echo", "--timeout", "soon", "hi"], ["'soon' is not", "seconds", "say --timeout 600"]),
        (["run", "--agent", "echo", "--cwd", "/nonexistent", "hi"], ["--cwd", "does not exist"]),
        (["run", "--agent", "echo", "--add-dir", "/nonexistent", "hi"], ["--add-dir", "does not exist"]),
        (["run", "--agent", "echo", "--model", "", "hi"], ["--model: must not be empty; give a value"]),
        (["run", "--agent", "echo", "--env-passthrough", "", "hi"], ["--env-passthrough: must not be empty"]),
        (["run", "--agent", "echo", "--mode", "\udcff", "hi"], ["--mode: must be valid UTF-8"]),
        (["run", "--agent", "echo", "--config-option", "x", "hi"], ["--config-option", "KEY=VALUE"]),
        (["run", "--agent", "echo", "--permission", "ask", "hi"], ["--permission", "ask"]),
        (["run", "--agent", "echo", "--format", "xml", "hi"], ["--format", "xml"]),
        (["run", "--agent", "echo", "--schema", "x", "hi"], ["--schema"]),
        (["frobnicate"], ["frobnicate"]),
        (["echo"], ["No such command 'echo'", "subagent run --agent echo TASK"]),
        (["trade_file_extractor", "x.csv"], ["subagent run --agent trade_file_extractor TASK"]),
    ],
)
def test_a_wrong_command_line_is_2_and_says_why(
    words: list[str], said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What failed, the rule, the correction; nothing on stdout."""
    assert execute(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [part for part in said if part not in printed.err] == []
    assert "Input should" not in printed.err
    assert ("subagent run --agent" in printed.err) == (words[0] in catalog.agents())


def test_a_malformed_variable_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody may have typed a secret where the name belongs."""
    assert execute(["run", "--agent", "echo", "--env", "made-up-secret", "hi"]) == 2
    shown = capsys.readouterr().err
    assert "--env number 1" in shown
    assert "made-up-secret" not in shown


def test_help_is_0_and_lists_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each, as they were written."""
    assert execute(["run", "--help"]) == 0
    assert "130 SIGINT   143 SIGTERM   141 stdout was closed" in capsys.readouterr().out


def test_every_option_reaches_the_spec(tmp_path: Path) -> None:
    """Under the name that the field has."""
    spec = given(
        cwd=str(tmp_path),
        timeout=7.5,
        permission="allow",
        env=("A=1", "B=x=y", "A=2"),
        env_passthrough=("MY_TOKEN",),
        model="m",
        mode="plan",
        config_option=("effort=high", "web=true", "cache=false"),
        auth_method="browser",
        add_dir=(str(tmp_path),),
    ).spec()
    assert (spec.cwd, spec.permission, spec.model, spec.mode) == (str(tmp_path), "allow", "m", "plan")
    assert (spec.env, spec.env_passthrough) == ({"A": "2", "B": "x=y"}, ("MY_TOKEN",))
    assert spec.config_options == {"effort": "high", "web": True, "cache": False}
    assert (spec.auth_method, spec.additional_directories) == ("browser", (str(tmp_path),))
    assert spec.limits.run_timeout_seconds == 7.5
    assert (spec.name, given().spec().limits.run_timeout_seconds) == ("echo", 600.0)


def test_a_command_is_split_into_words_and_sees_no_shell() -> None:
    """Quotes group; everything else stays as it is."""
    words = ["sh", "-c", "a b; $HOME *"]
    assert resolve_agent(shlex.join(words)) == (tuple(words), None)


def test_a_program_on_path_is_a_command(tmp_path: Path) -> None:
    """Also on the PATH that the agent is given."""
    program = tmp_path / "my-agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert resolve_agent("my-agent", search_path=str(tmp_path)) == (("my-agent",), None)


def test_a_relative_program_is_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not from --cwd, which is the agent's place; what follows it is the agent's to understand."""
    monkeypatch.chdir(tmp_path)
    assert resolve_agent("./agent.py ./x") == ((str(tmp_path / "agent.py"), "./x"), None)


def test_the_words_of_a_task_are_joined_by_spaces() -> None:
    """As they were typed otherwise."""
    assert given(task=("say", "  PONG ", "now")).read_task() == "say   PONG  now"


def test_a_task_from_a_file_is_verbatim(tmp_path: Path) -> None:
    """But for a byte order mark."""
    (tmp_path / "task.md").write_bytes(b"\xef\xbb\xbfline one\r\nline two\n")
    assert given(task=(), file=str(tmp_path / "task.md")).read_task() == "line one\r\nline two\n"


def test_a_task_that_is_not_utf_8_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The byte is named."""
    (tmp_path / "task.md").write_bytes("ok: Z\u00fcrich".encode("latin-1"))
    assert execute(["run", "--agent", "echo", "-f", str(tmp_path / "task.md")]) == 2
    assert "byte 5" in capsys.readouterr().err
