"""Rows of libraries, notes and chunks, from and to the objects of the port."""

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import Row
from biem.adapters.postgres.node_rows import scope_of
from biem.domain.note import FileStat
from biem.domain.notes.library import Library, Note, NotePassage
from biem.ports.notes.records import ChunkDraft, NoteDraft, NoteLease, StoredPassage


def library_key(library: Library) -> dict[str, Any]:
    return {"ns": library.scope.ns, "library": library.id}


def lease_row(leases: Sequence[NoteLease]) -> dict[str, Any]:
    return {"ids": [lease.note_id for lease in leases], "claims": [lease.claims for lease in leases]}


def short_reason(text: str) -> str:
    return text[:2000].replace("\0", " ")


def library_of(row: Row) -> Library:
    return Library(
        id=row.id,
        scope=scope_of(row),
        name=row.name,
        root=row.root,
        host=row.host,
        exclude=tuple(row.exclude),
        state=row.state,
        scanned_at=row.scanned_at,
        full_at=row.full_at,
        report=row.report,
        watched_at=row.watched_at,
    )


def stat_row(stat: FileStat) -> dict[str, Any]:
    return {"path": stat.path, "bytes": stat.size, "mtime_ns": stat.mtime_ns, "inode": stat.inode}


def note_row(library: Library, draft: NoteDraft, ids: Mapping[str, int]) -> dict[str, Any]:
    return {
        **library_key(library),
        **stat_row(draft.stat),
        "id": draft.id,
        "title": draft.title,
        "sha256": draft.sha256,
        "encoding": draft.encoding,
        "front": Jsonb(dict(draft.front)),
        "at": draft.at,
        "tag_ids": [ids[name] for name in draft.tags],
        "tag_counts": list(draft.tag_counts),
    }


def place_row(chunk: ChunkDraft) -> dict[str, Any]:
    return {
        "place": chunk.place,
        "key": chunk.key.hex(),
        "line_start": chunk.lines[0],
        "line_end": chunk.lines[1],
    }


def chunk_row(chunk: ChunkDraft, ids: Mapping[str, int]) -> dict[str, Any]:
    return {
        **place_row(chunk),
        "id": chunk.id,
        "depth": chunk.levels[-1] if chunk.levels else 0,
        "chain": [ids[name] for name in chunk.chain],
        "levels": list(chunk.levels),
        "body": chunk.body,
        "body_sha": chunk.body_sha.hex(),
        "lexemes": chunk.lexemes,
        "tokens": chunk.tokens,
        "tag_ids": [ids[name] for name in chunk.tags],
        "tag_counts": list(chunk.tag_counts),
    }


def note_of(row: Row, note_id: str) -> Note:
    return Note(
        id=note_id,
        scope=scope_of(row),
        library=row.library,
        root=row.root,
        path=row.path,
        title=row.title,
        at=row.at,
        state=row.state,
        reason=row.reason,
        bytes=row.bytes,
        tags=tuple(row.note_tags),
    )


def passage_of(row: Row) -> StoredPassage:
    chunk = NotePassage(
        id=row.id,
        place=row.place,
        lines=(row.line_start, row.line_end),
        headings=tuple(row.headings),
        levels=tuple(row.levels),
        body=row.body,
        tokens=row.tokens,
        tags=tuple(row.tags),
    )
    return StoredPassage(chunk, note_of(row, row.note_id))
