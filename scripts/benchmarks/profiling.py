"""`python -m scripts.benchmarks.profiling NAME`: where the time of our part of a benchmark goes, by cProfile.

Prints the functions that take most, and writes the profile for `python -m pstats`, snakeviz and the like. A profile
slows calls down: it says where to look, `scripts/bench` says whether it helped.
"""

import argparse
import cProfile
import pstats
import shlex
import subprocess
import sys
from pathlib import Path

import anyio

from acp_client import Runner
from scripts.benchmarks.contenders import Child, mock_child, ours, read_all

WORKS = {
    "updates": (("100000",), 1),
    "listening": (("100000",), 1),
    "frames": (("100", "1000000"), 1),
    "permission": (("1", "0", "500"), 1),
    "run": (("1",), 200),
}
"""What the mock is started with, and how many runs."""


def main() -> None:
    """Profile, print, write."""
    options = _options()
    with mock_child() as child:
        if options.name == "cold":
            _profile_command(child, options.out)
        else:
            words, times = WORKS[options.name]
            profile = cProfile.Profile()
            anyio.run(_work, profile, options.name, (*child, *words), times)
            profile.dump_stats(options.out)
    pstats.Stats(options.out).sort_stats(options.sort).print_stats(options.top)
    sys.stdout.write(f"{options.out} has all of it\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/profile", description=__doc__)
    parser.add_argument("name", choices=(*WORKS, "cold"))
    parser.add_argument("--top", type=int, default=30, help="functions that are printed (30)")
    parser.add_argument("--sort", choices=("tottime", "cumtime"), default="tottime")
    parser.add_argument("--out", metavar="FILE", help="the profile (NAME.prof)")
    options = parser.parse_args()
    options.out = options.out or f"{options.name}.prof"
    return options


async def _work(profile: cProfile.Profile, name: str, child: Child, times: int) -> None:
    """One run first that does not count: its imports would be all that is seen."""
    async with Runner() as runner:
        contender = ours(runner, reader=read_all if name == "listening" else None)
        await contender(child)
        profile.enable()
        for _ in range(times):
            await contender(child)
        profile.disable()


def _profile_command(child: Child, out: str) -> None:
    agent = shlex.join((*child, "1"))
    argv = [sys.executable, "-m", "cProfile", "-o", str(Path(out).absolute()), "-m", "acp_client"]
    subprocess.run([*argv, "run", "--agent", agent, "go"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
