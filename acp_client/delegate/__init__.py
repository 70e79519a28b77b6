"""Named sub-agents: what a parent's tool handlers ask, and what its model sees of it."""
