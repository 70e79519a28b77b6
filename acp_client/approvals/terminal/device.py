"""The controlling terminal, for a thread that asks somebody: text out, one key or one line in.

Owns the modes of the terminal, which are put back on every path, and the way out of a wait. POSIX only.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

DEVICE: Final = "/dev/tty"

READ_BYTES: Final = 4096
ESCAPE: Final = "\x1b"
END_OF_INPUT: Final = "\x04"
ESCAPE_SECONDS: Final = 0.1
"""How long the rest of an escape sequence (an arrow key) may take over a slow line; it is passed over."""
DEFAULT_COLUMNS: Final = 80


class TerminalError(Exception):
    """Nobody can be asked here; the message says why."""


class Interrupted(Exception):
    """The answer is of no use any more."""


class Terminal:
    """Opened, used and closed in one thread; `interrupt`, from any other, ends its wait for good."""

    def __init__(self, device: str = DEVICE, *, escape_seconds: float = ESCAPE_SECONDS) -> None:
        self._device = device
        self._escape_seconds = escape_seconds
        self._fd = -1
        self._woken, self._wake = socket.socketpair()

    def interrupt(self) -> None:
        """End a wait that goes on, and every later one. Idempotent."""
        with suppress(OSError):  # it is closed already
            self._wake.send(b"\0")

    def open(self) -> None:
        """Raises TerminalError where there is no terminal, or it is somebody else's turn on it."""
        try:
            self._fd = os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
            in_front = _is_in_front(self._fd)
        except OSError as error:
            raise TerminalError(f"there is no terminal to ask on ({self._device}: {error.strerror})") from error
        if not in_front:
            raise TerminalError("this program runs in the background of its terminal; bring it to the front (fg)")

    def close(self) -> None:
        """Idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._woken.close()
        self._wake.close()

    @property
    def columns(self) -> int:
        """How wide it is."""
        with suppress(OSError):
            return os.get_terminal_size(self._fd).columns or DEFAULT_COLUMNS
        return DEFAULT_COLUMNS

    def write(self, text: str) -> None:
        """Show text, which must be safe already. Raises Interrupted, also while the terminal takes no more (Ctrl-S)."""
        data = text.encode(errors="replace")
        while data:
            _, writable, _ = self._wait([], [self._fd])
            if writable:
                data = data[self._write(data[:READ_BYTES]) :]

    def write_now(self, text: str) -> None:
        """Show text if the terminal takes it at once; a last word, also after an interruption."""
        with suppress(OSError):
            if select.select([], [self._fd], [], 0)[1]:
                os.write(self._fd, text.encode())

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._fd, data)
        except OSError as error:
            raise TerminalError(f"the terminal has gone ({error.strerror})") from error

    def key(self) -> str:
        """The next key, as one character; what was typed before now is thrown away. Raises Interrupted, TerminalError.

        A key that sends several (an arrow, a paste) is passed over, so that no part of it is taken for an answer.
        """
        with self._mode(line=False):
            while True:
                typed = self._read()
                if typed.startswith(ESCAPE):
                    self._pass_over()
                    continue
                if typed == END_OF_INPUT:
                    raise TerminalError("the input ended")
                if len(typed.removesuffix("\n")) == 1:
                    return typed[0]

    def line(self) -> str:
        """The next line, without its end; the terminal's own line editing. Raises Interrupted, TerminalError."""
        with self._mode(line=True):
            typed = self._read()
            while not typed.endswith("\n"):
                typed += self._read()
            return typed.removesuffix("\n")

    def _pass_over(self) -> None:
        until = time.monotonic() + self._escape_seconds
        while (left := until - time.monotonic()) > 0:
            if self._wait([self._fd], [], left)[0]:
                self._take()

    def _read(self) -> str:
        self._wait([self._fd], [])
        return self._take()

    def _take(self) -> str:
        try:
            data = os.read(self._fd, READ_BYTES)
        except OSError as error:
            raise TerminalError(f"the terminal has gone ({error.strerror})") from error
        if not data:
            raise TerminalError("the input ended")
        return data.decode(errors="replace")

    def _wait(self, reading: list[int], writing: list[int], seconds: float | None = None) -> Any:
        wanted: list[Any] = [*reading, self._woken]
        ready = select.select(wanted, writing, [], seconds)
        if self._woken in ready[0]:
            raise Interrupted
        return ready

    @contextmanager
    def _mode(self, *, line: bool) -> Iterator[None]:
        """Whole lines with echo, or single keys without; signals of the keyboard (Ctrl-C) stay signals."""
        try:
            before = termios.tcgetattr(self._fd)
            during = termios.tcgetattr(self._fd)
            wanted = termios.ICANON | termios.ECHO
            during[0] = during[0] | termios.ICRNL
            during[3] = (during[3] | wanted if line else during[3] & ~wanted) | termios.ISIG
            if not line:
                during[6][termios.VMIN], during[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, during)  # throws away what was typed ahead
        except termios.error as error:
            raise TerminalError(f"the terminal cannot be used ({error.args[-1]})") from error
        try:
            yield
        finally:
            self._restore(before)

    def _restore(self, mode: list[Any]) -> None:
        """Also if we were put into the background meanwhile, where the system would stop us for it."""
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with suppress(termios.error):  # it has gone, and needs no mode any more
                termios.tcsetattr(self._fd, termios.TCSANOW, mode)  # to drain could wait for ever (Ctrl-S)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _is_in_front(fd: int) -> bool:
    """True if we may read from it; of a terminal that is not our own, no one is in front."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError as error:
        if error.errno == errno.ENOTTY and os.isatty(fd):
            return True
        raise
