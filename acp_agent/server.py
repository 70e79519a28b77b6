"""Serve an agent: the protocol's methods on one side, the agent's on the other.

Owns sessions and running turns. A prompt runs as a task of its own; a cancel is answered within a second whatever the
agent does; at the end of stdin, or on SIGTERM, turns are cancelled, what was accepted is answered, and nothing is left.
(ACP v1, initialization, session setup, prompt turn, cancellation.)
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final

import anyio
import anyio.abc
import anyio.to_thread

from acp_agent.agent import (
    OPTIONAL_METHODS,
    Agent,
    auth_methods,
    capabilities,
    check_agent,
    load_models,
    prompt_kinds,
    read_client,
    wire_answer,
)
from acp_agent.children import end_children, kill_children
from acp_agent.context import Context, Updates
from acp_agent.leash import Leash
from acp_agent.running import RunningTurn, Sessions, log_failure
from acp_agent.stdio import claim_stdio
from acp_client.protocol import models
from acp_client.protocol.dispatch import Dispatcher, Handler
from acp_client.protocol.errors import INVALID_PARAMS, NOT_INITIALIZED, SESSION_BUSY, RpcError
from acp_client.protocol.methods import METHODS
from acp_client.protocol.peer import Peer
from acp_client.protocol.states import FrameDropped, NoiseReceived, TheirRequest
from acp_client.protocol.streams import FdTransport
from acp_client.protocol.transport import Transport

PROTOCOL_VERSION: Final = 1
EOF_TURN_SECONDS: Final = 0.4
"""After the end of stdin, how long a turn may go on before it is cancelled."""
EOF_ANSWER_SECONDS: Final = 0.2
"""How long a turn that was cancelled because we leave may take to end by itself; then it is answered for."""
EOF_DRAIN_SECONDS: Final = 0.7
"""After the end of stdin, how long until we end our children and go, whatever is still open: within a second."""


class Server:
    """One agent behind one connection. The listener of its peer."""

    def __init__(self, agent: Agent, transport: Transport, *, on_end: Callable[[], None] = lambda: None) -> None:
        self._agent = agent
        self._on_end = on_end
        self._initialized = False
        self._said: Any = None
        self._client = cache(lambda: read_client(self._said))
        self._sessions = Sessions()
        self._turns: dict[str, RunningTurn] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._dispatcher = Dispatcher(
            self._handlers(), direct={"initialize": self._initialize}, preload=lambda: load_models(self._said)
        )
        self._transport = transport
        self._peer = Peer(transport, self, self._dispatcher, answer_noise=True, drain_seconds=EOF_DRAIN_SECONDS)

    async def run(self) -> None:
        """Serve until the client closes our stdin or stops reading. Safe to cancel."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._end_when_lost)
            await self._peer.run()
            self.cancel_turns()
            tasks.cancel_scope.cancel()

    async def _end_when_lost(self) -> None:
        await self._peer.lost()
        self.cancel_turns()  # nobody hears us any more
        self._transport.close()  # as if stdin had ended

    def cancel_turns(self) -> None:
        """We leave: cancel what runs; each prompt is answered `cancelled`."""
        for turn in self._turns.values():
            turn.cancel(EOF_ANSWER_SECONDS)

    # ---- the listener

    def on_read(self, size: int) -> None:
        """Nothing to do."""

    def on_batch_end(self) -> None:
        """Nothing to do."""

    def on_texts(self, texts: list[str], like: dict[str, Any]) -> None:
        """No client sends updates."""

    def on_noise(self, noise: NoiseReceived) -> None:
        """The peer answers it."""

    def on_dropped(self, frame: FrameDropped) -> None:
        """An answer that nobody waits for: ignored."""

    def on_eof(self) -> None:
        """Let turns end for a moment, then cancel them, so that each is answered."""
        self._on_end()
        self._spawn(self._cancel_turns_soon)

    def on_notification(self, message: dict[str, Any]) -> None:
        """`session/cancel` is the one that we know; unknown ones are ignored (ACP v1, extensibility)."""
        session_id = (message.get("params") or {}).get("sessionId")
        if message["method"] == "session/cancel" and isinstance(session_id, str):
            turn = self._turns.get(session_id)
            if turn is not None:  # cancelling an idle session means nothing
                turn.cancel()
                self._spawn(self._agent.cancel, session_id)

    def _spawn(self, task: Callable[..., Awaitable[Any]], *args: Any) -> None:
        assert self._tasks is not None  # the peer runs inside of run
        self._tasks.start_soon(_contained, task, *args)

    async def _cancel_turns_soon(self) -> None:
        await anyio.sleep(EOF_TURN_SECONDS)
        self.cancel_turns()

    # ---- methods

    def _handlers(self) -> dict[str, Handler]:
        handlers: dict[str, Handler] = {
            "session/new": self._new_session,
            "session/prompt": self._prompt,
        }
        for name, method in OPTIONAL_METHODS.items():
            if hasattr(self._agent, name):
                handlers[method] = self._optional(method, getattr(self._agent, name))
        return handlers

    async def _initialize(self, request: TheirRequest) -> dict[str, Any]:
        """Answer version 1 whatever integer was offered (ACP v1, initialization): it is the latest that we speak."""
        version = request.params.get("protocolVersion")
        if type(version) is not int or version < 0:
            raise RpcError(
                INVALID_PARAMS,
                f"protocolVersion is {version!r}; ACP wants an integer such as 1 (a date string is how MCP does it)",
            )
        self._initialized, self._said = True, request.params.get("clientCapabilities")
        self._client.cache_clear()
        info = {"name": self._agent.name, "version": self._agent.version}
        title = getattr(self._agent, "title", None)
        self._spawn(anyio.to_thread.run_sync, self._dispatcher.load)  # while the client thinks of its next request
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": capabilities(self._agent),
            "agentInfo": info if title is None else info | {"title": title},
            "authMethods": auth_methods(self._agent, self._client),
        }

    async def _new_session(self, request: TheirRequest) -> dict[str, Any]:
        params = self._read(models.NewSessionRequest, request)
        _check_absolute("cwd", params.cwd)
        wire = self._wire(request.method, await self._agent.new_session(params))
        session_id = wire.get("sessionId") or uuid.uuid4().hex
        self._sessions.open(session_id, params.cwd)
        return wire | {"sessionId": session_id}

    async def _prompt(self, request: TheirRequest) -> dict[str, Any]:
        params = self._read(models.PromptRequest, request)
        session = self._sessions.find(params.session_id)
        if params.session_id in self._turns:
            raise RpcError(SESSION_BUSY, "this session has a prompt running; wait for its answer or cancel it")
        self._check_content(params)
        turn = RunningTurn(Context(self._peer, params, session, self._client()))
        self._turns[params.session_id] = turn
        try:
            self._spawn(turn.run, self._agent)
            await turn.settled()
        finally:
            turn.context.open = False
            turn.scope.cancel()
            del self._turns[params.session_id]
        return turn.answer()

    def _optional(self, method: str, call: Callable[[Any], Awaitable[Any]]) -> Handler:
        async def handle(request: TheirRequest) -> dict[str, Any]:
            params = self._read(METHODS[method].params_model(), request)
            session_id = getattr(params, "session_id", None)
            if method in ("session/load", "session/resume"):
                return await self._reopen(method, params, call)
            if method in ("session/set_mode", "session/set_config_option", "session/close"):
                self._sessions.find(session_id)
            if method == "session/close":
                await self._close(session_id)
            return self._wire(method, await call(params))

        return handle

    async def _reopen(self, method: str, params: Any, call: Callable[..., Awaitable[Any]]) -> dict[str, Any]:
        """Loading replays the history before it is answered, resuming sends none (ACP v1, session setup)."""
        _check_absolute("cwd", params.cwd)
        if method == "session/load":
            history = Updates(self._peer, params.session_id)
            answer = await call(params, history)
            history.open = False
        else:
            answer = await call(params)
        self._sessions.open(params.session_id, params.cwd)
        return self._wire(method, answer)

    def _wire(self, method: str, answer: models.WireModel | None) -> dict[str, Any]:
        return wire_answer(method, answer, self._client())

    async def _close(self, session_id: str | None) -> None:
        """Closing implies cancelling (ACP v1, session setup)."""
        turn = self._turns.get(session_id or "")
        if turn is not None:
            turn.cancel()
            await turn.settled()
        self._sessions.close(session_id)

    # ---- checks

    def _read(self, model: type[Any], request: TheirRequest) -> Any:
        if not self._initialized:
            raise RpcError(NOT_INITIALIZED, f"{request.method} before initialize; send initialize first")
        try:
            return model.from_wire(request.params)
        except models.ModelError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error

    def _check_content(self, params: models.PromptRequest) -> None:
        takes = prompt_kinds(self._agent)
        for index, block in enumerate(params.prompt):
            if block.type not in takes:
                raise RpcError(
                    INVALID_PARAMS, f"prompt[{index}]: {block.type!r} is not taken; this agent takes {sorted(takes)}"
                )


