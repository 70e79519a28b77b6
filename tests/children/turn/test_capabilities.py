"""What we did not offer is not done, not faked and not left unanswered; what nobody knows harms nothing."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_client import Limits, RunResult, run_subagent
from tests.support.scenarios import QUICK, Scripted


async def play(folder: Path, scenario: dict[str, Any], **spec: Any) -> tuple[RunResult, Scripted]:
    """One run of a scenario."""
    child = Scripted(folder, scenario, limits=Limits(**QUICK), **spec)
    with anyio.fail_after(20):
        return await run_subagent(child.spec, "go"), child


def answers(child: Scripted) -> list[dict[str, Any]]:
    """Our answers to the child's requests."""
    return [frame for frame in child.received() if "method" not in frame]


def ask(method: str, **params: Any) -> dict[str, Any]:
    """A request of the child, which waits for the answer."""
    return {"request": {"method": method, "params": {"sessionId": "${session}", **params}}}


@pytest.mark.row("CAP-1", "CAP-4")
@pytest.mark.parametrize("permission", ["reject", "allow"])
async def test_files_and_terminals_that_were_not_offered_are_refused_without_effect(
    permission: str, tmp_path: Path
) -> None:
    """Also where every permission is given: it is not about that. The turn goes on."""
    secret = tmp_path / "there.txt"
    secret.write_text("content")
    new, ran = tmp_path / "new.txt", tmp_path / "ran"
    steps = [
        ask("fs/read_text_file", path=str(secret)),
        ask("fs/read_text_file", path=str(tmp_path) + "-evil/x"),
        ask("fs/write_text_file", path=str(new), content="written"),
        ask("fs/write_text_file", path=str(secret), content="written over"),
        ask("terminal/create", command="touch", args=[str(ran)], cwd=str(tmp_path)),
        ask("terminal/output", terminalId="t-1"),
        ask("terminal/wait_for_exit", terminalId="t-1"),
        ask("terminal/kill", terminalId="t-1"),
        ask("terminal/release", terminalId="t-1"),
        ask("elicitation/create", message="Your name?", mode="form", requestedSchema={"type": "object"}),
    ]
    result, child = await play(tmp_path, {"prompt": [*steps, {"chunk": "went on"}]}, permission=permission)
    assert (result.reason, result.text) == ("end_turn", "went on")
    assert [answer["error"]["code"] for answer in answers(child)] == [-32601] * len(steps)
    assert not any("result" in answer for answer in answers(child))
    assert secret.read_text() == "content"
    assert not new.exists()
    assert not ran.exists()
    assert "content" not in json.dumps(answers(child))


