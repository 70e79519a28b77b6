"""The words of a scenario file, as data.

Owns every word's name, the forms that its value may take and one line about it. `validate` checks
files against these tables and `__main__` prints them as the help text: neither knows a word itself.
What a word does is left to `steps` (the protocol) and `acts` (all that is below it).

A form is written as alternatives, joined by `|`:

    text int number flag true any map list         JSON values (true: nothing but `true`)
    texts, map of texts                            a list or a mapping of texts
    path                                           a text: a path, relative to the agent's cwd
    steps hook hooks turns words                   nested parts of a scenario
    keys                                           a mapping with the keys in the word's own table
    hex base64                                     a text of bytes so written
    =a =b                                          exactly this text
"""

from __future__ import annotations

TYPE_CHECKING = False  # what mypy reads as true; `typing` itself costs a tenth of the start-up
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Value = Any  # JSON, in a shape that `validate` has checked or that the client sent


class Word:
    """One word: the forms of its value, its doc line, and the keys of its mapping form."""

    __slots__ = ("doc", "forms", "keys", "needs", "one_of")

    def __init__(
        self,
        forms: str,
        doc: str,
        *,
        keys: Mapping[str, Word] | None = None,
        needs: tuple[str, ...] = (),
        one_of: tuple[str, ...] = (),
    ) -> None:
        self.forms = tuple(forms.split("|"))
        self.doc = doc
        self.keys: Mapping[str, Word] = keys or {}
        self.needs = needs
        self.one_of = one_of


TEXT = Word("text", "a text")

_DEADLY = "=SIGKILL|=SIGTERM|=SIGINT|=SIGHUP|=SIGSEGV|=SIGABRT|=SIGPIPE"
_ON_CANCEL = "=obey|=ignore|=end_turn|=max_tokens|=max_turn_requests|=refusal|steps"

_SESSION = Word("any", "session id to use instead of the current one")
_ID = Word("any", "request id, verbatim and of any type; default 0, 1, 2, …")
_WAIT = Word("flag", "false: go on at once (default: wait for the answer)")
_SAVE = Word("text", "name under which the whole answer frame is kept: ${name.result.…}")

CHUNK = {
    "text": Word("text", "the text of a text block"),
    "content": Word("any", "a content block verbatim, instead of text"),
    "size": Word("int", "repeat the text up to this many characters"),
    "message_id": Word("any", "messageId"),
    "session": _SESSION,
}
_CHUNK_ONE = ("text", "content")

