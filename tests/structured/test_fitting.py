"""Where the value of an answer is: the last one that fits, in whatever way it was written."""

import datetime as dt
import time
from contextlib import suppress
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from acp_client.structured.faults import OutputInvalid
from acp_client.structured.fitting import last_fitting
from acp_client.structured.output_type import OutputType


class Verdict(BaseModel):
    """What is looked for."""

    ok: bool
    why: str = ""


VERDICT = OutputType(Verdict)

FENCED = """Here is the ```json you asked for:
```python
print("no JSON", [1, 2])
```
```json
{"ok": true, "why": "draft"}
```
and finally
%s
{"ok": false, "why": "```"}
%s
"""

ANSWERS: list[tuple[Any, str, Any]] = [
    (Verdict, '{"ok": true}', Verdict(ok=True)),
    (Verdict, FENCED % ("```", "```"), Verdict(ok=False, why="```")),
    (Verdict, FENCED % ("~~~~ JSON5 of sorts", "~~~~"), Verdict(ok=False, why="```")),
    (Verdict, FENCED % ("```json", ""), Verdict(ok=False, why="```")),
    (Verdict, 'So {"ok": true}, I think; {"no": 1} and [see] {x | x > 0}.', Verdict(ok=True)),
    (Verdict, 'First {"ok": true}, then {"ok": false}.', Verdict(ok=False)),
    (Verdict, 'He said "use {"ok": true}" now', Verdict(ok=True)),
    (Verdict, 'It begins with [" or so. {"ok": true}', Verdict(ok=True)),
    (Verdict, 'Broken: {"ok": tru then\n```\n{"ok": true}\n```', Verdict(ok=True)),
    (Verdict, 'return {"ok": true}; }', Verdict(ok=True)),
    (Verdict, "f() { return " + '{"ok": true}; }', Verdict(ok=True)),
    (list[int], "from [1, 2] to [3, 4]", [3, 4]),
    (list[int], '{"value": [1]}', [1]),
    (list[list[int]], "[[1], [2]]", [[1], [2]]),
    (int, "42", 42),
    (int, "The answer is 42.", 42),
    (int, "Answer:42", 42),
    (int, "```\n42\n```\nIt took 3 steps.", 42),
    (int, '{"a": 3} 4', 4),
    (int, '{"value": 7}', 7),
    (float, "about -1.5e3, in **dollars**", -1500.0),
    (bool, "That is `true`", True),
    (int | None, "null", None),
    (str, ' as "it" is\n{"ok": true}', ' as "it" is\n{"ok": true}'),
    (dt.date, "2026-01-02\n", dt.date(2026, 1, 2)),
    (dt.date, 'On "2026-01-02".', dt.date(2026, 1, 2)),
    (Literal["yes", "no"], 'The answer is "yes".', "yes"),
    (Literal["yes", "no"], "yes\n", "yes"),
    (Verdict | str, 'I say "x" and 3', 'I say "x" and 3'),
    (Verdict | str, 'I say {"ok": true}', Verdict(ok=True)),
    ({"type": "object", "required": ["a"]}, '{"a": 1} {"b": 2}', {"a": 1}),
    (int, "[" * 100_000 + " 42", 42),
]


@pytest.mark.parametrize(("kind", "text", "value"), ANSWERS)
def test_the_last_value_that_fits_is_the_answer(kind: Any, text: str, value: Any) -> None:
    """Whole, fenced, in prose; parts of another value are none."""
    found = last_fitting(text, OutputType(kind))
    assert found == value
    assert type(found) is type(value)


WITHOUT: list[tuple[Any, str, str]] = [
    (Verdict, "", "the answer is empty"),
    (str, " \n", "the answer is empty"),
    (Verdict, "I cannot say. It took 3 steps.", "holds no JSON value"),
    (Verdict, '{"ok": "perhaps"} or {"ok": []}', "$.ok: should be a valid boolean (it is an array)"),
    (Verdict, '{"ok": true,, "more": {"ok": false}}', "is no JSON: "),
    (Verdict, "{'ok': true, 'in': " + '{"ok": true}}', "is no JSON: "),
    (Verdict, '```json\n{"ok": true\n```\n', "is no JSON: "),
    (Verdict, '{"list": [{"ok": true}, {"ok": true', "line 1 column"),
    (Verdict, '{"ok": true, "why": "a\nb"}', "is no JSON: "),
    (int, "on 2026-01-02 at 12:30, v1.2.3, 1,000, 007, x3, 50%", "holds no JSON value"),
    (float, "NaN", "holds no JSON value"),
    (float, "1e999", "holds no JSON value"),
    (list[float], "[NaN]", "NaN is no JSON"),
    (list[float], "[-Infinity]", "-Infinity is no JSON"),
    (list[float], "[1e999]", "beyond every float"),
    (list[int], f"[{'9' * 5000}]", "is no JSON: "),
    (int, '{"a": 42}', "(it is an object)"),
]


@pytest.mark.parametrize(("kind", "text", "said"), WITHOUT)
def test_without_a_value_that_fits_the_last_attempt_is_told(kind: Any, text: str, said: str) -> None:
    """A value that does not fit, or what was meant as JSON and is none."""
    with pytest.raises(OutputInvalid) as caught:
        last_fitting(text, OutputType(kind))
    assert said in str(caught.value)


UNITS = ["{", "[", '{"', '["', '{"a":', "[1,", "[[],", '{"a",', '["x" ', '"', '{"a":"\\"', "```\n", "{}", '["\n', "1 "]
UNITS += ["[NaN ", '"{" ', "{'a'", "[ ", '"\\', "[" + "9" * 5000, '{"a" \n```\n']


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: repr(unit[:8]))
def test_a_hostile_text_costs_time_in_proportion_at_most(unit: str) -> None:
    """A hundred kilobytes of what begins and never ends; quadratic work would take minutes."""
    began = time.process_time()
    with pytest.raises(OutputInvalid):
        last_fitting(unit * (100_000 // len(unit)) + " {", VERDICT)
    assert time.process_time() - began < 10


def test_a_value_after_very_much_of_anything_is_found() -> None:
    """The end of a text is looked at first where it cannot all be."""
    for unit in ("{}", '["', "{'a' ", "x" * 1000):
        assert last_fitting(unit * 100_000 + '\n"}] {"ok": true}', VERDICT) == Verdict(ok=True)


@given(before=st.text(alphabet='ab {}[]":,\\\n`1', max_size=40), after=st.text(alphabet="ab .\n", max_size=10))
def test_no_text_around_breaks_the_search(before: str, after: str) -> None:
    """It ends in a value or in its one error."""
    with suppress(OutputInvalid):  # an open string or bracket before it may hide it
        assert last_fitting(f'{before}\n{{"ok": true}}{after}', VERDICT).ok in (True, False)
