"""Installs real agents and clients that others wrote, for tests/agents to drive.

Owns a folder in the user's cache and `agents.json` in it: name → argv and extra environment, or why
this machine cannot have it. Each is installed once per pinned version, all at the same time. Finding
and configuring them for a test is left to `tests/support/agents.py`.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NotRequired, TypedDict

from scripts.tools.all_pythons import pythons

INDEX_VARIABLE = "ACP_SUBAGENTS_AGENTS"  # the path of another index
NPM = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
PIP = ("-m", "pip", "--disable-pip-version-check", "-qq")
PYTHON_SDK = "agent-client-protocol==0.12.1"
FAST_AGENT_PYTHONS = ("3.13", "3.12")  # those of ours that it supports, the best first


class Entry(TypedDict):
    """How to start one program, each part of `argv` a file; or why there is none here."""

    argv: list[str]
    env: dict[str, str]
    unavailable: NotRequired[str]


class UnavailableError(Exception):
    """This machine lacks what a program needs. It is said and skipped: no failure of the installer."""


def cache() -> Path:
    """The folder that holds them, outside the tree."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "acp-subagents" / "agents"


def index_path() -> Path:
    """Where the index is."""
    return Path(os.environ.get(INDEX_VARIABLE) or cache() / "agents.json")


def ts_sdk_example(folder: Path) -> Entry:
    """The TypeScript SDK's example: a turn of five seconds with one permission."""
    _npm(folder, "@agentclientprotocol/sdk@0.28.1")
    script = folder / "node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"
    return Entry(argv=[_program("node"), str(script)], env={})


def python_sdk_echo(folder: Path) -> Entry:
    """The official Python SDK's echo agent (in its source distribution only)."""
    python = folder / "venv" / "bin" / "python"
    _run([sys.executable, "-m", "venv", "--clear", str(folder / "venv")])
    _run([str(python), *PIP, "install", PYTHON_SDK])
    download = ["download", "--no-deps", "--no-binary", ":all:", "-d", str(folder), PYTHON_SDK]
    _run([str(python), *PIP, *download])
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        (member,) = (one for one in archive if one.name.endswith("/examples/echo_agent.py"))
        content = archive.extractfile(member)
        assert content is not None  # it is a regular file
        (folder / "echo_agent.py").write_bytes(content.read())
    return Entry(argv=[str(python), str(folder / "echo_agent.py")], env={})


def acpx(folder: Path) -> Entry:
    """A client that drives our agents; it needs node 22, so it brings its own."""
    _npm(folder, "acpx@0.19.1", "node@24")
    modules = folder / "node_modules"
    return Entry(argv=[str(modules / "node/bin/node"), str(modules / "acpx/dist/cli.js")], env={})


def fast_agent(folder: Path) -> Entry:
    """An agent in Python that asks before it calls a tool of an MCP server; `acp` is the first argument to give."""
    found = pythons()
    base = next((found[version] for version in FAST_AGENT_PYTHONS if version in found), None)
    if base is None:
        raise UnavailableError(f"fast-agent needs Python {' or '.join(FAST_AGENT_PYTHONS)}, and none starts here")
    python = folder / "venv" / "bin" / "python"
    _run([str(base), "-m", "venv", "--clear", str(folder / "venv")])
    _run([str(python), *PIP, "install", "fast-agent-acp==0.10.48"])
    return Entry(argv=[str(python), str(python.with_name("fast-agent"))], env={})


def opencode(folder: Path) -> Entry:
    """An agent in one binary that asks before it runs or edits; `acp` is the first argument to give."""
    _npm(folder, "opencode-ai@1.18.33")
    return Entry(argv=[str(folder / "node_modules/.bin/opencode")], env={})


INSTALLERS: dict[str, Callable[[Path], Entry]] = {
    "ts-sdk-example-0.28.1": ts_sdk_example,
    "python-sdk-echo-0.12.1": python_sdk_echo,
    "acpx-0.19.1": acpx,
    "fast-agent-0.10.48": fast_agent,
    "opencode-1.18.33": opencode,
}


def main() -> None:
    """Install what is missing and write the index; exit 1 if one could not be installed."""
    root = cache()
    root.mkdir(parents=True, exist_ok=True)
    failed = []
    with (root / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        index = {}
        with ThreadPoolExecutor(len(INSTALLERS)) as pool:  # most of it is waiting for registries
            started = {one: pool.submit(_installed, root / one, install) for one, install in INSTALLERS.items()}
        for folder, done in started.items():
            try:
                index[name(folder)] = done.result()
            except (OSError, subprocess.CalledProcessError) as error:
                failed.append(f"{name(folder)} could not be installed: {error}")
        _write(root / "agents.json", json.dumps(index, indent=2))
    _report(index, root)
    sys.exit("\n".join(failed) or 0)


def _report(index: dict[str, Entry], root: Path) -> None:
    for one, entry in index.items():
        if "unavailable" in entry:
            print(f"skipped {one}: {entry['unavailable']}")
    there = [one for one, entry in index.items() if "unavailable" not in entry]
    print(f"agents: {', '.join(there) or 'none'} ({root / 'agents.json'})")


def name(folder: str) -> str:
    """The name in the index: the folder's without the version."""
    return folder.rpartition("-")[0]


def _installed(folder: Path, installer: Callable[[Path], Entry]) -> Entry:
    """The entry of a finished installation; one half done, or whose program went, is redone."""
    if (entry := _entry(folder)) is None:
        print(f"installing {folder.name} …\n", end="", flush=True)  # whole: others print too
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            entry = installer(folder)
        except UnavailableError as error:  # not written down: the next time it may be there
            return Entry(argv=[], env={}, unavailable=str(error))
        _write(folder / "entry.json", json.dumps(entry))
    return entry


def _entry(folder: Path) -> Entry | None:
    try:
        entry: Entry = json.loads((folder / "entry.json").read_text())
    except FileNotFoundError:
        return None
    return entry if all(Path(part).exists() for part in entry["argv"]) else None


def _write(path: Path, text: str) -> None:
    """Whole or not at all, for readers that come in between."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as new:
        new.write(text)
    Path(new.name).replace(path)


def _npm(folder: Path, *packages: str) -> None:
    _run([_program("npm"), *NPM[1:], "--prefix", str(folder), *packages])


def _program(command: str) -> str:
    found = shutil.which(command)
    if found is None:
        message = f"{command} is not on PATH"
        raise FileNotFoundError(message)
    return found


def _run(argv: list[str]) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


if __name__ == "__main__":
    main()
