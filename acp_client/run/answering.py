"""The structured value of a run: how the agent is asked for it, where it is found, and when it is asked again.

Owns the state of that over the turns of one run. What a value must be and how it is found in a text is `structured`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from acp_client.session.ending import Ending, EndRun
from acp_client.session.session import Session
from acp_client.structured.wanted import Wanted

if TYPE_CHECKING:
    from acp_client.structured.faults import OutputInvalid
    from acp_client.tools.tool import HostTool


class Answering:
    """What is wanted, and what has come of it. `repairs`: further prompts that were sent.

    An agent that completed with a value, which did not fit, knows how to: what it says in prose when it is asked again
    is no value, even where it quotes its faults.
    """

    def __init__(self, wanted: Wanted, session: Session) -> None:
        self.repairs = 0
        self._type = wanted.output_type
        self._max_repairs = wanted.max_repairs
        self._session = session
        self._extended = False
        self._tool = False
        self._fits = False
        self._completes = False
        self._value: Any = None
        self._error: OutputInvalid | None = None

    @property
    def is_asked(self) -> bool:
        """True if a value is wanted at all."""
        return self._type is not None

    # ---- asking

    def tool(self) -> HostTool | None:
        """The `complete` tool for an agent that does not know our extension."""
        if self._type is None:
            return None
        from acp_client.host_tools.complete import complete_tool  # noqa: PLC0415  # most runs want none

        return complete_tool(self._type, self._session.complete)

    def ask(self, prompt: Sequence[dict[str, Any]], *, extended: bool, tool: bool) -> list[dict[str, Any]]:
        """The prompt for this agent: one that does not know our extension is told what to answer, in a last block."""
        self._extended, self._tool = extended, tool
        if self._type is None or extended:
            return list(prompt)
        from acp_client.structured.wording import instructions  # noqa: PLC0415  # as above

        return [*prompt, _text(instructions(self._type, tool=tool))]

    def meta(self) -> dict[str, Any]:
        """What a child of ours is told of it, beside the prompt."""
        if self._type is None or not self._extended:
            return {}
        if self._error is None:
            return {"result": self._type.value_schema}
        from acp_client.structured.wording import repair_note  # noqa: PLC0415  # as above

        return {"result": self._type.value_schema, "repair": repair_note(self._error, self.repairs)}

    def ask_again(self) -> list[dict[str, Any]]:
        """The prompt of a repair. Raises EndRun if there were enough of them."""
        assert self._type is not None  # nothing else is found not to fit
        assert self._error is not None
        if self.repairs >= self._max_repairs:
            times = f"repairs tried: {self.repairs}" if self.repairs else "no repair was allowed"
            more = "" if self.repairs else ", or allow a repair"
            message = (
                f"the answer has no value that fits result_type ({times}): {self._error}; the raw text is kept: make "
                f"the task or the type plainer{more}"
            )
            raise EndRun(Ending("output_invalid", message, request="session/prompt"))
        self.repairs += 1
        from acp_client.structured.wording import say_again  # noqa: PLC0415  # as above

        return [_text(say_again(self._type, self._error, tool=self._tool))]

    # ---- what comes

    def begin_turn(self) -> None:
        """A prompt is about to be sent: what counts is what comes after it."""
        self._session.turn.answer.begin_turn()
        if self.repairs:
            self._session.forget_value()

    def is_there(self) -> bool:
        """True if the turn has brought what is wanted: the value that it was completed with, else one in its text."""
        if self._type is None or self._fits:
            return True
        from acp_client.structured.faults import OutputInvalid  # noqa: PLC0415  # as above

        try:
            self._value = self._find()
        except OutputInvalid as error:
            self._error = error
            return False
        self._fits = True
        return True

    def _find(self) -> Any:
        from acp_client.structured.faults import OutputInvalid  # noqa: PLC0415  # as above
        from acp_client.structured.fitting import last_fitting  # noqa: PLC0415

        assert self._type is not None  # checked by who asks
        if self._session.has_structured:
            self._completes = True
            return self._type.validate(self._session.structured)
        if self._completes:
            assert self._error is not None  # a value that fits ends the run
            raise self._error
        verbatim, apart = self._session.turn.answer.turn_texts()
        try:
            return last_fitting(verbatim, self._type)
        except OutputInvalid as error:
            if apart != verbatim:  # messages that end in a word and begin with a number
                try:
                    return last_fitting(apart, self._type)
                except OutputInvalid:
                    raise error from None
            raise

    def structured(self) -> Any:
        """The value for the result: typed, or as it came where no type was given; of a failed run, if it fits."""
        if self._type is None:
            return self._session.structured
        if not self._fits and self._session.has_structured:
            self.is_there()
        return self._value


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
