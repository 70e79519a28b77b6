"""The first terminal cause of a run, and what it breaks off. Later causes change nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from acp_client.session.ending import Ending


class Verdict:
    """`ending` is None until something has decided."""

    def __init__(self) -> None:
        self.ending: Ending | None = None
        self._scope: anyio.CancelScope | None = None

    def decide(self, ending: Ending, *, by_itself: bool = False) -> None:
        """A terminal cause: the first one counts, and breaks off the step that is awaited.

        Not one that ends `by_itself` at once, since this is what it waits for: to break off is not free.
        """
        if self.ending is None:
            self.ending = ending
            if self._scope is not None and not by_itself:
                self._scope.cancel()

    async def interrupt(self, step: Callable[[], Awaitable[object]]) -> None:
        """Await a step until it ends or something decides; not at all if something has."""
        with anyio.CancelScope() as scope:
            self._scope = scope
            if self.ending is None:
                await step()
        self._scope = None
