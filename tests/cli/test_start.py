"""The command starts fast: what is not needed is not loaded."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

from tests.cli.command import WAIT_SECONDS, environment
from tests.support.made_up_secrets import OPENAI

REPORT = "import json, sys; json.dump(sorted({name.partition('.')[0] for name in sys.modules}), sys.stderr)"


def loaded(statement: str, cwd: Path) -> set[str]:
    """Packages that are loaded after a statement in an interpreter of its own."""
    program = f"{statement}\n{REPORT}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        cwd=cwd,
        env=environment(),
        capture_output=True,
        timeout=WAIT_SECONDS,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_entry_loads_nothing_at_all(tmp_path: Path) -> None:
    """Ctrl-C is handled before the first slow import."""
    heavy = {"click", "rich", "pydantic", "anyio", "asyncio", "structlog", "yaml", "jsonschema"}
    assert loaded("import acp_client.cli", tmp_path) & heavy == set()


def test_a_listing_loads_click_and_no_models(tmp_path: Path) -> None:
    """The same goes for help and most usage errors."""
    heavy = {"rich", "pydantic", "anyio", "asyncio", "structlog", "yaml", "jsonschema"}
    assert loaded("import acp_client.cli as cli; cli.main(['agents'])", tmp_path) & heavy == set()


def test_a_run_into_a_pipe_loads_neither_schemas_nor_anything_that_draws(tmp_path: Path) -> None:
    """None of it is needed to run an agent and print what it says."""
    words = ["run", "--agent", "echo", "--format", "quiet", "hi"]
    found = loaded(f"import acp_client.cli as cli; assert cli.main({words!r}) == 0", tmp_path)
    assert found & {"rich", "structlog", "jsonschema", "yaml", "trio", "mcp"} == set()


def test_nothing_in_a_log_line_or_its_traceback_can_steer_the_terminal(tmp_path: Path) -> None:
    """An exception's words, its cause's and its group's are a child's too: the name of a method, for example."""
    program = """
import logging
from acp_client.cli import logs
logs.configure()
evil = chr(27) + "]0;owned" + chr(7) + chr(0x202e)
try:
    try:
        raise ValueError(evil)
    except ValueError as error:
        raise ExceptionGroup(evil, [RuntimeError(evil)]) from error
except ExceptionGroup:
    logging.getLogger("acp_client.run.life").exception("failed %s", evil, stack_info=True)
logging.getLogger("acp_client.run.life").error("too few values: %s %s", evil)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=WAIT_SECONDS,
    )
    shown = done.stderr.decode()
    assert [part for part in ("\x1b", "\x07", "\u202e") if part in shown] == []
    assert shown.count(r"\x1b]0;owned\x07\u202e") >= 4
    assert "\nTraceback" in shown


UNCAUGHT = """
import gc, logging, sys, threading, warnings
from acp_client import AgentSpec
from acp_client.cli import logs
from tests.support.made_up_secrets import OPENAI
logs.configure(AgentSpec(command=("true",), env={"MY_PASSWORD": "blue-walrus-7733"}))
said = OPENAI + " blue-walrus-7733 " + chr(27) + "]0;owned" + chr(7) + chr(0x202e)

class Broken:
    def __del__(self):
        raise ValueError("unraisable " + said)

def fail():
    raise ValueError("thrown " + said)

logging.getLogger("any").error("logged %s", said)
warnings.warn("warned " + said)
Broken()
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_what_nobody_caught_is_as_safe_as_a_log_line(tmp_path: Path) -> None:
    """At the top, in a thread, in a finalizer, and a warning: no secret, no escape sequence, exit code 1."""
    done = subprocess.run(
        [sys.executable, "-c", UNCAUGHT],
        check=False,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=WAIT_SECONDS,
    )
    shown = done.stderr.decode()
    assert done.returncode == 1
    assert [part for part in ("\x1b", "\x07", "\u202e", "blue-walrus-7733", OPENAI) if part in shown] == []
    for word in ("logged", "warned", "ValueError: thrown", "ValueError: unraisable"):
        assert rf"{word} [redacted] [redacted] \x1b]0;owned\x07\u202e" in shown, shown
    assert shown.count("\nTraceback") == 3


def test_the_module_and_the_function_are_the_same_program(tmp_path: Path) -> None:
    """`python -m acp_client` prints what `subagent` prints."""
    outputs = [
        subprocess.check_output(
            shlex.split(f"{shlex.quote(sys.executable)} {how} --version"), cwd=tmp_path, env=environment(), text=True
        )
        for how in ("-m acp_client", "-c 'import sys; from acp_client.cli import main; sys.exit(main())'")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("subagent, version ")
