"""Chunks of notes as a search finds them."""

from biem.domain.notes.library import Note, NoteHit, NotePassage
from biem.domain.scope import Scope


def hit(
    body: str, *, note: str = "n", place: int = 0, citation: str = "lamps/one.md:3 › Story", score: float = 0.9
) -> NoteHit:
    """A hit with this text."""
    chunk = NotePassage(
        id=f"{note}{place}", place=place, lines=(3, 4), headings=("Story",), levels=(2,), body=body, tokens=9
    )
    told = Note(id=note, scope=Scope(), library="l", root="/r", path="p", title="t")
    return NoteHit(chunk, told, score, {}, citation)
