"""What a tool returned, as the content that a model gets: text and images, in bounded size. Pure.

Owns the bounds and what is said where they cut.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import PydanticSerializationError, to_json

MAX_TEXT_CHARS: Final = 200_000
"""Of one result, all its text together: some fifty thousand tokens, more than most models take at once."""
MAX_IMAGE_BYTES: Final = 5 * 1024 * 1024
"""Of one image: what the large model APIs accept."""
MAX_IMAGES_BYTES: Final = 20 * 1024 * 1024
"""Of all images of one result: it goes as one message, and is copied on its way."""
MAX_BLOCKS: Final = 100
"""Of one result."""

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as a tool's result: its bytes and its type, such as "image/png"."""

    data: bytes = field(repr=False)
    mime_type: str

    def __post_init__(self) -> None:
        data, mime_type = _given(self.data), _given(self.mime_type)
        if not isinstance(data, bytes):
            raise TypeError(f"an Image's data must be bytes, not {type(data).__name__}")
        if not isinstance(mime_type, str) or not mime_type.startswith("image/"):
            raise ValueError(f"an Image's mime_type is {mime_type!r}; it is one such as 'image/png'")


def _given(value: Any) -> Any:
    """As a caller without a checker gave it."""
    return value


def content_of(value: Any) -> list[dict[str, Any]]:
    """The blocks for what a tool returned, in MCP's shape. Raises TypeError for what is no JSON and no image.

    A list with an image in it gives a block for each item; any other list is one JSON value.
    """
    items = (
        value if isinstance(value, list | tuple) and any(isinstance(item, Image | bytes) for item in value) else [value]
    )
    blocks: list[dict[str, Any]] = []
    left, image_left = MAX_TEXT_CHARS, MAX_IMAGES_BYTES
    for item in items[:MAX_BLOCKS]:
        block = _block(item, image_left)
        if block["type"] == "text":
            block["text"] = _cut(block["text"], left)
            left = max(0, left - len(block["text"]))
        else:
            image_left -= len(block["data"]) // 4 * 3 - block["data"][-2:].count("=")
        blocks.append(block)
    if len(items) > MAX_BLOCKS:
        blocks.append(_text(f"[{len(items) - MAX_BLOCKS} more items left out: a result has at most {MAX_BLOCKS}]"))
    return blocks


def _block(item: Any, image_left: int) -> dict[str, Any]:
    if isinstance(item, bytes):
        item = Image(item, _mime_type(item))
    if isinstance(item, Image):
        return _image(item, image_left)
    if isinstance(item, str):
        return _text(item)
    try:
        return _text(to_json(item, inf_nan_mode="null").decode())
    except PydanticSerializationError as error:
        raise TypeError(f"the tool returned what is no JSON value: {error}") from error


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text.encode(errors="replace").decode()}  # a lone surrogate has no UTF-8


def _image(image: Image, left: int) -> dict[str, Any]:
    if len(image.data) > MAX_IMAGE_BYTES:
        size = len(image.data)
        return _text(f"[an image of {size} bytes left out: one may have at most {MAX_IMAGE_BYTES}; make it smaller]")
    if len(image.data) > left:
        return _text(f"[an image left out: those of a result may have at most {MAX_IMAGES_BYTES} bytes together]")
    return {"type": "image", "data": base64.b64encode(image.data).decode(), "mimeType": image.mime_type}


def _mime_type(data: bytes) -> str:
    for magic, mime_type in _MAGIC:
        if data.startswith(magic):
            return mime_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise TypeError(
        "the tool returned bytes that are no PNG, JPEG, GIF or WebP; return text, or Image(data, mime_type)"
    )


def _cut(text: str, left: int) -> str:
    if len(text) <= left:
        return text
    return (
        f"{text[:left]}\n[cut: {len(text) - left} more characters; a result has at most {MAX_TEXT_CHARS}: "
        "ask for less at once]"
    )
