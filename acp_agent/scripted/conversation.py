"""What a well-behaved agent answers: sessions, modes, options, authentication. Pure.

Owns the state of the conversation and the default answer to every method of protocol version 1;
what a scenario changes about it is put over the default by `plan`. Writes nothing, waits for
nothing.
"""

from __future__ import annotations

import os

from acp_agent.scripted import frames
from acp_agent.scripted.vocabulary import METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_agent.scripted.agent import Call
    from acp_agent.scripted.vocabulary import Value

PROTOCOL_VERSION = 1
PROMPT = "session/prompt"
OPENS = ("session/new", "session/load", "session/resume")
_NEEDS_LOGIN = (*OPENS, PROMPT)
_WORDS = {method: word for word, method in METHODS.items()}


class Refusal(Exception):
    """The default answer to a request is an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.outcome = frames.error(code, message, data)


class Session:
    """One session: its id, its directory, and the prompt that runs in it."""

    __slots__ = ("cwd", "id", "turn")

    def __init__(self, session_id: object, cwd: object) -> None:
        self.id = session_id
        self.cwd = cwd
        self.turn: Call | None = None


class Plan:
    """How one request is answered: steps, the answer, steps."""

    __slots__ = ("after", "answer", "before")

    def __init__(self, before: list[Value], answer: Mapping[str, Value], after: list[Value]) -> None:
        self.before = before
        self.answer = answer
        self.after = after


def plan(hook: Value, default: Mapping[str, Value], call_number: int) -> Plan:
    """Lay a scenario's hook over the default answer; `call_number` counts from 0."""
    if isinstance(hook, list):
        return Plan(hook, default, [])
    if "each" in hook:
        each = hook["each"]
        if each:
            return plan(each[min(call_number, len(each) - 1)], default, call_number)
    answer = default
    if "result" in hook:
        answer = {"result": hook["result"]}
    elif "error" in hook:
        answer = frames.error_as_written(hook["error"])
    elif "add" in hook and isinstance(default.get("result"), dict):
        answer = {"result": {**default["result"], **hook["add"]}}
    return Plan(hook.get("before", []), answer, hook.get("after", []))


