"""What indexing a folder reads, stores and embeds, and what it leaves free, with default settings on real servers."""

import re
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.bootstrap.health import health
from biem.domain.policies.jobs import SleepPolicy
from biem.errors import InvalidInput, NotFound
from biem.ports import Role, Vectors
from biem.ports.notes.records import TagInfo
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure

REMOTE = "example.org"
watching: list[tuple[str, Any]] | None = None


def hear(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook, which cannot be removed: notes what is opened and connected while `watching`."""
    if watching is not None and event in ("open", "socket.connect", "socket.getaddrinfo", "urllib.Request"):
        watching.append((event, arguments))


@pytest.mark.req("G5")
def test_a_sync_opens_files_below_its_root_only_and_asks_no_other_host(memory: biem.Memory, tmp_path: Path) -> None:
    # Given a library whose notes name addresses, files and images elsewhere
    global watching
    root, outside = tmp_path / "vault", tmp_path / "outside.md"
    root.mkdir()
    outside.write_text("# Outside\n\nNot hand-picked.\n")
    (root / "links.md").write_text(
        f"---\nsource: https://{REMOTE}/feed.xml\n---\n# Links\n\n![tower](https://{REMOTE}/tower.png) and "
        f"[more](../outside.md), ![[{outside}]]\n\n<iframe src='https://{REMOTE}/page'></iframe>\n"
    )
    (root / "link.md").symlink_to(outside)
    memory.notes.add(root)
    sys.addaudithook(hear)
    # When it is synced
    watching = []
    try:
        report = memory.notes.sync()
    finally:
        heard, watching = watching, None
    # Then no other host was asked, and the only notes that were opened are the library's own
    assert report.libraries[0].new == 1
    assert not [each for each in heard if REMOTE in str(each)]
    opened = {str(arguments[0]) for event, arguments in heard if event == "open" and str(arguments[0]).endswith(".md")}
    assert {Path(path).name for path in opened} == {"links.md"}
    assert not memory.notes.search("hand-picked", top_k=5) or "Not hand-picked" not in str(
        memory.notes.search("picked")
    )
    # And an address is no library
    with pytest.raises(InvalidInput):
        memory.notes.add(f"https://{REMOTE}/vault")


@pytest.mark.req("D2", partly="which commits of a scan wait for the disk")
def test_only_new_files_are_stored_without_waiting_for_the_disk(memory: biem.Memory, vault: Path) -> None:
    # Given a folder that was scanned, and how each of its files was stored
    records: Any = memory._system.notes.scanner._records
    usual, waited = records.put, dict[str, bool]()

    def put(library: Any, draft: Any, moved_from: str | None = None) -> Any:
        waited[draft.stat.path] = not records._database._defers()
        return usual(library, draft, moved_from)

    records.put = put
    try:
        memory.notes.add(vault)
        memory.notes.sync()
        first = dict(waited)

        # When one file has changed, one was moved and one is new
        waited.clear()
        (vault / "plans" / "lisbon.md").write_text("# Lisbon plan\n\nThe flight was cancelled.\n")
        (vault / "武器" / "法器" / "乌髓孑灯.md").rename(vault / "灯.md")
        (vault / "new.md").write_text("# New\n\nNothing was here before.\n")
        memory.notes.sync()
    finally:
        records.put = usual

    # Then what replaces chunks, whose rows leave the index afterwards, was on the disk before
    assert first == {"武器/法器/乌髓孑灯.md": False, "plans/lisbon.md": False}
    assert waited == {"plans/lisbon.md": True, "灯.md": True, "new.md": False}


def words(text: str) -> str:
    """A text without blanks, which chunks do not keep around them."""
    return re.sub(r"\s", "", text)


@pytest.mark.req("G38")
def test_bodies_join_to_the_text_once_and_each_is_stored_and_embedded_once(
    memory: biem.Memory, tmp_path: Path, embedder: WordEmbedder
) -> None:
    # Given a note with short and long sections, in prose, code and a table
    prose = "\n\n".join(" ".join(f"Sentence {n} of part {part}." for n in range(40)) for part in range(12))
    code = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(300)) + "\n```"
    table = "| key | value |\n|---|---|\n" + "\n".join(f"| row{n} | cell{n} |" for n in range(300))
    chinese = "".join(f"第{n}句话说明了一件事情。" for n in range(200))
    body = ["before all", "", prose, "### Detail", "short", "", code, "", table, "", chinese]
    headings = ["# Title", "## Long", "## Code", "## 表"]
    text = "\n".join([body[0], headings[0], headings[1], *body[2:5], headings[2], *body[5:9], headings[3], *body[9:]])
    (tmp_path / "long.md").write_text(text, encoding="utf-8")
    memory.notes.add(tmp_path)
    memory.notes.sync()
    # When all stored bodies are joined
    chunks = memory.notes.get("long.md").chunks
    # Then they are the text without its h1 and h2, each character once
    assert len(chunks) > 20
    assert "".join(words(chunk.body) for chunk in chunks) == words("".join(body))
    # And each body was embedded in one text, once
    passages = Counter(passage for call in embedder.calls for passage in call)
    for chunk in chunks:
        assert sum(count for passage, count in passages.items() if passage.endswith(chunk.body)) == 1
    said = [passage for passage in passages if any(passage.endswith(chunk.body) for chunk in chunks)]
    assert len(said) == len(chunks)


class Unread(str):
    """The text of a tag that no one may look at."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the text of a tag was compared")

    __hash__ = None  # type: ignore[assignment]
    casefold = lower = __contains__ = __eq__  # type: ignore[assignment]


