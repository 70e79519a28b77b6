"""Unions: known kinds are typed, unknown ones are kept, broken ones are errors that say where."""

from collections.abc import Callable
from typing import Any

import pytest

from acp_client.protocol import models
from acp_client.protocol.models import ModelError, WireModel
from tests.protocol.models.sample_values import CALL, GROUP, GROUPED, SELECT, TEXT, Wire

Parse = Callable[[object], WireModel]

UNKNOWN: list[tuple[Parse, Wire, type[WireModel]]] = [
    (models.parse_content_block, {"type": "hologram", "text": 5}, models.UnknownContent),
    (models.parse_session_update, {"sessionUpdate": "dance", "n": 1}, models.UnknownUpdate),
    (models.parse_tool_call_content, {"type": "chart", "path": 5}, models.UnknownToolCallContent),
    (models.parse_config_option, {"type": "slider", "id": 5}, models.UnknownConfigOption),
    (models.parse_permission_outcome, {"outcome": "later"}, models.UnknownOutcome),
    (models.parse_elicitation_property, {"type": "color"}, models.UnknownProperty),
    (models.parse_auth_method, {"type": "env_var", "id": "a", "name": "A"}, models.AuthMethodAgent),
    (
        models.parse_mcp_server,
        {"type": "ws", "name": "a", "command": "b", "args": [], "env": []},
        models.McpServerStdio,
    ),
    (
        models.CreateElicitationRequest.from_wire,
        {"mode": "voice", "message": "?", "sessionId": "s", "url": 5},
        models.CreateElicitationRequest,
    ),
]


@pytest.mark.parametrize(("parse", "wire", "model"), UNKNOWN)
def test_an_unknown_kind_is_kept_raw(parse: Parse, wire: Wire, model: type[WireModel]) -> None:
    """All its fields, also those that a known kind would refuse."""
    read = parse(wire)
    assert type(read) is model
    assert read.to_wire() == wire


TAGGED: list[tuple[Parse, str]] = [
    (models.parse_content_block, "type"),
    (models.parse_session_update, "sessionUpdate"),
    (models.parse_tool_call_content, "type"),
    (models.parse_config_option, "type"),
    (models.parse_permission_outcome, "outcome"),
    (models.parse_elicitation_property, "type"),
]


@pytest.mark.parametrize(("parse", "tag"), TAGGED)
@pytest.mark.parametrize("bad", [{}, None, 5, ["text"]], ids=str)
def test_a_kind_without_a_usable_tag_is_an_error(parse: Parse, tag: str, bad: object) -> None:
    """It could be anything."""
    with pytest.raises(ModelError, match=f": {tag} should be a valid string"):
        parse({tag: bad})


@pytest.mark.parametrize("parse", [parse for parse, _, _ in UNKNOWN])
@pytest.mark.parametrize("bad", [5, "text", []], ids=str)
def test_what_is_no_object_is_of_no_kind(parse: Parse, bad: object) -> None:
    """Also null, except where the object may be empty."""
    with pytest.raises(ModelError, match=": it should be an object"):
        parse(bad)


@pytest.mark.parametrize("parse", [parse for parse, _ in TAGGED])
def test_a_model_passes_through_its_own_union_only(parse: Parse) -> None:
    """Models and dicts mix in what a program builds."""
    stranger = models.Implementation(name="x", version="1")
    with pytest.raises(ModelError, match=": it should be an object"):
        parse(stranger)
    block = models.TextContent(text="x")
    assert models.parse_content_block(block) is block


@pytest.mark.parametrize("tag", [None, 5, "stdio"])
def test_an_mcp_server_of_no_other_kind_is_one_over_stdio(tag: object) -> None:
    """The stdio form carries no tag in v1, and real clients write one."""
    wire = {"type": tag, "name": "a", "command": "b", "args": None, "env": []}
    assert isinstance(models.parse_mcp_server(wire), models.McpServerStdio)


def test_the_contents_of_a_resource_are_told_apart_by_their_payload() -> None:
    """There is no tag; text wins where both are there and usable."""

    def read(resource: object) -> object:
        return models.EmbeddedResource.from_wire({"type": "resource", "resource": resource}).resource

    text, blob = models.TextResourceContents(uri="u", text="t"), models.BlobResourceContents(uri="u", blob="b")
    assert read({"uri": "u", "text": "t"}) == text
    assert read({"uri": "u", "blob": "b"}) == blob
    assert read({"uri": "u", "text": None, "blob": "b"}).to_wire() == {"uri": "u", "text": None, "blob": "b"}  # type: ignore[attr-defined] # a model, by the lines above
    assert isinstance(read({"uri": "u", "text": "t", "blob": "b"}), models.TextResourceContents)
    assert read(blob) is blob
    with pytest.raises(ModelError, match=r"resource\.text is required"):
        read({"uri": "u"})
    with pytest.raises(ModelError, match="resource should be an object"):
        read(None)


