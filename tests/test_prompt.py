"""Prompts as callers write them."""

from typing import Any

import pytest

from acp_client.prompt import prompt_blocks
from acp_client.protocol.models import ImageContent, ResourceLink, TextContent

TEXT = {"type": "text", "text": "hi"}
LINK = {"type": "resource_link", "uri": "file:///x", "name": "x"}


@pytest.mark.parametrize("text", ["", "hi", " \n", "é\u2028", "\udc80"])
def test_a_string_is_one_text_block(text: str) -> None:
    """As it is."""
    assert prompt_blocks(text) == [{"type": "text", "text": text}]


def test_models_and_dicts_may_be_mixed() -> None:
    """Their order is kept, and so are fields that nobody knows."""
    image = ImageContent(data="aGk=", mime_type="image/png")
    odd = TEXT | {"_meta": {"a": 1}, "odd": 2}
    blocks = prompt_blocks([TextContent(text="hi"), odd, image, LINK, ResourceLink.from_wire(LINK)])
    assert blocks == [TEXT, odd, {"type": "image", "data": "aGk=", "mimeType": "image/png"}, LINK, LINK]


def test_a_tuple_is_as_good_as_a_list_and_the_caller_s_dict_is_not_shared() -> None:
    """A later change of it changes nothing."""
    mine = dict(TEXT)
    blocks = prompt_blocks((mine,))
    mine["text"] = "changed"
    assert blocks == [TEXT]


def test_a_block_of_an_unknown_kind_is_left_to_the_agent_s_capabilities() -> None:
    """They refuse it, with a reason."""
    assert prompt_blocks([{"type": "hologram"}]) == [{"type": "hologram"}]


WRONG: list[tuple[Any, type[Exception], str]] = [
    (None, TypeError, "a str or a list of content blocks, not NoneType"),
    (5, TypeError, "not int"),
    (b"hi", TypeError, "not bytes"),
    (TEXT, TypeError, "not dict"),
    (iter([TEXT]), TypeError, "not list_iterator"),
    ([], ValueError, "at least one content block"),
    ([TEXT, "hi"], TypeError, r"prompt\[1\] must be a content block or a dict in wire shape, not str"),
    ([None], TypeError, r"prompt\[0\]"),
    ([{}], ValueError, r"prompt\[0\].*type"),
    ([TEXT, {"type": "text"}], ValueError, r"prompt\[1\].*text is required"),
    ([{"type": "image", "data": 5, "mimeType": "x"}], ValueError, r"prompt\[0\].*data"),
]


@pytest.mark.parametrize(("prompt", "error", "says"), WRONG)
def test_a_wrong_prompt_names_the_block_and_the_rule(prompt: Any, error: type[Exception], says: str) -> None:
    """Before anything is started."""
    with pytest.raises(error, match=says):
        prompt_blocks(prompt)
