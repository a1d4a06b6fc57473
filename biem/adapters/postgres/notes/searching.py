"""What a search of notes reads."""

from collections.abc import Collection, Sequence

from biem.adapters.postgres.node_rows import vector_of
from biem.adapters.postgres.notes.reading import PostgresNoteRows
from biem.adapters.postgres.notes.rows import passage_of
from biem.adapters.postgres.records import tsquery
from biem.domain.scope import Scope
from biem.domain.scores import bm25
from biem.ports.notes import NotesSize, PoolChunk, StoredPassage

_MATCHING_ROWS = 500
_MATCHING_WORDS = 40
_ROWS_OF_A_WORD = 20


class PostgresNoteSearch(PostgresNoteRows):
    """Reads chunks, by words or by id."""

    def has_notes(self, scopes: Sequence[Scope]) -> bool:
        return bool(self._read(scopes, "note_has", {})[0].there)

    def matching(
        self, scopes: Sequence[Scope], lexemes: Sequence[str], libraries: Sequence[str] | None, limit: int
    ) -> dict[str, float]:
        if not lexemes:
            return {}
        wanted = {
            "words": tsquery(lexemes),
            "libraries": None if libraries is None else list(libraries),
            "most": _MATCHING_ROWS,
            "each": [tsquery([word]) for word in list(dict.fromkeys(lexemes))[:_MATCHING_WORDS]],
            "few": _ROWS_OF_A_WORD,
        }
        rows = self._read(scopes, "note_matching", wanted)
        scores = bm25(lexemes, {row.id: row.lexemes.split(" ") for row in rows})
        best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return {key: scores[key] for key in best}

    def pool(self, scopes: Sequence[Scope], ids: Sequence[str], known: Collection[str] = ()) -> list[PoolChunk]:
        wanted = {"ids": list(ids), "known": list(known), "model": self._model}
        rows = self._read(scopes, "note_pool", wanted, binary=True) if ids else []
        return [
            PoolChunk(
                id=row.id,
                note_id=row.note_id,
                library_id=row.library_id,
                ns=row.ns,
                place=row.place,
                at=row.at,
                tag_ids=tuple(row.tag_ids),
                tag_counts=tuple(row.tag_counts),
                note_tag_ids=tuple(row.note_tag_ids),
                note_tag_counts=tuple(row.note_tag_counts),
                vector=vector_of(row.vector),
            )
            for row in rows
        ]

    def passages(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, StoredPassage]:
        rows = self._read(scopes, "note_passages", {"ids": list(ids), "note": None}) if ids else []
        return {row.id: passage_of(row) for row in rows}

    def chunks_of(self, scopes: Sequence[Scope], note_id: str) -> list[StoredPassage]:
        return [passage_of(row) for row in self._read(scopes, "note_passages", {"ids": [], "note": note_id})]

    def sizes(self, scopes: Sequence[Scope]) -> dict[str, NotesSize]:
        return {
            row.ns: NotesSize(row.chunks, row.newest, row.oldest, row.unindexed)
            for row in self._read(scopes, "note_sizes", {})
        }
