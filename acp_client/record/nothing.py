"""What stands for the transcript of a run that is not recorded: it costs next to nothing, its import too."""

from __future__ import annotations

from collections.abc import Callable

from acp_client.outcome.result import RunResult
from acp_client.process.redaction import Redactor
from acp_client.protocol.transport import Transport


class NoTranscript:
    """As a `Transcript`, and nothing of it."""

    def begin(self, redactor: Redactor) -> None:
        """Nothing begins."""

    def tap(self, transport: Transport) -> Transport:
        """The transport itself."""
        return transport

    is_behind = False

    def stderr(self, data: bytes) -> None:
        """Nobody listens."""

    async def caught_up(self) -> None:
        """It is never behind."""

    async def conclude(self, redactor: Redactor, report: Callable[[], RunResult]) -> None:
        """There is nothing to write."""

    def add_to(self, result: RunResult) -> RunResult:
        """The result itself."""
        return result

    def abandon(self) -> None:
        """There is nothing to give up."""
