"""A parent in a process of its own. `QUEUE PREFIX NUMBER`: asks so many questions at once, and prints the answers."""

import json
import sys

import anyio

from acp_client import ApprovalQueue
from tests.approvals.questions import question


async def ask(queue: str, prefix: str, number: str) -> None:
    """Who decided each, and how, as JSON."""
    approver = ApprovalQueue(queue)
    answers = {}

    async def one(request_id: str) -> None:
        decision = await approver(question(request_id))
        answers[request_id] = [decision.action, decision.decided_by]

    async with anyio.create_task_group() as tasks:
        for index in range(int(number)):
            tasks.start_soon(one, f"{prefix}-{index}")
    print(json.dumps(answers))  # noqa: T201  # a program


if __name__ == "__main__":
    anyio.run(ask, sys.argv[1], sys.argv[2], sys.argv[3])
