"""One batch of background work, on fakes of the ports."""

import contextlib
import dataclasses
import itertools
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from biem.adapters.embedders.cached import CachedEmbedder
from biem.domain.fields import Analysis, Fields
from biem.domain.node import Node, new_id
from biem.domain.policies.writing import EncodePolicy
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.lease import kept
from biem.engine.encode.revised import RevisionFollower
from biem.engine.encode.worker import EncodeWorker
from biem.errors import BiemError, ConfigError, EmbedderUnavailable, InvalidInput, StoreUnavailable
from biem.ports import (
    Analyzer,
    Completion,
    Encoded,
    Entry,
    HotStore,
    Job,
    Records,
    Role,
    Vector,
    VectorIndex,
    Vectors,
)
from biem.telemetry import Telemetry
from tests.support.fakes import START, WordEmbedder

POLICY = EncodePolicy()
SCOPE = Scope(user="u")


@dataclasses.dataclass(slots=True)
class Row:
    """One job as the outbox has it."""

    job: Job
    waits_s: float = 0.0
    leased: bool = False
    dead: str = ""
    reason: str = ""


class Outbox:
    """The half of the port `Records` that a worker uses. A released row is due when its delay is over: `pass_time`."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.keys = itertools.count(1)
        self.cache: dict[tuple[str, bytes], Vector] = {}
        self.parts: dict[bytes, Vectors] = {}
        self.completed: list[str] = []
        self.events: list[str] = []
        self.erased: set[str] = set()
        self.revised: set[str] = set()
        self.stolen: set[int] = set()
        self.overtaken: set[str] = set()
        self.claims: list[int] = []
        self.failures: dict[str, Exception] = {}

    def add(self, text: str, task: str = "encode", attempts: int = 0, claims: int = 0) -> str:
        key, memory_id = next(self.keys), new_id()
        node = Node(
            id=memory_id,
            scope=SCOPE,
            text=text,
            kind="knowledge",
            status="pending",
            layer="short_term",
            at=START,
            created_at=START,
        )
        if task in ("purge", "archive"):
            self.rows[key] = Row(Job(key, cast(Any, task), memory_id, SCOPE.ns, attempts, claims))
        else:
            self.rows[key] = Row(Job(key, "encode", memory_id, SCOPE.ns, attempts, claims, text.lower(), node))
        return memory_id

    def pass_time(self) -> None:
        for row in self.rows.values():
            row.waits_s, row.leased = 0.0, False

    def row(self, memory_id: str) -> Row:
        return next(row for row in self.rows.values() if row.job.memory_id == memory_id)

    @property
    def left(self) -> list[str]:
        return [row.job.memory_id for row in self.rows.values() if not row.dead]

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[Job]:
        due = [
            row
            for row in self.rows.values()
            if not row.leased and not row.dead and row.waits_s == 0.0 and (row.job.attempts > 0) == retried
        ][: 1 if retried else limit]
        for row in due:
            row.leased = True
            row.job = dataclasses.replace(row.job, attempts=row.job.attempts + 1, claims=row.job.claims + 1)
        if due:
            self.claims.append(len(due))
            self.events.append("claim")
        return [
            dataclasses.replace(row.job, node=None, lexemes="") if row.job.memory_id in self.erased else row.job
            for row in due
        ]

    def renew(self, jobs: Sequence[Job], lease_s: float) -> list[Job]:
        self._fail("renew")
        self.events.append("renew")
        return [job for job in jobs if job.key not in self.stolen]

    def complete(self, encoded: Sequence[Encoded]) -> Completion:
        self._fail("complete")
        self.events.append("complete")
        ids = [item.job.memory_id for item in encoded]
        self.completed += [memory_id for memory_id in ids if memory_id not in self.erased]
        self.done([item.job for item in encoded])
        return Completion(
            tuple(memory_id for memory_id in ids if memory_id in self.erased),
            tuple(memory_id for memory_id in ids if memory_id in self.overtaken),
            revised=tuple(memory_id for memory_id in ids if memory_id in self.revised),
        )

    def done(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.rows.pop(job.key, None)

    def release(self, jobs: Sequence[Job], delay_s: float, reason: str, *, refund: bool) -> None:
        for row in (self.rows[job.key] for job in jobs if job.key in self.rows):
            row.leased, row.waits_s, row.reason = False, delay_s, reason
            row.job = dataclasses.replace(row.job, attempts=max(0, row.job.attempts - int(refund)))

    def bury(self, jobs: Sequence[Job], reason: str) -> None:
        for job in jobs:
            self.rows[job.key].dead = reason

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        return {key: self.cache[model, key] for key in keys if (model, key) in self.cache}

    def save_vectors(self, model: str, vectors: Mapping[bytes, Vector], parts: Mapping[bytes, Vectors]) -> None:
        self.cache |= {(model, key): vector for key, vector in vectors.items()}
        self.parts |= parts

    def _fail(self, call: str) -> None:
        if call in self.failures:
            raise self.failures.pop(call)


class Index:
    """The writing half of the port `VectorIndex`: without `again`, a row of the same id is a second row."""

    def __init__(self) -> None:
        self.rows: list[Entry] = []
        self.purged: list[str] = []
        self.fails_before: Exception | None = None
        self.fails_after: Exception | None = None
        self.refuses = ""

    def ping(self) -> None:
        if self.fails_before is not None:
            raise self.fails_before

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:
        if self.fails_before is not None:
            raise self.fails_before
        if self.refuses and any(self.refuses in entry.lexemes for entry in entries):
            raise StoreUnavailable("the server does not take this")
        if again:
            ids = {entry.id for entry in entries}
            self.rows = [row for row in self.rows if row.id not in ids]
        self.rows += entries
        if self.fails_after is not None:
            failure, self.fails_after = self.fails_after, None
            raise failure

    def purge(self, ids: Sequence[str]) -> None:
        if self.fails_before is not None:
            raise self.fails_before
        self.purged += ids
        self.rows = [row for row in self.rows if row.id not in ids]


class Poisonable:
    """The port `Analyzer`; the text `poison` breaks it."""

    def lexemes(self, text: str) -> list[str]:
        return text.lower().split()

    def analyze(self, text: str) -> Analysis:
        if "poison" in text:
            raise ZeroDivisionError("a mistake in a rule")
        return Analysis(Fields(), (), 0.0, "en")


class Hot:
    """The half of the port `HotStore` that a worker uses."""

    def __init__(self) -> None:
        self.purged: list[str] = []

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        assert ns == SCOPE.ns
        self.purged += ids


class Forming:
    """The arguments of `Integrator`, and what was complete at that moment."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.related: list[str] = []
        self.settled: list[str] = []
        self.hot: list[str] = []
        self.noted: list[str] = []
        self.failure: Exception | None = None

    def relate(self, memories: Sequence[tuple[Node, Vector]]) -> None:
        if self.failure is not None:
            raise self.failure
        self.outbox.events.append("relate")
        self.related += [node.id for node, _ in memories]

    def settle(
        self, memories: Sequence[tuple[Node, Vector]], hot: frozenset[str], noted: frozenset[str] = frozenset()
    ) -> None:
        self.outbox.events.append("settle")
        self.settled += [node.id for node, _ in memories]
        self.hot += sorted(hot)
        self.noted += sorted(noted)


