"""Agents by name: what `subagent run --agent NAME` and `find(name)` know.

Owns the names. Imports no agent: an entry is data, how to start a program.
"""

from __future__ import annotations

from collections.abc import Mapping

from acp_client.catalog.shipped import SHIPPED, CatalogEntry

__all__ = ["SHIPPED", "CatalogEntry", "agents", "find"]


def agents() -> Mapping[str, CatalogEntry]:
    """All agents that have a name here, in the order in which they are listed."""
    return SHIPPED


def find(name: str) -> CatalogEntry | None:
    """The agent of this name, exactly; None where there is none."""
    return agents().get(name)
