"""What is left of a text when its secrets are taken out."""

import json
import subprocess
import sys
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings

from acp_client.process.environment import scrub
from acp_client.process.redaction import DEEPEST_JSON, REDACTED, Redactor
from acp_client.process.secret_patterns import holds_secret, tokens, url_logins
from tests.support.made_up_secrets import BODY, GITHUB, JWT, KNOWN, OPENAI, PEM, PEM_LINES, SECRETS, TEXTS

SHAPES = {
    "a bearer header": (f"Authorization: Bearer {BODY}", "Authorization: Bearer [redacted]"),
    "a short bearer header": ("authorization: bearer abc", "authorization: bearer [redacted]"),
    "a basic header": ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"),
    "a header without a scheme": ("Authorization: abc123", "Authorization: [redacted]"),
    "a header in JSON": ('"Authorization": "Bearer a b"', '"Authorization": "[redacted]"'),
    "a header for curl": (
        "-H 'Authorization: Bearer abc' https://x",
        "-H 'Authorization: Bearer [redacted]' https://x",
    ),
    "bearer alone": (f"sent Bearer {BODY}.", "sent Bearer [redacted]"),
    "basic alone": ("Basic dXNlcjpwYXNz1", "Basic [redacted]"),
    "a cookie": ("Set-Cookie: a=b; c=d\nnext", "Set-Cookie: [redacted]\nnext"),
    "api_key=": ("api_key=abcd1234&x=1", "api_key=[redacted]&x=1"),
    "password in JSON": ('{"password": "a\\"b c", "x": 1}', '{"password": "[redacted]", "x": 1}'),
    "password in single quotes": ("{'password': 'a b'}", "{'password': '[redacted]'}"),
    "password in JSON in JSON": (r"{\"password\": \"a b\"}", r"{\"password\": \"[redacted]\"}"),
    "an escaped quote in JSON in JSON": (
        r"{\"token\": \"a\\\"b c\", \"x\": 1}",
        r"{\"token\": \"[redacted]\", \"x\": 1}",
    ),
    "password in JSON thrice": (
        r"{\\\"password\\\": \\\"a b\\\"}",
        r"{\\\"password\\\": \\\"[redacted]\\\"}",
    ),
    "a camel-case key": ('{"apiKey":"abcdef"}', '{"apiKey":"[redacted]"}'),
    "YAML": ("client_secret: abcdef", "client_secret: [redacted]"),
    "a shell variable": ("export DEPLOY_KEY=abcdef", "export DEPLOY_KEY=[redacted]"),
    "a quoted shell variable": ('DB_PASS="a b c"', 'DB_PASS="[redacted]"'),
    "an option": ("tool --token abcdef -v", "tool --token [redacted] -v"),
    "a presigned URL": ("https://x/?a=1&sig=abcdef", "https://x/?a=1&sig=[redacted]"),
    "a keyword before another": ("bad token: password: hunter2", "bad token: password: [redacted]"),
    "a URL login": ("postgres://" + "u:p@host/db", "postgres://[redacted]@host/db"),
    "a token as login": ("https://" + GITHUB + "@github.com", "https://[redacted]@github.com"),
    "a token with a login": (f"https://{GITHUB}:x@github.com", "https://[redacted]@github.com"),
    "a known prefix": (f"key {OPENAI}, done", "key [redacted], done"),
    "a token in colour": (f"\x1b[31m{OPENAI}\x1b[0m", "\x1b[31m[redacted]\x1b[0m"),
    "a JWT": (f"<{JWT}>", "<[redacted]>"),
    "a PEM key": (f"a {PEM} b", "a [redacted] b"),
    "a PEM key in JSON": (json.dumps(PEM), '"[redacted]"'),
    "a PEM key on one line": (PEM.replace("\n", " ") + " b", "[redacted] b"),
    "an indented PEM key": (PEM.replace("\n", "\n    ") + "\nb", "[redacted]\nb"),
    "a PEM key cut off": ("\n".join(PEM_LINES[:2]), "[redacted]"),
    "a PEM key as password": (f"password={PEM}\nb", "password=[redacted]\nb"),
    "an encrypted PEM key": (
        f"{PEM_LINES[0]}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n{PEM_LINES[1]}\n{PEM_LINES[3]}!",
        "[redacted]!",
    ),
}

PLAIN = (
    "max_tokens=4096 total_tokens: 12345",
    '{"token": null, "password": true, "secret": {"a": 1}}',
    "def login(token: str, password: Optional) -> None: ...",
    "the bearer of this letter has a basic understanding of authorization",
    "https://example.org:8443/a@b ssh://" + "git@host/repo",
    "task-switching-and-more-words, disk-0123456789abcdef0123456789",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "monkey: banana; author: someone; keyboard=us",
    "password: ",
    "",
)


@pytest.mark.parametrize(("text", "shown"), SHAPES.values(), ids=SHAPES)
def test_a_secret_is_replaced_and_its_surroundings_stay(text: str, shown: str) -> None:
    """The reader still sees what kind of thing stood there."""
    assert Redactor().redact(text) == shown


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_not_touched(text: str) -> None:
    """Words that only sound secret stay."""
    assert Redactor().redact(text) == text


