"""Embeds and indexes what a scan left pending: leases of notes, batches of texts, tags that have no vector yet.

Notes have a separate queue, so that a library of ten thousand chunks delays no message. After a crash between
two steps the lease ends and the next process repeats the batch: vectors are kept by text, rows are replaced.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from biem.domain.policies.notes import LibraryPolicy
from biem.errors import BiemError, InvalidInput
from biem.notes.indexed_text import indexed_text
from biem.ports import Embedder, Vector
from biem.ports.notes.index import ChunkEntry, NoteIndex, TagEntry
from biem.ports.notes.records import NoteLease, NoteRecords, PendingChunk, PendingTag
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.notes")
T = TypeVar("T")

_LOOK_S = 0.05
_ROWS_AT_ONCE = 16
"""Rows sent to the index in one step: packing 64 holds the interpreter for five milliseconds."""
_LEFT = "the program ended while it was being indexed"


class NoteEncoder:
    """Indexes pending notes; the port `Work`. One batch at a time in a process."""

    def __init__(
        self,
        *,
        records: NoteRecords,
        index: NoteIndex,
        embedder: Embedder,
        memories_wait: Callable[[], bool],
        policy: LibraryPolicy,
        telemetry: Telemetry,
        working: Callable[[], AbstractContextManager[None]] = nullcontext,
        give_way: Callable[[], None] = lambda: None,
        deferring: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`memories_wait`: whether memories are due to be encoded. `working` is entered around a batch of notes, which
        pauses for calls of other threads, also where a caller waits for it; `give_way` is such a pause. Commits inside
        `deferring` do not wait for the disk.
        """
        self._records = records
        self._index = index
        self._embedder = embedder
        self._memories_wait = memories_wait
        self._policy = policy
        self._telemetry = telemetry
        self._working = working
        self._give_way = give_way
        self._deferring = deferring
        self._leased: list[NoteLease] = []
        self._stopped = threading.Event()

    def __call__(self) -> int:
        """Index some new notes, then at most one that failed before; returns how many were leased.

        After an outage the leases are returned without counting an attempt, and the error is raised.
        """
        with self._working():
            return sum(self._round(retried=retried) for retried in (False, True))

    def tags(self) -> int:
        """Index tags that others were renamed to; returns how many. Raises the errors of embedder and stores."""
        _, tags = self._records.pending([])
        self._put_tags(tags)
        return len(tags)

    def move(self) -> int:
        """Index all chunks and tags that another model indexed in any state of their notes; returns how many chunks.

        A text that this model refuses stays behind. Safe to interrupt and to repeat.
        """
        done, after = 0, ""
        while chunks := self._records.unmoved(after, self._policy.batch):
            after = chunks[-1].id
            try:
                self._put_chunks(chunks)
                done += len(chunks)
            except InvalidInput:
                for chunk in chunks:
                    done += self._moved_alone(chunk)
        while tags := self._records.unmoved_tags(self._policy.batch):
            self._put_tags(tags)
        return done

    def _moved_alone(self, chunk: PendingChunk) -> int:
        try:
            self._put_chunks([chunk])
        except InvalidInput as error:
            logger.warning("a chunk is left out of the new index: %s", error)
            return 0
        return 1

    def stop(self) -> None:
        """Have the running batch end soon; what it has not done stays pending."""
        self._stopped.set()

    def give_back(self) -> None:
        """At exit: release unfinished leases without counting an attempt."""
        left, self._leased = self._leased, []
        if left:
            try:
                self._records.release(left, 0.0, _LEFT, refund=True)
            except BiemError:  # the leases will end
                logger.debug("leases of %d notes end by themselves", len(left))

    def _round(self, *, retried: bool) -> int:
        if self._stopped.is_set():
            return 0
        policy = self._policy
        leases = self._records.claim(policy.notes_at_once, policy.lease_s, retried=retried)
        if not leases:
            return 0
        self._leased = leases
        with self._telemetry.span("biem.notes.encode", notes=len(leases), retried=retried) as span:
            try:
                if worn := [lease for lease in leases if lease.attempts > policy.max_attempts]:
                    self._records.fail(worn, "the process died each time while indexing it")
                    leases = [lease for lease in leases if lease not in worn]
                # The lease is on the disk before rows are in the index, and the end of the batch after them. Commits in
                # between are repeated when they are lost, and waiting for the disk would delay other writers.
                with self._deferring():
                    span.add(chunks=self._index_notes(leases))
                self._records.finish(leases)
            except InvalidInput as error:
                self._fail(leases, error)
            except BiemError as error:  # an outage or a wrong setting: no note is to blame
                self._records.release(leases, policy.backoff_s, str(error), refund=True)
                raise
            except Exception as error:  # a note that breaks the code: found by trying it alone
                logger.exception("indexing %d notes failed", len(leases))
                self._fail(leases, error)
            finally:
                self._leased = []
        return len(leases)

    def _fail(self, leases: Sequence[NoteLease], error: Exception) -> None:
        """Count a failure of a note only if it was alone; notes of a failed batch are retried one by one."""
        reason = f"{type(error).__name__}: {error}"
        if len(leases) == 1 and leases[0].attempts >= self._policy.max_attempts:
            self._records.fail(leases, reason)
        elif leases:
            delay_s = 0.0 if len(leases) > 1 else self._policy.backoff_s * 2 ** (leases[0].attempts - 1)
            self._records.release(leases, delay_s, reason, refund=False)

    def _index_notes(self, leases: Sequence[NoteLease]) -> int:
        chunks, tags = self._records.pending(leases)
        for part in _parts(tags, self._policy.batch):
            self._put_tags(part)
        done = 0
        for batch in _parts(chunks, self._policy.batch):
            if self._stopped.is_set():
                break
            self._let_memories_pass()
            self._records.renew(leases, self._policy.lease_s)
            self._put_chunks(batch)
            done += len(batch)
        return done

    def _put_chunks(self, chunks: Sequence[PendingChunk]) -> None:
        texts = {chunk.sha: indexed_text(chunk.headings, chunk.body) for chunk in chunks}
        vectors = self._vectors(texts)
        for again in (False, True):
            entries = [
                ChunkEntry(
                    chunk.id,
                    chunk.ns,
                    chunk.library_id,
                    chunk.note_id,
                    chunk.at,
                    chunk.lexemes,
                    vectors[chunk.sha],
                )
                for chunk in chunks
                if chunk.again == again
            ]
            for part in _parts(entries, _ROWS_AT_ONCE):
                self._give_way()
                self._index.insert(part, again=again)
        if gone := self._records.complete([chunk.id for chunk in chunks], ()):
            self._index.purge(gone)

    def _put_tags(self, tags: Sequence[PendingTag]) -> None:
        if not tags:
            return
        vectors = self._vectors({tag.sha: tag.shown for tag in tags})
        for part in _parts(tags, _ROWS_AT_ONCE):
            self._give_way()
            self._index.insert_tags([TagEntry(tag.id, tag.ns, vectors[tag.sha]) for tag in part])
        self._records.complete((), [tag.id for tag in tags])

    def _vectors(self, texts: Mapping[bytes, str]) -> dict[bytes, Vector]:
        """Vectors by key: kept ones, and those of the other texts, each embedded once."""
        size = self._embedder.info.dim
        found = {key: vector for key, vector in self._records.load_vectors(list(texts)).items() if vector.size == size}
        missing = [key for key in texts if key not in found]
        if missing:
            embedded = self._embedder.embed([texts[key] for key in missing], "passage")
            fresh = dict(zip(missing, embedded, strict=True))
            self._records.save_vectors(fresh)
            found |= fresh
        return found

    def _let_memories_pass(self) -> None:
        """Wait, for a bounded time, while memories are due: they go first."""
        until = time.monotonic() + self._policy.patience_s
        while self._memories_wait() and time.monotonic() < until and not self._stopped.wait(_LOOK_S):
            pass


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
