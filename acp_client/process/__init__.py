"""Processes: a child's environment, its start, its end with everything below it, its stderr."""
