"""Policies in YAML: what they may say, and that a wrong one is told where, which field, and what to write."""

import os
import time
from pathlib import Path

import pytest

from acp_client.policy.approval import Approvals, ToolApproval
from acp_client.policy.policy_file import MAX_FILE_BYTES, PolicyFileError, find_policy, load_policy
from acp_client.policy.rules import PRESETS, PermissionPolicy, Rule

MISTAKES_SECONDS = 30
"""Of CPU; with all pairs it would be an hour."""

EXAMPLE = Path(__file__).parents[2] / "fixtures/policies/example.yaml"


def refusal(path: Path) -> str:
    """What a wrong file is told, after its name: one line, whatever is in it."""
    with pytest.raises(PolicyFileError) as caught:
        load_policy(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    return message.removeprefix(f"{path}:")


def test_the_example_says_in_yaml_what_it_would_say_in_python() -> None:
    """Relative paths start at the file, `~` is a home."""
    folder = EXAMPLE.parent
    expected = PermissionPolicy(
        default="reject",
        rules=[
            Rule(action="reject", path=[folder / "secrets", "~/.ssh"]),
            Rule(action="allow", kind=["read", "search"], path=folder),
            Rule(action="allow", kind="think"),
            Rule(action="ask", kind=["edit", "move"], path=folder),
            Rule(action="ask", tool="deploy*"),
        ],
        approvals=Approvals(
            default="ask_on_first_use",
            overrides={"deploy_production": ToolApproval("always_ask", role="senior")},
            default_role="standard",
            timeout_seconds=3600,
        ),
        unasked="note",
    )
    assert load_policy(EXAMPLE) == expected


def test_a_relative_path_starts_at_the_file_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at the working directory."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/p.yaml").write_text("rules: [{action: allow, path: [a/, ../b, /c]}]")
    monkeypatch.chdir(tmp_path)
    (rule,) = load_policy("conf/p.yaml").rules
    assert rule.path == (f"{tmp_path}/conf/a", f"{tmp_path}/conf/../b", "/c")


def test_words_are_texts_unless_they_are_those_of_json(tmp_path: Path) -> None:
    """YAML 1.1 would read a boolean, a number and a date."""
    path = tmp_path / "p.yaml"
    path.write_text("rules:\n  - action: allow\n    tool: [no, on, 1:30, 2026-01-01, '5', \"null\", é]\n")
    assert load_policy(path).rules[0].tool == ("no", "on", "1:30", "2026-01-01", "5", "null", "é")
    path.write_text("\ufeffapprovals: {timeout_seconds: 86_400, after_turns: 3}", encoding="utf-8")
    assert load_policy(path).approvals == Approvals(timeout_seconds=86_400, after_turns=3)
    path.write_text("approvals: {timeout_seconds: 1.5e3}")
    assert load_policy(path).approvals == Approvals(timeout_seconds=1500)


