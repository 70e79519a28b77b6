"""Where the paths of a permission request lie, as the file system has it now: links resolved, odd spellings told apart.

Owns what "inside a directory" means, in two readings: `all_inside` is true only where there is no doubt, `any_inside`
wherever there might be. Leaves to `rules` which of the two a rule takes. It looks at the disk and changes nothing. The
answer is of this moment: a link that is moved afterwards is a sandbox's matter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from acp_client.policy.permission import PermissionRequest

MAX_PATHS: Final = 500
"""Paths of one request that are looked at: each costs looks at the disk. With more there is doubt."""
MAX_TOTAL_CHARS: Final = 50_000
"""The same for all of them together: a hostile one could have thousands of components each."""
MAX_PATH_BYTES: Final = 4096
"""PATH_MAX of Linux: no program can open a longer one by its name."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://|file:", re.IGNORECASE)
_RELATIVE_TO_WHO_ASKS: Final = re.compile(r"//?(proc/(self|thread-self|\d+)|dev/(fd|std(in|out|err)|tty))(/|\Z)")
"""What these name is another thing to each process: to us not what it is to the agent."""
_LOCAL_HOSTS: Final = ("", "localhost")

_Identity: TypeAlias = tuple[int, int]
"""What the file system knows a file or directory by."""


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of one request, resolved: all that each may stand for. `sure` is False where one cannot be placed.

    A path may stand for two places: with `..` taken after links (as the kernel does) and before (as many agents do),
    with and without blanks around it. It cannot be placed if it is empty, too long, holds a NUL, begins with `~` (whose
    home?), is a URI of another kind than a local file's, names what each process has for itself (/proc/self), cannot be
    looked up, or is no text at all.
    """

    real: tuple[str, ...]
    sure: bool
    _lineages: dict[str, frozenset[_Identity]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, request: PermissionRequest) -> Places:
        """Look at the disk, once for all rules. Never raises, whatever the agent calls a path."""
        paths = request.paths
        if len(paths) > MAX_PATHS or sum(map(len, paths)) > MAX_TOTAL_CHARS:
            return cls((), sure=False)
        sure = not _has_unreadable(request)
        real: dict[str, None] = {}
        for path in paths:
            found = _readings(path, request.cwd)
            sure = sure and found is not None
            real.update(dict.fromkeys(found or ()))
        return cls(tuple(real), sure=sure)

    def all_inside(self, roots: Iterable[str]) -> bool:
        """True if there are paths, and each lies in one of the directories for certain (or is one of them)."""
        tops = [os.path.realpath(root) for root in roots]
        return self.sure and bool(self.real) and all(any(is_under(place, top) for top in tops) for place in self.real)

    def any_inside(self, roots: Iterable[str], *, whole_trees: bool) -> bool:
        """True if a path may lie in one of the directories; with `whole_trees` also if it may contain one of them.

        Directories are the same if the file system says so: by another case, another mount, or a hard link.
        """
        tops = [os.path.realpath(root) for root in roots]
        return not self.sure or any(
            self._holds(top, place) or (whole_trees and self._holds(place, top)) for place in self.real for top in tops
        )

    def _holds(self, top: str, place: str) -> bool:
        """True if `place` is `top` or lies in it, by name or by what the file system says is the same."""
        if is_under(place, top):
            return True
        if place not in self._lineages:  # once for all rules
            self._lineages[place] = _lineage(place)
        return _identity(top) in self._lineages[place]


def is_under(place: str, top: str) -> bool:
    """By name, whole components: /data2 is not under /data."""
    return place == top or place.startswith(top.rstrip("/") + "/")


def _lineage(place: str) -> frozenset[_Identity]:
    """The identities of a path and of all that is above it, as far as it is there."""
    found = {_identity(place)}
    while (parent := os.path.dirname(place)) != place:  # noqa: PTH120  # plain text, as all here
        place = parent
        found.add(_identity(place))
    return frozenset(one for one in found if one is not None)


def _identity(path: str) -> _Identity | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # as above
    except (OSError, ValueError):  # not there: nothing is the same
        return None
    return status.st_dev, status.st_ino


def _has_unreadable(request: PermissionRequest) -> bool:
    """True if the call names a place in a way that is no text: nobody knows what it touches."""
    locations = request.raw.get("locations")
    places: list[Any] = [] if locations is None else [*locations] if isinstance(locations, list) else [None]
    places += _diffs(request)
    if has_diff(request) and not isinstance(request.raw["content"], list):
        return True
    return not all(isinstance(place, dict) and isinstance(place.get("path"), str) for place in places)


def has_diff(request: PermissionRequest) -> bool:
    """True if the call shows a change of a file."""
    return bool(_diffs(request))


def _diffs(request: PermissionRequest) -> list[dict[str, Any]]:
    content = request.raw.get("content")
    items = content if isinstance(content, list) else [content]
    return [item for item in items if isinstance(item, dict) and item.get("type") == "diff"]


def _readings(path: str, cwd: str) -> set[str] | None:
    """All that a path may stand for, resolved; None if it cannot be placed."""
    if not path.strip() or path.lstrip().startswith("~") or len(path) > MAX_PATH_BYTES:
        return None
    scheme = _SCHEME.match(path.strip())
    forms = {path, path.strip()} if scheme is None else _of_uri(path.strip(), scheme[1])
    absolute = {os.path.join(cwd, form) for form in forms}  # noqa: PTH118  # an absolute form stays as it is
    real = {_resolve(way) for way in absolute | set(map(os.path.normpath, absolute))}
    return {place for place in real if place is not None} if real and None not in real else None


def _of_uri(uri: str, scheme: str | None) -> set[str]:
    """The path of a local file's URI, with and without its %XX decoded; none for any other."""
    if scheme is not None and scheme.lower() != "file":
        return set()
    path = uri[len("file:") :]
    if path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        path = slash + rest if host.lower() in _LOCAL_HOSTS else ""
    if not path.startswith("/") or "?" in path or "#" in path:
        return set()
    return {path, unquote(path, errors="surrogateescape")}


def _resolve(path: str) -> str | None:
    """Every link followed, also one to what is not there yet; None if it cannot be looked up."""
    if _RELATIVE_TO_WHO_ASKS.match(os.path.normpath(path)):
        return None
    try:
        real = os.path.realpath(path)
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            return None
    except (OSError, ValueError):
        return None
    try:
        os.stat(real)  # noqa: PTH116  # a circle of links, a directory that is shut, a name too long: all say so here
    except (FileNotFoundError, NotADirectoryError):
        return real  # to be made: the part that is there has been resolved
    except (OSError, ValueError):
        return None
    return real
