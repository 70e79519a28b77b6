"""The methods of ACP v1 as one table.

Owns names, directions, shapes and the capabilities that allow a method. Sending and serving them is
left to the peer, what is allowed in a given session to its owner. The models are named, not
imported: each is loaded when it is first asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from acp_client.protocol import models

if TYPE_CHECKING:
    from acp_client.protocol.models import WireModel

Direction = Literal["to_agent", "to_client", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method: who may send it, what it carries, and what has to be advertised first.

    Attributes:
        name: the method's name on the wire.
        direction: towards whom it is sent.
        params: name of the model of its params.
        result: name of the model of its result; None makes it a notification.
        capability: dotted path, in wire names, of the capability that the receiver must have
            advertised in `initialize`; None where none is needed.
    """

    name: str
    direction: Direction
    params: str
    result: str | None = None
    capability: str | None = None

    @property
    def is_notification(self) -> bool:
        """True if no answer is ever sent."""
        return self.result is None

    def params_model(self) -> "type[WireModel]":
        """The model of the params, loaded now."""
        return _model(self.params)

    def result_model(self) -> "type[WireModel]":
        """The model of the result, loaded now; only a request has one."""
        assert self.result is not None, f"{self.name} is a notification"
        return _model(self.result)


def _model(name: str) -> "type[WireModel]":
    model: type[WireModel] = getattr(models, name)
    return model


def _pair(name: str, direction: Direction, stem: str, capability: str | None = None) -> Method:
    """A request whose models share a stem."""
    return Method(
        name=name,
        direction=direction,
        params=f"{stem}Request",
        result=f"{stem}Response",
        capability=capability,
    )


def _notification(name: str, direction: Direction, params: str, capability: str | None = None) -> Method:
    return Method(name=name, direction=direction, params=params, capability=capability)


def _by_name(methods: Iterable[Method]) -> MappingProxyType[str, Method]:
    return MappingProxyType({method.name: method for method in methods})


_SESSION: Final = "agentCapabilities.sessionCapabilities"
_FS: Final = "clientCapabilities.fs"
_TERMINAL: Final = "clientCapabilities.terminal"
_ELICITATION: Final = "clientCapabilities.elicitation"

METHODS: Final = _by_name(
    (
        _pair("initialize", "to_agent", "Initialize"),
        _pair("authenticate", "to_agent", "Authenticate"),
        _pair("logout", "to_agent", "Logout", "agentCapabilities.auth.logout"),
        _pair("session/new", "to_agent", "NewSession"),
        _pair("session/load", "to_agent", "LoadSession", "agentCapabilities.loadSession"),
        _pair("session/resume", "to_agent", "ResumeSession", f"{_SESSION}.resume"),
        _pair("session/list", "to_agent", "ListSessions", f"{_SESSION}.list"),
        _pair("session/delete", "to_agent", "DeleteSession", f"{_SESSION}.delete"),
        _pair("session/close", "to_agent", "CloseSession", f"{_SESSION}.close"),
        _pair("session/set_mode", "to_agent", "SetSessionMode"),
        _pair("session/set_config_option", "to_agent", "SetConfigOption"),
        _pair("session/prompt", "to_agent", "Prompt"),
        _notification("session/cancel", "to_agent", "CancelNotification"),
        _notification("session/update", "to_client", "SessionNotification"),
        _pair("session/request_permission", "to_client", "RequestPermission"),
        _pair("fs/read_text_file", "to_client", "ReadTextFile", f"{_FS}.readTextFile"),
        _pair("fs/write_text_file", "to_client", "WriteTextFile", f"{_FS}.writeTextFile"),
        _pair("terminal/create", "to_client", "CreateTerminal", _TERMINAL),
        _pair("terminal/output", "to_client", "TerminalOutput", _TERMINAL),
        _pair("terminal/wait_for_exit", "to_client", "WaitForTerminalExit", _TERMINAL),
        _pair("terminal/kill", "to_client", "KillTerminal", _TERMINAL),
        _pair("terminal/release", "to_client", "ReleaseTerminal", _TERMINAL),
        _pair("elicitation/create", "to_client", "CreateElicitation", _ELICITATION),
        _notification(
            "elicitation/complete",
            "to_client",
            "CompleteElicitationNotification",
            f"{_ELICITATION}.url",
        ),
        _notification("$/cancel_request", "both", "CancelRequestNotification"),
    )
)
"""Every method of stable v1 by its name on the wire."""


def requests_to_agent() -> tuple[Method, ...]:
    """The requests that an agent serves."""
    return _requests("to_agent")


def requests_to_client() -> tuple[Method, ...]:
    """The requests that a client serves."""
    return _requests("to_client")


def _requests(direction: Direction) -> tuple[Method, ...]:
    return tuple(method for method in METHODS.values() if method.direction == direction and not method.is_notification)
