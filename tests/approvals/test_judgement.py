"""Which answers fit a question: options by their kind, never by order; forms by their schema."""

import itertools
from typing import Any

import pytest

from acp_client.approvals.errors import WrongAnswer
from acp_client.approvals.judgement import judge
from acp_client.policy.approval import OfferedOption
from tests.approvals.questions import ALWAYS, NO, YES, approval, question, rejection

NEVER = OfferedOption("never", "Never", "reject_always")
ODD = OfferedOption("odd", "Odd", "perhaps")
OTHER_YES = OfferedOption("plan-b", "Yes, plan B", "allow_once")
FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer"}},
    "required": ["name"],
}


@pytest.mark.parametrize("subject", ["tool", "choice"])
def test_an_answer_never_turns_into_its_opposite(subject: Any) -> None:
    """Each option, with an approval and with a rejection, in every order."""
    for offered in itertools.permutations([YES, ALWAYS, NO, NEVER, ODD]):
        asked = question(subject=subject, options=offered)
        for option, answer in itertools.product(offered, (approval, rejection)):
            given = answer(option_id=option.id)
            if (option in (NO, NEVER)) == (given.action == "reject"):
                assert judge(asked, given) == option.id
            else:
                with pytest.raises(WrongAnswer, match=r"approves nothing|rejects nothing"):
                    judge(asked, given)


@pytest.mark.parametrize(
    ("offered", "picked"),
    [
        ([NO, YES], "yes"),
        ([NO, ALWAYS, NEVER], "always"),
        ([YES, YES, NO], "yes"),
        ([YES, OTHER_YES], "'yes', 'plan-b'"),
        ([YES, ALWAYS], "'yes', 'always'"),
        ([YES, ODD], "'yes', 'odd'"),
        ([ODD, NO], "'odd'"),
        ([YES, OfferedOption("yes", "No", "reject_once")], "'yes'"),
        ([NO, NEVER], "nothing to approve with"),
        ([], "nothing to approve with"),
    ],
)
def test_a_choice_between_several_ways_needs_a_person_to_pick(offered: list[OfferedOption], picked: str) -> None:
    """Only a single clear way to allow is taken without its name."""
    asked = question(subject="choice", options=tuple(offered))
    if picked in ("yes", "always"):
        assert judge(asked, approval()) == picked
    else:
        with pytest.raises(WrongAnswer, match=picked):
            judge(asked, approval())
    assert judge(asked, rejection()) is None


def test_an_option_that_is_not_offered_is_told_with_those_that_are() -> None:
    """Also where there are very many."""
    many = tuple(OfferedOption(f"o-{index}", "x", "allow_once") for index in range(1000))
    with pytest.raises(WrongAnswer, match=r"option 'ja' is not offered; there are: 'o-0', .* and 990 more") as caught:
        judge(question(options=many), approval(option_id="ja"))
    assert len(str(caught.value)) < 300


def test_an_id_with_two_meanings_is_not_picked() -> None:
    """The agent could read it as the other."""
    both = (YES, OfferedOption("yes", "No", "reject_once"))
    for answer in (approval(option_id="yes"), rejection(option_id="yes")):
        with pytest.raises(WrongAnswer, match="two meanings"):
            judge(question(options=both), answer)


def test_a_tool_call_is_approved_without_naming_an_option() -> None:
    """The run chooses by kind."""
    assert judge(question(options=(ALWAYS, NO)), approval()) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, r"asks for values \('name', 'age'\); give them as a JSON object with --content"),
        ({}, "'name' is required"),
        ({"name": "x"}, "at least 2"),
        ({"name": "xy", "age": "old"}, "whole number"),
        ({"name": "xy", "pet": "cat"}, "no field 'pet'"),
    ],
)
def test_a_form_is_approved_with_values_that_fit(content: Any, said: str) -> None:
    """What is wrong is said."""
    with pytest.raises(WrongAnswer, match=said):
        judge(question(subject="elicitation", schema=FORM), approval(content=content))


def test_a_form_that_fits_is_accepted_and_one_without_fields_needs_none() -> None:
    """And a rejection needs no values."""
    asked = question(subject="elicitation", schema=FORM)
    assert judge(asked, approval(content={"name": "xy"})) is None
    assert judge(asked, rejection()) is None
    assert judge(question(subject="elicitation", schema={"type": "object"}), approval()) is None


def test_values_are_for_forms_only() -> None:
    """They would be lost in silence."""
    for asked, answer in (
        (question(), approval(content={})),
        (question(subject="elicitation", schema=FORM), rejection(content={})),
    ):
        with pytest.raises(WrongAnswer, match="leave --content out"):
            judge(asked, answer)
