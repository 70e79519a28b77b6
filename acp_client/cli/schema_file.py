"""The type of the value that `--schema` asks for, from a JSON or YAML file. Owns what a wrong file is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from acp_client.safe_text import printable

if TYPE_CHECKING:
    from acp_client.structured.output_type import OutputType

MAX_FILE_BYTES: Final = 4 * 1024 * 1024
"""A schema goes into the prompt: this is far more than any agent reads."""


def read_schema(file: str) -> OutputType:
    """Raises UsageError: the file, what is wrong with it, and the rule."""
    from acp_client.structured.output_type import OutputType  # noqa: PLC0415  # jsonschema, for who asks for a value

    name = printable(file)
    given = _parse(_read(file, name), name)
    if not isinstance(given, dict):
        raise click.UsageError(f"--schema {name}: is no JSON Schema; its root is a mapping, such as type: object")
    try:
        return OutputType(given)
    except (TypeError, ValueError) as error:
        raise click.UsageError(
            f"--schema {name}: {printable(str(error).removeprefix('result_type').lstrip(': '))}"
        ) from error


def _read(file: str, name: str) -> str:
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise click.UsageError(f"--schema {name}: cannot be read: {why}; it is a JSON or YAML file") from error
    if len(data) > MAX_FILE_BYTES:
        raise click.UsageError(f"--schema {name}: is longer than {MAX_FILE_BYTES} bytes, the most that it may have")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"--schema {name}: is not UTF-8 (byte {error.start}); convert it") from error


def _parse(text: str, name: str) -> Any:
    """JSON where it looks like it, since its errors are the better ones then; YAML otherwise."""
    import yaml  # noqa: PLC0415  # as above

    try:
        return json.loads(text) if text.lstrip().startswith("{") and name.endswith(".json") else yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1} column {mark.column + 1}" if mark is not None else ""
        why = f"{error.problem or error.context}{where}"
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = str(error)
    raise click.UsageError(f"--schema {name}: is neither JSON nor YAML: {printable(why)}")
