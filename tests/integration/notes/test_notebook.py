"""Libraries of one memory on real servers: from files to answers, and back out again."""

import shutil
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.domain.notes.library import EXCERPT_CHARS
from biem.domain.policies.jobs import SleepPolicy
from biem.domain.policies.notes import LibraryPolicy
from biem.errors import InvalidInput, NotFound
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure


@pytest.fixture
def synced(memory: biem.Memory, vault: Path) -> biem.Memory:
    """The memory with the folder as its library."""
    memory.notes.add(vault, name="vault")
    memory.notes.sync()
    return memory


def test_a_folder_is_added_synced_and_searched(memory: biem.Memory, vault: Path) -> None:
    assert memory.notes.search("荒原上的孤灯") == []
    library = memory.notes.add(vault, name="vault")
    assert memory.notes.add(vault, name="vault") == library
    # When it is synced
    report = memory.notes.sync()
    # Then every file was read, cut and indexed
    [scan] = report.libraries
    assert (scan.files, scan.new, scan.chunks_added, report.pending) == (2, 2, 5, 0)
    # And a chunk is found by its content, with a citation that opens at its line
    hits = memory.notes.search("荒原上的孤灯")
    assert hits[0].note.path == "武器/法器/乌髓孑灯.md"
    assert hits[0].chunk.headings == ("乌髓孑灯", "武器故事")
    line = int(hits[0].citation.split(":")[1].split(" ")[0])
    assert "荒原" in (vault / hits[0].note.path).read_text("utf-8").splitlines()[line - 1]
    assert not hits.degraded


def test_the_citation_of_a_hit_opens_its_file_and_no_other_of_that_name(memory: biem.Memory, vault: Path) -> None:
    # Given three files of one name, of which the path of one ends in that of another
    for folder, text in (("api", "Storks nest."), ("docs", "Herons fish."), ("guide/docs", "Owls hunt.")):
        (vault / folder).mkdir(parents=True, exist_ok=True)
        (vault / folder / "themes.md").write_text(text, encoding="utf-8")
    memory.notes.add(vault, name="vault")
    memory.notes.sync()
    for query in ("storks nest", "herons fish", "owls hunt"):
        # When its citation is followed
        hit = memory.notes.search(query)[0]
        # Then it opens this file, also of a short text, whose citation is short
        assert memory.notes.get(hit.citation.partition(":")[0]).note.path == hit.note.path


def test_an_excerpt_of_a_hit_is_what_answers_the_query(memory: biem.Memory, vault: Path) -> None:
    # Given a table whose last row answers
    rows = [f"| `depot part{number}` | lists the parts of shelf {number} |" for number in range(9)]
    head, last = ["# Depot", "", "| command | what it does |", "| --- | --- |"], "| `depot ledger` | 打印账本 |"
    table = "\n".join([*head, *rows, last])
    (vault / "depot.md").write_text(table + "\n", encoding="utf-8")
    memory.notes.add(vault, name="vault")
    memory.notes.sync()
    hit = next(hit for hit in memory.notes.search("打印账本") if hit.note.path == "depot.md")
    # Then its row is in the excerpt, which is short; where no word is shared, that is the beginning of the chunk
    assert "depot ledger" in hit.excerpt
    assert len(hit.excerpt) <= EXCERPT_CHARS < len(hit.chunk.body)
    other = next(hit for hit in memory.notes.search("weather", top_k=20) if hit.note.path == "depot.md")
    assert other.excerpt.endswith("...")
    assert other.chunk.body.startswith(other.excerpt.removesuffix("..."))
    assert len(other.excerpt) <= EXCERPT_CHARS


def test_what_front_matter_says_of_a_note_is_found_and_cited(memory: biem.Memory, vault: Path) -> None:
    (vault / "ferry.md").write_text(
        "---\ntitle: Ferries\ntags: [sea]\ndescription: Timetables of the archipelago\n---\nThey leave at noon.\n",
        encoding="utf-8",
    )
    memory.notes.add(vault)
    memory.notes.sync()
    [hit] = memory.notes.search("archipelago timetables", top_k=1)
    assert (hit.chunk.body, hit.chunk.headings) == ("Timetables of the archipelago", ("Ferries",))
    assert hit.citation == "ferry.md:4 › Ferries"
    assert "> Timetables of the archipelago" in memory.context("archipelago timetables").text
    # And it follows the file: another text, another line, none
    ids = [chunk.id for chunk in memory.notes.get("ferry.md").chunks]
    path = vault / "ferry.md"
    path.write_text(path.read_text("utf-8").replace("tags: [sea]\n", ""), encoding="utf-8")
    memory.notes.sync()
    first, rest = memory.notes.get("ferry.md").chunks
    assert (first.lines, rest.lines, rest.id) == ((3, 3), (5, 5), ids[1])
    path.write_text("---\ntitle: Ferries\n---\nThey leave at noon.\n", encoding="utf-8")
    memory.notes.sync()
    assert [chunk.body for chunk in memory.notes.get("ferry.md").chunks] == ["They leave at noon."]


