"""Our models against the official JSON schema; skipped where that is not there."""

import re
from collections.abc import Callable
from typing import Any, Final, get_args

import pytest
from jsonschema import Draft202012Validator

from acp_client.protocol import models
from acp_client.protocol.models import ModelError, WireModel, wire_name
from tests.protocol.models.sample_values import Wire
from tests.protocol.models.samples import SAMPLES
from tests.protocol.models.test_round_trip import model_named
from tests.support.frames import SCHEMA_FILE, load_schema

SCHEMA: Final[Wire] = (load_schema() or {"$defs": {}})["$defs"]
pytestmark = pytest.mark.skipif(not SCHEMA, reason=f"no schema at {SCHEMA_FILE} (ACP_SCHEMA_DIR)")

# Definitions whose models have another name.
MODELS: Final = {
    **dict.fromkeys(
        [
            "BooleanConfigOptionCapabilities",
            "CompactionCapabilities",
            "ElicitationFormCapabilities",
            "ElicitationUrlCapabilities",
            "LogoutCapabilities",
            "NoticeCapabilities",
            "SessionAdditionalDirectoriesCapabilities",
            "SessionCloseCapabilities",
            "SessionDeleteCapabilities",
            "SessionListCapabilities",
            "SessionResumeCapabilities",
        ],
        "Capability",
    ),
    "BooleanPropertySchema": "BooleanProperty",
    "Content": "ContentToolCallContent",
    "ContentChunk": "AgentMessageChunk",
    "Diff": "DiffToolCallContent",
    "ElicitationAcceptAction": "CreateElicitationResponse",
    "ElicitationFormMode": "FormElicitationRequest",
    "ElicitationRequestScope": "CreateElicitationRequest",
    "ElicitationSessionScope": "CreateElicitationRequest",
    "ElicitationUrlMode": "UrlElicitationRequest",
    "IntegerPropertySchema": "IntegerProperty",
    "MultiSelectPropertySchema": "MultiSelectProperty",
    "NumberPropertySchema": "NumberProperty",
    "Plan": "PlanUpdate",
    "SelectedPermissionOutcome": "SelectedOutcome",
    "SessionConfigBoolean": "BooleanConfigOption",
    "SessionConfigOption": "SelectConfigOption",
    "SessionConfigOptionsCapabilities": "ConfigOptionsCapabilities",
    "SessionConfigSelect": "SelectConfigOption",
    "SessionConfigSelectGroup": "ConfigSelectGroup",
    "SessionConfigSelectOption": "ConfigSelectOption",
    "SetSessionConfigOptionRequest": "SetConfigOptionRequest",
    "SetSessionConfigOptionResponse": "SetConfigOptionResponse",
    "StringMultiSelectItems": "StringItems",
    "StringPropertySchema": "StringProperty",
    "Terminal": "TerminalToolCallContent",
    "TitledMultiSelectItems": "TitledItems",
    "UnstructuredCommandInput": "AvailableCommandInput",
}
# JSON-RPC itself; not the models' business.
ENVELOPES: Final = re.compile(r"(Agent|Client)(Request|Response|Notification)|Error|Ext\w+")
# Where reading forgives more than the schema does, and why.
LENIENT_HERE: Final = {
    ("PermissionOption", "name"): "an option can be chosen without it",
    ("PermissionOption", "kind"): "an option without a usable kind is never chosen by a rule",
    ("PromptResponse", "stopReason"): "what a bad stop reason means is decided elsewhere",
}
OPTIONAL_HERE: Final = {
    **LENIENT_HERE,
    ("ElicitationRequestScope", "requestId"): "a session may be the scope instead",
    ("ElicitationSessionScope", "sessionId"): "a request may be the scope instead",
}
BAD_ITEMS_DROPPED_HERE: Final = {
    ("RequestPermissionRequest", "options"): "the request can be answered with the others",
}
CANDIDATES: Final[list[Any]] = [None, True, 5, -1, 1.5, "x", [], [5], {}, {"a": 1}]


def model_of(definition: str) -> type[WireModel]:
    """Our model of a definition."""
    return model_named(MODELS.get(definition, definition))


def objects() -> list[str]:
    """The definitions that are objects."""
    named = [n for n, d in SCHEMA.items() if d.get("type") == "object" and not ENVELOPES.fullmatch(n)]
    return sorted(named)


def properties() -> list[tuple[str, str]]:
    """Every property of every object."""
    return [(name, prop) for name in objects() for prop in SCHEMA[name].get("properties", {})]


def accepts(schema: Wire, value: object) -> bool:
    """The schema's verdict on a value."""
    return bool(Draft202012Validator({**schema, "$defs": SCHEMA}).is_valid(value))


def fails(definition: str, wire: Wire) -> bool:
    """Our verdict on an object."""
    try:
        model_of(definition).from_wire(wire)
    except ModelError:
        return True
    return False


def is_open_enum(schema: Wire) -> bool:
    """True for a closed list of words, which we keep open."""
    parts: list[Wire] = schema.get("anyOf") or schema.get("allOf") or []
    named: list[Wire] = [SCHEMA[part["$ref"][8:]] for part in parts if "$ref" in part]
    return any("const" in word for d in named for word in d.get("oneOf", ()))


@pytest.mark.parametrize("definition", objects())
def test_every_object_has_a_model(definition: str) -> None:
    """The whole of the stable surface is there."""
    assert issubclass(model_of(definition), WireModel)


