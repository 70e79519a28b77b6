"""What is no permission, between both real sides: choices and forms go to the approver or are refused."""

from typing import Any

import pytest

from acp_client import Decision, PermissionPolicy, PermissionRequest, Rule
from acp_client.protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND
from tests.interaction.asking import OPTIONS, Person, Requests, call, decisions
from tests.interaction.talk import Doer, talking

# ---- what is no permission

PLANS = [
    {"optionId": "auto", "name": "Yes, and accept edits", "kind": "allow_always"},
    {"optionId": "manual", "name": "Yes, I look at edits", "kind": "allow_once"},
    {"optionId": "stay", "name": "No, keep planning", "kind": "reject_once"},
]
ODD = [{"optionId": "a", "name": "A", "kind": "maybe"}, {"optionId": "b", "name": "B", "kind": "maybe"}]

CHOICES: dict[str, tuple[dict[str, Any], list[Any], Decision, str | None, str]] = {
    "a plan, plainly allowed": ({"kind": "switch_mode"}, PLANS, Decision.allow(), "stay", "reject"),
    "a plan, one picked": ({"kind": "switch_mode"}, PLANS, Decision.select("auto"), "auto", "allow"),
    "a plan, the no picked": ({"kind": "switch_mode"}, PLANS, Decision.select("stay"), "stay", "reject"),
    "a plan, what is not there picked": ({"kind": "switch_mode"}, PLANS, Decision.select("x"), "stay", "reject"),
    "two that do alike": (
        {"kind": "edit"},
        [*OPTIONS, {**OPTIONS[0], "optionId": "z"}],
        Decision.allow(),
        "n",
        "reject",
    ),
    "unknown kinds, plainly allowed": ({"kind": "edit"}, ODD, Decision.allow(), None, "reject"),
    "unknown kinds, one picked": ({"kind": "edit"}, ODD, Decision.select("b"), "b", "allow"),
}


@pytest.mark.odd_frames
@pytest.mark.parametrize("policy", ["allow", "ask"])
@pytest.mark.parametrize("name", CHOICES)
async def test_a_choice_goes_to_the_approver_and_no_order_decides(name: str, policy: Any) -> None:
    """Also where the policy allows tools; a choice is never remembered."""
    fields, options, decision, sent, action = CHOICES[name]
    turn, person = Requests(*[{**call({}, **fields), "options": options}] * 2), Person(decision)
    async with talking(Doer(turn.deed), permission=policy, approver=person) as talk:
        await talk.prompt()
        assert [question.subject for question in person.questions] == ["choice"] * 2
        assert turn.sent == [sent] * 2
        assert [(record.subject, record.action) for record in talk.session.permissions.records] == [
            ("choice", action)
        ] * 2


async def test_a_rule_that_names_the_kind_decides_where_there_is_one_way_to_allow() -> None:
    """Two ways are a person's to choose between, whatever the rule says."""
    policy = PermissionPolicy(rules=[Rule(kind="switch_mode", action="allow")])
    one_way = {**call(kind="switch_mode"), "options": PLANS[1:]}
    turn = Requests(one_way, {**call(kind="switch_mode"), "options": PLANS})
    async with talking(Doer(turn.deed), permission=policy) as talk:
        await talk.prompt()
        assert turn.sent == ["manual", "stay"]
        assert [by for _, by, _ in decisions(talk)] == ["rule 1: allow kind switch_mode", "no approver"]


async def test_a_callable_is_asked_about_choices_too_and_may_pick() -> None:
    """It has seen the kind, so its plain allow is by kind; but between two that do alike it must pick."""
    twins = [*OPTIONS, {**OPTIONS[0], "optionId": "z"}]
    asked = [
        ({**call(kind="switch_mode"), "options": PLANS}, Decision.allow(), "manual"),
        ({**call(kind="switch_mode"), "options": PLANS}, Decision.select("auto"), "auto"),
        ({**call(), "options": twins}, Decision.allow(), "n"),
        ({**call(), "options": twins}, Decision.select("z"), "z"),
    ]
    for params, decision, sent in asked:

        async def decide(_request: PermissionRequest, decision: Decision = decision) -> Decision:
            return decision

        turn = Requests(params)
        async with talking(Doer(turn.deed), permission=decide) as talk:
            await talk.prompt()
            assert turn.sent == [sent]


