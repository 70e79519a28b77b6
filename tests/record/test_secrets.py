"""Planted secrets: wherever one comes from and however it is cut, it is in no transcript, and in no file's name."""

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_client import AgentSpec
from acp_client.process.environment import argument_secrets
from acp_client.record.format.lines import Frame
from tests.record.kept import Kept, ran
from tests.support.made_up_secrets import GITHUB, JWT, PEM
from tests.support.mcp import agent as tool_agent
from tests.support.scenarios import Scripted

PLAIN = "Plain9x8w7v6u5t4s3r"
"""A secret that looks like nothing: it is one only by where it comes from."""
ARGUMENT = "Word5t4s3r2q1p0o9n"
HEADER = "Head7v6u5t4s3r2q1p"
SERVER_ENV = "Serv1p0o9n8m7l6k5j"
SERVER_ARGUMENT = "Sarg3r2q1p0o9n8m7l"
ALL = (PLAIN, ARGUMENT, HEADER, SERVER_ENV, SERVER_ARGUMENT, GITHUB, JWT)
TELLING_CHARS = 5
"""No piece of a secret as long as this may be anywhere."""

SERVERS: list[dict[str, Any]] = [
    {
        "type": "http",
        "name": "web",
        "url": "http://127.0.0.1:9/mcp",
        "headers": [{"name": "X-Api-Key", "value": HEADER}],
    },
    {
        "name": "own",
        "command": "/bin/true",
        "args": ["--token", SERVER_ARGUMENT],
        "env": [{"name": "SERVICE_PASSWORD", "value": SERVER_ENV}],
    },
]


def leaks(text: str) -> list[str]:
    """The pieces of planted secrets in a text."""
    bodies = [secret.removeprefix("gh" + "p_").removeprefix("eyJ") for secret in ALL]
    pieces = {body[at : at + TELLING_CHARS] for body in bodies for at in range(len(body) - TELLING_CHARS + 1)}
    return sorted(piece for piece in pieces if piece in text)


def update(**members: Any) -> dict[str, Any]:
    """A step that sends an update."""
    return {"update": members}


def says(secret: str) -> list[dict[str, Any]]:
    """Steps in which an agent tells a secret in every way that it has."""
    return [
        {"chunk": f"It is {secret}, "},
        {"thought": f"I know {secret} now"},
        {"stderr": f"warning: {secret} is weak"},
        {"noise": f"using {secret}"},
        {"tool_call": {"toolCallId": secret, "title": f"echo {secret}", "rawInput": {"words": [secret]}}},
        {"tool_update": {"toolCallId": secret, "content": [text(f"out: {secret}")], "status": "completed"}},
        {
            "tool_update": {
                "toolCallId": "d",
                "content": [{"type": "diff", "path": "x", "oldText": secret, "newText": ""}],
            }
        },
        {"plan": [f"hide {secret}"]},
        update(sessionUpdate="vendor_update", **{secret: {"deep": [secret]}}),
        {"notify": {"method": f"_vendor/{secret}", "params": {"x": secret}}},
        {"permission": {"tool_call": {"toolCallId": secret, "title": f"use {secret}", "kind": "execute"}}},
        {"request": {"method": "fs/read_text_file", "params": {"sessionId": "s-1", "path": f"/{secret}"}}},
    ]


def text(said: str) -> dict[str, Any]:
    """A block of a tool's output."""
    return {"type": "content", "content": {"type": "text", "text": said}}


