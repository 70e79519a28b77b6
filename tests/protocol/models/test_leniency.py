"""What reading survives, and what it does not."""

from typing import Any

import pytest

from acp_client.protocol import models
from acp_client.protocol.models import ModelError
from tests.protocol.models.sample_values import CALL, CHOICE, OPTION, TEXT
from tests.protocol.models.samples import SAMPLES
from tests.protocol.models.test_round_trip import model_named

BAD_OPTIONALS: list[tuple[str, str, str, Any, Any]] = [
    # model, wire name, Python name, bad value, what it reads as
    ("InitializeResponse", "agentInfo", "agent_info", {"name": "x"}, None),
    ("InitializeResponse", "agentCapabilities", "agent_capabilities", None, models.AgentCapabilities()),
    ("InitializeResponse", "agentCapabilities", "agent_capabilities", 5, models.AgentCapabilities()),
    ("InitializeResponse", "authMethods", "auth_methods", None, []),
    ("InitializeRequest", "clientCapabilities", "client_capabilities", [], models.ClientCapabilities()),
    ("ClientCapabilities", "terminal", "terminal", "yes", False),
    ("ClientCapabilities", "terminal", "terminal", 1, False),
    ("ClientCapabilities", "fs", "fs", True, models.FileSystemCapabilities()),
    ("SessionCapabilities", "list", "list", True, None),
    ("AgentCapabilities", "loadSession", "load_session", "true", False),
    ("NewSessionResponse", "modes", "modes", {"currentModeId": 5}, None),
    ("NewSessionResponse", "configOptions", "config_options", "none", None),
    ("SessionModeState", "availableModes", "available_modes", None, []),
    ("ListSessionsResponse", "sessions", "sessions", {}, []),
    ("ToolCall", "kind", "kind", 5, None),
    ("ToolCall", "status", "status", {}, None),
    ("ToolCall", "content", "content", None, []),
    ("ToolCall", "locations", "locations", "x", []),
    ("ToolCallUpdate", "title", "title", 5, None),
    ("ToolCallUpdate", "content", "content", {}, None),
    ("ToolCallLocation", "line", "line", -1, None),
    ("ToolCallLocation", "line", "line", 1.0, None),
    ("AgentMessageChunk", "messageId", "message_id", 7, None),
    ("TextContent", "annotations", "annotations", "x", None),
    ("Annotations", "priority", "priority", float("nan"), None),
    ("ResourceLink", "size", "size", "12", None),
    ("PlanUpdate", "entries", "entries", None, []),
    ("UsageUpdate", "cost", "cost", {"amount": "1", "currency": "EUR"}, None),
    ("PromptResponse", "usage", "usage", [], None),
    ("Usage", "inputTokens", "input_tokens", -1, None),
    ("PermissionOption", "kind", "kind", None, None),
    ("PermissionOption", "name", "name", 5, ""),
    ("TerminalOutputResponse", "exitStatus", "exit_status", 0, None),
    ("CompactionUpdate", "summary", "summary", 5, None),
    ("EnumOption", "description", "description", [], None),
    ("TextContent", "_meta", "meta", "x", None),
]


@pytest.mark.parametrize(("name", "wire", "field", "bad", "default"), BAD_OPTIONALS)
def test_bad_optional_value_becomes_the_default(name: str, wire: str, field: str, bad: Any, default: Any) -> None:
    """It is not worth losing the object for."""
    read = model_named(name).from_wire(SAMPLES[name][0] | {wire: bad})
    assert getattr(read, field) == default


BAD_STRICTS: list[tuple[str, str, Any]] = [
    ("InitializeRequest", "protocolVersion", True),
    ("InitializeRequest", "protocolVersion", "1"),
    ("InitializeRequest", "protocolVersion", 1.0),
    ("InitializeRequest", "protocolVersion", -1),
    ("InitializeRequest", "protocolVersion", 65536),
    ("InitializeResponse", "protocolVersion", None),
    ("NewSessionResponse", "sessionId", 7),
    ("NewSessionResponse", "sessionId", ""),
    ("NewSessionRequest", "cwd", None),
    ("NewSessionRequest", "mcpServers", [{"type": "http", "name": "x"}]),
    ("NewSessionRequest", "additionalDirectories", [1]),
    ("PromptRequest", "prompt", [{"type": "text"}]),
    ("PromptRequest", "prompt", None),
    ("ListSessionsRequest", "cursor", 2),
    ("ReadTextFileRequest", "line", -1),
    ("ReadTextFileRequest", "line", True),
    ("ReadTextFileRequest", "limit", "10"),
    ("CreateTerminalRequest", "outputByteLimit", 1.5),
    ("CreateTerminalRequest", "env", [{"name": "A"}]),
    ("TerminalOutputResponse", "truncated", 0),
    ("UsageUpdate", "used", -1),
    ("UsageUpdate", "size", "10"),
    ("Notice", "title", ""),
    ("Cost", "amount", True),
    ("Cost", "amount", float("inf")),
    ("RequestPermissionRequest", "toolCall", {"title": "no id"}),
    ("RequestPermissionRequest", "options", None),
    ("CancelRequestNotification", "requestId", True),
    ("CancelRequestNotification", "requestId", 1.0),
    ("SetConfigOptionRequest", "value", 5),
    ("SetConfigOptionRequest", "value", True),
    ("SelectConfigOption", "options", {}),
    ("SelectConfigOption", "options", [CHOICE, {"group": "g", "name": "G", "options": []}]),
    ("SelectConfigOption", "options", [{"group": "g", "name": "G", "options": []}, CHOICE]),
    ("SelectConfigOption", "options", [None]),
    ("CreateElicitationResponse", "content", {"a": {}}),
    ("CreateElicitationResponse", "content", {"a": ["x", 1]}),
    ("CreateElicitationResponse", "content", {"a": float("nan")}),
    ("FormElicitationRequest", "mode", "url"),
]


