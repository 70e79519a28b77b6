"""Secrets that are cut: wherever a text is cut into pieces, no piece shows more of a secret than tells nothing."""

import itertools

import pytest

from acp_client.process.redaction import REDACTED, Redactor
from acp_client.record import pieces as module
from acp_client.record.pieces import Piece, Pieces
from tests.support.made_up_secrets import BODY, GITHUB, JWT

TOLD_CHARS = 3
"""A cut may leave so many characters before the mark: the beginning of a public prefix, or of a word."""

KNOWN = ("hunter2-secret-value!", "correct horse battery staple", "Zq9x8w7v6u5t4s3r")
TEXTS = (
    *(f"It is {secret}. So" for secret in KNOWN),
    f"x {GITHUB} y",
    f"Authorization: Bearer {BODY} x",
    "password = swordfish99, next",
    "url https://user:pa55w0rdlong@host.example/x done",
    f"{JWT} fine",
    '{"apiKey": "some value with blanks", "b": 1}',
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG\nnext",
    "Cookie: sid=abcdef; other=1234\nnext",
)
REDACTOR = Redactor(KNOWN)


def fed(parts: list[str], *, close: bool = True) -> tuple[list[Piece], list[Piece]]:
    """All pieces of a text, and those that are decided."""
    text = Pieces(REDACTOR)
    given = [Piece(part, None) for part in parts]
    done = [one for piece in given for one in text.feed(piece)]
    return given, [*done, *text.close()] if close else done


def cut(text: str, *places: int) -> list[str]:
    """The text, cut there."""
    return [text[start:end] for start, end in itertools.pairwise((0, *places, len(text)))]


def shown(parts: list[str]) -> int:
    """How many characters of the secrets in the text are in the pieces."""
    text = "".join(parts)
    secret = {place for start, end in REDACTOR.secrets_in(text) for place in range(start, end)}
    given, done = fed(parts)
    assert done == given, "every piece is decided, in order"
    at = 0
    for part, piece in zip(parts, given, strict=True):
        secret -= {at + place for start, end in piece.masks for place in range(start, end)}
        at += len(part)
    return len(secret)


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_that_is_cut_anywhere_is_masked_in_every_piece(text: str) -> None:
    """In two, at every place."""
    assert REDACTOR.secrets_in(text)
    assert [place for place in range(1, len(text)) if shown(cut(text, place)) > TOLD_CHARS] == []


@pytest.mark.parametrize("text", TEXTS[:5])
def test_a_secret_in_three_pieces_is_masked_in_every_one(text: str) -> None:
    """At every two places; and in pieces of one character each."""
    places = itertools.combinations(range(1, len(text)), 2)
    assert [both for both in places if shown(cut(text, *both)) > TOLD_CHARS] == []
    assert shown(list(text)) <= TOLD_CHARS


def test_a_piece_keeps_its_own_text_with_one_mark_for_a_secret() -> None:
    """Nothing moves from one piece to the next, and all of them together read as the text redacted at once."""
    given, _ = fed(["It is hunter2-", "secret", "-value! So", " it is"])
    assert [piece.text for piece in given] == [f"It is {REDACTED}", "", " So", " it is"]


def test_what_may_begin_a_secret_is_held_until_it_is_decided() -> None:
    """A piece of plain text is not held at all."""
    given, done = fed(["plain ", "text, hunt", "ing for", " more"], close=False)
    assert done == given
    assert [piece.text for piece in given] == ["plain ", "text, hunt", "ing for", " more"]
    assert len(fed(["plain ", "text, hunt"], close=False)[1]) == 1


def test_the_beginning_of_a_secret_at_the_end_is_masked_if_it_tells() -> None:
    """Nobody says the rest of it any more."""
    assert [piece.text for piece in fed(["It is hunter2-sec"])[0]] == [f"It is {REDACTED}"]
    assert [piece.text for piece in fed(["It is hunt"])[0]] == ["It is hunt"]
    assert [piece.text for piece in fed(["see https://example.com"])[0]] == ["see https://example.com"]


def test_by_force_any_beginning_is_masked_and_so_is_the_rest() -> None:
    """Where too much waits behind it."""
    text = Pieces(REDACTOR)
    begun, rest = Piece("It is hunt", None), Piece("er2-secret-value! So", None)
    assert text.feed(begun) == []
    assert text.is_open
    assert text.close(forced=True) == [begun]
    assert text.close(forced=True) == []
    assert text.feed(rest) == [rest]
    assert (begun.text, rest.text) == (f"It is {REDACTED}", " So")


def test_a_secret_without_an_end_is_masked_in_bounded_memory() -> None:
    """Its head and its tail are all that is remembered."""
    text = Pieces(REDACTOR)
    pieces = [Piece('{"password": "', None), *(Piece("abcdefgh" * 100, None) for _ in range(50)), Piece('", 1', None)]
    for piece in pieces:
        text.feed(piece)
        assert len(text._kept) < 3 * module.HEAD_CHARS
    assert [piece.text for piece in pieces] == ['{"password": "', REDACTED, *[""] * 49, '", 1']


def test_a_word_without_an_end_is_remembered_up_to_a_bound() -> None:
    """It may become a token as long as the longest that is known; what is beyond is let go."""
    text = Pieces(REDACTOR)
    for _ in range(30):
        text.feed(Piece("x" * 1000, None))
    assert len(text._kept) == module.MAX_KEPT_CHARS


def test_many_pieces_pass_at_once_if_nothing_is_in_them() -> None:
    """Not if a secret is, or begins; nor if one piece alone looks like one; nor while another is open."""
    assert Pieces(REDACTOR).pass_by(["plain ", "words ", "only"])
    assert not Pieces(REDACTOR).pass_by(["plain ", "hunter2-sec", "ret-value! x"])
    assert not Pieces(REDACTOR).pass_by(["plain ", "hunt"])
    assert not Pieces(REDACTOR).pass_by(["glued", GITHUB])
    text = Pieces(REDACTOR)
    text.feed(Piece("hunt", None))
    assert not text.pass_by(["x"])


def test_what_looks_like_a_secret_alone_is_masked_alone() -> None:
    """Glued to what was said before it is no token; in its frame it is."""
    assert [piece.text for piece in fed(["glued", JWT, " so"])[0]] == ["glued", REDACTED, " so"]


def test_what_passed_at_once_is_remembered() -> None:
    """The name of a secret in one run of pieces, its value in the next."""
    text = Pieces(REDACTOR)
    assert text.pass_by(["the pass", "word = "])
    piece = Piece("swordfish99 x", None)
    assert text.feed(piece) == [piece]
    assert piece.text == f"{REDACTED} x"


def test_a_line_end_ends_what_a_name_began() -> None:
    """A secret's value stands in the line of its name."""
    text = Pieces(REDACTOR)
    assert text.pass_by(["the password\n", "is "])
    assert text._kept == ""
