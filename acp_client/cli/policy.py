"""`subagent policy`: what a policy would say of a request, without any agent. Owns the words typed and the exit codes.

It decides with the code of a run; only that nobody is asked and nothing is sent.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from acp_client.safe_text import printable

if TYPE_CHECKING:
    from acp_client.policy.approval import ToolApproval
    from acp_client.policy.permission import Choice, PermissionRequest
    from acp_client.policy.rules import PermissionPolicy, RuleAction, Ruling

METHOD: Final = "session/request_permission"
MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
"""A frame of a run may be as long by default."""
EXIT_CODES: Final = {"allow": 0, "ask": 4, "reject": 5}
"""0 only for what goes through without a person; 5 is what a run ends with that was denied all it asked for."""


class _Invalid(click.ClickException):
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What would happen: `action` as it counts in the end, `approval` where a person would be asked."""

    action: RuleAction
    ruling: Ruling
    why: str | None = None
    choice: Choice | None = None
    approval: ToolApproval | None = None


@click.group("policy", short_help="Try a permission policy on a request.")
def policy() -> None:
    """Try a permission policy, a YAML file or a preset, before an agent meets it."""


@policy.command("test", short_help="Say which rule decides a request, and how.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="The session's directory. Default: here.")
@click.option(
    "--add-dir",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="One more directory of the session. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="As one JSON document.")
@click.argument("file", metavar="FILE")
@click.argument("request_file", metavar="REQUEST.json")
def policy_test(*, file: str, request_file: str, cwd: str | None, add_dir: tuple[str, ...], as_json: bool) -> int:
    """Say which rule of a policy decides a request, what it says, and which option would be sent.

    FILE is a policy in YAML, or a preset: reject, allow, read-only, ask (./ask is a file of that name). REQUEST.json
    holds the params of a session/request_permission, the whole frame, or a tool call alone (which offers no
    options to send); `-` is stdin.

    \b
    Exit codes: 0 allowed, without a person   2 wrong usage, or a file that is wrong
      4 a person would be asked               5 rejected, or nothing to allow it with is offered
    """  # noqa: D301  # \b is click's mark for lines that stay as they are
    from acp_client.policy.policy_file import PolicyFileError, find_policy  # noqa: PLC0415  # once it is needed

    try:
        found = find_policy(file)
    except PolicyFileError as error:
        raise _Invalid(str(error)) from error
    directory = os.path.abspath(cwd or os.getcwd())  # noqa: PTH100, PTH109  # no link is resolved
    roots = (directory, *(os.path.abspath(one) for one in add_dir))  # noqa: PTH100  # as above
    request, bare = _request(_read_json(request_file), directory, roots)
    verdict = judge(found, request)
    text = json.dumps(_document(verdict, request, found), indent=2) if as_json else _told(verdict, found, bare=bare)
    sys.stdout.write(f"{text}\n")
    if verdict.action == "allow" and not bare and not _allows(verdict.choice):
        return EXIT_CODES["reject"]
    return EXIT_CODES[verdict.action]


def judge(policy: PermissionPolicy, request: PermissionRequest) -> Verdict:
    """What a run would do with the request."""
    from acp_client.policy.approval import Approvals  # noqa: PLC0415  # as above
    from acp_client.policy.asking.choices import is_choice, settle  # noqa: PLC0415
    from acp_client.policy.permission import Decision, choose  # noqa: PLC0415

    ruling = policy.rule(request)
    if ruling.action != "ask":
        decision, choice = settle(Decision(ruling.action, ruling.why, ruling.by), request)
        if decision.action == ruling.action:
            return Verdict(ruling.action, ruling, choice=choice)
    approval = (policy.approvals or Approvals()).of(request, explicit=ruling.explicit)
    if approval.mode == "never_ask" and not is_choice(request):
        unasked = "to be asked about, but its approval mode is never_ask"
        return Verdict("allow", ruling, unasked, choose("allow", request.options))
    why = ruling.why or ("what an allow would mean is not clear" if ruling.action == "allow" else None)
    return Verdict("ask", ruling, why, approval=approval)


def _allows(choice: Choice | None) -> bool:
    return choice is not None and choice.option is not None and (choice.option.kind or "").startswith("allow")


def _read_json(source: str) -> Any:
    called = "stdin" if source == "-" else repr(source)
    try:
        with sys.stdin.buffer if source == "-" else Path(source).open("rb") as file:
            data = file.read(MAX_REQUEST_BYTES + 1)
        if len(data) > MAX_REQUEST_BYTES:
            raise _Invalid(f"the request in {called} is longer than {MAX_REQUEST_BYTES} bytes")
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise _Invalid(f"the request in {called} is no JSON at {error.lineno}:{error.colno}: {error.msg}") from error
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise _Invalid(f"the request cannot be read from {called}: {why}; it is a JSON file in UTF-8") from error


def _request(document: Any, cwd: str, roots: tuple[str, ...]) -> tuple[PermissionRequest, bool]:
    """The request, and True if it is a tool call alone. Raises a usage error for what is neither."""
    from acp_client.policy.permission import PermissionRequest  # noqa: PLC0415  # as above
    from acp_client.protocol.models import ModelError, RequestPermissionRequest  # noqa: PLC0415

    params, bare = _params(document)
    try:
        asked = RequestPermissionRequest.from_wire(params)
    except ModelError as error:
        raise _Invalid(f"the request is no {METHOD}: {error}") from error
    call = asked.tool_call
    request = PermissionRequest(
        session_id=asked.session_id,
        tool_call_id=call.tool_call_id,
        title=call.title,
        name=call.name,
        kind=call.kind or "other",
        options=tuple(asked.options),
        raw=params["toolCall"],
        cwd=cwd,
        roots=roots,
    )
    return request, bare


def _params(document: Any) -> tuple[Any, bool]:
    """Params in wire shape; ids, which decide nothing, are filled in."""
    if not isinstance(document, dict):
        raise _Invalid("the request is no JSON object; give the params, the frame, or the tool call")
    if "method" in document and document["method"] != METHOD:
        raise _Invalid(f"the frame is no {METHOD}; give one that asks for permission")
    params = document.get("params") if "method" in document else document
    if not isinstance(params, dict):
        raise _Invalid("the frame has no params; give a whole one, or the params alone")
    bare = "method" not in document and "toolCall" not in params
    if bare and not params.keys() & {"toolCallId", "kind", "title", "name", "locations", "content", "rawInput"}:
        raise _Invalid("the request has no toolCall and is none; give the params, the frame, or the tool call")
    if bare:
        params = {"toolCall": params, "options": []}
    if isinstance(params.get("toolCall"), dict):
        params = {"sessionId": "-", **params, "toolCall": {"toolCallId": "-", **params["toolCall"]}}
    return params, bare


def _told(verdict: Verdict, policy: PermissionPolicy, *, bare: bool) -> str:
    lines = [f"{verdict.action:<8} {printable(verdict.ruling.by)}"]
    if verdict.why:
        lines.append(f"why      {printable(verdict.why)}")
    if verdict.approval is not None:
        lines.append(
            f"asks     {verdict.approval.mode}, role {verdict.approval.role}, {_seconds(policy):g} s to answer"
        )
    elif verdict.choice is not None and verdict.choice.option is not None:
        option = verdict.choice.option
        lines.append(f"sends    {option.kind}: {printable(f'{option.option_id!r} {option.name!r}')}")
    elif not bare:
        lines.append("sends    no option: none that fits is offered")
    return "\n".join(lines)


def _seconds(policy: PermissionPolicy) -> float:
    from acp_client.policy.approval import DEFAULT_TIMEOUT_SECONDS  # noqa: PLC0415  # as above

    return policy.approvals.timeout_seconds if policy.approvals else DEFAULT_TIMEOUT_SECONDS


def _document(verdict: Verdict, request: PermissionRequest, policy: PermissionPolicy) -> dict[str, Any]:
    ruling, approval, option = verdict.ruling, verdict.approval, verdict.choice and verdict.choice.option
    return {
        "action": verdict.action,
        "by": ruling.by,
        "rule": ruling.rule,
        "explicit": ruling.explicit,
        "why": verdict.why,
        "sends": verdict.choice.to_wire() if verdict.choice else None,
        "option_kind": option.kind if option else None,
        "asks": approval and {"mode": approval.mode, "role": approval.role, "timeout_seconds": _seconds(policy)},
        "request": {
            "kind": request.kind,
            "tool": request.name,
            "title": request.title,
            "paths": request.paths,
            "arguments": request.arguments,
        },
    }
