"""What a run takes from this process and from its spec before there is a child: environment, depth, secrets.

Owns that it is worked out once for a spec while nothing changes: the environment is that of the moment of the call, and
to read and judge all of it takes longer than to see that it is the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from acp_client.process.environment import ScrubbedEnvironment, argument_secrets, scrub, secret_values
from acp_client.process.redaction import Redactor
from acp_client.record.place import without_place
from acp_client.run.child.depth import Depth, read_depth, without_depth
from acp_client.spec import AgentSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Shared by runs of equal specs, and changed by none."""

    environment: ScrubbedEnvironment
    handed_on: Mapping[str, str] = field(repr=False)
    """The variables for the child, without its place among others."""
    depth: Depth
    known_secrets: tuple[str, ...] = field(repr=False)
    redactor: Redactor


MOST_KNOWN: Final = 64
"""Of how many specs it is remembered. More of them, and all are worked out anew."""

_Raw: TypeAlias = dict[bytes, bytes]
_Key: TypeAlias = tuple[Any, ...]
_known: Final[dict[_Key, tuple[_Raw, Surroundings]]] = {}


def surroundings_of(spec: AgentSpec) -> Surroundings:
    """As they are now."""
    now = None if spec.mcp_servers else _raw_environment()
    if now is None:
        return _look(spec, os.environ)
    key = (spec.command, spec.env_passthrough, *spec.env.items())
    known = _known.get(key)
    if known is not None and known[0] == now:
        return known[1]
    found = _look(spec, os.environ)
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[key] = (dict(now), found)
    return found


def _raw_environment() -> _Raw | None:
    """What `os.environ` decodes anew at each look; None where somebody has put another mapping in its place."""
    return getattr(os.environ, "_data", None)


def _look(spec: AgentSpec, environ: Mapping[str, str]) -> Surroundings:
    environment = scrub(environ, explicit=spec.env, passthrough=spec.env_passthrough)
    pairs = [(pair.name, pair.value) for server in spec.mcp_servers for pair in _pairs(server)]
    words = (spec.command, *(tuple(getattr(server, "args", None) or ()) for server in spec.mcp_servers))
    told = (secret for command in words for secret in argument_secrets(command))
    known_secrets = (*environment.secrets, *secret_values(pairs), *told)
    return Surroundings(
        environment=environment,
        handed_on=without_depth(without_place(environment.variables)),
        depth=read_depth(environ),
        known_secrets=known_secrets,
        redactor=Redactor(known_secrets),
    )


def _pairs(server: Any) -> list[Any]:
    """The env of a stdio server, the headers of the others: where their secrets are."""
    return [*(getattr(server, "env", None) or ()), *(getattr(server, "headers", None) or ())]
