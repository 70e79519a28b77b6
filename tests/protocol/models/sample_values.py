"""Values on the wire that several samples share."""

from typing import Any, Final

Wire = dict[str, Any]

META: Final[Wire] = {"_meta": {"example.org/trace": "0", "nothing": None, "deep": [{"a": 1}]}}
TEXT: Final[Wire] = {"type": "text", "text": "hello"}
ANNOTATIONS: Final[Wire] = {
    "audience": ["user", "assistant"],
    "lastModified": "2026-01-02T03:04:05Z",
    "priority": 0.5,
    **META,
}
ENV: Final[Wire] = {"name": "LANG", "value": "C"}
LOCATION: Final[Wire] = {"path": "/a.py", "line": 3, **META}
OPTION: Final[Wire] = {"optionId": "o1", "name": "Allow", "kind": "allow_once"}
MODE_STATE: Final[Wire] = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask", "description": "asks", **META}],
    **META,
}
CHOICE: Final[Wire] = {"value": "small", "name": "Small", "description": "quick", **META}
SELECT: Final[Wire] = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "description": "which",
    "category": "model",
    "currentValue": "small",
    "options": [CHOICE],
    **META,
}
GROUP: Final[Wire] = {"group": "fast", "name": "Fast", "options": [CHOICE], **META}
GROUPED: Final[Wire] = {**SELECT, "options": [GROUP]}
BOOLEAN: Final[Wire] = {
    "type": "boolean",
    "id": "web",
    "name": "Web",
    "description": "search",
    "category": "model_config",
    "currentValue": True,
    **META,
}
STDIO: Final[Wire] = {"name": "fs", "command": "/bin/fs", "args": ["-v"], "env": [ENV], **META}
HTTP: Final[Wire] = {
    "type": "http",
    "name": "web",
    "url": "https://example.org/mcp",
    "headers": [{"name": "X-A", "value": "b", **META}],
    **META,
}
SSE: Final[Wire] = {**HTTP, "type": "sse"}
CONTENTS: Final[list[Wire]] = [
    {"type": "content", "content": TEXT, **META},
    {"type": "diff", "path": "/a", "oldText": "x", "newText": "y", **META},
    {"type": "terminal", "terminalId": "t1", **META},
]
CALL_DETAILS: Final[Wire] = {
    "kind": "edit",
    "status": "in_progress",
    "name": "edit_file",
    "content": CONTENTS,
    "locations": [LOCATION],
    "rawInput": {"path": "/a", "none": None, "n": [1, 2.5, True]},
    "rawOutput": ["done"],
    **META,
}
CALL: Final[Wire] = {"toolCallId": "c1", "title": "Edit", **CALL_DETAILS}
PROPERTY: Final[Wire] = {"title": "T", "description": "D", **META}
ENUM_OPTION: Final[Wire] = {"const": "r", "title": "Red", "description": "warm", **META}
STRING_PROPERTY: Final[Wire] = {
    "type": "string",
    **PROPERTY,
    "minLength": 0,
    "maxLength": 9,
    "pattern": "^r",
    "format": "email",
    "default": "r",
    "enum": ["r", "g"],
    "oneOf": [ENUM_OPTION],
}
ARRAY_PROPERTY: Final[Wire] = {
    "type": "array",
    **PROPERTY,
    "minItems": 0,
    "maxItems": 2,
    "items": {"type": "string", "enum": ["r"], **META},
    "default": ["r"],
}
TITLED_PROPERTY: Final[Wire] = {
    "type": "array",
    "items": {"anyOf": [ENUM_OPTION], **META},
}
FORM: Final[Wire] = {
    "type": "object",
    "title": "Form",
    "description": "of fields",
    "properties": {
        "s": STRING_PROPERTY,
        "n": {"type": "number", **PROPERTY, "minimum": 0.5, "maximum": 2.5, "default": 1.5},
        "i": {"type": "integer", **PROPERTY, "minimum": -1, "maximum": 2, "default": 1},
        "b": {"type": "boolean", **PROPERTY, "default": False},
        "a": ARRAY_PROPERTY,
        "t": TITLED_PROPERTY,
    },
    "required": ["s"],
    **META,
}
CLIENT_CAPABILITIES: Final[Wire] = {
    "fs": {"readTextFile": True, "writeTextFile": False, **META},
    "terminal": True,
    "session": {
        "compaction": META,
        "configOptions": {"boolean": {}, **META},
        "notices": {},
        **META,
    },
    "auth": {"terminal": True, **META},
    "elicitation": {"form": {}, "url": {}, **META},
    **META,
}
AGENT_CAPABILITIES: Final[Wire] = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True, **META},
    "mcpCapabilities": {"http": True, "sse": False, **META},
    "sessionCapabilities": {
        "list": META,
        "delete": {},
        "additionalDirectories": {},
        "resume": {},
        "close": {},
        **META,
    },
    "auth": {"logout": {}, **META},
    **META,
}
IMPLEMENTATION: Final[Wire] = {"name": "x", "title": "X", "version": "1", **META}
SESSION_STATE: Final[Wire] = {"modes": MODE_STATE, "configOptions": [SELECT, GROUPED, BOOLEAN]}
TERMINAL: Final[Wire] = {"sessionId": "s", "terminalId": "t"}