@pytest.mark.parametrize(("definition", "prop"), properties())
def test_every_property_has_a_field_that_is_required_alike(definition: str, prop: str) -> None:
    """Under the same wire name."""
    fields = {wire_name(n): f for n, f in model_of(definition).model_fields.items()}
    required = prop in SCHEMA[definition].get("required", ()) and (definition, prop) not in OPTIONAL_HERE
    assert fields[prop].is_required() == required


@pytest.mark.parametrize(("definition", "prop"), properties())
def test_every_property_is_as_lenient_as_the_schema_says(definition: str, prop: str) -> None:
    """A bad value of a lenient property is survived, one of a strict property is not."""
    schema: Wire = SCHEMA[definition]["properties"][prop]
    here = (definition, prop)
    lenient = "x-deserialize-default-on-error" in schema or here in LENIENT_HERE
    optional = prop not in SCHEMA[definition].get("required", ()) or here in OPTIONAL_HERE
    forgiven = {
        type(None): lenient or optional or "x-deserialize-default-on-null" in schema,
        list: lenient or here in BAD_ITEMS_DROPPED_HERE,
        str: lenient or is_open_enum(schema),
    }
    for value in [value for value in CANDIDATES if not accepts(schema, value)]:
        wire = SAMPLES[model_of(definition).__name__][0] | {prop: value}
        assert fails(definition, wire) != forgiven.get(type(value), lenient), value


@pytest.mark.parametrize(
    ("definition", "prop"),
    [(d, p) for d, p in properties() if "x-deserialize-skip-invalid-items" in SCHEMA[d]["properties"][p]],
)
def test_a_bad_item_is_dropped_where_the_schema_says_so(definition: str, prop: str) -> None:
    """The good ones around it stay."""
    schema = SCHEMA[definition]["properties"][prop]["items"]
    model = model_of(definition)
    good = SAMPLES[model.__name__][1][prop]
    bad = [value for value in CANDIDATES if not accepts(schema, value) and not isinstance(value, str)]
    wire = model.from_wire(SAMPLES[model.__name__][0] | {prop: [*bad, *good, *bad]}).to_wire()
    assert wire[prop] == good
    assert bad


@pytest.mark.parametrize("definition", objects())
def test_samples_are_valid(definition: str) -> None:
    """What the other tests build on is what the schema describes."""
    more = {prop for name, prop in OPTIONAL_HERE if name == definition}
    samples = [s for s in SAMPLES[model_of(definition).__name__] if more <= set(s)]
    assert samples
    for sample in samples:
        problems = Draft202012Validator({**SCHEMA[definition], "$defs": SCHEMA}).iter_errors(sample)
        assert [problem.message for problem in problems] == []


def words(schema: Wire) -> set[str]:
    """The constants of an enumeration or the tags of a union, the catch-alls left out."""
    found: set[str] = set()
    parts: list[Wire] = schema.get("oneOf") or schema["anyOf"]
    for part in parts:
        tags = [p["const"] for p in part.get("properties", {}).values() if "const" in p]
        found |= {part["const"]} if "const" in part else set(tags)
    return found


@pytest.mark.parametrize(
    ("definition", "ours"),
    [
        ("Role", models.Role),
        ("ToolKind", models.ToolKind),
        ("ToolCallStatus", models.ToolCallStatus),
        ("PermissionOptionKind", models.PermissionOptionKind),
        ("StopReason", models.StopReason),
        ("PlanEntryPriority", models.PlanEntryPriority),
        ("PlanEntryStatus", models.PlanEntryStatus),
        ("NoticeSeverity", models.NoticeSeverity),
        ("CompactionStatus", models.CompactionStatus),
        ("SessionConfigOptionCategory", models.ConfigOptionCategory),
        ("StringFormat", models.StringFormat),
        ("CreateElicitationResponse", models.ElicitationAction),
    ],
)
def test_enumerations_have_the_words_of_the_schema(definition: str, ours: object) -> None:
    """The same words, each once."""
    assert sorted(get_args(ours)) == sorted(words(SCHEMA[definition]))


@pytest.mark.parametrize(
    ("definition", "parse"),
    [
        ("ContentBlock", models.parse_content_block),
        ("ToolCallContent", models.parse_tool_call_content),
        ("SessionUpdate", models.parse_session_update),
        ("SessionConfigOption", models.parse_config_option),
        ("RequestPermissionOutcome", models.parse_permission_outcome),
        ("ElicitationPropertySchema", models.parse_elicitation_property),
        ("McpServer", models.parse_mcp_server),
        ("AuthMethod", models.parse_auth_method),
        ("CreateElicitationRequest", models.CreateElicitationRequest.from_wire),
    ],
)
def test_every_kind_of_a_union_is_told_apart(definition: str, parse: Callable[[object], object]) -> None:
    """Each tag of the schema has a model of its own."""
    tags = words(SCHEMA[definition])
    found = {}
    for name, (sample, _) in SAMPLES.items():
        tag = model_named(name).TAG
        kind = sample.get(wire_name(tag)) if tag else None
        if kind in tags and isinstance(read := _try(parse, sample), model_named(name)):
            found[kind] = type(read)
    assert set(found) == tags
    assert len(set(found.values())) == len(tags)


def _try(parse: Callable[[object], object], sample: Wire) -> object:
    """What the sample reads as; None if it is no member of that union."""
    try:
        return parse(sample)
    except ModelError:
        return None
