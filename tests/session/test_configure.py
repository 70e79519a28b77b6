"""Mode, model and options: by id, category or name, and only what is offered."""

from collections.abc import Callable
from typing import Any

import pytest

from acp_client.outcome.result import Stage
from acp_client.protocol.models import NewSessionResponse
from acp_client.protocol.peer import Settled
from acp_client.session.connection import configure
from acp_client.session.ending import EndRun
from acp_client.spec import AgentSpec

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}, {"id": "x", "name": "Plan"}],
}


def select(option_id: str, category: str | None, current: str, *values: str) -> dict[str, Any]:
    """A select with these values; the name of a value is its id in capitals."""
    return {
        "id": option_id,
        "name": option_id,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": [{"value": value, "name": value.upper()} for value in values],
    }


MODEL = select("llm", "model", "small", "small", "large")
GROUPED = select("llm", "model", "small") | {
    "options": [
        {"group": "a", "name": "A", "options": [{"value": "small", "name": "Small"}]},
        {"group": "b", "name": "B", "options": [{"value": "large", "name": "Large"}, {"value": "l2", "name": "large"}]},
    ]
}
MODE_OPTION = select("m", "mode", "ask", "ask", "code")
BOOLEAN = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
ODD = {"id": "slider", "name": "Slider", "type": "slider", "currentValue": 3}


class Settings:
    """An agent whose options change as they are set."""

    def __init__(self, answer: Any = None) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer

    async def ask(
        self, stage: Stage, method: str, params: dict[str, Any], on_settled: Callable[[Settled], None] | None = None
    ) -> Any:
        """The complete list."""
        assert (stage, on_settled) == ("session", None)
        self.sent.append((method, {key: value for key, value in params.items() if key != "sessionId"}))
        assert params["sessionId"] == "s"
        return {"configOptions": []} if self._answer is None else self._answer


async def configured(session: dict[str, Any], answer: Any = None, **wishes: Any) -> list[tuple[str, dict[str, Any]]]:
    """What is sent for these wishes."""
    settings = Settings(answer)
    response = NewSessionResponse.from_wire({"sessionId": "s"} | session)
    await configure(settings, "s", response, AgentSpec(command=("a",), **wishes))
    return settings.sent


def option(config_id: str, value: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    """The request that sets one."""
    return ("session/set_config_option", {"configId": config_id, "value": value, **more})


# the session; the wishes; what is sent
SENT: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, dict[str, Any]]]]] = {
    "a mode by id": ({"modes": MODES}, {"mode": "code"}, [("session/set_mode", {"modeId": "code"})]),
    "a mode by name": ({"modes": MODES}, {"mode": "plan"}, [("session/set_mode", {"modeId": "x"})]),
    "the mode that it has": ({"modes": MODES}, {"mode": "Ask"}, []),
    "a mode where options supersede modes": (
        {"modes": MODES, "configOptions": [MODE_OPTION]},
        {"mode": "code"},
        [option("m", "code")],
    ),
    "a model by category": ({"configOptions": [MODEL]}, {"model": "large"}, [option("llm", "large")]),
    "a model by its name": ({"configOptions": [MODEL]}, {"model": "LARGE"}, [option("llm", "large")]),
    "a model in a group": ({"configOptions": [GROUPED]}, {"model": "l2"}, [option("llm", "l2")]),
    "the model that it has": ({"configOptions": [MODEL]}, {"model": "small"}, []),
    "an option by id before one by category": (
        {"configOptions": [select("a", "model", "x", "x", "large"), select("model", None, "x", "x", "large")]},
        {"model": "large"},
        [option("model", "large")],
    ),
    "a boolean": (
        {"configOptions": [ODD, BOOLEAN]},
        {"config_options": {"fast": True}},
        [option("fast", True, type="boolean")],
    ),
    "the boolean that it has": ({"configOptions": [BOOLEAN]}, {"config_options": {"fast": False}}, []),
}


@pytest.mark.parametrize("name", SENT)
async def test_a_setting_is_sent_unless_it_is_current(name: str) -> None:
    """By the ids of the agent."""
    session, wishes, sent = SENT[name]
    assert await configured(session, **wishes) == sent


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a mode that is not there": ({"modes": MODES}, {"mode": "yolo"}, "ask, code, x"),
    "a mode where there are none": ({}, {"mode": "code"}, "nor any other"),
    "a mode where modes are null": ({"modes": None}, {"mode": "code"}, "nor any other"),
    "a mode that its option lacks": ({"modes": MODES, "configOptions": [MODE_OPTION]}, {"mode": "x"}, "ask, code"),
    "a model where there are no options": ({}, {"model": "large"}, "model 'large'"),
    "a model that is not there": ({"configOptions": [MODEL]}, {"model": "huge"}, "small, large"),
    "a name that two values have": ({"configOptions": [GROUPED]}, {"model": "LARGE"}, "small, large, l2"),
    "an option of a kind that nobody knows": ({"configOptions": [ODD]}, {"config_options": {"slider": "3"}}, "slider"),
    "a word for a boolean": ({"configOptions": [BOOLEAN]}, {"config_options": {"fast": "true"}}, "true, false"),
    "a boolean for a select": ({"configOptions": [MODEL]}, {"config_options": {"llm": True}}, "small, large"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_setting_that_is_not_offered_ends_the_run(name: str) -> None:
    """The message says what there is."""
    session, wishes, says = REFUSED[name]
    with pytest.raises(EndRun) as caught:
        await configured(session, **wishes)
    assert caught.value.ending.reason == "unsupported_capability"
    assert says in caught.value.ending.message


async def test_the_answer_to_one_setting_says_what_the_next_may_be() -> None:
    """It is the complete list: another model may bring other options."""
    after = {
        "configOptions": [MODEL | {"currentValue": "large"}, select("effort", "thought_level", "low", "low", "high")]
    }
    wishes: dict[str, Any] = {"model": "large", "config_options": {"thought_level": "high"}}
    assert await configured({"configOptions": [MODEL]}, after, **wishes) == [
        option("llm", "large"),
        option("effort", "high"),
    ]


@pytest.mark.parametrize("answer", [5, {"other": []}])
async def test_an_answer_without_the_list_is_a_protocol_error(answer: Any) -> None:
    """Without it nobody knows what was set."""
    with pytest.raises(EndRun) as caught:
        await configured({"configOptions": [MODEL]}, answer, model="large")
    assert caught.value.ending.reason == "protocol_error"
    assert "session/set_config_option" in caught.value.ending.message
