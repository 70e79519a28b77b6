"""The logs of a whole tree: held against the golden folder file by file, or harvested into one.

Owns what is read of many sessions together, after the run: what no single process can know. Primary first, always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from acp_agent.model.mismatch import (
    CallPathTaken,
    ChangedAnswers,
    ChangedRequest,
    ExhaustedScript,
    FailedBefore,
    MissingScript,
    ScriptIsThere,
    ScriptMismatch,
    SwappedScript,
    UnconsumedCalls,
    UnusedScript,
)
from acp_agent.model.script import SUFFIX, Script, file_name, lines_of
from acp_agent.model.scripts import load_script
from acp_agent.model.session import what_differs
from acp_client.record.format.call_path import order
from acp_client.record.format.difference import difference

_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


class TreeDiffers(AssertionError):
    """A run is not what its golden folder says; `mismatches` has all that is wrong, what caused the rest first."""

    def __init__(self, mismatches: Iterable[ScriptMismatch]) -> None:
        self.mismatches: Final = tuple(mismatches)
        super().__init__("\n\n".join(str(one) for one in self.mismatches))


def check(logs: Path | Iterable[Path], golden: Path) -> None:
    """Raise TreeDiffers unless the logs of a run are what the golden folder holds: file by file, call by call.

    To be called when the run is over. `logs` is the folder of its logs, or several; folders in them are looked into.
    """
    found, (recorded, swapped) = read_logs(logs), _read_golden(golden)
    failed = [
        FailedBefore(path, str(log.mismatch.get("message")), str(log.mismatch.get("difference") or ""))
        for path, log in found.items()
        if log.mismatch is not None
    ]
    failed.sort(key=lambda one: -one.call_path.count("/"))  # what went wrong below is why its parent went on otherwise
    wrong = [
        one for path in _in_order(found, recorded) for one in _compare(found.get(path), recorded.get(path), golden)
    ]
    if failed or swapped or wrong:
        raise TreeDiffers([*failed, *swapped, *wrong])


def harvest(logs: Path | Iterable[Path], golden: Path, *, refresh: bool = False) -> list[Path]:
    """Collect the logs of a whole run, recorded or refreshed, as the golden folder; returns its files, primary first.

    Without `refresh` nothing is overwritten: raises ScriptIsThere. With it the folder is the run: scripts of sessions
    that it did not have go. Raises FailedBefore for a run that went wrong, CallPathTaken for two logs of one session,
    DamagedScript for one that was broken off, FileNotFoundError where there is none; then nothing is changed.
    """
    found = read_logs(logs)
    if not found:
        raise FileNotFoundError(f"no logs of model calls in {logs}; set ACP_MODEL_LOGS, and ACP_MODEL_MODE to record")
    for path, log in found.items():
        if log.mismatch is not None:
            raise FailedBefore(path, str(log.mismatch.get("message")), str(log.mismatch.get("difference") or ""))
        if not refresh and (golden / file_name(path)).exists():
            raise ScriptIsThere(path, str(golden / file_name(path)))
    files = [golden / file_name(path) for path in found]
    golden.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    for file, log in zip(files, found.values(), strict=True):
        file.touch(mode=_FILE_MODE)
        file.write_text(lines_of(log), encoding="utf-8")
    if refresh:
        for file in set(golden.glob(f"primary*{SUFFIX}")) - set(files):
            file.unlink()
    return files


def read_logs(logs: Path | Iterable[Path]) -> dict[str, Script]:
    """Every log by its call path, primary first. Raises as `harvest` does for what is no log, or one too many."""
    found: dict[str, Script] = {}
    for folder in [logs] if isinstance(logs, Path) else logs:
        for file in sorted(folder.rglob(f"*{SUFFIX}")):
            log = load_script(file)
            assert log is not None  # it was there a moment ago
            if log.call_path in found:
                raise CallPathTaken(log.call_path, str(file))
            found[log.call_path] = log
    return {path: found[path] for path in _in_order(found)}


def _read_golden(golden: Path) -> tuple[dict[str, Script], list[ScriptMismatch]]:
    """The scripts by their call paths, and those that stand in the file of another."""
    if not golden.is_dir():
        raise FileNotFoundError(f"no golden folder {golden}; record the run and harvest it")
    scripts: dict[str, Script] = {}
    swapped: list[ScriptMismatch] = []
    for file in sorted(golden.glob(f"*{SUFFIX}")):
        script = load_script(file)
        assert script is not None  # as above
        if file_name(script.call_path) != file.name:
            swapped.append(SwappedScript(script.call_path, str(file), script.call_path))
        scripts[script.call_path] = script
    return scripts, swapped


def _in_order(*folders: Iterable[str]) -> list[str]:
    return sorted({path for folder in folders for path in folder}, key=order)


def _compare(log: Script | None, script: Script | None, golden: Path) -> Iterator[ScriptMismatch]:
    """The first thing that differs: what comes after it may follow from it. None for a log that says so itself."""
    if log is None:
        assert script is not None  # a path is that of one of them
        yield UnusedScript(script.call_path, len(script.calls))
    elif log.mismatch is not None:
        return
    elif script is None:
        yield MissingScript(log.call_path, str(golden))
    else:
        yield from list(_compare_calls(log, script))[:1]


def _compare_calls(log: Script, script: Script) -> Iterator[ScriptMismatch]:
    path = log.call_path
    for number, (made, recorded) in enumerate(zip(log.calls, script.calls, strict=False), 1):
        if made.request != recorded.request:
            where, shown = what_differs(recorded.request, made.request)
            yield ChangedRequest(path, number, where, shown)
        if made != recorded:
            yield ChangedAnswers(path, number, difference(_answer(recorded), _answer(made)))
    if len(log.calls) < len(script.calls):
        yield UnconsumedCalls(path, len(log.calls), len(script.calls), "the run")
    if len(log.calls) > len(script.calls):
        yield ExhaustedScript(path, len(script.calls))


def _answer(call: object) -> dict[str, object]:
    return {name: getattr(call, name) for name in ("turn", "failed", "cut")} | {
        "deltas": [dict(delta) for delta in getattr(call, "deltas", ())]
    }