class Room:
    """A worker and everything it speaks to."""

    def __init__(self, policy: EncodePolicy = POLICY, embedder: WordEmbedder | None = None) -> None:
        self.outbox, self.index, self.hot, self.embedder = Outbox(), Index(), Hot(), embedder or WordEmbedder()
        self.forming = Forming(self.outbox)
        self.cleared: list[str] = []
        self.left: list[str] = []
        self.forgotten: list[str] = []
        self.outdated: list[list[tuple[str, int]]] = []
        self.events = self.outbox.events
        self.policy = policy
        self.rebuild()

    def rebuild(self) -> None:
        """The worker starts again."""
        self.encoder = EncodeWorker(
            records=cast(Records, self.outbox),
            index=cast(VectorIndex, self.index),
            hot=cast(HotStore, self.hot),
            embedder=self.embedder,
            analyzer=cast(Analyzer, Poisonable()),
            integrator=cast(Integrator, self.forming),
            clear=lambda jobs: self.cleared.extend(job.memory_id for job in jobs),
            leave=lambda _, ids: self.left.extend(ids),
            forget_talk=self.forgotten.append,
            policy=self.policy,
            telemetry=Telemetry(),
            deferring=self.deferring,
            follower=cast(RevisionFollower, SimpleNamespace(outdated=self.outdated.append)),
        )

    @contextlib.contextmanager
    def deferring(self) -> Iterator[None]:
        """What happens inside is written down between brackets."""
        self.events.append("(")
        yield
        self.events.append(")")

    def work(self, most: int = 10_000) -> None:
        """Go on until nothing is due; pauses are over at once."""
        for _ in range(most):
            if self.encoder() == 0:
                self.outbox.pass_time()
                if self.encoder() == 0:
                    return
        raise AssertionError(f"still busy after {most} rounds")

    @property
    def indexed(self) -> list[str]:
        return sorted(row.id for row in self.index.rows)


