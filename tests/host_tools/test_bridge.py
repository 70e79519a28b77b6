"""The bridge: the program that an agent starts, and its two directions by themselves."""

import json
import socket
import sys
from pathlib import Path

import anyio
import pytest

from acp_client.host_tools import bridge
from tests.host_tools.serving import served, toolbox
from tests.support.mcp import client as mcp_client

SECONDS = 10.0
HELLO = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": mcp_client.HELLO}).encode() + b"\n"
MUCH = b"x" * (bridge.CHUNK_BYTES + 10)


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


async def test_a_bridge_ends_with_its_stdin_and_with_the_run() -> None:
    """Whichever is first; and one that finds nobody says so."""
    box, _ = toolbox(add)
    with anyio.fail_after(SECONDS):
        async with served(box, "stdio") as entry:
            argv = [entry["command"], *entry["args"]]
            env = {pair["name"]: pair["value"] for pair in entry["env"]}
            assert (await anyio.run_process(argv, input=HELLO, env=env)).stdout.startswith(b'{"jsonrpc"')
            process = await anyio.open_process(argv, env=env)
            assert process.stdin is not None
            assert process.stdout is not None
            await process.stdin.send(HELLO)
            assert await process.stdout.receive()
        assert await process.wait() == 0
        await process.aclose()
        alone = await anyio.run_process(argv, env=env, check=False)
    assert (alone.returncode, alone.stdout) == (1, b"")
    assert b"cannot be reached" in alone.stderr


def test_what_comes_on_stdin_goes_up_and_so_does_its_end(tmp_path: Path) -> None:
    """By more than one read."""
    (tmp_path / "stdin").write_bytes(MUCH)
    ours, parents = socket.socketpair()
    with ours, parents, (tmp_path / "stdin").open("rb") as stdin:
        bridge._upstream(ours, stdin.fileno())
        assert parents.makefile("rb").read() == MUCH


def test_what_the_parent_says_comes_out_until_it_closes(tmp_path: Path) -> None:
    """All of it."""
    ours, parents = socket.socketpair()
    with ours, (tmp_path / "stdout").open("wb") as stdout:
        with parents:
            parents.sendall(MUCH)
        bridge._downstream(ours, stdout.fileno())
    assert (tmp_path / "stdout").read_bytes() == MUCH


def test_a_direction_whose_far_end_is_gone_ends_without_an_error(tmp_path: Path) -> None:
    """The other one sees it too."""
    (tmp_path / "file").write_bytes(MUCH)
    ours, parents = socket.socketpair()
    with ours, (tmp_path / "file").open("rb") as only_read:
        parents.close()
        bridge._upstream(ours, only_read.fileno())
    ours, parents = socket.socketpair()
    with ours, parents, (tmp_path / "file").open("rb") as only_read:
        parents.sendall(MUCH)
        bridge._downstream(ours, only_read.fileno())  # as little to be written to as a closed pipe


def test_a_bridge_that_finds_nobody_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For the agent's log."""
    monkeypatch.setattr(sys, "argv", ["bridge.py", str(tmp_path / "gone"), "hash"])
    with pytest.raises(SystemExit) as ended:
        bridge.main()
    assert ended.value.code == 1
    said = "the parent that offers these tools cannot be reached: No such file or directory\n"
    assert capsys.readouterr() == ("", said)


def test_the_bridge_imports_nothing_that_is_slow_to_load() -> None:
    """A few milliseconds beside the start of Python itself: counted in modules, which no busy machine changes."""
    source = Path(bridge.__file__).read_text()
    imports = {line.split()[1] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imports == {"_socket", "_thread", "os", "sys"}
