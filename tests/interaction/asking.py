"""A person who answers, and turns that ask: for the tests of approvals between both real sides."""

from typing import Any

from acp_agent import Context
from acp_client import ApprovalRequest, Decision, PermissionPolicy
from acp_client.protocol.errors import RequestFailed
from tests.interaction.talk import Talk

OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "yy", "name": "Always", "kind": "allow_always"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
ASK = PermissionPolicy(default="ask")


class Person:
    """An approver who gives these answers, the last one again and again, and keeps the questions."""

    def __init__(self, *answers: Decision) -> None:
        self.answers = list(answers or [Decision.allow()])
        self.questions: list[ApprovalRequest] = []

    async def __call__(self, request: ApprovalRequest) -> Decision:
        """The next answer."""
        self.questions.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Requests:
    """A turn that sends these requests one after another, and keeps the answers or error codes."""

    def __init__(self, *params: dict[str, Any], method: str = "session/request_permission") -> None:
        self.params = params
        self.method = method
        self.answers: list[Any] = []

    async def deed(self, context: Context) -> str | None:
        """Ask it all."""
        for params in self.params:
            await self.ask(context, params)
        return None

    async def ask(self, context: Context, params: dict[str, Any]) -> None:
        """One request."""
        try:
            answer = await context._peer.request(self.method, {"sessionId": context.session_id, **params})
        except RequestFailed as error:
            self.answers.append(error.code)
        else:
            self.answers.append(answer.get("outcome", answer))

    @property
    def sent(self) -> list[str | None]:
        """The ids of the options that were sent."""
        return [answer.get("optionId") for answer in self.answers]


def call(arguments: Any = None, call_id: str = "c", **fields: Any) -> dict[str, Any]:
    """Params that ask for one call of `deploy`."""
    tool = {"toolCallId": call_id, "title": "Deploy", "name": "deploy", "kind": "execute", "rawInput": arguments}
    return {"toolCall": {key: value for key, value in (tool | fields).items() if value is not None}, "options": OPTIONS}


def decisions(talk: Talk) -> list[tuple[str, str, bool]]:
    """What the records say: action, by whom, remembered or not."""
    return [(record.action, record.decided_by, record.remembered) for record in talk.session.permissions.records]
