"""Reads a scenario file: YAML or JSON in, checked data out.

Owns the two file formats and what is said when one cannot be read; the rules of content are
`validate`'s. Both formats carry the same data: YAML is read with the JSON meaning of plain words
(`on`, `yes` and dates are texts), and a key that is given twice is an error in both.
"""

from __future__ import annotations

import json
import os
import re

from acp_agent.scripted.validate import problems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from yaml import SafeLoader

    from acp_agent.scripted.vocabulary import Value

_MOST_PROBLEMS = 20  # more are the same mistake again


class ScenarioError(Exception):
    """The scenario cannot be played; the text says where, the rule and the correction."""


def load(path: str, environment: Mapping[str, str]) -> dict[str, Value]:
    """Read and check the scenario at `path`; raises ScenarioError, whose text is for people."""
    try:
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123 - pathlib costs start-up
            text = file.read()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 at byte {error.start}") from None
    extension = os.path.splitext(path)[1].lower()  # noqa: PTH122 - as above
    parse = _parse_yaml if extension in (".yaml", ".yml") else _parse_json
    data = parse(text, path)
    found = problems(data, environment)
    if found:
        raise ScenarioError("\n".join(f"{path}: {one}" for one in found[:_MOST_PROBLEMS]))
    assert isinstance(data, dict)  # else it had a problem
    return data


def _parse_json(text: str, path: str) -> object:
    def once(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ScenarioError(f"{path}: the key {twice!r} is given twice in one mapping")
        return mapping

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ScenarioError(f"{path}: is not JSON at {where}: {error.msg}") from None


def _parse_yaml(text: str, path: str) -> object:
    import yaml  # noqa: PLC0415 - a JSON scenario must not pay for it

    try:
        return yaml.load(text, Loader=_json_like_loader())  # noqa: S506 - a SafeLoader all the same
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "its end"
        raise ScenarioError(f"{path}: is not YAML at {where}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ScenarioError(f"{path}: is not YAML: {error}") from None


# YAML 1.1 reads `on`, `yes`, `1:30` and `2026-01-01` as booleans, numbers and dates: texts here.
_PLAIN_WORDS = {
    "null": (r"null|~|", ["n", "~", ""]),
    "bool": (r"true|false", ["t", "f"]),
    "int": (r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    "float": (r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", list("-0123456789")),
    "merge": (r"<<", ["<"]),
}


def _json_like_loader() -> type[SafeLoader]:
    """PyYAML that knows JSON's plain words only, and no key twice."""
    import yaml  # noqa: PLC0415 - a JSON scenario must not pay for it

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Value] = {}  # noqa: RUF012 - PyYAML's own way

        def construct_mapping(self, node: Value, deep: bool = False) -> dict[Value, Value]:  # noqa: FBT001, FBT002 - PyYAML's signature
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for key, _ in node.value:
                if names.count(key.value) > 1:
                    problem = f"the key {key.value!r} is given twice in one mapping"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            return super().construct_mapping(node, deep=deep)

    for tag, (pattern, first) in _PLAIN_WORDS.items():
        known = re.compile(f"^(?:{pattern})$")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", known, first)
    return Loader
