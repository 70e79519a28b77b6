"""The smallest agents: a shell that knows our three requests by heart. They are there within a millisecond."""

from acp_client import AgentSpec, Limits

ANSWERS = """
read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read -r _; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r _; echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":\
{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"tiny"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
read -r _
"""
SHORT = Limits(
    cancel_grace_seconds=0.2,
    eof_grace_seconds=0.2,
    term_grace_seconds=0.2,
    kill_wait_seconds=2.0,
    late_update_grace_seconds=0.0,
)


def tiny(before: str = "", *, limits: Limits = SHORT) -> AgentSpec:
    """An agent that runs some shell first, then answers everything with "tiny" and goes at EOF."""
    return AgentSpec(command=("sh", "-c", before + ANSWERS), limits=limits)
