"""What `subagent run` writes: the answer on stdout in four formats, everything else on stderr."""
