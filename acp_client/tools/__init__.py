"""What a tool of the parent's is: its name, its schema, how its arguments are read and its result is shown. Pure."""