@pytest.fixture
def room() -> Room:
    return Room()


class TestBatches:
    def test_nothing_to_do_is_nothing(self, room: Room) -> None:
        # Given no jobs / When a round is done / Then no one is bothered
        assert room.encoder() == 0
        assert room.embedder.calls == []

    @pytest.mark.req("X3", "B13", partly="the worker")
    def test_every_pending_memory_gets_its_vector_its_words_and_its_analysis(self, room: Room) -> None:
        # Given pending memories / When a round is done
        ids = [room.outbox.add(f"Text {n}") for n in range(3)]
        taken = room.encoder()

        # Then each is indexed with its own vector and complete
        assert taken == 3
        assert room.outbox.completed == ids
        assert [row.id for row in room.index.rows] == ids
        for row in room.index.rows:
            expected = room.embedder.embed([f"Text {ids.index(row.id)}"], "passage")[0]
            assert np.array_equal(row.vector, expected)
            assert row.lexemes == f"text {ids.index(row.id)}"
        assert room.outbox.left == []

    @pytest.mark.req("D2", partly="which commits of the worker wait for the disk")
    def test_only_the_claim_and_the_completion_wait_for_the_disk(self, room: Room) -> None:
        # Given a pending memory / When it is encoded
        room.outbox.add("Text")
        room.encoder()

        # Then all that is done again when it is lost is deferred, and nothing else
        assert room.events == ["claim", "(", "relate", "renew", ")", "complete", "(", "settle", ")"]

    @pytest.mark.req("G59", partly="64 texts a call")
    def test_no_call_to_the_embedder_has_more_than_64_texts(self, room: Room) -> None:
        # Given 200 texts / When they are encoded
        for n in range(200):
            room.outbox.add(f"text {n}")
        room.work()

        # Then they came in four calls
        assert [len(call) for call in room.embedder.calls] == [64, 64, 64, 8]

    @pytest.mark.req("G59", partly="64 texts a call, when asked for many at once")
    def test_texts_of_a_rebuild_come_in_calls_of_64_too(self, room: Room) -> None:
        # Given a page of a rebuild / When its vectors are computed
        room.encoder.vectors([f"text {n}" for n in range(200)])

        # Then no call is greater than in daily work
        assert max(len(call) for call in room.embedder.calls) <= 64

    @pytest.mark.req("G58")
    def test_equal_texts_of_a_batch_are_embedded_once(self, room: Room) -> None:
        # Given 50 texts of which 10 are there twice / When they are encoded
        ids = [room.outbox.add(f"text {n % 40}") for n in range(50)]
        room.work()

        # Then 40 were embedded and all are indexed
        assert [len(call) for call in room.embedder.calls] == [40]
        assert room.indexed == sorted(ids)

    @pytest.mark.req("G57", "G58", partly="the persistent cache")
    def test_a_text_that_any_memory_had_before_is_not_embedded_again(self, room: Room) -> None:
        # Given texts that were encoded
        room.outbox.add("same")
        room.work()

        # When they come again, next to a new one, in another process
        again = Room()
        again.outbox.cache = room.outbox.cache
        ids = [again.outbox.add("same"), again.outbox.add("new")]
        again.work()

        # Then only the new one was embedded, and both have vectors
        assert again.embedder.calls == [["new"]]
        assert again.indexed == sorted(ids)

    @pytest.mark.req("G60")
    def test_a_thousand_texts_with_a_fifth_of_repeats_take_thirteen_calls(self, room: Room) -> None:
        # Given a thousand memories of which every fifth repeats the one before
        for n in range(1_000):
            room.outbox.add(f"text {n - 1 if n % 5 == 4 else n}")

        # When they are encoded
        room.work()

        # Then 800 different texts took ⌈800 / 64⌉ calls
        assert sum(len(call) for call in room.embedder.calls) == 800
        assert max(len(call) for call in room.embedder.calls) <= 64
        assert len(room.embedder.calls) == 13
        assert len(room.index.rows) == len(room.outbox.completed) == 1_000

    @pytest.mark.req("C12", "X44", partly="the cache of vectors")
    def test_another_model_uses_no_vector_of_this_one(self, room: Room) -> None:
        # Given a text that one model has embedded
        room.encoder.vectors(["text"])

        # When another model meets it / Then it computes its own
        room.embedder.info = dataclasses.replace(room.embedder.info, id="another-model")
        room.encoder.vectors(["text"])
        assert len(room.embedder.calls) == 2

    def test_vectors_come_in_the_order_of_their_texts(self, room: Room) -> None:
        # Given texts of which some are known and some repeat
        room.encoder.vectors(["b", "d"])

        # When their vectors are asked for / Then each is at its place
        texts = ["a", "b", "a", "c", "d"]
        for text, vector in zip(texts, room.encoder.vectors(texts), strict=True):
            assert np.array_equal(vector, room.embedder.embed([text], "passage")[0])
        assert room.encoder.vectors([]) == []


