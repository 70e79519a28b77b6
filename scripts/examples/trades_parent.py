"""A parent at work: gives every file of a folder to a trade_file_extractor child of its own, all at once.

Shows the trades and warnings that came back as tables, and writes the value of each file as JSON. Exits with 1 if a
file failed, whatever became of the others. What a child does, and how it ends, is no exception here but a result.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from acp_client import AgentSpec, Runner, RunResult, Transcripts
from acp_client.catalog import SHIPPED
from acp_client.safe_text import printable

REPO = Path(__file__).resolve().parents[2]
FOLDER = REPO / "fixtures" / "trades"
OUT = REPO / "build" / "trades"
RECORDS = REPO / "build" / "transcripts"
AGENT = "trade_file_extractor"
WIDE = 140  # columns where there is no terminal to ask
TRADE_COLUMNS = ("trade_id", "instrument", "side", "quantity", "price", "currency", "trade_date", "counterparty")
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Done:
    """One file and what became of it."""

    file: Path
    result: RunResult

    @property
    def value(self) -> dict[str, Any] | None:
        """`{"trades": […], "warnings": […]}`, or None for a file that failed."""
        value = self.result.structured
        complete = (
            self.result.status == "completed" and isinstance(value, dict) and {"trades", "warnings"} <= set(value)
        )
        return value if complete else None

    @property
    def outcome(self) -> str:
        """In a few words."""
        seconds = f"{self.result.timings.total or 0:.1f} s"
        if self.value is not None:
            return f"{len(self.value['trades'])} trades, {len(self.value['warnings'])} warnings ({seconds})"
        failure = self.result.failure
        why = failure.message if failure else "it completed without the trades"
        return f"failed ({self.result.reason}, {seconds}): {why}"


def main() -> int:
    """Parse the command line, delegate, show; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=REPO / "fixtures" / "trades", help="default: %(default)s"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="default: %(default)s")
    asked = parser.parse_args()
    files = sorted(path for path in asked.folder.glob("*") if path.is_file())
    if not files:
        parser.error(f"there is no file in {asked.folder}; name a folder with trade files")
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=WIDE)
    try:
        done = anyio.run(delegate, files, console)
    except KeyboardInterrupt:  # the children are gone by now
        return INTERRUPTED
    show(done, console)
    save(done, asked.out)
    console.print(f"JSON: {asked.out}")
    console.print(f"What went on: scripts/run trace {RECORDS / 'trades_parent'}", soft_wrap=True)
    return 0 if all(one.value is not None for one in done) else 1


async def delegate(files: list[Path], console: Console) -> list[Done]:
    """One child for each file, side by side; a line for each as it finishes."""
    spec = SHIPPED[AGENT].spec()
    tasks = {str(file.resolve()): file for file in files}  # the whole task is the path
    done = []
    console.print(f"{len(files)} files, for each a {AGENT} of its own, all at once")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(f"waiting for {AGENT}", total=len(files))
        kept = Transcripts(RECORDS / "trades_parent", max_files=len(files))  # those of this time
        async with Runner(max_concurrency=len(files), transcripts=kept) as runner:
            async for job, result in runner.run_many([(spec, task) for task in tasks]):
                _, task = cast("tuple[AgentSpec, str]", job)  # each as it was given
                done.append(Done(tasks[task], result))
                progress.advance(bar)
                console.print(f"{len(done)}/{len(files)} {said(done[-1].file.name)}: {said(done[-1].outcome)}")
    return sorted(done, key=lambda one: one.file)


def said(value: Any) -> str:
    """What a child or a file name says, safe for a terminal."""
    return printable("" if value is None else str(value))


def show(done: Iterable[Done], console: Console) -> None:
    """Two tables: trades, and warnings with the rows that they are about."""
    trades = Table("file", *TRADE_COLUMNS, title="Trades")
    warnings = Table("file", "row", "code", "message", title="Warnings")
    for name in ("quantity", "price"):
        trades.columns[1 + TRADE_COLUMNS.index(name)].justify = "right"
    for one in done:
        value = one.value or {"trades": [], "warnings": []}
        for trade in value["trades"]:
            trades.add_row(said(one.file.name), *(said(trade.get(name)) for name in TRADE_COLUMNS))
        for warning in value["warnings"]:
            warnings.add_row(said(one.file.name), *(said(warning.get(name)) for name in ("row", "code", "message")))
    console.print(trades)
    console.print(warnings)


def save(done: Iterable[Done], folder: Path) -> None:
    """The value of each file that did not fail, beside the others; one of an earlier run does not stay in its place."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in done:
        place = folder / f"{one.file.name}.json"
        if one.value is None:
            place.unlink(missing_ok=True)
        else:
            place.write_text(json.dumps(one.value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
