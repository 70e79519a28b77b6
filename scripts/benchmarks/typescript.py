"""The TypeScript SDK's client: installed once, through npm, in the user's cache beside the agents of tests.

Owns where it is. It brings a node of its own, since the SDK is fastest on a new one.
"""

import json
import shutil
import subprocess

import anyio

from scripts.benchmarks.contenders import HERE, Child, Contender, Done
from scripts.tools.agents import cache

SDK = "2.4.0"
NODE = "24"
NAME = "TypeScript SDK"
INSTALL_SECONDS = 300.0
NPM = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")


class UnavailableError(Exception):
    """There is no npm here, or it could not install. It is said, and the contender skipped."""


def client() -> Contender:
    """It does a run in a process of its own; the seconds of its prompt are its own."""
    folder = cache() / f"bench-ts-sdk-{SDK}" / "node_modules"
    node = folder / "node" / "bin" / "node"
    sdk = folder / "@agentclientprotocol/sdk/dist/v1/stable/acp.js"
    if not (node.exists() and sdk.exists()):
        _install()
    program = HERE / "programs" / "ts_client.mjs"

    async def run(child: Child) -> Done:
        done = await anyio.run_process([str(node), str(program), str(sdk), *child])
        report = json.loads(done.stdout)
        return Done(report["answered"], report["prompt_seconds"])

    return run


def _install() -> None:
    folder = cache() / f"bench-ts-sdk-{SDK}"
    if shutil.which("npm") is None:
        raise UnavailableError("there is no npm to install it with")
    folder.mkdir(parents=True, exist_ok=True)
    argv = [*NPM, "--prefix", str(folder), f"@agentclientprotocol/sdk@{SDK}", f"node@{NODE}"]
    try:
        subprocess.run(argv, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"npm could not install it: {type(error).__name__}") from error
