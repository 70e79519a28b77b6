"""What a tool returned, as a model gets it."""

import base64
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from acp_client import Image
from acp_client.tools.results import MAX_BLOCKS, MAX_IMAGE_BYTES, MAX_IMAGES_BYTES, MAX_TEXT_CHARS, content_of

PNG = b"\x89PNG\r\n\x1a\n rest"


class Trade(BaseModel):
    """A model."""

    price: float


@dataclass
class Book:
    """A dataclass."""

    trades: list[Trade]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        ("", ""),
        (None, "null"),
        (3.5, "3.5"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([1, 2], "[1,2]"),
        (float("nan"), "null"),
        (Book([Trade(price=1.0)]), '{"trades":[{"price":1.0}]}'),
        ("lone \ud800", "lone ?"),
    ],
)
def test_text_is_text_and_everything_else_is_json(value: Any, text: str) -> None:
    """Models and dataclasses too."""
    assert content_of(value) == [{"type": "text", "text": text}]


def test_pictures_are_images_of_their_type() -> None:
    """Bytes that begin as a picture does are one; a list with one in it is a block for each item."""
    data = base64.b64encode(PNG).decode()
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    assert content_of(PNG) == [image]
    assert content_of(b"RIFF1234WEBPxx")[0]["mimeType"] == "image/webp"
    assert content_of(["look:", Image(PNG, "image/png"), {"a": 1}]) == [
        {"type": "text", "text": "look:"},
        image,
        {"type": "text", "text": '{"a":1}'},
    ]


def test_what_is_too_large_is_cut_and_says_by_which_rule() -> None:
    """The model must know that there was more."""
    (block,) = content_of("x" * (MAX_TEXT_CHARS + 5))
    assert block["text"].startswith("x" * 100)
    assert f"[cut: 5 more characters; a result has at most {MAX_TEXT_CHARS}" in block["text"]
    (block,) = content_of(Image(b"x" * (MAX_IMAGE_BYTES + 1), "image/png"))
    assert f"one may have at most {MAX_IMAGE_BYTES}" in block["text"]
    blocks = content_of([PNG, *(["x" * MAX_TEXT_CHARS] * (MAX_BLOCKS + 4))])
    assert len(blocks) == MAX_BLOCKS + 1
    assert "[5 more items left out" in blocks[-1]["text"]
    assert sum(len(block.get("text", "")) for block in blocks) < MAX_TEXT_CHARS + MAX_BLOCKS * 120


def test_the_images_of_a_result_are_bounded_together() -> None:
    """Not by their number alone: they go as one message."""
    large = Image(b"x" * MAX_IMAGE_BYTES, "image/png")
    blocks = content_of([large] * 6 + [PNG])
    assert [block["type"] for block in blocks] == ["image"] * 4 + ["text"] * 3
    assert f"at most {MAX_IMAGES_BYTES} bytes together" in blocks[-1]["text"]


@pytest.mark.parametrize("value", [object(), b"no picture", {"a": object()}])
def test_what_is_no_json_and_no_picture_is_refused(value: Any) -> None:
    """The tool's author reads it, by way of the model."""
    with pytest.raises(TypeError, match="returned"):
        content_of(value)


@pytest.mark.parametrize(("data", "mime_type"), [("text", "image/png"), (b"x", "text/plain"), (b"x", None)])
def test_an_image_is_bytes_of_an_image_type(data: Any, mime_type: Any) -> None:
    """Checked when it is made, where the fault is."""
    with pytest.raises((TypeError, ValueError), match="an Image's"):
        Image(data, mime_type)
