"""What comes in goes out again."""

from typing import Any

import pytest
from pydantic import ValidationError

from acp_client.protocol import models
from acp_client.protocol.models import WireModel, wire_name
from tests.protocol.models.sample_values import Wire
from tests.protocol.models.samples import CASE_IDS, CASES, SAMPLES


def model_named(name: str) -> type[WireModel]:
    """The model of that name."""
    model: type[WireModel] = getattr(models, name)
    return model


def all_models() -> set[str]:
    """Every model that the package offers."""
    found = {name: getattr(models, name) for name in models.__all__}
    return {name for name, value in found.items() if isinstance(value, type) and value not in BASES}


BASES = (WireModel, models.ModelError)


def test_every_model_has_samples() -> None:
    """A new model cannot be added without a sample."""
    assert set(SAMPLES) == all_models()


@pytest.mark.parametrize(("name", "sample"), CASES, ids=CASE_IDS)
def test_what_was_read_is_written_again(name: str, sample: Wire) -> None:
    """No field is lost, renamed or added."""
    assert model_named(name).from_wire(sample).to_wire() == sample


@pytest.mark.parametrize(("name", "sample"), CASES, ids=CASE_IDS)
def test_unknown_fields_are_kept_and_written_again(name: str, sample: Wire) -> None:
    """Also one that is null, one named as an attribute, and one named as a Python field is."""
    more = {"x-new": {"a": [None]}, "x-null": None, "to_wire": 1, "meta": 2}
    assert model_named(name).from_wire(sample | more).to_wire() == sample | more


@pytest.mark.parametrize(("name", "sample"), CASES, ids=CASE_IDS)
def test_a_model_built_with_python_names_writes_the_same(name: str, sample: Wire) -> None:
    """`from_wire` is not the only way to a model."""
    model = model_named(name)
    wanted = {wire_name(field): field for field in model.model_fields}
    built = model(**{wanted[key]: value for key, value in sample.items()})
    assert built.to_wire() == sample
    assert built == model.from_wire(sample)


@pytest.mark.parametrize("name", SAMPLES)
def test_null_in_an_optional_field_reads_as_absence(name: str) -> None:
    """An optional field that is null has the value of one that is not there."""
    model, (smallest, _) = model_named(name), SAMPLES[name]
    absent = [wire_name(f) for f, i in model.model_fields.items() if not i.is_required()]
    absent = [f for f in absent if f not in smallest]
    assert model.from_wire(smallest | dict.fromkeys(absent)) == model.from_wire(smallest)


def optional_nones() -> list[Any]:
    """Each model with a field that can be None and means nothing by it."""
    return [
        (name, field)
        for name in SAMPLES
        for field, info in model_named(name).model_fields.items()
        if info.default is None and field not in model_named(name).NULLABLE
    ]


@pytest.mark.parametrize(("name", "field"), optional_nones())
def test_none_that_means_absence_is_not_written(name: str, field: str) -> None:
    """Absence is written by leaving out."""
    smallest, _ = SAMPLES[name]
    rest = {k: v for k, v in smallest.items() if k != wire_name(field)}
    assert model_named(name).from_wire(rest | {wire_name(field): None}).to_wire() == rest


def test_a_required_field_that_is_null_is_written() -> None:
    """The id of a request may be null."""
    assert models.CancelRequestNotification(request_id=None).to_wire() == {"requestId": None}


@pytest.mark.parametrize("field", ["title", "updatedAt"])
def test_clearing_and_leaving_alone_differ_in_session_info(field: str) -> None:
    """Null clears, absence leaves alone, and a value of a bad type is no clearing."""
    name, kind = {"title": "title", "updatedAt": "updated_at"}[field], "session_info_update"
    read = models.SessionInfoUpdate.from_wire
    cleared, absent, bad = read({field: None}), read({}), read({field: 5})
    assert [name in m.model_fields_set for m in (cleared, absent, bad)] == [True, False, False]
    assert cleared.to_wire() == {"sessionUpdate": kind, field: None}
    assert absent.to_wire() == bad.to_wire() == {"sessionUpdate": kind}


def test_the_tag_of_a_kind_is_written_although_nobody_set_it() -> None:
    """Otherwise `TextContent(text="x")` would be no content block."""
    chunk = models.AgentMessageChunk(content=models.TextContent(text="x"))
    wire = models.SessionNotification(session_id="s", update=chunk).to_wire()
    assert wire == {
        "sessionId": "s",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "x"},
        },
    }


def test_meta_comes_last_on_the_wire() -> None:
    """People who read a wire look for the fields first."""
    wire = models.TextContent(text="x", meta={"a": 1}).to_wire()
    assert list(wire) == ["type", "text", "_meta"]


def test_a_null_object_reads_as_one_without_fields() -> None:
    """Some agents answer null where an empty object is meant."""
    assert models.LoadSessionResponse.from_wire(None) == models.LoadSessionResponse()


def test_a_model_cannot_be_changed() -> None:
    """What was read stays as it was read."""
    with pytest.raises(ValueError, match="frozen"):
        models.TextContent(text="x").text = "y"


def test_secrets_are_in_no_repr_and_no_error() -> None:
    """Values of variables and headers end up in logs otherwise."""
    secret = "hunter2"
    shown = [
        models.EnvVariable(name="A", value=secret),
        models.HttpHeader(name="A", value=secret),
        models.AuthMethodTerminal(id="a", name="A", env={"A": secret}),
    ]
    assert secret not in repr(shown)
    with pytest.raises(ValidationError) as caught:
        models.EnvVariable(name=secret, value=[secret])  # type: ignore[arg-type] # what is tested
    assert secret not in str(caught.value)
