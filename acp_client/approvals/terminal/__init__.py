"""A person at the terminal as an approver: what is shown, which keys there are, and the device itself."""
