"""From a request to its answer: handlers, their failures, and what of them reaches the wire."""

import sys
from typing import Any

import pytest

from acp_client.protocol.dispatch import Answer, Dispatcher
from acp_client.protocol.envelope import Request
from acp_client.protocol.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError
from acp_client.protocol.states import TheirRequest


def request(method: str, params: dict[str, Any] | None = None, request_id: Any = 1) -> TheirRequest:
    """A request of theirs."""
    return TheirRequest(Request(request_id, method, params or {}, {}))


async def echo(asked: TheirRequest) -> Any:
    """Answer with the params."""
    return asked.params


async def refuse(asked: TheirRequest) -> Any:
    """Answer with an error on purpose."""
    raise RpcError(-7, "no", {"field": asked.method})


async def break_down(asked: TheirRequest) -> Any:
    """Fail without meaning to, with a secret in the message."""
    raise ValueError(f"password=hunter2 in {asked.method}")


DISPATCHER = Dispatcher(
    {"echo": echo, "refuse": refuse, "break": break_down},
    direct={"d/echo": echo, "d/refuse": refuse, "d/break": break_down},
)

PARAMS = [
    {},
    {"unknown": 1},
    {"request": 1, "method": 2, "self": 3, "handler": 4, "_params": 5, "context": 6, "params": 7},
    {"": 1, "with space": 2, "_meta": {}},
]


@pytest.mark.parametrize("prefix", ["", "d/"])
@pytest.mark.parametrize("params", PARAMS)
async def test_a_handler_gets_any_params(prefix: str, params: dict[str, Any]) -> None:
    """Names that our own code uses are fields like any other."""
    assert await DISPATCHER.dispatch(request(f"{prefix}echo", params)) == Answer(result=params)


@pytest.mark.parametrize("result", [None, {}, [], 0, "x", {"a": None}])
async def test_a_result_is_handed_on_as_it_is(result: Any) -> None:
    """Null is one."""

    async def handler(asked: TheirRequest) -> Any:
        del asked
        return result

    assert await Dispatcher({"m": handler}).dispatch(request("m")) == Answer(result=result)


@pytest.mark.parametrize("prefix", ["", "d/"])
async def test_an_error_that_a_handler_raises_for_the_wire_goes_there(prefix: str) -> None:
    """Code, message and data as given."""
    answer = await DISPATCHER.dispatch(request(f"{prefix}refuse"))
    assert answer == Answer(code=-7, message="no", data={"field": f"{prefix}refuse"})


@pytest.mark.parametrize("prefix", ["", "d/"])
async def test_any_other_exception_is_a_bare_internal_error_and_logged_once(
    prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Not a word of it crosses the wire."""
    answer = await DISPATCHER.dispatch(request(f"{prefix}break", request_id="x"))
    assert answer == Answer(code=INTERNAL_ERROR, message="Internal error")
    (record,) = caplog.records
    assert f"method='{prefix}break' request_id='x'" in record.message
    assert record.exc_info is not None


@pytest.mark.parametrize("method", ["unknown", "_vendor/x", "", "elicitation/create"])
async def test_an_unknown_method_is_not_found(method: str) -> None:
    """Named in the data, so that its sender can find it."""
    answer = await DISPATCHER.dispatch(request(method))
    assert (answer.code, answer.data) == (METHOD_NOT_FOUND, {"method": method})
    assert answer.message


async def test_a_direct_method_needs_no_loading_and_any_other_does_once() -> None:
    """What answers `initialize` must not wait for an import."""
    dispatcher = Dispatcher({"echo": echo}, direct={"d/echo": echo})
    assert not dispatcher.needs_loading("d/echo")
    assert dispatcher.needs_loading("echo")
    assert dispatcher.needs_loading("unknown")
    await dispatcher.dispatch(request("d/echo"))
    assert dispatcher.needs_loading("echo")
    dispatcher.load()
    assert not dispatcher.needs_loading("echo")
    assert "jsonrpcserver" in sys.modules
    assert await dispatcher.dispatch(request("echo")) == Answer(result={})


async def test_dispatching_loads_by_itself_where_nobody_did() -> None:
    """Loading before is only faster."""
    dispatcher = Dispatcher({"echo": echo})
    assert await dispatcher.dispatch(request("echo")) == Answer(result={})
    assert not dispatcher.needs_loading("echo")
