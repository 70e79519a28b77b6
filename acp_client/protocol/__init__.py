"""ACP v1 on the wire: what both sides share. Knows no process, no policy and no role.

Decide in pure code (`envelope`, `framing`, `states`, `link`), act in one thin shell (`peer` over `streams`).
Import from the modules; this package binds nothing, so that a child imports only what it uses.
"""
