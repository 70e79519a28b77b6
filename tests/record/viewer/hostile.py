"""A run in which every text tries to be markup, script, a steering of the terminal, or a link that runs something."""

from acp_client.record.format.lines import Header, Line, Note
from acp_client.record.tree.runs import Run
from tests.record.tree.wire import ask, decided, end, pick, prompt, run_of, said, stderr, to_client, update

HOSTILE = (
    '</script><script>window.owned=1</script><!--<script>--><img src=x onerror="window.owned=2">'
    "<svg onload=window.owned=3>]]>&lt;b&gt;{{7*7}}${7*7}`'\"\\"
    "javascript:window.owned=4 data:text/html,<script>window.owned=5</script>"
    "\x00\x1b[31m\x1b]0;owned\x07\x9b2J\u202eevil\u2066\u200f\u2028\u2029\ud800</style></title></textarea>"
)


def hostile_run(*, ended: bool = True) -> Run:
    """The text is in every place that a child, or a file, can fill."""
    bad = HOSTILE
    options = {"optionId": "y", "name": bad, "kind": bad}
    link = {"type": "resource_link", "uri": "javascript:window.owned=6", "name": bad}
    params = {"sessionId": bad, "toolCall": {"toolCallId": "c", "title": bad, "kind": bad}, "options": [options]}
    lines: list[Line] = [
        Header(run_id=bad, parent_run_id=bad, agent=bad, command=(bad,), cwd=bad, started="2026-12-01T04:00:00Z"),
        prompt(0.1, bad),
        said(0.2, f"{bad}\nhttps://example.test/{bad} https://ok.test/x."),
        update(0.3, "agent_message_chunk", content=link, messageId="l"),
        update(0.3, "agent_message_chunk", content=link | {"uri": "data:text/html,x"}, messageId="l"),
        update(0.3, "agent_message_chunk", content=link | {"uri": "https://good.test/"}, messageId="l"),
        update(
            0.4,
            "tool_call",
            toolCallId="c",
            title=bad,
            kind=bad,
            status=bad,
            rawInput={bad: bad, "list": [bad, {bad: bad}]},
            rawOutput={bad: [bad]},
            locations=[{"path": bad, "line": bad}],
            content=[
                {"type": "diff", "path": bad, "oldText": bad, "newText": f"{bad}\n{bad}"},
                {"type": "content", "content": {"type": "text", "text": bad}},
                {"type": "content", "content": link},
                {"type": "content", "content": {"type": "image", "mimeType": bad, "data": bad}},
                {"type": "terminal", "terminalId": bad},
                {"type": bad, bad: bad},
            ],
        ),
        to_client(0.5, id="p", method="session/request_permission", params=params),
        decided(0.6, why=bad, decided_by=bad, role=bad, rule=bad, title=bad, kind=bad, action="reject"),
        pick(0.6, "y"),
        ask(0.7, "d", "q", title=bad),
        update(0.7, "plan", entries=[{"content": bad, "status": bad}]),
        update(0.8, bad, **{bad: bad}),
        to_client(0.8, id=bad, method=bad, params={bad: bad}),
        Note(kind="host_tool", fields={"name": bad, "status": bad, "error": bad, "arguments": {bad: bad}}, t=0.9),
        Note(kind=bad, fields={bad: bad}, t=0.9),
        stderr(0.9, bad),
    ]
    failure = {"message": bad, "stage": bad, bad: bad}
    last = end(1.0, bad, "error", failure=failure, diagnostics={"exit_code": bad}, usage={"cost": {"amount": 1}})
    return run_of(*lines, *([last] if ended else []), source=bad)
