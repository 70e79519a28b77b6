"""What our models write is valid for others: the official SDK, and the JSON schema where it is there."""

from typing import Any

import pytest

from acp_client.protocol.methods import METHODS
from tests.protocol.models.sample_values import BOOLEAN, GROUPED, HTTP, SELECT, SSE, STDIO, Wire
from tests.protocol.models.samples import SAMPLES
from tests.protocol.models.test_round_trip import model_named
from tests.support.frames import Side, check_frame

# Kept for what may come; an agent or client of v1 does not send them.
NOT_IN_V1 = {
    "UnknownContent",
    "UnknownUpdate",
    "UnknownConfigOption",
    "UnknownToolCallContent",
    "UnknownOutcome",
}


def sides_of(method: str) -> list[Side]:
    """Who sends it."""
    by_direction: dict[str, list[Side]] = {
        "to_agent": ["client"],
        "to_client": ["agent"],
        "both": ["client", "agent"],
    }
    return by_direction[METHODS[method].direction]


def check_params(method: str, params: Wire) -> None:
    """A call with these params is valid from whoever may send it."""
    frame: Wire = {"jsonrpc": "2.0", "method": method, "params": params}
    if not METHODS[method].is_notification:
        frame["id"] = 1
    for side in sides_of(method):
        check_frame(frame, direction=side)


def calls() -> list[Any]:
    """Each method with params, small and large, as our models write them."""
    by_mode = {"elicitation/create": ["FormElicitationRequest", "UrlElicitationRequest"]}
    return [
        pytest.param(name, model, size, id=f"{name}-{model}-{size}")
        for name, method in METHODS.items()
        for model in [method.params, *by_mode.get(name, [])]
        for size in (0, 1)
    ]


@pytest.mark.parametrize(("name", "model", "size"), calls())
def test_params_of_every_method_are_valid(name: str, model: str, size: int) -> None:
    """Requests and notifications."""
    check_params(name, model_named(model).from_wire(SAMPLES[model][size]).to_wire())


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if not m.is_notification])
def test_results_of_every_method_are_valid(name: str, size: int) -> None:
    """Answers."""
    method = METHODS[name]
    result = method.result_model().from_wire(SAMPLES[str(method.result)][size]).to_wire()
    side: Side = "agent" if method.direction == "to_agent" else "client"
    check_frame({"jsonrpc": "2.0", "id": 1, "result": result}, direction=side, method=name)


def of_kind(tag: str) -> list[Any]:
    """Samples of all models with that tag, as our models write them."""
    return [
        pytest.param(model_named(name).from_wire(sample).to_wire(), id=f"{name}-{size}")
        for name, pair in SAMPLES.items()
        for size, sample in zip(("min", "max"), pair, strict=True)
        if tag == model_named(name).TAG and name not in NOT_IN_V1
    ]


@pytest.mark.parametrize("update", of_kind("session_update"))
def test_every_kind_of_update_is_valid(update: Wire) -> None:
    """All that an agent can tell."""
    check_params("session/update", {"sessionId": "s", "update": update})


BLOCKS = ("text", "image", "audio", "resource_link", "resource")


@pytest.mark.parametrize("block", [p for p in of_kind("type") if p.values[0]["type"] in BLOCKS])
def test_every_kind_of_content_is_valid(block: Wire) -> None:
    """In a prompt, in a message and in a tool call."""
    check_params("session/prompt", {"sessionId": "s", "prompt": [block]})
    chunk = {"sessionUpdate": "agent_message_chunk", "content": block}
    check_params("session/update", {"sessionId": "s", "update": chunk})
    call = {"toolCallId": "c", "content": [{"type": "content", "content": block}]}
    check_params("session/request_permission", {"sessionId": "s", "toolCall": call, "options": []})


@pytest.mark.parametrize("server", [STDIO, HTTP, SSE], ids=["stdio", "http", "sse"])
def test_every_kind_of_mcp_server_is_valid(server: Wire) -> None:
    """As our models write it."""
    wire = METHODS["session/new"].params_model().from_wire({"cwd": "/", "mcpServers": [server]})
    check_params("session/new", wire.to_wire())


@pytest.mark.parametrize("option", [SELECT, GROUPED, BOOLEAN], ids=["select", "grouped", "boolean"])
def test_every_kind_of_config_option_is_valid(option: Wire) -> None:
    """As our models write it."""
    model = METHODS["session/set_config_option"].result_model()
    result = model.from_wire({"configOptions": [option]}).to_wire()
    frame = {"jsonrpc": "2.0", "id": 1, "result": result}
    check_frame(frame, direction="agent", method="session/set_config_option")
