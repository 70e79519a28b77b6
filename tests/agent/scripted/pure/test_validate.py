import json
import re
from pathlib import Path
from typing import Any

import pytest

from acp_agent.scripted.load import ScenarioError, load
from acp_agent.scripted.validate import problems
from acp_agent.scripted.vocabulary import HOOK, SCENARIO, STEPS, WORD_LISTS, Word


def only_problem(**scenario: Any) -> str:
    """The one thing that is wrong with a scenario."""
    (found,) = problems(scenario, {})
    return found


def problem_of(text: str, tmp_path: Path, name: str = "s.yaml") -> str:
    """What is said about a file of this text, without the file's name."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load(str(path), {})
    first, _, rest = str(caught.value).partition(f"{path}: ")
    assert first == ""
    return rest


def test_an_unknown_step_names_its_place_and_the_nearest_word() -> None:
    """The place is the path inside the scenario."""
    found = only_problem(prompt=[{"chunk": "a"}, {"thought": "b"}, {"chnk": "c"}])
    assert found == (
        "prompt[2].chnk: unknown word; a step is one of the known words (see `--help` for all words);"
        " did you mean `chunk`?"
    )


def test_an_unknown_key_lists_the_few_that_there_are() -> None:
    """Few choices are listed; a key that resembles none gets no guess."""
    found = only_problem(prompt=[{"permission": {"on": {"zzz": []}}}])
    assert found == (
        "prompt[0].permission.on.zzz: unknown word; prompt[0].permission.on takes allowed, rejected, cancelled, error"
    )


def test_an_unknown_key_at_the_top_is_named() -> None:
    """The top of the file is a mapping of words too."""
    found = only_problem(on_cancle="obey")
    assert found.startswith("on_cancle: unknown word; a scenario takes the known words")
    assert found.endswith("did you mean `on_cancel`?")


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        ({"chunk": 300}, "chunk: must be a text or a mapping, not the number 300"),
        ({"chunk": {}}, "chunk: needs exactly one of text, content"),
        ({"chunk": {"text": "a", "size": -1}}, "chunk.size: must be a whole number that is not negative"),
        ({"chunk": {"text": "a", "size": True}}, "chunk.size: must be a whole number that is not negative, not true"),
        ({"tool_call": []}, "tool_call: must be a mapping, not a list"),
        ({"plan": {}}, "plan: must be a list, not a mapping"),
        ({"permission": None}, "permission: must be a mapping, not null"),
        ({"request": {}}, "request: `method` is missing"),
        ({"request": {"method": "a", "wait": False, "on": {}}}, "request.on: needs the answer, but `wait` is false"),
        ({"on_cancel": "obay"}, "on_cancel: must be `obey` or `ignore` or `end_turn`"),
        ({"answer": {"result": 1, "error": {}}}, "answer: needs exactly one of result, error"),
        ({"answer": {"result": 1, "id_as": "int"}}, "answer.id_as: must be `string` or `float`"),
        ({"raw": {"hex": "zz"}}, "raw.hex: must be a text of hexadecimal digits, not the text 'zz'"),
        ({"raw": {"base64": "?"}}, "raw.base64: must be a text of base64"),
        ({"raw": {"text": "a", "bytewise": 1}}, "raw.bytewise: must be true or false"),
        ({"delay": "1"}, "delay: must be a number, not the text '1'"),
        ({"hang": False}, "hang: must be true, not false"),
        ({"spawn": {"argv": ["a", 1]}}, "spawn.argv: must be a list of texts"),
        ({"spawn": {"env": {"A": 1}}}, "spawn.env: must be a mapping of texts"),
        ({"spawn": {"inherit": ["stdout", "stdlog"]}}, "spawn.inherit: the text 'stdlog' is unknown; it takes stdin"),
        ({"ignore": "SIGKILL"}, "ignore: the text 'SIGKILL' is unknown; it takes SIGTERM, SIGINT, SIGHUP, eof, stdin"),
        ({"close": [1]}, "close: the number 1 is unknown"),
        ({"signal": "SIGNONE"}, "signal: must be `SIGKILL` or"),
        ({"repeat": {"steps": []}}, "repeat: needs exactly one of times, forever, until_cancel"),
        ({"repeat": {"times": 1, "steps": [{"chnk": 1}]}}, "repeat.steps[0].chnk: unknown word"),
        ("wait_cance", "wait_cance: unknown word; a step is one of the known words"),
        ("chunk", "chunk: must be a text or a mapping, not true"),
        ({1: 2}, "1: unknown word"),
    ],
)
def test_a_wrong_step_is_told_its_rule(step: Any, rule: str) -> None:
    """Every form has its rule, and the place comes first."""
    assert only_problem(prompt=[step]).startswith(f"prompt[0].{rule}")


@pytest.mark.parametrize(
    ("step", "found"), [({}, "0 words"), ({"chunk": "a", "delay": 1}, "2 words"), (7, "the number 7"), ([], "a list")]
)
def test_a_step_is_one_word(step: Any, found: str) -> None:
    """Two words in one mapping have no order."""
    assert only_problem(start=[step]) == f"start[0]: a step is a mapping with exactly one word, not {found}"


@pytest.mark.parametrize(
    ("scenario", "rule"),
    [
        ({"prompt": [], "prompts": []}, "prompts: give either `prompt` or `prompts`, not both"),
        ({"prompts": [[{"chnk": ""}], 5]}, "prompts[0][0].chnk: unknown word"),
        ({"new_session": 5}, "new_session: must be a list of steps or a mapping, not the number 5"),
        ({"new_session": {"reslt": 5}}, "new_session.reslt: unknown word"),
        ({"new_session": [{"chnk": 5}]}, "new_session[0].chnk: unknown word"),
        ({"new_session": {"result": 5, "error": {}}}, "new_session: takes only one of result, error, add"),
        ({"new_session": {"each": [{"x": 1}]}}, "new_session.each[0].x: unknown word"),
        ({"new_session": {"each": [], "before": []}}, "new_session: takes nothing beside `each`"),
        ({"methods": {"_vendor/x": {"x": 1}}}, "methods._vendor/x.x: unknown word"),
        ({"methods": []}, "methods: must be a mapping of hooks, not a list"),
        ({"on_signal": {"SIGKILL": "exit"}}, "on_signal.SIGKILL: unknown word"),
        ({"on_eof": "obey"}, "on_eof: must be `exit` or `ignore` or a list of steps"),
    ],
)
def test_a_wrong_word_at_the_top_is_told_its_rule(scenario: Any, rule: str) -> None:
    """Hooks, turns and signals are checked to the bottom."""
    assert problems(scenario, {})[0].startswith(rule)


def test_a_scenario_is_a_mapping() -> None:
    """A list of steps alone is no scenario."""
    assert problems([], {}) == ["a scenario is a mapping of words, not a list; see `--help` for all words"]
    assert problems(None, {})[0].startswith("a scenario is a mapping of words, not null")


def test_a_placeholder_is_built_in_or_saved_or_in_the_environment() -> None:
    """A misspelt placeholder is found before the scenario is played."""
    steps = [{"request": {"method": "m", "save": "file"}}, {"chunk": "${file.result} ${HOME} $${x} ${id}"}]
    assert problems({"prompt": steps, "about": "${anything}"}, {"HOME"}) == []
    (found,) = problems({"prompt": [{"chunk": {"text": "a ${sesion}"}}]}, {"HOME"})
    assert found.startswith("prompt[0].chunk.text: ${sesion} is neither built in (id, session, ")
    assert found.endswith("write $${sesion} for the text")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The message is the operating system's, without a traceback."""
    with pytest.raises(ScenarioError, match=re.escape(f"{tmp_path}/no.json: cannot be read: No such file")):
        load(f"{tmp_path}/no.json", {})


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    """The place is a byte."""
    (tmp_path / "s.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(ScenarioError, match="is not UTF-8 at byte 7"):
        load(str(tmp_path / "s.json"), {})


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("prompt:\n  - chunk: 'a\n", "is not YAML at line 3, column 1: found unexpected end of stream"),
        ("a: [\n}", "is not YAML at line 2, column 1: "),
        ("about: a\nabout: b\n", "is not YAML at line 1, column 1: the key 'about' is given twice in one mapping"),
        ("about: \x01\n", "is not YAML: "),
        ("prompt:\n  - chunk: yes\n  - hang: 5\n", "prompt[1].hang: must be true, not the number 5"),
        ("start: [{noise: [1:30]}]", "start[0].noise: must be a text, not a list"),
        ("", "a scenario is a mapping of words, not null"),
    ],
)
def test_yaml_that_cannot_be_used_is_told_where(tmp_path: Path, text: str, rule: str) -> None:
    """Lines and columns count from one."""
    assert problem_of(text, tmp_path).startswith(rule)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"prompt": [\n}', "is not JSON at line 2, column 1: Expecting value"),
        ('{"about": "a", "about": "b"}', "the key 'about' is given twice in one mapping"),
    ],
)
def test_json_that_cannot_be_used_is_told_where(tmp_path: Path, text: str, rule: str) -> None:
    """As for YAML."""
    assert problem_of(text, tmp_path, "s.json").startswith(rule)


