"""Checks single frames against the official SDK's models and, where it is there, the JSON schema.

Both are other people's reading of ACP v1. Nothing of `acp_client` is used here, so that a mistake of
ours cannot excuse itself.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import AnyUrl, TypeAdapter, ValidationError

Side = Literal["client", "agent"]

SCHEMA_DIR: Final = Path(os.environ.get("ACP_SCHEMA_DIR", Path(__file__).resolve().parents[3] / "shared" / "schema"))
SCHEMA_FILE: Final = SCHEMA_DIR / "acp-v1.schema.json"

# method: (who sends it, the SDK's model of the params, the SDK's model of the result)
SDK_MODELS: Final[dict[str, tuple[str, str, str | None]]] = {
    "initialize": ("client", "InitializeRequest", "InitializeResponse"),
    "authenticate": ("client", "AuthenticateRequest", "AuthenticateResponse"),
    "logout": ("client", "LogoutRequest", "LogoutResponse"),
    "session/new": ("client", "NewSessionRequest", "NewSessionResponse"),
    "session/load": ("client", "LoadSessionRequest", "LoadSessionResponse"),
    "session/resume": ("client", "ResumeSessionRequest", "ResumeSessionResponse"),
    "session/list": ("client", "ListSessionsRequest", "ListSessionsResponse"),
    "session/delete": ("client", "DeleteSessionRequest", "DeleteSessionResponse"),
    "session/close": ("client", "CloseSessionRequest", "CloseSessionResponse"),
    "session/set_mode": ("client", "SetSessionModeRequest", "SetSessionModeResponse"),
    "session/set_config_option": (
        "client",
        "SetSessionConfigOptionSelectRequest",
        "SetSessionConfigOptionResponse",
    ),
    "session/prompt": ("client", "PromptRequest", "PromptResponse"),
    "session/cancel": ("client", "CancelNotification", None),
    "session/update": ("agent", "SessionNotification", None),
    "session/request_permission": ("agent", "RequestPermissionRequest", "RequestPermissionResponse"),
    "fs/read_text_file": ("agent", "ReadTextFileRequest", "ReadTextFileResponse"),
    "fs/write_text_file": ("agent", "WriteTextFileRequest", "WriteTextFileResponse"),
    "terminal/create": ("agent", "CreateTerminalRequest", "CreateTerminalResponse"),
    "terminal/output": ("agent", "TerminalOutputRequest", "TerminalOutputResponse"),
    "terminal/wait_for_exit": ("agent", "WaitForTerminalExitRequest", "WaitForTerminalExitResponse"),
    "terminal/kill": ("agent", "KillTerminalRequest", "KillTerminalResponse"),
    "terminal/release": ("agent", "ReleaseTerminalRequest", "ReleaseTerminalResponse"),
    "elicitation/create": ("agent", "CreateElicitationRequest", "CreateElicitationResponse"),
    "elicitation/complete": ("agent", "CompleteElicitationNotification", None),
    "$/cancel_request": ("both", "CancelRequestNotification", None),
}

# What the SDK does not know, by the kind of update: its fields, the required ones first.
UPDATES_UNKNOWN_TO_THE_SDK: Final[dict[str, tuple[set[str], set[str]]]] = {
    "notice": ({"severity", "title"}, {"description"}),
    "compaction_update": ({"compactionId", "status"}, {"summary", "error"}),
    "compaction_summary_chunk": ({"compactionId", "content"}, set()),
}
CONFIG_CATEGORIES: Final = {"mode", "model", "model_config", "thought_level"}


def check_frame(frame: dict[str, Any], *, direction: Side, method: str | None = None) -> None:
    """Fail unless the frame is a valid message of ACP v1.

    Args:
        frame: the decoded message.
        direction: the side that wrote it.
        method: for a response, the method that it answers; needed for a result.

    Raises:
        AssertionError: says what is wrong with the frame, and shows it.
    """
    try:
        _check_envelope(frame)
        if "method" in frame:
            _check_call(frame, direction)
        elif "error" in frame:
            _check_object("Error", frame["error"], "Error")
        else:
            assert method is not None, "the method is needed to check a result"
            _check_result(frame["result"], direction, method)
    except AssertionError as error:
        shown = json.dumps(frame, indent=1, ensure_ascii=False)[:4000]
        raise AssertionError(f"not a valid frame of the {direction}: {error}\n{shown}") from None


def _check_envelope(frame: dict[str, Any]) -> None:
    assert frame.get("jsonrpc") == "2.0", 'jsonrpc must be "2.0"'
    allowed = {"jsonrpc", "id", "method", "params"} if "method" in frame else {"jsonrpc", "id", "result", "error"}
    assert set(frame) <= allowed, f"unexpected root fields {sorted(set(frame) - allowed)}"
    if "id" in frame:
        kept = frame["id"]
        assert isinstance(kept, int | str | None) and not isinstance(kept, bool), "the id has a bad type"  # noqa: PT018 - one rule
    if "method" not in frame:
        assert "id" in frame, "an answer needs an id"
        assert ("result" in frame) != ("error" in frame), "exactly one of result and error"


def _check_call(frame: dict[str, Any], direction: Side) -> None:
    method = frame["method"]
    assert isinstance(method, str), "the method must be a string"
    if method.startswith("_"):
        return  # an extension; its params are its own
    assert method in SDK_MODELS, f"unknown method {method}"
    sender, params, result = SDK_MODELS[method]
    assert sender in {direction, "both"}, f"{method} is not sent by the {direction}"
    assert ("id" in frame) == (result is not None), f"{method} must be a {'request' if result else 'notification'}"
    body = frame.get("params", {})
    if method == "session/set_config_option" and isinstance(body.get("value"), bool):
        params = "SetSessionConfigOptionBooleanRequest"
    _check_object(params, body, _definition(method, params=True))


def _check_result(result: object, direction: Side, method: str) -> None:
    if method.startswith("_"):
        return
    assert method in SDK_MODELS, f"unknown method {method}"
    sender, _, model = SDK_MODELS[method]
    assert model is not None, f"{method} is a notification and has no answer"
    assert sender != direction, f"{method} is not answered by the {direction}"
    _check_object(model, result, _definition(method, params=False))


def _check_object(model: str, body: object, definition: str | None) -> None:
    """One params, result or error object by both judges."""
    assert isinstance(body, dict), "params, result and error must be objects"
    if definition is not None:
        problems = [f"{e.json_path}: {e.message[:300]}" for e in _validator(definition).iter_errors(body)]
        assert not problems, f"the schema says: {problems}"
    expected = _without_what_the_sdk_lacks(json.loads(json.dumps(body)))
    if expected is not None:
        try:
            read = _sdk(model).validate_python(expected)
        except ValidationError as error:
            raise AssertionError(f"the SDK says: {error}") from None
        written = _sdk(model).dump_python(read, mode="json", by_alias=True, exclude_unset=True)
        difference = _difference(expected, written, "")
        assert difference is None, f"the SDK reads something else at {difference}"


def _without_what_the_sdk_lacks(body: dict[str, Any]) -> dict[str, Any] | None:
    """The object as the SDK should give it back; None if it knows nothing of its kind."""
    if isinstance(body.get("url"), str) and "elicitationId" in body:
        body["url"] = str(AnyUrl(body["url"]))
    for call in (body.get("update"), body.get("toolCall")):
        if isinstance(call, dict) and "toolCallId" in call and isinstance(call.get("name"), str):
            del call["name"]
    session = body.get("clientCapabilities", {}).get("session", {})
    for gated in ("notices", "compaction"):
        assert isinstance(session.pop(gated, {}), dict | None), f"{gated} must be an object"
    for option in [*(body.get("configOptions") or ()), *(body.get("update", {}).get("configOptions") or ())]:
        if isinstance(option.get("category"), str) and option["category"] not in CONFIG_CATEGORIES:
            del option["category"]
    return None if _is_unknown_update(body.get("update")) else body


def _is_unknown_update(update: object) -> bool:
    """True for an update that only our own table knows; checked by it."""
    if not isinstance(update, dict) or update.get("sessionUpdate") not in UPDATES_UNKNOWN_TO_THE_SDK:
        return False
    required, optional = UPDATES_UNKNOWN_TO_THE_SDK[update["sessionUpdate"]]
    given = set(update) - {"sessionUpdate", "_meta"}
    assert required <= given <= required | optional, f"fields of {update['sessionUpdate']}: {sorted(given)}"
    for block in [*update.get("summary", ()), *([update["content"]] if "content" in required else [])]:
        _check_object("UserMessageChunk", {"sessionUpdate": "user_message_chunk", "content": block}, None)
    texts = given - {"summary", "content"}
    assert all(isinstance(update[field], str) for field in texts), f"{sorted(texts)} must be strings"
    return True


def _difference(expected: object, found: object, path: str) -> str | None:
    """Where two JSON values differ, bools and numbers kept apart; None if they do not."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(set(expected) | set(found)):
            if (key in expected) != (key in found):
                return f"{path}.{key}: {'dropped' if key in expected else 'added'}"
        pairs = [(expected[key], found[key], f"{path}.{key}") for key in expected]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{path}: {len(expected)} items became {len(found)}"
        pairs = [(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(expected, found, strict=True))]
    else:
        same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
        return None if same else f"{path}: {expected!r} became {found!r}"
    return next((where for a, b, p in pairs if (where := _difference(a, b, p)) is not None), None)


@cache
def _sdk(model: str) -> TypeAdapter[Any]:
    """The SDK's model; its import takes half a second, hence here."""
    from acp import schema  # noqa: PLC0415 - see above

    return TypeAdapter(getattr(schema, model))


@cache
def load_schema() -> dict[str, Any] | None:
    """The stable JSON schema, or None where it is not there."""
    if not SCHEMA_FILE.exists():
        return None
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


@cache
def _definition(method: str, *, params: bool) -> str | None:
    """The name of the schema's definition for a method's params or result."""
    schema = load_schema()
    if schema is None:
        return None
    named: list[str] = [name for name, d in schema["$defs"].items() if d.get("x-method") == method]
    return next(name for name in named if name.endswith("Response") != params)


@cache
def _validator(definition: str) -> Any:
    """A validator of one definition of the schema; of anything where there is no schema."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow, and not every test needs it

    schema = load_schema()
    if schema is None:
        return Draft202012Validator(schema=True)
    return Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]})
