"""What to run and within which limits: frozen data, its shape validated when built, the world when the run starts.

Owns `AgentSpec` and `Limits`. Resolves nothing but the working directory; a leaf, imports models only.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SkipValidation,
    StrictBool,
    StrictStr,
)

from acp_client.frozen import Frozen, did_you_mean
from acp_client.policy.approval import Approver
from acp_client.policy.budget import Budget
from acp_client.policy.callbacks import check_approver, check_policy
from acp_client.policy.permission import PermissionCallable
from acp_client.policy.rules import PermissionPolicy
from acp_client.protocol.framing import DEFAULT_MAX_FRAME_BYTES
from acp_client.tools.mcp_servers import read_mcp_servers
from acp_client.tools.tool import HostTool, as_host_tools

if TYPE_CHECKING:
    from acp_client.protocol.models import McpServer
else:  # `read_mcp_servers` has built them: nothing is validated again
    McpServer = Any

STARTUP_TIMEOUT_SECONDS: Final = 60.0
"""Spawn until the session exists. A first `npx` download takes most of it."""
RUN_TIMEOUT_SECONDS: Final = 600.0
"""The whole run. Ten minutes is what a person waits for a delegated task before looking."""
IDLE_TIMEOUT_SECONDS: Final = 120.0
"""No frame and no stderr. The slowest models seen stay silent for about a minute."""
CANCEL_GRACE_SECONDS: Final = 2.0
"""Between `session/cancel` and the end of stdin: agents that obey do so within one second."""
EOF_GRACE_SECONDS: Final = 3.0
"""Between the end of stdin and SIGTERM: agents that exit on EOF save their state in this time."""
TERM_GRACE_SECONDS: Final = 2.0
"""Between SIGTERM and SIGKILL."""
KILL_WAIT_SECONDS: Final = 5.0
"""How long the kernel may take to end a killed process (one in uninterruptible sleep may never end)."""
LATE_UPDATE_GRACE_SECONDS: Final = 0.1
"""Silence after the answer before stdin is closed: some agents drop their tail when it closes at once."""
MAX_OUTPUT_BYTES: Final = 128 * 1024 * 1024
"""Answer text that a run keeps; what is over it is cut and flagged."""
STDERR_TAIL_BYTES: Final = 64 * 1024
"""The end of stderr that a result shows: the last few hundred lines."""
MAX_EVENTS_BUFFERED: Final = 10_000
"""Events that wait for a slow reader; more are dropped and counted."""

Preset: TypeAlias = Literal["reject", "allow", "read-only", "ask"]
Keep: TypeAlias = Literal["all", "last_message"]
"""What a run keeps of the answer."""
PERMISSION_PRESETS: Final[tuple[Preset, ...]] = get_args(Preset)

_Seconds: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]
_Size: TypeAlias = Annotated[int, Field(ge=1, strict=True)]


class Limits(Frozen):
    """Bounds of one run: durations in seconds (None switches a timeout off), sizes in bytes (never off)."""

    startup_timeout_seconds: _Seconds | None = STARTUP_TIMEOUT_SECONDS
    run_timeout_seconds: _Seconds | None = RUN_TIMEOUT_SECONDS
    idle_timeout_seconds: _Seconds | None = IDLE_TIMEOUT_SECONDS
    cancel_grace_seconds: _Seconds = CANCEL_GRACE_SECONDS
    eof_grace_seconds: _Seconds = EOF_GRACE_SECONDS
    term_grace_seconds: _Seconds = TERM_GRACE_SECONDS
    kill_wait_seconds: _Seconds = KILL_WAIT_SECONDS
    late_update_grace_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)] = (
        LATE_UPDATE_GRACE_SECONDS
    )
    max_frame_bytes: _Size = DEFAULT_MAX_FRAME_BYTES
    max_output_bytes: _Size = MAX_OUTPUT_BYTES
    stderr_tail_bytes: _Size = STDERR_TAIL_BYTES
    max_events_buffered: _Size = MAX_EVENTS_BUFFERED


def _as_argv(value: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError(  # noqa: TRY004  # pydantic turns a ValueError into its own, a TypeError not
            'must be a sequence of arguments such as ("python", "agent.py"), never one shell string'
        )
    return tuple(os.fspath(part) if isinstance(part, os.PathLike) else part for part in value)


def _without_nul(argv: tuple[str, ...]) -> tuple[str, ...]:
    if not argv[0]:
        raise ValueError("the first argument is the program and must not be empty")
    if any("\0" in part for part in argv):
        raise ValueError("an argument must not contain a NUL character: the operating system cannot pass it")
    return argv


def _as_absolute(value: Any) -> Any:
    """Made absolute once, here: a later chdir of the parent changes nothing."""
    if value is None:
        return None
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError("must be the path of a directory, as a non-empty str or path object")
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111  # no link is resolved


def _as_names(value: Any) -> Any:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError('must be a list of names or globs such as ["GITHUB_*"]')  # noqa: TRY004  # as above
    return tuple(value)


def _check_environment(env: Mapping[str, str | None]) -> Mapping[str, str | None]:
    for name, value in env.items():
        if not name or "=" in name or "\0" in name or "\0" in (value or ""):
            raise ValueError(f"{name!r}: a name must be non-empty and hold no '=' or NUL, a value no NUL")
    return dict(env)


def _as_tools(value: Any) -> Any:
    try:
        return as_host_tools(value)
    except TypeError as error:
        raise ValueError(str(error)) from error  # as above


def _check_permission(value: Any) -> Any:
    if isinstance(value, PermissionPolicy) or (isinstance(value, str) and value in PERMISSION_PRESETS):
        return value
    if callable(value):
        return check_policy(value)
    presets = ", ".join(repr(name) for name in PERMISSION_PRESETS)
    raise ValueError(
        f"must be one of {presets}, a PermissionPolicy (load_policy reads one from a file), "
        f"or a callable, async or not, (PermissionRequest) -> Decision{did_you_mean(value, PERMISSION_PRESETS)}"
    )


def _check_approver(value: Any) -> Any:
    if value is not None and not callable(value):
        raise ValueError(
            "must be an approver: an async callable (ApprovalRequest) -> Decision, such as TerminalApprover()"
        )
    return value if value is None else check_approver(value)


def _recording(file: Any) -> str:
    """The absolute path of a recording that is there."""
    if not isinstance(file, str | os.PathLike):
        raise TypeError(f"a replay is of a file: give its path, as a str or path object, not {type(file).__name__}")
    path = os.path.abspath(os.path.expanduser(os.fspath(file)))  # noqa: PTH100, PTH111  # no link is resolved
    if not os.path.exists(path):  # noqa: PTH110  # text
        raise ValueError(f"{path}: there is no such file to replay; give a transcript, such as RunResult.transcript")
    if os.path.isdir(path):  # noqa: PTH112  # likewise
        raise ValueError(f"{path}: this is a folder, and a replay is of one file in it; give a transcript")
    return path


def _not_of_a_replay(name: str, names: Iterable[str]) -> str:
    if name == "command":
        return (
            "a replay takes no command: that is what plays the file; leave it out, or build an AgentSpec without file"
        )
    return f"a replay has no {name!r}{did_you_mean(name, names)}"


_Text: TypeAlias = Annotated[str, Field(min_length=1, strict=True)]


class AgentSpec(Frozen):
    """One agent, ready to be run any number of times. Frozen; every run of it gets a fresh process.

    `command` is argv, never a shell string. `cwd` is made absolute when built; None means the working directory at
    the time of the call. `env` sets (None: removes) variables after the scrub, `env_passthrough` names or globs are
    let through it. `permission` answers permission requests: "reject" (default), "allow", "read-only", "ask", a
    `PermissionPolicy` (`load_policy` reads one from a file), or a callable `(PermissionRequest) -> Decision`, async, or
    plain and then one that does not block. `approver` is the person to whom such a policy (no callable) turns, and who
    gets choices that are no permission, and forms: an async callable `(ApprovalRequest) ->
    Decision`, a `TerminalApprover`, an `ApprovalQueue`; without one all these are refused. With a queue
    `run_timeout_seconds` is off unless it is set. A `mode`, `model`, config option, MCP transport, directory or system
    prompt that the agent does not offer ends the run as `unsupported_capability`, before the prompt is sent.
    `mcp_servers` is a list of servers or a map by name, also under "mcpServers". `host_tools` are functions of this
    program that the agent may call (`HostTool`, or typed functions): that they are offered is the consent, so that
    only a rule of a `PermissionPolicy` that fits one rejects it, or asks; needs the extra `tools`. `budget`
    is what one run may spend; a limit exceeded ends it as `budget_exceeded`, with what it had said by then. With
    `keep="last_message"` a run holds in memory only the message that began last: `text` and `messages` are that one, a
    structured value is looked for in it, and `flags.omitted_messages` says how many were before it.

    Raises pydantic's ValidationError for a wrong argument, naming the field and the rule; values are not shown.
    """

    command: Annotated[
        tuple[Annotated[str, Field(strict=True)], ...],
        Field(min_length=1),
        BeforeValidator(_as_argv),
        AfterValidator(_without_nul),
    ]
    cwd: Annotated[str | None, BeforeValidator(_as_absolute)] = None
    env: Annotated[Mapping[str, str | None], AfterValidator(_check_environment)] = Field(
        default_factory=dict, repr=False
    )
    env_passthrough: Annotated[tuple[_Text, ...], BeforeValidator(_as_names)] = ()
    permission: Annotated[Preset | PermissionPolicy | Callable[..., Any], BeforeValidator(_check_permission)] = "reject"
    approver: Annotated[Callable[..., Any] | None, BeforeValidator(_check_approver)] = None
    mcp_servers: Annotated[
        tuple[SkipValidation[McpServer], ...], BeforeValidator(read_mcp_servers), Field(repr=False)
    ] = ()
    host_tools: Annotated[tuple[SkipValidation[HostTool], ...], BeforeValidator(_as_tools)] = ()
    model: _Text | None = None
    mode: _Text | None = None
    config_options: Mapping[str, StrictStr | StrictBool] = Field(default_factory=dict)
    auth_method: _Text | None = None
    system_prompt: _Text | None = None
    additional_directories: tuple[Annotated[str, BeforeValidator(_as_absolute)], ...] = ()
    budget: Budget | None = None
    limits: Limits = Limits()
    keep: Keep = "all"
    name: _Text | None = None

    if TYPE_CHECKING:  # what may be passed is wider than what is kept

        def __init__(  # noqa: PLR0913  # the fields above, by name
            self,
            *,
            command: Sequence[str | os.PathLike[str]],
            cwd: str | os.PathLike[str] | None = None,
            env: Mapping[str, str | None] = ...,
            env_passthrough: Sequence[str] = ...,
            permission: Preset | PermissionPolicy | PermissionCallable = ...,
            approver: Approver | None = None,
            mcp_servers: Sequence[McpServer | Mapping[str, Any]] | Mapping[str, Any] = ...,
            host_tools: Sequence[HostTool | Callable[..., Any]] = ...,
            model: str | None = None,
            mode: str | None = None,
            config_options: Mapping[str, str | bool] = ...,
            auth_method: str | None = None,
            system_prompt: str | None = None,
            additional_directories: Sequence[str | os.PathLike[str]] = ...,
            budget: Budget | None = ...,
            limits: Limits = ...,
            keep: Keep = ...,
            name: str | None = None,
        ) -> None: ...

    @classmethod
    def replay(
        cls, file: str | os.PathLike[str], *, lenient: bool = False, pace: float | None = None, **fields: Any
    ) -> AgentSpec:
        """An agent that is a recorded run: it answers as the recorded agent did, without model, key or network.

        `file` is a transcript of ours or JSON-RPC frames, one a line; it is there now, and read when the run starts.
        The client has to send what was recorded, but for ids, paths and times. What differs ends the run as
        `agent_error` with the difference in `failure.rpc_message`; with `lenient` it is only warned of on stderr.
        `pace` writes when it was written then, so many times as fast (1.0); None at once. `fields` are those of
        `AgentSpec` but `command`, such as `cwd`.

        Raises ValueError for a file that is not there or is a folder, a pace that is no number above 0, and as
        `AgentSpec` does; TypeError for a file that is no path.
        """
        if wrong := [name for name in fields if name == "command" or name not in cls.model_fields]:
            raise ValueError(_not_of_a_replay(wrong[0], ("lenient", "pace", *cls.model_fields)))
        command = [sys.executable, "-P", "-m", "acp_agent", "replay", *(["--lenient"] if lenient else [])]
        if pace is not None:
            if type(pace) not in (int, float) or not 0 < pace < math.inf:
                raise ValueError(f"pace is {pace!r}; it is a number above 0, such as 2.0 for twice as fast, or None")
            command.append(f"--pace={pace!r}")
        return cls(command=(*command, "--", _recording(file)), **fields)

    def __hash__(self) -> int:
        """Equal specs are equal keys; mappings take no part."""
        return hash((self.command, self.cwd, self.name, self.limits))

    def __repr__(self) -> str:
        """The program alone: arguments, variables and headers may hold secrets."""
        more = f" … {len(self.command) - 1} more" if len(self.command) > 1 else ""
        name = f", name={self.name!r}" if self.name else ""
        return f"AgentSpec(command=({self.command[0]!r},{more}), cwd={self.cwd!r}{name})"

    __str__ = __repr__

    @property
    def clock_limits(self) -> Limits:
        """The limits as they count: with a durable approver the run may take its time, unless a time was set."""
        if getattr(self.approver, "durable", False) and "run_timeout_seconds" not in self.limits.model_fields_set:
            return self.limits.model_copy(update={"run_timeout_seconds": None})
        return self.limits

    @property
    def label(self) -> str:
        """The name, else the program's file name: for progress lines and errors."""
        return self.name or os.path.basename(self.command[0])  # noqa: PTH119  # it may be no path
