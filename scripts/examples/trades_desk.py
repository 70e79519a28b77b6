"""A parent with tool handlers of its own, which ask named sub-agents and get typed values back.

`process_trade_file` has a file's trades extracted, asks the judge for each of them and books the approved ones;
`close_the_day` asks the same judge something else; `confirm_counterparties` asks one resolver three times at once. At
the end it shows what the parent's model would see, one tool result a request, and what only people see: the trace.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import anyio
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from acp_client import Event, Runner, SubAgent, SubAgents, SubAgentStarted, ToolReply, Transcripts
from acp_client.catalog import SHIPPED
from acp_client.safe_text import printable

REPO: Final = Path(__file__).resolve().parents[2]
FILE: Final = REPO / "fixtures" / "trades" / "london_broker.csv"
RECORDS: Final = REPO / "build" / "transcripts" / "trades_desk"
MAX_RECORDS: Final = 11  # as many as there are requests, so those of this time
PARENT: Final = "Trades Agent"
WIDE: Final = 140  # columns where there is no terminal to ask
INTERRUPTED: Final = 130

ONE_TRADE: Final = {"limits": {"max_quantity": 20_000, "max_notional": {"GBP": 30_000, "EUR": 35_000, "USD": 40_000}}}
WHOLE_DAY: Final = {"limits": {"max_total_notional": {"GBP": 100_000, "EUR": 100_000, "USD": 100_000}}}
INSTRUCTED: Final = ("GSI", "Deutsche Bank AG London Branch", "Goldmann Sachs")

T = TypeVar("T")


class Trade(BaseModel):
    """A trade as the extractor normalises it; what else it says is not needed here."""

    trade_id: str
    instrument: str
    side: Literal["buy", "sell"]
    quantity: float
    price: float
    currency: str | None
    counterparty: str | None


class TradeFile(BaseModel):
    """A file's trades."""

    trades: list[Trade]


class Verdict(BaseModel):
    """What the judge says."""

    approved: bool
    reasons: list[str]


class Counterparty(BaseModel):
    """A resolved name; without a name and an LEI it is not known, or not known which."""

    query: str
    name: str | None
    lei: str | None
    near: str | None


EXTRACTOR, JUDGE, RESOLVER = "trade_file_extractor", "risk_judge", "counterparty_resolver"
SPECIALISTS: Final = tuple(
    SubAgent(
        name=name,
        description=SHIPPED[name].description,
        agent=SHIPPED[name].spec(),
        history_cap=history_cap,
        result_type=result_type,
    )
    for name, history_cap, result_type in ((EXTRACTOR, 4, TradeFile), (JUDGE, 0, Verdict), (RESOLVER, 0, Counterparty))
)


