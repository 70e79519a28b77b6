"""The `complete` tool: how any agent hands over a structured value, by calling a tool whose schema the value has.

Owns what a model is told. What the value must be is `structured`'s, what becomes of it the run's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from acp_client.structured.faults import OutputInvalid
from acp_client.structured.output_type import VALUE, OutputType
from acp_client.tools.function import BadArguments
from acp_client.tools.tool import HostTool

COMPLETE: Final = "complete"

DESCRIPTION: Final = (
    "Hand over the result of your task. Call it once, when the result is final, with the result as its arguments; "
    "if it answers with an error, mend what it says and call it again."
)

TAKEN: Final = "The result is taken. Finish your turn."
TAKEN_BEFORE: Final = "A result was handed over before, and that one counts. Finish your turn."


def complete_tool(output_type: Any, accept: Callable[[Any], bool]) -> HostTool:
    """The tool for a type, or an `OutputType`. `accept` gets the first value that fits, as JSON; False: it has one.

    Arguments that do not fit are answered with what is wrong, as a tool's error, so that the model can call again.
    """
    output = OutputType(output_type) if not isinstance(output_type, OutputType) else output_type

    def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = dict(arguments)
        try:
            output.validate_arguments(given)
        except OutputInvalid as error:
            raise BadArguments(str(error)) from error
        return {"value": given[VALUE] if output.wrapped else given}

    async def complete(value: Any) -> str:
        return TAKEN if accept(value) else TAKEN_BEFORE

    return HostTool(name=COMPLETE, description=DESCRIPTION, schema=output.schema, handler=complete, read=read)
