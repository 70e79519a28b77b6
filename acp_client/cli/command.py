"""The command line itself: commands, options, help. Owns no behaviour beyond handing over to the module that does it.

What a command needs is imported when it is known which one runs: a usage error costs click, no more.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any, Final, TypeVar

import click

import acp_client
from acp_client import catalog
from acp_client.cli import discard, loading
from acp_client.cli.options import RunOptions, amount, count
from acp_client.cli.schema_file import read_schema
from acp_client.safe_text import printable

_LATER: Final = frozenset({"approvals", "policy", "trace"})
"""Commands with a module of their own, of their name: imported when one of them is asked for."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


def execute(argv: Sequence[str] | None = None) -> int:
    """Parse and run; returns the exit code. A usage error is told on stderr and is 2.

    Not by click's own `main`, which has exit codes of its own for an interrupt and a closed stdout.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with cli.make_context("subagent", words) as context:
            code = cli.invoke(context)
    except click.ClickException as error:
        try:
            error.show()
        except OSError:  # nobody can be told: the exit code is all
            discard(sys.stderr)
        return error.exit_code
    except click.exceptions.Exit as done:  # after --help
        return done.exit_code
    return code if isinstance(code, int) else 0


class _Commands(click.Group):
    """The commands; the name of an agent in place of one is told what it is."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted((*super().list_commands(ctx), *_LATER))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _LATER:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(f"acp_client.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            entry = catalog.find(args[0])
            if entry is None:
                raise
            correction = f"It is an agent: subagent run --agent {entry.name} TASK"
            raise click.UsageError(f"{error.message} {correction}", ctx) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(acp_client.__version__, prog_name="subagent")
def cli() -> None:
    """Run sub-agents over the Agent Client Protocol."""


_RUN_OPTIONS = (
    click.option("--agent", metavar='NAME|"CMD ARGS"', help="A name from `subagent agents`, or a command. Required."),
    click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="Where the agent works. Default: here."),
    click.option(
        "--timeout",
        type=amount("seconds", "--timeout 600"),
        metavar="SECONDS",
        help="For the whole run. Default: 600, and none with --approvals.",
    ),
    click.option(
        "--permission",
        metavar="reject|allow|read-only|ask|FILE",
        default="reject",
        show_default=True,
        help="What it may do: a preset, or a policy's YAML file. What is to be asked is asked on the terminal.",
    ),
    click.option(
        "--approvals", metavar="FILE", help="Ask in this queue instead, for `subagent approvals` in another terminal."
    ),
    click.option(
        "--approval-timeout",
        type=amount("seconds", "--approval-timeout 3600"),
        metavar="SECONDS",
        help="End it when nobody has answered for so long. Default: a day, or the policy's own.",
    ),
    click.option(
        "--format",
        type=click.Choice(["text", "json", "jsonl", "quiet"]),
        default="text",
        show_default=True,
        help="On stdout: the answer as it comes; the result as JSON; events, then the result; the last message only.",
    ),
    click.option(
        "--schema",
        metavar="FILE",
        help="Ask for a value by this JSON Schema (JSON or YAML); it alone is on stdout then, as JSON.",
    ),
    click.option("-f", "--file", metavar="FILE", help="Read the task from a file, or from stdin (-)."),
    click.option("--env", multiple=True, metavar="NAME=VALUE", help="Set a variable for the agent. Repeatable."),
    click.option(
        "--env-passthrough",
        multiple=True,
        metavar="NAME",
        help="Hand a variable on that the scrub removes. Repeatable.",
    ),
    click.option("--model", help="A model that the agent offers."),
    click.option("--mode", help="A mode that the agent offers."),
    click.option("--config-option", multiple=True, metavar="KEY=VALUE", help="An option that it offers. Repeatable."),
    click.option("--auth-method", metavar="ID", help="Log in with this method first."),
    click.option(
        "--add-dir",
        multiple=True,
        type=click.Path(exists=True, file_okay=False),
        help="One more directory for the session. Repeatable.",
    ),
    click.option(
        "--max-steps",
        type=count("tool calls", "--max-steps 40"),
        metavar="N",
        help="End it when it has made more tool calls.",
    ),
    click.option(
        "--max-cost-usd",
        type=amount("US dollars", "--max-cost-usd 0.50"),
        metavar="X",
        help="End it when it says that it costs more.",
    ),
    click.option(
        "--max-tokens",
        type=count("tokens", "--max-tokens 200000"),
        metavar="N",
        help="End it when it says that it uses more.",
    ),
    click.option(
        "--max-wall-seconds",
        type=amount("seconds", "--max-wall-seconds 300"),
        metavar="SECONDS",
        help="End it as over its budget after this time.",
    ),
    click.option(
        "--transcript",
        metavar="FILE",
        help="Keep all that goes over the wire in this file, without secrets; `subagent trace FILE` shows it. "
        "Replaces an earlier transcript, and no other file.",
    ),
    click.argument("task", nargs=-1, metavar="TASK..."),
)


def _with_run_options(command: _Command) -> _Command:
    for decorate in reversed(_RUN_OPTIONS):
        command = decorate(command)
    return command


@cli.command("run", short_help="Give a task to an agent.")
@_with_run_options
def run_command(**options: Any) -> int:
    """Give a TASK to an agent, one fresh process for it, and print the answer.

    The words of TASK are joined by spaces; `-` alone reads it from stdin; after `--` nothing is an option. The answer
    goes to stdout, everything else to stderr.

    \b
    Exit codes: 0 completed          1 failed            2 wrong usage
      3 a timeout                    5 completed, but all that it asked for was denied
      6 over its budget              7 aborted
      8 the agent refused            9 max_tokens or max_turn_requests
      10 no value by the schema
      130 SIGINT   143 SIGTERM   141 stdout was closed

    The first SIGINT or SIGTERM cancels the run politely, a second one kills it.
    """  # noqa: D301  # \b is click's mark for lines that stay as they are
    given = RunOptions(**options)
    with loading():
        spec = given.spec()
    task = given.read_task()
    wanted = None if given.schema is None else read_schema(given.schema)
    transcript = given.transcript_file()
    with loading():
        from acp_client.cli.work import run_and_show  # noqa: PLC0415  # the whole library, once it is needed

    return run_and_show(spec, task, given.format, wanted, transcript)


@cli.command("agents", short_help="List the agents that have a name.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
def agents_command(*, as_json: bool) -> None:
    """List the agents that `run --agent` knows by name."""
    entries = catalog.agents().values()
    width = max(len(entry.name) for entry in entries)
    lines = [printable(f"{entry.name:<{width}}  {entry.description} ({entry.source})") for entry in entries]
    text = json.dumps([asdict(entry) for entry in entries], indent=2) if as_json else "\n".join(lines)
    sys.stdout.write(f"{text}\n")
