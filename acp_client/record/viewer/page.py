"""The page: one HTML file that needs nothing else, and in which nothing of a record can run.

Two walls. The data is JSON inside of a block that is no script, with every character escaped that could end it, and
reaches the document as text alone (`assets/page.js` sets `textContent`, never markup). And the page's own policy lets
nothing run or load but the one script and the one style whose hashes it names.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any, Final

from acp_client._version import __version__
from acp_client.record.tree.runs import Run
from acp_client.record.viewer.data import page_data

_ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def render(roots: Sequence[Run], title: str) -> str:
    """The page for these trees."""
    return fill(page_data(roots, title))


def fill(data: dict[str, Any]) -> str:
    """The page around its data."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )
    parts = {
        "@POLICY@": html.escape(policy, quote=True).replace("&#x27;", "'"),
        "@TITLE@": html.escape(str(data["title"])),
        "@VERSION@": html.escape(__version__),
        "@STYLE@": style,
        "@SCRIPT@": script,
        "@DATA@": embedded(data),
    }
    pieces = _asset("page.html").split("\n")
    return "\n".join(_filled(piece, parts) for piece in pieces)


def _filled(piece: str, parts: dict[str, str]) -> str:
    """Each line of the frame holds one mark at most, so that nothing that is filled in is looked at again."""
    for mark, text in parts.items():
        before, found, after = piece.partition(mark)
        if found:
            return f"{before}{text}{after}"
    return piece


def embedded(data: dict[str, Any]) -> str:
    """JSON that cannot end the block it stands in, nor begin a comment or an entity there."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8").rstrip("\n")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
