"""Transcripts folded into a tree of runs: what a person wants to know of them, in order. Pure.

`model` is what there is to see, `fold` makes it from the lines of one transcript, `forest` links many by their parents.
Nothing here is made safe to print: that is for whoever shows it.
"""
