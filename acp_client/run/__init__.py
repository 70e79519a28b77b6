"""One run from the inside: its life, its conversation, what it knows and what it tells; and its caller's handle."""
