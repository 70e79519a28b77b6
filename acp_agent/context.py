"""One prompt turn as the agent sees it: what was asked, and the ways to answer.

Owns the turn's updates in the order in which they are awaited, and its permission requests. Nothing is sent for a turn
that is over. (ACP v1, prompt turn, tool calls, agent plan, content.)
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import anyio.lowlevel
from pydantic_core import to_json

from acp_agent.agent import as_text, as_wire, check_word
from acp_agent.extension import COMPLETE_METHOD, HandedUp, Message, SessionState, read_briefing, takes_values
from acp_client.protocol import models
from acp_client.protocol.errors import RemoteError
from acp_client.protocol.peer import Peer

Location: TypeAlias = tuple[str | Path, int | None]
"""A path and a line (1-based) or None."""


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """What the client decided. `allowed` is True only for an allow option of the list that was sent."""

    allowed: bool
    cancelled: bool = False
    option: models.PermissionOption | None = None


class Updates:
    """Updates of one session, in the order in which they are awaited; each call returns once it is written.

    Given to `load_session` as it is, to replay a history with; for a prompt there is more, see `Context`. What no
    client could show raises TypeError or ValueError, and nothing is sent: text that is no str, a word (the kind of a
    call, a status) that is none of the protocol's. What `update` is given goes out as it is.
    """

    def __init__(self, peer: Peer, session_id: str) -> None:
        self.session_id: Final = session_id
        self.open = True
        self._peer = peer

    async def update(self, update: Mapping[str, Any]) -> None:
        """Send any update, in wire shape. Does nothing once the turn is over."""
        if self.open:
            self._peer.notify("session/update", {"sessionId": self.session_id, "update": dict(update)})
        await anyio.lowlevel.checkpoint()  # a stream without pause must not keep a cancel from arriving
        await self._peer.flush()

    async def text(self, text: str, *, message_id: str | None = None) -> None:
        """Send a piece of the answer."""
        await self.update(_chunk("agent_message_chunk", text, message_id))

    async def user(self, text: str) -> None:
        """Send a piece of what the user said: for a history that is replayed."""
        await self.update(_chunk("user_message_chunk", text, None))

    async def block(self, block: models.ContentBlock) -> None:
        """Send a block that is not text (an image, a link) as a part of the answer."""
        content = as_wire(block, "block must be a content block such as ImageContent(…)")
        await self.update({"sessionUpdate": "agent_message_chunk", "content": content})

    async def thought(self, text: str) -> None:
        """Send a piece of reasoning; it is no part of the answer."""
        await self.update(_chunk("agent_thought_chunk", text, None))

    async def plan(self, entries: Iterable[tuple[str, str]], *, priority: str = "medium") -> None:
        """Send the whole plan: pairs of content and status (pending, in_progress, completed)."""
        from acp_client.protocol.models import PlanEntryPriority, PlanEntryStatus  # noqa: PLC0415  # most send no plan

        check_word(priority, "priority", get_args(PlanEntryPriority))
        rows = []
        for content, status in entries:
            check_word(status, "the status of an entry", get_args(PlanEntryStatus))
            rows.append({"content": as_text(content, "an entry"), "priority": priority, "status": status})
        await self.update({"sessionUpdate": "plan", "entries": rows})

    async def usage(self, *, used: int, size: int, cost: tuple[float, str] | None = None) -> None:
        """Report the context window in tokens, and the session's cost so far as (amount, currency)."""
        for name, tokens in (("used", used), ("size", size)):
            if type(tokens) is not int:
                raise TypeError(f"{name} must be an int, a number of tokens, not {type(tokens).__name__}")
        update: dict[str, Any] = {"sessionUpdate": "usage_update", "used": used, "size": size}
        if cost is not None:
            update["cost"] = {"amount": cost[0], "currency": cost[1]}
        await self.update(update)

    async def tool_call(
        self,
        title: str,
        *,
        name: str | None = None,
        kind: str = "other",
        status: str = "in_progress",
        locations: Sequence[Location] = (),
        raw_input: Any = None,
    ) -> ToolCallHandle:
        """Announce a tool call; report on it through what is returned."""
        check_word(kind, "kind", get_args(models.ToolKind))
        check_word(status, "status", get_args(models.ToolCallStatus))
        call = {
            "toolCallId": f"call_{uuid.uuid4().hex[:12]}",
            "title": as_text(title, "title"),
            "name": None if name is None else as_text(name, "name"),
            "kind": kind,
            "status": status,
            "locations": [_location(place) for place in locations] or None,
            "rawInput": raw_input,
        }
        announced = {key: value for key, value in call.items() if value is not None}
        await self.update({"sessionUpdate": "tool_call", **announced})
        return ToolCallHandle(self, announced)


