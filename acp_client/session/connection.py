"""The handshake: initialize, an optional login, session/new, then mode, model and options.

Owns what we ask for and what an agent must offer for it. Everything asked for and not offered ends the run before the
prompt is sent; nothing is dropped. (ACP v1, initialization, authentication, session setup, modes, config options.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol, TypeAlias, TypeVar

from acp_client._version import __version__
from acp_client.outcome.result import Stage
from acp_client.protocol import models
from acp_client.protocol.peer import Settled
from acp_client.protocol.states import ResultReceived
from acp_client.session.ending import Ending, EndRun
from acp_client.session.extension import EXTENSION_KEY
from acp_client.spec import AgentSpec

PROTOCOL_VERSION: Final = 1

CLIENT_CAPABILITIES: Final[dict[str, Any]] = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "session": {"configOptions": {"boolean": {}}},
    "_meta": {EXTENSION_KEY: {"complete": True}},
}
"""Only what we serve. The booleans are said in full: some agents read an absent one as a fault."""

_Model = TypeVar("_Model", bound="models.WireModel")
_Option: TypeAlias = "models.SelectConfigOption | models.BooleanConfigOption"


class Asks(Protocol):
    """One request at a time, with the stage that it belongs to noted. Raises EndRun."""

    async def ask(
        self, stage: Stage, method: str, params: dict[str, Any], on_settled: Callable[[Settled], None] | None = None
    ) -> Any:
        """The raw result; `on_settled` sees the outcome at its place in wire order."""


@dataclass(slots=True)
class Agent:
    """What the handshake learned of the other side."""

    info: dict[str, Any] | None = None
    capabilities: models.AgentCapabilities = field(
        default_factory=lambda: models.AgentCapabilities()  # noqa: PLW0108  # named when it is called: its chapter loads
    )
    raw_capabilities: Mapping[str, Any] = field(default_factory=dict)
    auth_methods: Sequence[Any] = ()


def client_info() -> dict[str, str]:
    """Who we are."""
    return {"name": "acp-subagents", "title": "acp-subagents", "version": __version__}


def initialize_params(*, forms: bool) -> dict[str, Any]:
    """What we say of ourselves, the same at each call; `forms`: that we serve them."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": CLIENT_CAPABILITIES | ({"elicitation": {"form": {}}} if forms else {}),
        "clientInfo": client_info(),
    }


async def initialize(peer: Asks, *, forms: bool = False) -> Agent:
    """Agree on version 1 and learn what the agent can; `forms`: say that we serve them. Raises EndRun."""
    return read_agent(await peer.ask("initialize", "initialize", initialize_params(forms=forms)))


def read_agent(result: Any) -> Agent:
    """What an answer to initialize says of the agent. Raises EndRun where it cannot be used."""
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    if version is None:
        _unusable("initialize", "initialize", "`protocolVersion` is required")
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise EndRun(
            Ending(
                "protocol_mismatch",
                f"the agent answered protocolVersion {version!r}; only the integer 1 is spoken here: "
                "use a version of the agent that speaks ACP v1",
                "initialize",
                "initialize",
            )
        )
    answer = _read(models.InitializeResponse, result, "initialize", "initialize")
    raw = result.get("agentCapabilities")
    return Agent(
        info=answer.agent_info.to_wire() if answer.agent_info else None,
        capabilities=answer.agent_capabilities,
        raw_capabilities=raw if isinstance(raw, dict) else {},
        auth_methods=tuple(answer.auth_methods or ()),
    )


def preload() -> None:
    """Build now what the handshake needs of the models, which takes a moment once. Blocks; for a worker thread."""
    read_agent({"protocolVersion": PROTOCOL_VERSION})
    models.NewSessionResponse.from_wire({"sessionId": "none"})


