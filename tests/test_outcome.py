"""The table of reasons, and what a result looks like."""

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from acp_client.outcome.reasons import REASONS, Reason, Status
from acp_client.outcome.result import Diagnostics, Failure, Message, RunResult, Stage
from acp_client.protocol.models import PlanEntry, TextContent, UnknownContent

# The contract: reason → status and exit code of the command. Written out here a second time, on purpose.
CONTRACT: dict[str, tuple[Status, int]] = {
    "end_turn": ("completed", 0),
    "cancelled": ("aborted", 7),
    "cancelled_by_agent": ("aborted", 7),
    "max_tokens": ("error", 9),
    "max_turn_requests": ("error", 9),
    "refusal": ("error", 8),
    "unknown_stop_reason": ("error", 1),
    "spawn_failed": ("error", 1),
    "startup_timeout": ("error", 3),
    "idle_timeout": ("error", 3),
    "run_timeout": ("error", 3),
    "protocol_mismatch": ("error", 1),
    "protocol_error": ("error", 1),
    "unsupported_content": ("error", 1),
    "unsupported_capability": ("error", 1),
    "internal_error": ("error", 1),
    "auth_required": ("error", 1),
    "agent_exited": ("error", 1),
    "agent_error": ("error", 1),
    "budget_exceeded": ("error", 6),
    "approval_timeout": ("error", 3),
    "completed_without_asking": ("error", 1),
    "output_invalid": ("error", 10),
    "limit_exceeded": ("error", 1),
    "depth_exceeded": ("error", 1),
}
NOT_YET = {"budget_exceeded", "approval_timeout", "output_invalid", "depth_exceeded"}
"""Reasons of features that may not be there yet; once they are, they must be as the contract says."""


@pytest.mark.parametrize("reason", get_args(Reason))
def test_a_reason_has_the_status_and_exit_code_of_the_contract(reason: Reason) -> None:
    """And says what it means."""
    row = REASONS[reason]
    assert (row.status, row.exit_code) == CONTRACT[reason]
    assert row.meaning


def test_the_table_has_a_row_for_every_reason_and_for_nothing_else() -> None:
    """It is closed; none is ever taken away."""
    assert set(REASONS) == set(get_args(Reason))
    assert len(get_args(Reason)) == len(REASONS)
    assert set(CONTRACT) - set(REASONS) <= NOT_YET
    assert set(REASONS) <= set(CONTRACT)


def test_only_one_reason_is_completed() -> None:
    """Whatever else an agent says, the caller must look."""
    assert [reason for reason, row in REASONS.items() if row.status == "completed"] == ["end_turn"]
    assert [reason for reason, row in REASONS.items() if row.exit_code == 0] == ["end_turn"]


def test_the_table_cannot_be_changed() -> None:
    """Neither rows nor what is in them."""
    with pytest.raises(TypeError):
        REASONS["end_turn"] = REASONS["refusal"]  # type: ignore[index]  # what is tested
    with pytest.raises(AttributeError):
        REASONS["end_turn"].exit_code = 1  # type: ignore[misc]  # what is tested


def test_a_result_is_frozen_and_knows_no_other_fields() -> None:
    """A misspelt field is an error where it is written."""
    result = RunResult(status="completed", reason="end_turn", run_id="r")
    with pytest.raises(ValidationError):
        result.text = "x"
    with pytest.raises(ValidationError):
        RunResult(status="completed", reason="end_turn", run_id="r", txt="x")  # type: ignore[call-arg]  # what is tested
    with pytest.raises(ValidationError):
        RunResult(status="completed", reason="boredom", run_id="r")  # type: ignore[arg-type]  # what is tested


def test_what_is_not_known_is_none_and_never_zero() -> None:
    """So that a sum over results says what it is."""
    result = RunResult(status="error", reason="agent_exited", run_id="r")
    assert set(result.usage.model_dump().values()) == {None}
    assert set(result.timings.model_dump().values()) == {None}
    assert (result.failure, result.structured, result.session_id, result.stop_reason) == (None, None, None, None)
    assert result.diagnostics == Diagnostics()
    assert result.flags.killed is None


@pytest.mark.parametrize("stage", get_args(Stage))
def test_a_failure_is_not_safe_to_retry_unless_it_says_so(stage: Stage) -> None:
    """At any stage."""
    assert not Failure(stage=stage, message="m").retry_safe


def test_a_result_is_one_json_document_with_models_in_wire_shape() -> None:
    """Blocks and plan entries stand as they stood on the wire, and numbers that are none are null."""
    odd: dict[str, Any] = {"type": "hologram", "depth": 3}
    step = {"content": "a", "priority": "high", "status": "pending", "odd": 1}
    result = RunResult(
        status="error",
        reason="agent_error",
        run_id="r",
        messages=(Message(id="m", blocks=(TextContent(text="t"), UnknownContent.from_wire(odd))),),
        plan=(PlanEntry.from_wire(step),),
        failure=Failure(stage="prompt", message="m", rpc_data={"x": float("nan")}),
    )
    wire = result.model_dump(mode="json")
    assert wire["messages"][0]["blocks"] == [{"type": "text", "text": "t"}, odd]
    assert wire["plan"] == [step]
    assert '"x":null' in result.model_dump_json().replace(" ", "")
    assert "NaN" not in result.model_dump_json()
