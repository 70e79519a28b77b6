"""Two small agents of a trading desk, without a model: a judge of limits and a resolver of names."""
