"""`python -m acp_agent.scripted FILE`: arguments, help, and what is said when it goes wrong."""

from __future__ import annotations

import os
import sys

from acp_agent.scripted.load import ScenarioError, load
from acp_agent.scripted.vocabulary import HOOK, SCENARIO, STEPS, WORD_LISTS, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EXIT_USAGE = 2
EXIT_SIGINT = 130
_REPORT = "--report="  # as in acp_client.record.format.report, whose import would be dear here
_USAGE = "usage: python -m acp_agent scripted FILE"
_INTRODUCTION = f"""{_USAGE}

Plays a scenario file (YAML, or JSON) as an ACP agent on stdin and stdout. What a scenario does
not mention follows the protocol.

  --check        say what is wrong with the file, and play nothing
  --report=OUT   make the file OUT at the start: it says that the agent was run

Texts may hold placeholders: ${{id}} and ${{session}} of the request that is being answered, its
${{params.…}}, ${{prompt}} (the text), ${{cwd}} (the session's), ${{n}} (count of the innermost
repeat), ${{pid}}, ${{python}}, ${{scenario_dir}}, the answers kept with `save`, and environment
variables. A text that is one placeholder keeps the value's type; $${{ is a plain ${{."""


def run(argv: list[str]) -> int:
    """Play the scenario named by `argv`; returns the exit code, 2 for a fault of the scenario."""
    if argv in (["--help"], ["-h"]):
        sys.stdout.write(help_text())
        return 0
    out = next((word.removeprefix(_REPORT) for word in argv if word.startswith(_REPORT)), "")
    words = [word for word in argv if word != "--check" and not word.startswith(_REPORT)]
    if len(words) != 1 or words[0].startswith("-"):
        sys.stderr.write(f"{_USAGE}\none scenario file is needed; --help lists its words\n")
        return EXIT_USAGE
    if out:
        _report(out)
    path = words[0]
    try:
        scenario = load(path, os.environ)
    except ScenarioError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_USAGE
    return 0 if "--check" in argv else _play(scenario, path)


def _report(out: str) -> None:
    from acp_client.record.format.report import report  # noqa: PLC0415 - for tests that ask for it

    report(out)


def _play(scenario: Mapping[str, object], path: str) -> int:
    from acp_agent.scripted.agent import Agent, Fault  # noqa: PLC0415 - help and faults do without
    from acp_agent.scripted.engine import Engine  # noqa: PLC0415 - the same
    from acp_agent.scripted.wire import LineTooLongError, Wire  # noqa: PLC0415 - the same

    try:
        return Engine(Agent(scenario, path, Wire())).run()
    except KeyboardInterrupt:
        return EXIT_SIGINT
    except LineTooLongError:
        sys.stderr.write(f"{path}: the client sent a line above the limit of this agent\n")
    except (Fault, OSError) as error:
        sys.stderr.write(f"{path}: cannot go on: {error}\n")
    return EXIT_USAGE


def help_text() -> str:
    """All words of a scenario, from the tables."""
    lines = [_INTRODUCTION, "", "THE FILE", *_rows(SCENARIO, "  ")]
    lines += ["", "A HOOK is a list of steps before the default answer, or", *_rows(HOOK, "  ")]
    lines += ["", "STEPS, each a mapping with one word", *_rows(STEPS, "  ")]
    return "\n".join(lines) + "\n"


def _rows(words: Mapping[str, Word], indent: str) -> Iterator[str]:
    for name, word in words.items():
        forms = " | ".join(one.removeprefix("=") for one in word.forms)
        if "words" in word.forms:
            forms = f"words of {' '.join(WORD_LISTS[name])}"
        yield f"{indent}{name}: {forms}  - {word.doc}"
        yield from _rows(word.keys, indent + "    ")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