async def authenticate(peer: Asks, agent: Agent, method_id: str) -> None:
    """Log in once with the configured method. Raises EndRun, also where it is not offered."""
    offered = [method for method in agent.auth_methods if not isinstance(method, models.AuthMethodTerminal)]
    if method_id not in [method.id for method in offered]:
        _not_offered("authenticate", f"auth method {method_id!r}", [method.id for method in offered])
    await peer.ask("authenticate", "authenticate", {"methodId": method_id})


def describe_auth(agent: Agent) -> str:
    """The login methods, for a message."""
    return ", ".join(f"{method.id} ({method.name})" for method in agent.auth_methods) or "none"


async def new_session(
    peer: Asks,
    agent: Agent,
    spec: AgentSpec,
    cwd: str,
    on_session: Callable[[str], None],
    more_servers: Sequence[Mapping[str, Any]] = (),
) -> models.NewSessionResponse:
    """Open the one session; `on_session` learns its id at the answer's place in wire order.

    `more_servers` are MCP servers in wire shape beside those of the spec, of a transport that the agent takes.
    """
    params = _session_params(agent, spec, cwd)
    params["mcpServers"] += more_servers

    def note(outcome: Settled) -> None:
        if isinstance(outcome, ResultReceived) and (session_id := _session_id(outcome.result)):
            on_session(session_id)

    result = await peer.ask("session", "session/new", params, note)
    if not _session_id(result):
        _unusable("session", "session/new", "`sessionId` must be a non-empty string")
    return _read(models.NewSessionResponse, result, "session", "session/new")


def _session_id(result: Any) -> str | None:
    session_id = result.get("sessionId") if isinstance(result, dict) else None
    return session_id if isinstance(session_id, str) else None


def _session_params(agent: Agent, spec: AgentSpec, cwd: str) -> dict[str, Any]:
    servers = [server.to_wire() for server in spec.mcp_servers]
    for server in servers:
        transport = server.get("type", "stdio")
        if transport != "stdio" and not getattr(agent.capabilities.mcp_capabilities, transport, False):
            _not_offered("session", f"MCP transport {transport!r}", ["stdio"])
    params: dict[str, Any] = {"cwd": cwd, "mcpServers": servers}
    session = agent.raw_capabilities.get("sessionCapabilities")
    offered = session if isinstance(session, dict) else {}
    if spec.additional_directories:
        if not isinstance(offered.get("additionalDirectories"), dict):
            _not_offered("session", "additional directories", [])
        params["additionalDirectories"] = list(spec.additional_directories)
    if spec.system_prompt is not None:
        if not isinstance(offered.get("systemPrompt"), dict):
            _not_offered("session", "a system prompt", [])
        params["systemPrompt"] = {"mode": "append", "content": [{"type": "text", "text": spec.system_prompt}]}
    return params


async def configure(peer: Asks, session_id: str, session: models.NewSessionResponse, spec: AgentSpec) -> None:
    """Set mode, model and options, each by id or category; what is current already is not sent."""
    settings = _Settings(peer, session_id, session)
    if spec.mode is not None:
        await settings.set_mode(spec.mode)
    if spec.model is not None:
        await settings.set_option("model", spec.model, "model")
    for key, value in spec.config_options.items():
        await settings.set_option(key, value, "config option")


