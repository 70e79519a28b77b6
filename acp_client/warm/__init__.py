"""Children started ahead of need: spawned and initialized, each for exactly one run that comes later."""
