"""Our extension of the protocol, as the parent knows it: a name, and where it stands in messages. Pure.

(ACP v1, extensibility: `_meta` is for such data, and whoever knows nothing of it is served all the same.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

COMPLETE_METHOD: Final = "_acp_subagents/complete"
"""A child of ours says the structured value that it completes with."""
EXTENSION_KEY: Final = "acp-subagents"
TRACE_KEY: Final = "sub_agent_trace"
"""What the sub-agents of an agent did, handed up with its value or its answer."""


def extension_in(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """What stands under our key in the `_meta` of a message, or of capabilities; empty if nothing does."""
    meta = message.get("_meta")
    found = meta.get(EXTENSION_KEY) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}