@pytest.mark.odd_frames  # the update that nobody knows
async def test_a_secret_is_in_no_transcript_wherever_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Environment, arguments, headers; told in messages, tools, stderr, noise, keys, ids, errors, by us and by it."""
    monkeypatch.setenv("SERVICE_TOKEN", PLAIN)
    steps = [step for secret in ALL for step in says(secret)]
    child = Scripted(
        tmp_path,
        {
            "capabilities": {"mcpCapabilities": {"http": True}},
            "prompt": [*steps, {"error": {"message": f"bad {PLAIN}", "data": {"key": ARGUMENT}}}],
        },
        permission="allow",
        mcp_servers=SERVERS,
    )
    spec = child.spec.model_copy(update={"command": (*child.spec.command, "--api-key", ARGUMENT)})
    result = await ran(_wrapped(tmp_path, spec), f"My password is {PLAIN}, and {GITHUB}", transcripts=tmp_path / "kept")
    assert result.reason == "agent_error"
    assert result.transcript is not None
    assert child.received(), "it has been told what it was to be told"
    kept = Kept(result.transcript)
    assert [line for line in kept.path.read_text().splitlines() if leaks(line)] == []
    assert kept.path.read_text().count("[redacted]") > len(steps)
    assert kept.faults() == []
    assert len(kept.notes("permission")) == len(ALL)


def _wrapped(folder: Path, spec: AgentSpec) -> AgentSpec:
    """The same agent, started by a program that takes an argument more than it does."""
    program = folder / "wrapped.py"
    program.write_text("import os, sys\nos.execv(sys.argv[1], sys.argv[1:-2])\n")
    return spec.model_copy(update={"command": (sys.executable, str(program), *spec.command)})


def cuts(secret: str) -> list[list[str]]:
    """A text with the secret, in two at every place, and in three at many."""
    said = f"it is {secret} ok"
    start, end = said.index(secret), said.index(secret) + len(secret)
    two = [(place,) for place in range(start, end + 1)]
    three = list(itertools.combinations(range(start + 1, end, max(1, len(secret) // 8)), 2))
    return [[said[a:b] for a, b in itertools.pairwise((0, *places, len(said)))] for places in [*two, *three]]


@pytest.mark.parametrize("secret", [PLAIN, GITHUB, PEM], ids=["known", "token", "key"])
async def test_a_secret_that_is_cut_across_frames_is_in_no_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    """In two and three chunks of a message, thoughts, and updates of one tool call, with others between them."""
    monkeypatch.setenv("SERVICE_TOKEN", PLAIN)
    steps: list[dict[str, Any]] = []
    all_cuts = cuts(secret)[:: 1 if secret != PEM else 7]
    for number, parts in enumerate(all_cuts):
        for part in parts:
            steps += [{"chunk": part}, {"thought": part}, {"usage": {"used": 1, "size": 2}}]
            steps.append(
                {"tool_update": {"toolCallId": f"c{number}", "content": [text(part)], "rawOutput": {"out": part}}}
            )
        steps.append({"tool_update": {"toolCallId": f"c{number}", "status": "completed"}})
    child = Scripted(tmp_path, {"prompt": steps})
    result = await ran(child.spec, transcripts=tmp_path / "kept")
    assert result.status == "completed"
    assert secret in result.text
    assert result.transcript is not None
    kept = Kept(result.transcript)
    body = secret.splitlines()[1] if secret == PEM else secret
    pieces = {body[at : at + TELLING_CHARS] for at in range(3, len(body) - TELLING_CHARS + 1)}
    assert [piece for piece in pieces if any(piece in str(frame) for frame in kept.frames)] == []
    assert len([line for line in kept.lines if isinstance(line, Frame) and line.direction == "a>c"]) == len(steps) + 3
    joined = "".join(kept.texts)
    assert body not in joined
    assert joined.count("[redacted]") == len(all_cuts)


async def test_what_host_tools_are_given_and_give_is_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note of a call of ours is one more place."""
    monkeypatch.setenv("SERVICE_TOKEN", PLAIN)

    def look_up(name: str) -> str:
        """Look a name up."""
        return f"{name} is {PLAIN}"

    command = (sys.executable, str(tool_agent.__file__))
    spec = AgentSpec(command=command, host_tools=[look_up], permission="allow")
    result = await ran(spec, json.dumps({"calls": [["look_up", {"name": PLAIN}]]}), transcripts=tmp_path)
    assert result.host_tool_calls != ()
    assert result.transcript is not None
    kept = Kept(result.transcript)
    (call,) = kept.notes("host_tool")
    assert (call["name"], call["status"]) == ("look_up", "completed")
    assert leaks(kept.path.read_text()) == []


@pytest.mark.parametrize(
    ("words", "secrets"),
    [
        (["agent", "--api-key", "abc", "--port", "80"], ("abc",)),
        (["agent", "--api-key=abc", "TOKEN=def", "--name=x"], ("abc", "def")),
        (["agent", "--password", "--verbose", "x"], ()),
        (["agent", "-p", "x", "--token"], ()),
        (["agent", "http://x/?token=abc"], ()),
    ],
)
def test_what_options_say_is_secret_is_known(words: list[str], secrets: tuple[str, ...]) -> None:
    """By the name of the option, as for a variable."""
    assert argument_secrets(words) == secrets