class TestOutages:
    @pytest.mark.req("X5", "G60", partly="an outage keeps rows pending and blames none")
    def test_an_embedder_that_is_down_for_long_costs_no_row_and_blames_none(self, room: Room) -> None:
        # Given a hundred memories and no embedder
        ids = [room.outbox.add(f"text {n}") for n in range(100)]
        room.embedder.failure = EmbedderUnavailable("429")

        # When many more rounds than attempts are tried
        for _ in range(3 * POLICY.max_attempts):
            with pytest.raises(EmbedderUnavailable):
                room.encoder()
            room.outbox.pass_time()

        # Then no vector was made up, no one is blamed, and afterwards all are encoded
        assert room.index.rows == []
        assert room.outbox.cache == {}
        assert {row.job.attempts for row in room.outbox.rows.values()} == {0}
        room.embedder.failure = None
        room.work()
        assert room.indexed == sorted(ids) == sorted(room.outbox.completed)
        assert all(np.linalg.norm(row.vector) == pytest.approx(1.0) for row in room.index.rows)

    def test_an_index_that_is_down_gives_rows_back_and_keeps_the_vectors(self, room: Room) -> None:
        # Given no index
        room.outbox.add("text")
        room.index.fails_before = StoreUnavailable("down")

        # When a round is tried
        with pytest.raises(StoreUnavailable):
            room.encoder()
        [row] = room.outbox.rows.values()

        # Then the row waits with the reason, and nothing is embedded twice afterwards
        assert (row.job.attempts, row.leased, row.waits_s, row.reason) == (0, False, POLICY.backoff_s, "down")
        room.index.fails_before = None
        room.work()
        assert len(room.embedder.calls) == 1

    @pytest.mark.req("X3", partly="no row is doubled")
    @pytest.mark.parametrize("where", ["insert", "complete"])
    def test_a_row_whose_answer_got_lost_is_replaced_and_not_doubled(self, room: Room, where: str) -> None:
        # Given an outage after the index has taken the rows
        ids = [room.outbox.add(f"text {n}") for n in range(3)]
        if where == "insert":
            room.index.fails_after = StoreUnavailable("no answer in time")
        else:
            room.outbox.failures["complete"] = StoreUnavailable("the connection was lost")
        with pytest.raises(StoreUnavailable):
            room.encoder()

        # When the work goes on, next to a new memory
        ids.append(room.outbox.add("new"))
        room.work()

        # Then each memory has one row
        assert room.indexed == sorted(ids)

    def test_a_lease_that_was_lost_while_embedding_leaves_the_row_to_others(self, room: Room) -> None:
        # Given two rows of which another worker has claimed one meanwhile
        mine, theirs = room.outbox.add("mine"), room.outbox.add("theirs")
        room.outbox.stolen = {room.outbox.row(theirs).job.key}

        # When the round ends
        room.encoder()

        # Then only the own one was written
        assert room.indexed == [mine]
        assert room.outbox.completed == [mine]

    def test_a_round_whose_leases_are_all_lost_writes_nothing(self, room: Room) -> None:
        # Given a worker that slept
        memory_id = room.outbox.add("text")
        room.outbox.stolen = {room.outbox.row(memory_id).job.key}

        # When it wakes up / Then it leaves everything as it is
        assert room.encoder() == 1
        assert room.index.rows == []
        assert room.outbox.completed == []

    def test_rows_that_another_worker_completed_first_are_put_right(self, room: Room) -> None:
        # Given a worker that was overtaken between index and completion
        memory_id, other = room.outbox.add("text"), room.outbox.add("other")
        room.outbox.overtaken = {memory_id}
        room.index.rows.append(Entry(memory_id, SCOPE, "", np.zeros(64, dtype=np.float32), "", "", "", (), START))

        # When it completes / Then one row is left for each memory
        room.encoder()
        assert room.indexed == sorted([memory_id, other])


