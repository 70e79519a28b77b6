"""A pytest plugin for those who test their own parents and agents: scripted, replayed and recorded children.

Installed with the package (entry point `pytest11`). Owns the option and the fixtures; what they do is `golden`'s and
`factories`', which are loaded once a fixture is used: a session that uses none pays for none.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from acp_client.testing.factories import Replay, Scripted
    from acp_client.testing.golden import Record
    from acp_client.testing.reports import Reports

OPTION = "--acp-record"
_REPORTS = pytest.StashKey["list[Reports]"]()
_UNFINISHED = pytest.StashKey[bool]()
"""The test has failed, or was skipped on the way."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--acp-record`: run the real agents and keep what passes, in place of replaying it."""
    group = parser.getgroup("acp", "agents over the Agent Client Protocol")
    group.addoption(
        OPTION,
        action="store_true",
        help="run the agents that tests give to acp_record, and write their recordings anew",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that failed leaves no recording; what differed from one is shown beside its own failure."""
    report = yield
    if not report.passed:
        item.stash[_UNFINISHED] = True
    if report.when == "call" and report.failed:
        told = [text for reports in item.stash.get(_REPORTS, []) if (text := reports.beside(report.longreprtext))]
        report.sections += [("What differed from the recording", text) for text in told]
    return report


def _judge(node: pytest.Item, reports: Reports) -> None:
    """The test is over: it fails for what its agents report."""
    if complaint := reports.complaint(passed=not node.stash.get(_UNFINISHED, False)):
        pytest.fail(complaint, pytrace=False)


@pytest.fixture
def acp_scripted(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Scripted]:
    """`acp_scripted(scenario, check=True, **fields)`: an `AgentSpec` of an agent that plays a scenario.

    `scenario` is a mapping or the path of a YAML or JSON file, relative to the test's own; its words are shown by
    `python -m acp_agent scripted --help`. One that cannot be played is a ValueError at once. `fields` are those of
    `AgentSpec`; it runs in `tmp_path` unless `cwd` says otherwise. A test that passes without having run it fails when
    it ends; not with `check=False`.
    """
    from acp_client.testing.factories import Scripted  # noqa: PLC0415  # when it is used

    scripted = Scripted(tmp_path, request.path.parent)
    request.node.stash.setdefault(_REPORTS, []).append(scripted.reports)
    yield scripted
    _judge(request.node, scripted.reports)


@pytest.fixture
def acp_replay(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Replay]:
    """`acp_replay(file, lenient=False, pace=None, check=True, **fields)`: an `AgentSpec` of a recorded run.

    `file` is relative to the test's own; one that is no recording is a ValueError at once. What differs from the
    recording fails the test when it ends, with the difference, whatever the test made of it; not with `check=False`,
    nor with `lenient`. So does a recording that was never run; not with `check=False`.
    """
    from acp_client.testing.factories import Replay  # noqa: PLC0415  # when it is used

    replay = Replay(tmp_path, request.path.parent)
    request.node.stash.setdefault(_REPORTS, []).append(replay.reports)
    yield replay
    _judge(request.node, replay.reports)


@pytest.fixture
def acp_record(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, acp_replay: Replay
) -> Iterator[Record]:
    """`acp_record(spec, name=None, **options)`: the spec, replayed from its recording; with `--acp-record`, recorded.

    The recording is `transcripts/NAME.jsonl` beside the test's file; `name` is the spec's name from here on. Left out
    it is the test's own, with its module, class and case (`test_x.TestA.test_it-case`); a test with several recordings
    names the others, and no two tests record under one name. One that is missing fails the test with the command that
    records it. With the option the agent itself runs, and the recording is written once the test has passed: without
    secrets, and with `{cwd}` in the place of the folder, which is `tmp_path` where the spec has no `cwd`. Each spec
    stands for one run, by a `Runner` that is made after this call and that was given no `transcripts`. `options` are
    those of `acp_replay`.
    """
    from acp_client.testing.golden import Record  # noqa: PLC0415  # when it is used

    record = Record(request, tmp_path, acp_replay, monkeypatch if request.config.getoption(OPTION) else None)
    yield record
    if not request.node.stash.get(_UNFINISHED, False) and (complaint := record.keep()):
        pytest.fail(complaint, pytrace=False)
