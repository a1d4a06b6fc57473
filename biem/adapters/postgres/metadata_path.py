"""Conditions on metadata as a jsonpath predicate, evaluated by PostgreSQL."""

import json
from collections.abc import Sequence

from biem.domain.metadata_filter import COMPARISONS, Condition, Scalar


def metadata_path(conditions: Sequence[Condition], of: str = "$") -> str | None:
    """A predicate for `metadata @@ jsonpath`; None for no conditions. `of`: where the metadata are in the document.

    In lax mode a list is compared element by element. Values of two types make a comparison `unknown`, which is false
    for `$eq` and true for its opposite.
    """
    return " && ".join(_predicate(condition, of) for condition in conditions) or None


def scoped_path(conditions: Sequence[Condition], scopes: Sequence[str]) -> str | None:
    """The same for the index of metadata with the names of their scopes, of which it must be one of these.

    None where memories without metadata may meet the conditions: they are not in the index.
    """
    path = metadata_path(conditions, "$.is")
    if path is None or not any(condition.needs_key for condition in conditions):
        return None
    return f"({' || '.join(f'$.ns == {_literal(ns)}' for ns in scopes)}) && {path}"


def _predicate(condition: Condition, of: str) -> str:
    key = f"{of}.{json.dumps(condition.key)}"
    if condition.operator == "$exists":
        return f"(exists({key}))" if condition.values[0] else f"(!exists({key}))"
    if condition.operator in ("$eq", "$in"):
        return _any(key, condition.values)
    if condition.operator in ("$ne", "$nin"):
        return " && ".join(f"(!({each}) || ({each}) is unknown)" for each in _each(key, condition.values)) or "(1 == 1)"
    return f"({key} {COMPARISONS[condition.operator]} {_literal(condition.values[0])})"


def _any(key: str, values: Sequence[Scalar]) -> str:
    return f"({' || '.join(f'({each})' for each in _each(key, values)) or '1 == 0'})"


def _each(key: str, values: Sequence[Scalar]) -> list[str]:
    return [f"{key} == {_literal(value)}" for value in values]


def _literal(value: Scalar) -> str:
    return json.dumps(value)
