"""Samples of the chapters on what an agent asks of its client."""

from typing import Final

from tests.protocol.models.sample_values import (
    ARRAY_PROPERTY,
    ENUM_OPTION,
    ENV,
    FORM,
    META,
    STRING_PROPERTY,
    TERMINAL,
    TITLED_PROPERTY,
    Wire,
)

SERVICES_SAMPLES: Final[dict[str, tuple[Wire, Wire]]] = {
    # services
    "ReadTextFileRequest": (
        {"sessionId": "s", "path": "/a"},
        {"sessionId": "s", "path": "/a", "line": 1, "limit": 10, **META},
    ),
    "ReadTextFileResponse": ({"content": ""}, {"content": "x", **META}),
    "WriteTextFileRequest": (
        {"sessionId": "s", "path": "/a", "content": ""},
        {"sessionId": "s", "path": "/a", "content": "x", **META},
    ),
    "WriteTextFileResponse": ({}, META),
    "CreateTerminalRequest": (
        {"sessionId": "s", "command": "ls"},
        {
            "sessionId": "s",
            "command": "ls",
            "args": ["-l"],
            "env": [ENV],
            "cwd": "/",
            "outputByteLimit": 100,
            **META,
        },
    ),
    "CreateTerminalResponse": ({"terminalId": "t"}, {"terminalId": "t", **META}),
    "TerminalOutputRequest": (TERMINAL, {**TERMINAL, **META}),
    "TerminalExitStatus": ({}, {"exitCode": 0, "signal": "SIGTERM", **META}),
    "TerminalOutputResponse": (
        {"output": "", "truncated": False},
        {"output": "x", "truncated": True, "exitStatus": {"exitCode": 1}, **META},
    ),
    "WaitForTerminalExitRequest": (TERMINAL, {**TERMINAL, **META}),
    "WaitForTerminalExitResponse": ({}, {"exitCode": 0, "signal": "SIGKILL", **META}),
    "KillTerminalRequest": (TERMINAL, {**TERMINAL, **META}),
    "KillTerminalResponse": ({}, META),
    "ReleaseTerminalRequest": (TERMINAL, {**TERMINAL, **META}),
    "ReleaseTerminalResponse": ({}, META),
    # elicitation
    "EnumOption": ({"const": "r", "title": "Red"}, ENUM_OPTION),
    "StringProperty": ({"type": "string"}, STRING_PROPERTY),
    "NumberProperty": ({"type": "number"}, FORM["properties"]["n"]),
    "IntegerProperty": ({"type": "integer"}, FORM["properties"]["i"]),
    "BooleanProperty": ({"type": "boolean"}, FORM["properties"]["b"]),
    "StringItems": ({"type": "string", "enum": []}, ARRAY_PROPERTY["items"]),
    "TitledItems": ({"anyOf": []}, TITLED_PROPERTY["items"]),
    "UnknownItems": ({"type": "number"}, {"type": "number", **META}),
    "MultiSelectProperty": (TITLED_PROPERTY, ARRAY_PROPERTY),
    "UnknownProperty": ({"type": "color"}, {"type": "color", **META}),
    "ElicitationSchema": ({"type": "object"}, FORM),
    "CreateElicitationRequest": (
        {"mode": "voice", "message": "?", "requestId": None},
        {"mode": "voice", "message": "?", "sessionId": "s", "toolCallId": "c1", **META},
    ),
    "FormElicitationRequest": (
        {"mode": "form", "message": "?", "requestId": 1, "requestedSchema": {"type": "object"}},
        {
            "mode": "form",
            "message": "?",
            "sessionId": "s",
            "toolCallId": "c1",
            "requestedSchema": FORM,
            **META,
        },
    ),
    "UrlElicitationRequest": (
        {
            "mode": "url",
            "message": "?",
            "requestId": 7,
            "elicitationId": "e",
            "url": "https://example.org/a",
        },
        {
            "mode": "url",
            "message": "?",
            "requestId": "7",
            "elicitationId": "e",
            "url": "https://example.org/a",
            **META,
        },
    ),
    "CreateElicitationResponse": (
        {"action": "decline"},
        {
            "action": "accept",
            "content": {"s": "r", "n": 1.5, "i": 1, "b": True, "a": ["r"]},
            **META,
        },
    ),
    "CompleteElicitationNotification": ({"elicitationId": "e"}, {"elicitationId": "e", **META}),
}
