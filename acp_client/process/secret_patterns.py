r"""What a secret looks like: the one table behind the scrub and the redaction.

Owns the regular expressions and the promise that each is linear: every alternative begins with a
literal, is decided within `LONGEST_HEAD_CHARS` characters, and goes on as a possessive run that
cannot be backtracked into. No head crosses a line end. Leaves to `environment` which names are
secret, to `redaction` what is put in a secret's place.

In an alternative the last capturing group that took part ends where the secret begins; without a
group all of the match is the secret.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

LONGEST_HEAD_CHARS: Final = 16 * 1024
"""No pattern needs to see more than this to know whether it matches (the longest: a JWT)."""

LONGEST_LOOKBEHIND_CHARS: Final = 32
"""No pattern looks further back than this from where its match begins."""

LONGEST_LOOKAHEAD_CHARS: Final = 1024
"""No pattern needs to see more than this beyond its match to know where the match ends."""

# What may stand before a token though it ends in a letter or digit: `\n` as two characters, `\x3d`,
# `\u003d`, `%3D`, the end of a colour sequence.
_BREAKS: Final = (
    r"\\[abfnrtv]",
    r"\\x[0-9A-Fa-f]{2}",
    r"\\u[0-9A-Fa-f]{4}",
    r"%[0-9A-Fa-f]{2}",
    r"[\[;]m",
    r"[\[;][0-9]m",
    r"[\[;][0-9]{2}m",
    r"[\[;][0-9]{3}m",
)

_SK_BODY: Final = r"(?=[A-Za-z_-]{0,40}[0-9]|[A-Za-z0-9_]{20})[\w-]{16}"  # not `sk-some-long-words`

# Issuer's prefix, and what must follow it at least. Longer prefixes before their own beginnings.
_TOKENS: Final = (
    ("eyJ", r"[\w-]{8,2048}+\.[\w-]{0,12288}+\.[\w-]{4}[\w.-]*+"),  # a JWT
    ("sk-ant-", r"[\w-]{16}"),
    ("sk-proj-", r"[\w-]{16}"),
    ("sk-svcacct-", r"[\w-]{16}"),
    ("sk-admin-", r"[\w-]{16}"),
    ("sk-or-", r"[\w-]{16}"),
    ("sk-lf-", r"[\w-]{16}"),
    ("sk-", _SK_BODY),
    ("csk-", r"[A-Za-z0-9]{32}"),
    ("xai-", r"[A-Za-z0-9]{32}"),
    ("gsk_", r"[A-Za-z0-9]{32}"),
    ("pplx-", r"[A-Za-z0-9]{32}"),
    ("nvapi-", r"[\w-]{32}"),
    ("tvly-", r"[\w-]{24}"),
    ("hf_", r"[A-Za-z0-9]{30}"),
    ("r8_", r"[A-Za-z0-9]{32}"),
    ("jina_", r"[A-Za-z0-9]{32}"),
    ("lsv2_pt_", r"[A-Za-z0-9]{24}"),
    ("lsv2_sk_", r"[A-Za-z0-9]{24}"),
    ("AIza", r"[\w-]{35}"),
    ("ya29.", r"[\w-]{20}"),
    ("GOCSPX-", r"[\w-]{20}"),
    ("AKIA", r"[A-Z0-9]{16}"),
    ("ASIA", r"[A-Z0-9]{16}"),
    ("ghp_", r"[A-Za-z0-9]{30}"),
    ("gho_", r"[A-Za-z0-9]{30}"),
    ("ghu_", r"[A-Za-z0-9]{30}"),
    ("ghs_", r"[A-Za-z0-9]{30}"),
    ("ghr_", r"[A-Za-z0-9]{30}"),
    ("github_pat_", r"\w{22}"),
    ("glpat-", r"[\w-]{20}"),
    ("gldt-", r"[\w-]{20}"),
    ("glrt-", r"[\w-]{20}"),
    ("glptt-", r"[\w-]{20}"),
    ("glcbt-", r"[\w-]{20}"),
    ("xoxb-", r"[\w-]{10}"),
    ("xoxp-", r"[\w-]{10}"),
    ("xoxa-", r"[\w-]{10}"),
    ("xoxr-", r"[\w-]{10}"),
    ("xoxs-", r"[\w-]{10}"),
    ("xapp-", r"[\w-]{10}"),
    ("npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-", r"[\w-]{40}"),
    ("rubygems_", r"[a-f0-9]{32}"),
    ("dckr_pat_", r"[\w-]{20}"),
    ("SG.", r"[\w-]{16,64}+\.[\w-]{16}"),
    ("sk_live_", r"[A-Za-z0-9]{16}"),
    ("sk_test_", r"[A-Za-z0-9]{16}"),
    ("rk_live_", r"[A-Za-z0-9]{16}"),
    ("rk_test_", r"[A-Za-z0-9]{16}"),
    ("whsec_", r"[A-Za-z0-9+/]{16}"),
    ("dop_v1_", r"[a-f0-9]{32}"),
    ("doo_v1_", r"[a-f0-9]{32}"),
    ("dor_v1_", r"[a-f0-9]{32}"),
    ("shpat_", r"[A-Fa-f0-9]{32}"),
    ("shpca_", r"[A-Fa-f0-9]{32}"),
    ("shppa_", r"[A-Fa-f0-9]{32}"),
    ("shpss_", r"[A-Fa-f0-9]{32}"),
    ("dapi", r"[a-f0-9]{32}"),
    ("hvs.", r"[\w-]{24}"),
    ("lin_api_", r"[A-Za-z0-9]{32}"),
    ("sntrys_", r"[\w-]{32}"),
    ("figd_", r"[\w-]{20}"),
    ("PMAK-", r"[A-Za-z0-9]{24}"),
)

# A private key as a file, as one line with `\n` in it, indented, numbered, or with its line ends
# lost to spaces. Cut off before its END line it is still taken whole.
_PEM: Final = (
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\r\n\\]{0,200}+"
    r"|[\r\n]++|\\++[nrt]?|[A-Za-z0-9+/=\t→]++"
    r"|(?<=[\n\t]) {1,64}+"
    r"| {1,8}(?=[A-Za-z0-9+/=]{40}|[A-Za-z0-9+/=]{1,76}[ ]{0,4}-----END))*+"
    r"(?: {0,4}-----END [A-Z0-9 ]{0,40}-----)?+"
)

# The user part holds no colon; the password begins with what no port and no path begins with, and
# reaches to the last `@`. A long user part alone is a token (`https://TOKEN@host`), a short one a
# name (`ssh://git@host`).
_URL_LOGIN: Final = (
    r"(://)(?!\[[0-9A-Fa-f:])"
    r"""(?:[^\s/?#:"'<>\\`]{0,256}+:(?![0-9]{1,5}[/?#])(?!/)"""
    r"""[^\s@"'<>\\`]{1,512}+(?=@)(?:@[^\s@"'<>\\`]{0,512}+(?=@))*+"""
    r"""|[^\s/?#:@"'<>\\`]{20,256}+(?=@))"""
)


def _caseless(words: str) -> str:
    """The same alternatives in either case, spelled out: much faster than IGNORECASE."""
    return re.sub(r"[a-z]", lambda letter: f"[{letter[0].upper()}{letter[0]}]", words)


_KEYWORDS: Final = _caseless(
    "(?:pass(?:word|wd|phrase)|secret|token|credentials?|connection[_-]?string"
    "|(?:api|access|secret|private|signing|encryption|master|account|service|license)"
    "[_-]?key(?:[_-]?id)?)"
)
_SHELL_NAMES: Final = (  # and the signature of a presigned URL
    "(?:_(?:KEYS?|PWD|PASS|CREDS|AUTH|PAT|DSN|COOKIE|JWT|BEARER|HEADERS|WEBHOOK)|X-Amz-Signature|[?&]sig)="
)
_FLAGS: Final = "--(?:api-key|token|auth-token|access-token|password|passphrase|secret|client-secret)"
_SCHEMES: Final = _caseless("(?:bearer|basic|token|digest|negotiate|apikey)")
_SEPARATOR: Final = r"""(?:\\{0,3}["'])?[ \t]{0,8}(?:=>|:=|={1,2}|:)[ \t]{0,8}"""
_BARE_CHAR: Final = r"""[^\s"'`&;,<>(){}\\]"""
_NO_SECRETS: Final = _caseless(
    "(?:null|none|nil|true|false|undefined|string|bytes|boolean|integer|number|object|optional)"
)
_BARE: Final = (
    rf"(?!{_NO_SECRETS}(?!{_BARE_CHAR}))(?!{_KEYWORDS}[:=][ \t])"
    rf"{_BARE_CHAR}{{4}}{_BARE_CHAR}*+"
)
# In quotes, in single quotes, in quotes within a JSON string, in quotes deeper still.
_QUOTED: Final = (
    r"""(")(?:[^"\\\n]|\\[^\n])(?:[^"\\\n]++|\\[^\n])*+"""
    r"""|(')(?:[^'\\\n]|\\[^\n])(?:[^'\\\n]++|\\[^\n])*+"""
    r"""|(\\")(?:[^"\\\n]|\\{2}\\?[^\n])(?:[^"\\\n]++|\\{2}\\?[^\n])*+"""
    r"""|(\\{2,7}["'])[^"'\\\n][^"'\\\n]*+"""
)
_COOKIE: Final = rf"""({_caseless("cookie")}["']?[ \t]{{0,8}}:[ \t]{{0,8}}["']?)[^\r\n"'\\]{{4}}[^\r\n"'\\]*+"""

_AUTHORIZATION: Final = (
    rf"({_caseless('authorization')}{_SEPARATOR})(?:{_QUOTED}"
    rf"|((?:{_SCHEMES}[ \t]{{1,8}})?)[^\s\"'`,;<>\\][^\s\"'`,;<>\\]*+)"
)
_BEARER: Final = (
    rf"({_caseless('bearer')}[ \t]{{1,8}})(?=[A-Za-z._~+/=-]{{0,64}}[0-9]|[\w.~+/=-]{{24}})"
    r"[\w.~+/=-]{6}[\w.~+/=-]*+"
)
_BASIC: Final = rf"({_caseless('basic')}[ \t]{{1,8}})(?=[A-Za-z+/]{{0,64}}[0-9=])[\w+/=-]{{8}}[\w+/=-]*+"

_ASSIGNMENTS: Final = (
    _AUTHORIZATION,
    rf"({_KEYWORDS}{_SEPARATOR})(?:{_QUOTED}|{_BARE})",
    rf"({_SHELL_NAMES})(?:{_QUOTED}|{_BARE})",
    rf"({_FLAGS}[ \t]{{1,4}})(?:{_QUOTED}|{_BARE})",
    _COOKIE,
    _BEARER,
    _BASIC,
)

# The first two characters of all of these: most places in a text are passed over by it.
_ASSIGNMENT_BEGINS: Final = (
    "(?=[Aa][CcPpUu]|[Bb][AaEe]|[Cc][OoRr]|[Ee][Nn]|[Ll][Ii]|[Mm][Aa]|[Pp][AaRr]|[Ss][EeIi]"
    "|[Tt][Oo]|_[A-Z]|--|X-|[?&]s)"
)


def _at_word_start(literal: str) -> str:
    """Where no longer word ends in the literal, which has just been read."""
    escaped = re.escape(literal)
    after = (rf"(?<![A-Za-z0-9]{escaped})", *(rf"(?<={given}{escaped})" for given in _BREAKS))
    return f"(?:{'|'.join(after)})"


@cache
def tokens() -> re.Pattern[str]:
    """PEM private keys, JWTs and tokens with a well-known prefix; the match is the secret."""
    by_first: dict[str, list[str]] = {"-": [_PEM[1:]]}
    for prefix, body in _TOKENS:
        rest = f"{re.escape(prefix[1:])}{_at_word_start(prefix)}{body}[\\w-]*+"
        by_first.setdefault(prefix[0], []).append(rest)
    # Grouped by the first character, itself a literal: search skips to where one of them stands.
    groups = (f"{re.escape(first)}(?:{'|'.join(rests)})" for first, rests in by_first.items())
    return re.compile("|".join(groups), re.ASCII)


@cache
def url_logins() -> re.Pattern[str]:
    """`://user:password@` and `://long-token@`; the secret is what stands before the `@`."""
    return re.compile(_URL_LOGIN, re.ASCII)


@cache
def assignments() -> re.Pattern[str]:
    """`password=…`, `"apiKey": "…"`, `Authorization: Bearer …`; the secret is the value."""
    return re.compile(f"{_ASSIGNMENT_BEGINS}(?:{'|'.join(_ASSIGNMENTS)})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Needles:
    """Words of which a text must have one for a pattern to find anything in it: finding a word costs next to nothing.

    `by_mark` has them by a mark that they all have, so that most texts are looked through for the marks alone.
    """

    by_mark: tuple[tuple[str, tuple[str, ...]], ...]
    caseless: bool = False

    def may_match(self, text: str) -> bool:
        """False only if the pattern finds nothing."""
        if self.caseless:
            text = text.lower()
        return any(
            mark in text and (not needles or any(needle in text for needle in needles))
            for mark, needles in self.by_mark
        )


@cache
def token_needles() -> Needles:
    """For `tokens`."""
    prefixes = [prefix for prefix, _body in _TOKENS]
    by_mark = {mark: tuple(prefix for prefix in prefixes if mark in prefix) for mark in "-_."}
    rest = [(prefix, ()) for prefix in prefixes if not set(prefix) & set("-_.")]
    return Needles((*by_mark.items(), *rest, ("-----BEGIN ", ())))


LOGIN_NEEDLES: Final = Needles((("://", ()),))
"""For `url_logins`."""

ASSIGNMENT_NEEDLES: Final = Needles(
    (
        *((word, ()) for word in ("pass", "secret", "token", "credential", "connection", "key", "authorization")),
        *((word, ()) for word in ("cookie", "bearer", "basic", "x-amz-signature", "sig=")),
        ("=", ("_pwd", "_creds", "_auth", "_pat", "_dsn", "_jwt", "_headers", "_webhook")),
    ),
    caseless=True,
)
"""For `assignments`."""


@cache
def begun() -> re.Pattern[str]:
    """What a text may end in that is too short to be found yet: the beginning of a token, or of a bearer's."""
    heads = "|".join(f"{re.escape(prefix)}{_at_word_start(prefix)}" for prefix, _body in _TOKENS)
    schemes = f"{_caseless('bearer')}[ \\t]|{_caseless('basic')}[ \\t]"
    return re.compile(rf"(?:(?:{heads})|(?:{schemes})[ \t]{{0,7}}(?=[\w.~+/=-]))[\w.~+/=-]*+\Z", re.ASCII)


@cache
def begun_logins() -> re.Pattern[str]:
    """The same for a URL whose `@` has not come yet."""
    return re.compile(
        r"""://(?=[^\s/?#"'<>\\`]{4})[^\s/?#:@"'<>\\`]{0,256}+"""
        r"""(?::(?![0-9]{1,5}[/?#])[^\s"'<>\\`]{0,1024}+)?+\Z""",
        re.ASCII,
    )


def holds_secret(value: str) -> bool:
    """True if a URL with a login, a private key, a JWT or a known token stands anywhere in it.

    Most values hold none of the words: nothing is compiled for them, which takes longer than a spawn.
    """
    if token_needles().may_match(value) and tokens().search(value) is not None:
        return True
    return "://" in value and "@" in value and url_logins().search(value) is not None
