"""Currencies as people write them: codes, names, symbols, and the hundredths that some prices are quoted in.

Owns the tables. Leaves the instrument's own currency to `reference` and the choice between sources
to `finish`.
"""

from dataclasses import dataclass
from decimal import Decimal

from acp_agent.agents.trades.vocabulary import mapping, section, words

__all__ = ["Money", "read_currency"]

_WHOLE, _HUNDRED = Decimal(1), Decimal(100)


@dataclass(frozen=True, slots=True)
class Money:
    """What a currency cell says.

    One code, or several candidates; prices are divided by `divisor` to be in `code`.
    """

    written: str
    code: str | None
    candidates: tuple[str, ...] = ()
    divisor: Decimal = _WHOLE


def read_currency(text: str) -> Money | None:
    """Read a code, a name or a symbol.

    None when it is no currency. Case counts only for hundredths (`GBp`).
    """
    written = text.strip()
    hundredths, names = mapping("currencies", "hundredths"), mapping("currencies", "words")
    if written in hundredths:
        return Money(written, hundredths[written], divisor=_HUNDRED)
    word = " ".join(written.casefold().split()).rstrip(".")
    if word.upper() in words("currencies", "codes"):
        return Money(written, word.upper())
    if word in names:
        return Money(written, names[word])
    several = section("currencies", "several").get(word)
    return Money(written, None, tuple(several)) if several else None
