"""The result of a run, put together from what its parts know. Owns the wording of failures; decides nothing.

Everything that the child or the system said is redacted first and cut after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic_core import to_json

from acp_client.outcome.reasons import REASONS
from acp_client.outcome.result import Diagnostics, Failure, Flags, RunResult, StdoutNoise, Timings
from acp_client.policy.budget import BudgetReport
from acp_client.run.answering import Answering
from acp_client.run.child.facts import Facts
from acp_client.safe_text import printable
from acp_client.session.ending import Ending
from acp_client.session.session import Session

MAX_MESSAGE_CHARS: Final = 4000
"""A failure's message: a screenful. The whole of stderr's tail is in the diagnostics."""
MAX_HEAD_CHARS: Final = 2000
"""Of it, what failed, which may quote the agent at length: the details after it are seen all the same."""
MAX_DATA_BYTES: Final = 64 * 1024
"""The agent's own error data; larger data are cut to text."""
MAX_REDACTED_CHARS: Final = 1024 * 1024
"""No more is looked at: far above what is shown, and a quarter of a second of work at the most."""
MAX_DATA_CHARS: Final = 1000
"""How much of those data the message shows: they often hold the only cause."""
STDERR_LINES_SHOWN: Final = 3
NOISE_LINES_SHOWN: Final = 3
NOISE_LINE_CHARS: Final = 500
_NO_NOISE: Final = StdoutNoise()


def build_result(
    facts: Facts, session: Session, ending: Ending, budget: BudgetReport | None, answering: Answering
) -> RunResult:
    """The result as far as it is known now: for `answer()` before teardown, for `result()` after it."""
    turn = session.turn
    status = REASONS[ending.reason].status
    messages = turn.answer.messages()
    return RunResult(
        status=status,
        reason=ending.reason,
        stop_reason=facts.stop_reason,
        text=turn.answer.text(),
        last_message=messages[-1].text if messages else "",
        messages=messages,
        structured=answering.structured(),
        repairs=answering.repairs,
        failure=None if status == "completed" else _failure(facts, session, ending),
        diagnostics=_diagnostics(facts, session),
        tool_calls=turn.tool_calls(),
        plan=turn.plan_entries(),
        permissions=tuple(session.permissions.records),
        usage=turn.usage(),
        budget=budget,
        timings=Timings.model_validate(facts.timings),
        flags=_flags(facts, session, completed=status == "completed"),
        run_id=facts.run_id,
        session_id=session.id,
        agent_info=facts.agent_info,
        depth=facts.depth.here,
        nested_trace=tuple(session.nested_trace),
    )


class Draft:
    """A result that is put together while the child goes, when there is time, and completed when it has gone."""

    def __init__(self) -> None:
        self._result: RunResult | None = None
        self._heard: object = None

    def complete(self, facts: Facts, session: Session, ending: Ending, answering: Answering) -> RunResult:
        """As `build_result`, of a run without a budget; what was put together before is kept if nothing came since."""
        if self._result is not None and self._heard == _heard(session):
            new: dict[str, Any] = {
                "diagnostics": _diagnostics(facts, session),
                "timings": Timings.model_validate(facts.timings),
                "flags": _flags(facts, session, completed=self._result.status == "completed"),
            }
            return self._result.model_copy(update=new)
        self._result, self._heard = build_result(facts, session, ending, None, answering), _heard(session)
        return self._result


def _heard(session: Session) -> object:
    """Equal while there is nothing new: neither read, nor dropped at the end, nor decided."""
    return session.reads, session.frames, session.dropped_frames, session.noise.count, len(session.permissions.records)


def broken_result(run_id: str) -> RunResult:
    """Where our own fault lets none be put together."""
    failure = Failure(stage="teardown", message=REASONS["internal_error"].meaning)
    return RunResult(status="error", reason="internal_error", failure=failure, run_id=run_id)


def _flags(facts: Facts, session: Session, *, completed: bool) -> Flags:
    turn = session.turn
    return Flags(
        empty=completed and not turn.answer and not session.has_structured,
        truncated=turn.truncated,
        late_updates=turn.late_updates,
        completed_without_asking=turn.completed_without_asking(),
        killed=facts.process.killed if facts.process else None,
        omitted_messages=turn.answer.omitted,
    )


def _diagnostics(facts: Facts, session: Session) -> Diagnostics:
    process = facts.process
    return Diagnostics(
        exit_code=process.exit_code if process else None,
        signal=process.signal if process else None,
        stderr_tail=facts.stderr.text(),
        stderr_dropped_bytes=facts.stderr.dropped_bytes,
        stdout_noise=_noise(facts, session),
        path_used=facts.environment.variables.get("PATH"),
        removed_env=facts.environment.removed,
        dropped_frames=session.dropped_frames + session.turn.malformed,
        dropped_events=facts.dropped_events,
    )


