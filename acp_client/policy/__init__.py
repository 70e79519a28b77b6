"""What a child may do: the parent's answers to permission requests."""
