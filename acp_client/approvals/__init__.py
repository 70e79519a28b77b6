"""The durable queue: questions to people in one SQLite file, asked by runs and answered from another terminal."""
