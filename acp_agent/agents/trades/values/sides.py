"""Buy or sell, in the spellings of several languages and systems. A word that is neither is not guessed."""

import re
import unicodedata

from acp_agent.agents.trades.model import Side
from acp_agent.agents.trades.vocabulary import words

__all__ = ["read_side"]

_WORDS = re.compile(r"[a-z]+")


def read_side(text: str) -> Side | None:
    """Read a side; None when the words name neither, or both, or a cancellation."""
    folded = unicodedata.normalize("NFKD", text).casefold().replace("ø", "o")
    parts = _WORDS.findall("".join(char for char in folded if not unicodedata.combining(char)))
    if words("sides", "neither").intersection(parts):
        return None
    sides: tuple[Side, ...] = ("buy", "sell")
    for side in sides:
        if "".join(parts) in words("sides", f"{side}_phrases"):
            return side
    named = [side for side in sides if words("sides", side).intersection(parts)]
    return named[0] if len(named) == 1 else None