def _noise(facts: Facts, session: Session) -> StdoutNoise:
    """The lines are redacted together, as a private key goes over several; so fewer may be left."""
    noise = session.noise
    if not noise.count:
        return _NO_NOISE
    lines = facts.redactor.redact("\n".join(noise.first_lines)).split("\n")
    return StdoutNoise(
        count=noise.count, first_lines=tuple(printable(line, max_chars=NOISE_LINE_CHARS) for line in lines)
    )


def _failure(facts: Facts, session: Session, ending: Ending) -> Failure:
    def redact(text: str) -> str:
        return facts.redactor.redact(text[:MAX_REDACTED_CHARS])

    data = _data(facts, ending.rpc_data)
    head = printable(redact(ending.message or REASONS[ending.reason].meaning), max_chars=MAX_HEAD_CHARS, multiline=True)
    details = [*_data_details(data), *_DETAILS.get(ending.reason, _no_details)(facts, session)]
    message = "; ".join([head, *map(redact, details)])
    return Failure(
        stage=ending.stage,
        message=printable(message, max_chars=MAX_MESSAGE_CHARS, multiline=True),
        request=ending.request,
        rpc_code=ending.rpc_code,
        rpc_message=None if ending.rpc_message is None else redact(ending.rpc_message)[:MAX_MESSAGE_CHARS],
        rpc_data=data,
        retry_safe=not facts.prompt_sent,
    )


def _data(facts: Facts, data: Any) -> Any:
    """Redacted; larger data as the beginning of their text."""
    if data is None:
        return None
    text = to_json(data, inf_nan_mode="null")
    if len(text) <= MAX_DATA_BYTES:
        return facts.redactor.redact_json(data)
    shown = facts.redactor.redact(text[:MAX_REDACTED_CHARS].decode(errors="ignore"))
    return shown.encode()[:MAX_DATA_BYTES].decode(errors="ignore")


def _data_details(data: Any) -> list[str]:
    """A text as it is, the rest as JSON; nothing for what says nothing."""
    if data is None or data in ("", {}, []):
        return []
    text = data if isinstance(data, str) else to_json(data, inf_nan_mode="null").decode()
    return [f"its error data: {printable(text, max_chars=MAX_DATA_CHARS)}"]


def _no_details(_facts: Facts, _session: Session) -> list[str]:
    return []


def _exit_details(facts: Facts, session: Session) -> list[str]:
    process = facts.process
    if process is None or facts.outlived_stdout:
        how = "it closed its end of a pipe and went on running"
    elif process.signal is not None:
        how = f"killed by signal {process.signal}"
    else:
        how = "exit status unknown" if process.exit_code is None else f"exit code {process.exit_code}"
    return [how, *([] if session.frames else _noise_details(facts, session)), *_stderr_details(facts)]


def _stderr_details(facts: Facts) -> list[str]:
    lines = [line for line in facts.stderr.text().split("\n") if line.strip()]
    return [f"its stderr ends with: {' | '.join(lines[-STDERR_LINES_SHOWN:])}"] if lines else []


def _silence_details(facts: Facts, session: Session) -> list[str]:
    return [f"command: {' '.join(facts.command)}", *_noise_details(facts, session), *_stderr_details(facts)]


def _noise_details(facts: Facts, session: Session) -> list[str]:
    noise = _noise(facts, session)
    if not noise.count:
        return []
    shown = " | ".join(noise.first_lines[:NOISE_LINES_SHOWN])
    told = "beside its frames" if session.frames else "the agent did not speak ACP;"
    return [f"{told} its stdout says: {shown}"]


def _spawn_details(facts: Facts, _session: Session) -> list[str]:
    path = facts.environment.variables.get("PATH", "none")
    return [f"command: {' '.join(facts.command)}", f"cwd: {facts.cwd}", f"PATH: {path}"]


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
    "spawn_failed": _spawn_details,
    "agent_exited": _exit_details,
    "startup_timeout": _silence_details,
    "idle_timeout": _silence_details,
    "run_timeout": _silence_details,
    "protocol_error": _agent_details,
    "protocol_mismatch": _agent_details,
    "unknown_stop_reason": _agent_details,
    "limit_exceeded": _agent_details,
    "agent_error": _agent_details,
    "auth_required": _auth_details,
}
