"""A scope goes out into a file and comes back as it was."""

import io
import json
import stat
import tracemalloc
import uuid
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from tests.support.fakes import HeldClock
from tests.support.life_workloads import ONLY_SLEEP, embedder
from tests.support.servers import Testbed
from tests.support.transfers import House, answers, exported, lines, lived


@pytest.fixture(scope="module")
def opened(testbed: Testbed) -> Iterator[House]:
    """Connecting takes as long as a test."""
    clock = HeldClock()
    settings = testbed.settings(sleep=ONLY_SLEEP, aim=AimPolicy(admission="gate"))
    with biem.connect(settings, scope=Scope(user="transfer"), embedder=embedder(), clock=clock) as memory:
        yield House(memory, clock)


@pytest.fixture
def house(opened: House) -> House:
    """A fresh scope."""
    return House(opened.memory.scope(user=uuid.uuid4().hex), opened.clock)


def revised(memory_id: str, memory: biem.Memory) -> None:
    """Give a memory a former value; returns when its note was written again."""
    present = memory.get(memory_id)
    memory.revise(memory_id, text="Li Ming walked 一次", speaker="Ann", tags=["旧"], importance=2.5)
    memory.revise(
        memory_id, text=present.text, speaker=present.speaker, tags=present.tags, importance=present.importance
    )
    assert memory.flush()


def test_out_erased_and_back_is_the_same_in_every_byte(house: House, testbed: Testbed) -> None:
    memory = house.memory
    revised(lived(house)[13], memory)  # of which no fact was distilled, since that would be distilled again
    told = answers(memory)  # each access is counted
    before = exported(memory)
    # Given a scope of which every type of line tells something
    types = {line["type"] for line in lines(before)}
    assert types >= {
        "memory",
        "link",
        "derivation",
        "conflict",
        "fact",
        "feedback",
        "note",
        "refusal",
        "revision",
        "end",
    }
    assert exported(memory) == before
    # When all is erased and the file is taken back
    memory.erase(memory.bound_to)
    assert [line["type"] for line in lines(exported(memory))] == ["header", "end"]
    report = memory.import_(io.BytesIO(before))
    # Then the file is the same at once, and when all is indexed, and the answers are the same
    assert (report.created, report.already_there) == (report.memories, 0)
    assert exported(memory) == before
    assert memory.flush()
    assert exported(memory) == before
    again = memory.import_(io.BytesIO(before))
    assert (again.created, again.already_there) == (0, report.memories)
    assert exported(memory) == before
    assert answers(memory) == told


@pytest.mark.long
def test_in_another_scope_it_becomes_a_second_life_with_its_own_ids(house: House) -> None:
    memory, other = house.memory, house.other()
    lived(house)
    data = exported(memory)
    first = other.import_(io.BytesIO(data))
    assert other.flush()
    copy = exported(other)
    second = other.import_(io.BytesIO(data))
    # Then both have the same, no id twice, and the second import found everything there
    assert (first.created, second.created) == (first.memories, 0)
    assert exported(memory) == data
    assert exported(other) == copy
    mine, theirs = ({line["id"] for line in lines(each) if "id" in line} for each in (data, copy))
    assert len(mine) == len(theirs)
    assert not mine & theirs
    assert not [old for old in mine if old.encode() in copy]
    texts = [[line["text"] for line in lines(each) if line["type"] == "memory"] for each in (data, copy)]
    assert texts[0] == texts[1]
    # And a decision can be taken back there as here
    for each in (memory, other):
        [decided] = [pair for pair in each.conflicts(status="resolved") if pair.older_text == "Ann works at Acme"]
        each.undo(decided.id)
        assert each.get(decided.older_id).superseded_by is None


