"""Samples of the chapters that set a session up, up to the prompt."""

from typing import Final

from tests.protocol.models.sample_values import (
    AGENT_CAPABILITIES,
    BOOLEAN,
    CHOICE,
    CLIENT_CAPABILITIES,
    ENV,
    GROUP,
    GROUPED,
    HTTP,
    IMPLEMENTATION,
    META,
    MODE_STATE,
    SELECT,
    SESSION_STATE,
    SSE,
    STDIO,
    TEXT,
    Wire,
)

SESSION_SAMPLES: Final[dict[str, tuple[Wire, Wire]]] = {
    # base
    "EmptyObject": ({}, META),
    "EnvVariable": (ENV, {**ENV, **META}),
    # capabilities
    "Capability": ({}, META),
    "FileSystemCapabilities": ({}, CLIENT_CAPABILITIES["fs"]),
    "AuthCapabilities": ({}, CLIENT_CAPABILITIES["auth"]),
    "ConfigOptionsCapabilities": ({}, CLIENT_CAPABILITIES["session"]["configOptions"]),
    "ClientSessionCapabilities": ({}, CLIENT_CAPABILITIES["session"]),
    "ElicitationCapabilities": ({}, CLIENT_CAPABILITIES["elicitation"]),
    "ClientCapabilities": ({}, CLIENT_CAPABILITIES),
    "PromptCapabilities": ({}, AGENT_CAPABILITIES["promptCapabilities"]),
    "McpCapabilities": ({}, AGENT_CAPABILITIES["mcpCapabilities"]),
    "SessionCapabilities": ({}, AGENT_CAPABILITIES["sessionCapabilities"]),
    "AgentAuthCapabilities": ({}, AGENT_CAPABILITIES["auth"]),
    "AgentCapabilities": ({}, AGENT_CAPABILITIES),
    # initialization
    "Implementation": ({"name": "x", "version": "1"}, IMPLEMENTATION),
    "InitializeRequest": (
        {"protocolVersion": 1},
        {
            "protocolVersion": 1,
            "clientCapabilities": CLIENT_CAPABILITIES,
            "clientInfo": IMPLEMENTATION,
            **META,
        },
    ),
    "InitializeResponse": (
        {"protocolVersion": 1},
        {
            "protocolVersion": 1,
            "agentCapabilities": AGENT_CAPABILITIES,
            "authMethods": [
                {"id": "key", "name": "Key"},
                {"type": "terminal", "id": "login", "name": "Log in"},
            ],
            "agentInfo": IMPLEMENTATION,
            **META,
        },
    ),
    "AuthMethodAgent": (
        {"id": "key", "name": "Key"},
        {"id": "key", "name": "Key", "description": "a key", **META},
    ),
    "AuthMethodTerminal": (
        {"type": "terminal", "id": "login", "name": "Log in"},
        {
            "type": "terminal",
            "id": "login",
            "name": "Log in",
            "description": "by hand",
            "args": ["--login"],
            "env": {"A": "b"},
            **META,
        },
    ),
    "AuthenticateRequest": ({"methodId": "key"}, {"methodId": "key", **META}),
    "AuthenticateResponse": ({}, META),
    "LogoutRequest": ({}, META),
    "LogoutResponse": ({}, META),
    # session
    "HttpHeader": ({"name": "X-A", "value": "b"}, {"name": "X-A", "value": "b", **META}),
    "McpServerStdio": ({"name": "fs", "command": "/bin/fs", "args": [], "env": []}, STDIO),
    "McpServerHttp": ({"type": "http", "name": "w", "url": "https://e.org", "headers": []}, HTTP),
    "McpServerSse": ({"type": "sse", "name": "w", "url": "https://e.org", "headers": []}, SSE),
    "NewSessionRequest": (
        {"cwd": "/", "mcpServers": []},
        {
            "cwd": "/",
            "mcpServers": [STDIO, HTTP, SSE],
            "additionalDirectories": ["/tmp"],  # noqa: S108 - nothing is created
            **META,
        },
    ),
    "NewSessionResponse": ({"sessionId": "s"}, {"sessionId": "s", **SESSION_STATE, **META}),
    "LoadSessionRequest": (
        {"sessionId": "s", "cwd": "/", "mcpServers": []},
        {
            "sessionId": "s",
            "cwd": "/",
            "mcpServers": [STDIO],
            "additionalDirectories": ["/a"],
            **META,
        },
    ),
    "LoadSessionResponse": ({}, {**SESSION_STATE, **META}),
    "ResumeSessionRequest": (
        {"sessionId": "s", "cwd": "/"},
        {
            "sessionId": "s",
            "cwd": "/",
            "mcpServers": [STDIO],
            "additionalDirectories": ["/a"],
            **META,
        },
    ),
    "ResumeSessionResponse": ({}, {**SESSION_STATE, **META}),
    "ListSessionsRequest": ({}, {"cwd": "/", "cursor": "2", **META}),
    "SessionInfo": (
        {"sessionId": "s", "cwd": "/"},
        {
            "sessionId": "s",
            "cwd": "/",
            "additionalDirectories": ["/a"],
            "title": "T",
            "updatedAt": "2026-01-02T03:04:05Z",
            **META,
        },
    ),
    "ListSessionsResponse": (
        {"sessions": []},
        {"sessions": [{"sessionId": "s", "cwd": "/"}], "nextCursor": "3", **META},
    ),
    "DeleteSessionRequest": ({"sessionId": "s"}, {"sessionId": "s", **META}),
    "DeleteSessionResponse": ({}, META),
    "CloseSessionRequest": ({"sessionId": "s"}, {"sessionId": "s", **META}),
    "CloseSessionResponse": ({}, META),
    # config
    "SessionMode": (
        {"id": "ask", "name": "Ask"},
        {"id": "ask", "name": "Ask", "description": "asks", **META},
    ),
    "SessionModeState": ({"currentModeId": "ask", "availableModes": []}, MODE_STATE),
    "SetSessionModeRequest": (
        {"sessionId": "s", "modeId": "ask"},
        {"sessionId": "s", "modeId": "ask", **META},
    ),
    "SetSessionModeResponse": ({}, META),
    "ConfigSelectOption": ({"value": "small", "name": "Small"}, CHOICE),
    "ConfigSelectGroup": ({"group": "fast", "name": "Fast", "options": []}, GROUP),
    "SelectConfigOption": (
        {"type": "select", "id": "m", "name": "M", "currentValue": "a", "options": []},
        GROUPED,
    ),
    "BooleanConfigOption": (
        {"type": "boolean", "id": "w", "name": "W", "currentValue": False},
        BOOLEAN,
    ),
    "UnknownConfigOption": ({"type": "slider"}, {"type": "slider", **META}),
    "SetConfigOptionRequest": (
        {"sessionId": "s", "configId": "m", "value": "a"},
        {"sessionId": "s", "configId": "m", "type": "boolean", "value": True, **META},
    ),
    "SetConfigOptionResponse": (
        {"configOptions": []},
        {"configOptions": [SELECT, BOOLEAN], **META},
    ),
    # prompt
    "PromptRequest": (
        {"sessionId": "s", "prompt": []},
        {"sessionId": "s", "prompt": [TEXT], **META},
    ),
    "Usage": (
        {},
        {
            "inputTokens": 1,
            "outputTokens": 2,
            "totalTokens": 3,
            "cachedReadTokens": 4,
            "cachedWriteTokens": 5,
            "thoughtTokens": 6,
            **META,
        },
    ),
    "PromptResponse": (
        {"stopReason": "end_turn"},
        {
            "stopReason": "max_tokens",
            "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
            **META,
        },
    ),
    "CancelNotification": ({"sessionId": "s"}, {"sessionId": "s", **META}),
    "CancelRequestNotification": ({"requestId": None}, {"requestId": "r1", **META}),
}
