"""What a sub-agent is given along with its task, as data: history, context, sub-agents of its own."""
