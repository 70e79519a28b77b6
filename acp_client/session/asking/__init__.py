"""What a session asks of people: the questions, the answers that are remembered, and the record of both."""
