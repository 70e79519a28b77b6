"""Code of the caller's that is called among ours: what of what it raises is meant for us, and the words for the rest.

Owns no call. What a failure means is the business of who calls: a rejection, an answer for a model.
"""

from __future__ import annotations

import asyncio
import threading

import anyio


def raise_if_ours(error: BaseException) -> None:
    """Raise what is not the code's own: what cancels the task, and in the main thread what may be a Ctrl-C.

    Either may stand in a group, with what else went wrong in tasks of the code's. All other errors are its own,
    whatever their class: an exit that it asks for must not end our loop with every run in it. A GeneratorExit too: a
    call that is closed with its loop raises as it leaves its scope.
    """
    if is_cancelled() and (cancel := _find(error, anyio.get_cancelled_exc_class())) is not None:
        raise cancel from None
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and (interrupt := _find(error, KeyboardInterrupt)) is not None:
        raise interrupt from None


def _find(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := _find(one, kind)) is not None), None)
    return error if isinstance(error, kind) else None


def is_cancelled() -> bool:
    """True if this task is being cancelled: on asyncio the same exception comes from awaiting a cancelled future."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio: there it means nothing else
        return True
    return task is None or task.cancelling() > 0


def words_of(error: BaseException) -> str:
    """Type and message; the type alone where there is no message, or none to be had."""
    try:
        message = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # the caller's own code, as what raised it is
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