@pytest.mark.row("CAP-1")
async def test_what_is_not_served_is_not_advertised(tmp_path: Path) -> None:
    """The capabilities say what the answers will be."""
    _, child = await play(tmp_path, {})
    offered = child.received()[0]["params"]["clientCapabilities"]
    assert offered["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert offered["terminal"] is False
    assert "elicitation" not in offered


@pytest.mark.row("CAP-5")
async def test_no_path_at_all_is_read_for_an_agent(tmp_path: Path) -> None:
    """Inside the directory, beside it under a name that begins alike, above it, by a link."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app-evil").mkdir()
    for place in ("app", "app-evil"):
        (tmp_path / place / "x").write_text(f"secret of {place}")
    (tmp_path / "app" / "link").symlink_to(tmp_path / "app-evil")
    paths = [f"{tmp_path}/app{end}" for end in ("/x", "-evil/x", "/../app-evil/x", "/link/x")]
    steps = [ask("fs/read_text_file", path=path) for path in (*paths, "x", "", "/etc/passwd")]
    _, child = await play(tmp_path, {"prompt": steps}, cwd=tmp_path / "app")
    assert [answer["error"]["code"] for answer in answers(child)] == [-32601] * len(steps)


METHODS = [
    "_vendor/x",
    "session/unknown",
    "session/update",
    "session/prompt",
    "session/new",
    "initialize",
    "fs/read_text_file/",
    "FS/READ_TEXT_FILE",
    "",
    "__class__",
    "rpc.discover",
    "é\t🎉",
    "$/unknown",
    "x" * 3000,
]


@pytest.mark.row("CAP-2", "CAP-4")
async def test_a_method_that_we_do_not_have_is_not_found_under_the_same_id(tmp_path: Path) -> None:
    """Whatever its name, its params and its id; the connection lives."""
    odd_params: list[Any] = [None, {}, {"sessionId": None}, {"deep": [[[{}]]]}]
    steps = [{"request": {"method": method, "id": f"id-{index}"}} for index, method in enumerate(METHODS)]
    steps += [{"request": {"method": "_vendor/y", "params": params}} for params in odd_params]
    result, child = await play(tmp_path, {"prompt": [*steps, {"chunk": "went on"}]})
    assert (result.reason, result.text) == ("end_turn", "went on")
    assert [answer["error"]["code"] for answer in answers(child)] == [-32601] * len(steps)
    assert [answer["id"] for answer in answers(child)][: len(METHODS)] == [f"id-{n}" for n in range(len(METHODS))]


@pytest.mark.row("CAP-2")
async def test_params_that_are_no_object_are_refused_too(tmp_path: Path) -> None:
    """With an error of some kind, under the id: never with silence."""
    odd: list[Any] = [[1, 2], "text", 7, True]
    steps = [{"request": {"method": "_vendor/x", "params": params, "wait": False}} for params in odd]
    steps += [{"request": {"method": "session/request_permission", "params": params, "wait": False}} for params in odd]
    result, _ = await play(tmp_path, {"prompt": [*steps, {"chunk": "went on"}]})
    assert (result.reason, result.text) == ("end_turn", "went on")


@pytest.mark.row("CAP-2", "SCHEMA-1")
async def test_a_notification_that_nobody_knows_is_ignored(tmp_path: Path) -> None:
    """At any time, also one that cancels what was never asked."""
    notes = [
        {"notify": {"method": method, "params": {"sessionId": "s-1"}}}
        for method in METHODS
        if method != "session/update"
    ]
    notes += [{"notify": {"method": "$/cancel_request", "params": {"requestId": one}}} for one in (0, "x", None, 3)]
    notes += [{"notify": {"method": "elicitation/complete", "params": {"elicitationId": "e"}}}]
    scenario = {"start": notes, "initialize": notes, "new_session": notes, "prompt": [*notes, {"chunk": "went on"}]}
    result, child = await play(tmp_path, scenario)
    assert (result.reason, result.text) == ("end_turn", "went on")
    assert child.methods() == ["initialize", "session/new", "session/prompt"]


@pytest.mark.row("CAP-2")
async def test_requests_before_the_session_are_answered_as_well(tmp_path: Path) -> None:
    """During the handshake, when an agent waits for the answer before it goes on."""
    steps = [{"request": {"method": "_vendor/x", "params": {}}}]
    result, child = await play(tmp_path, {"initialize": steps, "new_session": steps, "prompt": [{"chunk": "a"}]})
    assert (result.reason, result.text) == ("end_turn", "a")
    assert [answer["error"]["code"] for answer in answers(child)] == [-32601] * 2


@pytest.mark.row("CAP-2")
async def test_a_burst_of_requests_is_answered_each_once(tmp_path: Path) -> None:
    """More than are held open at once."""
    burst = [{"request": {"method": "_vendor/x", "id": f"r{n}", "wait": False, "save": f"r{n}"}} for n in range(400)]
    result, child = await play(tmp_path, {"prompt": [*burst, *[{"wait_answer": f"r{n}"} for n in range(400)]]})
    assert result.reason == "end_turn"
    assert sorted(answer["id"] for answer in answers(child)) == sorted(f"r{n}" for n in range(400))
    assert all("error" in answer for answer in answers(child))
