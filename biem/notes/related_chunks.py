"""More of a note around a chunk: its siblings, the overview above it, what lies below it."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from biem.domain.notes.library import NotePassage
from biem.ports import Vector

Relation = Literal["siblings", "parent", "children"]
RELATIONS: tuple[str, ...] = get_args(Relation)


def related(chunk: NotePassage, others: Sequence[NotePassage], relation: Relation) -> list[NotePassage]:
    """Chunks of the same note in this relation, in their order.

    Siblings have the same heading above them, or are pieces of the same section; the parent is the text directly below
    the heading above; children have one heading more.
    """
    own = _key(chunk)
    found = []
    for other in others:
        key = _key(other)
        if other.id == chunk.id:
            continue
        if relation == "parent":
            match = bool(own) and key == own[:-1]
        elif relation == "children":
            match = len(key) == len(own) + 1 and key[:-1] == own
        else:
            match = key == own or (bool(own) and len(key) == len(own) and key[:-1] == own[:-1])
        if match:
            found.append(other)
    return found


def fitting(
    chunks: Sequence[NotePassage],
    vectors: Mapping[str, Vector],
    question: Vector | None,
    *,
    budget_tokens: int,
    top_k: int,
) -> list[NotePassage]:
    """At most `top_k` of the chunks, nearest to the question first, whole ones only and within the budget.

    Those without a vector come last, in their order.
    """

    def nearness(chunk: NotePassage) -> float:
        vector = vectors.get(chunk.id)
        return (
            -1.0 if vector is None or question is None or vector.shape != question.shape else float(vector @ question)
        )

    left, kept = budget_tokens, list[NotePassage]()
    for chunk in sorted(chunks, key=lambda each: (-nearness(each), each.place)):
        if len(kept) < top_k and chunk.tokens <= left:
            kept.append(chunk)
            left -= chunk.tokens
    return kept


def _key(chunk: NotePassage) -> tuple[tuple[int, str], ...]:
    return tuple(zip(chunk.levels, chunk.headings, strict=True))
