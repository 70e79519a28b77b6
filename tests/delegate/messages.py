"""Conversations in the common shapes, with secrets where tools were called."""

from typing import Any

OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "You book trades."},
    {"role": "user", "content": [{"type": "text", "text": "Book it."}, {"type": "image_url", "image_url": "PLANT-0"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "lookup", "arguments": '{"isin": "PLANT-1"}', "parsed": "PLANT-2"},
                "extra": {"arguments": "PLANT-3"},
            }
        ],
        "function_call": {"name": "old", "arguments": "PLANT-4"},
        "reasoning_content": "PLANT-5",
    },
    {"role": "tool", "tool_call_id": "call_1", "name": "lookup", "content": "PLANT-6", "artifact": ["PLANT-7"]},
    {"role": "function", "name": "old", "content": [{"type": "text", "text": "PLANT-8"}]},
    {"role": "assistant", "content": "Booked.", "refusal": None, "tool_calls": None},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Book it."},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "PLANT-1", "signature": "PLANT-2"},
            {"type": "text", "text": "I look it up.", "citations": [{"cited_text": "PLANT-3"}]},
            {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {"isin": {"deep": ["PLANT-4"]}}},
            {"type": "server_tool_use", "id": "srv_1", "name": "web", "input": {"q": "PLANT-5"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [
                    {"type": "text", "text": "PLANT-6"},
                    {"type": "image", "source": {"type": "base64", "data": "PLANT-7"}},
                ],
            },
            {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"title": "PLANT-8"}]},
            {"type": "document", "source": {"data": "PLANT-9"}},
            {"type": "text", "text": "Go on."},
        ],
    },
]
PYDANTIC_AI: list[dict[str, Any]] = [
    {
        "kind": "request",
        "instructions": "You book trades.",
        "parts": [
            {"part_kind": "system-prompt", "content": "Be brief."},
            {"part_kind": "user-prompt", "content": ["Book it.", {"kind": "binary", "data": "PLANT-1"}]},
        ],
    },
    {
        "kind": "response",
        "usage": {"details": {"PLANT-2": 1}},
        "parts": [
            {"part_kind": "thinking", "content": "PLANT-3"},
            {"part_kind": "text", "content": "I look it up."},
            {"part_kind": "tool-call", "tool_name": "lookup", "args": "PLANT-4", "tool_call_id": "c1"},
            {"part_kind": "builtin-tool-call", "tool_name": "web", "args": {"q": "PLANT-5"}, "tool_call_id": "c2"},
        ],
    },
    {
        "kind": "request",
        "parts": [
            {"part_kind": "tool-return", "tool_name": "lookup", "content": "PLANT-6", "metadata": "PLANT-7"},
            {"part_kind": "retry-prompt", "tool_name": "lookup", "content": [{"input": "PLANT-8"}]},
        ],
    },
]
TEXTS = {
    "openai": (OPENAI, ["You book trades.", "Book it.", "Booked.", "lookup", "call_1"]),
    "anthropic": (ANTHROPIC, ["Book it.", "I look it up.", "Go on.", "lookup", "toolu_1"]),
    "pydantic-ai": (PYDANTIC_AI, ["You book trades.", "Be brief.", "Book it.", "I look it up.", "lookup", "c1"]),
}
"""A conversation, and what of it must be there however it is masked."""
