"""A structured value comes by its own way, whatever it is; text stays text."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted

COMPLETE = "_acp_subagents/complete"


async def play(folder: Path, scenario: dict[str, Any]) -> RunResult:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK))
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go")


VALUES: list[Any] = [
    {"trades": [{"id": 1, "price": 1.5, "note": None}]},
    "text",
    0,
    False,
    None,
    [],
    {"é \u2028": "🎉", "nested": {"deep": [[[{"x": []}]]]}},
]


@pytest.mark.row("STRUCT-1")
@pytest.mark.parametrize("value", VALUES, ids=lambda value: json.dumps(value)[:30])
async def test_any_json_value_can_be_the_structured_one(value: Any, tmp_path: Path) -> None:
    """Also without a word of text: it is an answer, and not empty."""
    result = await play(tmp_path, {"prompt": [{"complete": value}]})
    assert (result.status, result.reason, result.text) == ("completed", "end_turn", "")
    assert result.structured == value
    assert type(result.structured) is type(value)
    assert not result.flags.empty
    assert json.loads(result.model_dump_json())["structured"] == value


FENCED = """Here is the ```json you asked for:
```python
print("no JSON")
```
```json
{"draft": true}
```
and finally
```json
{"answer": 42}
```
"""


@pytest.mark.row("STRUCT-1")
async def test_text_beside_the_value_is_kept_and_not_looked_into(tmp_path: Path) -> None:
    """Fences, prose and several blocks change neither."""
    steps = [{"chunk": FENCED}, {"complete": {"answer": 7}}, {"chunk": '{"answer": 8}'}]
    result = await play(tmp_path, {"prompt": steps})
    assert result.text == FENCED + '{"answer": 8}'
    assert result.structured == {"answer": 7}


@pytest.mark.row("STRUCT-1")
@pytest.mark.parametrize("text", [FENCED, '{"answer": 42}'])
async def test_json_in_the_text_alone_is_text_where_no_type_was_asked_for(text: str, tmp_path: Path) -> None:
    """Nobody asked for a value, so none is guessed."""
    result = await play(tmp_path, {"prompt": [{"chunk": text}]})
    assert (result.reason, result.text, result.structured) == ("end_turn", text, None)


@pytest.mark.row("STRUCT-1")
async def test_the_first_value_of_the_turn_counts(tmp_path: Path) -> None:
    """Not one from before the prompt, for another session or without one; nor a second one."""
    foreign: list[Any] = ["other", None, 7]
    odd = [{"notify": {"method": COMPLETE, "params": {"sessionId": one, "result": "foreign"}}} for one in foreign]
    odd += [{"notify": {"method": COMPLETE, "params": {"result": "nobody's"}}}]
    early = {"notify": {"method": COMPLETE, "params": {"sessionId": "s-1", "result": "early"}}}
    scenario = {
        "new_session": [early, *odd],
        "prompt": [*odd, {"complete": {"first": 1}}, {"complete": {"second": 2}}, *odd],
    }
    result = await play(tmp_path, scenario)
    assert result.structured == {"first": 1}


@pytest.mark.row("STRUCT-1", "ORDER-1")
async def test_a_value_after_the_answer_is_taken_like_late_text(tmp_path: Path) -> None:
    """Some agents send it last."""
    result = await play(tmp_path, {"prompt": [{"stop": "end_turn"}, {"complete": {"late": 1}}]})
    assert result.structured == {"late": 1}


@pytest.mark.row("STRUCT-1")
@pytest.mark.parametrize(
    "end", [{"stop": "refusal"}, {"exit": 3}, {"error": {"message": "boom"}}], ids=["stop", "exit", "error"]
)
async def test_a_value_does_not_make_a_success_of_a_failure(end: dict[str, Any], tmp_path: Path) -> None:
    """It is kept as partial text is."""
    result = await play(tmp_path, {"prompt": [{"complete": {"n": 1}}, end]})
    assert result.status == "error"
    assert result.structured == {"n": 1}


@pytest.mark.row("STRUCT-1", "SCHEMA-2")
async def test_a_completion_without_a_value_is_null(tmp_path: Path) -> None:
    """Absent is null; params that are none are no completion."""
    note = {"notify": {"method": COMPLETE, "params": {"sessionId": "s-1"}}}
    result = await play(tmp_path, {"prompt": [{"notify": {"method": COMPLETE, "params": None}}, note]})
    assert (result.reason, result.structured, result.flags.empty) == ("end_turn", None, False)
