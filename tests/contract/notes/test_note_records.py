"""What the port `NoteRecords` promises, on a real PostgreSQL."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.notes import PostgresNotes
from biem.domain.node import new_id
from biem.domain.note import FileStat, StoredChunks
from biem.domain.notes.library import Library
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.errors import InvalidInput, NotFound
from biem.ports.notes.records import ChunkDraft, NamedTags, NoteDraft, StoredChunksChanged, TaggedNotes, TagName
from tests.contract.conftest import MODEL, Admin, in_scope, unit
from tests.support.fakes import HeldClock

DAY = datetime(2026, 3, 14, tzinfo=UTC)


@pytest.fixture
def notes(pool: Database, admin: Admin) -> Iterator[PostgresNotes]:
    """The adapter, and no notes of other tests: leases know no scopes."""
    admin.execute("DELETE FROM note_libraries")
    admin.execute("DELETE FROM tags")
    yield PostgresNotes(pool, clock=HeldClock(), decay_per_hour=0.1, model=MODEL)
    admin.execute("DELETE FROM note_libraries")
    admin.execute("DELETE FROM tags")


@pytest.fixture
def library(notes: PostgresNotes, scope: Scope) -> Library:
    """A library of the scope."""
    return notes.add_library(Library(id=new_id(), scope=scope, name="lib", root="/notes", host="here"))


def chunk(text: str, place: int = 0, tags: tuple[str, ...] = (), headings: tuple[str, ...] = ()) -> ChunkDraft:
    """A chunk with this body, known by it."""
    return ChunkDraft(
        id=new_id(),
        key=sha256(text),
        place=place,
        lines=(place + 1, place + 1),
        chain=headings,
        levels=tuple(range(1, len(headings) + 1)),
        body=text,
        body_sha=sha256(text),
        lexemes=" ".join(text.lower().split()),
        tokens=len(text) // 4,
        tags=tags,
        tag_counts=(0, len(tags), 0, 0, 0),
    )


def draft(path: str, *chunks: ChunkDraft, tags: tuple[str, ...] = (), content: str = "", **more: Any) -> NoteDraft:
    """A file with these chunks."""
    named = dict.fromkeys([*tags, *(name for one in chunks for name in (*one.tags, *one.chain))])
    return NoteDraft(
        id=new_id(),
        stat=FileStat(path, 10, 20, 30),
        sha256=sha256(content or path),
        title=path,
        encoding="utf-8",
        front={},
        at=more.get("at"),
        tags=tags,
        tag_counts=(len(tags), 0, 0, 0, 0),
        names=tuple(TagName(name, name.title()) for name in named),
        chunks=chunks,
        gone=more.get("gone"),
    )


def id_of(notes: PostgresNotes, scope: Scope, path: str = "a.md") -> str:
    """The id of the note of this path."""
    [note] = notes.notes_at([scope], path)
    return note.id


def test_files_of_one_name_are_known_by_their_paths(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    for path in ("a.md", "x/a.md", "x/b.md", "a.md/c.md"):
        notes.put(library, draft(path, chunk(path)))
    assert sorted(notes.alike([scope])) == ["a.md", "x/a.md"]
    assert notes.alike([Scope(user=uuid.uuid4().hex)]) == []


def test_a_folder_is_registered_once(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    again = Library(id=new_id(), scope=scope, name="lib", root="/notes", host="here")
    assert notes.add_library(again) == library
    for name, root in (("lib", "/elsewhere"), ("other", "/notes")):
        with pytest.raises(InvalidInput):
            notes.add_library(Library(id=new_id(), scope=scope, name=name, root=root, host="here"))
    assert notes.libraries([scope]) == [library]
    assert notes.has_notes([scope])
    # And not of another scope
    other = Scope(user=uuid.uuid4().hex)
    assert notes.libraries([other]) == []
    assert not notes.has_notes([other])


@pytest.fixture
def slow_rows(admin: Admin) -> Iterator[None]:
    """Each statement that stores chunks takes six tenths of a second.

    One pause a statement: of pauses for each row, each would end late on a busy machine, and their sum reach the limit.
    """
    admin.execute(
        "CREATE FUNCTION slow_rows() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN PERFORM pg_sleep(0.6); RETURN NULL; END'"
    )
    admin.execute(
        "CREATE TRIGGER slow_rows BEFORE INSERT ON note_chunks FOR EACH STATEMENT EXECUTE FUNCTION slow_rows()"
    )
    yield
    admin.execute("DROP TRIGGER slow_rows ON note_chunks")
    admin.execute("DROP FUNCTION slow_rows")


@pytest.mark.req("G36", partly="a large file on a slow server")
@pytest.mark.usefixtures("slow_rows")
def test_a_note_of_many_chunks_may_take_longer_than_a_statement(
    notes: PostgresNotes, library: Library, database: str
) -> None:
    # Given a server that stores a thousand chunks in three seconds, and a limit of two for each statement
    many = draft("a.md", *(chunk(f"word {place}", place) for place in range(1_000)))
    with closing(Database(database, pool_size=2, retry_s=0.0, limit_s=2.0)) as limited:
        slow = PostgresNotes(limited, clock=HeldClock(), decay_per_hour=0.1, model=MODEL)

        # When the note is stored, and stored again
        first, second = slow.put(library, many), slow.put(library, many)

    # Then all of it is there
    assert (first.added, first.kept, first.removed) == (1_000, 0, ())
    assert (second.added, second.kept, second.removed) == (0, 1_000, ())
    assert notes.stats(library).chunks == 1_000


@pytest.mark.req("G36")
def test_chunks_of_the_same_key_stay_and_others_go(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    first = notes.put(library, draft("a.md", chunk("one"), chunk("two", 1)))
    assert (first.added, first.kept, first.removed) == (2, 0, ())
    note = id_of(notes, scope)
    before = {found.chunk.body: found.chunk for found in notes.chunks_of([scope], note)}
    # When a chunk is put before them and another one is gone
    second = notes.put(library, draft("a.md", chunk("new"), chunk("one", 1, tags=("lamp",))))
    assert (second.added, second.kept, second.removed) == (1, 1, (before["two"].id,))
    after = [found.chunk for found in notes.chunks_of([scope], note)]
    assert [one.body for one in after] == ["new", "one"]
    # Then the one that stayed has its id, and its new place and tags
    assert (after[1].id, after[1].place, after[1].tags) == (before["one"].id, 1, ("Lamp",))


def test_a_chunk_that_is_kept_needs_only_its_place(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("lamp",)), chunk("two", 1), tags=("folder",)))
    stored = notes.stored_chunks(library, "a.md")
    places = {sha256("one"): (0, 1, 1), sha256("two"): (1, 2, 2)}
    assert stored == StoredChunks(places, ("folder",), (1, 0, 0, 0, 0))
    assert notes.stored_chunks(library, "b.md") is None
    kept = replace(
        chunk("one", 1),
        kept=True,
        moved=True,
        body="",
        body_sha=b"",
        lexemes="",
        chain=(),
        levels=(),
        tags=(),
        tag_counts=(),
    )
    # When one chunk is kept behind a new one / Then it is as it was, at its new place
    gone = (sha256("two"),)
    change = notes.put(library, draft("a.md", chunk("new"), kept, tags=("folder",), gone=gone))
    assert (change.added, change.kept, len(change.removed)) == (1, 1, 1)
    note = id_of(notes, scope)
    after = [found.chunk for found in notes.chunks_of([scope], note)]
    assert [(one.body, one.place, one.tags) for one in after] == [("new", 0, ()), ("one", 1, ("Lamp",))]
    # And one that has not moved stays where it is
    notes.put(library, draft("a.md", chunk("new"), replace(kept, moved=False), tags=("folder",), gone=()))
    assert [(one.chunk.body, one.chunk.place) for one in notes.chunks_of([scope], note)] == [("new", 0), ("one", 1)]
    # And where one to keep is gone, or one more is there, nothing is stored
    for other in (replace(kept, key=sha256("two"), place=0), replace(kept, place=0)):
        with pytest.raises(StoredChunksChanged):
            notes.put(library, draft("a.md", other, content="later", gone=()))
    assert [found.chunk.body for found in notes.chunks_of([scope], note)] == ["new", "one"]
    notes.skip(library, FileStat("a.md", 1, 2, 3), "too large")
    assert notes.stored_chunks(library, "a.md") is None


def test_what_was_removed_leaves_a_tombstone(
    notes: PostgresNotes, library: Library, scope: Scope, admin: Admin
) -> None:
    notes.put(library, draft("a.md", chunk("one")))
    removed = notes.put(library, draft("a.md", chunk("two"))).removed
    removed += notes.delete(library, ["a.md"])
    rows = admin.execute("SELECT memory_id::text FROM tombstones WHERE ns = %s", (scope.ns,)).fetchall()
    assert {key for (key,) in rows} == set(removed)
    assert len(removed) == 2
    assert notes.files(library) == {}


def test_a_moved_file_keeps_note_and_chunks(notes: PostgresNotes, library: Library) -> None:
    notes.put(library, draft("old/a.md", chunk("one"), tags=("old",), content="same"))
    before = id_of(notes, library.scope)
    change = notes.put(library, draft("new/a.md", chunk("one"), tags=("new",), content="same"), "old/a.md")
    assert (change.added, change.kept, change.removed) == (0, 1, ())
    assert list(notes.files(library)) == ["new/a.md"]
    assert id_of(notes, library.scope) == before
    assert notes.notes_at([library.scope], "a.md")[0].tags == ("New",)


def test_a_removed_library_takes_no_file(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    notes.put(library, draft("a.md", chunk("one")))
    erased = notes.remove_library(library)
    assert len(erased.chunks) == 1
    with pytest.raises(NotFound):
        notes.put(library, draft("b.md", chunk("two")))
    assert notes.skip(library, FileStat("c.md", 1, 1, 1), "why") == ()
    assert notes.remains(scope) == {"note_libraries": 0, "notes": 0, "note_chunks": 0, "tags": 0, "note_verdicts": 0}


def test_a_skipped_file_loses_its_chunks_and_says_why(notes: PostgresNotes, library: Library) -> None:
    notes.put(library, draft("a.md", chunk("one"), tags=("lamp",), at=datetime(2026, 1, 2, tzinfo=UTC)))
    assert len(notes.skip(library, FileStat("a.md", 9, 9, 9), "it is binary")) == 1
    [note] = notes.notes_at([library.scope], "a.md")
    assert (note.title, note.at, note.tags) == ("", None, ())
    known = notes.files(library)["a.md"]
    assert (known.skipped, known.sha256, known.stat.size) == (True, b"", 9)
    assert notes.stats(library).troubled == (("a.md", "it is binary"),)
    # And it can become a note again
    notes.put(library, draft("a.md", chunk("two")))
    assert not notes.files(library)["a.md"].skipped


def test_only_what_is_pending_is_leased_and_only_once(notes: PostgresNotes, library: Library) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("lamp",))))
    notes.put(library, draft("b.md", chunk("two")))
    leases = notes.claim(10, 60.0, retried=False)
    assert len(leases) == 2
    assert notes.claim(10, 60.0, retried=False) == []
    chunks, tags = notes.pending(leases)
    assert sorted(one.body for one in chunks) == ["one", "two"]
    assert [tag.shown for tag in tags] == ["Lamp"]
    # When they are indexed, nothing is pending
    assert notes.complete([*(one.id for one in chunks), new_id()], [tag.id for tag in tags]) != []
    notes.finish(leases)
    assert notes.backlog([library.scope]) == 0
    assert notes.pending(leases) == ([], [])


def test_a_file_that_changes_while_it_is_indexed_stays_pending(notes: PostgresNotes, library: Library) -> None:
    notes.put(library, draft("a.md", chunk("one")))
    leases = notes.claim(10, 60.0, retried=False)
    [old], _ = notes.pending(leases)
    notes.put(library, draft("a.md", chunk("two")))
    # The chunk that went is reported, and the lease ends nothing
    assert notes.complete([old.id], []) == [old.id]
    notes.finish(leases)
    notes.fail(leases, "late")
    assert notes.backlog([library.scope]) == 1
    [again] = notes.claim(10, 60.0, retried=False)
    assert [one.body for one in notes.pending([again])[0]] == ["two"]


def test_a_failed_note_is_tried_again_alone(notes: PostgresNotes, library: Library) -> None:
    notes.put(library, draft("a.md", chunk("one")))
    notes.put(library, draft("b.md", chunk("two")))
    leases = notes.claim(10, 60.0, retried=False)
    notes.release(leases, 0.0, "both", refund=False)
    assert notes.claim(10, 60.0, retried=False) == []
    [alone] = notes.claim(10, 60.0, retried=True)
    assert alone.attempts == 2
    notes.fail([alone], "no way")
    assert len(notes.failed(10)) == 1
    # An outage counts as no attempt
    [other] = notes.claim(10, 60.0, retried=True)
    notes.release([other], 0.0, "down", refund=True)
    [other] = notes.claim(10, 60.0, retried=True)
    assert other.attempts == 2


def test_words_are_found_in_readable_scopes_only(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    notes.put(library, draft("a.md", chunk("a brass lamp"), chunk("a wooden table", 1)))
    other = Scope(user=uuid.uuid4().hex)
    theirs = notes.add_library(Library(id=new_id(), scope=other, name="lib", root="/notes", host="here"))
    notes.put(theirs, draft("a.md", chunk("their brass lamp")))
    found = notes.matching([scope], ["brass", "lamp"], None, 10)
    assert [one.chunk.body for one in notes.passages([scope], list(found)).values()] == ["a brass lamp"]
    assert notes.matching([scope], ["brass"], [theirs.id], 10) == {}
    assert notes.passages([other], list(found)) == {}
    assert notes.pool([other], list(found)) == []


def test_only_chunks_that_the_index_lacks_are_sought_on_demand(
    notes: PostgresNotes, library: Library, scope: Scope
) -> None:
    # Given a chunk in the index, and others: added to its note since, of a note given up, of another scope
    notes.put(library, draft("a.md", chunk("an indexed lamp")))
    notes.complete(list(notes.matching([scope], ["lamp"], None, 10)), ())
    notes.put(library, draft("a.md", chunk("an indexed lamp"), chunk("a new lamp", 1), content="again"))
    notes.put(library, draft("b.md", chunk("a lamp given up"), chunk("a table", 1)))
    notes.fail(notes.claim(10, 60.0, retried=False), "no way")
    other = Scope(user=uuid.uuid4().hex)
    theirs = notes.add_library(Library(id=new_id(), scope=other, name="lib", root="/notes", host="here"))
    notes.put(theirs, draft("a.md", chunk("their lamp")))
    # When the words are sought among what the index lacks / Then that is found, and nothing else
    found = notes.matching([scope], ["lamp"], None, 10, unindexed=True)
    bodies = {one.chunk.body for one in notes.passages([scope, other], list(found)).values()}
    assert bodies == {"a new lamp", "a lamp given up"}
    assert notes.matching([scope], ["lamp"], [theirs.id], 10, unindexed=True) == {}


@pytest.mark.parametrize("unindexed", [False, True])
def test_a_rare_word_is_found_among_many_chunks_of_common_ones(
    notes: PostgresNotes, library: Library, scope: Scope, *, unindexed: bool
) -> None:
    # Given more chunks with the common words of a query than are looked at, and one with its rare word
    many = [chunk(f"which file is in the old case {number}", number) for number in range(600)]
    notes.put(library, draft("many.md", *many, chunk("a long text about the astrolabe of a captain", 600)))
    # When the index cannot answer / Then that one is found all the same, and is the best
    asked = ["which", "file", "is", "in", "the", "old", "astrolabe"]
    found = notes.matching([scope], asked, None, 10, unindexed=unindexed)
    best = max(found, key=lambda key: found[key])
    assert notes.passages([scope], [best])[best].chunk.body.endswith("astrolabe of a captain")


@pytest.mark.req("G42", partly="ids only")
def test_the_pool_has_ids_of_tags_and_keys_of_vectors(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("lamp", "brass")), tags=("weapons",), at=DAY))
    notes.save_vectors({sha256("one"): unit(1, 0), sha256("nobody has this"): unit(0, 1)})
    loaded = notes.load_vectors([sha256("one"), sha256("nobody has this")])
    assert loaded.keys() == {sha256("one")}
    [one] = notes.pool([scope], list(notes.matching([scope], ["one"], None, 5)))
    assert (one.tag_counts, one.note_tag_counts, one.at) == ((0, 2, 0, 0, 0), (1, 0, 0, 0, 0), DAY)
    assert np.allclose(loaded[one.sha], unit(1, 0))
    infos = notes.tags([scope], [*one.tag_ids, *one.note_tag_ids])
    assert [infos[key].shown for key in one.tag_ids] == ["Lamp", "Brass"]
    assert notes.tags([Scope(user="nobody")], list(infos)) == {}


def test_each_chunk_of_the_pool_names_the_terms_that_it_has(
    notes: PostgresNotes, library: Library, scope: Scope
) -> None:
    notes.put(library, draft("a.md", chunk("brass lamp"), chunk("c++ it's a lamp", 1), chunk("nothing", 2)))
    ids = list(notes.matching([scope], ["lamp", "nothing"], None, 5))
    pool = notes.pool([scope], ids, terms=["lamp", "c++", "it's", "absent", "brass"])
    assert sorted(one.asked for one in pool) == [(), (0, 1, 2), (0, 4)]
    assert {one.asked for one in notes.pool([scope], ids)} == {()}


@pytest.mark.req("G43")
def test_a_renamed_tag_stands_for_another(notes: PostgresNotes, library: Library, scope: Scope, admin: Admin) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("hall master",))))
    before = admin.execute("SELECT xmin, id FROM note_chunks WHERE ns = %s", (scope.ns,)).fetchall()
    target = notes.rename_tag(scope, "hall master", TagName("hu tao", "Hu Tao"))
    found = notes.named([scope], ["hall master"])
    [old] = found.ids
    assert notes.tags([scope], [old])[old].root_shown == "Hu Tao"
    assert notes.tagged([scope], [target], 10) == [id_of(notes, scope)]
    # What was renamed is told with the names of each question, also with none of them, and to nobody else
    assert found.aliases == {old: target}
    assert notes.named([scope], []) == NamedTags((), {old: target})
    assert notes.named([Scope(user="nobody")], ["hall master"]) == NamedTags()
    # No row of a chunk was written, and the new tag is to be embedded
    assert admin.execute("SELECT xmin, id FROM note_chunks WHERE ns = %s", (scope.ns,)).fetchall() == before
    assert [tag.shown for tag in notes.pending([])[1]] == ["Hu Tao"]
    # Renamed back, neither stands for itself in a circle
    notes.rename_tag(scope, "hu tao", TagName("hall master", "Hall Master"))
    assert notes.tags([scope], [target])[target].root == old
    assert notes.tags([scope], [old])[old].root == old
    assert notes.restore_tag(scope, "hu tao")
    assert not notes.restore_tag(scope, "hu tao")
    with pytest.raises(NotFound):
        notes.rename_tag(scope, "unknown", TagName("x", "X"))


def test_notes_of_a_tag_have_their_chunks_with_them_unless_these_are_many(
    notes: PostgresNotes, library: Library, scope: Scope
) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("lamp",)), chunk("two", 1)))
    notes.put(library, draft("b.md", chunk("three")))
    tags = notes.named([scope], ["lamp"]).ids
    found = notes.tagged_chunks([scope], tags, 10, 2)
    assert found.notes == notes.tagged([scope], tags, 10)
    assert sorted(found.chunks.values()) == sorted([sha256("one"), sha256("two")])
    assert {one.id for one in notes.pool([scope], list(found.chunks))} == found.chunks.keys()
    # Of more chunks, none is returned; nor any of another scope, nor without a tag
    assert notes.tagged_chunks([scope], tags, 10, 1) == TaggedNotes(found.notes)
    assert notes.tagged_chunks([Scope(user="nobody")], tags, 10, 2) == TaggedNotes([])
    assert notes.tagged_chunks([scope], [], 10, 2) == TaggedNotes()
    # And a tag that another stands for leads to the same notes
    target = notes.rename_tag(scope, "lamp", TagName("lantern", "Lantern"))
    assert notes.tagged_chunks([scope], [target], 10, 2) == found


def test_an_erasure_leaves_vectors_that_others_have(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    other = Scope(user=uuid.uuid4().hex)
    # Given texts that no other test wrote: a row of any scope keeps the vector of its text
    shared, mine = uuid.uuid4().hex, uuid.uuid4().hex
    theirs = notes.add_library(Library(id=new_id(), scope=other, name="lib", root="/notes", host="here"))
    notes.put(library, draft("a.md", chunk(shared), chunk(mine, 1, tags=("secret",))))
    notes.put(theirs, draft("a.md", chunk(shared)))
    keys = [sha256(shared), sha256(mine), sha256("Secret")]
    notes.save_vectors(dict.fromkeys(keys, unit(1, 0)))
    erased = notes.erase_scope(scope)
    assert (len(erased.chunks), len(erased.tags)) == (2, 1)
    assert dict(erased.before) == {"note_libraries": 1, "notes": 1, "note_chunks": 2, "tags": 1, "note_verdicts": 0}
    assert set(notes.load_vectors(keys)) == {sha256(shared)}
    assert set(notes.remains(scope).values()) == {0}
    assert notes.remains(other)["note_chunks"] == 1


def test_one_note_is_erased_and_the_others_stay(
    notes: PostgresNotes, library: Library, scope: Scope, admin: Admin
) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("both", "only a"))))
    notes.put(library, draft("b.md", chunk("two", tags=("both",))))
    erased = notes.erase_note(library, "a.md")
    assert (len(erased.chunks), len(erased.tags)) == (1, 1)
    assert list(notes.files(library)) == ["b.md"]
    assert in_scope(admin, "tags", scope) == 1


def test_uses_of_tags_are_counted_after_a_scan(notes: PostgresNotes, library: Library, scope: Scope) -> None:
    notes.put(library, draft("a.md", chunk("one", tags=("lamp",)), chunk("two", 1), tags=("weapons",)))
    notes.scanned(library, {"new": 1}, DAY, full=True)
    notes.count_tags(library)
    assert [(tag.shown, tag.uses) for tag in notes.tag_list(scope, "", 10)] == [("Weapons", 2), ("Lamp", 1)]
    assert [tag.shown for tag in notes.tag_list(scope, "la", 10)] == ["Lamp"]
    [known] = notes.libraries([scope])
    assert (known.scanned_at, known.full_at, known.report) == (DAY, DAY, {"new": 1})
    assert notes.chunk_counts([scope]) == {scope.ns: 2}


def test_lost_rows_and_other_models_are_indexed_again(
    notes: PostgresNotes, library: Library, pool: Database, admin: Admin
) -> None:
    notes.put(library, draft("a.md", chunk("one")))
    leases = notes.claim(10, 60.0, retried=False)
    [only], _ = notes.pending(leases)
    notes.complete([only.id], [])
    notes.finish(leases)
    assert notes.indexed("", 10) == [only.id]
    assert notes.existing([only.id, new_id()]) == {only.id}
    # Another model has indexed nothing, and takes over only where it is in force
    later = PostgresNotes(pool, clock=HeldClock(), decay_per_hour=0.1, model="another-model")
    assert [one.id for one in later.unmoved("", 10)] == [only.id]
    assert later.withdraw(10) == 0
    assert notes.index_again([only.id]) == 1
    assert notes.backlog() == 1
    assert notes.forget_index() == 0
    assert notes.overdue(600.0) == 0
    admin.execute("UPDATE notes SET due_at = now() - interval '1 hour'")
    assert notes.overdue(600.0) == 1


def test_what_there_is_to_search_is_known_by_scope(
    notes: PostgresNotes, library: Library, scope: Scope, pool: Database
) -> None:
    assert (notes.sizes([scope]), notes.chunk_counts([scope])) == ({}, {})
    notes.put(library, draft("a.md", chunk("one"), at=DAY))
    first = notes.sizes([scope])[scope.ns]
    assert (first.newest, first.oldest, first.unindexed) == (DAY, DAY, True)
    notes.put(library, draft("b.md", chunk("two"), chunk("three", 1)))
    second = notes.sizes([scope])[scope.ns]
    assert second.newest_chunk is not None
    assert first.newest_chunk is not None
    assert second.newest_chunk > first.newest_chunk
    assert notes.chunk_counts([scope]) == {scope.ns: 3}
    # Where all are indexed or given up, the index lacks those that were given up
    notes.fail(notes.claim(10, 60.0, retried=False), "a trial")
    assert notes.sizes([scope])[scope.ns].unindexed
    with pool.connection() as connection, connection.transaction():
        connection.execute("SELECT set_config('biem.ns', '*', true)")
        connection.execute("UPDATE notes SET state = 'indexed'")
    assert not notes.sizes([scope])[scope.ns].unindexed
