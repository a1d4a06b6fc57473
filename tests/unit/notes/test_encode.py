"""What the encoder of notes does with leases: after success, after an outage, after a note that breaks it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import pytest

from biem.domain.policies.notes import LibraryPolicy
from biem.domain.text import sha256
from biem.errors import EmbedderUnavailable, InvalidInput, StoreUnavailable
from biem.notes.encode import NoteEncoder
from biem.ports import Vector
from biem.ports.notes.index import ChunkEntry, NoteIndex, TagEntry
from biem.ports.notes.records import NoteLease, NoteRecords, PendingChunk, PendingTag
from biem.telemetry import Telemetry
from tests.support.fakes import WordEmbedder


def pending(number: int, text: str, *, again: bool = False) -> PendingChunk:
    return PendingChunk(f"c{number}", "ns", "n", "l", None, (), text, sha256(text), text, again)


class Records:
    """One note with chunks and a tag; notes what is asked."""

    def __init__(self, chunks: Sequence[PendingChunk], attempts: int = 1) -> None:
        self.leases = [[NoteLease("n", 1, attempts)]]
        self.chunks, self.tags = list(chunks), [PendingTag(7, "ns", "Lamp", sha256("Lamp"))]
        self.kept: dict[bytes, Vector] = {}
        self.gone: list[str] = []
        self.calls: list[tuple[Any, ...]] = []

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[NoteLease]:
        return self.leases.pop() if self.leases and not retried else []

    def pending(self, leases: Sequence[NoteLease]) -> tuple[list[PendingChunk], list[PendingTag]]:
        return (self.chunks if leases else []), self.tags

    def load_vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def save_vectors(self, vectors: dict[bytes, Vector]) -> None:
        self.kept |= vectors

    def complete(self, chunks: Sequence[str], tags: Sequence[int]) -> list[str]:
        self.calls.append(("complete", list(chunks), list(tags)))
        return [key for key in chunks if key in self.gone]

    def renew(self, leases: Sequence[NoteLease], lease_s: float) -> None:
        """Held."""

    def finish(self, leases: Sequence[NoteLease]) -> None:
        self.calls.append(("finish", len(leases)))

    def release(self, leases: Sequence[NoteLease], delay_s: float, reason: str, *, refund: bool) -> None:
        self.calls.append(("release", refund))

    def fail(self, leases: Sequence[NoteLease], reason: str) -> None:
        self.calls.append(("fail", reason.split(":")[0]))


class Index:
    """Rows by id."""

    def __init__(self) -> None:
        self.rows: dict[str, bool] = {}
        self.tags: list[int] = []
        self.down = False

    def insert(self, entries: Sequence[ChunkEntry], *, again: bool) -> None:
        if self.down:
            raise StoreUnavailable("down")
        self.rows |= {entry.id: again for entry in entries}

    def insert_tags(self, entries: Sequence[TagEntry]) -> None:
        self.tags += [entry.id for entry in entries]

    def purge(self, chunks: Sequence[str], tags: Sequence[int] = ()) -> None:
        for key in chunks:
            self.rows.pop(key, None)


def encoder(
    records: Records,
    index: Index,
    embedder: WordEmbedder,
    *,
    waiting: int = 0,
    batch: int = 2,
    working: Callable[[], AbstractContextManager[None]] = nullcontext,
    give_way: Callable[[], None] = lambda: None,
    deferring: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> NoteEncoder:
    waits = [True] * waiting

    return NoteEncoder(
        records=cast(NoteRecords, records),
        index=cast(NoteIndex, index),
        embedder=embedder,
        memories_wait=lambda: bool(waits and waits.pop()),
        policy=LibraryPolicy(batch=batch, patience_s=5.0),
        telemetry=Telemetry(),
        working=working,
        give_way=give_way,
        deferring=deferring,
    )


@pytest.mark.req("D2", partly="which commits of notes wait for the disk")
def test_only_the_lease_and_the_end_of_a_batch_wait_for_the_disk() -> None:
    # Given a note that was never tried / When it is indexed
    records = Records([pending(1, "a")])

    @contextmanager
    def deferring() -> Iterator[None]:
        records.calls.append(("(",))
        yield
        records.calls.append((")",))

    encoder(records, Index(), WordEmbedder(), deferring=deferring)()

    # Then what is done again when it is lost is deferred, and the end of the batch, which writes all of it, is not
    assert records.calls == [("(",), ("complete", [], [7]), ("complete", ["c1"], []), (")",), ("finish", 1)]


@pytest.mark.req("G51", partly="texts are embedded in batches, equal ones once")
def test_equal_texts_are_embedded_once_and_in_batches() -> None:
    records, index, embedder = Records([pending(n, text) for n, text in enumerate("aabc")]), Index(), WordEmbedder()
    assert encoder(records, index, embedder)() == 1
    assert embedder.calls == [["Lamp"], ["a"], ["b", "c"]]
    assert set(index.rows) == {"c0", "c1", "c2", "c3"}
    assert index.tags == [7]
    assert records.calls[-1] == ("finish", 1)
    # And kept vectors are not computed again
    records.leases = [[NoteLease("n", 2, 1)]]
    embedder.calls.clear()
    assert encoder(records, index, embedder)() == 1
    assert embedder.calls == []


def test_rows_of_a_batch_are_sent_in_small_steps_with_a_pause_for_calls_before_each() -> None:
    # Given more chunks than a step sends, in one batch / When they are indexed
    index, sent = Index(), list[int]()
    records, embedder = Records([pending(n, f"text {n}") for n in range(40)]), WordEmbedder()
    encoder(records, index, embedder, batch=64, give_way=lambda: sent.append(len(index.rows)))()
    # Then they are embedded at once, and calls wait for sixteen rows at most; the first pause is that of the tag
    assert [len(texts) for texts in embedder.calls] == [1, 40]
    assert sent == [0, 0, 16, 32]
    assert len(index.rows) == 40


def test_a_chunk_that_went_meanwhile_leaves_no_row_and_a_retried_one_is_replaced() -> None:
    records, index = Records([pending(1, "a"), pending(2, "b", again=True)]), Index()
    records.gone = ["c1"]
    encoder(records, index, WordEmbedder())()
    assert index.rows == {"c2": True}


@pytest.mark.parametrize("part", ["embedder", "index"])
def test_an_outage_counts_as_no_attempt(part: str) -> None:
    records, index, embedder = Records([pending(1, "a")]), Index(), WordEmbedder()
    if part == "embedder":
        embedder.failure = EmbedderUnavailable("down")
    index.down = part == "index"
    with pytest.raises((EmbedderUnavailable, StoreUnavailable)):
        encoder(records, index, embedder)()
    assert records.calls[-1] == ("release", True)


@pytest.mark.parametrize(("attempts", "outcome"), [(1, ("release", False)), (5, ("fail", "InvalidInput"))])
def test_a_text_that_cannot_be_embedded_is_given_up_after_some_attempts(
    attempts: int, outcome: tuple[object, ...]
) -> None:
    records, embedder = Records([pending(1, "a")], attempts), WordEmbedder()
    embedder.failure = InvalidInput("too strange")
    assert encoder(records, Index(), embedder)() == 1
    assert records.calls[-1] == outcome


def test_a_note_whose_process_died_each_time_is_given_up_unread() -> None:
    records, embedder = Records([pending(1, "a")], attempts=6), WordEmbedder()
    encoder(records, Index(), embedder)()
    assert ("fail", "the process died each time while indexing it") in records.calls
    assert ["a"] not in embedder.calls


def test_memories_go_first() -> None:
    records, embedder = Records([pending(1, "a")]), WordEmbedder()
    assert encoder(records, Index(), embedder, waiting=2)() == 1
    assert embedder.calls[-1] == ["a"]


def test_a_stopped_encoder_takes_nothing() -> None:
    records = Records([pending(1, "a")])
    stopped = encoder(records, Index(), WordEmbedder())
    stopped.stop()
    assert stopped() == 0
    assert records.leases


def test_a_batch_is_background_work_also_on_the_thread_of_a_caller() -> None:
    records, marks = Records([pending(1, "a")]), list[str]()

    @contextmanager
    def working() -> Iterator[None]:
        marks.append("begun")
        yield
        marks.append(str(records.calls[-1]))

    assert encoder(records, Index(), WordEmbedder(), working=working)() == 1
    assert marks == ["begun", "('finish', 1)"]
