"""`subagent approvals`: a person looks at what runs ask, and decides, from another terminal than theirs.

Owns the words typed and the exit codes: 0 done, 1 refused or the queue cannot be used, 2 usage.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

import click

from acp_client.cli import complain
from acp_client.safe_text import printable

if TYPE_CHECKING:
    from acp_client.approvals.store import Entry, Store

LOOK_SECONDS: Final = 0.25
"""How often `watch` looks for what is new."""
PIPE_COLUMNS: Final = 1000
"""What a line may take where it meets no terminal."""
ROLES: Final = ("standard", "senior", "admin")
"""Those of `policy.approval`, which is not imported before it is needed."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


_db_option = click.option(
    "--db", metavar="FILE", help="The queue. Default: $ACP_SUBAGENTS_APPROVALS, else approvals.db in your state folder."
)


def _takes_db(command: _Command) -> _Command:
    """`--db` after the name of a command too, where people look for it first; there it wins."""

    @_db_option
    @click.pass_obj
    @functools.wraps(command)
    def with_db(given_before: str | None, /, *, db: str | None, **typed: Any) -> Any:
        return command(given_before if db is None else db, **typed)

    return cast("_Command", with_db)


@click.group("approvals", short_help="See and answer what runs ask of people.")
@_db_option
@click.pass_context
def approvals(context: click.Context, db: str | None) -> None:
    """See and answer what runs ask of people, from another terminal.

    An ID may be shortened as long as only one request begins so. Whoever may write the file can decide: its
    permissions are the protection; names and roles are taken on trust, and recorded.

    \b
    Exit codes: 0 done
      1 refused: decided before, expired, its parent has gone, the role does not suffice; or the file cannot be used
      2 wrong usage
    """  # noqa: D301  # \b is click's mark for lines that stay as they are
    context.obj = db


def _deciding(command: _Command) -> _Command:
    for decorate in reversed(
        (
            click.argument("request_id", metavar="ID"),
            click.option("--why", callback=_utf8, help="Kept with the decision, and told to the run."),
            click.option("--by", callback=_utf8, metavar="NAME", help="Who decides. Default: your user name."),
            click.option("--role", type=click.Choice(ROLES), default=ROLES[0], show_default=True, help="Your role."),
            click.option("--option", "option_id", metavar="ID", help="Answer with this one of the offered options."),
        )
    ):
        command = decorate(command)
    return command


def _utf8(_context: click.Context, _parameter: click.Parameter, typed: str | None) -> str | None:
    if typed is None:
        return None
    try:
        typed.encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter("it is not valid UTF-8; give it in this encoding") from error
    if not typed.strip():
        raise click.BadParameter("it is empty; give some text, or leave the option out")
    return typed


def _json_object(_context: click.Context, _parameter: click.Parameter, typed: str | None) -> dict[str, Any] | None:
    if typed is None:
        return None
    try:
        value = json.loads(typed)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"it is no JSON ({error}); give an object in quotes: '{{\"name\": 1}}'") from error
    if not isinstance(value, dict):
        raise click.BadParameter("it is no JSON object; give one in quotes: '{\"name\": 1}'")
    return value


