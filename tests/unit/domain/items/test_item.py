"""The parts of an item: namespaces, keys, values, and their text."""

from datetime import timedelta
from typing import Any

import pytest

from biem.domain.items.item import encoded, rendered, require_key, require_namespace, require_ttl
from biem.errors import InvalidInput


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"content": {"content": " Ann likes tea "}, "kind": None}, "Ann likes tea"),
        ({"kind": "Fact", "in": {"who": "Ann", "tags": ["a", "b"]}}, "kind: Fact\nin.who: Ann\nin.tags: a\nin.tags: b"),
        ({"n": 3}, "n: 3"),
        ({"yes": True, "empty": " ", "none": None}, "yes: True"),
        ({"a": [], "b": {}}, ""),
    ],
)  # fmt: skip
def test_a_value_as_text(value: dict[str, Any], text: str) -> None:
    assert rendered(value) == text


@pytest.mark.parametrize("labels", ["notes", 3, None, ("a", ""), ("a.b",), ("a", 1), ("a\0",), ("x" * 1_001,)])
def test_namespaces_that_are_none(labels: Any) -> None:
    with pytest.raises(InvalidInput, match="namespace"):
        require_namespace(labels)


def test_values_keys_and_times_that_cannot_be_stored() -> None:
    broken: list[Any] = [
        [],
        {"a": float("inf")},
        {"a": {1, 2}},
        {"a\0": 1},
        {"a": ["\0"]},
        {"a": "\ud800"},
        {"a": 10**309},
    ]
    deep: Any = {"a": 1}
    for _ in range(100):
        deep = {"a": deep}
    broken.append(deep)
    for value in [*broken, {"a": "x" * 4_194_304}]:
        with pytest.raises(InvalidInput, match="value of an item"):
            encoded(value)
    for key in (1, "k\0", "x" * 1_001):
        with pytest.raises(InvalidInput, match="key of an item"):
            require_key(key)
    for ttl in (5, timedelta(0), timedelta(days=40_000)):
        with pytest.raises(InvalidInput, match="ttl"):
            require_ttl(ttl)
    # A backslash before u0000 is no NUL
    assert encoded({"a": "\\u0000"}) == '{"a": "\\\\u0000"}'
