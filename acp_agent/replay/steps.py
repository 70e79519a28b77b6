"""The steps of a recording: what is heard of the client, what the agent says, and the lanes that they stand in. Data.

Owns the shapes, and what of them changes while they are played. `recording` builds them, `player` plays them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from acp_agent.replay.departure import Departure

CANCEL_REQUEST: Final = "$/cancel_request"
OPENING: Final = "session/new"


@dataclass(slots=True, eq=False)
class Hear:
    """A frame of the client: the lane goes on once it has come. `answer_at` is where its answer stands, if it has one.

    `optional` ones change nothing: they are taken where they come, and not waited for.
    """

    number: int
    t: float | None
    message: dict[str, Any]
    index: int = 0
    lane: Lane | None = None
    method: str | None = None
    is_request: bool = False
    answer_at: int | None = None
    about: Hear | None = None
    optional: bool = False
    heard: bool = False
    heard_at: float = 0.0
    skipped: bool = False
    live_id: Any = None

    @property
    def what(self) -> str:
        """What it is, for a message to a person."""
        return self.method or ("an answer" if "id" in self.message else "a line that is no frame")


@dataclass(slots=True, eq=False)
class Ask:
    """A request of the agent, and the client's answer to it, if there was one."""

    method: str
    answer: Hear | None = None
    live_id: Any = None


@dataclass(slots=True, eq=False)
class Say:
    """What the agent wrote: a frame or a raw line. It may answer requests, ask one, or take one back (`about`)."""

    number: int
    t: float | None
    message: dict[str, Any] | None = None
    raw: str | None = None
    index: int = 0
    answers: list[Hear] = field(default_factory=list)
    ask: Ask | None = None
    raw_asks: list[tuple[Any, Ask]] = field(default_factory=list)
    about: Ask | None = None


@dataclass(slots=True, eq=False)
class Err:
    """What the agent wrote to stderr."""

    number: int
    t: float | None
    text: str
    index: int = 0


Step: TypeAlias = Hear | Say | Err


@dataclass(slots=True, eq=False)
class Lane:
    """Steps in recorded order, and how far they are played; `since` is when the last one was done."""

    steps: list[Step] = field(default_factory=list)
    at: int = 0
    since: float | None = None
    last_t: float | None = None


@dataclass(slots=True, eq=False)
class Recording:
    """A whole run. `hears` are all frames of the client, `capabilities` what it offered.

    It is no more `is_whole` if frames were left out when it was written. `first_free_id` and those above it are used by
    no request of the agent.
    """

    name: str
    lanes: list[Lane]
    hears: list[Hear]
    departure: Departure
    first_free_id: int
    capabilities: dict[str, Any] = field(default_factory=dict)
    is_whole: bool = True


def params_of(message: dict[str, Any]) -> dict[str, Any]:
    """The params of a call, empty where there are none that can be read."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}
