"""What comes in: many small updates, with and without a reader, one that stalls, large frames, and memory."""

import statistics
import tempfile

from acp_client import Runner, Transcripts
from scripts.benchmarks import typescript
from scripts.benchmarks.contenders import Child, Contender, official, ours, read_all
from scripts.benchmarks.rounds import measure, workers
from scripts.benchmarks.table import Finding, Sizes

MICRO = 1e6
MIB = 1024 * 1024
STALLED_MIB = 10.0
RECORDED = "ours, with a transcript"
RECORDED_AT_MOST = 4.0
"""All frames are written, redacted: what that may cost a flood of the smallest; the rest of a run hardly notices."""
HELD_UP = 1.5
"""A stalled reader costs a run the noise of two measurements, not its two seconds."""


async def updates(child: Child, sizes: Sizes) -> list[Finding]:
    """Small updates folded by a run."""
    count = sizes.of(100_000)
    command = (*child, str(count))
    finding = Finding(f"{count} small updates in a turn, each", "us")
    with tempfile.TemporaryDirectory() as folder:
        async with Runner() as runner, Runner(transcripts=Transcripts(folder, max_files=1)) as recording:
            timings = await measure(_clients(runner, recording, finding), command, rounds=sizes.times(7))
    finding.figures = {name: MICRO / count * statistics.median(row.prompt) for name, row in timings.items()}
    finding.faster("ours", "official SDK", 10.0)
    finding.faster("ours", typescript.NAME, 4.0)
    finding.faster("ours, live reader", "official SDK", 5.0)
    finding.ratio(RECORDED, "ours", RECORDED_AT_MOST)
    return [finding]


def _clients(runner: Runner, recording: Runner, finding: Finding) -> dict[str, Contender]:
    contenders: dict[str, Contender] = {
        "ours": ours(runner),
        "ours, live reader": ours(runner, reader=read_all),
        RECORDED: ours(recording),
        "official SDK": official,
    }
    try:
        contenders[typescript.NAME] = typescript.client()
    except typescript.UnavailableError as error:
        finding.skipped[typescript.NAME] = str(error)
    return contenders


async def stalled(child: Child, sizes: Sizes) -> list[Finding]:
    """A listener that stops reading at the first update."""
    count = sizes.of(300_000)
    found = workers(("ours", "ours stalled"), (*child, str(count)), rounds=sizes.times(5))
    finding = Finding(f"{count} updates, and a reader that stalls for 2 s", "s")
    finding.figures = {name: row["wall_seconds"] for name, row in found.items()}
    finding.ratio("ours stalled", "ours", HELD_UP)
    more = found["ours stalled"]["peak_mib"] - found["ours"]["peak_mib"]
    finding.at_most("memory for the stalled reader, MiB", more, STALLED_MIB)
    return [finding]


async def frames(child: Child, sizes: Sizes) -> list[Finding]:
    """Long lines: one of 50 MB, a hundred of 1 MB."""
    found = []
    for count, chars in ((1, sizes.of(50_000_000)), (sizes.of(100), 1_000_000)):
        rows = workers(("ours", "decode only", "official"), (*child, str(count), str(chars)), rounds=sizes.times(5))
        finding = Finding(f"{count} frames of {chars / 1e6:g} MB", "s")
        finding.figures = {name: row["prompt_seconds"] for name, row in rows.items()}
        finding.ratio("ours", "decode only", 1.5)
        if count == 1:
            finding.at_most("peak memory / the frame", rows["ours"]["peak_mib"] * MIB / chars, 4.0)
        found.append(finding)
    return found


async def memory(child: Child, sizes: Sizes) -> list[Finding]:
    """A long answer in small pieces: memory over the text itself."""
    count = sizes.of(1_000_000)
    rows = workers(("ours", "official"), (*child, str(count)), rounds=1)
    text_mib = rows["ours"]["answered"] / MIB
    finding = Finding(f"{count} updates, peak of memory ({text_mib:.1f} MiB of text)", "MiB")
    finding.figures = {name: row["peak_mib"] for name, row in rows.items()}
    finding.at_most("peak / (1.5 x the text + 20 MiB)", rows["ours"]["peak_mib"] / (1.5 * text_mib + 20), 1.0)
    return [finding]
