"""The presets on agents that others wrote: what each asks, which option it is sent, and what it does then."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import ApprovalRequest, Decision, RunResult, run_subagent
from tests.support.agents import TURN_SECONDS, command_turn, opencode, typescript_example
from tests.support.fake_model import Call, fake_model

pytestmark = [pytest.mark.agents, pytest.mark.slow]


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """One loop, since the agents take seconds to start; the library's own tests of policies run on both."""
    backend: str = request.param
    return backend


class Person:
    """An approver with one answer, who keeps what was asked."""

    def __init__(self, answer: Decision) -> None:
        self.answer = answer
        self.questions: list[ApprovalRequest] = []

    async def __call__(self, question: ApprovalRequest) -> Decision:
        """The answer."""
        self.questions.append(question)
        return self.answer


@dataclass(frozen=True)
class Row:
    """A preset, the person who is there, and what the record of the one request must say."""

    preset: str
    person: Decision | None = None
    allowed: bool = False
    by: str | None = None

    @property
    def said(self) -> tuple[object, ...]:
        """Who decided by which rule, why, for which role, and the kind of the option that was sent."""
        preset, person = f"preset {self.preset}", self.person
        why, role = (person.why, "standard") if person else (None, None)
        kind = "allow_once" if self.allowed else "reject_once"
        return ("allow" if self.allowed else "reject", kind, preset, self.by or preset, role, why)


ROWS = {
    "reject": Row("reject"),
    "allow": Row("allow", allowed=True),
    "read-only": Row("read-only"),
    "ask, and yes": Row("ask", Decision("allow", "go on", "Kim"), allowed=True, by="Kim"),
    "ask, and no": Row("ask", Decision("reject", "not today", "Kim"), by="Kim"),
}

presets = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


def fields(row: Row, person: Person | None) -> Mapping[str, Any]:
    """What the spec says of it."""
    return {"permission": row.preset, "approver": person}


def check(row: Row, person: Person | None, result: RunResult, offered: list[str]) -> None:
    """One permission was asked, and answered as the row says; the person has seen what the record holds."""
    assert (result.status, result.reason, result.failure) == ("completed", "end_turn", None)
    assert result.flags.completed_without_asking == ()
    (asked,) = result.permissions
    assert (asked.action, asked.option_kind, asked.rule, asked.decided_by, asked.role, asked.why) == row.said
    assert (asked.subject, asked.outcome, asked.wider, asked.remembered) == ("tool", "selected", False, False)
    assert [option.kind for option in asked.options] == offered
    assert asked.option_id in [option.id for option in asked.options if option.kind == asked.option_kind]
    if person is not None:
        (question,) = person.questions
        assert (question.title, question.kind, question.tool_call_id) == (asked.title, asked.kind, asked.tool_call_id)
        assert [option.kind for option in question.options] == offered


@presets
async def test_the_typescript_example_edits_only_what_is_allowed(row: Row) -> None:
    """It reads one file unasked; on rejection it says so, and leaves the call open, which is its way."""
    person = Person(row.person) if row.person else None
    with anyio.fail_after(TURN_SECONDS):
        result = await run_subagent(typescript_example(**fields(row, person)), "Do what you do")
    check(row, person, result, ["allow_once", "reject_once"])
    assert result.permissions[0].tool_call_id == "call_2"
    assert ("successfully updated" in result.text, "I'll skip" in result.text) == (row.allowed, not row.allowed)
    status = "completed" if row.allowed else "pending"
    assert [(call.id, call.kind, call.status) for call in result.tool_calls] == [
        ("call_1", "read", "completed"),
        ("call_2", "edit", status),
    ]
    if person is not None:
        assert person.questions[0].paths == ("/home/user/project/config.json",)


@presets
async def test_fast_agent_runs_only_the_command_that_is_allowed(row: Row, tmp_path: Path) -> None:
    """A tool of an MCP server, by kind a command; on rejection the model is told, and ends its turn."""
    person = Person(row.person) if row.person else None
    result, ran = await command_turn("fast-agent", tmp_path, **fields(row, person))
    check(row, person, result, ["allow_once", "allow_always", "reject_once", "reject_always"])
    asked = result.permissions[0]
    assert (asked.title, asked.kind) == ("workshop/shell", "execute")
    assert (ran, result.text) == (row.allowed, "DONE")
    (call,) = result.tool_calls
    assert (call.id, call.status) == (asked.tool_call_id, "completed" if row.allowed else "failed")
    if person is not None:
        assert person.questions[0].arguments["command"] == f"touch {tmp_path}/project/ran"


async def test_opencode_may_read_a_file_of_its_project_and_run_nothing_under_read_only(tmp_path: Path) -> None:
    """It asks for a read with a copy of the call that has no path yet: the one that it has announced since counts."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes").write_text("the sum is 42")
    read = Call("read", {"filePath": str(project / "notes")})
    command = Call("bash", {"command": f"touch {project / 'ran'}", "description": "Leave a trace"})
    with anyio.fail_after(TURN_SECONDS), fake_model([read, command, "DONE"]) as model:
        result = await run_subagent(opencode(tmp_path, model, permission="read-only"), "Read the notes")
        assert any("the sum is 42" in text for asked in model.requests for text in asked.results)
    assert [(one.kind, one.option_kind, one.decided_by) for one in result.permissions] == [
        ("read", "allow_once", "preset read-only"),
        ("execute", "reject_once", "preset read-only"),
    ]
    assert not (project / "ran").exists()
