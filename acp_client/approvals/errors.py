"""What can go wrong with the queue, by what to do about it: the file, the answer, the id that was given."""

from __future__ import annotations

from acp_client.protocol.errors import AcpError


class ApprovalQueueError(AcpError):
    """Root of the errors of the approval queue."""


class QueueUnusable(ApprovalQueueError):
    """The file cannot be used: the message says why, and what would do."""


class QueueBusy(QueueUnusable):
    """Another process has held the file all the time that we waited: try again."""


class Unreadable(ApprovalQueueError):
    """A row holds what this version cannot read: `malformed_envelope` or `unsupported_payload_version`."""


class Refused(ApprovalQueueError):
    """The answer was not taken: somebody was first, the time was up, the parent has gone, the role does not suffice."""


class WrongAnswer(ApprovalQueueError):
    """The answer does not fit the question: an option that is not offered, a form that is not valid."""


class UnknownRequest(ApprovalQueueError):
    """No request has this id, or several begin so."""
