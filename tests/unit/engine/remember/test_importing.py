"""What readers find is stored in batches and counted; what is refused is named, and what precedes it stays."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.scope import Scope
from biem.engine.remember.importing import ImportReport, RecordImport, divided
from biem.errors import InvalidInput
from biem.importers.record import BadLine, Entry, LeftOut, Record
from biem.ports import Records

HERE = Scope("t", "ann", "")


@dataclass
class Shelf:
    """A memory that keeps texts by scope and ref, and refuses some."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    items: list[Mapping[str, Any]] = field(default_factory=list)
    calls: int = 0

    def remember(self, scope: Scope, items: Iterable[Mapping[str, Any]]) -> None:
        self.calls += 1
        given = list(items)
        for position, item in enumerate(given):
            try:
                self.check(**item)
            except InvalidInput as error:
                raise InvalidInput(f"item {position}: {error}; 0 items before it are stored") from None
        self.items += given
        self.kept |= {(scope.project, item["ref"]): item["text"] for item in given}

    def check(self, **item: Any) -> None:
        if "bad" in item["text"]:
            raise InvalidInput("text is bad")

    def known_refs(self, scope: Scope, refs: Iterable[str]) -> set[str]:
        return {ref for ref in refs if (scope.project, ref) in self.kept}


class Given:
    """Entries that are there already."""

    size: int | None = 10
    bytes_read = 0
    files = 1

    def __init__(self, *entries: Entry) -> None:
        self._entries = entries

    def entries(self) -> Iterator[Entry]:
        yield from self._entries


def record(text: str, ref: str = "", **more: Any) -> Record:
    return Record(text=text, ref=ref or text, **{"format": "chatgpt", "file": "x.json", **more})


def run(shelf: Shelf, *entries: Entry, **options: Any) -> ImportReport:
    most = options.pop("max_text_bytes", 100)
    importing = RecordImport(shelf.remember, shelf.check, cast(Records, shelf), HERE, max_text_bytes=most, **options)
    return importing.run(Given(*entries))


def test_batches_are_stored_once_and_counted() -> None:
    # Given more records than a batch holds, one of them twice in one batch and one twice in two
    shelf = Shelf()
    records: list[Entry] = [record(f"text {n}") for n in range(1_203)]
    entries: list[Entry] = [*records, records[0], records[-1], LeftOut("tool result"), LeftOut("tool result", 4)]

    # When they are imported, and again / Then each is there once, and the counts say so
    heard: list[ImportReport] = []
    report = run(shelf, *entries, on_progress=heard.append)
    assert (report.read, report.stored, report.already_there) == (1_205, 1_203, 2)
    assert report.skipped == {"tool result": 5}
    assert report.formats == {"chatgpt": 1_205}
    assert shelf.calls == 3
    assert heard
    assert all(one is report for one in heard)
    again = run(shelf, *entries)
    assert (again.stored, again.already_there) == (0, 1_205)
    assert {item["source"] for item in shelf.items} == {"chatgpt"}


def test_a_dry_run_counts_the_same_and_stores_nothing() -> None:
    shelf = Shelf()
    run(shelf, record("there"))
    entries: list[Entry] = [record(text, text[:3]) for text in ("there", "new", "new", "other")]
    entries[0] = record("there")
    planned = run(shelf, *entries, dry_run=True)
    assert len(shelf.kept) == 1
    done = run(shelf, *entries)
    assert (planned.read, planned.stored, planned.already_there) == (done.read, done.stored, done.already_there)
    assert (done.stored, done.already_there) == (2, 2)
    with pytest.raises(InvalidInput, match="text is bad; 1 earlier message would be stored"):
        run(shelf, record("fine"), record("bad"), dry_run=True)


def test_a_refused_record_is_named_and_what_precedes_it_stays() -> None:
    entries: list[Entry] = [record(f"text {n}") for n in range(7)]
    entries[4] = record("bad", place="conversation 3, message m")
    shelf = Shelf()
    with pytest.raises(InvalidInput) as refused:
        run(shelf, *entries)
    assert str(refused.value) == (
        "x.json: conversation 3, message m: text is bad; 4 earlier messages are stored; "
        "repair it, or leave bad lines out with skip_bad=True"
    )
    assert len(shelf.kept) == 4
    with pytest.raises(InvalidInput, match="; 1 earlier message is stored; "):
        run(Shelf(), record("text"), record("bad"))
    entries.insert(6, BadLine("x.json", 3, 2, "no JSON"))
    report = run(shelf, *entries, skip_bad=True)
    assert (report.read, report.stored, report.already_there, report.bad) == (7, 2, 4, 2)
    assert [str(line) for line in report.first_bad] == [
        "x.json: conversation 3, message m: text is bad",
        "x.json:3:2: no JSON",
    ]


def test_each_conversation_can_be_a_project() -> None:
    shelf = Shelf()
    run(shelf, *(record("hi", conversation=name) for name in ("a", "b", "")), per_conversation=True)
    assert sorted(shelf.kept) == [("", "hi"), ("a", "hi"), ("b", "hi")]


def test_a_text_that_is_too_long_becomes_parts_with_refs() -> None:
    shelf = Shelf()
    text = "\n\n".join(f"第{n}段 " + "word " * 9 for n in range(9))
    report = run(shelf, record(text, "r"), record("short"), record("x" * 300, "own", divisible=False))
    refs = [item["ref"] for item in shelf.items]
    assert refs == [*(f"r#{n}" for n in range(1, len(refs) - 1)), "short", "own"]
    assert report.stored == len(refs) > 6
    assert all(len(item["text"].encode()) <= 100 for item in shelf.items[:-1])
    assert shelf.items[0]["text"] == "第0段 " + ("word " * 9).strip()
    assert shelf.items[1]["metadata"]["part"] == 2
    assert run(shelf, record(text, "r")).stored == 0


@given(st.text(st.sampled_from("ab。. \n你😀"), max_size=300), st.integers(min_value=4, max_value=60))
def test_parts_are_small_and_lose_nothing_but_blanks(text: str, most: int) -> None:
    pieces = list(divided(text, most))
    assert all(piece.strip() and len(piece.encode()) <= most for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
