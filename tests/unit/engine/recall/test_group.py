"""How like a memory is to those that are like the question."""

import numpy as np

from biem.engine.recall.group import support_by_group
from biem.ports import Vector


def rows(*angles: float) -> dict[str, Vector]:
    """Unit vectors at these angles in degrees, named a, b, c, …"""
    turned = np.deg2rad(angles)
    table = np.column_stack([np.cos(turned), np.sin(turned)]).astype(np.float32)
    return dict(zip("abcdefgh", table, strict=False))


def test_what_is_near_those_most_like_the_question_has_more_support_than_what_is_as_like_and_apart() -> None:
    # Given three memories of one kind that are like the question, a fourth of the kind, and others apart
    vectors = rows(0, 4, 8, 12, 80, 120, 160)
    likeness = {"a": 0.5, "b": 0.45, "c": 0.4, "d": 0.2, "e": 0.2, "f": 0.1, "g": 0.1}
    support = support_by_group(vectors, likeness)
    # Then the fourth is supported by the three, and what is as like and apart is not
    assert support["d"] > support["e"] > support["g"]


def test_a_memory_does_not_support_itself() -> None:
    alone = support_by_group(rows(0, 90, 90, 90, 90, 90), {"a": 0.9, **dict.fromkeys("bcdef", 0.1)})
    assert alone["a"] < 0.0


def test_nothing_is_said_of_few_of_equals_and_of_those_without_a_vector_or_likeness() -> None:
    likeness = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2, "e": 0.1, "f": 0.1}
    assert support_by_group(rows(0, 10, 20, 30), likeness) == {}
    assert support_by_group(rows(0, 0, 0, 0, 0), likeness) == {}
    assert support_by_group(rows(0, 10, 20, 30, 40), dict.fromkeys("abcde", 0.3)) == {}
    assert set(support_by_group(rows(0, 10, 20, 30, 40, 50, 60), likeness)) == set(likeness)
