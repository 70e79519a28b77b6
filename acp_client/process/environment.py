"""The scrub: which variables of the parent's environment a child gets.

Owns the rules about names, the names that only look secret, and the nesting markers of ours and of
other harnesses. Leaves to `secret_patterns` what a secret value looks like, and to the spawning code
that the result *replaces* the parent's environment instead of being laid over it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from acp_client.process.secret_patterns import holds_secret

OWN_PREFIX: Final = "ACP_SUBAGENTS_"
"""Begins every variable by which our processes find each other: depth, run, process tree."""

SECRET_WORDS: Final = ("PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL")
"""A name that has one of these anywhere is secret; case is ignored here and below."""

SECRET_PHRASES: Final = ("APIKEY", "PRIVATEKEY", "CONNECTIONSTRING")
"""The same, whatever separates their words (`PRIVATE_KEY`, `ConnectionString`)."""

SECRET_SEGMENTS: Final = frozenset(
    ("KEY", "KEYS", "PWD", "WEBHOOK", "PASS", "CREDS", "AUTH", "PAT", "DSN", "COOKIE", "JWT", "BEARER", "HEADERS")
)
"""A name is secret if one of its parts, between separators and camel humps, is one of these."""

FALSE_FRIENDS: Final = (
    "PWD",  # directories, not passwords
    "OLDPWD",
    "BYPASS_CACHE",
    "COMPASS_DIR",
    "PASSENGER_HOST",
    "MONKEY",
    "KEYBOARD_LAYOUT",
    "AUTHOR",
    "TOKENIZERS_PARALLELISM",  # Hugging Face: "token" as a model counts it, as all below
    "TIKTOKEN_CACHE_DIR",
    "*MAX_TOKENS",
    "*MAX_OUTPUT_TOKENS",
    "*MAX_INPUT_TOKENS",
    "*MAX_COMPLETION_TOKENS",
    "MAX_THINKING_TOKENS",
    "MAX_MCP_OUTPUT_TOKENS",
)
"""Names, or globs of them, that win over the rules about names (never over those about values)."""

PLACES: Final = frozenset(("PATH", "HOME", "PWD", "OLDPWD"))
"""Kept whatever they hold: a child cannot start without them, and a directory is no secret."""

OTHER_HARNESS_MARKERS: Final = (
    ("CLAUDECODE", "Claude Code: refuses to start, or changes its output, inside itself"),
    ("CLAUDE_CODE", "an older spelling of the same"),
    ("CLAUDE_CODE_ENTRYPOINT", "Claude Code: who started it; a child has its own"),
    ("CLAUDE_CODE_SSE_PORT", "Claude Code: the editor that the parent talks to"),
    ("CLAUDE_CODE_SESSION_ID", "Claude Code: the parent's conversation"),
    ("CODEX_SANDBOX*", "Codex: says that a sandbox is around us that the child may not be in"),
    ("CODEX_THREAD_ID", "Codex: the parent's conversation"),
    ("CODEX_CI", "Codex: running inside Codex"),
    ("CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "Codex: who started it"),
    ("GEMINI_CLI", "Gemini CLI: running inside Gemini CLI"),
    ("GEMINI_CLI_NO_RELAUNCH", "Gemini CLI: set by its own launcher for its own child"),
    ("QWEN_CODE", "Qwen Code: running inside Qwen Code"),
    ("CURSOR_AGENT", "Cursor: running inside its agent"),
    ("CURSOR_TRACE_ID", "Cursor: the parent's trace"),
    ("OPENCODE", "opencode: running inside opencode"),
    ("OPENCODE_PID", "opencode: the parent's process"),
    ("CLINE_ACTIVE", "Cline: running inside its terminal"),
    ("AUGMENT_AGENT", "Augment: running inside its agent"),
    ("GOOSE_TERMINAL", "Goose: running inside its shell tool"),
    ("AI_AGENT", "the common convention: an agent is running this"),
    ("AGENT", "the same as several agents spell it"),
)
"""Names, or globs of them, by which an agent tells its own children that they are inside it."""

_OTHER_MARKER: Final = re.compile("|".join(translate(marker) for marker, _reason in OTHER_HARNESS_MARKERS))

_LIFECYCLE: Final = "npm_"  # lower case: `NPM_CONFIG_…` is a person's setting, `npm_…` is npm's own
_SCHEMELESS_LOGIN: Final = re.compile(r"[^\s/@:]*:[^\s/@]+@")  # `user:password@proxy:3128`
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATORS: Final = re.compile(r"[^A-Za-z0-9]+")
_DIGITS: Final = "0123456789"
_LONGEST_NAME_CHARS: Final = 256  # longer ones are not worth a place in the cache
_LONGEST_PAIR_CHARS: Final = 768  # likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubbedEnvironment:
    """What a child gets, and what it does not.

    `variables` is the whole environment of the child. `removed` has the names, sorted, that the
    scrub took out of the parent's environment (a name that `explicit` sets or removes is not among
    them). `secrets` has the secret values that were seen, removed or handed on, for the redaction.
    No value is in the repr.
    """

    variables: dict[str, str] = field(repr=False)
    removed: tuple[str, ...]
    secrets: tuple[str, ...] = field(repr=False)


def scrub(
    parent: Mapping[str, str],
    *,
    explicit: Mapping[str, str | None] = MappingProxyType({}),
    passthrough: Sequence[str] = (),
) -> ScrubbedEnvironment:
    """Take secrets and nesting markers out of an environment.

    `explicit` wins over everything: a string sets a name, None removes it. `passthrough` has names
    or globs (`*`, `?`, `[…]`; case counts) that are let through all the rules, but never our own
    markers: a child's depth is for the parent to say. Never raises for any text.
    """
    variables: dict[str, str] = {}
    removed: list[str] = []
    secrets: dict[str, None] = {}  # a set that keeps the order
    for name, value in parent.items():
        secret = is_secret(name, value)
        if secret and value:
            secrets[value] = None
        if name in explicit:
            continue
        if (passthrough and _is_let_through(name, passthrough)) or not (secret or is_nesting(name)):
            variables[name] = value
        else:
            removed.append(name)
    given = {name: value for name, value in explicit.items() if value is not None}
    return ScrubbedEnvironment(
        variables=variables | given,
        removed=tuple(sorted(removed)),
        secrets=tuple(secrets | dict.fromkeys(secret_values(given.items()))),
    )


def secret_values(named: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The values, each once, that are secret by their own look or by their name's.

    For variables and for the env and headers of an MCP server (`Authorization` counts as secret).
    """
    return tuple(dict.fromkeys(value for name, value in named if value and is_secret(name, value)))


