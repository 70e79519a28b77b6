"""A sub-agent as a parent declares it: frozen data, checked when built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BeforeValidator, Field, SkipValidation

from acp_client.frozen import Frozen
from acp_client.spec import AgentSpec

NAME_PATTERN: Final = r"^[a-zA-Z0-9_-]{1,64}$"
"""What every function-calling API takes as the name of a tool."""


def _as_agent(value: Any) -> Any:
    if not isinstance(value, AgentSpec):
        raise ValueError('must be an AgentSpec, such as AgentSpec(command=("python", "agent.py"))')  # noqa: TRY004  # pydantic's
    return value


def check_declared(declared: Any) -> tuple[SubAgent, ...]:
    """All of them, if each is a SubAgent and no name comes twice. Raises ValueError, naming the place."""
    if isinstance(declared, str | bytes | Mapping | SubAgent) or not isinstance(declared, Iterable):
        raise ValueError(f"must be a list of SubAgent, not {type(declared).__name__}")  # noqa: TRY004  # pydantic's
    found: dict[str, SubAgent] = {}
    for index, one in enumerate(declared):
        if not isinstance(one, SubAgent):
            raise ValueError(f"[{index}] must be a SubAgent, not {type(one).__name__}; give a list of them")  # noqa: TRY004  # as above
        if one.name in found:
            raise ValueError(f"[{index}] is a second {one.name!r}; each sub-agent has a name of its own")
        found[one.name] = one
    return tuple(found.values())


class SubAgent(Frozen):
    """A specialist that a parent may ask: its name and description, and the agent that does the work.

    An agent without a name has this one in its runs: in events, approvals, logs and transcripts.
    `history_cap` bounds what it sees of a conversation that is handed on: the last so many messages as they are, of
    older ones the text alone; None: all of it. `result_type` is what it completes with (a type, a pydantic model, a
    TypeAdapter, a JSON Schema). `sub_agents` are its own: they run only where the parent allows a `max_depth` over 1,
    and only if the agent is a child of this library. A call's own cap and type win over these.

    Raises pydantic's ValidationError for a wrong argument, naming the field and the rule.
    """

    name: Annotated[str, Field(pattern=NAME_PATTERN, strict=True)]
    description: Annotated[str, Field(min_length=1, strict=True)]
    agent: Annotated[SkipValidation[AgentSpec], BeforeValidator(_as_agent)]
    history_cap: Annotated[int, Field(ge=0, strict=True)] | None = None
    result_type: Any = None
    sub_agents: Annotated[tuple[SkipValidation[SubAgent], ...], BeforeValidator(check_declared)] = ()

    if TYPE_CHECKING:  # what may be passed is wider than what is kept

        def __init__(
            self,
            *,
            name: str,
            description: str,
            agent: AgentSpec,
            history_cap: int | None = None,
            result_type: Any = None,
            sub_agents: Sequence[SubAgent] = (),
        ) -> None: ...

    def __hash__(self) -> int:
        """Equal ones are equal keys; a type that has no hash takes no part."""
        return hash((self.name, self.agent))

    def __repr__(self) -> str:
        return f"SubAgent(name={self.name!r}, agent={self.agent!r})"

    __str__ = __repr__
