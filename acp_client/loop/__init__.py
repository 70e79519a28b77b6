"""The event loop and the system below it, asked directly where anyio asks for more than we need."""
