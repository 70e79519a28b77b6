"""`python -m acp_agent replay FILE`: arguments, help, and what is said when it goes wrong."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

EXIT_USAGE: Final = 2
EXIT_SIGINT: Final = 130
USAGE: Final = "usage: python -m acp_agent replay FILE [--lenient] [--pace [FACTOR]]"
HELP: Final = f"""{USAGE}

Serves a recorded run as an ACP agent on stdin and stdout. FILE is a transcript, or JSON-RPC frames, one a
line. The client has to send what was recorded, but for ids, paths and times; it gets what the recorded agent
wrote, in the same order. What differs is answered with an error that shows the difference, is written to
stderr, and makes the exit code 1.

  --lenient         go on with what was recorded where something differs, and only warn on stderr
  --pace [FACTOR]   write when it was written then, FACTOR times as fast (1); without it at once
"""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was asked for."""

    file: str
    lenient: bool = False
    pace: float | None = None


def parse(argv: list[str]) -> Arguments | str:
    """The arguments, or what is wrong with them."""
    files: list[str] = []
    lenient = False
    pace: float | None = None
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--lenient":
            lenient = True
        elif word == "--pace" or word.startswith("--pace="):
            given = word.partition("=")[2] or (rest.pop(0) if rest and _factor(rest[0]) else "1")
            pace = _factor(given)
            if pace is None:
                return f"--pace is {given!r}; it is a number above 0, such as 2 for twice as fast"
        elif word == "--":
            files += rest
            break
        elif word.startswith("-"):
            return f"no option {word!r}"
        else:
            files.append(word)
    if len(files) != 1:
        return f"one file is needed, got {len(files)}"
    return Arguments(files[0], lenient, pace)


def _factor(text: str) -> float | None:
    try:
        factor = float(text)
    except ValueError:
        return None
    return factor if 0 < factor < float("inf") else None


def run(argv: list[str]) -> int:
    """Serve what is named by `argv`; returns the exit code, 2 where it cannot be served."""
    if {"-h", "--help"} & set(argv):
        sys.stdout.write(HELP)
        return 0
    arguments = parse(argv)
    if isinstance(arguments, str):
        sys.stderr.write(f"{arguments}\n{USAGE}\n")
        return EXIT_USAGE
    return _serve(arguments)


def _serve(arguments: Arguments) -> int:
    from acp_agent.replay.engine import serve  # noqa: PLC0415  # help and faults do without
    from acp_agent.replay.recording import load  # noqa: PLC0415  # the same
    from acp_agent.scripted.wire import LineTooLongError, Wire  # noqa: PLC0415  # the same
    from acp_client.record.format.lines import TranscriptError  # noqa: PLC0415  # the same

    try:
        return serve(load(arguments.file), Wire(), lenient=arguments.lenient, pace=arguments.pace)
    except TranscriptError as error:
        sys.stderr.write(f"{error}\n")
    except LineTooLongError:
        sys.stderr.write(f"{arguments.file}: the client sent a line above the limit of this agent\n")
    except KeyboardInterrupt:
        return EXIT_SIGINT
    return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