PERMISSION = {
    "tool_call": Word("any", "toolCall, verbatim; default a call `call-1` of kind execute"),
    "options": Word("any", "options, verbatim; default allow_once `allow`, reject_once `reject`"),
    "id": _ID,
    "session": _SESSION,
    "wait": _WAIT,
    "save": _SAVE,
    "on": Word(
        "keys",
        "steps for each answer",
        keys={
            "allowed": Word("steps", "an option of kind allow_* was selected"),
            "rejected": Word("steps", "another option, known or not, was selected"),
            "cancelled": Word("steps", "the outcome is cancelled"),
            "error": Word("steps", "answered with an error, or with nonsense"),
        },
    ),
}
REQUEST = {
    "method": Word("text", "any method: fs/read_text_file, elicitation/create, _vendor/x, …"),
    "params": Word("any", "params, verbatim (write ${session} where a session id belongs)"),
    "id": _ID,
    "wait": _WAIT,
    "save": _SAVE,
    "on": Word(
        "keys",
        "steps for each answer",
        keys={
            "result": Word("steps", "answered with a result"),
            "error": Word("steps", "answered with an error"),
        },
    ),
}
NOTIFY = {
    "method": Word("text", "any method"),
    "params": Word("any", "params, verbatim"),
}
ERROR = {
    "code": Word("any", "code; default -32603"),
    "message": Word("any", "message; default Internal error"),
    "data": Word("any", "data; left out by default"),
}
ANSWER = {
    "result": Word("any", "the result, verbatim"),
    "error": Word("keys", "an error", keys=ERROR),
    "id_as": Word("=string|=float|=bool|=null|=list|=other", "turn the id into this type"),
    "times": Word("int", "write it so often; default 1"),
}
RAW = {
    "text": Word("text", "a text, encoded as UTF-8"),
    "hex": Word("hex", "bytes in hexadecimal, blanks ignored"),
    "base64": Word("base64", "bytes in base64"),
    "frame": Word("any", "any JSON value, dumped on one line"),
    "prefix": Word("text", "text before it, as in `Loading...{…}`"),
    "end": Word("text", "text after it; default a newline after a frame, else nothing"),
    "cut": Word("int", "only the first so many bytes"),
    "bytewise": Word("flag", "one write for each byte"),
}
REPEAT = {
    "times": Word("int", "so often"),
    "forever": Word("true", "without end"),
    "until_cancel": Word("true", "until this turn was cancelled (on_cancel is not applied)"),
    "steps": Word("steps", "what to repeat; ${n} counts from 0"),
}
FLOOD = {
    "stream": Word("=stdout|=stderr", "where to; default stdout"),
    "bytes": Word("int", "how many"),
    "forever": Word("true", "without end"),
    "line": Word("flag", "true: one line that never ends (default: lines of 80 characters)"),
}
SPAWN = {
    "argv": Word("texts", "program and arguments; default a sleep of ten minutes"),
    "session": Word("flag", "in a session of its own (setsid)"),
    "group": Word("flag", "in a process group of its own"),
    "inherit": Word("words", "which of stdin, stdout, stderr it holds; the rest is /dev/null"),
    "ignore_term": Word("flag", "deaf to SIGTERM"),
    "env": Word("map of texts", "names set, or with null removed, in its environment"),
    "leave": Word("flag", "not killed when the agent exits politely"),
    "pid_file": Word("path", "file for its pid, complete as soon as it is there"),
}
WHEN = {
    "value": Word("any", "a value, as a rule a ${placeholder}"),
    "is": Word("any", "what it has to be equal to"),
    "then": Word("steps", "played if it is"),
    "else": Word("steps", "played if it is not"),
}
WIRE = {
    "line_end": Word("text", "what ends each frame; default a newline"),
    "bytewise": Word("flag", "one write for each byte of each frame"),
}
WRITE = {
    "path": Word("path", "which file"),
    "text": Word("text", "its new content"),
}

STEPS: dict[str, Word] = {
    # updates
    "chunk": Word("text|keys", "agent_message_chunk", keys=CHUNK, one_of=_CHUNK_ONE),
    "thought": Word("text|keys", "agent_thought_chunk", keys=CHUNK, one_of=_CHUNK_ONE),
    "user": Word("text|keys", "user_message_chunk", keys=CHUNK, one_of=_CHUNK_ONE),
    "tool_call": Word("map", "tool_call, fields verbatim"),
    "tool_update": Word("map", "tool_call_update, fields verbatim"),
    "plan": Word("list", "plan; entries as texts (medium, pending) or verbatim"),
    "usage": Word("map", "usage_update, fields verbatim"),
    "update": Word("any", "any update, verbatim"),
    "complete": Word("any", "structured completion: _acp_subagents/complete with this result"),
    # requests to the client
    "permission": Word("keys", "session/request_permission", keys=PERMISSION),
    "request": Word("keys", "any request to the client", keys=REQUEST, needs=("method",)),
    "wait_answer": Word("text", "wait for the answer to a request sent with wait: false, by `save`"),
    "notify": Word("keys", "any notification", keys=NOTIFY, needs=("method",)),
    # the answer; without one, the default answer follows the last step
    "respond": Word("any", "answer with this result, verbatim"),
    "stop": Word("any", "answer a prompt with this stopReason, verbatim"),
    "error": Word("keys", "answer with an error", keys=ERROR),
    "answer": Word("keys", "answer oddly", keys=ANSWER, one_of=("result", "error")),
    "no_answer": Word("true", "no default answer; the steps go on"),
    "hang": Word("true", "play no further step; wait until cancelled or at EOF"),
    "on_cancel": Word(_ON_CANCEL, "from here on in this turn, as the top-level on_cancel"),
    # bytes
    "send": Word("any", "any frame, verbatim; one with result or error counts as the answer"),
    "raw": Word("text|keys", "bytes on stdout", keys=RAW, one_of=("text", "hex", "base64", "frame")),
    "noise": Word("text", "a line on stdout that is no frame"),
    "stderr": Word("text", "a line on stderr"),
    "flood": Word("keys", "very much output", keys=FLOOD, one_of=("bytes", "forever")),
    "together": Word("steps", "all output of these steps in one write"),
    "wire": Word("keys", "how frames are written from here on", keys=WIRE),
    # order
    "repeat": Word(
        "keys",
        "steps again and again",
        keys=REPEAT,
        needs=("steps",),
        one_of=("times", "forever", "until_cancel"),
    ),
    "when": Word("keys", "branch on a value", keys=WHEN, needs=("value", "is")),
    "delay": Word("number", "wait so many seconds"),
    "wait_for": Word("path", "wait until this file is there; a FIFO: until a writer opened it"),
    "touch": Word("path", "create this file; a FIFO: wait for its reader and wake it"),
    "write": Word("keys", "write a file", keys=WRITE, needs=("path", "text")),
    "facts": Word("path", "write pid, cwd, argv, environment, spawned pids … as JSON"),
    "wait_cancel": Word("true", "wait for session/cancel; on_cancel is not applied"),
    "wait_eof": Word("true", "wait for the end of stdin; on_eof follows the last step"),
    # the process
    "spawn": Word("keys", "start a process", keys=SPAWN),
    "ignore": Word("words", "deaf from here on to: SIGTERM SIGINT SIGHUP eof stdin"),
    "close": Word("words", "close stdin, stdout or stderr, and live on"),
    "exit": Word("int", "exit politely with this code"),
    "signal": Word(_DEADLY, "die by this signal; what it spawned lives on"),
}

