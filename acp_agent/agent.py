"""What an agent is: three methods that every agent has, and those that it may have.

Owns the shapes alone. `serve` looks at which optional methods an agent has and advertises just those.
(ACP v1: the baseline is session/new, session/prompt, session/cancel and session/update.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import iscoroutinefunction, isfunction
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

from acp_agent.extension import advertised
from acp_client.protocol import models
from acp_client.protocol.methods import METHODS
from acp_client.record.format.lines import EXTENSION_KEY

if TYPE_CHECKING:
    from acp_agent.context import Context
    from acp_client.protocol.models import NewSessionRequest, NewSessionResponse


class Agent(Protocol):
    """An agent to be served: any object with these; no base class is needed.

    `name` and `version` are told to the client; `title` too, where there is one. Optional attributes:
    `prompt_capabilities` (models.PromptCapabilities: images, audio, embedded resources), `auth_methods` (a list of
    models.AuthMethod) and `takes_sub_agents` (True for one that asks, by `delegating`, those that the client declares
    for it). Optional methods, each `async`, each taking the request model and returning the response model
    or None for an empty one: `authenticate`, `logout`, `load_session` (takes an `Updates` too, to replay the history
    with), `resume_session`, `list_sessions`, `delete_session`, `close_session`, `set_mode`, `set_config_option`.

    To answer a request with a JSON-RPC error raise `RpcError`; any other exception becomes a bare internal error on
    the wire and a traceback in the log.
    """

    name: str
    version: str

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """A session begins. Return None to have an id made, or a response with an id, modes, options of your own."""
        ...

    async def prompt(self, context: Context) -> str | None:
        """Work on a prompt and return the stop reason; None means `end_turn`. Runs as a task of its own.

        On `session/cancel` it is cancelled at its next await; what it sent before reaches the client.
        """
        ...

    async def cancel(self, session_id: str) -> None:
        """The turn of this session was cancelled, for agents that must tell somebody else. May do nothing."""
        ...


Optional: TypeAlias = Callable[[Any], Awaitable[Any]]

OPTIONAL_METHODS: Final[dict[str, str]] = {
    "authenticate": "authenticate",
    "logout": "logout",
    "load_session": "session/load",
    "resume_session": "session/resume",
    "list_sessions": "session/list",
    "delete_session": "session/delete",
    "close_session": "session/close",
    "set_mode": "session/set_mode",
    "set_config_option": "session/set_config_option",
}
"""Methods that an agent may have, and the wire's names for them."""


def capabilities(agent: Agent) -> dict[str, Any]:
    """What to advertise: what the agent has, nothing else, and our extension (ACP v1, initialization)."""
    wire: dict[str, Any] = {
        "loadSession": hasattr(agent, "load_session"),
        "_meta": {EXTENSION_KEY: advertised(takes_sub_agents=getattr(agent, "takes_sub_agents", False))},
    }
    prompt = getattr(agent, "prompt_capabilities", None)
    if prompt is not None:
        wire["promptCapabilities"] = as_wire(prompt, "prompt_capabilities must be PromptCapabilities(…)")
    session: dict[str, Any] = {
        name: {}
        for name, method in (
            ("list", "list_sessions"),
            ("delete", "delete_session"),
            ("resume", "resume_session"),
            ("close", "close_session"),
        )
        if hasattr(agent, method)
    }
    if session:
        wire["sessionCapabilities"] = session
    if hasattr(agent, "logout"):
        wire["auth"] = {"logout": {}}
    return wire


def auth_methods(agent: Agent, client: Callable[[], models.ClientCapabilities]) -> list[dict[str, Any]]:
    """The login methods to advertise; those in a terminal only to a client that has one for it.

    `client` is called where that matters: reading what a client can do loads its models.
    """
    rule = "auth_methods must hold models such as AuthMethodAgent(…)"
    offered = [as_wire(method, rule) for method in getattr(agent, "auth_methods", ())]
    return [method for method in offered if method.get("type") != "terminal" or client().auth.terminal]


def read_client(said: object) -> models.ClientCapabilities:
    """What a client says that it can do; one that says it wrongly can do nothing. Loads the models, with pydantic."""
    try:
        return models.ClientCapabilities.from_wire(said)
    except models.ModelError:
        return models.ClientCapabilities()


def load_models(said: object) -> None:
    """Import what the answer to `initialize` did without: to name a model is to load its chapter."""
    read_client(said), models.NewSessionRequest, models.PromptRequest


def as_wire(model: object, rule: str) -> dict[str, Any]:
    """A model of the protocol in wire shape. Raises TypeError, which says the rule, for a dict or anything else."""
    if not isinstance(model, models.WireModel):
        raise TypeError(f"{rule}, not {type(model).__name__}; the models are in acp_client.protocol.models")
    return model.to_wire()


def as_text(text: object, what: str) -> str:
    """A text as it is. Raises TypeError for anything else: no client would show it, nor say that it does not."""
    if not isinstance(text, str):
        rule = f"{what} must be a str, not {type(text).__name__}"
        raise TypeError(f"{rule}; say it in words, with str(…) or json.dumps(…)")
    return text


def check_word(word: object, what: str, words: Sequence[str]) -> None:
    """Raise ValueError, with the nearest, for what is none of the protocol's words."""
    if isinstance(word, str) and word in words:
        return
    from difflib import get_close_matches  # noqa: PLC0415  # for a mistake only

    near = get_close_matches(str(word), words, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{what} is {word!r}; it is one of {', '.join(words)}{hint}")


def wire_answer(method: str, answer: object, client: models.ClientCapabilities) -> dict[str, Any]:
    """What an agent answers to a request, without boolean config options for a client that did not ask for them."""
    if answer is None:
        return {}
    wire = as_wire(answer, f"the answer to {method} must be {METHODS[method].result}(…), or None for an empty one")
    options = client.session.config_options if client.session else None
    if "configOptions" in wire and (options is None or options.boolean is None):
        wire["configOptions"] = [option for option in wire["configOptions"] if option.get("type") != "boolean"]
    return wire


def prompt_kinds(agent: Agent) -> set[str]:
    """The kinds of content blocks that an agent takes: text and links always, the rest where it says so."""
    offered = getattr(agent, "prompt_capabilities", None)
    flags = {"image": "image", "audio": "audio", "resource": "embedded_context"}
    return {"text", "resource_link"} | {kind for kind, flag in flags.items() if getattr(offered, flag, False)}


def check_agent(agent: object) -> None:
    """Raise TypeError for what cannot be served, before a client finds out: it names the rule and the correction."""
    if isinstance(agent, type):
        raise TypeError(f"{agent.__name__} is a class; serve an instance of it: {agent.__name__}()")
    for name in ("name", "version"):
        if not isinstance(getattr(agent, name, None), str):
            raise TypeError(f"{type(agent).__name__}.{name} must be a str: it is told to the client")
    methods = ("new_session", "prompt", "cancel", *(name for name in OPTIONAL_METHODS if hasattr(agent, name)))
    for name in methods:
        if not _can_be_awaited(getattr(agent, name, None)):
            raise TypeError(f"{type(agent).__name__}.{name} must be there, as `async def {name}`")
    capabilities(cast("Agent", agent))
    auth_methods(cast("Agent", agent), lambda: models.ClientCapabilities())  # noqa: PLW0108  # loads them


def _can_be_awaited(method: object) -> bool:
    """False for what is surely wrong: no method, or a plain `def`; a decorated one is trusted."""
    function = getattr(method, "__func__", method)
    plain = isfunction(function) and not hasattr(function, "__wrapped__")
    return callable(method) and (iscoroutinefunction(function) or not plain)