@pytest.mark.parametrize(("name", "wire", "bad"), BAD_STRICTS)
def test_bad_value_of_a_strict_field_is_an_error(name: str, wire: str, bad: Any) -> None:
    """Nothing is coerced, and the error names the field."""
    with pytest.raises(ModelError, match=f"invalid {name}: ") as caught:
        model_named(name).from_wire(SAMPLES[name][0] | {wire: bad})
    assert all(path.startswith(wire) or not path for path, _ in caught.value.problems)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_missing_required_field_is_an_error(name: str) -> None:
    """Each of them, under its wire name only."""
    model, (smallest, _) = model_named(name), SAMPLES[name]
    for field, info in model.model_fields.items():
        if info.is_required():
            wire = models.wire_name(field)
            rest = {k: v for k, v in smallest.items() if k != wire}
            more = {} if field == wire else {field: smallest[wire]}
            with pytest.raises(ModelError) as caught:
                model.from_wire(rest | more)
            assert caught.value.problems == ((wire, "is required"),)


def test_null_reads_as_empty_where_a_strict_list_or_map_is_optional() -> None:
    """Null and absence are the same."""
    session = models.NewSessionRequest.from_wire({"cwd": "/", "mcpServers": None, "additionalDirectories": None})
    login = models.AuthMethodTerminal.from_wire({"type": "terminal", "id": "a", "name": "A", "env": None})
    form = models.ElicitationSchema.from_wire({"type": None, "properties": None})
    assert (session.mcp_servers, session.additional_directories, login.env) == ([], [], {})
    assert (form.type, form.properties) == ("object", {})


def test_bad_items_are_dropped_from_a_lenient_list() -> None:
    """The good ones stay, in their order."""
    content = [None, {"type": "content", "content": TEXT}, {"type": "diff"}, {"type": "terminal", "terminalId": "t"}]
    call = models.ToolCall.from_wire(CALL | {"content": content})
    assert [piece.type for piece in call.content] == ["content", "terminal"]


@pytest.mark.parametrize("kind", [None, "maybe", 5], ids=["none", "unknown", "number"])
def test_a_permission_option_survives_its_kind(kind: object) -> None:
    """It is read, and no rule takes it for an allowing or a rejecting one."""
    request = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [OPTION | {"kind": kind}]}
    (option,) = models.RequestPermissionRequest.from_wire(request).options
    assert option.option_id == "o1"
    assert option.kind in {None, "maybe"}


def test_a_permission_option_that_cannot_be_answered_with_is_dropped() -> None:
    """Without an id, or with one that is no string."""
    options = [{"name": "Allow", "kind": "allow_once"}, OPTION | {"optionId": 1}, OPTION, "x"]
    request = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options}
    read = models.RequestPermissionRequest.from_wire(request)
    assert [option.option_id for option in read.options] == ["o1"]


@pytest.mark.parametrize("reason", [None, "new_reason", 5, ["end_turn"], True])
def test_a_stop_reason_is_kept_as_it_came(reason: object) -> None:
    """What to make of it is decided elsewhere."""
    response = models.PromptResponse.from_wire({"stopReason": reason})
    assert response.stop_reason is reason
    assert models.PromptResponse.from_wire({}).stop_reason is None


def test_one_bad_count_does_not_lose_the_others() -> None:
    """Usage is outside stable v1, so none of it is demanded."""
    usage = models.Usage.from_wire({"inputTokens": 5, "outputTokens": "6", "totalTokens": None})
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (5, None, None)


@pytest.mark.parametrize("word", ["Read", "delegate", ""])
def test_words_outside_an_enumeration_are_kept(word: str) -> None:
    """Enumerations grow in minor releases."""
    call = models.ToolCall.from_wire(CALL | {"kind": word, "status": word})
    entry = models.PlanEntry.from_wire({"content": "c", "priority": word, "status": word})
    assert (call.kind, call.status, entry.priority, entry.status) == (word, word, word, word)