class Context(Updates):
    """A turn. Made by `serve` for each prompt; what is sent after it was answered goes nowhere.

    `prompt` holds the task's content blocks. A client that delegates with this library may give more: `history`, the
    messages of its own conversation (oldest first, as it has them, `()` if none); `primer`, its context for this one
    task (a string or any JSON value, None if none); `result_schema`, the JSON Schema of the value that it waits for.
    The value is not checked against it here: the client does that, and asks again in the same session, with `faults`
    that say what was wrong (`()` in any other turn). `levels` is how
    many levels of agents it allows below this one (None: it does not say), `sub_agents` are those that it declares for
    this one, as data: `delegating` obeys the one and adds the others. `call_path` says which request of whom this
    session answers, such as `primary/desk.1`; `transcripts` in which folder the runs that it starts keep theirs, if the
    client said one ("" if not).
    """

    def __init__(
        self, peer: Peer, request: models.PromptRequest, session: SessionState, client: models.ClientCapabilities
    ) -> None:
        super().__init__(peer, request.session_id)
        briefing = read_briefing(request.meta)
        self.prompt: Final[Sequence[models.ContentBlock]] = request.prompt
        self.history: Final[tuple[Message, ...]] = briefing.history
        self.primer: Final[Any] = briefing.primer
        self.result_schema: Final[Message | None] = briefing.result_schema
        self.faults: Final[tuple[str, ...]] = briefing.faults
        self.levels: Final[int | None] = briefing.levels
        self.sub_agents: Final[tuple[Message, ...]] = briefing.sub_agents
        self.call_path: Final[str] = session.place(briefing.call_path)
        self.transcripts: Final[str] = briefing.transcripts
        self.session: Final = session
        self.cwd: Final[Path] = session.cwd
        self.client: Final = client
        self.cancelled = False
        self._completed = False
        self._handed_up = HandedUp()

    @property
    def text_of_prompt(self) -> str:
        """The text blocks of the prompt, joined by newlines."""
        return "\n".join(block.text for block in self.prompt if isinstance(block, models.TextContent))

    async def request_permission(
        self, call: ToolCallHandle, options: Sequence[models.PermissionOption] | None = None
    ) -> PermissionAnswer:
        """Ask the client before doing something: allow once or reject once, unless `options` are given.

        An error of the client, or an option that was not offered, is a no.

        So is asking after the turn was answered: nobody is asked then.
        """
        if not self.open:
            return PermissionAnswer(allowed=False, cancelled=True)
        offered = _yes_and_no() if options is None else options
        params = {
            "sessionId": self.session_id,
            "toolCall": call.described(),
            "options": [as_wire(option, "each option must be a PermissionOption(…)") for option in offered],
        }
        try:
            result = await self._peer.request("session/request_permission", params)
        except RemoteError:
            return PermissionAnswer(allowed=False)
        return _read_answer(result, offered)

    async def complete(self, value: Any) -> None:
        """Complete the turn with a structured value, JSON data or a model; the first call counts, the turn goes on.

        A client that does not know of structured values gets it as a fenced JSON block in the answer.
        """
        if self._completed or not self.open:
            return
        self._completed = True
        if takes_values(self.client.meta):
            params = {"sessionId": self.session_id, "result": value, **self._handed_up.meta()}
            self._peer.notify(COMPLETE_METHOD, params)
            await self._peer.flush()
        else:
            shown = to_json(value, indent=2, inf_nan_mode="null").decode()
            await self.text(f"\n```json\n{shown}\n```\n")

    def hand_up(self, trace: Iterable[Mapping[str, Any]]) -> None:
        """Add what sub-agents of this agent did to what the client is told with the answer, for display only."""
        self._handed_up.add(trace)

    @property
    def handed_up(self) -> dict[str, Any]:
        """The `_meta` of the answer: all traces of the turn, in the order in which they were handed up."""
        return self._handed_up.meta()