@pytest.mark.req("G44")
def test_a_search_compares_tags_by_their_ids(memory: biem.Memory, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given tags whose texts cannot be compared once they are read
    memory.notes.add(vault)
    memory.notes.sync()
    records = memory._system.notes.records
    tags = records.tags

    def unread(*arguments: Any) -> dict[int, TagInfo]:
        return {key: replace(info, shown=Unread(), root_shown=Unread()) for key, info in tags(*arguments).items()}

    monkeypatch.setattr(records, "tags", unread)
    # When a query names one / Then tags count in the ranking all the same, and rows of candidates have numbers only
    [best, *_] = memory.notes.search("法器的武器故事")
    assert best.note.path == "武器/法器/乌髓孑灯.md"
    assert best.why["tags"] > 0
    assert best.why["named"] > 0
    [row] = records.pool([memory.bound_to], [best.chunk.id])
    assert all(type(key) is int for key in (*row.tag_ids, *row.note_tag_ids))
    assert row.tag_ids


@pytest.mark.req("G50", "G54")
def test_a_rescan_adds_what_is_new_rebuilds_what_changed_and_removes_what_is_gone(
    memory: biem.Memory, tmp_path: Path, embedder: WordEmbedder
) -> None:
    # Given an indexed folder
    for name, fact in (("stays", "copper kettle"), ("changes", "wooden ladder"), ("goes", "silver whistle")):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nAbout the {fact}.\n")
    memory.notes.add(tmp_path)
    memory.notes.sync()
    before = {path: memory.notes.get(path).chunks[0].id for path in ("stays.md", "changes.md")}
    # When nothing changed / Then nothing is embedded
    embedder.calls.clear()
    memory.notes.sync(full=True)
    assert embedder.calls == []
    # When one file is new, one changed and one deleted
    (tmp_path / "comes.md").write_text("# comes\n\nAbout the paper lantern.\n")
    (tmp_path / "changes.md").write_text("# changes\n\nAbout the iron anchor.\n")
    (tmp_path / "goes.md").unlink()
    report = memory.notes.sync().libraries[0]
    # Then these three are done, and only the texts that are new are embedded
    assert (report.new, report.changed, report.deleted) == (1, 1, 1)
    passages = [passage for call in embedder.calls for passage in call if "About" in passage]
    assert sorted(passages) == ["changes\nAbout the iron anchor.", "comes\nAbout the paper lantern."]
    assert memory.notes.search("paper lantern")[0].note.path == "comes.md"
    found = memory.notes.search("iron anchor wooden ladder silver whistle", top_k=10)
    assert found[0].note.path == "changes.md"
    assert not any("ladder" in hit.chunk.body or "whistle" in hit.chunk.body for hit in found)
    assert memory.notes.get("stays.md").chunks[0].id == before["stays.md"]
    assert memory.notes.get("changes.md").chunks[0].id != before["changes.md"]
    with pytest.raises(NotFound):
        memory.notes.get("goes.md")


class GatedEmbedder(WordEmbedder):
    """Embeds passages of notes only when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if role == "passage" and any("harbour" in text for text in texts):
            self.asked.set()
            assert self.may.wait(120)
        return super().embed(texts, role)


@pytest.mark.req("G51")
def test_a_thousand_files_are_indexed_in_the_background_while_the_program_answers(
    settings: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a folder of a thousand files, and an embedder that hangs at the first of them
    root, user, embedder = tmp_path / "raw", uuid.uuid4().hex, GatedEmbedder()
    root.mkdir()
    for number in range(1_000):
        (root / f"n{number}.md").write_text(f"# n{number}\n\nThe harbour of number {number}.\n")
    policy = settings().notes
    wanted = settings(
        user=user, queue="thread", sleep=SleepPolicy(tick_s=0.05), notes=type(policy)(root=str(root), readers=4)
    )
    readers: set[str] = set()
    # When a program opens the memory / Then it is open before they are indexed
    with biem.connect(wanted, embedder=embedder) as memory:
        read = memory._system.notes.files.read

        def noted(*arguments: Any) -> Any:
            readers.add(threading.current_thread().name)
            return read(*arguments)

        monkeypatch.setattr(memory._system.notes.files, "read", noted)
        try:
            assert embedder.asked.wait(120)
            assert memory.notes.stats()[0].pending_chunks > 0
            # And while they are, it is healthy, remembers and recalls
            assert health(wanted).ready
            memory.remember("The kettle is made of copper.")
            assert "kettle" in memory.recall("What is the kettle made of?", sources=["memories"])[0].node.text
        finally:
            embedder.may.set()
        # And in the end all are indexed, several files read and many texts embedded at a time
        eventually(lambda: memory.notes.stats()[0].files["indexed"] == 1_000, 240)
        sizes = [len(call) for call in embedder.calls if any("harbour" in text for text in call)]
        assert sum(sizes) / len(sizes) > 16
        assert len(readers) > 1
        memory.erase(user=user)
