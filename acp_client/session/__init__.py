"""The conversation with one agent: handshake, one prompt, and what its updates add up to."""
