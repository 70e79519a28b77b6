"""Who is who: the ids and folders of the recording beside those of the client that we serve now.

Owns the pairs, and both directions of use: comparing what is received with what is recorded, and putting the live ones
into what we say. A pair is learnt where a frame of the client fits but for it; what the agent made itself is the same
in both. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from acp_client.record.format.difference import difference, same
from acp_client.record.format.normalise import CWD, ID_KEYS, Normaliser, comparable, path_pattern

_FOLDERS: Final = {"cwd": "cwd", "additionalDirectories": "directory"}
_WORD: Final = re.compile(r"[\w-]{8,}")


class Identity:
    """The pairs of one connection."""

    def __init__(self) -> None:
        self._recorded = Normaliser()
        self._live = Normaliser(learn=False)
        self._to_live: dict[str, str] = {}
        self._to_recorded: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._moved: dict[str, str] = {}
        self._moved_folders: list[tuple[re.Pattern[str], str]] = []

    # ---- comparing

    def fits(self, expected: dict[str, Any], found: dict[str, Any]) -> bool:
        """True if a frame of the client is the recorded one; then its pairs are learnt."""
        learnt = self.learn(expected, found)
        if same(self._recorded.value(comparable(expected)), self._live.value(comparable(found))):
            return True
        self._forget(learnt)
        return False

    def difference(self, expected: dict[str, Any], found: dict[str, Any]) -> str:
        """Where they differ, the pairs that they would make taken as given."""
        learnt = self.learn(expected, found)
        text = difference(self._recorded.value(comparable(expected)), self._live.value(comparable(found)))
        self._forget(learnt)
        return text

    def recorded(self, live: Any) -> Any:
        """The recorded id that is this live one; the same where it has no other."""
        return self._to_recorded.get(live, live) if isinstance(live, str) else live

    def learn(self, expected: dict[str, Any], found: dict[str, Any]) -> list[tuple[str, str]]:
        """Pair ids and folders that stand at the same place and are new on both sides; returns what was learnt."""
        learnt = []
        for key, recorded, live in _pairs(expected, found, ""):
            if key in _FOLDERS:
                is_new = self._bind_folder(_FOLDERS[key], recorded, live)
            else:
                is_new = self._bind(ID_KEYS[key], recorded, live)
            if is_new:
                learnt.append((key, recorded))
        return learnt

    def _bind_folder(self, kind: str, recorded: str, live: str) -> bool:
        if recorded in self._folders or live in self._folders.values():
            return False
        name = CWD if kind == "cwd" and not self._folders else f"{{{kind}-{len(self._folders) + 1}}}"
        self._folders[recorded] = live
        self._recorded.give_path(recorded, name)
        self._live.give_path(live, name)
        self._find_moved_folders()
        return True

    def _find_moved_folders(self) -> None:
        """Those to be replaced, the longest first; the root stands for too much."""
        moved = sorted(self._folders.items(), key=lambda pair: -len(pair[0]))
        self._moved_folders = [
            (path_pattern(recorded.rstrip("/")), live.rstrip("/") or "/")
            for recorded, live in moved
            if recorded != live and recorded.rstrip("/")
        ]

    def _bind(self, kind: str, recorded: str, live: str) -> bool:
        if recorded in self._to_live or live in self._to_recorded:
            return False
        self._to_live[recorded] = live
        self._to_recorded[live] = recorded
        self._live.give(live, self._recorded.name(kind, recorded))
        if recorded != live:
            self._moved[recorded] = live
        return True

    def _forget(self, learnt: list[tuple[str, str]]) -> None:
        for key, recorded in learnt:
            if key in _FOLDERS:
                live = self._folders.pop(recorded)
                self._recorded.forget_path(recorded)
                self._live.forget_path(live)
                self._find_moved_folders()
            else:
                live = self._to_live.pop(recorded)
                del self._to_recorded[live]
                self._live.forget(live)
                self._moved.pop(recorded, None)

    # ---- saying

    def told(self, message: dict[str, Any]) -> dict[str, Any]:
        """A frame of the agent as the client of now is told it; the ids that are in it are known to both from here."""
        for key, value in _ids(message):
            self._bind(ID_KEYS[key], value, value)
        if not self._moved and not self._moved_folders:
            return message
        told: dict[str, Any] = self._translated(message)
        return told

    def told_text(self, text: str) -> str:
        """The same for a text."""
        if self._moved:
            text = self._moved.get(text, text)
            text = _WORD.sub(lambda match: self._moved.get(match[0], match[0]), text)
        for pattern, live in self._moved_folders:
            text = pattern.sub(lambda _match, live=live: live, text)  # type: ignore[misc]  # a path may hold \
        return text

    def _translated(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.told_text(value)
        if isinstance(value, list):
            return [self._translated(item) for item in value]
        if isinstance(value, dict):
            return {key: self._translated(member) for key, member in value.items()}
        return value


def _pairs(expected: Any, found: Any, key: str) -> Iterator[tuple[str, str, str]]:
    """Ids and folders at the same place of both values: the member's name, the recorded one, the live one."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name, value in expected.items():
            yield from _pairs(value, found.get(name), name)
    elif isinstance(expected, list) and isinstance(found, list):
        for one, other in zip(expected, found, strict=False):
            yield from _pairs(one, other, key)
    elif (key in ID_KEYS or key in _FOLDERS) and isinstance(expected, str) and isinstance(found, str):
        yield from [(key, expected, found)] if expected and found else ()


def _ids(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _ids(member, name)
    elif isinstance(value, list):
        for item in value:
            yield from _ids(item)
    elif isinstance(value, str) and key in ID_KEYS and value:
        yield key, value