class Picky(WordEmbedder):
    """A server that fails at one text, as some do that compute no number of it, and answers otherwise."""

    def __init__(self, error: BiemError | None = None) -> None:
        super().__init__()
        self.error = error or EmbedderUnavailable("500")

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if "refused" in texts:
            raise self.error
        return super().embed(texts, role)


class TestPoison:
    def test_a_poison_row_is_isolated_and_buried_with_its_reason_and_all_others_are_encoded(
        self, room: Room, caplog: pytest.LogCaptureFixture
    ) -> None:
        # Given a row that breaks the code among others
        good = [room.outbox.add(f"text {n}") for n in range(9)]
        poison = room.outbox.add("poison")

        # When the work goes on
        with caplog.at_level(logging.ERROR, logger="biem.encode"):
            room.work()

        # Then the others are done, and it is buried after its last attempt
        assert room.indexed == sorted(good)
        row = room.outbox.row(poison)
        assert row.dead == "ZeroDivisionError: a mistake in a rule"
        assert row.job.attempts == POLICY.max_attempts
        assert room.outbox.left == []
        assert poison in caplog.text

    def test_rows_of_one_batch_with_a_poison_row_lose_at_most_one_attempt_to_it(self, room: Room) -> None:
        # Given a good row next to a poison one, at its last attempt but one
        room = Room(dataclasses.replace(POLICY, max_attempts=2))
        good, _ = room.outbox.add("text"), room.outbox.add("poison")

        # When the work goes on / Then it survives
        room.work()
        assert room.outbox.completed == [good]

    @pytest.mark.parametrize("error", [InvalidInput("too long"), ConfigError("HTTP 403")])
    def test_a_row_that_the_embedder_refuses_is_to_blame_alone(self, error: BiemError) -> None:
        # Given an embedder that refuses one text, as a filter of contents does
        room = Room(embedder=Picky(error))
        good = [room.outbox.add(f"text {n}") for n in range(5)]
        refused = room.outbox.add("refused")

        # When the work goes on / Then the row is buried with the reason, the others are indexed, and no caller waited
        room.work()
        assert str(error) in room.outbox.row(refused).dead
        assert room.indexed == sorted(good)

    @pytest.mark.parametrize("error", [InvalidInput("no such model"), ConfigError("HTTP 401")])
    def test_an_embedder_that_refuses_everything_buries_nothing(self, room: Room, error: BiemError) -> None:
        # Given an embedder whose server answered once, and takes no text any more
        room.work()
        memory_id = room.outbox.add("text")
        room.embedder.failure = error

        # When the work is tried often / Then each time counts as an outage, and the row waits
        for _ in range(POLICY.max_attempts + 3):
            with pytest.raises(BiemError, match=str(error)):
                room.encoder()
            room.outbox.pass_time()
        assert room.outbox.row(memory_id).dead == ""
        room.embedder.failure = None
        room.work()
        assert room.indexed == [memory_id]

    def test_a_probe_is_answered_by_the_server_and_not_by_a_cache(self) -> None:
        # Given an embedder behind a cache, which was asked whether it serves
        inner = Picky(ConfigError("HTTP 403"))
        room = Room(embedder=cast(Any, CachedEmbedder(inner, 1 << 20)))
        room.outbox.add("refused")
        room.work()

        # When it takes nothing any more / Then the next row is not blamed
        inner.failure = ConfigError("HTTP 401")
        late = room.outbox.add("text")
        for _ in range(POLICY.max_attempts + 3):
            with pytest.raises(ConfigError, match="401"):
                room.encoder()
            room.outbox.pass_time()
        assert room.outbox.row(late).dead == ""

    def test_who_fills_an_index_again_leaves_out_what_is_refused(self) -> None:
        # Given texts of which one is refused / Then all others have their vectors, in order
        room = Room(embedder=Picky(InvalidInput("too long")))
        texts = ["one", "two", "refused", "three", "four"]
        vectors = room.encoder.vectors_taken(texts)
        assert [vector is None for vector in vectors] == [False, False, True, False, False]
        alone = WordEmbedder().embed(texts, "passage")
        assert all(vector is None or vector @ own > 0.999 for vector, own in zip(vectors, alone, strict=True))

    def test_each_failure_alone_is_waited_out_for_longer(self, room: Room) -> None:
        # Given a poison row / When it fails again and again
        room.outbox.add("poison")
        waits = []
        for _ in range(POLICY.max_attempts - 1):
            room.encoder()
            [row] = room.outbox.rows.values()
            waits.append(row.waits_s)
            room.outbox.pass_time()

        # Then each pause is twice the one before
        assert waits == [1.0, 2.0, 4.0, 8.0]

    def test_a_row_that_killed_its_worker_each_time_is_buried_untried(self, room: Room) -> None:
        # Given a row whose workers all died without a word
        memory_id = room.outbox.add("killer", attempts=POLICY.max_attempts, claims=POLICY.max_attempts)

        # When it is claimed once more
        room.encoder()

        # Then it is not tried again
        assert "died" in room.outbox.row(memory_id).dead
        assert room.embedder.calls == []


