"""How a parent declares its sub-agents, and what it is told of a mistake."""

import json
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from acp_client import AgentSpec, Limits, Runner, RunResult, SubAgent, SubAgentFailed, SubAgents, UnknownSubAgent
from acp_client.delegate.given.handed_down import hand_down, take_over

SPEC = AgentSpec(command=("agent",))


def sub_agent(name: str = "judge", **fields: Any) -> SubAgent:
    """One that is never run."""
    return SubAgent(**{"name": name, "description": "Judges", "agent": SPEC, **fields})


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a name with a blank": ({"name": "risk judge"}, "name"),
    "an empty name": ({"name": ""}, "name"),
    "a name too long": ({"name": "n" * 65}, "name"),
    "a name with a line end": ({"name": "judge\n"}, "name"),
    "no description": ({"description": ""}, "description"),
    "a command": ({"agent": ("python",)}, r"agent(.|\n)*must be an AgentSpec"),
    "a cap below 0": ({"history_cap": -1}, "history_cap"),
    "a cap of True": ({"history_cap": True}, "history_cap"),
    "sub-agents of names": ({"sub_agents": ["x"]}, r"sub_agents(.|\n)*\[0\] must be a SubAgent"),
    "one sub-agent": ({"sub_agents": "x"}, r"sub_agents(.|\n)*must be a list of SubAgent"),
    "a misspelt field": ({"histroy_cap": 1}, "did you mean 'history_cap'"),
    "two of one name": ({"sub_agents": [sub_agent("a"), sub_agent("a")]}, r"\[1\] is a second 'a'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_declaration_names_the_field_and_the_rule(case: str) -> None:
    """Where it is written, not when it is asked."""
    fields, message = WRONG[case]
    with pytest.raises(ValidationError, match=message):
        sub_agent(**fields)


def test_a_declaration_is_frozen_and_shows_no_arguments() -> None:
    """Of its agent's command, which may hold secrets."""
    declared = sub_agent(agent=AgentSpec(command=("agent", "--key", "s3cret")))
    with pytest.raises(ValidationError):
        declared.name = "other"
    assert "s3cret" not in repr(declared)
    assert {declared: 1}[sub_agent(agent=AgentSpec(command=("agent", "--key", "s3cret")))] == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"declared": [sub_agent(), sub_agent()]}, r"\[1\] is a second 'judge'"),
        ({"declared": [SPEC]}, r"\[0\] must be a SubAgent, not AgentSpec"),
        ({"parent_name": "a › b"}, "parent_name must be a name"),
        ({"parent_name": " "}, "parent_name must be a name"),
        ({"max_depth": 0}, "max_depth is 0; with sub-agents it is an integer of at least 1"),
        ({"max_depth": None}, "max_depth is None"),
        ({"max_depth": True}, "max_depth is True"),
        ({"declared": 5}, "must be a list of SubAgent, not int"),
        ({"declared": sub_agent()}, "must be a list of SubAgent, not SubAgent"),
        ({"parent_name": 3}, "parent_name must be a name"),
        ({"on_progress": 3}, "on_progress must be a function, or None; it is of type int"),
        ({"on_trace": []}, "on_trace must be a function, or None; it is of type list"),
        ({"runner": None}, "runner must be a Runner, not NoneType"),
    ],
)
def test_a_wrong_registry_names_the_place_and_the_rule(fields: dict[str, Any], message: str) -> None:
    """When it is built."""
    given = {"declared": [], "runner": Runner(), **fields}
    with pytest.raises((TypeError, ValueError), match=message):
        SubAgents(given.pop("declared"), **given)


def test_an_undeclared_name_is_told_with_those_there_are() -> None:
    """In one line, with the nearest; whatever a model made up is cut and cannot steer a terminal."""
    error = UnknownSubAgent("risk_jugde", ("extractor", "risk_judge"))
    assert str(error) == (
        "there is no sub-agent 'risk_jugde'; declared are: extractor, risk_judge; did you mean 'risk_judge'?"
    )
    assert isinstance(error, LookupError)
    assert "none are declared" in str(UnknownSubAgent("x", ()))
    wild = str(UnknownSubAgent("\x1b[2J" + "x" * 999, ("a",)))
    assert "\x1b" not in wild
    assert len(wild) < 200


async def test_the_sub_agents_of_leaves_are_ignored_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """However many declare some; none where they may run."""
    declared = [
        sub_agent("a", sub_agents=[sub_agent("x")]),
        sub_agent("b", sub_agents=[sub_agent("y")]),
        sub_agent("c"),
    ]
    SubAgents(declared, runner=Runner())
    (record,) = caplog.records
    assert "['a', 'b']" in record.getMessage()
    caplog.clear()
    SubAgents(declared, runner=Runner(), max_depth=2)
    assert caplog.records == []


def test_sub_agents_go_into_another_process_as_data() -> None:
    """And come out as they were; a result type as its schema."""
    leaf = sub_agent("leaf", result_type={"type": "object"}, history_cap=0)
    spec = AgentSpec(
        command=("a", "b"),
        cwd="/",
        env={"A": None, "B": "x"},
        permission="allow",
        mcp_servers=[{"name": "m", "command": "m", "args": [], "env": []}],
        limits=Limits(run_timeout_seconds=None),
    )
    declared = (sub_agent("middle", agent=spec, sub_agents=[leaf]), leaf)
    data = json.loads(json.dumps(hand_down(declared)))
    assert take_over(data) == declared
    assert data[1]["agent"] == {"command": ["agent"]}


def test_a_function_cannot_go_into_another_process() -> None:
    """It is refused when the parent is built, not when the child misses it."""

    async def decide(request: Any) -> Any:
        raise NotImplementedError

    odd = sub_agent("odd", agent=AgentSpec(command=("a",), permission=decide))
    with pytest.raises(ValueError, match="sub-agent 'odd': its agent's permission cannot go into the process"):
        SubAgents([sub_agent("top", sub_agents=[odd])], runner=Runner(), max_depth=2)


def test_a_failure_carries_its_result_and_can_be_pickled() -> None:
    """As exceptions of worker pools have to be."""
    result = RunResult(status="completed", reason="end_turn", run_id="r", text="prose")
    copied = pickle.loads(pickle.dumps(SubAgentFailed("judge", result)))  # noqa: S301  # our own
    assert (copied.name, copied.result) == ("judge", result)
    assert str(copied).startswith("sub-agent 'judge' completed with plain text")
