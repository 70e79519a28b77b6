"""Blocks of content in prompts, messages and tool calls (ACP v1, content).

Owns the kinds of block and how an unknown one survives. Which kinds an agent takes is a capability.
"""

from typing import Annotated, ClassVar, Literal

from acp_client.protocol.models.base import (
    OR_NONE,
    SKIP,
    Kinds,
    LenientStr,
    ModelError,
    Reader,
    WireModel,
)

Role = Literal["assistant", "user"]


class Annotations(WireModel):
    """Hints on whom a block is for and how much it matters."""

    audience: Annotated[list[Annotated[str, SKIP]] | None, OR_NONE] = None
    last_modified: LenientStr = None
    priority: Annotated[float | None, OR_NONE] = None


class _Block(WireModel):
    """What every kind of block may carry."""

    TAG: ClassVar[str] = "type"

    annotations: Annotated[Annotations | None, OR_NONE] = None


class TextContent(_Block):
    """Text; every agent takes it."""

    type: Literal["text"] = "text"
    text: str


class ImageContent(_Block):
    """An image; `data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str
    uri: LenientStr = None


class AudioContent(_Block):
    """Sound; `data` is base64."""

    type: Literal["audio"] = "audio"
    data: str
    mime_type: str


class ResourceLink(_Block):
    """A pointer to something that the agent can fetch; every agent takes it."""

    type: Literal["resource_link"] = "resource_link"
    uri: str
    name: str
    title: LenientStr = None
    description: LenientStr = None
    mime_type: LenientStr = None
    size: Annotated[int | None, OR_NONE] = None


class TextResourceContents(WireModel):
    """Text of an embedded resource."""

    uri: str
    text: str
    mime_type: LenientStr = None


class BlobResourceContents(WireModel):
    """Bytes of an embedded resource, in base64."""

    uri: str
    blob: str
    mime_type: LenientStr = None


def _read_resource(obj: object) -> TextResourceContents | BlobResourceContents:
    """Contents of an embedded resource, told apart by which of the two payloads is there."""
    if isinstance(obj, TextResourceContents | BlobResourceContents):
        return obj
    if not isinstance(obj, dict):
        raise ModelError("EmbeddedResource", [("", "should be an object")])
    if "blob" in obj and not isinstance(obj.get("text"), str):
        return BlobResourceContents.from_wire(obj)
    return TextResourceContents.from_wire(obj)


class EmbeddedResource(_Block):
    """A resource with its contents."""

    type: Literal["resource"] = "resource"
    resource: Annotated[TextResourceContents | BlobResourceContents, Reader(_read_resource)]


class UnknownContent(WireModel):
    """A block of a kind that v1 does not have, kept as it came."""

    TAG: ClassVar[str] = "type"

    type: str


_KnownContent = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
_CONTENT = Kinds[_KnownContent | UnknownContent](
    "ContentBlock",
    known=(TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource),
    other=UnknownContent,
)

ContentBlock = Annotated[_KnownContent | UnknownContent, _CONTENT]


def parse_content_block(obj: object) -> ContentBlock:
    """Read one block.

    Raises:
        ModelError: it is no object, has no type, or does not fit the type that it names.
    """
    return _CONTENT.parse(obj)