def test_a_known_value_is_replaced_however_it_is_spelled() -> None:
    """Bare, in JSON, in a URL, and a login's or header's secret alone."""
    redactor = Redactor([KNOWN, 'say "hi" ümlaut\n', "postgres://u:pa55word-alone@h", "Bearer of-a-header"])
    assert redactor.redact(f"x{KNOWN}y") == "x[redacted]y"
    assert redactor.redact(quote(KNOWN, safe="")) == REDACTED
    assert redactor.redact(json.dumps({"a": 'say "hi" ümlaut'})) == '{"a": "[redacted]"}'
    assert redactor.redact(json.dumps('say "hi" ümlaut', ensure_ascii=False)) == '"[redacted]"'
    assert redactor.redact("pa55word-alone!") == "[redacted]!"
    assert redactor.redact("of-a-header!") == "[redacted]!"


def test_the_longest_known_value_is_replaced_first() -> None:
    """No rest of a longer secret stays behind a shorter one."""
    assert Redactor(["abcdefgh", "abcdefghijkl"]).redact("abcdefghijklm") == "[redacted]m"


def test_a_known_value_under_eight_characters_is_left_alone() -> None:
    """It would be found in the middle of plain words."""
    assert Redactor(["secret1"]).redact("say secret1") == "say secret1"


def test_what_the_scrub_saw_is_known() -> None:
    """A child that prints what it should not have still does not get it into a log."""
    redactor = Redactor(scrub({"A_KEY": "plain looking value"}).secrets)
    assert redactor.redact("it is plain looking value.") == "it is [redacted]."


def test_no_secret_is_in_the_repr() -> None:
    """A redactor may be logged."""
    assert repr(Redactor([KNOWN])) == "<Redactor of 2 known spellings>"


def test_json_is_redacted_by_key_by_shape_and_by_pair() -> None:
    """Keys, numbers and the rest of the structure stay."""
    value = {
        "apiKey": "abc",
        "auth": "plain",
        "access_token": ["a", "", 5],
        "password": 1234,
        "secrets": {"any": "plain", "DB_PASS": "abc"},
        "token": "",
        "progressToken": "p-1",
        "inputTokens": 7,
        "text": f"use {OPENAI}",
        "env": [{"name": "A_TOKEN", "value": "abc"}, {"name": "LANG", "value": "C"}],
        "headers": [{"name": "Authorization", "value": "abc"}],
        "option": {"name": "Auth key", "value": "plain", "id": "x"},
        "k" * 100 + "password": "plain",
    }
    assert Redactor().redact_json(value) == value | {
        "apiKey": REDACTED,
        "access_token": [REDACTED, "", 5],
        "secrets": {"any": "plain", "DB_PASS": REDACTED},
        "text": f"use {REDACTED}",
        "env": [{"name": "A_TOKEN", "value": REDACTED}, {"name": "LANG", "value": "C"}],
        "headers": [{"name": "Authorization", "value": REDACTED}],
    }


def test_json_without_secrets_is_given_back_as_the_same_object() -> None:
    """Nothing is copied on the hot path, and nothing is changed in place."""
    plain = {"a": [1, None, {"b": "c"}], "token": ["[redacted]"], "password": "[redacted]"}
    assert Redactor().redact_json(plain) is plain
    mixed = {"plain": plain, "secret": "abc"}
    redacted = Redactor().redact_json(mixed)
    assert redacted == {"plain": plain, "secret": REDACTED}
    assert redacted["plain"] is plain
    assert mixed["secret"] == "abc"


def test_json_that_is_too_deep_is_replaced_unseen() -> None:
    """What cannot be looked through is not shown, and no stack overflows."""
    deep: object = OPENAI
    for _ in range(5000):
        deep = [deep]
    redacted: object = Redactor().redact_json(deep)
    for _ in range(DEEPEST_JSON):
        assert isinstance(redacted, list)
        (redacted,) = redacted
    assert redacted == REDACTED


@settings(max_examples=300)
@given(TEXTS, SECRETS)
@example("abcdefg" + KNOWN, [KNOWN, "abcdefg["])
def test_redacting_twice_changes_nothing(text: str, secrets: list[str]) -> None:
    """A line may pass through several hands."""
    redactor = Redactor(secrets)
    once = redactor.redact(text)
    assert redactor.redact(once) == once
    assert redactor.redact_json({"a": [once]}) == {"a": [once]}


def test_what_holds_no_secret_compiles_no_pattern() -> None:
    """The patterns take longer to compile than a child to start: a plain environment and an empty stderr need none."""
    program = """
from acp_client.process import secret_patterns
from acp_client.process.environment import scrub
from acp_client.process.redaction import Redactor
from acp_client.process.stderr import StderrEvents, StderrTail

found = scrub({"PATH": "/usr/bin", "SITE": "https://example.org/@you", "API_KEY": "made-up"})
redactor = Redactor(found.secrets)
assert StderrTail(1000, redactor).text() == StderrEvents(redactor).finish() == redactor.redact("") == ""
assert not secret_patterns.tokens.cache_info().currsize
assert not secret_patterns.assignments.cache_info().currsize
assert redactor.redact("it is made-up") == "it is made-up"  # too short to be looked for
assert secret_patterns.tokens.cache_info().currsize
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@given(TEXTS)
def test_the_quick_look_misses_no_token(text: str) -> None:
    """Whatever the token pattern finds holds one of the literals that are looked for first."""
    assert holds_secret(text) == (tokens().search(text) is not None or url_logins().search(text) is not None)
