"""Secrets that open nothing, and texts full of them.

Put together here from pieces, so that no scanner takes a test for a leak.
"""

from hypothesis import strategies as st

BODY = "Ab3" * 12
OPENAI, GITHUB = "sk-" + BODY, "gh" + "p_" + BODY
JWT = ".".join(("eyJ" + "hbGciOiJI", "eyJ" + "zdWIiOiIx", "c2lnbmF0dXJl"))
PEM_LINES = ("-----BEGIN " + "PRIVATE KEY-----", "MIIEvQIBADAN" * 5, "AbCd==", "-----END PRIVATE KEY-----")
PEM = "\n".join(PEM_LINES)
KNOWN = "correct horse/battery"


FRAGMENTS = (
    *(OPENAI, GITHUB, JWT, PEM, *PEM_LINES, KNOWN, BODY, "abcdefgh", "abcdefghij", "[redacted]"),
    *("sk-", "eyJ", "eyJabcdefgh.", "://", "u:", "p@", "@", "Bearer ", "Basic ", "authorization"),
    *("password", "token", "secret", "cookie", "api_key", "_KEY=", "--token ", "null", "-----"),
    *(":", "=", ": ", '"', "'", '\\"', "\\", "\n", " ", "\t", ".", ",", "a", "1", "[", "]", "[red"),
    *("acted]", "a b", "0m", "\x1b[0m", "%3D", "→", "é"),
)
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
SECRETS = st.lists(
    st.sampled_from((KNOWN, BODY, "abcdefgh", "abcdefghij", "efghijab", "abcdefg[", "]abcdefg"))
    | st.sampled_from(("redacted", "[redacted]abcdefgh", "a b a b a b", "password=abc", "acted]abcdefghi[red"))
    | st.text(st.sampled_from('ab[]redct:=@/" '), min_size=7, max_size=20),
    max_size=4,
)
