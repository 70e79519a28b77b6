"""What a run takes from this process and from its spec before there is a child: environment, depth, secrets.

Owns that it is worked out once for a spec while nothing changes: the environment is that of the moment of the call, and
to read and judge all of it takes longer than to see that it is the same.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from acp_client.process.environment import ScrubbedEnvironment, argument_secrets, scrub, secret_values
from acp_client.process.redaction import Redactor
from acp_client.record.place import without_place
from acp_client.run.child.depth import Depth, read_depth, without_depth
from acp_client.spec import AgentSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Shared by runs of one spec, and changed by none."""

    environment: ScrubbedEnvironment
    handed_on: Mapping[str, str] = field(repr=False)
    """The variables for the child, without its place among others."""
    depth: Depth
    known_secrets: tuple[str, ...] = field(repr=False)
    redactor: Redactor


_Raw = dict[bytes, bytes]
_known: Final[dict[int, tuple[weakref.ref[AgentSpec], _Raw, Surroundings]]] = {}
"""By the identity of the spec, for as long as it lives."""


def surroundings_of(spec: AgentSpec) -> Surroundings:
    """As they are now."""
    now = _raw_environment()
    known = _known.get(id(spec))
    if known is not None and known[0]() is spec and known[1] == now:
        return known[2]
    found = _look(spec, os.environ)
    if now is not None:
        key = id(spec)
        _known[key] = (weakref.ref(spec, lambda _gone: _known.pop(key, None)), dict(now), found)
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
