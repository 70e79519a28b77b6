"""The cases of hostile and odd children, by their ids: each is tested somewhere, or is still to come."""

from typing import Final

NUMBERS: Final[dict[str, tuple[int, ...]]] = {
    "SCHEMA": (1, 2, 4, 5, 6, 7, 8, 10, 12),
    "ASYNC": (1, 2, 3, 6, 7),
    "TREE": (1, 2, 3, 4, 6, 7),
    "PERM": (1, 2, 3, 5, 7, 8, 9, 11, 12),
    "ENC": (1, 2, 3, 4, 6, 7),
    "NOISE": (1, 3, 5, 6, 7),
    "HANG": (1, 3, 4, 5, 7),
    "START": (1, 2, 3, 5, 7),
    "DEATH": (1, 3, 4, 5, 6),
    "ORDER": (1, 2, 3, 4),
    "TEXT": (2, 3, 5, 7),
    "CAP": (1, 2, 4, 5, 7),
    "CANCEL": (1, 2, 3, 6, 7, 8),
    "ERRMSG": (1, 2, 4),
    "LIMIT": (1, 3),
    "ENV": (1, 2, 3, 4, 5),
    "STOP": (1, 2, 4, 5, 6),
    "STDERR": (1, 2),
    "CONC": (1, 2, 3),
    "AUTH": (1, 3, 5),
    "WAIT": (1,),
    "BUDGET": (1,),
    "CWD": (1,),
    "STRUCT": (1,),
    "SECRET": (1,),
}
"""Groups of cases and the numbers in use; a missing number was never given out."""

ROWS: Final = tuple(f"{group}-{number}" for group, numbers in NUMBERS.items() for number in numbers)
"""All ids, in their order."""

LATER: Final[dict[str, str]] = {
    "CAP-5": "paths are compared once file services are offered; until then every one is refused",
    "CONC-3": "terminals are not offered yet; until then every request for one is refused",
    "STRUCT-1": "values are looked for in text once a type can be asked for; until then they come by completion alone",
}
"""Cases that wait for a feature, and for which; what holds until then is tested all the same where anything does."""