def test_the_text_of_a_box_gives_tags(memory: biem.Memory, vault: Path) -> None:
    (vault / "ferry.md").write_text(
        '# Ferries\n\n!!! warning "Storm"\n\n    Call the **harbour office** of “Port Blue”.\n', encoding="utf-8"
    )
    memory.notes.add(vault)
    memory.notes.sync()
    [hit] = memory.notes.search("storm harbour office", top_k=1)
    assert {"harbour office", "Port Blue"} <= set(hit.chunk.tags)


def test_a_second_sync_reads_and_embeds_nothing(synced: biem.Memory, embedder: WordEmbedder) -> None:
    synced.notes.sync()  # files written within two seconds of a scan are read again
    embedded = len(embedder.calls)
    [scan] = synced.notes.sync().libraries
    assert (scan.unchanged, scan.new, scan.changed, scan.chunks_added) == (2, 0, 0, 0)
    assert len(embedder.calls) == embedded


def test_every_scan_counts_the_files_that_the_statistics_count(memory: biem.Memory, vault: Path) -> None:
    # Given notes, files that cannot be searched, and a link that is not followed
    (vault / "empty.md").touch()
    (vault / "blob.md").write_bytes(b"\x00\x01\x02" * 50)
    (vault / "link.md").symlink_to("/etc/hostname")
    memory.notes.add(vault, name="vault")

    # When they are scanned for the first time, again, in full, and after one of them became a note
    for full in (False, False, True):
        [scan] = memory.notes.sync(full=full).libraries
        [stats] = memory.notes.stats()
        # Then all that is there is counted, and what is skipped is so each time
        assert (scan.files, scan.skipped) == (5, 3)
        assert stats.files == {"indexed": 2, "skipped": 3, "pending": 0, "failed": 0}
    (vault / "empty.md").write_text("# Tide\n\nHigh water at noon.\n", encoding="utf-8")
    [scan] = memory.notes.sync().libraries
    assert (scan.files, scan.changed, scan.unchanged, scan.skipped) == (5, 1, 2, 2)


def test_an_edit_embeds_what_it_changed(synced: biem.Memory, vault: Path, embedder: WordEmbedder) -> None:
    path = vault / "plans" / "lisbon.md"
    before = {chunk.headings: chunk.id for chunk in synced.notes.get("lisbon.md").chunks}
    path.write_text("intro\n\n" + path.read_text("utf-8").split("---\n")[2].replace("14C", "20A"), encoding="utf-8")
    embedder.calls.clear()
    [scan] = synced.notes.sync().libraries
    assert (scan.changed, scan.chunks_removed) == (1, 1)
    texts = [text for call in embedder.calls for text in call]
    assert [text for text in texts if "river" in text] == []
    assert [text for text in texts if "20A" in text] != []
    after = {chunk.headings: chunk.id for chunk in synced.notes.get("lisbon.md").chunks}
    assert after["Lisbon plan", "Hotel"] == before["Lisbon plan", "Hotel"]
    assert after["Lisbon plan", "Flights"] != before["Lisbon plan", "Flights"]
    assert "20A" in synced.notes.search("seat on the plane")[0].chunk.body


