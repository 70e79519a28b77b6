"""The agent itself: one prompt turn, told as a plan, tool calls, a summary and the structured value.

Owns the order of the steps, the permission for the output, and which failure is which JSON-RPC error. Leaves every
decision about trades to `extract`, the words of the task to `task`, the disk to `files`.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from anyio import to_thread

from acp_agent.agents.repair import declined
from acp_agent.agents.trades.extract import Work
from acp_agent.agents.trades.files import (
    MAX_SHOWN_BYTES,
    UnreadableFile,
    UnwritableFile,
    document,
    is_file,
    old_text,
    read_file,
    refuse_output,
    write_file,
)
from acp_agent.agents.trades.model import Code, Extraction, TradeWarning, UnusableInput
from acp_agent.agents.trades.task import Source, Task, UnclearTask, read_task
from acp_client.protocol.errors import INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError
from acp_client.protocol.models import (
    BlobResourceContents,
    EmbeddedResource,
    PromptCapabilities,
    ResourceLink,
    TextResourceContents,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_agent.context import Context, ToolCallHandle
    from acp_client.protocol.models import NewSessionRequest, NewSessionResponse

__all__ = ["TradeFileExtractor"]

_STEPS = ("Read the file", "Parse its rows", "Resolve instruments", "Resolve counterparties")
_WRITING = "Write the output"
_WHOLE_FILE = 0  # the row of a warning that is about no row
_MAX_LISTED = 50  # names that a tool call lists; the warnings have them all

_T = TypeVar("_T")


class TradeFileExtractor:
    """Reads a messy trades file and completes with `{"trades": […], "warnings": […]}`. Keeps no state."""

    name = "trade_file_extractor"
    title = "Trade file extractor"
    version = "0.1.0"
    prompt_capabilities = PromptCapabilities(embedded_context=True)

    async def new_session(self, request: NewSessionRequest) -> NewSessionResponse | None:
        """Accept any session."""

    async def cancel(self, session_id: str) -> None:
        """Nothing to do: the turn is cancelled where it waits, and only a started write is finished first."""

    async def prompt(self, context: Context) -> str | None:
        """Extract the trades of the one file that the task names.

        Raises RpcError: -32002 for a file that does not exist, -32602 for an unclear task and for a file that is
        unreadable, empty, binary or holds no table. Nothing is written then.
        """
        if await declined(context):
            return None
        task = _task(context)
        steps = [*_STEPS, _WRITING] if task.output else list(_STEPS)
        await _plan(context, steps, done=0)
        content = task.source.content
        if content is None:
            content = await _read(context, task.source)
        await _plan(context, steps, done=1)
        work = await _parse(context, task.source, content)
        await _plan(context, steps, done=2)
        await _resolve(context, "instruments", work, work.resolve_instruments)
        await _plan(context, steps, done=3)
        await _resolve(context, "counterparties", work, work.resolve_counterparties)
        await _plan(context, steps, done=4)
        extraction = await _in_thread(work.finish)
        if task.output:
            extraction = await _write(context, task.output, task.source.path, extraction)
            await _plan(context, steps, done=5)
        await context.text(_summary(extraction, task))
        await context.complete(extraction.as_dict())
        return None


def _task(context: Context) -> Task:
    attached = [source for block in context.prompt if (source := _attached(block)) is not None]
    try:
        return read_task(context.text_of_prompt, attached, cwd=context.cwd, exists=is_file)
    except UnclearTask as error:
        raise RpcError(INVALID_PARAMS, str(error), {"reason": "unclear_task"}) from error


def _attached(block: object) -> Source | None:
    if isinstance(block, ResourceLink):
        parts = urlsplit(block.uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            message = f"the link {block.uri!r} is no local file; only file:// links are read"
            raise RpcError(INVALID_PARAMS, message, {"reason": "unclear_task"})
        path = Path(unquote(parts.path))
        return Source(path.name, path)
    if isinstance(block, EmbeddedResource):
        return _embedded(block.resource)
    return None


def _embedded(resource: TextResourceContents | BlobResourceContents) -> Source:
    name = Path(unquote(urlsplit(resource.uri).path)).name or resource.uri
    if isinstance(resource, TextResourceContents):
        return Source(name, content=resource.text.encode("utf-8", "replace"))
    try:
        return Source(name, content=base64.b64decode(resource.blob, validate=True))
    except binascii.Error as error:
        message = f"the embedded resource {resource.uri!r} is not valid base64; encode it again"
        raise RpcError(INVALID_PARAMS, message, {"reason": "encoding"}) from error


async def _plan(context: Context, steps: list[str], *, done: int) -> None:
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(steps)
    await context.plan(list(zip(steps, states, strict=False)))


async def _in_thread(work: Callable[[], _T]) -> _T:
    """Run what takes long and changes nothing outside; a cancelled turn does not wait for it."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)


