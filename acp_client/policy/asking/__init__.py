"""What asking a person takes, as pure functions: what is a choice, what is the same call, what fits a form."""