HOOK = {
    "before": Word("steps", "played before the answer"),
    "result": Word("any", "the answer's result, verbatim, instead of the default"),
    "add": Word("map", "fields that are added to the default result"),
    "error": Word("keys", "answer with this error", keys=ERROR),
    "after": Word("steps", "played after the answer"),
    "each": Word("hooks", "one entry for each call; the last one stays"),
}
AUTH = {
    "methods": Word("list", "authMethods, verbatim"),
    "required": Word("flag", "answer -32000 until authenticate was called"),
}
METHODS = {
    "initialize": "initialize",
    "authenticate": "authenticate",
    "logout": "logout",
    "new_session": "session/new",
    "load_session": "session/load",
    "resume_session": "session/resume",
    "list_sessions": "session/list",
    "delete_session": "session/delete",
    "close_session": "session/close",
    "set_mode": "session/set_mode",
    "set_config_option": "session/set_config_option",
}
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")

SCENARIO: dict[str, Word] = {
    "about": Word("text", "free text"),
    "record": Word("path", "file for every line received, verbatim"),
    "facts": Word("path", "as the step of this name, at the start"),
    "ignore": Word("words", "as the step of this name, at the start"),
    "wire": Word("keys", "as the step of this name, at the start", keys=WIRE),
    "start": Word("steps", "played before anything is read, so that no answer can come"),
    "agent_info": Word("any", "agentInfo, verbatim"),
    "capabilities": Word("any", "agentCapabilities, verbatim; the session/* they name are served"),
    "auth": Word("keys", "authentication", keys=AUTH),
    "session_ids": Word("list", "ids of the sessions in turn; default s-1, s-2, …"),
    "modes": Word("map", "modes in the answer to session/new; set_mode is served"),
    "config_options": Word("list", "configOptions likewise; set_config_option is served"),
    **{name: Word("hook", f"what differs at {method}") for name, method in METHODS.items()},
    "methods": Word("map of hooks", "hooks for any other method, by its name on the wire"),
    "prompt": Word("steps", "played for each prompt"),
    "prompts": Word("turns", "a list of step lists, one for each prompt; the last one stays"),
    "on_cancel": Word(_ON_CANCEL, "obey (default), ignore, a stop reason, or steps to play instead"),
    "on_eof": Word("=exit|=ignore|steps", "exit (default), ignore, or steps to play before the exit"),
    "on_signal": Word(
        "keys",
        "instead of dying by it",
        keys={name: Word("=exit|=ignore|steps", f"at {name}") for name in SIGNALS},
    ),
}

WORD_LISTS: dict[str, tuple[str, ...]] = {
    "inherit": ("stdin", "stdout", "stderr"),
    "ignore": (*SIGNALS, "eof", "stdin"),
    "close": ("stdin", "stdout", "stderr"),
}
