"""The host tools in the course of a run: offered in the handshake, watched over while it goes, closed with it.

Owns what a call means for the run: its events, its step of the budget, its permission, the clock that rests. Running
and serving the tools is the room `host_tools`'. Loaded only where a run has some.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc

from acp_client.host_tools import sdk
from acp_client.host_tools.consent import OwnTools, server_name
from acp_client.host_tools.hosting import Hosting, Way
from acp_client.host_tools.toolbox import MAX_CALLS_AT_ONCE, Call, Toolbox
from acp_client.logs import get_logger
from acp_client.loop.threads import in_thread
from acp_client.outcome.result import HostToolCall, RunResult
from acp_client.run.child.facts import Facts
from acp_client.session.clock import Clock
from acp_client.session.connection import Agent
from acp_client.session.ending import Ending, EndRun
from acp_client.session.events import HostToolCalled, HostToolReturned, HostToolsOffered
from acp_client.session.session import Session
from acp_client.session.stream import EventHub
from acp_client.spec import AgentSpec
from acp_client.tools.tool import HostTool

if TYPE_CHECKING:
    from acp_client.host_tools.web import WebHost


class Offering:
    """What one run offers. `join` comes before the handshake, `open` in it."""

    def __init__(
        self,
        spec: AgentSpec,
        *,
        facts: Facts,
        session: Session,
        clock: Clock,
        hub: EventHub,
        web: Callable[[], WebHost],
    ) -> None:
        self._spec = spec
        self._facts = facts
        self._session = session
        self._clock = clock
        self._hub = hub
        self._web = web
        self._secret = facts.make_tools_secret(spec.limits.stderr_tail_bytes)
        self._tasks: anyio.abc.TaskGroup | None = None
        self._loaded = anyio.Event()
        self._fault: str | None = None if sdk.is_installed() else sdk.NEEDED
        self._matched: set[str] = set()
        self._unreported: deque[Call] = deque(maxlen=MAX_CALLS_AT_ONCE)
        self._way: Way = "stdio"
        self._own: OwnTools | None = None
        self._toolbox: Toolbox | None = None
        self._hosting: Hosting | None = None
        self._closed = False
        self.on_record: Callable[[HostToolCall], None] | None = None  # told of each call when it has ended
        self.has_complete = False
        """The agent can hand over its value by calling the `complete` tool."""

    # ---- the course of a run

    def fault(self) -> Ending | None:
        """Why the tools cannot be offered, where that is known before anything is started."""
        needed = self._fault is not None and self._spec.host_tools
        stage = "spawn" if self._tasks is None else self._session.stage
        return Ending("unsupported_capability", self._fault or "", stage) if needed else None

    def join(self, tasks: anyio.abc.TaskGroup) -> None:
        """The run's tasks begin: what is needed is loaded while the agent starts."""
        self._tasks = tasks
        if self._spec.host_tools:
            tasks.start_soon(self._load)

    async def _load(self) -> None:
        try:
            if self._fault is None:
                await in_thread(sdk.load)
        except ImportError as error:
            self._fault = str(error)
        self._loaded.set()

    async def open(self, agent: Agent, complete: HostTool | None = None) -> list[dict[str, Any]]:
        """Our server as `session/new` wants it, over http if the agent takes that; none without tools. Raises EndRun.

        `complete` is offered beside the tools of the spec, if it can be and none of them is called so.
        """
        if not self._spec.host_tools:  # `complete` alone, which a child of ours is not offered: loaded only now
            await self._load()
        await self._loaded.wait()
        if (fault := self.fault()) is not None:
            raise EndRun(fault)
        tools = [*self._spec.host_tools]
        if complete is not None and self._fault is None and complete.name not in [tool.name for tool in tools]:
            tools.append(complete)
            self.has_complete = True
        if not tools or self._closed:
            return []
        others = [server.name for server in self._spec.mcp_servers]
        name = server_name(others)
        self._own = OwnTools(name, tools, others=others)
        self._session.permissions.own_tool = self._own.find
        self._session.turn.on_announced = self._announced
        self._toolbox = Toolbox(tools, self, self._facts.redactor, run_id=self._facts.run_id, agent=self._spec.label)
        self._hosting = Hosting(self._toolbox, name=name, secret=self._secret, web=self._web)
        self._way = "http" if agent.capabilities.mcp_capabilities.http else "stdio"
        return await self._serve(self._hosting)

    async def _serve(self, hosting: Hosting) -> list[dict[str, Any]]:
        assert self._tasks is not None  # `join` comes first
        try:
            return [await self._tasks.start(hosting.serve, self._way)]
        except OSError as error:
            message = f"the host tools cannot be served: {error}; free descriptors or ports, or offer none"
            if self._spec.host_tools:
                raise EndRun(Ending("spawn_failed", message, "session")) from error
            get_logger(__name__).warning(message, run_id=self._facts.run_id)
        self._toolbox = self._hosting = None  # `complete` alone: the value can be said in the answer
        self.has_complete = False
        return []

    async def await_listing(self) -> None:
        """Give the agent a bounded moment to list the tools, and say whether it has."""
        if self._hosting is None:
            return
        listed = await self._hosting.await_listing()
        self._hub.put(HostToolsOffered(self._hosting.name, self._way, listed))
        self._hub.wake()
        if not listed:
            get_logger(__name__).info("the agent has not listed the host tools yet", run_id=self._facts.run_id)

    def close(self) -> None:
        """No call goes on, and none begins."""
        self._closed = True
        if self._toolbox is not None:
            self._toolbox.close()

    def add_to(self, result: RunResult) -> RunResult:
        """The result with what is known of the tools."""
        if self._toolbox is None:
            known = {"host_tools": "not_listed"} if self._spec.host_tools else {}
            return result.model_copy(update=known)
        listed = "listed" if self._toolbox.listed.is_set() else "not_listed"
        return result.model_copy(update={"host_tools": listed, "host_tool_calls": self._toolbox.records()})

    # ---- what a call means for the run

    def begin(self, call: Call) -> None:
        """Find the agent's own word of this call, which is read first; else it is a step that it has not reported."""
        session = self._session
        if session.peer is not None:
            session.peer.read_pending()
        call.reported_as = self._find_reported(call)
        if call.reported_as is not None:
            self._matched.add(call.reported_as)
        else:
            self._unreported.append(call)
            if session.turn.meter is not None:
                session.turn.meter.on_tool_call(f"host tool {call.ordinal}")
        self._clock.pause_idle()
        self._tell(HostToolCalled(call.ordinal, call.name, call.arguments, call.reported_as))

    def _find_reported(self, call: Call) -> str | None:
        assert self._own is not None  # it was opened
        fitting = [
            (key, raw)
            for key, raw in self._session.turn.open_calls()
            if key not in self._matched and self._own.named(raw) == call.name
        ]
        same = [key for key, raw in fitting if raw.get("rawInput") == call.arguments]
        return next(iter([*same, *(key for key, _ in fitting)]), None)

    def _announced(self, call_id: str, update: Mapping[str, Any]) -> None:
        """The agent's word of a call may come after the call: what has been counted is no further step then."""
        assert self._own is not None  # as above
        tool, arguments = self._own.named(update), update.get("rawInput")
        fitting = (one for one in self._unreported if one.name == tool and arguments in (None, {}, one.arguments))
        if (call := next(fitting, None)) is None:
            return
        self._unreported.remove(call)
        call.reported_as = call_id
        self._matched.add(call_id)
        if self._session.turn.meter is not None:
            self._session.turn.meter.know_tool_call(call_id)

    def end(self, call: Call) -> None:
        """Silence counts again."""
        now = anyio.current_time()
        self._clock.resume_idle(now)
        record = call.record(now)
        if self.on_record is not None:
            self.on_record(record)
        self._tell(HostToolReturned(record))

    async def permit(self, call: Call, arguments: Mapping[str, Any]) -> str | None:
        """None where no rule is against it."""
        call_id = call.reported_as or f"host-tool-{call.ordinal}"
        decision = await self._session.permissions.permit_own(call_id, call.name, arguments)
        if decision.action == "allow":
            return None
        return f"the call was not allowed{f': {decision.why}' if decision.why else ''}"

    def _tell(self, event: HostToolCalled | HostToolReturned) -> None:
        self._hub.put(event)
        self._hub.wake()