def _check_absolute(name: str, path: str) -> None:
    if not os.path.isabs(path):  # noqa: PTH117  # a wire value, not our path
        raise RpcError(INVALID_PARAMS, f"{name} is {path!r}; ACP wants absolute paths")


async def _contained(task: Callable[..., Awaitable[Any]], *args: Any) -> None:
    try:
        await task(*args)
    except Exception:  # noqa: BLE001  # a notification has nobody to tell: log and go on
        log_failure("task failed", task=getattr(task, "__name__", "task"))


async def serve(agent: Agent, *, transport: Transport | None = None) -> None:
    """Serve an agent until its client goes; over stdio, or over a transport (a memory pair in tests).

    Over stdio file descriptor 1 is claimed for the wire, stray prints go to stderr, and the end of stdin is the end of
    the process: it exits with 0 where a turn that cannot be cancelled keeps this call from returning. Safe to cancel.
    """
    check_agent(agent)
    if transport is not None:
        await Server(agent, transport).run()
        return
    with Leash(0, _exit_now) as leash, claim_stdio() as stdio:
        server = Server(agent, stdio, on_end=leash.tighten)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_on_signal, server, stdio)
            await server.run()
            tasks.cancel_scope.cancel()
        await end_children()


async def _stop_on_signal(server: Server, stdio: FdTransport) -> None:
    """A signal means: no more input. What runs is cancelled and answered, as at the end of stdin."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _number in signals:
            server.cancel_turns()
            stdio.finish()


def _exit_now() -> None:
    """Leave without asking anybody: from the leash's thread, when the rest of the process does not let go."""
    kill_children()
    os._exit(0)


def main(agent: Agent) -> None:
    """Serve an agent over stdio as the whole of a program: `main(MyAgent())`."""
    with suppress(KeyboardInterrupt):
        anyio.run(lambda: serve(agent))
