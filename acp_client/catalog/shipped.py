"""The agents that we ship, as data: they run in processes of their own and are never imported here.

Owns their names, descriptions and commands; a test holds them against what `acp_agent` serves.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_client.spec import AgentSpec


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One agent: its name, what it does in a line, its argv, and where the entry comes from."""

    name: str
    description: str
    command: tuple[str, ...]
    source: str

    def spec(self) -> AgentSpec:
        """The agent, ready to be run with the defaults of `AgentSpec`."""
        from acp_client.spec import AgentSpec  # noqa: PLC0415  # a list of names needs no pydantic

        return AgentSpec(command=self.command, name=self.name)


def _shipped(name: str, description: str) -> CatalogEntry:
    # -P: the child starts in the caller's folder, whose files must not be taken for Python's own modules.
    return CatalogEntry(name, description, (sys.executable, "-P", "-m", "acp_agent", name), "shipped")


_ENTRIES: Final = (
    _shipped("echo", "says back what it is told"),
    _shipped("trade_file_extractor", "extracts normalised trades from a messy file"),
    _shipped("risk_judge", "validates proposed trades against limits"),
    _shipped("counterparty_resolver", "resolves a counterparty's name to the one with an LEI"),
)

SHIPPED: Final[Mapping[str, CatalogEntry]] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
