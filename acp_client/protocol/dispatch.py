"""The one adapter around jsonrpcserver, and the one place where exceptions become wire errors.

Owns how a request of the other side reaches its handler and what its failure looks like on the wire. Written against
jsonrpcserver 5.0.9, pinned exactly, since an inner function of it is used: its public entry gathers with asyncio,
which fails on trio. It is imported when the first request arrives, not before: that takes longer than most runs need.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from threading import Lock
from typing import Any, Final, TypeAlias

from acp_client.protocol.errors import INTERNAL_ERROR, REQUEST_CANCELLED, TOO_MANY_REQUESTS, RpcError
from acp_client.protocol.states import TheirRequest

Handler: TypeAlias = Callable[[TheirRequest], Awaitable[Any]]
"""Takes the request, returns the JSON-ready result, or raises `RpcError` for an error answer."""

Rest: TypeAlias = Callable[[], Awaitable[Any]]
AtOnce: TypeAlias = Callable[[TheirRequest], "dict[str, Any] | Rest"]
"""The same without a wait: the result, or what to call for it in a task."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: a result, or an error where `code` is set."""

    result: Any = None
    code: int | None = None
    message: str = ""
    data: Any = None


CLOSING: Final = Answer(code=INTERNAL_ERROR, message="the connection is closing")
CANCELLED: Final = Answer(code=REQUEST_CANCELLED, message="Request cancelled")
TOO_MANY: Final = Answer(code=TOO_MANY_REQUESTS, message="too many requests are open")


class Dispatcher:
    """Handlers by method name. `direct` ones bypass jsonrpcserver: those that are answered before it is loaded.

    So do those `at_once`, which are asked for often and seldom have to wait: they return the result, or what is to be
    awaited for it, and get no task unless they do. `preload` imports what the other handlers need, in the thread that
    loads it.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        direct: Mapping[str, Handler] | None = None,
        at_once: Mapping[str, AtOnce] | None = None,
        preload: Callable[[], object] = lambda: None,
    ) -> None:
        self._handlers = dict(handlers)
        self._direct = dict(direct or {})
        self._at_once = dict(at_once or {})
        self._preload = preload
        self._loading = Lock()
        self._methods: dict[str, Any] | None = None

    def needs_loading(self, method: str) -> bool:
        """True if dispatching this method would import jsonrpcserver: call `load` in a worker thread before."""
        return self._methods is None and method not in self._direct

    def load(self) -> None:
        """Import jsonrpcserver and register the handlers with it. Idempotent, safe in a worker thread."""
        with self._loading:  # who comes second waits: two threads in one import can meet modules half made
            if self._methods is None:
                self._methods = self._load()

    def _load(self) -> dict[str, Any]:
        self._preload()
        # It reads its schema with a call that 3.11 and 3.12 deprecate; under -W error its import would fail.
        warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
        from jsonrpcserver.result import Success  # noqa: PLC0415  # 100 ms, and most runs never need it

        def method(handler: Handler) -> Callable[..., Awaitable[Any]]:
            # Keyword parameters that a method does not name are refused, and ACP adds fields: take any.
            async def call(request: TheirRequest, /, **_params: Any) -> Any:
                return Success(await _answer(handler, request))

            call.__signature__ = signature(call)  # type: ignore[attr-defined]  # asked for with every request
            return call

        return {name: method(handler) for name, handler in self._handlers.items()}

    def begin(self, request: TheirRequest) -> Answer | Rest | None:
        """Answer at once what can be; else what is to be awaited for it. None: `dispatch` it. Raises nothing."""
        handler = self._at_once.get(request.method)
        if handler is None:
            return None
        try:
            result = handler(request)
        except Exception as error:  # noqa: BLE001  # the boundary, as below
            return _failure(error, request)
        if not callable(result):
            return Answer(result=result)
        rest = result
        return lambda: _answer(lambda _request: rest(), request)

    async def dispatch(self, request: TheirRequest) -> Answer:
        """Run the handler for a request; its failure becomes an error answer. Raises nothing but cancellation."""
        if request.method in self._direct:
            return await _answer(self._direct[request.method], request)
        if self._methods is None:
            self.load()
        assert self._methods is not None  # load sets it
        from jsonrpcserver.async_dispatcher import dispatch_request  # noqa: PLC0415  # loaded by now
        from jsonrpcserver.request import Request  # noqa: PLC0415  # loaded by now

        _, outcome = await dispatch_request(self._methods, request, Request(request.method, request.params, request.id))
        if hasattr(outcome, "_error"):  # its Either has no public accessor
            error = outcome._error  # noqa: SLF001  # see above
            return Answer(code=error.code, message=error.message, data={"method": request.method})
        answer: Answer = outcome._value.result  # noqa: SLF001  # see above
        return answer


async def _answer(handler: Handler, request: TheirRequest) -> Answer:
    """The boundary: what a handler raises is told to the other side only as far as it was meant for it."""
    try:
        return Answer(result=await handler(request))
    except Exception as error:  # noqa: BLE001  # the boundary: a bug in a handler must not end the connection
        return _failure(error, request)


def _failure(error: Exception, request: TheirRequest) -> Answer:
    if isinstance(error, RpcError):
        return Answer(code=error.code, message=error.message, data=error.data)
    from acp_client.logs import get_logger  # noqa: PLC0415  # a failing handler is rare, its import is not free

    get_logger(__name__).error("handler failed", method=request.method, request_id=request.id, exc_info=error)
    return Answer(code=INTERNAL_ERROR, message="Internal error")
