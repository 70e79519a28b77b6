"""A model that says what a test wants: an OpenAI-compatible server on loopback, for agents that others wrote.

Owns the wire of chat completions, streamed and whole. What is answered is the test's script; an agent is pointed at
`base_url` by `tests/support/agents.py`.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

NAME = "fake-model"
CONNECTION_SECONDS = 10.0
"""How long a connection may say nothing: a thread must not outlive its test for a client that is idle."""


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool: the first on offer whose name ends with the word `tool`, whatever comes before it."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The model says this, and then nothing more: the turn is in the middle until somebody ends it."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the model, as the agent sent it."""

    body: Mapping[str, Any]

    @property
    def messages(self) -> list[Any]:
        """The conversation so far."""
        return list(self.body.get("messages", ()))

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @property
    def results(self) -> list[str]:
        """What the tools gave back, in order, as the model reads it."""
        return [_text(one.get("content")) for one in self.messages if one.get("role") == "tool"]

    @property
    def answers(self) -> int:
        """How many messages of the model's own are in the conversation: where in a list of replies it is."""
        return sum(one.get("role") == "assistant" for one in self.messages)


Reply: TypeAlias = str | Call | Unfinished
Step: TypeAlias = Reply | Callable[[Asked], Reply]
Script: TypeAlias = Sequence[Step] | Callable[[Asked], Reply]


def last_result(asked: Asked) -> str:
    """A reply that says back what the last tool gave."""
    return asked.results[-1]


class FakeModel:
    """What a test sees of the server: where it is, and what it was asked."""

    def __init__(self, script: Script, base_url: str) -> None:
        self.base_url = base_url
        self.requests: list[Asked] = []
        self.failures: list[Exception] = []
        self.over = threading.Event()
        self._script = script

    def tools(self) -> set[str]:
        """Every tool that the agent ever offered."""
        return {name for asked in self.requests for name in asked.tools}

    def reply(self, asked: Asked) -> Reply:
        """What the script says; a failure of its own is kept for the test's end."""
        self.requests.append(asked)
        try:
            step = self._script if callable(self._script) else self._script[asked.answers]
            return step(asked) if callable(step) else step
        except Exception as error:
            self.failures.append(error)
            raise


@contextmanager
def fake_model(script: Script) -> Iterator[FakeModel]:
    """Serve until the block ends; then every connection is closed, its thread gone and a failed script raised.

    The script is a function of each request, or a list of replies, one for each message that the model has in the
    conversation: a request made anew gets the same reply, and another conversation begins at the first.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = False  # so that `server_close` waits for them
    model = FakeModel(script, f"http://127.0.0.1:{server.server_address[1]}/v1")
    server.model = model  # type: ignore[attr-defined]  # where a handler finds it
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        model.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
    if model.failures:
        raise model.failures[0]


class _Handler(BaseHTTPRequestHandler):
    """One request a connection (HTTP/1.0): its end is the answer's end."""

    timeout = CONNECTION_SECONDS

    def do_POST(self) -> None:
        """Answer a chat completion; anything else is not there."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        model: FakeModel = self.server.model  # type: ignore[attr-defined]  # set by `fake_model`
        asked = Asked(body)
        try:
            reply = model.reply(asked)
        except Exception:  # noqa: BLE001  # kept by the model, raised in the test
            self.send_error(400, "the script failed")
            return
        with suppress(ConnectionError):  # the agent was cancelled or is gone
            self._send(asked, reply)
            if isinstance(reply, Unfinished):
                model.over.wait()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Say nothing: the test has the requests."""

    def _send(self, asked: Asked, reply: Reply) -> None:
        streamed = bool(asked.body.get("stream"))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        message = _message(asked, reply)
        if not streamed:
            self.wfile.write(b"" if isinstance(reply, Unfinished) else _completion(message))
            return
        for chunk in _chunks(message, finished=not isinstance(reply, Unfinished)):
            self.wfile.write(b"data: " + chunk + b"\n\n")


def _message(asked: Asked, reply: Reply) -> dict[str, Any]:
    if isinstance(reply, str | Unfinished):
        return {"role": "assistant", "content": reply if isinstance(reply, str) else reply.text}
    wanted = re.compile(rf"(.*[^a-z])?{re.escape(reply.tool)}", re.IGNORECASE)
    name = next(filter(wanted.fullmatch, asked.tools), None)
    if name is None:
        return {"role": "assistant", "content": f"no tool {reply.tool!r} among {asked.tools}"}
    function = {"name": name, "arguments": json.dumps(dict(reply.arguments))}
    call = {"index": 0, "id": f"call_{asked.answers}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


_COMMON = {"id": "chatcmpl-1", "created": 0, "model": NAME}
_USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def _completion(message: dict[str, Any]) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": _finish(message)}
    return _json({**_COMMON, "object": "chat.completion", "choices": [choice], "usage": _USAGE})


def _chunks(message: dict[str, Any], *, finished: bool) -> Iterator[bytes]:
    """The message at once, then what ends it."""
    common = {**_COMMON, "object": "chat.completion.chunk"}
    yield _json({**common, "choices": [{"index": 0, "delta": message, "finish_reason": None}]})
    if finished:
        yield _json({**common, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(message)}]})
        yield _json({**common, "choices": [], "usage": _USAGE})
        yield b"[DONE]"


def _finish(message: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _text(content: Any) -> str:
    parts = [{"text": content}] if isinstance(content, str) else content or []
    return "".join(part.get("text", "") for part in parts)