class TestRefused:
    """What a server never takes looks like an outage; anyone who waits for its end waits for ever."""

    @pytest.fixture(params=["index", "embedder"])
    def picky(self, request: pytest.FixtureRequest) -> Room:
        if request.param == "embedder":
            return Room(embedder=Picky())
        room = Room()
        room.index.refuses = "refused"
        return room

    def rounds(self, room: Room, count: int) -> int:
        """Go through rounds, their pauses over; how many ended in an outage."""
        outages = 0
        for _ in range(count):
            try:
                room.encoder()
            except BiemError:
                outages += 1
            room.outbox.pass_time()
        return outages

    def test_a_row_that_a_server_refuses_keeps_no_other_waiting(self, picky: Room) -> None:
        # Given a row that the server never takes, among others
        early = [picky.outbox.add(f"text {n}") for n in range(5)]
        refused = picky.outbox.add("refused")

        # When the work goes on, and more comes in
        outages = self.rounds(picky, 12)
        late = [picky.outbox.add(f"more {n}") for n in range(5)]
        outages += self.rounds(picky, 12)

        # Then all others are indexed, and the worker stopped for it only while it might have been an outage
        assert picky.indexed == sorted(early + late)
        assert outages == 2

        # And the row is kept with its reason, blamed for nothing
        row = picky.outbox.row(refused)
        assert row.dead == ""
        assert row.job.attempts == 1
        assert row.reason in ("the server does not take this", "500")

        # And when the server takes it after all, it is indexed
        picky.index.refuses, picky.embedder = "", WordEmbedder()
        picky.rebuild()
        self.rounds(picky, 2)
        assert refused in picky.indexed

    def test_what_shared_a_batch_with_a_suspect_is_due_at_once_and_blamed_for_nothing(self, picky: Room) -> None:
        # Given a row that was refused again and again, and one that came in next to it
        picky.outbox.add("refused", claims=2)
        innocent = picky.outbox.add("text")

        # When a round meets both / Then the other waits for nothing, no lease either, and has its attempt back
        picky.encoder()
        row = picky.outbox.row(innocent)
        assert (row.leased, row.waits_s, row.job.attempts) == (False, 0.0, 0)

    def test_the_longer_it_is_refused_the_more_seldom_it_is_tried(self, picky: Room) -> None:
        # Given a row that the server never takes / When it is tried again and again
        picky.outbox.add("refused")
        waits = []
        for _ in range(12):
            with contextlib.suppress(BiemError):
                picky.encoder()
            waits.append(next(iter(picky.outbox.rows.values())).waits_s)
            picky.outbox.pass_time()

        # Then two rounds look like an outage; the third tries it alone at once and doubles its pause for each claim
        assert waits[:3] == [POLICY.backoff_s, POLICY.backoff_s, POLICY.backoff_s * 2**4]

        # And each pause is at least the one before, up to the longest
        alone = waits[3:]
        assert alone[-1] == POLICY.backoff_max_s

    def test_rows_that_met_a_long_outage_come_back_together(self, room: Room) -> None:
        # Given rows that met many outages
        ids = [room.outbox.add(f"text {n}") for n in range(10)]
        room.index.fails_before = StoreUnavailable("down")
        assert self.rounds(room, 9) == 9

        # When the server is back / Then one round does them all
        room.index.fails_before = None
        assert room.encoder() == 10
        assert room.indexed == sorted(ids)


