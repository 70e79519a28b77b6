"""Values of a JSON Schema (2020-12): the schema is checked once, when it is given, and its findings are faults.

Owns what a wrong schema is told. No reference is ever fetched: one that leads out of the schema is refused. `format`
is a note, as the standard has it; `jsonschema` is imported here, when the first schema is given. Pure. The time that a
`pattern` takes is its author's to bound: `re` may try a hostile string in exponentially many ways, and holds the loop.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from acp_client.safe_text import printable
from acp_client.structured.faults import Fault, OutputInvalid, fault, json_path, kind_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
    from referencing import Registry, Resource

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MAX_SHOWN_CHARS: Final = 200
"""Of a rule's own value, such as a long enum."""
MAX_FOUND: Final = 1000
"""Faults that are looked for; each costs time, and only the first are shown."""


class SchemaType:
    """A JSON Schema. Raises ValueError or TypeError that names the place in the schema and the rule."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        from jsonschema import Draft202012Validator, validators  # noqa: PLC0415  # costs a tenth of a second
        from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY  # noqa: PLC0415

        self.schema: Final = _snapshot(given)
        _check(self.schema, Draft202012Validator)
        resource = DRAFT202012.create_resource(self.schema)
        _check_references(resource, EMPTY_REGISTRY)
        judged = {name: part for name, part in self.schema.items() if name != "$schema"}  # would choose the class again
        linear = cast("Any", validators).extend(Draft202012Validator, {"uniqueItems": _unique_items})
        self._validator: Final = linear(judged, registry=EMPTY_REGISTRY)
        try:
            next(self._validator.iter_errors(None), None)
        except RecursionError as error:
            raise ValueError(
                "result_type: a $ref of the JSON Schema leads to itself; no value can be judged"
            ) from error

    def validate(self, value: Any) -> Any:
        """The value as it is. Raises OutputInvalid."""
        try:
            found = [one for _, one in zip(range(MAX_FOUND), _faults(self._validator.iter_errors(value)), strict=False)]
        except RecursionError as error:
            raise OutputInvalid([fault((), "is nested too deeply")]) from error
        if found:
            raise OutputInvalid(found)
        return value


def _snapshot(given: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that nobody can change, of what is JSON."""
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(given), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"result_type: the JSON Schema is no JSON: {error}") from error
    return copy


def _check(schema: dict[str, Any], validator: type[Draft202012Validator]) -> None:
    from jsonschema import SchemaError  # noqa: PLC0415  # as above

    dialect = schema.get("$schema", DIALECT)
    if not isinstance(dialect, str) or dialect.rstrip("#") != DIALECT:
        raise ValueError(
            f"result_type at $.$schema: {_shown(dialect)} is another dialect; only JSON Schema 2020-12 is judged here: "
            "convert the schema, or leave $schema out if it is valid in both"
        )
    try:
        validator.check_schema(schema)
    except SchemaError as error:
        place, cause = json_path(list(error.absolute_path)), _innermost(error)
        raise ValueError(f"result_type at {place}: no JSON Schema 2020-12: {_rule(cause)}") from error


def _innermost(error: Any) -> ValidationError:
    while error.context:
        error = error.context[0]
    found: ValidationError = error
    return found


def _check_references(resource: Resource[Any], registry: Registry[Any]) -> None:
    """Every reference leads somewhere, and not out of the schema."""
    _look_into(resource, registry.resolver_with_root(resource))


def _look_into(resource: Resource[Any], resolver: Any) -> None:
    from referencing.exceptions import Unresolvable  # noqa: PLC0415  # as above

    inner = resolver.in_subresource(resource)
    contents = resource.contents if isinstance(resource.contents, dict) else {}
    for keyword in ("$ref", "$dynamicRef"):
        if isinstance(reference := contents.get(keyword), str):
            try:
                inner.lookup(reference)
            except Unresolvable as error:
                raise ValueError(
                    f"result_type: {keyword} {_shown(reference)} leads nowhere in the JSON Schema, and nothing is "
                    "fetched: put what it means under $defs"
                ) from error
    for sub in resource.subresources():
        _look_into(sub, inner)


def _unique_items(_validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """As jsonschema has it, but not in time that grows with the square of the list."""
    from jsonschema import ValidationError  # noqa: PLC0415  # as above

    if wanted is True and isinstance(value, list) and len(set(map(_key, value))) < len(value):
        yield ValidationError("has an item twice")


def _key(value: Any) -> Any:
    """The same for values that are equal as JSON, and for no others: 1 is 1.0, and true is not 1."""
    if isinstance(value, dict):
        return dict, frozenset((name, _key(one)) for name, one in value.items())
    if isinstance(value, list):
        return list, tuple(map(_key, value))
    return (bool, value) if isinstance(value, bool) else value


def _faults(errors: Iterable[ValidationError]) -> Iterator[Fault]:
    for error in errors:
        yield fault(list(error.absolute_path), _rule(error), kind_of(error.instance))
        yield from _faults(error.context or ())


def _rule(error: ValidationError) -> str:
    """The rule in words. jsonschema's own show the whole value."""
    keyword, wanted, value = str(error.validator), cast("Any", error.validator_value), cast("Any", error.instance)
    if keyword == "type":
        return f"should be of type {' or '.join(wanted) if isinstance(wanted, list) else wanted}"
    if keyword == "required":
        return f"lacks {', '.join(_shown(name) for name in wanted if name not in value)}"
    if keyword in ("additionalProperties", "unevaluatedProperties") and wanted is False:
        return error.message
    if keyword in ("anyOf", "oneOf") and error.context:
        return f"fits none of the {len(wanted)} schemas of {keyword}, which want what follows"
    if keyword == "oneOf":
        return "should fit exactly one of the schemas in oneOf, and fits several"
    return _RULES.get(keyword, "breaks the rule {keyword}: {wanted}").format(keyword=keyword, wanted=_shown(wanted))


_RULES: Final = {
    "enum": "should be one of {wanted}",
    "const": "should be {wanted}",
    "pattern": "should match the pattern {wanted}",
    "minimum": "should be at least {wanted}",
    "maximum": "should be at most {wanted}",
    "exclusiveMinimum": "should be greater than {wanted}",
    "exclusiveMaximum": "should be less than {wanted}",
    "minLength": "should have at least {wanted} characters",
    "maxLength": "should have at most {wanted} characters",
    "minItems": "should have at least {wanted} items",
    "maxItems": "should have at most {wanted} items",
    "uniqueItems": "should have no item twice",
    "format": "should be of the format {wanted}",
    "not": "should not fit {wanted}",
}


def _shown(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False)[: 2 * MAX_SHOWN_CHARS], max_chars=MAX_SHOWN_CHARS)
