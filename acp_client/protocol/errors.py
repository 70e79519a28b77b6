"""Errors of the wire, split by whose fault they are, and the JSON-RPC error codes.

Owns the exception tree of the protocol. Leaves to `dispatch` how an exception becomes a wire error, and to
`acp_client.outcome` how a failed run is told to the caller.
"""

from __future__ import annotations

from typing import Any, Final

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
SESSION_BUSY: Final = -32050
"""Ours: a second prompt for a session whose turn still runs (outside the codes that ACP defines)."""
TOO_MANY_REQUESTS: Final = -32051
"""Ours: the other side has more requests open than we agreed to hold."""
NOT_INITIALIZED: Final = -32052
"""Ours: a request before `initialize`."""


class AcpError(Exception):
    """Root of every error that this library raises on purpose."""


class LocalError(AcpError):
    """Our own side asked for something illegal, such as answering a request twice: a bug of the caller."""


class RemoteError(AcpError):
    """The other side broke the protocol, answered with an error, or went away."""


class RpcError(AcpError):
    """Raise it in a handler to answer the request with this JSON-RPC error.

    `message` and `data` go to the other side as they are: no secrets, no traceback. Any other exception in a
    handler is answered as a bare -32603 and logged on our side only.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class RequestFailed(RemoteError):
    """The other side answered our request with a JSON-RPC error.

    `code` is None where the error object held none (or one that is no integer); `message` is then what there was.
    """

    def __init__(self, method: str, code: int | None, message: str, data: Any = None) -> None:
        super().__init__(f"{method}: {message} ({code})")
        self.method = method
        self.code = code
        self.message = message
        self.data = data


class MalformedAnswer(RemoteError):
    """An answer to our request that cannot be used: `detail` names the field and the rule."""

    def __init__(self, method: str, detail: str) -> None:
        super().__init__(f"answer to {method}: {detail}")
        self.method = method
        self.detail = detail


class FrameTooLong(RemoteError):
    """A frame over the limit that may have been an answer or a request: the connection cannot be trusted further."""

    def __init__(self, limit_bytes: int, head: bytes) -> None:
        super().__init__(f"a frame is longer than max_frame_bytes = {limit_bytes}")
        self.limit_bytes = limit_bytes
        self.head = head


class ConnectionClosed(RemoteError):
    """The other side closed the connection, or we did, with this request unanswered."""

    def __init__(self, method: str | None = None, *, sent: bool = True) -> None:
        super().__init__("the connection is closed" if method is None else f"closed before {method} was answered")
        self.method = method
        self.sent = sent
        """False only where no byte of the request can have reached the other side."""