WRONG = [
    (
        "rules:\n  - action: ask\n  - action: alow",
        '3:5: rules[1].action: must be allow, reject or ask, not "alow"; did',
    ),
    ("default: no", '1:1: default: must be allow, reject or ask, not "no"'),
    ("unasked: eror", '1:1: unasked: must be note or error, not "eror"; did you mean "error"?'),
    ("rules:\n - action: ask\n   kin: read", "3:4: rules[0].kin: is no field; did you mean 'kind'?"),
    ("default: ask\nzzz: 1", "2:1: zzz: is no field; there are: rules, default, approvals, unasked"),
    ("rules:\n - kind: read", "2:4: rules[0].action: is missing"),
    ("rules: [x]", "1:9: rules[0]: must be a mapping"),
    ("rules: {a: b}", "1:1: rules: must be a list"),
    ("rules:\n - action: ask\n   kind: [read,\n     raed]", "4:6: rules[0].kind[1]: must be read, edit"),
    (
        "rules:\n - action: ask\n   tool: 5",
        "3:4: rules[0].tool: must be a text or a list of texts, not 5 without quotes",
    ),
    ("rules:\n - action: ask\n   tool: [[x]]", "3:11: rules[0].tool[0]: must be a text"),
    ("rules:\n - action: allow\n   path:", "3:4: rules[0].path: is empty; give a value, or leave the field out"),
    ("rules:\n - action: allow\n   path: []", "3:4: rules[0].path: must not be empty"),
    ("rules:\n - action: allow\n   path: [a, b/*]", "3:14: rules[0].path[1]: is no glob"),
    ("rules:\n - action: allow\n   path: {a: b}", "3:4: rules[0].path: must be a text or a list of texts"),
    ("approvals: [a]", "1:1: approvals: must be a mapping"),
    (
        "approvals: {default: alway_ask}",
        "1:13: approvals.default: must be never_ask, ask_on_first_use or always_ask, not",
    ),
    ("approvals:\n  overrides:\n    x: {mode: alway_ask}", "3:9: approvals.overrides.x.mode: must be never_ask"),
    (
        "approvals:\n  overrides:\n    x: alway_ask",
        "3:5: approvals.overrides.x: must be never_ask, ask_on_first_use or",
    ),
    ("approvals:\n  overrides:\n    x: {role: admin}", "3:5: approvals.overrides.x.mode: is missing"),
    ("approvals: {after_turns: 1.5}", "1:13: approvals.after_turns: must be a whole number"),
    ("approvals: {timeout_seconds: 1:30}", "1:13: approvals.timeout_seconds: must be a number"),
    ("approvals: {timeout_seconds: 1.0e999}", "1:13: approvals.timeout_seconds: must be a finite number"),
    ("approvals: {timeout_seconds: " + "9" * 5000 + "}", "1:13: approvals.timeout_seconds: must be a number"),
    ("", "1:1: is empty; the least that a policy says is `default: reject`"),
    ("# only this", "1:1: is empty"),
    ("- default: ask", "1:1: must be a mapping with `default:` and `rules:` at the top"),
    ("ask", "1:1: must be a mapping"),
    ("default: ask\ndefault: allow", "2:1: the key 'default' is given twice; keep one"),
    ("rules:\n - action: ask\n   action: allow", "3:4: the key 'action' is given twice"),
    (
        "rules:\n\t- action: ask",
        "2:1: is no YAML: found character '\\t' that cannot start any token; use spaces, not tabs",
    ),
    ("default: ask: x", "1:13: is no YAML: mapping values are not allowed here"),
    ("rules: [", "1:9: is no YAML"),
    ("rules: *all", "1:8: anchors and aliases (&, *) are not taken"),
    ("rules:\n - action: ask\n   tool: *deploy", "3:10: anchors and aliases"),
    ("a: &a [x, x]\nb: &b [*a, *a]", "1:4: anchors and aliases"),
    ("a: !!python/object/apply:os.system [x]", "1:4: tags (!) are not taken"),
    ("? [a]\n: b", "1:3: a key must be a text"),
    ("default: ask\n---\ndefault: allow", "2:1: holds a second document"),
    ("default: ask\nx: \x1b[2J", "2:4: is no YAML: the character \\x1b is not taken"),
    ('"\\e[2J": x', "1:1: \\x1b[2J: is no field"),
    ("[" * 100_000, "1:18: more than 16 mappings and lists in one another"),
    ("x" * (MAX_FILE_BYTES + 1), f" is longer than {MAX_FILE_BYTES} bytes"),
]


@pytest.mark.parametrize(("text", "says"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_told_the_line_the_field_the_rule_and_the_correction(
    tmp_path: Path, text: str, says: str
) -> None:
    """In one line that an editor can jump to."""
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    assert refusal(path).startswith(says)


def test_a_file_that_cannot_be_read_is_told_why(tmp_path: Path) -> None:
    """A directory, one that is not there, one in another encoding."""
    assert refusal(tmp_path) == " cannot be read: Is a directory; a policy is a readable YAML file"
    assert refusal(tmp_path / "none").startswith(" cannot be read: No such file")
    (tmp_path / "latin").write_bytes(b"default: ask\n# caf\xe9")
    assert refusal(tmp_path / "latin") == "2: is not UTF-8 (byte 18); convert it"
    with pytest.raises(PolicyFileError, match="null byte"):
        load_policy("a\0b")


def test_an_endless_file_is_not_read_to_its_end() -> None:
    """Only what a policy may have."""
    assert refusal(Path("/dev/zero")).startswith(" is longer than")


@pytest.mark.parametrize(
    "rules", ["[%s]" % ("1," * 20_000), "[%s]" % ("{q: 1}," * 20_000), "[{action: ask, kind: [%s]}]" % ("x," * 20_000)]
)
def test_a_file_full_of_mistakes_is_told_the_first_one_in_seconds(rules: str, tmp_path: Path) -> None:
    """Not after as many looks as there are pairs of them."""
    (tmp_path / "p.yaml").write_text(f"rules: {rules}")
    began = time.process_time()
    assert refusal(tmp_path / "p.yaml").startswith("1:")
    assert time.process_time() - began < MISTAKES_SECONDS


def test_a_word_is_a_preset_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`./ask` is the file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ask").write_text("default: allow")
    assert find_policy("ask") is PRESETS["ask"]
    assert find_policy(f".{os.sep}ask") == PermissionPolicy(default="allow")
    with pytest.raises(PolicyFileError, match="aks: there is no such file, and no such preset: reject, allow, read-"):
        find_policy("aks")
