"""Checks the data of a scenario against the vocabulary. Pure: data in, sentences out.

Owns the rules of form; the words are `vocabulary`'s, reading files is `load`'s. A sentence names
the place inside the scenario (`prompt[2].chnk`), the rule, and the nearest word where one is near.
"""

from __future__ import annotations

import binascii
import re

from acp_agent.scripted.vocabulary import HOOK, SCENARIO, STEPS, WORD_LISTS, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

PLACEHOLDER = re.compile(r"(\$)?\$\{([^}]*)\}")
BUILT_IN = ("id", "session", "prompt", "params", "cwd", "n", "pid", "python", "scenario_dir")

_SHOWN_CHARACTERS = 40  # of a text that is wrong: enough to find it again
_HELP = "see `--help` for all words"


def problems(scenario: object, environment: Iterable[str]) -> list[str]:
    """All that is wrong with a scenario, in reading order; empty if it can be played."""
    if not isinstance(scenario, dict):
        return [f"a scenario is a mapping of words, not {_kind(scenario)}; {_HELP}"]
    found = list(_check_keys(scenario, Word("keys", "", keys=SCENARIO), ""))
    if "prompt" in scenario and "prompts" in scenario:
        found.append("prompts: give either `prompt` or `prompts`, not both")
    known = {*BUILT_IN, *_saved(scenario), *environment}
    for key, value in scenario.items():
        if key != "about":
            found.extend(_check_placeholders(value, str(key), known))
    return found


# ---------------------------------------------------------------- forms


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_hex(value: object) -> bool:
    try:
        return isinstance(value, str) and bytes.fromhex(value) is not None
    except ValueError:
        return False


def _is_base64(value: object) -> bool:
    try:
        return isinstance(value, str) and binascii.a2b_base64(value, strict_mode=True) is not None
    except ValueError:
        return False


_FORMS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "text": ("a text", lambda value: isinstance(value, str)),
    "path": ("a path", lambda value: isinstance(value, str)),
    "hex": ("a text of hexadecimal digits", _is_hex),
    "base64": ("a text of base64", _is_base64),
    "int": ("a whole number that is not negative", _is_int),
    "number": ("a number", lambda value: _is_int(value) or isinstance(value, float)),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "true": ("true", lambda value: value is True),
    "any": ("any value", lambda _value: True),
    "map": ("a mapping", lambda value: isinstance(value, dict)),
    "map of texts": (
        "a mapping of texts",
        lambda value: isinstance(value, dict) and all(part is None or isinstance(part, str) for part in value.values()),
    ),
    "keys": ("a mapping", lambda value: isinstance(value, dict)),
    "map of hooks": ("a mapping of hooks", lambda value: isinstance(value, dict)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "texts": (
        "a list of texts",
        lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    ),
    "steps": ("a list of steps", lambda value: isinstance(value, list)),
    "turns": ("a list of lists of steps", lambda value: isinstance(value, list)),
    "hooks": ("a list of hooks", lambda value: isinstance(value, list)),
    "hook": ("a list of steps or a mapping", lambda value: isinstance(value, list | dict)),
    "words": ("a word or a list of words", lambda value: isinstance(value, str | list)),
}


def _accepts(form: str, value: object) -> bool:
    return value == form[1:] if form.startswith("=") else _FORMS[form][1](value)


def _describe(forms: tuple[str, ...]) -> str:
    return " or ".join(f"`{form[1:]}`" if form[0] == "=" else _FORMS[form][0] for form in forms)


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value[:_SHOWN_CHARACTERS]!r}"
    return "a mapping" if isinstance(value, dict) else "a list"


# ---------------------------------------------------------------- nesting


def _check(value: object, word: Word, at: str) -> Iterator[str]:
    for form in word.forms:
        if _accepts(form, value):
            nested = _NESTED.get(form)
            if nested is not None:
                yield from nested(value, word, at)
            return
    yield f"{at}: must be {_describe(word.forms)}, not {_kind(value)}"


