"""Samples of the chapters on what passes during a turn."""

from typing import Final

from tests.protocol.models.sample_values import (
    ANNOTATIONS,
    BOOLEAN,
    CALL,
    CONTENTS,
    LOCATION,
    META,
    OPTION,
    SELECT,
    TEXT,
    Wire,
)

TURN_SAMPLES: Final[dict[str, tuple[Wire, Wire]]] = {
    # content
    "Annotations": ({}, ANNOTATIONS),
    "TextContent": (TEXT, {**TEXT, "annotations": ANNOTATIONS, **META}),
    "ImageContent": (
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {
            "type": "image",
            "data": "aGk=",
            "mimeType": "image/png",
            "uri": "file:///a.png",
            "annotations": ANNOTATIONS,
            **META,
        },
    ),
    "AudioContent": (
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {
            "type": "audio",
            "data": "aGk=",
            "mimeType": "audio/wav",
            "annotations": ANNOTATIONS,
            **META,
        },
    ),
    "ResourceLink": (
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {
            "type": "resource_link",
            "uri": "file:///a",
            "name": "a",
            "title": "A",
            "description": "the a",
            "mimeType": "text/plain",
            "size": 12,
            "annotations": ANNOTATIONS,
            **META,
        },
    ),
    "TextResourceContents": (
        {"uri": "file:///a", "text": "hi"},
        {"uri": "file:///a", "text": "hi", "mimeType": "text/plain", **META},
    ),
    "BlobResourceContents": (
        {"uri": "file:///a", "blob": "aGk="},
        {"uri": "file:///a", "blob": "aGk=", "mimeType": "image/png", **META},
    ),
    "EmbeddedResource": (
        {"type": "resource", "resource": {"uri": "file:///a", "text": "hi"}},
        {
            "type": "resource",
            "resource": {"uri": "file:///a", "blob": "aGk=", "mimeType": "image/png"},
            "annotations": ANNOTATIONS,
            **META,
        },
    ),
    "UnknownContent": ({"type": "hologram"}, {"type": "hologram", **META}),
    # tool_call
    "ContentToolCallContent": ({"type": "content", "content": TEXT}, CONTENTS[0]),
    "DiffToolCallContent": ({"type": "diff", "path": "/a", "newText": ""}, CONTENTS[1]),
    "TerminalToolCallContent": ({"type": "terminal", "terminalId": "t"}, CONTENTS[2]),
    "UnknownToolCallContent": ({"type": "chart"}, {"type": "chart", **META}),
    "ToolCallLocation": ({"path": "/a"}, LOCATION),
    "ToolCall": ({"toolCallId": "c1", "title": ""}, CALL),
    "ToolCallUpdate": ({"toolCallId": "c1"}, CALL),
    "PermissionOption": ({"optionId": "o1"}, {**OPTION, **META}),
    "RequestPermissionRequest": (
        {"sessionId": "s", "toolCall": {"toolCallId": "c1"}, "options": []},
        {"sessionId": "s", "toolCall": CALL, "options": [OPTION], **META},
    ),
    "SelectedOutcome": (
        {"outcome": "selected", "optionId": "o1"},
        {"outcome": "selected", "optionId": "o1", **META},
    ),
    "CancelledOutcome": ({"outcome": "cancelled"}, {"outcome": "cancelled"}),
    "UnknownOutcome": ({"outcome": "asked_back"}, {"outcome": "asked_back", **META}),
    "RequestPermissionResponse": (
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "selected", "optionId": "o1", **META}, **META},
    ),
    # updates
    "UserMessageChunk": (
        {"sessionUpdate": "user_message_chunk", "content": TEXT},
        {"sessionUpdate": "user_message_chunk", "content": TEXT, "messageId": "m", **META},
    ),
    "AgentMessageChunk": (
        {"sessionUpdate": "agent_message_chunk", "content": TEXT},
        {"sessionUpdate": "agent_message_chunk", "content": TEXT, "messageId": "m", **META},
    ),
    "AgentThoughtChunk": (
        {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
        {"sessionUpdate": "agent_thought_chunk", "content": TEXT, "messageId": "m", **META},
    ),
    "ToolCallStart": (
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit"},
        {"sessionUpdate": "tool_call", **CALL},
    ),
    "ToolCallProgress": (
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1"},
        {"sessionUpdate": "tool_call_update", **CALL},
    ),
    "PlanEntry": (
        {"content": "do", "priority": "high", "status": "pending"},
        {"content": "do", "priority": "high", "status": "pending", **META},
    ),
    "PlanUpdate": (
        {"sessionUpdate": "plan", "entries": []},
        {
            "sessionUpdate": "plan",
            "entries": [{"content": "do", "priority": "low", "status": "completed"}],
            **META,
        },
    ),
    "AvailableCommandInput": ({"hint": "what"}, {"hint": "what", **META}),
    "AvailableCommand": (
        {"name": "test", "description": "tests"},
        {"name": "test", "description": "tests", "input": {"hint": "what", **META}, **META},
    ),
    "AvailableCommandsUpdate": (
        {"sessionUpdate": "available_commands_update", "availableCommands": []},
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "test", "description": "tests"}],
            **META,
        },
    ),
    "CurrentModeUpdate": (
        {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
        {"sessionUpdate": "current_mode_update", "currentModeId": "ask", **META},
    ),
    "ConfigOptionUpdate": (
        {"sessionUpdate": "config_option_update", "configOptions": []},
        {"sessionUpdate": "config_option_update", "configOptions": [SELECT, BOOLEAN], **META},
    ),
    "SessionInfoUpdate": (
        {"sessionUpdate": "session_info_update"},
        {"sessionUpdate": "session_info_update", "title": "T", "updatedAt": None, **META},
    ),
    "Cost": ({"amount": 0.25, "currency": "EUR"}, {"amount": 0.25, "currency": "EUR", **META}),
    "UsageUpdate": (
        {"sessionUpdate": "usage_update", "used": 0, "size": 1},
        {
            "sessionUpdate": "usage_update",
            "used": 5,
            "size": 10,
            "cost": {"amount": 0.25, "currency": "EUR"},
            **META,
        },
    ),
    "Notice": (
        {"sessionUpdate": "notice", "severity": "info", "title": "T"},
        {
            "sessionUpdate": "notice",
            "severity": "warning",
            "title": "T",
            "description": "D",
            **META,
        },
    ),
    "CompactionUpdate": (
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        {
            "sessionUpdate": "compaction_update",
            "compactionId": "k",
            "status": "failed",
            "summary": [TEXT],
            "error": "too long",
            **META,
        },
    ),
    "CompactionSummaryChunk": (
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
        {
            "sessionUpdate": "compaction_summary_chunk",
            "compactionId": "k",
            "content": TEXT,
            **META,
        },
    ),
    "UnknownUpdate": ({"sessionUpdate": "dance"}, {"sessionUpdate": "dance", **META}),
    "SessionNotification": (
        {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}},
        {"sessionId": "s", "update": {"sessionUpdate": "tool_call", **CALL}, **META},
    ),
}