class TestErased:
    def test_a_memory_erased_before_its_turn_is_just_done(self, room: Room) -> None:
        # Given a job whose memory is gone, next to another
        gone, kept = room.outbox.add("gone"), room.outbox.add("kept")
        room.outbox.erased = {gone}

        # When the round is done / Then its text reached no one
        room.encoder()
        assert room.embedder.calls == [["kept"]]
        assert room.indexed == [kept]
        assert room.outbox.left == []
        assert room.outbox.claims == [2]  # and the other was not tried again

    def test_a_memory_erased_while_it_was_encoded_leaves_no_row_in_the_index(self, room: Room) -> None:
        # Given a memory that is erased between index and completion
        memory_id = room.outbox.add("text")
        insert = room.index.insert

        def erase_meanwhile(entries: Sequence[Entry], *, again: bool) -> None:
            insert(entries, again=again)
            room.outbox.erased = {memory_id}

        room.index.insert = erase_meanwhile  # type: ignore[method-assign]

        # When the round is done / Then its row is gone
        room.encoder()
        assert room.index.rows == []
        assert room.outbox.completed == []

    @pytest.mark.req("X16", partly="purge jobs")
    def test_purges_remove_rows_and_are_done(self, room: Room) -> None:
        # Given purges next to other work
        purged = [room.outbox.add("", task="purge") for _ in range(3)]
        kept = room.outbox.add("kept")

        # When the round is done / Then both kinds are
        room.encoder()
        assert room.index.purged == purged
        assert room.indexed == [kept]
        assert room.outbox.left == []

    def test_purges_wait_for_an_index_that_is_down_however_long(self, room: Room) -> None:
        # Given a purge and no index
        purge = room.outbox.add("", task="purge")
        room.index.fails_before = StoreUnavailable("down")
        for _ in range(3 * POLICY.max_attempts):
            with pytest.raises(BiemError):
                room.encoder()
            room.outbox.pass_time()

        # When it is back / Then the purge is done
        room.index.fails_before = None
        room.work()
        assert room.index.purged == [purge]

    def test_a_purge_that_breaks_the_code_is_given_back_with_its_reason(self, room: Room) -> None:
        # Given a purge that meets a mistake
        memory_id = room.outbox.add("", task="purge")
        room.index.fails_before = ValueError("a mistake")

        # When the round is done / Then the worker lives, and the purge is kept with its reason
        assert room.encoder() == 1
        assert "a mistake" in room.outbox.row(memory_id).reason

    def test_a_purge_whose_workers_died_is_not_given_up(self, room: Room) -> None:
        # Given a purge that many workers left unfinished
        purge = room.outbox.add("", task="purge", attempts=POLICY.max_attempts, claims=POLICY.max_attempts)

        # When it is claimed once more / Then it is done: what was erased must go
        room.encoder()
        assert room.index.purged == [purge]
        assert room.outbox.rows == {}


@pytest.mark.req("X9", partly="the cache's keys")
def test_vectors_are_kept_by_the_hash_of_what_was_embedded(room: Room) -> None:
    # Given a text / When it is embedded / Then its key is its SHA-256 under the model's name
    room.encoder.vectors(["爱"])
    assert set(room.outbox.cache) == {(room.embedder.info.id, sha256("爱"))}


def test_of_a_text_of_several_statements_the_vector_of_each_is_kept_too(room: Room) -> None:
    # Given a short text, and a list / When they are embedded / Then the list has a vector for each of its items
    items = [
        "the boiler was repaired and costs 310",
        "Ann pays the rent from June",
        "the twins swim on Thursdays at five",
    ]
    notes = "\n".join(f"- {item}" for item in (*items, *(f"item {number} is in box {number}" for number in range(40))))
    room.encoder.vectors(["short", notes])
    assert set(room.outbox.parts) == {sha256(notes)}
    kept = room.outbox.parts[sha256(notes)]
    assert len(kept) == 43
    assert np.allclose(kept[:3], WordEmbedder().embed(items, "passage"))
    assert max(len(call) for call in room.embedder.calls) <= POLICY.batch