class ToolCallHandle:
    """A tool call that was announced. After `complete` or `fail` it is closed."""

    def __init__(self, context: Updates, announced: Mapping[str, Any]) -> None:
        self.id: Final[str] = announced["toolCallId"]
        self._context = context
        self._announced = dict(announced)

    def described(self) -> dict[str, Any]:
        """The call as it stands in a permission request."""
        return {key: value for key, value in self._announced.items() if key != "status"} | {"status": "pending"}

    async def progress(self, *, text: str | None = None, raw_output: Any = None) -> None:
        """Report while it runs; the text replaces what was shown before."""
        await self._update("in_progress", text=text, raw_output=raw_output)

    async def complete(
        self,
        *,
        text: str | None = None,
        raw_output: Any = None,
        diff: tuple[str | Path, str | None, str] | None = None,
    ) -> None:
        """It worked. `diff` is (path, old text or None for a new file, new text)."""
        await self._update("completed", text=text, raw_output=raw_output, diff=diff)

    async def fail(self, why: str, *, raw_output: Any = None) -> None:
        """It did not work, or was not allowed."""
        await self._update("failed", text=why, raw_output=raw_output)

    async def show_diff(self, path: str | Path, old: str | None, new: str) -> None:
        """Show what is about to be changed, so that whoever is asked can see it."""
        self._announced["content"] = [_diff(path, old, new)]
        await self._update("pending", diff=(path, old, new))

    async def _update(
        self,
        status: str,
        *,
        text: str | None = None,
        raw_output: Any = None,
        diff: tuple[str | Path, str | None, str] | None = None,
    ) -> None:
        update: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": self.id, "status": status}
        shown = None if text is None else {"type": "text", "text": as_text(text, "text")}
        content = [] if shown is None else [{"type": "content", "content": shown}]
        content += [] if diff is None else [_diff(*diff)]
        if content:
            update["content"] = content
        if raw_output is not None:
            update["rawOutput"] = raw_output
        await self._context.update(update)


def _chunk(kind: str, text: str, message_id: str | None) -> dict[str, Any]:
    chunk: dict[str, Any] = {"sessionUpdate": kind, "content": {"type": "text", "text": as_text(text, "text")}}
    return chunk if message_id is None else chunk | {"messageId": message_id}


def _location(place: object) -> dict[str, Any]:
    if not isinstance(place, tuple | list) or len(place) != 2:  # noqa: PLR2004  # path and line
        raise TypeError(f'each location must be a path and a line or None, such as ("/a.py", 3), not {place!r}')
    path, line = place
    return {"path": str(path)} | ({} if line is None else {"line": line})


def _diff(path: str | Path, old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": str(path)} | ({} if old is None else {"oldText": old}) | {"newText": new}


def _yes_and_no() -> tuple[models.PermissionOption, ...]:
    return (
        models.PermissionOption(option_id="allow_once", name="Allow", kind="allow_once"),
        models.PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
    )


def _read_answer(result: Any, options: Sequence[models.PermissionOption]) -> PermissionAnswer:
    """`selected` does not mean approved: the kind of the chosen option says so."""
    outcome = result.get("outcome") if isinstance(result, dict) else None
    if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
        cancelled = isinstance(outcome, dict) and outcome.get("outcome") == "cancelled"
        return PermissionAnswer(allowed=False, cancelled=cancelled)
    for option in options:
        if option.option_id == outcome.get("optionId"):
            return PermissionAnswer(allowed=option.kind in ("allow_once", "allow_always"), option=option)
    return PermissionAnswer(allowed=False)
