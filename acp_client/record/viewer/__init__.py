"""Runs shown to a person: as lines for a terminal, and as one HTML page that needs nothing else. Pure.

Everything of a record is a child's text: all of it goes through `safe_text.printable` here, before anybody sees it.
"""
