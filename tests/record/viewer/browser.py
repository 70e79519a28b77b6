"""A headless Chromium, driven over its DevTools pipe: opens files, evaluates, presses keys, and hears complaints.

No library: frames are JSON that ends in NUL, on two pipes. Where no Chromium is installed the tests are skipped.
"""

from __future__ import annotations

import base64
import json
import os
import selectors
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Final, Self

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WAIT_SECONDS: Final = 60.0
READ_BYTES: Final = 1024 * 1024
KEYS: Final = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9)}


def find_chromium() -> str | None:
    """Its path."""
    return next((path for name in NAMES if (path := shutil.which(name)) is not None), None)


class Browser:
    """One Chromium with one page at a time. `complaints` are what scripts threw and what the page's policy refused."""

    def __init__(self, path: str, profile: Path) -> None:
        self.complaints: list[str] = []
        self._session: str | None = None
        self._last = 0
        self._buffer = b""
        self._events: list[dict[str, Any]] = []
        commands, self._send_fd = os.pipe()
        self._read_fd, answers = os.pipe()
        flags = ["--headless=new", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars"]
        flags += [f"--user-data-dir={profile}", "--disable-dev-shm-usage", "--disable-background-networking"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        script = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
        self._process = subprocess.Popen(
            ["bash", "-c", script, path, *flags, "about:blank"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._send_fd)  # it ends by itself when its commands do
        os.close(self._read_fd)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(WAIT_SECONDS)

    def open(self, file: Path, *, dark: bool = False, width: int = 1280, height: int = 900) -> None:
        """A fresh page with this file, once it is loaded."""
        if self._session is not None:
            self.call("Page.close")
            self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.complaints.clear()
        self._events.clear()
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=file.as_uri())
        self._wait_for("Page.loadEventFired")

    def eval(self, expression: str) -> Any:
        """The value of an expression, awaited if it is a promise; raises AssertionError if it throws."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait, frame by frame of the page, until an expression is true."""
        look = f"const look = () => ({expression}) ? done(true) : requestAnimationFrame(look); look();"
        self.eval(f"new Promise((done) => {{ {look} }})")

    def press(self, key: str) -> None:
        """A key, as typed."""
        text, code = KEYS[key] if key in KEYS else (key, ord(key.upper()))
        event = {"key": key, "text": text, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Text into what has the focus."""
        self.call("Input.insertText", text=text)

    def print(self) -> bytes:
        """The page as a PDF."""
        return base64.b64decode(self.call("Page.printToPDF")["data"])

    def screenshot(self, file: Path) -> None:
        """A picture of what is in the window."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol and its result."""
        self._last += 1
        request: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None and not method.startswith("Target."):
            request["sessionId"] = self._session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self._send_fd, data) :]
        while True:
            message = self._next()
            if message.get("id") == self._last:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _wait_for(self, method: str) -> None:
        while not any(event.get("method") == method for event in self._events):
            self._note(self._next())

    def _note(self, message: dict[str, Any]) -> None:
        self._events.append(message)
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif message.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(params["entry"]["text"])

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._read_fd, selectors.EVENT_READ)
            while b"\0" not in self._buffer:
                assert selector.select(deadline - time.monotonic()), "Chromium says nothing"
                data = os.read(self._read_fd, READ_BYTES)
                assert data, "Chromium has ended"
                self._buffer += data
        frame, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(frame)
        return message
