"""A script as a file: what is written is read again, names are safe everywhere, damage is told with its line."""

import json
from typing import Any

import pytest

from acp_agent.model.mismatch import DamagedScript, SwappedScript, cause_in
from acp_agent.model.script import Script, ScriptCall, file_name, header_line, lines_of, mismatch_line, read_script

PATH = "primary/desk.1"
HEAD = header_line(PATH)


def call(number: int, **changes: Any) -> str:
    """The line of a call."""
    data = {"call": number, "turn": 1, "request": {"messages": [], "tools": []}, "deltas": [{"stop": "end"}]}
    return json.dumps({name: value for name, value in (data | changes).items() if value is not ...}) + "\n"


def messages(*texts: str) -> list[dict[str, Any]]:
    """User messages."""
    return [{"role": "user", "text": text} for text in texts]


def test_a_script_survives_its_file_and_holds_each_message_once() -> None:
    """Also one whose history was rewritten, and tools that change; half a character is written as JSON can."""
    tools = [{"name": "add", "description": "", "schema": {}}]
    requests = [
        {"messages": messages("a"), "tools": tools},
        {"messages": messages("a", "b\ud83d"), "tools": tools},
        {"messages": messages("c"), "tools": []},
    ]
    calls = [ScriptCall(1, request, ({"text": "ü"}, {"stop": "end"})) for request in requests]
    script = Script(
        PATH, (*calls[:2], ScriptCall(2, requests[2], (), "overloaded"), ScriptCall(2, requests[2], (), cut=True))
    )
    text = lines_of(script)
    assert read_script(text, "f", PATH) == script
    written = [json.loads(line) for line in text.splitlines()]
    assert [line.get("request") for line in written[1:3]] == [
        requests[0],
        {"kept": 1, "messages": messages("b\ud83d")},
    ]
    assert "ü" in text
    text.encode()


def test_a_log_ends_with_what_went_wrong() -> None:
    """After the calls that went well."""
    script = read_script(HEAD + call(1) + mismatch_line("changed", "why", "- a\n+ b"), "f")
    assert (len(script.calls), script.mismatch) == (
        1,
        {"reason": "changed", "message": "why", "difference": "- a\n+ b"},
    )


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, 'the first line must be {"acp_model_script": 1, "call_path": "primary…"}'),
        ("x\n", 1, "this is no JSON; each line must be one object, whole"),
        ("[]\n", 1, "this is no JSON object"),
        (
            '{"acp_model_script": 2, "call_path": "primary"}\n',
            1,
            'the first line must be {"acp_model_script": 1, "call_path": "primary…"}; this one is of version 2',
        ),
        ('{"acp_model_script": 1, "call_path": "../../etc"}\n', 1, "the first line must be"),
        (HEAD + call(1)[:-9], 2, "this is no JSON; each line must be one object, whole"),
        (HEAD + "\n" + call(2), 3, "call must be 1, the next number"),
        (HEAD + call(1, turn=0), 2, "turn must be an integer of at least 1"),
        (HEAD + call(1, turn=2) + call(2, turn=1), 3, "turn must be an integer of at least 2"),
        (HEAD + call(1, turn=True), 2, "turn must be an integer"),
        (HEAD + call(1, deltas=...), 2, "a call must have the member 'deltas'"),
        (HEAD + call(1, deltas=[{"x": 1}]), 2, "a delta is an object with one member"),
        (HEAD + call(1, deltas=None), 2, ""),
        (HEAD + call(1, failed=1), 2, "failed must be a string"),
        (
            HEAD + call(1, request={"kept": 1, "messages": []}),
            2,
            "kept must be a number of messages of the call before",
        ),
        (HEAD + call(1, request={"messages": {}}), 2, "messages and tools must be lists of objects"),
        (HEAD + call(1, request={"messages": ["a"]}), 2, "messages and tools must be lists of objects"),
        (HEAD + call(1, request={"messages": [], "tools": [1]}), 2, "messages and tools must be lists of objects"),
        (HEAD + call(1, request=[]), 2, "request must be an object"),
        (HEAD + mismatch_line("a", "b", "c") + call(1), 3, "nothing may follow the line of a mismatch"),
    ],
)
def test_damage_is_told_with_the_line_and_the_rule(text: str, line: int, why: str) -> None:
    """And what to do."""
    with pytest.raises(DamagedScript) as caught:
        read_script(text, "golden/f.jsonl")
    assert f"golden/f.jsonl:{line}: {why}" in caught.value.message
    assert caught.value.message.endswith("; restore it, or record it again")
    assert caught.value.call_path == (PATH if text.startswith(HEAD) else "golden/f.jsonl")


def test_the_script_of_another_is_told_with_both_paths() -> None:
    """Whose it should be, and whose it is."""
    with pytest.raises(
        SwappedScript, match=r"model script of primary: f holds the script of primary/desk\.1; put it back"
    ):
        read_script(HEAD, "f", "primary")


def test_names_of_files_are_readable_safe_and_in_order() -> None:
    """No two paths share one, also where capitals are none; long ones are cut and stay apart."""
    assert file_name("primary") == "primary.jsonl"
    assert file_name("primary/risk_judge.2-1~2/a-b.1") == "primary~~risk_judge.2-1~2~~a-b.1.jsonl"
    capital = file_name("primary/Desk.1")
    assert capital.startswith("primary~~Desk.1~~~")
    assert capital.lower() != file_name("primary/desk.1")
    deep = ["primary" + f"/{'x' * 64}.1" * 4 + f"/a.{number}" for number in (1, 2)]
    names = [file_name(path) for path in deep]
    assert max(map(len, names)) < 230
    assert names[0] != names[1]
    assert min(*names, "primary.jsonl", capital) == "primary.jsonl"


def test_the_deepest_mismatch_that_a_text_tells_of_is_the_cause() -> None:
    """As it stands in a request after a sub-agent failed; where it was cut, what there is of it."""
    one, other = "model script of primary/a.1: call 1 asks", "model script of primary/a.1/b.1: there is none"
    text = f"failed (agent_error): {one}, because: {other} (-32603); its error data: {{model script of x: no}}"
    assert cause_in(text) == other
    assert cause_in(f'+ "text": "{one}…') == one
    assert cause_in("all is well") == ""
