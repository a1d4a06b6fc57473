"""Libraries, notes, chunks and tags in PostgreSQL."""

from biem.adapters.postgres.notes.erasing import PostgresNoteErasure
from biem.adapters.postgres.notes.files import PostgresNoteFiles
from biem.adapters.postgres.notes.indexing import PostgresNoteIndexing
from biem.adapters.postgres.notes.libraries import PostgresLibraries
from biem.adapters.postgres.notes.searching import PostgresNoteSearch
from biem.adapters.postgres.notes.tags import PostgresNoteTags


class PostgresNotes(
    PostgresLibraries,
    PostgresNoteFiles,
    PostgresNoteIndexing,
    PostgresNoteSearch,
    PostgresNoteTags,
    PostgresNoteErasure,
):
    """The port `NoteRecords`. The database is shared with other adapters."""