@dataclass(slots=True)
class Parent:
    """The parent's conversation, its book, and the tool handlers that its model would call."""

    sub_agents: SubAgents
    messages: list[dict[str, Any]] = field(default_factory=list)
    book: list[Trade] = field(default_factory=list)
    replies: list[ToolReply] = field(default_factory=list)

    async def process_trade_file(self, file: Path) -> str:
        """Extract, judge each trade by itself, book what is approved."""
        self.messages.append({"role": "user", "content": f"Process {file.name}"})
        (extracted,) = await self.ask((EXTRACTOR, f"Extract the trades from {str(file)!r}", None))
        trades = value_of(extracted, TradeFile).trades
        tasks = [f"Validate this trade: {trade.model_dump_json()}" for trade in trades]
        for trade, reply in zip(trades, await self.ask(*((JUDGE, task, ONE_TRADE) for task in tasks)), strict=True):
            if value_of(reply, Verdict).approved:
                self.book.append(trade)
        return f"booked {len(self.book)} of {len(trades)} trades"

    async def close_the_day(self) -> str:
        """Judge the whole book against the limits of a day."""
        self.messages.append({"role": "user", "content": "Close the day"})
        booked = json.dumps([trade.model_dump() for trade in self.book])
        (reply,) = await self.ask((JUDGE, f"Validate the day as a whole: {booked}", WHOLE_DAY))
        verdict = value_of(reply, Verdict)
        return "the day is within its limits" if verdict.approved else f"over the day's limits: {verdict.reasons}"

    async def confirm_counterparties(self, *names: str) -> str:
        """Resolve some names, all at once, each by a child of its own."""
        self.messages.append({"role": "user", "content": f"Who are {', '.join(names)}?"})
        replies = await self.ask(*((RESOLVER, f"Resolve the counterparty “{name}”", None) for name in names))
        found = [value_of(reply, Counterparty) for reply in replies]
        return "; ".join(f"{one.query} is {one.name or f'not known (near: {one.near})'}" for one in found)

    async def ask(self, *requests: tuple[str, str, Mapping[str, Any] | None]) -> list[ToolReply]:
        """Requests side by side, and what a model's turn makes of them: one call and one tool result for each."""
        replies: dict[int, ToolReply] = {}

        async def request(place: int, name: str, task: str, context: Mapping[str, Any] | None) -> None:
            replies[place] = await self.sub_agents.request_for_model(
                name, task=task, context=context, history=self.messages
            )

        async with anyio.create_task_group() as tasks:
            for place, one in enumerate(requests):
                tasks.start_soon(request, place, *one)
        calls, results = [], []
        for place, (name, task, _) in enumerate(requests):
            call_id = f"call_{len(self.replies) + place}"
            arguments = json.dumps({"task": task})
            calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}})
            results.append({"role": "tool", "tool_call_id": call_id, "content": replies[place].for_model()})
        self.messages += [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
        self.replies += (ordered := [replies[place] for place in range(len(requests))])
        return ordered


def value_of(reply: ToolReply, kind: type[T]) -> T:
    """The typed value that a sub-agent completed with. Raises LookupError where it failed, as the reply says."""
    value = reply.result.structured if reply.result else None
    if isinstance(value, kind):
        return value
    raise LookupError(f"{reply.name} gave no {kind.__name__}: {reply}")


async def work(file: Path, console: Console) -> Parent:
    """The parent's day: three tools are called, each hands work on."""

    async def show(event: Event) -> None:
        if isinstance(event, SubAgentStarted):
            console.print(said(f"  {event.label}"))

    async with Runner(max_concurrency=4, transcripts=Transcripts(RECORDS, max_files=MAX_RECORDS)) as runner:
        parent = Parent(SubAgents(SPECIALISTS, runner=runner, parent_name=PARENT, on_progress=show))
        console.print(f"process_trade_file: {said(await parent.process_trade_file(file))}", soft_wrap=True)
        console.print(f"close_the_day: {said(await parent.close_the_day())}", soft_wrap=True)
        found = await parent.confirm_counterparties(*INSTRUCTED)
        console.print(f"confirm_counterparties: {said(found)}", soft_wrap=True)
    return parent


def report(parent: Parent, console: Console) -> None:
    """The book, the messages, and the trace that is in none of them."""
    book = Table("trade", "instrument", "side", "quantity", "price", "currency", title="Booked")
    for trade in parent.book:
        row = (trade.trade_id, trade.instrument, trade.side, trade.quantity, trade.price, trade.currency)
        book.add_row(*(said(value) for value in row))
    console.print(book)
    console.print(f"What the model sees: {len(parent.messages)} messages, one tool result for each request")
    for message in parent.messages:
        console.print(f"  {message['role']:<9} {said(shown(message))}", no_wrap=True, overflow="ellipsis")
    console.print("What only people see: the trace")
    for reply in parent.replies:
        for entry in reply.sub_agent_trace:
            told = entry.get("text") or entry.get("title") or entry.get("reason") or ""
            line = f"{entry['agent']}: {entry['type']} {told} {entry.get('status', '')}"
            console.print(f"  {said(line)}", no_wrap=True, overflow="ellipsis")


def shown(message: Mapping[str, Any]) -> str:
    """A message in a line."""
    names = [call["function"]["name"] for call in message.get("tool_calls", ())]
    return f"calls {', '.join(names)}" if names else str(message["content"])


def said(value: object) -> str:
    """What a child or a file says, safe for a terminal."""
    return printable("" if value is None else str(value))


def main() -> int:
    """Parse the command line, work, show; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, default=FILE, help="default: %(default)s")
    asked = parser.parse_args()
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=WIDE)
    try:
        parent = anyio.run(work, asked.file.resolve(), console)
    except LookupError as error:
        console.print(f"failed: {said(error)}", soft_wrap=True)
        return 1
    except KeyboardInterrupt:  # the children are gone by now
        return INTERRUPTED
    report(parent, console)
    console.print(f"What went on: scripts/run trace {RECORDS}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
