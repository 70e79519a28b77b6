"""Prompts as callers write them, to content blocks in wire shape. Pure; checks the shape, not what the agent takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from acp_client.protocol import models

Prompt: TypeAlias = str | Sequence["models.ContentBlock | Mapping[str, Any]"]
"""A string, or content blocks: models, or dicts in wire shape.

A lone surrogate in it (half of a character, as `os.fsdecode` makes of odd bytes) reaches the agent as U+FFFD: ACP is
UTF-8, which has no way to write one.
"""


@dataclass(frozen=True, slots=True)
class Briefing:
    """A prompt in all its forms, since what an agent takes is known only once it has said so. Blocks in wire shape.

    `task` with `meta` is for an agent that knows our extension; `embedded` for one that takes embedded resources,
    `text` for any other. A prompt without more to say has its task alone. `call_path` is which request it is, see
    `record.format.call_path`; "" where whoever runs it is to say.
    """

    task: Sequence[dict[str, Any]]
    text: Sequence[dict[str, Any]] = ()
    embedded: Sequence[dict[str, Any]] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    call_path: str = ""

    def fit(self, *, extension: bool, embedded: bool) -> list[dict[str, Any]]:
        """The blocks for an agent that knows our extension (`meta` goes beside them), takes resources, or neither."""
        told = self.task if extension else self.embedded if embedded else self.text
        return list(told or self.task)


def prompt_blocks(prompt: Prompt) -> list[dict[str, Any]]:
    """The blocks of a prompt. Raises TypeError or ValueError that names the block and the rule."""
    if isinstance(prompt, str):
        return [{"type": "text", "text": prompt}]
    if isinstance(prompt, bytes | Mapping) or not isinstance(prompt, Sequence):
        raise TypeError(f"prompt must be a str or a list of content blocks, not {type(prompt).__name__}")
    if not prompt:
        raise ValueError("prompt must hold at least one content block")
    return [_block(index, block) for index, block in enumerate(prompt)]


def _block(index: int, block: object) -> dict[str, Any]:
    wire = block.to_wire() if isinstance(block, models.WireModel) else block
    if not isinstance(wire, Mapping):
        raise TypeError(f"prompt[{index}] must be a content block or a dict in wire shape, not {type(block).__name__}")
    try:
        models.parse_content_block(dict(wire))
    except models.ModelError as error:
        raise ValueError(f"prompt[{index}]: {error}") from error
    return dict(wire)