class _Settings:
    """The options of a session, as the last complete list says."""

    def __init__(self, peer: Asks, session_id: str, session: models.NewSessionResponse) -> None:
        self._peer = peer
        self._session_id = session_id
        self._modes = session.modes
        self._options = _usable(session.config_options)

    def _find(self, key: str) -> _Option | None:
        for name in ("id", "category"):
            for option in self._options:
                if getattr(option, name, None) == key:
                    return option
        return None

    async def set_mode(self, mode: str) -> None:
        """Config options supersede modes (ACP v1, session config options)."""
        if self._find("mode") is not None:
            await self.set_option("mode", mode, "mode")
            return
        modes = self._modes.available_modes if self._modes else []
        mode_id = _pick(mode, [(entry.id, entry.name) for entry in modes])
        if mode_id is None or self._modes is None:
            _not_offered("session", f"mode {mode!r}", [entry.id for entry in modes])
        elif mode_id != self._modes.current_mode_id:
            await self._peer.ask("session", "session/set_mode", {"sessionId": self._session_id, "modeId": mode_id})

    async def set_option(self, key: str, value: str | bool, what: str) -> None:  # noqa: FBT001  # a value, no switch
        """Set one option; the answer holds the complete new list."""
        option = self._find(key)
        if option is None:
            asked = f"{what} {key!r}" if what == "config option" else f"{what} {value!r}"
            _not_offered("session", asked, [entry.id for entry in self._options])
        params: dict[str, Any] = {"sessionId": self._session_id, "configId": option.id}
        wanted = _value_for(option, value, what)
        if wanted == getattr(option, "current_value", None):
            return
        params |= {"type": "boolean", "value": wanted} if isinstance(wanted, bool) else {"value": wanted}
        result = await self._peer.ask("session", "session/set_config_option", params)
        answer = _read(models.SetConfigOptionResponse, result, "session", "session/set_config_option")
        self._options = _usable(answer.config_options)


def _usable(options: Sequence[models.ConfigOption] | None) -> tuple[_Option, ...]:
    """Options of unknown types are ignored (ACP v1, session config options)."""
    return tuple(
        option for option in options or () if isinstance(option, models.SelectConfigOption | models.BooleanConfigOption)
    )


def _value_for(option: _Option, value: str | bool, what: str) -> str | bool:  # noqa: FBT001  # a value, no switch
    if isinstance(option, models.BooleanConfigOption):
        if not isinstance(value, bool):
            _not_offered("session", f"{what} {option.id!r} = {value!r}", ["true", "false"])
        return value
    choices = _choices(option)
    picked = _pick(value, choices) if isinstance(value, str) else None
    if picked is None:
        _not_offered("session", f"{what} {option.id!r} = {value!r}", [choice for choice, _ in choices])
    return picked


def _choices(option: models.SelectConfigOption) -> list[tuple[str, str]]:
    flat: list[tuple[str, str]] = []
    for entry in option.options:
        members = entry.options if isinstance(entry, models.ConfigSelectGroup) else [entry]
        flat += [(member.value, member.name) for member in members]
    return flat


def _pick(wanted: str, choices: Sequence[tuple[str, str]]) -> str | None:
    """By id, else by a name that only one choice has."""
    if wanted in [choice for choice, _ in choices]:
        return wanted
    named = [choice for choice, name in choices if name.casefold() == wanted.casefold()]
    return named[0] if len(named) == 1 else None


def check_prompt(agent: Agent, blocks: Sequence[Mapping[str, Any]]) -> None:
    """Every block must be one that the agent takes (ACP v1, prompt turn). Raises EndRun."""
    offered = agent.capabilities.prompt_capabilities
    takes = {
        "text": True,
        "resource_link": True,
        "image": offered.image,
        "audio": offered.audio,
        "resource": offered.embedded_context,
    }
    for index, block in enumerate(blocks):
        kind = block["type"]
        if not takes.get(kind, False):
            known = ", ".join(sorted(name for name, taken in takes.items() if taken))
            raise EndRun(
                Ending(
                    "unsupported_content",
                    f"prompt[{index}]: the agent does not take {kind!r} blocks; it takes: {known}",
                    "prompt",
                    "session/prompt",
                )
            )


def _read(model: type[_Model], result: Any, stage: Stage, request: str) -> _Model:
    try:
        return model.from_wire(result)
    except models.ModelError as error:
        _unusable(stage, request, str(error))


def _unusable(stage: Stage, request: str, detail: str) -> NoReturn:
    raise EndRun(Ending("protocol_error", f"the answer to {request} cannot be used: {detail}", stage, request))


def _not_offered(stage: Stage, what: str, offered: Sequence[str]) -> NoReturn:
    choices = f"; it offers: {', '.join(offered)}. Choose one of these or" if offered else ", nor any other;"
    message = f"the agent does not offer {what}{choices} leave it out"
    raise EndRun(Ending("unsupported_capability", message, stage))
