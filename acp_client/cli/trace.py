"""`subagent trace`: what recorded runs did, on the terminal, as a page, or live. Owns the words typed and exit codes.

What is shown is `record.viewer`'s, what is wrong with a file `record.format.check`'s.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from acp_client.cli import FULL, complain
from acp_client.safe_text import printable

if TYPE_CHECKING:
    from acp_client.record.tree.runs import Run

SUFFIX: Final = ".jsonl"
POLL_SECONDS: Final = 0.2
"""How often a file that is followed is looked at."""
MAX_FAULTS: Final = 100
"""Of one file, that are kept to be shown; `--check` tells all."""


class _Invalid(click.ClickException):
    exit_code = 2


@click.command("trace", short_help="Show what recorded runs did.")
@click.option("--check", is_flag=True, help="Say what is wrong with the files instead.")
@click.option("--html", metavar="OUT", help="Write one page for a browser instead; - is stdout.")
@click.option("--follow", is_flag=True, help="Show one file as it grows, until the run has ended.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
def trace(*, paths: tuple[str, ...], check: bool, html: str | None, follow: bool) -> int:
    """Show what recorded runs did: what was said, the tool calls, who allowed what, and why a run failed.

    PATH is a transcript, or a folder of them: runs that were started by one another make a tree. Recorded frames of
    other tools are read too, one JSON object a line. One of --check, --html and --follow may be given.

    \b
    Exit codes:
      0 shown, or --check has found nothing
      1 --check has found something, also a file that is no transcript; or OUT cannot be written
      2 wrong usage, a file that cannot be read, or no transcript to show
      130 Ctrl-C
    """  # noqa: D301  # \b is click's mark for lines that stay as they are
    if check + follow + (html is not None) > 1:
        raise click.UsageError("--check, --html and --follow are three ways to look; give one of them")
    if follow:
        if len(paths) > 1 or Path(paths[0]).is_dir():
            raise click.UsageError("--follow shows one run; give the file of one")
        return _follow(Path(paths[0]))
    files = list(_files(paths))
    if check:
        return _check(files)
    roots = _read(files, paths)
    if html is not None:
        return _write(roots, html, files)
    from acp_client.cli.show.rows import printer  # noqa: PLC0415  # once it is needed, as all below
    from acp_client.record.viewer.rows import tree_rows  # noqa: PLC0415

    printer()(tree_rows(roots))
    return 0


def _files(paths: Sequence[str]) -> Iterator[Path]:
    """The files, each once; of a folder all that are called like transcripts, at any depth."""
    seen = set()
    for given in paths:
        path = Path(given)
        found = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        if not found:
            raise _Invalid(f"{given!r} holds no transcript; they are files called *{SUFFIX}, also in folders below")
        for file in found:
            if (resolved := file.resolve()) not in seen:
                seen.add(resolved)
                yield file


def _read(files: Sequence[Path], paths: Sequence[str]) -> list[Run]:
    """Trees of runs. A file that is none is an error where it was named, and told and left out in a folder."""
    from acp_client.record.tree.forest import plant  # noqa: PLC0415

    named = {Path(path) for path in paths}
    runs = []
    for file in files:
        run = _run(file)
        if run is not None:
            runs.append(run)
            _tell_faults(run)
        elif file in named:
            raise _Invalid(_no_transcript(file))
        else:
            complain(f"warning  {printable(_no_transcript(file))}")
    if not runs:
        raise _Invalid("no file here is a transcript; give what a run has left, or a folder of it")
    return plant(runs)


def _tell_faults(run: Run) -> None:
    """Lines that were passed over; not the half-written last one, which is what a killed parent leaves."""
    from acp_client.record.format.reader import HALF_WRITTEN  # noqa: PLC0415

    faults = [fault for fault in run.faults if fault.rule != HALF_WRITTEN]
    if faults:
        many = f"{len(faults)} lines are" if len(faults) > 1 else "one line is"
        first = f"line {faults[0].line}: {faults[0].rule}"
        complain(f"warning  {printable(f'{run.source!r}: {many} passed over ({first}); --check tells all')}")


def _no_transcript(file: Path) -> str:
    return f"{str(file)!r} is no transcript: none of its lines is one; give what a run has left"


def _run(file: Path) -> Run | None:
    """The run in a file; None if no line of it is one of a transcript."""
    from acp_client.record.format.lines import TranscriptError  # noqa: PLC0415
    from acp_client.record.format.reader import Fault, read_file  # noqa: PLC0415
    from acp_client.record.tree.fold import Folding  # noqa: PLC0415

    folding = Folding(str(file))

    def note(fault: Fault) -> None:
        if len(folding.run.faults) < MAX_FAULTS:
            folding.run.faults.append(fault)

    try:
        for line in read_file(file, on_fault=note):
            folding.feed(line)
    except TranscriptError as error:
        raise _Invalid(printable(str(error))) from error
    return folding.run if folding.run.header or folding.run.items or folding.run.is_over else None


def _check(files: Sequence[Path]) -> int:
    from acp_client.record.format.check import check_file, told  # noqa: PLC0415
    from acp_client.record.format.lines import TranscriptError  # noqa: PLC0415

    bad = False
    for file in files:
        try:
            findings = check_file(file)
        except TranscriptError as error:
            raise _Invalid(printable(str(error))) from error
        bad = bad or any(not finding.harmless for finding in findings)
        lines = [f"{file}: {sentence}" for sentence in told(findings)] or [f"{file}: good"]
        sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return 1 if bad else 0


def _write(roots: Sequence[Run], out: str, files: Sequence[Path]) -> int:
    from acp_client.cli.show.files import holds_no_page, write_private  # noqa: PLC0415
    from acp_client.record.viewer.page import render  # noqa: PLC0415

    title = files[0].name if len(files) == 1 else f"{len(files)} runs"
    data = render(roots, title).encode()
    if out == "-":
        sys.stdout.buffer.write(data)
        return 0
    path = Path(out)
    try:
        if fault := holds_no_page(path):
            raise _Invalid(f"--html {out!r} {fault}")
        write_private(path, data)
    except OSError as error:
        correction = "" if error.errno in FULL else "; give a file in a folder of yours"
        complain(f"failed   {printable(out)} cannot be written to: {error.strerror}{correction}")
        return 1
    sys.stdout.write(f"{printable(out)}\n")
    return 0


def _follow(path: Path) -> int:
    from acp_client.cli.show.following import follow  # noqa: PLC0415
    from acp_client.cli.show.rows import printer  # noqa: PLC0415

    try:
        is_one = follow(path, printer(), wait=lambda: time.sleep(POLL_SECONDS), say=complain)
    except OSError as error:
        raise _Invalid(f"{str(path)!r} cannot be read: {error.strerror}; give a file that a run is writing") from error
    if not is_one:
        raise _Invalid(_no_transcript(path))
    return 0