class TestForming:
    @pytest.mark.req(
        "B23",
        partly="with stand-ins: links are written before the memory is active, and again after a failure",
    )
    @pytest.mark.req("B41", "B42", partly="the order of steps")
    def test_a_memory_is_related_before_it_is_active_and_settled_after(self, room: Room) -> None:
        # Given a text, and links that fail once
        memory_id = room.outbox.add("a text")
        room.forming.failure = StoreUnavailable("down")

        # When the worker meets the outage
        with pytest.raises(StoreUnavailable):
            room.encoder()

        # Then the memory is neither indexed nor active, and the row not to blame
        assert room.outbox.completed == room.forming.settled == room.indexed == []
        assert room.outbox.row(memory_id).job.attempts == 0

        # When it is over / Then the memory was related, then active, then settled
        room.forming.failure = None
        room.work()
        assert room.forming.related == room.outbox.completed == room.forming.settled == [memory_id]

    def test_what_came_with_its_conflicts_and_links_is_only_indexed(self, room: Room) -> None:
        fresh, known = (room.outbox.add(f"text {number}") for number in range(2))
        row = room.outbox.row(known)
        row.job = dataclasses.replace(row.job, known=True)
        room.encoder()
        assert (room.forming.related, room.forming.noted) == ([fresh], [known])
        assert room.outbox.completed == room.forming.settled == [fresh, known]

    def test_what_was_erased_or_overtaken_meanwhile_is_not_settled(self, room: Room) -> None:
        # Given three texts, of which one is erased and one completed by another process while they are encoded
        kept, erased, overtaken = (room.outbox.add(f"text {number}") for number in range(3))
        room.outbox.overtaken.add(overtaken)
        original = room.forming.relate

        def relate(memories: Sequence[tuple[Node, Vector]]) -> None:
            original(memories)
            room.outbox.erased.add(erased)

        room.forming.relate = relate  # type: ignore[method-assign]

        # When the worker is done / Then only the other one has a place in the canvas, and the erased none in the index
        room.encoder()
        assert room.forming.settled == [kept]
        assert room.indexed == sorted([kept, overtaken])

    def test_what_was_revised_while_it_was_encoded_is_looked_at_again_and_nothing_else(self, room: Room) -> None:
        kept, revised = (room.outbox.add(f"text {number}") for number in range(2))
        room.outbox.revised.add(revised)
        room.encoder()
        assert room.forming.settled == [kept]
        assert room.outdated == [[(revised, 1)]]

    @pytest.mark.req("X16", partly="HotKV, canvas and index, by jobs")
    def test_jobs_of_the_archived_and_of_the_erased_clear_the_projections(self, room: Room) -> None:
        # Given a job of each kind
        archived, erased = room.outbox.add("gone", "archive"), room.outbox.add("destroyed", "purge")

        # When the worker runs / Then one was cleared by the lifecycle and the other left every projection
        room.encoder()
        assert room.cleared == [archived]
        assert room.left == room.hot.purged == room.index.purged == [erased]


class TestLease:
    def test_a_renewal_that_fails_is_tried_again_and_none_comes_after_the_end(self) -> None:
        # Given an outbox that refuses the first renewal
        room = Outbox()
        room.add("a text")
        renewals: list[BiemError | None] = []
        enough = threading.Event()

        def renew(jobs: Sequence[Job], lease_s: float) -> list[Job]:
            renewals.append(StoreUnavailable("a blink") if not renewals else None)
            if len(renewals) == 3:
                enough.set()
            if renewals[-1] is not None:
                raise renewals[-1]
            return list(jobs)

        room.renew = renew  # type: ignore[method-assign]

        # When a step takes long / Then it is renewed again, and no more once the step is over
        with kept(cast(Records, room), [row.job for row in room.rows.values()], 0.01):
            assert enough.wait(60)
        done = len(renewals)
        assert not any(thread.name == "biem-lease" for thread in threading.enumerate())
        assert len(renewals) == done


def test_a_program_that_ends_in_the_middle_of_a_batch_gives_it_back_uncharged(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given two rows that are being encoded while the main thread ends, which breaks all that is under way
    ids = [room.outbox.add("left"), room.outbox.add("behind")]
    monkeypatch.setattr(threading, "main_thread", lambda: threading.Thread())
    room.embedder.failure = RuntimeError("cannot schedule new futures after shutdown")

    # When the round ends / Then both wait as if no worker had tried, and say why
    room.encoder()
    rows = [row for row in room.outbox.rows.values() if row.job.memory_id in ids]
    assert [(row.job.attempts, row.leased, row.waits_s) for row in rows] == [(0, False, 0.0)] * 2
    assert {row.reason for row in rows} == {"the program ended while it was being encoded"}