@approvals.command("list")
@click.option("--all", "with_closed", is_flag=True, help="Also what was decided or closed.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
@_takes_db
def list_command(db: str | None, *, with_closed: bool, as_json: bool) -> None:
    """List what waits for a decision, the oldest first."""
    with _opened(db) as store:
        entries = store.everything() if with_closed else store.waiting()
        path = store.path
    from acp_client.cli.show.requests import lines_of, to_json  # noqa: PLC0415  # as in `command`

    if as_json:
        _print(json.dumps([to_json(entry) for entry in entries], indent=2))
    elif not entries:
        complain(printable(f"{'nothing is' if with_closed else 'nothing waits'} in {str(path)!r}"))
    for line in () if as_json else lines_of(entries, time.time(), _columns(), with_state=with_closed):
        _print(line)


@approvals.command("show")
@click.argument("request_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="As a JSON object, uncut.")
@_takes_db
def show_command(db: str | None, request_id: str, *, as_json: bool) -> None:
    """Show a request: tool, arguments, paths, diffs, options."""
    from acp_client.cli.show.requests import describe, to_json  # noqa: PLC0415  # as in `command`

    with _opened(db) as store:
        entry = store.find(request_id)
        text = json.dumps(to_json(entry), indent=2) if as_json else "\n".join(describe(entry, time.time(), _columns()))
    _print(text)


@approvals.command("approve")
@_deciding
@click.option("--content", callback=_json_object, metavar="JSON", help="The values of a form.")
@_takes_db
def approve_command(db: str | None, /, **typed: Any) -> None:
    """Let the agent do what it asks for."""
    _decide(db, "allow", **typed)


@approvals.command("reject")
@_deciding
@_takes_db
def reject_command(db: str | None, /, **typed: Any) -> None:
    """Do not let the agent do what it asks for."""
    _decide(db, "reject", **typed)


@approvals.command("watch")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
@_takes_db
def watch_command(db: str | None, *, as_json: bool) -> None:
    """Print what waits, then each new request as it comes, until Ctrl-C."""
    from acp_client.cli.show.requests import line_of, to_json  # noqa: PLC0415  # as in `command`

    with _opened(db, create=True) as store:
        for entry in _as_they_come(store):
            _print(json.dumps(to_json(entry)) if as_json else line_of(entry, time.time(), _columns()))


def _as_they_come(store: Store) -> Iterator[Entry]:
    seen: set[str] = set()
    version = None
    while True:
        now = store.version()
        if now != version:
            version = now
            waiting = store.waiting()
            yield from (entry for entry in waiting if entry.id not in seen)
            seen = {entry.id for entry in waiting}
        if not store.is_in_place():
            raise click.ClickException("the file of the queue was removed or replaced; start again")
        time.sleep(LOOK_SECONDS)


def _decide(db: str | None, action: Literal["allow", "reject"], *, request_id: str, **typed: Any) -> None:
    from acp_client.approvals.judgement import Answer  # noqa: PLC0415  # as in `command`

    content: Mapping[str, Any] | None = typed.pop("content", None)
    answer = Answer(action=action, by=typed.pop("by") or _user(), content=content, **typed)
    with _opened(db) as store:
        entry = store.answer(request_id, answer)
    option = f" with option {entry.option_id}" if entry.option_id is not None else ""
    _print(printable(f"{entry.state}  {entry.id}{option} by {entry.decided_by} ({entry.decided_role})"))


def _columns() -> int:
    """Of the terminal; very many where there is none."""
    return shutil.get_terminal_size((PIPE_COLUMNS, 24)).columns


def _user() -> str:
    """Who we run as; not what the environment says."""
    import pwd  # noqa: PLC0415  # POSIX only, as all of this

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


@contextmanager
def _opened(db: str | None, *, create: bool = False) -> Iterator[Store]:
    """The queue; what goes wrong with it becomes an exit code and a line that cannot steer the terminal."""
    from acp_client.approvals.errors import ApprovalQueueError, UnknownRequest, WrongAnswer  # noqa: PLC0415
    from acp_client.approvals.location import VARIABLE, default_path  # noqa: PLC0415  # as in `command`
    from acp_client.approvals.store import Store  # noqa: PLC0415

    path = Path(db) if db else default_path()
    named = "--db" if db else VARIABLE
    if not create and (db or os.environ.get(VARIABLE)) and not os.path.lexists(path):
        raise click.UsageError(printable(f"{named}: there is no {str(path)!r}; name the file that the run was given"))
    try:
        store = Store(path.absolute())
        try:
            yield store
        finally:
            store.close()
    except (UnknownRequest, WrongAnswer) as error:
        raise click.UsageError(printable(str(error))) from error
    except ApprovalQueueError as error:
        raise click.ClickException(printable(str(error))) from error


def _print(text: str) -> None:
    """A line at once; what the terminal's encoding has no character for is spelled out."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
