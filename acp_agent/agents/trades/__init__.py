"""The trade file extractor: an agent without a model that turns a messy trades file into trades.

`extract` is the pure core, `task` reads what is asked, `agent` talks the protocol. Import what you
need from there.
"""
