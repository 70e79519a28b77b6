"""A turn, asked for and ended (ACP v1, prompt turn and cancellation).

Owns the prompt, its result and both ways to cancel. What a stop reason means for a run is decided
elsewhere; what happens during the turn is in the chapter on updates.
"""

from typing import Annotated, Any, Literal

from acp_client.protocol.models.base import OR_NONE, LenientUInt, Reader, WireModel
from acp_client.protocol.models.content import ContentBlock

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


def _read_request_id(value: object) -> int | str | None:
    """An id of JSON-RPC, with its type."""
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    message = "should be an integer, a string or null"
    raise ValueError(message)


RequestId = Annotated[int | str | None, Reader(_read_request_id)]
"""An id of a JSON-RPC request; null is legal and discouraged."""


class PromptRequest(WireModel):
    """Params of `session/prompt`."""

    session_id: str
    prompt: list[ContentBlock]


class Usage(WireModel):
    """Tokens that a turn took; not part of stable v1 yet sent by agents, so all lenient."""

    input_tokens: LenientUInt = None
    output_tokens: LenientUInt = None
    total_tokens: LenientUInt = None
    cached_read_tokens: LenientUInt = None
    cached_write_tokens: LenientUInt = None
    thought_tokens: LenientUInt = None


class PromptResponse(WireModel):
    """Result of `session/prompt`.

    The stop reason is kept as it came, whatever it is, and None where there was none: what to make
    of a bad one is a decision, not a question of shape. An agent always gives one of `StopReason`.
    """

    stop_reason: Any = None
    usage: Annotated[Usage | None, OR_NONE] = None


class CancelNotification(WireModel):
    """Params of `session/cancel`: the turn that runs in the session is to end."""

    session_id: str


class CancelRequestNotification(WireModel):
    """Params of `$/cancel_request`: the sender no longer needs the answer to its request."""

    request_id: RequestId
