"""A sub-agent's own sub-agents, on their way into its process and out again. Pure.

Owns what of a declaration is data: a function cannot go into another process, and a spec that has one is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from acp_client.delegate.declared import SubAgent
from acp_client.spec import AgentSpec
from acp_client.structured.output_type import OutputType

PLAIN: Final = (
    *("command", "cwd", "env", "env_passthrough", "permission", "mcp_servers", "model", "mode", "config_options"),
    *("auth_method", "system_prompt", "additional_directories", "budget", "limits", "name"),
)
"""Fields of a spec that are data."""


def hand_down(declared: Iterable[SubAgent]) -> list[dict[str, Any]]:
    """As JSON data; a result type as its schema. Raises ValueError for a spec that is more than data."""
    return [_described(one) for one in declared]


def take_over(described: Iterable[Mapping[str, Any]]) -> tuple[SubAgent, ...]:
    """What `hand_down` made, as sub-agents again. Raises ValueError for anything else."""
    return tuple(
        SubAgent(
            **{key: value for key, value in one.items() if key not in ("agent", "sub_agents")},
            agent=AgentSpec(**one["agent"]),
            sub_agents=take_over(one.get("sub_agents", ())),
        )
        for one in described
    )


def _described(one: SubAgent) -> dict[str, Any]:
    data: dict[str, Any] = {"name": one.name, "description": one.description, "agent": _spec(one)}
    if one.history_cap is not None:
        data["history_cap"] = one.history_cap
    wanted = OutputType.of(one.result_type)
    if wanted is not None:
        data["result_type"] = wanted.value_schema
    if one.sub_agents:
        data["sub_agents"] = hand_down(one.sub_agents)
    return data


def _spec(one: SubAgent) -> dict[str, Any]:
    spec = one.agent
    unset = AgentSpec(command=spec.command)
    given = [name for name in type(spec).model_fields if getattr(spec, name) != getattr(unset, name)]
    odd = [
        name for name in given if name not in PLAIN or (name == "permission" and not isinstance(spec.permission, str))
    ]
    if odd:
        raise ValueError(
            f"sub-agent {one.name!r}: its agent's {odd[0]} cannot go into the process of the sub-agent that asks it; "
            f"only data can: {', '.join(PLAIN)} (of permission a preset's name)"
        )
    servers = [server.to_wire() for server in spec.mcp_servers]
    data = spec.model_dump(mode="json", include={*given, "command"} - {"mcp_servers"}, exclude_unset=True)
    return data | ({"mcp_servers": servers} if servers else {})
