"""Wires that other recorders took from real agents, and the golden ones, are played from first line to last."""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from acp_agent.replay.player import STDOUT, Player
from acp_agent.replay.recording import load

REPO: Final = Path(__file__).resolve().parents[3]
GOLDEN: Final = REPO / "fixtures" / "transcripts"
RECORDED: Final = Path(os.environ.get("ACP_TRANSCRIPTS_DIR", REPO.parent / "shared" / "transcripts"))
WIRES: Final = sorted([*GOLDEN.glob("*.jsonl"), *RECORDED.glob("*.jsonl")])
LIVE_CWD: Final = "/live/of now"
SHIFT: Final = 1000


class Client:
    """Sends what the recorded client sent, with a folder and ids of its own, and knows what has to come back."""

    def __init__(self) -> None:
        self._ids: dict[Any, int] = {}
        self._asked: dict[str, Any] = {}

    def sent(self, frame: dict[str, Any]) -> dict[str, Any]:
        """A frame of the recorded client as this one sends it."""
        frame = _live(frame)
        if "method" not in frame:
            return {**frame, "id": self._asked[repr(frame["id"])]}
        if "id" in frame:
            self._ids[frame["id"]] = frame["id"] = frame["id"] + SHIFT
            self._ids[frame["id"] - SHIFT] = frame["id"]
        return frame

    def expected(self, frame: dict[str, Any], got: dict[str, Any]) -> dict[str, Any]:
        """A frame of the recorded agent as this client has to get it; the id of a request is the agent's to choose."""
        frame = _live(frame)
        if "method" in frame and "id" in frame:
            self._asked[repr(frame["id"])] = got["id"]
            return {**frame, "id": got["id"]}
        if "method" not in frame and type(frame["id"]) is int:
            return {**frame, "id": self._ids.get(frame["id"], frame["id"])}
        return frame


def _live(frame: dict[str, Any]) -> dict[str, Any]:
    moved: dict[str, Any] = json.loads(json.dumps(frame).replace("{CWD}", LIVE_CWD))
    return moved


def _written(player: Player) -> list[bytes]:
    """What goes to stdout before the client has to send more."""
    written = []
    while (item := player.next(0.0)) is not None:
        if item[0] == STDOUT:
            written.append(item[1])
    return written


@pytest.mark.parametrize("path", WIRES, ids=lambda path: path.stem)
def test_a_recorded_wire_is_played_to_its_end(path: Path) -> None:
    """Every frame of the agent, in order, with the ids and the folder of now; nothing differs, nothing is missing."""
    player, client = Player(load(str(path))), Client()
    written: list[bytes] = []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    for row in rows:
        if row["dir"] == "c>a":
            player.receive(json.dumps(client.sent(row["msg"])).encode(), 0.0)
        elif row["dir"] == "a>c":
            written = written or _written(player)
            line = written.pop(0)
            if "msg" in row:
                got = json.loads(line)
                assert got == client.expected(row["msg"], got)
            else:
                raw = bytes.fromhex(row["hex"]) if "hex" in row else row["raw"].encode()
                assert line == raw.replace(b'"id":3,', b'"id":1003,') + b"\n"
    player.leave()
    assert (written, _written(player), player.failed) == ([], [], False)


def test_there_are_wires_to_play() -> None:
    """The golden ones are always there."""
    assert len(WIRES) >= 3
