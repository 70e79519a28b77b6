"""`python -m acp_agent replay FILE`: arguments, help, and what is said when it goes wrong."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

from acp_client.record.format.report import REPORT_OPTION, report

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
  --report=OUT      make the file OUT at the start, and append what differs to it too
"""
_OPTIONS: Final = ("--lenient", "--pace", "--report", "--help")
_PACE_RULE: Final = "it is a number above 0, such as 2 for twice as fast"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was asked for."""

    file: str
    lenient: bool = False
    pace: float | None = None
    report: str = ""


def parse(argv: list[str]) -> Arguments | str:
    """The arguments, or what is wrong with them."""
    files: list[str] = []
    lenient, out = False, ""
    pace: float | None = None
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            files += rest
            break
        if word == "--lenient":
            lenient = True
        elif word.partition("=")[0] == "--pace":
            given = _given_pace(word, rest)
            pace = _number(given)
            if pace is None or not 0 < pace < float("inf"):
                return f"--pace is {given!r}; {_PACE_RULE}"
        elif word.startswith(REPORT_OPTION):
            out = word.removeprefix(REPORT_OPTION)
        elif word.startswith("-"):
            return _no_option(word)
        else:
            files.append(word)
    return Arguments(files[0], lenient, pace, out) if len(files) == 1 else _not_one(files, paced=pace is not None)


def _given_pace(word: str, rest: list[str]) -> str:
    """What stands behind `=`, else the next word if it is a number of whatever kind, else 1."""
    _, equals, value = word.partition("=")
    if equals:
        return value
    return rest.pop(0) if rest and _number(rest[0]) is not None else "1"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _no_option(word: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  # for a mistake alone

    near = get_close_matches(word.partition("=")[0], _OPTIONS, 1)
    return f"no option {word!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _not_one(files: list[str], *, paced: bool) -> str:
    which = f": {', '.join(map(repr, files))}" if files else ""
    pace = f"; the FACTOR of --pace, if that is meant: {_PACE_RULE}" if paced and files else ""
    return f"one file is needed, got {len(files)}{which}{pace}"


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

    report(arguments.report)
    try:
        return serve(
            load(arguments.file), Wire(), lenient=arguments.lenient, pace=arguments.pace, report_to=arguments.report
        )
    except TranscriptError as error:
        sys.stderr.write(f"{error}\n")
    except LineTooLongError:
        sys.stderr.write(f"{arguments.file}: the client sent a line above the limit of this agent\n")
    except KeyboardInterrupt:
        return EXIT_SIGINT
    return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