def test_the_file_is_whole_private_and_replaces_nothing_unasked(house: House, tmp_path: Path) -> None:
    memory = house.memory
    memory.remember("Li Ming has a boat")
    path = tmp_path / "out.jsonl"
    report = memory.export(path)
    assert (report.memories, stat.S_IMODE(path.stat().st_mode)) == (1, 0o600)
    kept = path.read_bytes()
    memory.remember("Li Ming has a horse")
    with pytest.raises(biem.InvalidInput, match="exists"):
        memory.export(path)
    assert path.read_bytes() == kept
    with pytest.raises(biem.InvalidInput, match="cannot be written"):
        memory.export(tmp_path / "no folder" / "out.jsonl")
    memory.export(path, overwrite=True)
    assert len(lines(path.read_bytes())) == len(lines(kept)) + 1
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_an_export_that_fails_leaves_no_file(house: House, tmp_path: Path) -> None:
    house.memory.remember("Li Ming has a boat")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    for chosen in ("jsonl", "markdown"):
        with pytest.raises(KeyboardInterrupt):
            house.memory.export(tmp_path / "out", chosen, on_progress=interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_conditions_choose_memories_and_what_joins_them(house: House) -> None:
    lived(house)
    told = lines(exported(house.memory, speakers=["Ann"], where={"none": {"$exists": False}}))
    ids = {line["id"] for line in told if line["type"] == "memory"}
    assert {line["speaker"] for line in told if line["type"] == "memory"} == {"Ann"}
    links = [line for line in told if line["type"] == "link"]
    assert links
    assert {line[end] for line in links for end in ("source", "target")} <= ids
    assert not [line for line in told if line["type"] == "feedback"]
    other = house.other()
    assert other.import_(io.BytesIO(exported(house.memory, speakers=["Ann"]))).created == len(ids)


def test_markdown_is_a_folder_of_conversations_and_days(house: House, tmp_path: Path) -> None:
    memory = house.memory
    forged = "Hello\n# Forged\n---\nid: x"
    said = memory.remember(forged, speaker="Ann\n## Eve", conversation="../../etc/passwd")
    fact = memory.remember("李明有一条船", tags=["船"])
    report = memory.export(tmp_path / "notes", "markdown")
    files = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "notes").iterdir()}
    assert (report.memories, len(files)) == (2, 2)
    talk, day = sorted(files.values(), key=lambda text: said not in text)
    assert talk.count(said) == 2
    assert day.count(fact) == 2
    assert "> 李明有一条船" in day
    assert [line for line in talk.splitlines() if line.startswith("#")] == [
        "# ../../etc/passwd",
        f"## {memory.get(said).at.isoformat()[:19]} UTC · Ann ## Eve",
    ]
    with pytest.raises(biem.InvalidInput, match="exists"):
        memory.export(tmp_path / "notes", "markdown")
    with pytest.raises(biem.InvalidInput, match="folder"):
        memory.export(io.BytesIO(), "markdown")


def test_markdown_that_biem_wrote_is_not_imported_as_notes(house: House, tmp_path: Path) -> None:
    # Given a memory with a speaker and a date, in the two kinds of Markdown that biem writes
    memory = house.memory
    memory.remember("李明有一条船", speaker="李明", tags=["船"], conversation='a "talk": 2')
    memory.export(tmp_path / "notes", "markdown")
    memory.mirror.export(tmp_path / "mirror")

    # When they are imported / Then nothing is stored, and it is said what to import
    for folder, advice in (("notes", "writes as jsonl"), ("mirror", "biem mirror import FOLDER")):
        with pytest.raises(biem.InvalidInput, match=advice):
            memory.import_file(tmp_path / folder)
        [file] = [path for path in (tmp_path / folder).rglob("*.md") if "李明有一条船" in path.read_text("utf-8")]
        with pytest.raises(biem.InvalidInput, match=advice):
            memory.import_file(file)
    assert memory.count() == 1


class Endless(io.RawIOBase):
    """A file that is made while it is read: `first` and one memory again and again, under other ids."""

    def __init__(self, first: bytes, memory: dict[str, Any], many: int) -> None:
        end = json.dumps({"type": "end", "lines": {"memory": many}}).encode() + b"\n"
        each = (
            json.dumps(memory | {"id": f"01890a5d-ac96-774b-bcce-{n:012x}", "text": f"Bus {n} was late"}).encode()
            + b"\n"
            for n in range(many)
        )
        self._lines = chain([first], each, [end])

    def readline(self, size: int | None = -1) -> bytes:
        return next(self._lines, b"")


class Sink(io.RawIOBase):
    """Keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


@pytest.mark.long
def test_a_file_of_any_size_needs_the_same_memory(house: House, testbed: Testbed) -> None:
    house.memory.remember("Bus 0 was late", speaker="Bo", wait=True)
    first, memory, *_ = exported(house.memory).splitlines(keepends=True)
    peaks: list[tuple[int, int]] = []
    settings = testbed.settings(sleep=ONLY_SLEEP, queue="none")  # no worker allocates meanwhile
    small, large = 1_000, 5_000
    for many in (small, large):
        with biem.connect(settings, scope=house.other().bound_to, embedder=embedder()) as other:
            taken = peak(lambda many=many, other=other: other.import_(Endless(first, json.loads(memory), many)))  # type: ignore[misc]
            peaks.append((taken, peak(lambda other=other: other.export(Sink()))))  # type: ignore[misc]
            other.erase(other.bound_to)  # or workers of other tests would index all of it
    # Then what grows, the ids, is well below the lines; a worker of this process may encode other memories meanwhile
    growth = [(after - before) / (large - small) for before, after in zip(*peaks, strict=True)]
    assert len(memory) > 700
    assert max(growth) < 500, peaks


def peak(journey: Callable[[], object]) -> int:
    """The most bytes that Python held meanwhile."""
    tracemalloc.start()
    try:
        journey()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
