"""`--schema FILE`: the value alone is on stdout, and exit code 10 says that there is none."""

import json
from pathlib import Path

import pytest

from tests.cli.command import playing, subagent

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


def write(folder: Path, text: str, name: str = "schema.json") -> Path:
    """A schema file."""
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("form", "printed"), [("quiet", b'{"n":1}\n'), ("text", b'{\n  "n": 1\n}\n')], ids=["quiet", "text"]
)
def test_the_value_alone_is_on_stdout(form: str, printed: bytes, tmp_path: Path) -> None:
    """Whatever else the agent says, and in whichever way the value comes."""
    schema = write(tmp_path, "type: object\nrequired: [n]\n", "schema.yaml")
    agent = playing(tmp_path, prompt=[{"chunk": 'So:\n```json\n{"n": 1}\n```\nDone.'}])
    done = subagent("run", "--agent", agent, "--schema", schema, "--format", form, "go", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, printed)


def test_without_a_value_it_is_exit_code_10_and_the_result_has_the_raw_text(tmp_path: Path) -> None:
    """Once asked again, by default."""
    schema = write(tmp_path, json.dumps(SCHEMA))
    agent = playing(tmp_path, prompt=[{"chunk": "no"}])
    done = subagent("run", "--agent", agent, "--schema", schema, "--format", "json", "go", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 10
    assert (found["reason"], found["text"], found["structured"], found["repairs"]) == (
        "output_invalid",
        "nono",
        None,
        1,
    )
    done = subagent("run", "--agent", agent, "--schema", schema, "go", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (10, b"")
    assert b"output_invalid" in done.stderr


WRONG = {
    "nothing.json": (None, "cannot be read: No such file"),
    "broken.yaml": ("type: [", "is neither JSON nor YAML: "),
    "broken.json": ('{"type": }', "is neither JSON nor YAML: Expecting value: line 1 column 10"),
    "list.yaml": ("- 1", "is no JSON Schema; its root is a mapping"),
    "wrong.yaml": (
        "properties: {a: {type: strin}}",
        "at $.properties.a.type: no JSON Schema 2020-12: should be one of",
    ),
    "date.yaml": ("const: 2026-01-02", "the JSON Schema is no JSON"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_a_usage_error_that_names_it(name: str, tmp_path: Path) -> None:
    """And the place in it, and the rule; nothing is started."""
    text, said = WRONG[name]
    if text is not None:
        write(tmp_path, text, name)
    done = subagent("run", "--agent", "echo", "--schema", name, "go", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"--schema {name}: {said}" in " ".join(done.stderr.decode().split())
