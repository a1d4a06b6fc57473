"""What lies around a chunk: siblings, parent, children; nearest first and within a budget."""

import numpy as np
import pytest

from biem.domain.notes.library import NotePassage
from biem.notes.related_chunks import fitting, related


def passage(name: str, *headings: str, place: int = 0, tokens: int = 10) -> NotePassage:
    """A chunk under these headings, of levels 1, 2, 3."""
    return NotePassage(
        id=name,
        place=place,
        lines=(1, 2),
        headings=headings,
        levels=tuple(range(1, len(headings) + 1)),
        body=name,
        tokens=tokens,
    )


NOTE = [
    passage("preamble", "Lamp", place=0),
    passage("data", "Lamp", "Data", place=1),
    passage("story", "Lamp", "Story", place=2),
    passage("story, second piece", "Lamp", "Story", place=3),
    passage("first night", "Lamp", "Story", "First night", place=4),
    passage("last night", "Lamp", "Story", "Last night", place=5),
]


@pytest.mark.req("G40")
@pytest.mark.parametrize(
    ("name", "siblings", "parent", "children"),
    [
        ("story", ["data", "story, second piece"], ["preamble"], ["first night", "last night"]),
        ("first night", ["last night"], ["story", "story, second piece"], []),
        ("preamble", [], [], ["data", "story", "story, second piece"]),
    ],
)
def test_relations_of_a_chunk(name: str, siblings: list[str], parent: list[str], children: list[str]) -> None:
    chunk = next(one for one in NOTE if one.id == name)
    assert [one.id for one in related(chunk, NOTE, "siblings")] == siblings
    assert [one.id for one in related(chunk, NOTE, "parent")] == parent
    assert [one.id for one in related(chunk, NOTE, "children")] == children


@pytest.mark.req("G41")
def test_the_nearest_are_taken_whole_and_within_the_budget() -> None:
    chunks = [passage("near", tokens=60), passage("far", tokens=10), passage("huge", tokens=200), passage("unknown")]
    rows = {"near": (1.0, 0.0), "huge": (0.9, 0.1), "far": (0.0, 1.0)}
    vectors = {name: np.array(row, dtype=np.float32) for name, row in rows.items()}
    question = np.array([1.0, 0.0], dtype=np.float32)
    kept = fitting(chunks, vectors, question, budget_tokens=80, top_k=3)
    assert [one.id for one in kept] == ["near", "far", "unknown"]
    assert sum(one.tokens for one in kept) <= 80
    assert [one.id for one in fitting(chunks, vectors, question, budget_tokens=1_000, top_k=1)] == ["near"]
    assert fitting(chunks, vectors, question, budget_tokens=5, top_k=3) == []