# ---- forms

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2},
        "size": {"type": "integer", "minimum": 1},
        "colour": {"type": "string", "enum": ["red", "blue"]},
    },
    "required": ["name"],
}
FORM = {"mode": "form", "message": "Who are you?", "requestedSchema": SCHEMA}
DECLINED = {"action": "decline"}

FILLED: dict[str, tuple[Decision, dict[str, Any], str]] = {
    "as asked": (
        Decision.fill({"name": "Kim", "size": 3}),
        {"action": "accept", "content": {"name": "Kim", "size": 3}},
        "",
    ),
    "declined": (Decision.reject("no"), DECLINED, "no"),
    "plainly allowed": (Decision.allow(), DECLINED, "Decision.fill"),
    "a required field left out": (Decision.fill({"size": 3}), DECLINED, "'name' is required"),
    "too short": (Decision.fill({"name": "K"}), DECLINED, "at least 2 characters"),
    "another type": (Decision.fill({"name": "Kim", "size": "3"}), DECLINED, "'size' must be a whole number"),
    "a boolean for a number": (Decision.fill({"name": "Kim", "size": True}), DECLINED, "whole number"),
    "too small": (Decision.fill({"name": "Kim", "size": 0}), DECLINED, "at least 1"),
    "none of the values": (Decision.fill({"name": "Kim", "colour": "green"}), DECLINED, "offered values"),
    "a field that is not there": (Decision.fill({"name": "Kim", "age": 3}), DECLINED, "no field 'age'"),
}


@pytest.mark.parametrize("name", FILLED)
async def test_a_form_is_sent_as_filled_in_if_it_fits(name: str) -> None:
    """What does not fit is never sent; the record says why, and holds no value."""
    decision, answer, why = FILLED[name]
    turn, person = Requests(FORM, method="elicitation/create"), Person(decision)
    async with talking(Doer(turn.deed), approver=person) as talk:
        await talk.prompt()
        assert turn.answers == [answer]
        (question,) = person.questions
        assert (question.subject, question.title, question.schema) == ("elicitation", "Who are you?", SCHEMA)
        (record,) = talk.session.permissions.records
        assert (record.subject, record.outcome) == ("elicitation", answer["action"].removesuffix("e") + "ed")
        assert why in (record.why or "")
        assert "green" not in record.model_dump_json()


@pytest.mark.odd_frames
@pytest.mark.parametrize(
    "params",
    [
        {"mode": "url", "message": "?", "url": "https://x.example", "elicitationId": "e"},
        {"mode": "dance", "message": "?"},
        {"mode": "form", "message": "?"},
    ],
)
async def test_a_mode_that_is_not_served_is_an_error(params: dict[str, Any]) -> None:
    """Never a pretended answer, and nobody is asked."""
    turn, person = Requests(params, method="elicitation/create"), Person()
    async with talking(Doer(turn.deed), approver=person) as talk:
        await talk.prompt()
        assert (turn.answers, person.questions) == ([INVALID_PARAMS], [])


@pytest.mark.odd_frames
async def test_forms_are_served_only_with_an_approver_who_serves_them() -> None:
    """Without one, the method is not there."""
    person = Person()
    person.serves_forms = False  # type: ignore[attr-defined]  # what an approver may say of itself
    for approver in (None, person):
        turn = Requests(FORM, method="elicitation/create")
        async with talking(Doer(turn.deed), approver=approver) as talk:
            await talk.prompt()
            assert turn.answers == [METHOD_NOT_FOUND]
