"""Who may start a child now: places, turns at starting, descriptors. Decides in order; starts nothing itself."""
