"""Whatever the peer sends, reading it ends in a model or in the one documented error."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_client.protocol import models
from acp_client.protocol.models import ModelError, WireModel
from tests.protocol.models.samples import SAMPLES
from tests.protocol.models.test_round_trip import model_named

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
PARSERS = [getattr(models, name) for name in models.__all__ if name.startswith("parse_")]


def survives(parse: Any, value: object) -> None:
    """Read it, and if it can be read, write it."""
    try:
        read = parse(value)
    except ModelError as error:
        assert error.problems  # noqa: PT017 - that there is an error is one of two good ends
    else:
        assert isinstance(read, WireModel)
        assert isinstance(read.to_wire(), dict)


@given(value=JSON)
def test_no_parser_fails_otherwise_on_any_json(value: object) -> None:
    """Objects and everything else."""
    for parse in PARSERS:
        survives(parse, value)


@settings(max_examples=20)  # for each of a hundred models
@given(data=st.data(), value=JSON)
@pytest.mark.parametrize("name", SAMPLES)
def test_no_model_fails_otherwise_on_any_json_in_a_field(name: str, data: st.DataObject, value: object) -> None:
    """One field of a good object is replaced, or one is added."""
    model, (_, largest) = model_named(name), SAMPLES[name]
    key = data.draw(st.sampled_from(sorted(largest)) | st.text()) if largest else data.draw(st.text())
    survives(model.from_wire, largest | {key: value})
    survives(model.from_wire, value)


@given(st.integers(min_value=1, max_value=100_000))
def test_no_depth_of_raw_json_matters(depth: int) -> None:
    """Raw values are handed on, not walked."""
    deep: Any = None
    for _ in range(depth):
        deep = [deep]
    call = models.ToolCall.from_wire({"toolCallId": "c", "title": "t", "rawInput": deep, "x": deep})
    assert call.to_wire()["rawInput"][0] is deep[0]