def test_the_values_of_a_select_are_all_plain_or_all_grouped() -> None:
    """As the first one is."""
    plain, grouped = models.SelectConfigOption.from_wire(SELECT), models.SelectConfigOption.from_wire(GROUPED)
    assert [type(option) for option in plain.options] == [models.ConfigSelectOption]
    assert [type(option) for option in grouped.options] == [models.ConfigSelectGroup]
    assert models.SelectConfigOption.from_wire(SELECT | {"options": grouped.options}) == grouped
    both = {**GROUP, "value": "v"}
    assert (
        type(models.SelectConfigOption.from_wire(SELECT | {"options": [both]}).options[0]) is models.ConfigSelectOption
    )


def test_the_class_of_an_elicitation_follows_from_its_mode() -> None:
    """Asked for the common class, reading gives the one that fits."""
    read = models.CreateElicitationRequest.from_wire
    common = {"message": "?", "sessionId": "s"}
    form = read({**common, "mode": "form", "requestedSchema": {"type": "object"}})
    url = read({**common, "mode": "url", "elicitationId": "e", "url": "https://example.org"})
    assert isinstance(form, models.FormElicitationRequest)
    assert isinstance(url, models.UrlElicitationRequest)


def test_an_elicitation_needs_a_scope() -> None:
    """A session or a request; a request's id may be null."""
    read = models.CreateElicitationRequest.from_wire
    assert read({"mode": "x", "message": "?", "requestId": None}).to_wire()["requestId"] is None
    with pytest.raises(ModelError, match="it should have a sessionId or a requestId"):
        read({"mode": "x", "message": "?"})
    with pytest.raises(ModelError, match="mode is required"):
        read({"message": "?", "sessionId": "s"})


ERRORS: list[tuple[Parse, Any, str]] = [
    (models.Implementation.from_wire, [], "invalid Implementation: it should be an object"),
    (
        models.NewSessionRequest.from_wire,
        {},
        "invalid NewSessionRequest: cwd is required; mcpServers is required",
    ),
    (
        models.NewSessionRequest.from_wire,
        {"cwd": "/", "mcpServers": [{"name": "a", "command": "b", "args": [], "env": [{"name": 1, "value": "v"}]}]},
        "invalid NewSessionRequest: mcpServers[0].env[0].name should be a valid string",
    ),
    (
        models.PromptRequest.from_wire,
        {"sessionId": "s", "prompt": [TEXT, 5]},
        "invalid PromptRequest: prompt[1] should be an object",
    ),
    (
        models.SessionNotification.from_wire,
        {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}},
        "invalid SessionNotification: update.content.text is required",
    ),
    (
        models.ToolCall.from_wire,
        CALL | {"toolCallId": 5},
        "invalid ToolCall: toolCallId should be a valid string",
    ),
    (
        models.PromptRequest.from_wire,
        {"sessionId": "s", "prompt": [5] * 9},
        f"invalid PromptRequest: {'; '.join(f'prompt[{i}] should be an object' for i in range(5))}; and 4 more",
    ),
    (
        models.SetConfigOptionRequest.from_wire,
        {"sessionId": "s", "configId": "c", "value": True},
        'invalid SetConfigOptionRequest: it should have the type "boolean" for a boolean value',
    ),
]


@pytest.mark.parametrize(("parse", "wire", "message"), ERRORS)
def test_an_error_says_which_field_and_which_rule(parse: Parse, wire: object, message: str) -> None:
    """In wire names, through nested unions too, and not without end."""
    with pytest.raises(ModelError) as caught:
        parse(wire)
    assert str(caught.value) == message


def test_an_error_shows_no_value_and_no_long_key() -> None:
    """Values can be secrets, and keys can be of any length."""
    secret = "hunter2"
    with pytest.raises(ModelError) as caught:
        models.NewSessionRequest.from_wire({"cwd": [secret], "mcpServers": secret})
    assert secret not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(ModelError) as caught:
        models.CreateElicitationResponse.from_wire({"action": "accept", "content": {"k" * 10_000: None}})
    assert len(str(caught.value)) < 400
