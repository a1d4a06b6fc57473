"""One batch of encoding jobs: claim, analyse, embed, relate, index, complete.

Called by thin workers: after a crash between two steps the lease expires and the next worker repeats the batch.
Embeddings are cached by text, the index replaces rows on a retry, completion is one transaction.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import islice
from uuid import uuid4

import numpy as np

from biem.domain.node import Node
from biem.domain.policies.writing import EncodePolicy
from biem.domain.speech.parts import parts_of
from biem.domain.text import sha256
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.lease import kept
from biem.engine.encode.revised import RevisionFollower
from biem.errors import BiemError, ConfigError, EmbedderUnavailable, InvalidInput, StoreFull, StoreUnavailable
from biem.ports import Analyzer, Embedder, Encoded, Entry, HotStore, Job, Records, Vector, VectorIndex, Vectors
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.encode")

_LEFT = "the program ended while it was being encoded"
_PROBE = "Is anybody there?"


def entry_of(node: Node, lexemes: str, vector: Vector) -> Entry:
    """The index row of a memory."""
    return Entry(node.id, node.scope, lexemes, vector, node.kind, node.speaker, node.conversation, node.tags, node.at)


class EncodeWorker:
    """Turns pending rows into indexed memories; used by the local thread and by worker processes."""

    def __init__(
        self,
        *,
        records: Records,
        index: VectorIndex,
        hot: HotStore,
        embedder: Embedder,
        analyzer: Analyzer,
        integrator: Integrator,
        clear: Callable[[Sequence[Job]], None],
        leave: Callable[[str, Sequence[str]], None],
        forget_talk: Callable[[str], None],
        policy: EncodePolicy,
        telemetry: Telemetry,
        deferring: Callable[[], AbstractContextManager[None]] = nullcontext,
        follower: RevisionFollower | None = None,
    ) -> None:
        """`follower` carries out revisions; None where there are none."""
        self._records = records
        self._index = index
        self._hot = hot
        self._embedder = embedder
        self._analyzer = analyzer
        self._integrator = integrator
        self._clear = clear
        self._leave = leave
        self._forget_talk = forget_talk
        self._follower = follower
        self._policy = policy
        self._telemetry = telemetry
        self._deferring = deferring
        self._working: dict[int, Job] = {}

    def __call__(self) -> int:
        """Process one batch of new rows, then at most one row that failed before; returns how many were claimed.

        After an outage the rows are released without counting an attempt and the error is raised, so that the caller
        waits before the next round. A row that repeatedly meets outages although the server answers is from then on
        tried alone, so that it delays no others.
        """
        return sum(self._batch(retried) for retried in (False, True))

    def _batch(self, retried: bool) -> int:
        jobs = self._claim(retried)
        if not jobs:
            return 0
        mine = {job.key: job for job in jobs}
        self._working |= mine
        try:
            self._work(jobs, retried=retried)
        finally:
            for key in mine:
                self._working.pop(key, None)
        return len(jobs)

    def give_back(self) -> None:
        """At exit: release the claimed, unfinished rows without counting an attempt."""
        left, self._working = list(self._working.values()), {}
        if left:
            with suppress(BiemError):  # its lease will expire
                held = self._records.renew(left, self._policy.lease_s)
                self._records.release(held, 0.0, _LEFT, refund=True)

    def _work(self, jobs: list[Job], *, retried: bool) -> None:
        with self._telemetry.span("biem.encode", jobs=len(jobs), retried=retried):
            chores = [job for job in jobs if job.task != "encode"]
            encodes = [job for job in jobs if job.task == "encode"]
            worn = [job for job in encodes if job.attempts > self._policy.max_attempts]
            if worn:  # its worker crashed each time before it could record a reason
                self._records.bury(worn, "the worker died while encoding it")
                encodes = [job for job in encodes if job not in worn]
            try:
                if encodes:
                    with kept(self._records, [*encodes, *chores], self._policy.lease_s):
                        self._encode(encodes)
            except InvalidInput as error:
                self._fail(encodes, error)
            except BiemError as error:  # an outage or a wrong setting: not caused by a row
                suspects = [job for job in encodes if job.claims >= self._policy.suspect_claims]
                if not suspects or not self._serves(error):
                    self._records.release([*encodes, *chores], self._policy.backoff_s, str(error), refund=True)
                    raise
                self._set_apart(suspects, error)
                self._records.release([job for job in encodes if job not in suspects], 0.0, str(error), refund=True)
            except Exception as error:  # a bug triggered by one row: found by trying it alone
                if not threading.main_thread().is_alive():  # interpreter shutdown has stopped threads and pools
                    self._records.release([*encodes, *chores], 0.0, _LEFT, refund=True)
                    return
                logger.exception("encoding %d rows failed", len(encodes))
                self._fail(encodes, error)
            if chores:
                self._do(chores)

    def _claim(self, retried: bool) -> list[Job]:
        """Claim a batch of jobs; more while duplicate and cached texts leave room in the embedder call."""
        policy = self._policy
        jobs = self._records.claim(policy.batch, policy.lease_s, retried=retried)
        claimed = len(jobs)
        while not retried and claimed and len(jobs) < policy.most_batches * policy.batch:
            room = policy.batch - len(self._unknown(jobs))
            if room <= 0:
                break
            more = self._records.claim(room, policy.lease_s, retried=False)
            claimed = len(more)
            jobs += more
        return jobs

    def _unknown(self, jobs: Sequence[Job]) -> set[bytes]:
        keys = {sha256(job.node.indexed_text) for job in jobs if job.node is not None}
        return keys - self._known(list(keys)).keys()

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Cached vectors, without those of a wrong length, which are damaged and embedded again."""
        known = self._records.load_vectors(self._embedder.info.id, keys)
        return {key: vector for key, vector in known.items() if vector.size == self._embedder.info.dim}

    def _fail(self, jobs: Sequence[Job], error: Exception) -> None:
        """Count a failure of a row only if it was alone; rows of a failed batch are retried one by one."""
        reason = f"{type(error).__name__}: {error}"
        if len(jobs) == 1 and jobs[0].attempts >= self._policy.max_attempts:
            logger.error("memory %s goes to the dead letter: %s", jobs[0].memory_id, reason)
            self._records.bury(jobs, reason)
        elif jobs:
            delay_s = 0.0 if len(jobs) > 1 else self._policy.backoff_s * 2 ** (jobs[0].attempts - 1)
            self._records.release(jobs, delay_s, reason, refund=False)

    def _serves(self, error: BiemError) -> bool:
        """Whether the server of this error answers now: then the input caused the error."""
        try:
            if isinstance(error, EmbedderUnavailable | ConfigError | InvalidInput):
                self._embedder.embed([f"{_PROBE} {uuid4().hex}"], "passage")  # never cached
            elif isinstance(error, StoreUnavailable) and not isinstance(error, StoreFull):
                self._index.ping()
            else:
                return False
        except BiemError:
            return False
        return True

    def _set_apart(self, jobs: Sequence[Job], error: BiemError) -> None:
        """Retry each alone from now on, with growing pauses. None is given up: the server may be the cause."""
        if len(jobs) > 1 or jobs[0].attempts == 1:
            logger.warning("%d memories are retried one by one, because their server is up: %s", len(jobs), error)
            self._records.release(jobs, 0.0, str(error), refund=False)
        else:
            pause = self._policy.backoff_s * 2 ** min(jobs[0].claims, 20)
            self._records.release(jobs, min(self._policy.backoff_max_s, pause), str(error), refund=True)

    def _do(self, jobs: Sequence[Job]) -> None:
        """Remove erased, archived or moved memories from the projections; after an outage the jobs are retried."""
        try:
            with kept(self._records, jobs, self._policy.lease_s):
                self._clear_all(jobs)
        except BiemError as error:
            self._records.release(jobs, self._policy.backoff_s, str(error), refund=True)
            raise
        except Exception as error:  # must not delay new memories
            logger.exception("clearing %d memories failed", len(jobs))
            self._records.release(jobs, self._policy.backoff_max_s, repr(error), refund=True)

    def _clear_all(self, jobs: Sequence[Job]) -> None:
        archived = [job for job in jobs if job.task == "archive"]
        if archived:
            self._clear(archived)
        erased = [job for job in jobs if job.task == "purge"]
        if erased:
            self._index.purge([job.memory_id for job in erased])
        left = [job for job in jobs if job.task in ("purge", "leave")]  # moved ones keep their row in the index
        for ns in {job.ns for job in left}:
            ids = [job.memory_id for job in left if job.ns == ns]
            self._hot.purge(ns, ids)
            self._leave(ns, ids)
            self._forget_talk(ns)
        if left:
            self._records.done(left)
        revised = [job for job in jobs if job.task in ("revised", "reindex")]
        if revised and self._follower is not None:
            self._follower.follow(revised, self.vectors_taken)

    def outdated(self, nodes: Sequence[Node]) -> None:
        """Queue those again that were revised since: what was just written may be of a former text."""
        if nodes and self._follower is not None:
            self._follower.outdated([(node.id, node.revision) for node in nodes])

    def _encode(self, jobs: Sequence[Job]) -> None:
        erased = [job for job in jobs if job.node is None]
        live = [(job, job.node) for job in jobs if job.node is not None]
        if erased:
            self._records.done(erased)
        if not live:
            return
        # The claim and the completion are durable. Writes in between are repeated when lost, and waiting for the disk
        # would delay concurrent writers, whose commits wait for the disk and the scope's lock.
        with self._deferring():
            vectors = self.vectors([node.indexed_text for _, node in live])
            encoded = [Encoded(job, self._analyzer.analyze(node.indexed_text)) for job, node in live]
            entries = {
                job.key: entry_of(node, job.lexemes, vector) for (job, node), vector in zip(live, vectors, strict=True)
            }
            memories = {job.key: (node, vector) for (job, node), vector in zip(live, vectors, strict=True)}
            self._integrator.relate([memories[job.key] for job, _ in live if not job.known])
            held = self._records.renew([job for job, _ in live], self._policy.lease_s)  # it may have been suspended
        keys = {job.key for job in held}
        self.outdated([node for job, node in live if job.key not in keys])
        if refused := [job for job, _ in live if job.key not in keys]:
            self._records.hasten(refused)
        if not held:
            return
        with self._telemetry.span("biem.encode.index", rows=len(held)):
            self._index.insert([entries[job.key] for job in held], again=any(job.claims > 1 for job in held))
        completion = self._records.complete([item for item in encoded if item.job.key in keys])
        if completion.erased:
            self._index.purge(completion.erased)
        if completion.moved:
            self._records.hasten([job for job in held if job.memory_id in completion.moved])
        gone = {*completion.erased, *completion.overtaken, *completion.revised, *completion.moved}
        settled = [memories[job.key] for job in held if job.memory_id not in gone]
        noted = frozenset(job.memory_id for job in held if job.known)
        with self._deferring():
            self._integrator.settle(settled, frozenset(completion.hot), noted)
        unsure = {*completion.revised, *completion.hot}  # the canvas and the index may have vectors of former texts
        self.outdated([memories[job.key][0] for job in held if job.memory_id in unsure])
        if completion.overtaken:  # the lease expired between the two steps: there may be two rows of one memory
            doubled = set(completion.overtaken)
            self._index.insert([entry for entry in entries.values() if entry.id in doubled], again=True)

    def renew_former(self) -> None:
        """Analyse and embed the former texts of revised memories again."""
        if self._follower is not None:
            self._follower.renew(self.vectors_taken)

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text: duplicate texts are embedded once, cached ones not at all."""
        keys = [sha256(text) for text in texts]
        model = self._embedder.info.id
        known = self._known(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        unknown = list(missing)
        for start in range(0, len(unknown), self._policy.batch):
            part = unknown[start : start + self._policy.batch]
            with self._telemetry.span("biem.encode.embed", texts=len(part)):
                fresh = self._embed([missing[key] for key in part])
                parts = self._parts({key: missing[key] for key in part})
            added = {key: np.ascontiguousarray(vector) for key, vector in zip(part, fresh, strict=True)}
            self._records.save_vectors(model, added, parts)
            known |= added
        return [known[key] for key in keys]

    def _parts(self, texts: Mapping[bytes, str]) -> dict[bytes, Vectors]:
        """The vectors of the statements of those of these texts that have several."""
        said = {key: parts for key, text in texts.items() if (parts := parts_of(text))}
        every = [one for parts in said.values() for one in parts]
        batches = (every[start : start + self._policy.batch] for start in range(0, len(every), self._policy.batch))
        embedded = iter([vector for batch in batches for vector in self._embed(batch)])
        return {key: np.stack(list(islice(embedded, len(parts)))) for key, parts in said.items()}

    def divide(self, texts: Iterable[str]) -> None:
        """Embed the statements of those of these texts that an older version embedded as wholes only."""
        several = {sha256(text): text for text in texts if parts_of(text)}
        missing = self._records.undivided(self._embedder.info.id, list(several)) if several else []
        for key, vector in self._known(missing).items() if missing else ():
            try:
                parts = self._parts({key: several[key]})
            except InvalidInput as error:
                logger.warning("a text is compared as a whole only: %s", error)
            else:
                self._records.save_vectors(self._embedder.info.id, {key: vector}, parts)

    def vectors_taken(self, texts: Sequence[str]) -> list[Vector | None]:
        """As `vectors`, with None for each text that the embedder refuses while it accepts others."""
        try:
            return list(self.vectors(texts))
        except InvalidInput as error:
            if len(texts) == 1:
                logger.warning("a text is left out of the index, see `biem diagnose`: %s", error)
                return [None]
            half = len(texts) // 2
            return [*self.vectors_taken(texts[:half]), *self.vectors_taken(texts[half:])]

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages. Raises `InvalidInput` if the server refuses these texts but accepts others."""
        try:
            return self._embedder.embed(texts, "passage")
        except (ConfigError, InvalidInput) as error:
            if self._serves(error):
                raise InvalidInput(f"the embedder takes other texts and refuses this: {error}") from error
            if isinstance(error, InvalidInput):  # it refuses all texts, so none is the cause
                raise EmbedderUnavailable(f"the embedder refuses every text: {error}") from error
            raise
