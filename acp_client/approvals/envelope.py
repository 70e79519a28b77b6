"""What a row holds of a request: JSON in a versioned envelope `{"v": 1, "doc": …}`. Pure.

Owns reading it back: null passes, another version is `unsupported_payload_version` with both numbers, anything else
`malformed_envelope`. All text is written as ASCII, so that no character of an agent's is one that a file cannot hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from typing import Any, Final, get_args

from acp_client.approvals.errors import ApprovalQueueError, Unreadable
from acp_client.policy.approval import ROLES, ApprovalRequest, Diff, OfferedOption, Subject

VERSION: Final = 1
MAX_CHARS: Final = 8 * 1024 * 1024
"""Of one request: no person reads more, and an agent must not fill the disk with questions."""


def seal(document: Any) -> str:
    """The envelope around a document. Raises ApprovalQueueError for what is no JSON, or too much of it."""
    try:
        text = json.dumps({"v": VERSION, "doc": document}, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ApprovalQueueError(
            f"the request cannot be queued: {error}; what is asked must be JSON, since it is kept in a file"
        ) from error
    if len(text) > MAX_CHARS:
        raise ApprovalQueueError(
            f"the request cannot be queued: it takes {len(text)} characters, at most {MAX_CHARS} are kept; "
            f"decide such requests by a rule"
        )
    return text


def unseal(text: str | None) -> Any:
    """The document in an envelope. Raises Unreadable."""
    if text is None:
        return None
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("malformed_envelope: it is no JSON; something else has written to the file") from error
    version = envelope.get("v") if isinstance(envelope, dict) else None
    if type(version) is not int or set(envelope) != {"v", "doc"}:
        raise Unreadable("malformed_envelope: it is no {v, doc}; something else has written to the file")
    if version != VERSION:
        raise Unreadable(
            f"unsupported_payload_version: it is {version}, this program reads {VERSION}; use the version that wrote it"
        )
    return envelope["doc"]


def seal_request(request: ApprovalRequest) -> str:
    """All of a request."""
    return seal({field.name: getattr(request, field.name) for field in fields(request)})


def unseal_request(text: str) -> ApprovalRequest:
    """The request again; fields that this version does not know are passed over. Raises Unreadable."""
    document = unseal(text)
    try:
        known = {field.name: document[field.name] for field in fields(ApprovalRequest) if _is_there(field, document)}
        known["paths"] = tuple(known.get("paths", ()))
        known["diffs"] = tuple(Diff(**diff) for diff in known.get("diffs", ()))
        known["options"] = tuple(OfferedOption(**option) for option in known.get("options", ()))
        request = ApprovalRequest(**known)
    except (TypeError, KeyError, AttributeError) as error:
        raise Unreadable(f"malformed_envelope: it holds no request ({error!r})") from error
    if request.role not in ROLES or request.subject not in get_args(Subject):
        raise Unreadable(
            f"malformed_envelope: role {request.role!r} or subject {request.subject!r} is none that is known"
        )
    return request


def _is_there(field: Any, document: Mapping[str, Any]) -> bool:
    optional = field.default is not MISSING or field.default_factory is not MISSING
    return field.name in document or not optional  # a required one that is missing is a KeyError


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