def test_an_edit_is_found_before_its_scan_tidies_up(
    synced: biem.Memory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a scope whose notes were searched a moment ago, all of them indexed
    synced.notes.search("breakfast")
    found: list[str] = []
    index = synced._system.notes.index
    purge = index.purge

    def purge_later(chunks: Any, tags: Any = ()) -> None:
        found.extend(hit.chunk.body for hit in synced.notes.search("xylophone", top_k=1))
        purge(chunks, tags)

    monkeypatch.setattr(index, "purge", purge_later)
    # When a paragraph is edited, and the row of the former one is about to be removed
    path = vault / "plans" / "lisbon.md"
    path.write_text(path.read_text("utf-8").replace("breakfast", "a xylophone"), encoding="utf-8")
    synced.notes.sync(wait=False)
    # Then the new text was found already
    assert "xylophone" in found[0]


def test_a_moved_folder_embeds_no_content(synced: biem.Memory, vault: Path, embedder: WordEmbedder) -> None:
    ids = [chunk.id for chunk in synced.notes.get("乌髓孑灯.md").chunks]
    (vault / "武器").rename(vault / "收藏")
    embedder.calls.clear()
    [scan] = synced.notes.sync().libraries
    assert (scan.moved, scan.deleted, scan.chunks_added) == (1, 0, 0)
    assert [text for call in embedder.calls for text in call] == ["收藏"]  # the new tag
    assert [chunk.id for chunk in synced.notes.get("收藏/法器/乌髓孑灯.md").chunks] == ids


def test_a_deleted_file_is_not_found(synced: biem.Memory, vault: Path) -> None:
    (vault / "plans" / "lisbon.md").unlink()
    [scan] = synced.notes.sync().libraries
    assert scan.deleted == 1
    assert all("lisbon" not in hit.note.path for hit in synced.notes.search("hotel near the river"))
    with pytest.raises(NotFound):
        synced.notes.get("lisbon.md")


def test_a_missing_root_deletes_nothing(synced: biem.Memory, vault: Path) -> None:
    shutil.move(vault, vault.with_name("unmounted"))
    [scan] = synced.notes.sync().libraries
    assert (scan.deleted, scan.files) == (0, 0)
    assert "vault" in scan.reason
    assert scan.outcome == "unreadable"
    assert synced.notes.search("hotel near the river")[0].note.path == "plans/lisbon.md"


def test_no_file_is_read_for_two_libraries_or_as_a_note_of_a_memory(memory: biem.Memory, vault: Path) -> None:
    memory.notes.add(vault, exclude=["/plans/"])
    weapons, plans = vault / "武器", vault / "plans"
    # A part of a library answers already, and a folder above one would answer again
    with pytest.raises(InvalidInput, match="--exclude /武器/法器/"):
        memory.notes.add(weapons / "法器")
    with pytest.raises(InvalidInput, match="part of"):
        memory.notes.add(vault.parent)
    memory.notes.add(vault.parent, name="above", exclude=["vault", "trip", "mirror"])
    # What the outer library leaves out may be one
    memory.notes.add(plans)
    memory.notes.sync()
    found = memory.notes.search("荒原上的孤灯 hotel near the river", top_k=20)
    assert len({(hit.note.root, hit.note.path, hit.chunk.place) for hit in found}) == len(found) == 5
    # A project reads the libraries of its user
    project = memory.scope(project="trip")
    with pytest.raises(InvalidInput, match="searched from here"):
        project.notes.add(vault, name="mine")
    # And what is known already stays so
    assert memory.notes.add(vault) in memory.notes.libraries()
    # And files that mirror memories are memories, where a library would read them
    memory.mirror.add(vault.parent / "trip" / ".aimate" / "memory")
    project.notes.add(vault.parent / "trip")
    mirror = vault.parent / "mirror"
    memory.mirror.add(mirror)
    for folder in (mirror, mirror / "long_term"):
        folder.mkdir(parents=True, exist_ok=True)
        with pytest.raises(InvalidInput, match="mirror memories"):
            project.notes.add(folder)


def test_no_memory_is_mirrored_where_its_file_would_be_read_as_a_note(memory: biem.Memory, vault: Path) -> None:
    memory.notes.add(vault, exclude=["/kept/"])
    # In a library, above one, and in another scope, whose memories would be read by this one
    for folder in (vault, vault / "memories", vault.parent):
        with pytest.raises(InvalidInput, match="library of notes"):
            memory.mirror.add(folder)
    with pytest.raises(InvalidInput, match="--exclude /memories/"):
        memory.scope(project="trip").mirror.add(vault / "memories")
    assert not (vault / "memories").exists()
    assert memory.mirror.roots() == []
    # But where the library leaves a folder out, and what is hidden is left out by all
    memory.mirror.add(vault / "kept")
    memory.mirror.add(vault / ".aimate" / "memory")
    memory.mirror.add(vault / "kept")
    assert len(memory.mirror.roots()) == 2


def test_a_mirror_in_the_folder_of_the_settings_makes_that_no_library(
    settings: Configure, embedder: WordEmbedder, tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    chosen = settings(notes=LibraryPolicy(root=str(raw)), sleep=SleepPolicy(off=("notes",)), user=uuid.uuid4().hex)
    with biem.connect(chosen, embedder=embedder) as memory:
        # Given a mirror in a folder that was not there when the mirror was added
        memory.mirror.add(raw)
        # When the libraries are listed / Then it is none
        assert memory.notes.libraries() == []
        memory.mirror.remove(raw)
        # Until it mirrors nothing more; then no mirror may be made of it
        assert [library.name for library in memory.notes.libraries()] == ["raw"]
        with pytest.raises(InvalidInput, match="library of notes"):
            memory.mirror.add(raw)
        memory.erase(user=memory.bound_to.user)


def test_the_folder_of_the_settings_is_not_removed_while_it_would_come_back(
    settings: Configure, embedder: WordEmbedder, vault: Path
) -> None:
    chosen = settings(notes=LibraryPolicy(root=str(vault)), sleep=SleepPolicy(off=("notes",)), user=uuid.uuid4().hex)
    with biem.connect(chosen, embedder=embedder) as memory:
        assert [library.name for library in memory.notes.libraries()] == ["raw"]
        with pytest.raises(InvalidInput, match="BIEM_NOTES__ROOT"):
            memory.notes.remove("raw")
        away = vault.rename(vault.with_name("away"))
        memory.notes.remove("raw")
        assert memory.notes.libraries() == []
        away.rename(vault)
        memory.erase(user=memory.bound_to.user)


def test_what_a_library_needs_is_said_until_it_is_done(memory: biem.Memory, vault: Path) -> None:
    def advice() -> str:
        [stats] = memory.notes.stats()
        return stats.advice

    memory.notes.add(vault)
    assert "run `biem notes sync`" in advice()
    memory.notes.sync(wait=False)
    if memory.notes.stats()[0].pending_chunks:
        assert "found by words only" in advice()
    memory.notes.sync()
    assert advice() == ""
    # When the disk is away / Then what is known of it still answers, and says why it gets old
    away = vault.rename(vault.with_name("away"))
    assert "mount it" in advice()
    assert memory.notes.search("荒原上的孤灯")
    away.rename(vault)
    assert advice() == ""
    # And a library without any note says so
    memory.notes.remove("vault")
    (vault.parent / "empty").mkdir()
    memory.notes.add(vault.parent / "empty")
    memory.notes.sync()
    assert "no Markdown file" in advice()


def test_a_missing_root_is_found_before_any_row_of_a_file_is_read(
    synced: biem.Memory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: Any = synced._system.notes.scanner._records
    usual, asked = records.files, list[tuple[Any, ...]]()

    def files(*arguments: Any) -> Any:
        asked.append(arguments)
        return usual(*arguments)

    monkeypatch.setattr(records, "files", files)
    away = vault.with_name("unmounted")
    shutil.move(vault, away)
    assert synced.notes.sync().libraries[0].reason
    assert asked == []
    # And they are read again when the folder is back
    shutil.move(away, vault)
    synced.notes.sync()
    assert asked


def test_a_mass_deletion_waits_until_it_is_accepted(memory: biem.Memory, tmp_path: Path) -> None:
    root = tmp_path / "many"
    root.mkdir()
    for number in range(24):
        (root / f"note-{number}.md").write_text(f"# Subject {number}\n\nText number {number}.\n")
    memory.notes.add(root)
    memory.notes.sync()
    for number in range(20):
        (root / f"note-{number}.md").unlink()
    # When most of the files are gone, nothing is deleted
    [scan] = memory.notes.sync().libraries
    assert (scan.held, scan.deleted, scan.outcome) == (20, 0, "held")
    [stats] = memory.notes.stats()
    assert (stats.library.state, stats.files["indexed"]) == ("held", 24)
    assert "`biem notes sync many --accept-deletions`" in stats.advice
    # Until that is accepted
    [scan] = memory.notes.sync(accept_deletions=True).libraries
    assert (scan.held, scan.deleted, scan.outcome) == (0, 20, "read")
    [stats] = memory.notes.stats()
    assert (stats.library.state, stats.files["indexed"], stats.advice) == ("active", 4, "")


def test_a_renamed_tag_needs_one_embedding(synced: biem.Memory, embedder: WordEmbedder) -> None:
    assert "法器" in {tag.shown for tag in synced.notes.tags()}
    embedder.calls.clear()
    synced.notes.rename_tag("法器", "catalyst")
    assert embedder.calls == [["catalyst"]]
    assert {tag.root_shown for tag in synced.notes.tags() if tag.shown == "法器"} == {"catalyst"}
    assert synced.notes.search("a catalyst", tags=["catalyst"])[0].note.title == "乌髓孑灯"
    synced.notes.sync(full=True)
    assert synced.notes.search("a catalyst", tags=["catalyst"])[0].note.title == "乌髓孑灯"
    # And it can be undone
    synced.notes.rename_tag("法器", undo=True)
    assert synced.notes.search("a catalyst", tags=["catalyst"]) == []
    with pytest.raises(InvalidInput):
        synced.notes.rename_tag("法器", undo=True)


def test_an_erased_note_does_not_return(synced: biem.Memory, vault: Path) -> None:
    receipt = synced.notes.erase("plans/lisbon.md")
    assert receipt.complete
    assert receipt.kept_files == (str(vault / "plans" / "lisbon.md"),)
    assert {count.store: count.before for count in receipt.stores}["postgres.note_chunks"] == 3
    [scan] = synced.notes.sync(full=True).libraries
    assert scan.new == 0
    assert (vault / "plans" / "lisbon.md").exists()
    assert all("lisbon" not in hit.note.path for hit in synced.notes.search("hotel near the river"))


def test_an_erased_scope_has_no_notes(synced: biem.Memory, vault: Path) -> None:
    synced.remember("I like tea.")
    receipt = synced.erase(synced.bound_to)
    assert receipt.kept_files == (str(vault),)
    assert receipt.complete
    before = {count.store: count.before for count in receipt.stores}
    assert (before["postgres.notes"], before["postgres.note_chunks"], before["postgres.note_libraries"]) == (2, 5, 1)
    assert before["milvus.notes"]
    assert synced.notes.libraries() == []
    assert synced.notes.search("hotel near the river") == []
    assert vault.exists()


def test_two_users_with_equal_files_do_not_meet(synced: biem.Memory, vault: Path) -> None:
    other = synced.scope(user=f"{synced.bound_to.user}-other")
    assert other.notes.search("hotel near the river") == []
    other.notes.add(vault, name="theirs")
    other.notes.sync()
    [first, *_] = other.notes.search("hotel near the river")
    assert first.note.library == "theirs"
    # When one of them is erased, the other still has all of it
    other.erase(other.bound_to)
    assert synced.notes.search("hotel near the river")[0].note.library == "vault"
    project = synced.scope(project="p")
    assert project.notes.search("hotel near the river")[0].note.library == "vault"
    assert project.notes.stats() == []


@pytest.mark.req("G1", "C32")
def test_recall_returns_memories_and_notes_of_one_question(synced: biem.Memory) -> None:
    synced.remember("Ann prefers a hotel in the hills.", wait=True)
    hits = synced.recall("which hotel is near the river")
    assert hits[0].node.text == "Ann prefers a hotel in the hills."
    assert hits.notes[0].note.path == "plans/lisbon.md"
    assert 0 < hits.notes.confidence <= 1
    # And each can be switched off
    assert synced.recall("which hotel", sources=["memories"]).notes == []
    alone = synced.recall("which hotel", sources=["notes"])
    assert (list(alone), alone.notes[0].note.path) == ([], "plans/lisbon.md")
    with pytest.raises(InvalidInput):
        synced.recall("which hotel", sources=["web"])
    # And a note is no memory
    with pytest.raises(NotFound):
        synced.get(hits.notes[0].chunk.id)
    # And a context block quotes them
    block = synced.context("Which hotel is near the river, with breakfast until ten?")
    assert "## Notes" in block.text
    assert "  > The hotel is near the river" in block.text
    assert block.notes[0].citation in block.text


def test_a_recall_searches_memories_and_notes_at_the_same_time(
    synced: biem.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a search of notes that ends only after the memories were found
    synced.remember("Ann prefers a hotel in the hills.", wait=True)
    system, found = synced._system, threading.Event()
    recall, search = system.recaller.recall, system.notes.searcher.find

    def recalled(*arguments: Any, **named: Any) -> Any:
        hits = recall(*arguments, **named)
        found.set()
        return hits

    def searched(*arguments: Any, **named: Any) -> Any:
        assert found.wait(60)
        return search(*arguments, **named)

    monkeypatch.setattr(system.recaller, "recall", recalled)
    monkeypatch.setattr(system.notes.searcher, "find", searched)
    # When one recall asks both, and one block is made of both, then neither waits for the other
    assert synced.recall("which hotel is near the river").notes[0].note.path == "plans/lisbon.md"
    found.clear()
    assert synced.context("Which hotel is near the river, with breakfast until ten?").notes


def test_a_tag_that_another_process_renames_counts_in_the_next_query(synced: biem.Memory, settings: Configure) -> None:
    query = "Voyage"
    before = synced.notes.search(query)[0].why["named"]
    with biem.connect(settings(queue="none"), scope=synced.bound_to, embedder=WordEmbedder()) as other:
        other.notes.rename_tag("travel", "Voyage")
    assert (before, synced.notes.search(query)[0].why["named"]) == (0.0, 1.0)
