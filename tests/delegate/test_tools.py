"""Sub-agents as tools: names, schemas and handlers in the shapes of others."""

from collections.abc import Coroutine
from typing import Any

import anyio
import pytest

from acp_client import AgentSpec, DelegateTool, Runner, SubAgent, SubAgents, ToolReply
from acp_client.delegate.given.history import snapshot


def tool(asked: list[dict[str, Any]]) -> DelegateTool:
    """A tool that notes what it is asked."""

    def ask(name: str, **arguments: Any) -> Coroutine[Any, Any, ToolReply]:
        async def answer() -> ToolReply:
            asked.append({"name": name, **arguments})
            return ToolReply(name, "approved", is_error=False, sub_agent_trace=({"agent": "a"},))

        return answer()

    return DelegateTool("judge", "Judges trades", ask)


def test_each_declared_one_is_a_tool_with_its_name_and_description() -> None:
    """In their order; the schema is a copy."""
    spec = AgentSpec(command=("agent",))
    declared = [SubAgent(name=name, description=f"Is {name}", agent=spec) for name in ("b", "a")]
    tools = SubAgents(declared, runner=Runner()).as_tools()
    assert [(one.name, one.description) for one in tools] == [("b", "Is b"), ("a", "Is a")]
    tools[0].schema["required"].append("x")
    assert tools[0].schema["required"] == ["task"]


def test_the_shapes_are_those_of_the_apis() -> None:
    """OpenAI, Anthropic and MCP, each with the same schema."""
    one = tool([])
    assert one.schema["properties"].keys() == {"task", "context"}
    assert one.to_openai() == {
        "type": "function",
        "function": {"name": "judge", "description": "Judges trades", "parameters": one.schema},
    }
    assert one.to_anthropic() == {"name": "judge", "description": "Judges trades", "input_schema": one.schema}
    assert one.to_mcp() == {"name": "judge", "description": "Judges trades", "inputSchema": one.schema}


async def test_a_handler_gives_the_text_for_the_model_and_no_trace() -> None:
    """The reply has both."""
    asked: list[dict[str, Any]] = []
    assert await tool(asked).handler(task="Judge it", context={"a": 1}) == "approved"
    assert (await tool(asked).reply(task="Again")).sub_agent_trace == ({"agent": "a"},)
    assert asked == [
        {"name": "judge", "task": "Judge it", "context": {"a": 1}},
        {"name": "judge", "task": "Again"},
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "the argument `task` is missing"), ({"task": "x", "tsk": 1}, "it has no argument 'tsk'")],
)
async def test_wrong_arguments_of_a_model_are_an_answer_to_it(arguments: dict[str, Any], message: str) -> None:
    """And no error of the program."""
    asked: list[dict[str, Any]] = []
    reply = await tool(asked).reply(**arguments)
    assert reply.is_error
    assert message in reply.for_model()
    assert asked == []


def test_pydantic_ai_takes_it_as_one_of_its_tools() -> None:
    """With the same schema, and calls it by the model's arguments; its messages are a history as they are."""
    ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    models = pytest.importorskip("pydantic_ai.models.test")
    asked: list[dict[str, Any]] = []
    one = tool(asked).to_pydantic_ai()
    assert (one.name, one.description) == ("judge", "Judges trades")
    agent = ai.Agent(models.TestModel(), tools=[one], instructions="Be brief.")
    answer = anyio.run(agent.run, "Judge it")  # on asyncio: pydantic-ai knows no other
    assert "approved" in answer.output
    assert [call["name"] for call in asked] == ["judge"]
    assert isinstance(asked[0]["task"], str)
    told = snapshot(answer.all_messages(), 0)
    kinds = [part["part_kind"] for message in told for part in message["parts"]]
    assert kinds == ["user-prompt", "tool-call", "tool-return", "text"]
    assert told[0]["parts"][0]["content"] == "Judge it"
    assert (told[0]["instructions"], told[2]["parts"][0]["content"]) == ("Be brief.", "[masked]")


def test_a_history_that_is_no_function_is_refused_when_the_tools_are_made() -> None:
    """It is asked at each call for the messages of that moment; a list would be those of one."""
    messages: Any = [{"role": "user", "content": "Book it."}]
    with pytest.raises(TypeError, match="history must be a function, or None; it is of type list"):
        SubAgents([], runner=Runner()).as_tools(history=messages)
