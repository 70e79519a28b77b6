"""Typed answers from any agent: what a value must be, where it is found in an answer, and how it is asked for."""
