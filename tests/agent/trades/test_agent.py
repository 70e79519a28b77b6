import base64
import json
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agents.trades.extract import extract
from tests.agent.trades.client import Client, connected

CONTENT = b"Trade ID;Ticker;Side;Qty;Price;Ccy;Date;Cpty\nT1;AAPL;Kauf;10;5,5;USD;05.01.2026;GS\nT2;XYZ;V;1;2;USD;;GS\n"
EXPECTED = json.loads(json.dumps(extract(CONTENT).as_dict()))
OLD: dict[str, list[str]] = {"trades": [], "warnings": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with one trades file."""
    (tmp_path / "trades.csv").write_bytes(CONTENT)
    return tmp_path


def names_in(folder: Path) -> list[str]:
    """Return what a folder holds."""
    return [path.name for path in folder.iterdir()]


def states(client: Client) -> list[tuple[str, str]]:
    """Return each tool call's name and the last status that was told of it."""
    names = {call["toolCallId"]: call["name"] for call in client.updates("tool_call")}
    last = {update["toolCallId"]: update["status"] for update in client.updates("tool_call_update")}
    return [(name, last[call_id]) for call_id, name in names.items()]


def text(client: Client) -> str:
    """Return what the agent said."""
    return "".join(chunk["content"]["text"] for chunk in client.updates("agent_message_chunk"))


async def test_a_file_is_read_in_steps_and_completes_with_trades_and_warnings(folder: Path) -> None:
    """A file is read in steps and completes with trades and warnings."""
    async with connected() as client:
        answer = await client.prompt(folder, "Extract the trades from trades.csv")
    assert answer["result"]["stopReason"] == "end_turn"
    assert client.completed == [EXPECTED]
    assert states(client) == [
        ("read_file", "completed"),
        ("parse_trades", "completed"),
        ("resolve_instruments", "completed"),
        ("resolve_counterparties", "completed"),
    ]
    assert text(client) == "2 trades, 2 warnings from trades.csv"
    assert client.asked() == []
    assert names_in(folder) == ["trades.csv"]
    plan = client.updates("plan")[-1]["entries"]
    assert [entry["status"] for entry in plan] == ["completed"] * 4


async def test_the_tool_calls_tell_where_what_and_how_much(folder: Path) -> None:
    """The tool calls tell where what and how much."""
    async with connected() as client:
        await client.prompt(folder, "trades.csv")
    read = client.updates("tool_call")[0]
    assert (read["kind"], read["locations"]) == ("read", [{"path": str(folder / "trades.csv")}])
    outputs = [update["rawOutput"] for update in client.updates("tool_call_update")]
    assert outputs[0] == {"bytes": len(CONTENT)}
    assert (outputs[1]["delimiter"], outputs[1]["rows"], outputs[1]["columns"]["Qty"]) == (";", 2, "quantity")
    assert outputs[2] == {"trades": 2, "unresolved": ["XYZ"], "unresolved_count": 1}
    assert outputs[3]["unresolved"] == []


async def test_an_output_that_is_named_and_allowed_is_written(folder: Path) -> None:
    """An output that is named and allowed is written."""
    async with connected("allow_once") as client:
        await client.prompt(folder, "Extract the trades from trades.csv and write them to out.json")
    assert json.loads((folder / "out.json").read_text()) == EXPECTED
    assert client.completed == [EXPECTED]
    (asked,) = client.asked()
    assert (asked["toolCall"]["kind"], asked["toolCall"]["content"][0]["type"]) == ("edit", "diff")
    assert states(client)[-1] == ("write_file", "completed")
    assert text(client).endswith(f"; written to {folder / 'out.json'}")
    assert [entry["status"] for entry in client.updates("plan")[-1]["entries"]] == ["completed"] * 5


async def test_the_diff_shows_what_is_replaced(folder: Path) -> None:
    """The diff shows what is replaced."""
    (folder / "out.json").write_text(json.dumps(OLD))
    async with connected("allow_once") as client:
        await client.prompt(folder, "trades.csv -> out.json")
    diff = client.asked()[0]["toolCall"]["content"][0]
    assert json.loads(diff["oldText"]) == OLD
    assert json.loads(diff["newText"]) == EXPECTED


@pytest.mark.parametrize("option", ["reject_once", "cancelled"])
async def test_a_rejection_is_a_warning_and_nothing_is_written(folder: Path, option: str) -> None:
    """A rejection is a warning and nothing is written."""
    async with connected(option) as client:
        answer = await client.prompt(folder, "trades.csv -> out.json")
    assert answer["result"]["stopReason"] == "end_turn"
    assert not (folder / "out.json").exists()
    (completed,) = client.completed
    assert completed["trades"] == EXPECTED["trades"]
    assert completed["warnings"][-1]["code"] == "write_rejected"
    assert states(client)[-1] == ("write_file", "failed")
    assert f"not written to {folder / 'out.json'}" in text(client)


@pytest.mark.parametrize("output", ["trades.csv", "none/out.json"])
async def test_an_output_that_must_not_be_written_is_a_warning_before_anybody_is_asked(
    folder: Path, output: str
) -> None:
    """An output that must not be written is a warning before anybody is asked."""
    async with connected() as client:
        await client.prompt(folder, json.dumps({"file": "trades.csv", "output": output}))
    assert client.asked() == []
    assert client.completed[0]["warnings"][-1]["code"] == "write_failed"
    assert (folder / "trades.csv").read_bytes() == CONTENT


async def test_a_write_that_fails_after_it_was_allowed_is_a_warning(folder: Path) -> None:
    """A write that fails after it was allowed is a warning."""
    async with connected("allow_once") as client:
        await client.prompt(folder, f"trades.csv -> '{'x' * 250}.json'")
    assert client.completed[0]["warnings"][-1]["code"] == "write_failed"
    assert names_in(folder) == ["trades.csv"]


async def test_a_large_output_is_written_without_a_diff(folder: Path) -> None:
    """A large output is written without a diff."""
    row = b"T%d;AAPL;Kauf;10;5,5;USD;05.01.2026;GS\n"
    (folder / "many.csv").write_bytes(CONTENT + b"".join(row % number for number in range(3, 1500)))
    async with connected("allow_once") as client:
        await client.prompt(folder, "many.csv -> out.json")
    assert "content" not in client.asked()[0]["toolCall"]
    assert len(json.loads((folder / "out.json").read_text())["trades"]) == 1499


@pytest.mark.parametrize(
    ("name", "content", "code", "reason"),
    [
        ("none.csv", None, -32002, "missing"),
        ("empty.csv", b"", -32602, "empty"),
        ("binary.csv", bytes(range(256)), -32602, "binary"),
        ("prose.txt", b"no trades in here", -32602, "no_table"),
        ("folder", None, -32602, "unclear_task"),
        ("folder/", None, -32602, "unreadable"),
    ],
)
async def test_an_input_that_cannot_be_used_is_an_error_that_says_why(
    folder: Path, name: str, content: bytes | None, code: int, reason: str
) -> None:
    """An input that cannot be used is an error that says why."""
    (folder / "folder").mkdir()
    if content is not None:
        (folder / name).write_bytes(content)
    async with connected() as client:
        answer = await client.prompt(folder, f"Extract the trades from {name} and write them to out.json")
    assert (answer["error"]["code"], answer["error"]["data"]["reason"]) == (code, reason)
    assert answer["error"]["message"]
    assert client.completed == []
    assert not (folder / "out.json").exists()
    assert all(state == "failed" for _, state in states(client)[-1:])


@pytest.mark.parametrize("blocks", [("hello",), ("trades.csv and other.csv",)])
async def test_an_unclear_task_is_an_error(folder: Path, blocks: tuple[str, ...]) -> None:
    """An unclear task is an error."""
    (folder / "other.csv").write_bytes(CONTENT)
    async with connected() as client:
        answer = await client.prompt(folder, *blocks)
    assert answer["error"]["code"] == -32602
    assert "exactly one trades file" in answer["error"]["message"]


def resource(**content: str) -> dict[str, Any]:
    """An embedded resource of a messy file."""
    return {"type": "resource", "resource": {"uri": "file:///elsewhere/my%20trades.csv", **content}}


@pytest.mark.parametrize(
    "block",
    [resource(text=CONTENT.decode()), resource(blob=base64.b64encode(CONTENT).decode())],
    ids=["text", "blob"],
)
async def test_an_embedded_file_is_used_without_reading_the_disk(folder: Path, block: dict[str, Any]) -> None:
    """An embedded file is used without reading the disk."""
    async with connected() as client:
        await client.prompt(folder, "Extract the trades", block)
    assert client.completed == [EXPECTED]
    assert states(client)[0][0] == "parse_trades"
    assert text(client) == "2 trades, 2 warnings from my trades.csv"


async def test_a_linked_file_is_read(folder: Path) -> None:
    """A linked file is read."""
    link = {"type": "resource_link", "uri": (folder / "trades.csv").as_uri(), "name": "trades"}
    async with connected() as client:
        await client.prompt(folder, "Extract the trades", link)
    assert client.completed == [EXPECTED]


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"type": "resource_link", "uri": "https://example.com/trades.csv", "name": "trades"}, "unclear_task"),
        (resource(blob="no base64!"), "encoding"),
    ],
)
async def test_an_attachment_that_cannot_be_used_is_an_error(folder: Path, block: dict[str, Any], reason: str) -> None:
    """An attachment that cannot be used is an error."""
    async with connected() as client:
        answer = await client.prompt(folder, "Extract the trades", block)
    assert (answer["error"]["code"], answer["error"]["data"]["reason"]) == (-32602, reason)


async def test_many_unresolved_names_are_counted_and_the_first_listed(folder: Path) -> None:
    """Many unresolved names are counted and the first listed."""
    rows = b"".join(b"A%d;XY%d;Kauf;1;5,5;USD;05.01.2026;GS\n" % (number, number) for number in range(60))
    (folder / "many.csv").write_bytes(CONTENT + rows)
    async with connected() as client:
        await client.prompt(folder, "many.csv")
    output = client.updates("tool_call_update")[2]
    assert (len(output["rawOutput"]["unresolved"]), output["rawOutput"]["unresolved_count"]) == (50, 61)
    assert output["content"][0]["content"]["text"].endswith("…")
