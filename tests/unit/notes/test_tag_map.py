"""What ids of tags save: a chunk stores numbers, the tag map each name once."""

import pytest

from biem.domain.note import FileStat
from biem.notes.note_rows import drafted
from tests.unit.notes.reading import note

_ID_BYTES = 4
SECTIONS = 20


def sizes(chunks: int) -> tuple[int, int]:
    """Bytes of all tags and headings as ids with their map, and as names, of notes of one template."""
    body = "# Handbook of the equipment\n\n" + "".join(
        f"## Chapter {number} of the equipment handbook\n\nThe “maintenance interval {number}” is **scheduled**.\n\n"
        for number in range(SECTIONS)
    )
    names: dict[str, None] = {}
    ids = written = 0
    for number in range(chunks // SECTIONS):
        path = f"equipment/workshop {number % 10}/pumps and valves/handbook.md"
        draft = drafted(note(body, path), FileStat(path, 1, 1, 1), b"", lambda _: [], 100)
        assert len(draft.chunks) == SECTIONS
        names |= dict.fromkeys(tag.name for tag in draft.names)
        for chunk in draft.chunks:
            used = [*draft.tags, *chunk.tags, *chunk.chain]
            ids += _ID_BYTES * (len(chunk.tags) + len(chunk.chain))
            written += sum(len(name.encode()) for name in used)
        ids += _ID_BYTES * len(draft.tags)
    return ids + sum(len(name.encode()) + _ID_BYTES for name in names), written


@pytest.mark.req("G42", partly="an eighth, not a tenth")
def test_ids_of_tags_take_an_eighth_of_their_names_where_headings_repeat() -> None:
    stored, naive = sizes(10_000)
    assert stored <= 0.125 * naive
    stored, naive = sizes(1_000)
    assert stored <= 0.30 * naive