def _check_keys(value: Mapping[object, object], word: Word, at: str) -> Iterator[str]:
    dot = f"{at}." if at else ""
    for key, part in value.items():
        known = word.keys.get(key) if isinstance(key, str) else None
        if known is None:
            place = at or "a scenario"
            yield f"{dot}{key}: unknown word; {place} takes {_choices(key, word.keys)}"
        else:
            yield from _check(part, known, f"{dot}{key}")
    for key in word.needs:
        if key not in value:
            yield f"{at}: `{key}` is missing"
    if word.one_of and sum(key in value for key in word.one_of) != 1:
        yield f"{at}: needs exactly one of {', '.join(word.one_of)}"
    if value.get("wait") is False and "on" in value:
        yield f"{at}.on: needs the answer, but `wait` is false; take one of them out"


def _check_steps(value: Iterable[object], _word: Word, at: str) -> Iterator[str]:
    for index, step in enumerate(value):
        place = f"{at}[{index}]"
        if isinstance(step, str):
            yield from _check_step(step, True, f"{place}.{step}")
        elif isinstance(step, dict) and len(step) == 1:
            ((name, part),) = step.items()
            yield from _check_step(name, part, f"{place}.{name}")
        else:
            found = f"{len(step)} words" if isinstance(step, dict) else _kind(step)
            yield f"{place}: a step is a mapping with exactly one word, not {found}"


def _check_step(name: object, value: object, at: str) -> Iterator[str]:
    word = STEPS.get(name) if isinstance(name, str) else None
    if word is None:
        yield f"{at}: unknown word; a step is one of {_choices(name, STEPS)}"
    else:
        yield from _check(value, word, at)


def _check_hook(value: object, word: Word, at: str) -> Iterator[str]:
    if isinstance(value, list):
        yield from _check_steps(value, word, at)
        return
    assert isinstance(value, dict)  # the form `hook` accepts nothing else
    yield from _check_keys(value, Word("keys", "", keys=HOOK), at)
    if len(value.keys() & {"result", "error", "add"}) > 1:
        yield f"{at}: takes only one of result, error, add"
    if "each" in value and len(value) > 1:
        yield f"{at}: takes nothing beside `each`; write it into the entries"


def _check_hooks(value: Iterable[object], _word: Word, at: str) -> Iterator[str]:
    for index, hook in enumerate(value):
        yield from _check(hook, Word("hook", ""), f"{at}[{index}]")


def _check_hook_map(value: Mapping[str, object], _word: Word, at: str) -> Iterator[str]:
    for name, hook in value.items():
        yield from _check(hook, Word("hook", ""), f"{at}.{name}")


def _check_turns(value: Iterable[object], _word: Word, at: str) -> Iterator[str]:
    for index, steps in enumerate(value):
        yield from _check(steps, Word("steps", ""), f"{at}[{index}]")


def _check_words(value: str | list[object], _word: Word, at: str) -> Iterator[str]:
    allowed = WORD_LISTS[at.rpartition(".")[2]]
    for name in [value] if isinstance(value, str) else value:
        if name not in allowed:
            yield f"{at}: {_kind(name)} is unknown; it takes {', '.join(allowed)}"


_NESTED: dict[str, Callable[..., Iterator[str]]] = {
    "keys": _check_keys,
    "steps": _check_steps,
    "hook": _check_hook,
    "hooks": _check_hooks,
    "map of hooks": _check_hook_map,
    "turns": _check_turns,
    "words": _check_words,
}

_FEW_CHOICES = 12  # longer lists are the help text's


def _choices(name: object, words: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for a broken scenario only

    known = list(words)
    near = get_close_matches(str(name), known, n=1)
    listed = ", ".join(known) if len(known) <= _FEW_CHOICES else f"the known words ({_HELP})"
    return listed + (f"; did you mean `{near[0]}`?" if near else "")


# ---------------------------------------------------------------- placeholders


def _saved(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        name = value.get("save")
        if isinstance(name, str):
            yield name
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _saved(one)


def _check_placeholders(value: object, at: str, known: set[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _check_placeholders(part, f"{at}.{key}", known)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _check_placeholders(part, f"{at}[{index}]", known)
    elif isinstance(value, str) and "${" in value:
        for escaped, name in PLACEHOLDER.findall(value):
            if not escaped and name.partition(".")[0] not in known:
                yield (
                    f"{at}: ${{{name}}} is neither built in ({', '.join(BUILT_IN)}), nor saved"
                    f" in this scenario, nor in the environment; write $${{{name}}} for the text"
                )