def test_yaml_has_the_plain_words_of_json(tmp_path: Path) -> None:
    """`on` is a key, `yes` and a date are texts; numbers and anchors are as ever."""
    path = tmp_path / "s.YML"
    path.write_text(
        "prompt:\n"
        "  - update: {on: yes, a: 2026-01-01, b: 1:30, c: 1.5e3, d: -3, e: ~, f: true, g: }\n"
        "  - update: &x {a: 1}\n"
        "  - update: {<<: *x, b: 010}\n"
    )
    first, _, third = load(str(path), {})["prompt"]
    expected = {"on": "yes", "a": "2026-01-01", "b": "1:30", "c": 1500.0, "d": -3, "e": None, "f": True, "g": None}
    assert first == {"update": expected}
    assert third == {"update": {"a": 1, "b": "010"}}


def test_many_problems_are_cut(tmp_path: Path) -> None:
    """Each problem is a line of its own, with the file."""
    text = json.dumps({"prompt": [{"chnk": 1}] * 50})
    assert len(problem_of(text, tmp_path, "s.json").splitlines()) == 20


def test_every_word_has_a_doc_and_a_known_form() -> None:
    """The tables hold no typing error: every form checks a value without failing."""

    def all_words(words: dict[str, Word]) -> list[tuple[str, Word]]:
        found = list(words.items())
        for word in words.values():
            found += all_words(dict(word.keys))
        return found

    for name, word in all_words({**SCENARIO, **HOOK, **STEPS}):
        assert word.doc, name
        assert set(word.needs) <= set(word.keys), name
        assert set(word.one_of) <= set(word.keys), name
        assert "words" not in word.forms or name in WORD_LISTS, name
        assert not word.keys or "keys" in word.forms, name
    for name, word in SCENARIO.items():
        problems({name: object()}, {})
        assert word.forms
    for name in STEPS:
        problems({"prompt": [{name: object()}]}, {})
