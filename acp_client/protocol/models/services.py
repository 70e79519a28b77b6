"""Files and terminals of the client's that an agent may use (ACP v1, file system and terminals).

Owns the objects of `fs/*` and `terminal/*`. Which roots may be read, and how a terminal is run, is
decided by whoever serves them.
"""

from typing import Annotated

from pydantic import Field

from acp_client.protocol.models.base import (
    NULL_AS_EMPTY,
    OR_NONE,
    EmptyObject,
    EnvVariable,
    LenientStr,
    LenientUInt,
    Strings,
    UInt,
    WireModel,
)


class ReadTextFileRequest(WireModel):
    """Params of `fs/read_text_file`: `limit` lines from `line` on, which counts from 1."""

    session_id: str
    path: str
    line: UInt | None = None
    limit: UInt | None = None


class ReadTextFileResponse(WireModel):
    """Result of `fs/read_text_file`."""

    content: str


class WriteTextFileRequest(WireModel):
    """Params of `fs/write_text_file`: the whole content of the file."""

    session_id: str
    path: str
    content: str


class WriteTextFileResponse(EmptyObject):
    """Result of `fs/write_text_file`."""


class CreateTerminalRequest(WireModel):
    """Params of `terminal/create`; of more output than the limit, in bytes, the end is kept."""

    session_id: str
    command: str
    args: Strings = Field(default_factory=list)
    env: Annotated[list[EnvVariable], NULL_AS_EMPTY] = Field(default_factory=list)
    cwd: str | None = None
    output_byte_limit: UInt | None = None


class CreateTerminalResponse(WireModel):
    """Result of `terminal/create`; the command runs on."""

    terminal_id: str


class _TerminalRequest(WireModel):
    """Params of all that is asked of a terminal that is there."""

    session_id: str
    terminal_id: str


class TerminalOutputRequest(_TerminalRequest):
    """Params of `terminal/output`."""


class TerminalExitStatus(WireModel):
    """How the command ended: an exit code, or the name of the signal that ended it."""

    exit_code: LenientUInt = None
    signal: LenientStr = None


class TerminalOutputResponse(WireModel):
    """Result of `terminal/output`; there is no status before the command has ended."""

    output: str
    truncated: bool
    exit_status: Annotated[TerminalExitStatus | None, OR_NONE] = None


class WaitForTerminalExitRequest(_TerminalRequest):
    """Params of `terminal/wait_for_exit`."""


class WaitForTerminalExitResponse(TerminalExitStatus):
    """Result of `terminal/wait_for_exit`."""


class KillTerminalRequest(_TerminalRequest):
    """Params of `terminal/kill`: the command ends, the terminal stays."""


class KillTerminalResponse(EmptyObject):
    """Result of `terminal/kill`."""


class ReleaseTerminalRequest(_TerminalRequest):
    """Params of `terminal/release`: the command ends and the terminal goes."""


class ReleaseTerminalResponse(EmptyObject):
    """Result of `terminal/release`."""
