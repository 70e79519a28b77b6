"""What a run gives back: its result, and the reasons for which it ended."""