class Conversation:
    """The state that answers depend on, and the default answers."""

    def __init__(self, scenario: Mapping[str, Value]) -> None:
        self._scenario = scenario
        capabilities = scenario.get("capabilities")
        self._capabilities = capabilities if isinstance(capabilities, dict) else {}
        self._auth = scenario.get("auth", {})
        self._modes = scenario.get("modes")
        self._options = scenario.get("config_options")
        self._initialized = False
        self._authenticated = not self._auth.get("required", False)
        self._ids = iter(scenario.get("session_ids", ()))
        self._count = 0
        self._calls: dict[str, int] = {}
        self.sessions: dict[bytes, Session] = {}

    def session(self, session_id: object) -> Session | None:
        """The session of this id, type included."""
        return self.sessions.get(frames.dump(session_id))

    def register(self, session_id: object, cwd: object) -> Session:
        """The session of this id; made if it is new."""
        return self.sessions.setdefault(frames.dump(session_id), Session(session_id, cwd))

    def plan(self, method: str, default: Mapping[str, Value]) -> Plan:
        """How this call is answered: the scenario's word over the default answer."""
        number = self._calls.get(method, 0)
        self._calls[method] = number + 1
        scenario = self._scenario
        if method == PROMPT:
            turns = scenario.get("prompts") or [scenario.get("prompt", [])]
            refused = "error" in default
            return Plan([] if refused else turns[min(number, len(turns) - 1)], default, [])
        hook = scenario.get("methods", {}).get(method, {})
        return plan(scenario.get(_WORDS.get(method, ""), hook), default, number)

    def default(self, method: str, params: Value) -> dict[str, Value]:
        """The outcome that the protocol asks for; takes effect on the state."""
        try:
            self._admit(method)
            return {"result": _ANSWERS[method](self, params)}
        except Refusal as refusal:
            return refusal.outcome

    # ------------------------------------------------------------ connection

    def initialize(self, params: Value) -> dict[str, Value]:
        """Answer version 1 to any whole number; text or nothing is not ACP."""
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool):
            raise Refusal(
                frames.INVALID_PARAMS,
                "ACP (Agent Client Protocol) needs an integer protocolVersion, such as 1; a date or a text is MCP's",
            )
        self._initialized = True
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": self._scenario.get("capabilities", {}),
            "agentInfo": self._scenario.get("agent_info", {"name": "scripted", "version": "0"}),
            "authMethods": self._auth.get("methods", []),
        }

    def authenticate(self, params: Value) -> dict[str, Value]:
        """Accept any of the advertised methods."""
        known = [frames.dig(one, "id") for one in self._auth.get("methods", [])]
        if params.get("methodId") not in known:
            raise Refusal(frames.INVALID_PARAMS, "methodId is not one of authMethods")
        self._authenticated = True
        return {}

    def logout(self, _params: Value) -> dict[str, Value]:
        """Forget the authentication, where that is advertised."""
        self._need(frames.dig(self._capabilities, "auth.logout"))
        self._authenticated = not self._auth.get("required", False)
        return {}

    # ------------------------------------------------------------ sessions

    def new_session(self, params: Value) -> dict[str, Value]:
        """Open a session."""
        _check_directory(params, mcp_servers_required=True)
        self._count += 1
        session_id = next(self._ids, f"s-{self._count}")
        self.register(session_id, params["cwd"])
        return {"sessionId": session_id, **self._offers()}

    def load_session(self, params: Value) -> dict[str, Value]:
        """Open a session by its id; a scenario replays its history in `before`."""
        self._need(self._capabilities.get("loadSession"))
        _check_directory(params, mcp_servers_required=True)
        self.register(_text(params, "sessionId"), params["cwd"])
        return self._offers()

    def resume_session(self, params: Value) -> dict[str, Value]:
        """Open a session by its id, without history."""
        self._need(frames.dig(self._capabilities, "sessionCapabilities.resume"))
        _check_directory(params, mcp_servers_required=False)
        self.register(_text(params, "sessionId"), params["cwd"])
        return self._offers()

    def list_sessions(self, params: Value) -> dict[str, Value]:
        """All open sessions, or those of one directory."""
        self._need(frames.dig(self._capabilities, "sessionCapabilities.list"))
        cwd = params.get("cwd")
        rows = [one for one in self.sessions.values() if cwd in (None, one.cwd)]
        return {"sessions": [{"sessionId": one.id, "cwd": one.cwd} for one in rows]}

    def delete_session(self, params: Value) -> dict[str, Value]:
        """Forget a session; one that is unknown is forgotten already."""
        self._need(frames.dig(self._capabilities, "sessionCapabilities.delete"))
        self.sessions.pop(frames.dump(_text(params, "sessionId")), None)
        return {}

    def close_session(self, params: Value) -> dict[str, Value]:
        """Close a session; the prompt that runs in it is the engine's to cancel."""
        self._need(frames.dig(self._capabilities, "sessionCapabilities.close"))
        del self.sessions[frames.dump(self._known(params).id)]
        return {}

    def set_mode(self, params: Value) -> dict[str, Value]:
        """Switch to one of the offered modes."""
        self._need(self._modes)
        self._known(params)
        modes = frames.dig(self._modes, "availableModes") or []
        if params.get("modeId") not in [frames.dig(one, "id") for one in modes]:
            raise Refusal(frames.INVALID_PARAMS, "modeId is not one of availableModes")
        self._modes = {**(self._modes or {}), "currentModeId": params["modeId"]}
        return {}

    def set_config_option(self, params: Value) -> dict[str, Value]:
        """Set one of the offered options; the answer is the complete list."""
        self._need(self._options)
        self._known(params)
        options = self._options or []
        if params.get("configId") not in [frames.dig(one, "id") for one in options]:
            raise Refusal(frames.INVALID_PARAMS, "configId is not one of configOptions")
        changed = {"currentValue": params.get("value")}
        self._options = [{**one, **changed} if one["id"] == params["configId"] else one for one in options]
        return {"configOptions": self._options}

    def prompt(self, params: Value) -> dict[str, Value]:
        """Accept a prompt for a session where none runs."""
        session = self._known(params)
        if not isinstance(params.get("prompt"), list):
            raise Refusal(frames.INVALID_PARAMS, "prompt has to be a list of content blocks")
        if session.turn is not None:
            raise Refusal(frames.BUSY, "A prompt is already running in this session")
        return {"stopReason": "end_turn"}

    # ------------------------------------------------------------ rules

    def _admit(self, method: str) -> None:
        if method not in _ANSWERS:
            raise Refusal(frames.METHOD_NOT_FOUND, "Method not found", {"method": method})
        if not self._initialized and method != "initialize":
            raise Refusal(frames.INVALID_REQUEST, "The first request has to be initialize")
        if method in _NEEDS_LOGIN and not self._authenticated:
            raise Refusal(frames.AUTH_REQUIRED, "Authentication required")

    def _need(self, offered: object) -> None:
        if offered is None or offered is False:
            raise Refusal(frames.METHOD_NOT_FOUND, "Method not found: not advertised")

    def _known(self, params: Value) -> Session:
        session = self.session(params.get("sessionId"))
        if session is None:
            raise Refusal(frames.NOT_FOUND, "Session not found")
        return session

    def _offers(self) -> dict[str, Value]:
        offers = {"modes": self._modes, "configOptions": self._options}
        return {name: value for name, value in offers.items() if value is not None}


def _text(params: Value, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise Refusal(frames.INVALID_PARAMS, f"{name} has to be a string")
    return value


def _check_directory(params: Value, *, mcp_servers_required: bool) -> None:
    if not os.path.isabs(_text(params, "cwd")):  # noqa: PTH117 - pathlib costs start-up
        raise Refusal(frames.INVALID_PARAMS, "cwd has to be an absolute path")
    servers = params.get("mcpServers", None if mcp_servers_required else [])
    if not isinstance(servers, list):
        raise Refusal(frames.INVALID_PARAMS, "mcpServers has to be a list; it may be empty")


_ANSWERS = {
    **{method: getattr(Conversation, word) for word, method in METHODS.items()},
    PROMPT: Conversation.prompt,
}
