"""Fuzzing: mutated golden wires and raw bytes against `Link` and everything above it, and against live children.

What must hold: nothing raises, cutting the same bytes elsewhere gives the same events, a live run ends with a result.
 A finding is printed with the bytes that reproduce it, and belongs into `tests/` as an example.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from acp_client import AgentSpec, Limits, Runner
from acp_client.protocol.link import Link
from acp_client.session.events import to_event
from acp_client.session.turn import Turn

GOLDEN = Path(__file__).parents[2] / "fixtures" / "transcripts"
ODD = [b"\x00", b"\xff", b"\n", b"\r\n", b"{", b"}", b'"', b"\\", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"[" * 300, b"null",
       b"NaN", b"1e999", b'{"jsonrpc":"2.0"}', b'"id":true', b"\xef\xbb\xbf", b"9" * 5000]  # fmt: skip
LIVE_SECONDS = 20.0
MAX_FRAME_BYTES = 4096


def golden_lines() -> list[bytes]:
    """Frames of the golden wires, and the answers that a handshake needs."""
    lines = [
        b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}',
        b'{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}',
        b'{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"x","data":[1]}}',
        b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}',
    ]
    for file in sorted(GOLDEN.glob("*.jsonl")):
        lines += [_frame(line) for line in file.read_bytes().splitlines() if line.strip()]
    return lines


def _frame(line: bytes) -> bytes:
    """The frame of a line: the line itself, or its `msg` in a recorded wire."""
    value = json.loads(line)
    return json.dumps(value["msg"]).encode() if isinstance(value, dict) and "msg" in value else line


def mutated(lines: list[bytes]) -> st.SearchStrategy[bytes]:
    """A wire of golden frames: some cut, repeated, spliced, with odd bytes in them, or raw bytes instead."""
    frame = st.sampled_from(lines)
    place = st.floats(0, 1)

    def splice(line: bytes, where: float, what: bytes, drop: int) -> bytes:
        at = int(where * len(line))
        return line[:at] + what + line[at + drop :]

    odd = st.builds(splice, frame, place, st.sampled_from(ODD) | st.binary(max_size=6), st.integers(0, 9))
    glued = st.builds(lambda a, b: a + b, frame, frame)
    piece = frame | odd | glued | st.binary(max_size=200)
    return st.lists(piece, min_size=1, max_size=8).map(b"\n".join)


def signature(events: list[Any]) -> list[Any]:
    """Events as comparable values."""
    return [event if isinstance(event, dict) else repr(event) for event in events]


def fresh_link() -> Link:
    """A link with three requests open, as in a run."""
    link = Link(max_frame_bytes=MAX_FRAME_BYTES)
    for method in ("initialize", "session/new", "session/prompt"):
        link.request(method, {})
    return link


def check_link(wire: bytes, cuts: list[float]) -> None:
    """Feed whole and in pieces: the same events, none of them raises anything above."""
    whole, pieces = fresh_link(), fresh_link()
    events = whole.receive(wire) + whole.receive_eof()
    places = sorted({int(cut * len(wire)) for cut in cuts})
    cut_events: list[Any] = []
    for start, end in zip([0, *places], [*places, len(wire)], strict=True):
        cut_events += pieces.receive(wire[start:end])
    cut_events += pieces.receive_eof()
    assert repr(signature(events)) == repr(signature(cut_events)), (wire, cuts)
    turn = Turn(10_000)
    turn.phase = "running"
    for event in events:
        if isinstance(event, dict) and isinstance((event.get("params") or {}).get("update"), dict):
            turn.fold(event["params"]["update"])
            to_event(event["params"]["update"]).to_json()
    turn.tool_calls(), turn.plan_entries(), turn.usage(), turn.answer.messages(), turn.answer.text()


def fuzz_link(examples: int, number: int) -> None:
    """Against the pure parts."""

    @seed(number)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(mutated(golden_lines()), st.lists(st.floats(0, 1), max_size=5))
    def run(wire: bytes, cuts: list[float]) -> None:
        check_link(wire, cuts)

    run()
    print(f"link: {examples} examples, 0 uncaught exceptions")


CHILD = """
import json, sys
wire = open(sys.argv[1], "rb").read()
out, lines = sys.stdout.buffer, sys.stdin.buffer
for answer in ({"protocolVersion": 1}, {"sessionId": "s"}):
    asked = json.loads(lines.readline())
    out.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).encode() + b"\\n")
    out.flush()
lines.readline()
out.write(wire)
out.flush()
"""
"""A child that shakes hands, then writes what it was given and exits."""


def wires(examples: int, number: int) -> Iterator[bytes]:
    """Mutated wires for live children, drawn once."""
    drawn: list[bytes] = []

    @seed(number)
    @settings(max_examples=examples, deadline=None, database=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(mutated(golden_lines()))
    def draw(wire: bytes) -> None:
        drawn.append(wire)

    draw()
    return iter(drawn)


def live_jobs(folder: Path, examples: int, number: int) -> dict[str, tuple[AgentSpec, bytes]]:
    """A child for each wire, by name."""
    child = folder / "child.py"
    child.write_text(CHILD)
    limits = Limits(max_frame_bytes=MAX_FRAME_BYTES, late_update_grace_seconds=0, run_timeout_seconds=LIVE_SECONDS)
    jobs = {}
    for index, wire in enumerate(wires(examples, number)):
        file = folder / f"{index}.wire"
        file.write_bytes(wire)
        command = (sys.executable, "-S", str(child), str(file))
        jobs[str(index)] = (AgentSpec(command=command, cwd=folder, limits=limits), wire)
    return jobs


async def fuzz_live(jobs: dict[str, tuple[AgentSpec, bytes]]) -> int:
    """Against live children; returns how many runs were not as they must be. The name of a job is its prompt."""
    bad = 0
    async with Runner(max_concurrency=8) as runner:
        async for job, result in runner.run_many((spec, name) for name, (spec, _) in jobs.items()):
            if result.reason in ("internal_error", "run_timeout"):
                bad += 1
                print(f"live: {result.reason}: {jobs[job[1]][1]!r}")  # type: ignore[index]  # a pair, as given
    print(f"live: {len(jobs)} examples, {bad} bad")
    return bad


def main() -> int:
    """Run both; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--link", type=int, default=100_000, help="examples against the link")
    parser.add_argument("--live", type=int, default=500, help="examples against live children")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    fuzz_link(options.link, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        return 1 if anyio.run(fuzz_live, live_jobs(Path(folder), options.live, options.seed)) else 0


if __name__ == "__main__":
    sys.exit(main())