async def _read(context: Context, source: Source) -> bytes:
    path = source.path
    assert path is not None, "a source is a path or a content"
    call = await context.tool_call(
        f"Read {source.name}",
        name="read_file",
        kind="read",
        locations=[(path, None)],
        raw_input={"path": str(path)},
    )
    try:
        content = await _in_thread(lambda: read_file(path))
    except UnreadableFile as error:
        code, reason = (RESOURCE_NOT_FOUND, "missing") if error.missing else (INVALID_PARAMS, "unreadable")
        raise await _failed(call, code, error.message, reason) from error
    await call.complete(text=f"{len(content):,} bytes", raw_output={"bytes": len(content)})
    return content


async def _parse(context: Context, source: Source, content: bytes) -> Work:
    call = await context.tool_call(
        f"Parse {source.name}", name="parse_trades", kind="read", raw_input={"bytes": len(content)}
    )
    try:
        work = await _in_thread(lambda: Work.parse(content))
    except UnusableInput as error:
        message = f"{source.name} cannot be used: {error.message}"
        raise await _failed(call, INVALID_PARAMS, message, error.reason) from error
    table = work.table
    found = {
        "encoding": table.encoding,
        "delimiter": table.delimiter,
        "header_row": table.header.line,
        "columns": {column.title: column.field.value for column in table.header.columns},
        "rows": len(table.rows),
        "trades": len(work.drafts),
    }
    await call.complete(text=f"{len(table.rows)} rows, {len(work.drafts)} of them trades", raw_output=found)
    return work


async def _failed(call: ToolCallHandle, code: int, message: str, reason: str) -> RpcError:
    await call.fail(message)
    return RpcError(code, message, {"reason": reason})


async def _resolve(context: Context, what: str, work: Work, resolve: Callable[[], list[str]]) -> None:
    count = len(work.drafts)
    call = await context.tool_call(
        f"Resolve {what}", name=f"resolve_{what}", kind="search", raw_input={"trades": count}
    )
    unresolved = await _in_thread(resolve)
    text = f"{len(unresolved)} {what} unresolved: {_listed(unresolved)}" if unresolved else f"all {what} resolved"
    output = {"trades": count, "unresolved": unresolved[:_MAX_LISTED], "unresolved_count": len(unresolved)}
    await call.complete(text=text, raw_output=output)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_MAX_LISTED]) + (" …" if len(names) > _MAX_LISTED else "")


async def _write(context: Context, output: Path, source: Path | None, extraction: Extraction) -> Extraction:
    """Write the output if it is allowed; what keeps it from being written is a warning, not a failure."""
    call = await context.tool_call(
        f"Write {output.name}",
        name="write_file",
        kind="edit",
        status="pending",
        locations=[(output, None)],
        raw_input={"path": str(output), "trades": len(extraction.trades), "warnings": len(extraction.warnings)},
    )
    refusal = await _in_thread(lambda: refuse_output(output, source))
    if refusal is not None:
        return await _not_written(call, extraction, Code.WRITE_FAILED, refusal)
    before, text = await _in_thread(lambda: (old_text(output), document(extraction)))
    diff = (output, before, text) if len(text) <= MAX_SHOWN_BYTES else None
    if diff is not None:
        await call.show_diff(*diff)
    answer = await context.request_permission(call)
    if not answer.allowed:
        message = f"the permission to write {output} was not given; nothing was written"
        return await _not_written(call, extraction, Code.WRITE_REJECTED, message)
    try:
        await to_thread.run_sync(write_file, output, text)
    except UnwritableFile as error:
        return await _not_written(call, extraction, Code.WRITE_FAILED, str(error))
    await call.complete(text=f"wrote {output}", diff=diff)
    return extraction


async def _not_written(call: ToolCallHandle, extraction: Extraction, code: Code, message: str) -> Extraction:
    await call.fail(message)
    return replace(extraction, warnings=(*extraction.warnings, TradeWarning(_WHOLE_FILE, code, message)))


def _summary(extraction: Extraction, task: Task) -> str:
    counts = f"{_count(extraction.trades, 'trade')}, {_count(extraction.warnings, 'warning')} from {task.source.name}"
    unwritten = {Code.WRITE_FAILED, Code.WRITE_REJECTED}.intersection(w.code for w in extraction.warnings)
    if task.output is None:
        return counts
    return f"{counts}; {'not ' if unwritten else ''}written to {task.output}"


def _count(things: Iterable[object], name: str) -> str:
    count = len(list(things))
    return f"{count} {name}{'' if count == 1 else 's'}"
