"""Records of runs: what went over the wire, kept as it passes, and shown or played again later.

`format/` is the file, pure. Beside it is what writes one while a run lives. Only the runner, a run and the command
line use this room; whoever wants a record says so with `Runner(transcripts=…)`.
"""
