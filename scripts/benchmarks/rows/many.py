"""Many children at once."""

from scripts.benchmarks.contenders import PYTHON_CHILD, Child, has_compiler
from scripts.benchmarks.rounds import workers
from scripts.benchmarks.table import Finding, Sizes

CHILDREN = 512
NAMES = ("ours", "asyncio", "official")


async def many(child: Child, sizes: Sizes) -> list[Finding]:
    """512 children at once: wall, memory, threads; the mock in Python and the one in C."""
    count, found = sizes.of(CHILDREN), []
    for kind, command in (("stdlib Python", PYTHON_CHILD), ("C", child)):
        if kind == "C" and not has_compiler():
            finding = Finding("C children at once", "s", skipped={"C mock": "there is no cc"})
            found.append(finding)
            continue
        rows = workers(NAMES, (*command, "1"), rounds=sizes.times(3), at_once=count)
        finding = Finding(f"{count} {kind} children at once", "s")
        finding.figures = {name: row["wall_seconds"] for name, row in rows.items()}
        if kind == "C":
            finding.ratio("ours", "official", 0.7)
        else:
            finding.ratio("ours", "asyncio", 1.1)
        finding.at_most("memory, ours / official", rows["ours"]["peak_mib"] / rows["official"]["peak_mib"], 0.5)
        finding.at_most("threads for each child", rows["ours"]["threads"] / count, 0.1)
        found.append(finding)
    return found
