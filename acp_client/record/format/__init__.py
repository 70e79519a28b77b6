"""The transcript of a run as a file: its lines, the reader, the validator, the normaliser. Pure."""