def argument_secrets(arguments: Sequence[str]) -> tuple[str, ...]:
    """What the words of a command hold that their options say is secret: `--api-key X`, `--api-key=X`, `TOKEN=X`."""
    named = [(word.lstrip("-"), after) for word, after in pairwise(arguments) if word.startswith("-")]
    named += [
        (name.lstrip("-"), value) for name, equals, value in (word.partition("=") for word in arguments) if equals
    ]
    named = [(name, value) for name, value in named if name.replace("-", "").replace("_", "").isalnum()]
    return tuple(dict.fromkeys(value for name, value in named if not value.startswith("-") and is_secret_name(name)))


def is_secret(name: str, value: str) -> bool:
    """True if the name says that the value is secret, or the value itself does."""
    judge = _seen_pair if len(name) + len(value) <= _LONGEST_PAIR_CHARS else _judge_pair
    return judge(name, value)


def is_secret_name(name: str) -> bool:
    """True if a variable or header of this name is taken for secret whatever it holds."""
    return _name_is_secret(name) if len(name) <= _LONGEST_NAME_CHARS else _judge_name(name)


@lru_cache(maxsize=1024)
def is_nesting(name: str) -> bool:
    """True if the name tells a process what it runs inside of: ours, another harness's, npm's."""
    return name.startswith((OWN_PREFIX, _LIFECYCLE)) or _OTHER_MARKER.fullmatch(name) is not None


def _is_let_through(name: str, passthrough: Sequence[str]) -> bool:
    if name.startswith(OWN_PREFIX):
        return False
    return any(fnmatchcase(name, pattern) for pattern in passthrough)


def _judge_pair(name: str, value: str) -> bool:
    return is_secret_name(name) or _is_secret_value(name, value)


def _is_secret_value(name: str, value: str) -> bool:
    if name in PLACES:
        return False
    if name.upper().endswith("PROXY") and _SCHEMELESS_LOGIN.match(value):
        return True
    return holds_secret(value)


def _judge_name(name: str) -> bool:
    upper = name.upper()
    if any(fnmatchcase(upper, friend) for friend in FALSE_FRIENDS):
        return False
    if any(word in upper for word in SECRET_WORDS):
        return True
    joined = _SEPARATORS.sub("", upper)
    if joined.endswith("AUTHORIZATION") or any(phrase in joined for phrase in SECRET_PHRASES):
        return True
    segments = {*_SEPARATORS.split(upper), *_SEPARATORS.split(_HUMPS.sub("_", name).upper())}
    return any(segment.rstrip(_DIGITS) in SECRET_SEGMENTS for segment in segments)


_name_is_secret = lru_cache(maxsize=1024)(_judge_name)  # the same few hundred names for every child
_seen_pair = lru_cache(maxsize=1024)(_judge_pair)  # and values
