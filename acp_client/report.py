"""The result of a run, put together from what its parts know. Owns the wording of failures; decides nothing.

Everything that the child or the system said is redacted first and cut after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json

from acp_client.facts import Facts
from acp_client.outcome import REASONS, Diagnostics, Failure, Flags, RunResult, Timings
from acp_client.safe_text import printable
from acp_client.session.ending import Ending
from acp_client.session.session import Session

MAX_MESSAGE_CHARS: Final = 4000
"""A failure's message: a screenful. The whole of stderr's tail is in the diagnostics."""
MAX_DATA_BYTES: Final = 64 * 1024
"""The agent's own error data; larger data are cut to text."""
STDERR_LINES_SHOWN: Final = 3
NOISE_LINES_SHOWN: Final = 3


def build_result(facts: Facts, session: Session, ending: Ending) -> RunResult:
    """The result as far as it is known now: for `answer()` before teardown, for `result()` after it."""
    turn = session.turn
    status = REASONS[ending.reason].status
    messages = turn.answer.messages()
    text = turn.answer.text()
    return RunResult(
        status=status,
        reason=ending.reason,
        stop_reason=facts.stop_reason,
        text=text,
        last_message=messages[-1].text if messages else "",
        messages=messages,
        structured=session.structured,
        failure=None if status == "completed" else _failure(facts, session, ending),
        diagnostics=_diagnostics(facts, session),
        tool_calls=turn.tool_calls(),
        plan=turn.plan_entries(),
        permissions=tuple(session.permissions),
        usage=turn.usage(),
        timings=Timings.model_validate(facts.timings),
        flags=Flags(
            empty=status == "completed" and not turn.answer and not session.has_structured,
            truncated=turn.truncated,
            late_updates=turn.late_updates,
            completed_without_asking=turn.completed_without_asking(),
            killed=facts.process.killed if facts.process else None,
        ),
        run_id=facts.run_id,
        session_id=session.id,
        agent_info=facts.agent_info,
        depth=facts.depth,
    )


def _diagnostics(facts: Facts, session: Session) -> Diagnostics:
    process = facts.process
    noise = session.noise()
    return Diagnostics(
        exit_code=process.exit_code if process else None,
        signal=process.signal if process else None,
        stderr_tail=facts.stderr.text(),
        stderr_dropped_bytes=facts.stderr.dropped_bytes,
        stdout_noise=noise.model_copy(
            update={"first_lines": tuple(facts.redactor.redact(line) for line in noise.first_lines)}
        ),
        path_used=facts.environment.variables.get("PATH"),
        removed_env=facts.environment.removed,
        dropped_frames=session.dropped_frames + session.turn.malformed,
        dropped_events=facts.dropped_events,
    )


def _failure(facts: Facts, session: Session, ending: Ending) -> Failure:
    redact = facts.redactor.redact
    parts = [
        ending.message or REASONS[ending.reason].meaning,
        *_DETAILS.get(ending.reason, _no_details)(facts, session),
    ]
    message = redact("; ".join(part for part in parts if part))
    return Failure(
        stage=ending.stage,
        message=printable(message, max_chars=MAX_MESSAGE_CHARS, multiline=True),
        request=ending.request,
        rpc_code=ending.rpc_code,
        rpc_message=None if ending.rpc_message is None else redact(ending.rpc_message)[:MAX_MESSAGE_CHARS],
        rpc_data=_cut_data(facts.redactor.redact_json(ending.rpc_data)),
        retry_safe=not facts.prompt_sent,
    )


def _cut_data(data: Any) -> Any:
    text = to_json(data, inf_nan_mode="null")
    return data if len(text) <= MAX_DATA_BYTES else text[:MAX_DATA_BYTES].decode(errors="ignore")


def _no_details(_facts: Facts, _session: Session) -> list[str]:
    return []


def _exit_details(facts: Facts, _session: Session) -> list[str]:
    process = facts.process
    if process is None or facts.outlived_stdout:
        how = "it closed its output and went on running"
    elif process.signal is not None:
        how = f"killed by signal {process.signal}"
    else:
        how = f"exit code {process.exit_code}"
    return [how, *_stderr_details(facts)]


def _stderr_details(facts: Facts) -> list[str]:
    lines = [line for line in facts.stderr.text().splitlines() if line.strip()]
    return [f"its stderr ends with: {' | '.join(lines[-STDERR_LINES_SHOWN:])}"] if lines else []


def _silence_details(facts: Facts, session: Session) -> list[str]:
    noise = session.noise()
    details = [f"command: {' '.join(facts.command)}"]
    if noise.count:
        shown = " | ".join(noise.first_lines[:NOISE_LINES_SHOWN])
        details.append(f"the agent did not speak ACP; its stdout says: {shown}")
    return details + _stderr_details(facts)


def _agent_details(facts: Facts, _session: Session) -> list[str]:
    return _stderr_details(facts)


def _auth_details(facts: Facts, _session: Session) -> list[str]:
    removed = ", ".join(facts.environment.removed) or "nothing"
    return [
        f"login methods: {facts.auth_methods or 'none'} (set auth_method to use one)",
        f"the scrub removed from its environment: {removed} (let names through with env_passthrough)",
        *_stderr_details(facts),
    ]


_DETAILS: Final[Mapping[str, Any]] = {
    "agent_exited": _exit_details,
    "startup_timeout": _silence_details,
    "idle_timeout": _silence_details,
    "agent_error": _agent_details,
    "auth_required": _auth_details,
}
