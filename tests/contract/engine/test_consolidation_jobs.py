"""Dedupe, merge, crystallise and feedback on a real PostgreSQL, killed at every statement, and three at once.

The vector index is a list and the embedder counts words; all that is written is written for real.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, cast

import numpy as np
import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.postgres.consolidation import PostgresConsolidations
from biem.adapters.postgres.database import Database, PooledConnection
from biem.adapters.postgres.life import PostgresFeedbacks
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.locks import PostgresExclusive
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.conflict import Conflict, Matter, Statement, Verdict
from biem.domain.link import NewLink
from biem.domain.node import Node
from biem.domain.policies.jobs import ConsolidationPolicy, FeedbackPolicy
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.engine.life.feedback import Feedback
from biem.engine.sleep.consolidate import Consolidator
from biem.engine.sleep.crystallise import Crystalliser
from biem.engine.sleep.integrity import Integrity
from biem.engine.sleep.jobs import BackgroundJob, JobRunner
from biem.engine.sleep.relink import LinkTransfer
from biem.engine.sleep.similar import Neighbourhood
from biem.ports import Encoded, VectorIndex, Vectors
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry
from tests.contract.conftest import Admin, claim_all, in_scope, write
from tests.support.effort import places
from tests.support.fakes import START, HeldClock, WordEmbedder

ANALYZER = RuleAnalyzer()
RUNS = (
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex",
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex happily",
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex again",
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex alone",
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex slowly",
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex quietly",
)
"""Alike (0.9 and more by words), yet not the same."""


class Killed(BaseException):
    """As if the process had ended here."""


class Mortal(Database):
    """A database whose process dies before its n-th statement."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, pool_size=4, retry_s=5.0)
        self.left: int | None = None

    @contextmanager
    def connection(self, *, patient: bool = False, in_steps: bool = False) -> Iterator[PooledConnection]:
        with super().connection(patient=patient, in_steps=in_steps) as connection:
            yield cast(PooledConnection, _Watched(connection, self))


class _Watched:
    """A connection whose statements are counted."""

    def __init__(self, connection: PooledConnection, life: Mortal) -> None:
        self._connection = connection
        self._life = life

    def execute(self, *arguments: Any, **options: Any) -> Any:
        self._count()
        return self._connection.execute(*arguments, **options)

    def send(self, *statements: Any, **options: Any) -> Any:
        self._count()
        return self._connection.send(*statements, **options)

    def _count(self) -> None:
        if self._life.left is not None:
            self._life.left -= 1
            if self._life.left <= 0:
                raise Killed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Flat:
    """The searching half of the port `VectorIndex`: a list."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[Scope, np.ndarray[Any, Any]]] = {}
        self.failure: Exception | None = None
        self.blind = False

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        if self.failure is not None:
            raise self.failure
        mine = {} if self.blind else {key: vector for key, (home, vector) in self.rows.items() if home == scope}
        found = []
        for vector in vectors:
            scores = sorted(((float(vector @ other), key) for key, other in mine.items()), reverse=True)[:limit]
            found.append({key: score for score, key in scores})
        return found


class Rules:
    """The port `ContradictionRules`: knows negation, and one word for another."""

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        if ("never" in older.text) != ("never" in newer.text):
            return Verdict("contradiction", 0.9, "test")
        if {"works", "employed"} <= {*older.text.split(), *newer.text.split()}:
            return Verdict("duplicate", 0.9, "test")
        return Verdict("contradiction", 0.4, "suspicion")

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        return None

    def claims(self, statement: Statement) -> Sequence[str]:
        return ()

    def rivals(self, older: Statement, newer: Statement) -> bool:
        return False

    def matter(self, text: str) -> Matter:
        return Matter()


class Recorded:
    """The finding half of the port `Conflicts`."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str, float]] = []

    def find(
        self, scope: Scope, status: str | None, kinds: Sequence[str], limit: int, memory_id: str | None = None
    ) -> list[Conflict]:
        assert (status, tuple(kinds)) == ("pending", ("duplicate",))
        return [
            Conflict(
                id=f"{one}{two}",
                kind="duplicate",
                older_id=one,
                newer_id=two,
                older_text="",
                newer_text="",
                confidence=confidence,
                rule="test",
                created_at=START,
            )
            for one, two, confidence in self.pairs[:limit]
        ]


class Model:
    """The consolidating half of the port `Reasoner`."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[list[str]] = []

    def merge(self, scope: Scope, texts: Sequence[str]) -> str | None:
        self.asked.append(list(texts))
        return self.answer

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        self.asked.append(list(texts))
        return self.answer


class Night:
    """One process that consolidates, with its own clock, index and embedder."""

    def __init__(self, database: Database, scope: Scope, *, model: str | None = None, **policy: Any) -> None:
        self.scope = scope
        self.database = database
        self.clock = HeldClock()
        self.embedder = WordEmbedder(dim=512)
        self.index = Flat()
        self.recorded = Recorded()
        self.reasoner = Model(model)
        self.changed: list[str] = []
        self.records = PostgresRecords(database, clock=self.clock, decay_per_hour=0.1, model=self.embedder.info.id)
        self.store = PostgresConsolidations(
            database, write_row=self.records.write_row, clock=self.clock, decay_per_hour=0.1
        )
        self.links = PostgresLinks(database)
        self.policy = ConsolidationPolicy(**policy)
        neighbourhood = Neighbourhood(
            records=self.records, index=cast(VectorIndex, self.index), embedder=self.embedder, k=self.policy.neighbours
        )
        reasoner = cast(Reasoner, self.reasoner) if model is not None else None
        self.succession = LinkTransfer(
            consolidations=self.store,
            links=self.links,
            changed=lambda _, ids: self.changed.extend(ids),
            clock=self.clock,
            limit=100,
        )
        self.consolidator = Consolidator(
            consolidations=self.store,
            neighbourhood=neighbourhood,
            succession=self.succession,
            analyzer=ANALYZER,
            rules=Rules(),
            duplicates=self.recorded,
            reasoner=reasoner,
            clock=self.clock,
            policy=self.policy,
            telemetry=Telemetry(),
        )
        self.crystalliser = Crystalliser(
            records=self.records,
            consolidations=self.store,
            neighbourhood=neighbourhood,
            analyzer=ANALYZER,
            reasoner=reasoner,
            succession=self.succession,
            clock=self.clock,
            policy=self.policy,
            telemetry=Telemetry(),
        )
        self.feedback = Feedback(
            records=self.records,
            feedbacks=PostgresFeedbacks(database, clock=self.clock, decay_per_hour=0.1),
            links=self.links,
            touched=lambda *_: None,
            clock=self.clock,
            policy=FeedbackPolicy(),
            telemetry=Telemetry(),
        )
        self.integrity = Integrity(
            links=self.links,
            checks=[lambda home: {"relinked": self.succession.catch_up(home)}],
            clock=self.clock,
            limit=100,
        )

    def learn(self, *texts: str, **details: Any) -> list[str]:
        """Remember and index."""
        details.setdefault("kind", "knowledge")
        ids = [
            item.id
            for item in self.records.remember(
                self.scope, [write(text, lexemes=" ".join(ANALYZER.lexemes(text)), **details) for text in texts]
            )
        ]
        self.encode()
        return ids

    def encode(self) -> None:
        """What the worker does."""
        jobs = [job for job in claim_all(self.records) if job.node is not None and job.task == "encode"]
        texts = [job.node.indexed_text for job in jobs if job.node is not None]
        vectors = self.embedder.embed(texts, "passage")
        self.records.save_vectors(
            self.embedder.info.id, {sha256(text): vector for text, vector in zip(texts, vectors, strict=True)}
        )
        for job, vector in zip(jobs, vectors, strict=True):
            assert job.node is not None
            self.index.rows[job.memory_id] = (job.node.scope, vector)
        self.records.complete([Encoded(job, ANALYZER.analyze(job.node.indexed_text)) for job in jobs if job.node])

    def use(self, ids: Sequence[str], times: int = 3) -> None:
        for _ in range(times):
            self.clock.advance(minutes=2)
            self.records.touch(self.scope, ids, self.clock.now())

    def node(self, memory_id: str) -> Node:
        found = self.records.get(self.scope, memory_id)
        assert found is not None
        return found

    def statuses(self, ids: Sequence[str]) -> list[str]:
        return [self.node(key).status for key in ids]

    def successor(self, memory_id: str) -> str:
        """The living memory that stands for this one now: itself, or what replaced it."""
        node = self.node(memory_id)
        while node.superseded_by is not None:
            assert node.status == "archived"
            node = self.node(node.superseded_by)
        assert node.status in ("active", "pending")
        return node.id

    def all_jobs(self) -> list[Callable[[Scope], Mapping[str, int]]]:
        return [self.consolidator.dedupe, self.consolidator.merge, self.crystalliser.crystallise, self.integrity.mend]


@pytest.fixture
def night(pool: Database, scope: Scope, admin: Admin) -> Night:
    """A process of the test's own scope; the outbox is empty."""
    admin.execute("DELETE FROM outbox")
    return Night(pool, scope)


def state(admin: Admin, scope: Scope) -> list[tuple[Any, ...]]:
    """Every row of the scope that consolidation may change, with the transaction that wrote it."""
    tables = ("memories", "derivations", "crystal_facts", "crystal_links", "outbox", "consolidation_queue", "scopes")
    return [
        row
        for table in tables
        for row in admin.execute(
            f"SELECT '{table}', xmin::text, t::text FROM {table} t WHERE ns = %s ORDER BY 3".encode(), (scope.ns,)
        ).fetchall()
    ]


def assert_whole(night: Night, admin: Admin) -> None:
    """Nothing dangles, nothing is doubled, every archived memory says what stands for it."""
    scope = night.scope
    assert night.store.unlinked(scope, 10) == []
    assert night.links.dangling(scope, 10) == []
    rows = admin.execute(
        "SELECT m.id::text, m.status, h.status, h.ns = m.ns FROM memories m LEFT JOIN memories h"
        " ON h.id = m.superseded_by WHERE m.ns = %s",
        (scope.ns,),
    ).fetchall()
    for _, status, _, same in rows:
        assert (status == "archived") == (same is True)
    orphans = admin.execute(
        "SELECT count(*) FROM crystal_facts f LEFT JOIN memories m ON m.id = f.id WHERE f.ns = %s AND m.id IS NULL",
        (scope.ns,),
    ).fetchone()
    assert orphans == (0,)


# -- dedupe -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("H12", "G23", partly="for memories, without a model")
def test_of_duplicates_the_richest_stays_and_what_differs_is_untouched(night: Night, admin: Admin) -> None:
    # Given one fact told three times, with links, and two others
    rich, poor, poorer = night.learn(
        "Li Ming runs 5 km along the river every morning, before work!",
        "Li Ming runs 5 km along the river every morning, before work",
        "Li Ming runs 5 km along the river every morning before work",
    )
    other, number = night.learn(
        "Zhang Wei plays the violin", "Li Ming runs 6 km along the river every morning before work"
    )
    night.links.connect(night.scope, [NewLink(poor, other, "semantic", 0.8, 8)], START)
    night.use([poor], 2)
    # When duplicates are looked for
    changes = night.consolidator.dedupe(night.scope)
    # Then the richest text stands for all three
    assert changes["archived"] == 2
    assert night.statuses([rich, poor, poorer]) == ["active", "archived", "archived"]
    assert night.node(rich).access_count == 2
    assert {poor, poorer} <= set(night.changed)
    # And it took over the link
    [link] = night.links.of(night.scope, rich)
    assert {link.source, link.target} == {rich, other}
    # And what has another number, or is about something else, is as it was
    assert night.statuses([other, number]) == ["active", "active"]
    assert_whole(night, admin)


def test_duplicates_in_chinese(night: Night) -> None:
    # Given a Chinese fact told twice, and once with another number
    rich, poor, other = night.learn("林晓每天早上跑五公里！", "林晓每天早上跑五公里", "林晓每天早上跑六公里")
    # When duplicates are looked for, Then only what says the same is one
    night.consolidator.dedupe(night.scope)
    assert night.statuses([rich, poor, other]) == ["active", "archived", "active"]


@pytest.mark.parametrize(
    "details",
    [{"kind": "event"}, {"speaker": "differs"}],
    ids=["messages", "different speakers"],
)
def test_messages_and_what_different_people_say_stay_as_they_are(night: Night, details: dict[str, str]) -> None:
    # Given the same words twice
    [one] = night.learn("I like green tea!", speaker="Ann", kind=details.get("kind", "knowledge"))
    speaker = "Bob" if "speaker" in details else "Ann"
    [two] = night.learn("I like green tea", speaker=speaker, kind=details.get("kind", "knowledge"))
    # When duplicates are looked for, Then both stay
    assert night.consolidator.dedupe(night.scope)["archived"] == 0
    assert night.statuses([one, two]) == ["active", "active"]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (
            "Li Ming eats fresh peanuts from the old market in town",
            "Li Ming never eats fresh peanuts from the old market in town",
            False,
        ),
        ("Tom told Mary the old secret", "Mary told Tom the old secret", False),
        ("Water the lemon tree twice a week", "Water the olive tree twice a week", False),
        ("Ann works at the old mill", "Ann is employed at the old mill", True),
    ],
    ids=["a rule sees them disagree", "another order", "another word", "a rule sees them agree"],
)
def test_alike_is_not_enough_to_be_a_duplicate(
    pool: Database, scope: Scope, admin: Admin, one: str, two: str, same: bool
) -> None:
    # Given two texts that are alike to the embedder
    admin.execute("DELETE FROM outbox")
    night = Night(pool, scope, dedupe_similarity=0.6)
    ids = night.learn(one, two)
    # When duplicates are looked for, Then the words and the rules decide
    assert night.consolidator.dedupe(scope)["archived"] == int(same)
    assert night.statuses(ids).count("archived") == int(same)


def test_what_a_rule_sees_disagree_does_not_merge(night: Night) -> None:
    # Given two long-term memories that contradict each other
    ids = night.learn(RUNS[0], RUNS[0].replace("runs", "never runs"), layer="long_term")
    # When they would merge, Then both stay
    assert night.consolidator.merge(night.scope)["archived"] == 0
    assert night.statuses(ids) == ["active", "active"]


def test_recorded_duplicates_are_archived_when_sure_enough(night: Night) -> None:
    # Given pairs that were recognised when they were encoded, sure and not
    sure = night.learn("He lives in Rome with his family", "His home is Rome")
    unsure = night.learn("She sings", "She is a singer")
    night.recorded.pairs = [(*sure, 0.9), (*unsure, 0.6)]  # type: ignore[list-item]
    # When duplicates are looked for
    assert night.consolidator.dedupe(night.scope)["archived"] == 1
    # Then only the sure pair is one
    assert night.statuses(sure) == ["active", "archived"]
    assert night.statuses(unsure) == ["active", "active"]


def test_two_that_the_index_does_not_show_yet_find_each_other(night: Night) -> None:
    # Given an index that lags behind
    night.index.blind = True
    ids = night.learn("The parcel locker opens with code 7714!", "the parcel locker opens with code 7714")
    # When duplicates are looked for, Then they are found in the batch itself
    assert night.consolidator.dedupe(night.scope)["archived"] == 1
    assert sorted(night.statuses(ids)) == ["active", "archived"]


def test_while_the_index_is_down_nothing_is_lost_or_forgotten(night: Night) -> None:
    # Given duplicates, and an index that is down
    ids = night.learn("The office opens at nine!", "the office opens at nine")
    night.index.failure = RuntimeError("down")
    with pytest.raises(RuntimeError):
        night.consolidator.dedupe(night.scope)
    # When it is back, Then the next run finds them
    night.index.failure = None
    assert night.consolidator.dedupe(night.scope)["archived"] == 1
    assert sorted(night.statuses(ids)) == ["active", "archived"]


def test_a_run_is_bounded_and_the_next_goes_on(pool: Database, scope: Scope, admin: Admin) -> None:
    # Given eight facts and runs of two steps of two
    small = Night(pool, scope, batch=2, batches=2)
    small.learn(*[f"fact number {number} about {chr(97 + number) * 5}" for number in range(8)])
    left = []
    # When it runs
    for _ in range(3):
        small.consolidator.dedupe(scope)
        left.append(len(small.store.waiting(scope, "dedupe", 100)))
    # Then each run looks at four
    assert left == [4, 0, 0]


# -- merge ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("M53", "X34")
def test_long_term_memories_that_are_alike_become_one_that_keeps_them(night: Night, admin: Admin) -> None:
    # Given three long-term memories that are alike, linked to a friend, and one of short term
    ids = night.learn(*RUNS[:3], layer="long_term", tags=("sport",))
    [short] = night.learn(RUNS[4])
    [friend] = night.learn("Rex is a brown labrador from Bergen")
    night.links.connect(night.scope, [NewLink(key, friend, "semantic", 0.8, 8) for key in ids], START)
    # When they merge
    changes = night.consolidator.merge(night.scope)
    # Then one memory stands for the three; the short-term one is as it was
    assert changes["archived"] == 3
    assert night.statuses([*ids, short]) == ["archived"] * 3 + ["active"]
    [heir] = {night.node(key).superseded_by for key in ids}
    assert heir is not None
    merged = night.node(heir)
    assert (merged.layer, merged.tags, merged.status) == ("long_term", ("sport",), "pending")
    assert sorted(merged.metadata["merged_from"]) == sorted(ids)
    assert "every single morning" in merged.text
    # And its links are theirs, and none dangles
    [link] = night.links.of(night.scope, heir)
    assert {link.source, link.target} == {heir, friend}
    assert_whole(night, admin)
    # And it is indexed like any memory
    night.encode()
    assert night.node(heir).status == "active"
    assert heir in night.index.rows
    # And nothing is left to merge
    assert night.consolidator.merge(night.scope)["archived"] == 0


@pytest.mark.req("M53", "C21", partly="merge by a model, and without")
@pytest.mark.parametrize(
    ("answer", "used"),
    [
        ("Li Ming runs along the old river every morning with his dog Rex.", True),
        ("Somebody runs.", False),  # lost a name
        ("", False),
        ("Li Ming and Rex run. " * 60, False),  # not concise
        ("Li Ming and Rex\0", False),
    ],
    ids=["good", "loses a name", "empty", "too long", "broken"],
)
def test_a_models_merge_is_used_when_it_loses_nothing(
    pool: Database, scope: Scope, admin: Admin, answer: str, used: bool
) -> None:
    # Given a model and memories that are alike
    admin.execute("DELETE FROM outbox")
    night = Night(pool, scope, model=answer)
    ids = night.learn(*RUNS[1:3], layer="long_term")
    # When they merge
    night.consolidator.merge(scope)
    # Then its text is taken if it is good, else the richest text with what the other adds
    [heir] = {night.node(key).superseded_by for key in ids}
    assert heir is not None
    assert night.reasoner.asked == [list(RUNS[1:3])]
    assert (night.node(heir).text == answer) is used
    assert "Rex" in night.node(heir).text


@pytest.mark.parametrize("first", ["dedupe", "merge"])
def test_equivalent_memories_become_one_with_either_job_first(
    pool: Database, scope: Scope, admin: Admin, first: str
) -> None:
    # Given long-term facts of which the last says all that the others say, and a model
    admin.execute("DELETE FROM outbox")
    night = Night(pool, scope, model="Ferns love shade.")
    *others, rich = night.learn("Ferns love deep shade", "ferns love deep shade", "Ferns love deep shade!")
    night.use([*others, rich], 5)
    jobs = [night.consolidator.dedupe, night.consolidator.merge]
    # When the night comes in one order or in the other
    for job in jobs if first == "dedupe" else reversed(jobs):
        job(scope)
    # Then the richest stands for all, no new text was made, and no model was asked for one
    assert night.statuses([*others, rich]) == ["archived", "archived", "active"]
    assert {night.node(key).superseded_by for key in others} == {rich}
    assert in_scope(admin, "memories", scope) == 3
    assert night.reasoner.asked == []
    assert night.node(rich).access_count == 15
    assert_whole(night, admin)


def test_while_another_connection_dedupes_a_merge_takes_no_pair_apart(
    database: str, pool: Database, scope: Scope
) -> None:
    # Given a pair that says the same, used until both are long-term, while another connection holds that job
    night = Night(pool, scope)
    poor, rich = night.learn("Ferns love deep shade", "Ferns love deep shade!")
    night.use([poor, rich], 5)
    mine, theirs = PostgresExclusive(database), PostgresExclusive(database)
    sleeper = JobRunner(
        [BackgroundJob(str(number), run) for number, run in enumerate(night.all_jobs())],
        exclusive=mine,
        clock=night.clock,
        telemetry=Telemetry(),
    )
    try:
        # When this one goes on to merge before the other one has come to the pair
        with theirs.hold(scope, "0") as granted:
            report = sleeper.sleep(scope)
        # Then one of the two is the memory, as it would be with the other order
        assert granted
        assert [(job.name, job.reason) for job in report.failed] == [("0", "it runs already")]
        assert night.statuses([poor, rich]) == ["archived", "active"]
        # And the other one finds nothing left to do
        assert night.consolidator.dedupe(scope)["archived"] == 0
        assert night.statuses([poor, rich]) == ["archived", "active"]
    finally:
        mine.close()
        theirs.close()


def test_a_chain_of_neighbours_is_not_one_memory(pool: Database, scope: Scope, admin: Admin) -> None:
    # Given three texts of which the middle one is like both others, which are not like each other
    admin.execute("DELETE FROM outbox")
    night = Night(pool, scope, merge_similarity=0.7)
    ends_middle = ["a b c d e f", "a b c d g h", "a b i j g h"]
    left, middle, right = night.learn(*ends_middle, layer="long_term")
    # When they merge, Then at most two do
    assert night.consolidator.merge(scope)["archived"] in (0, 2)
    assert "active" in night.statuses([left, middle, right])


# -- crystallise ------------------------------------------------------------------------------------------------------


@pytest.mark.req("B28", "B51", "X14", partly="without recall")
def test_four_make_no_fact_five_make_one_and_ten_runs_no_more(night: Night, admin: Admin) -> None:
    # Given four memories used often, and a fifth that is not
    ids = night.learn(*RUNS[:5], kind="event", speaker="Ann", conversation="c")
    night.use(ids[:4])
    # When the night comes
    assert night.crystalliser.crystallise(night.scope)["facts"] == 0
    assert night.store.facts(night.scope, 10) == []
    # And the fifth is used often, too
    night.use(ids[4:])
    assert night.crystalliser.crystallise(night.scope)["facts"] == 1
    # Then there is one fact with all five sources, which live on
    [fact] = night.store.facts(night.scope, 10)
    assert fact.source_node_ids == tuple(sorted(ids))
    assert 0.85 <= fact.confidence <= 1.0
    assert 0 < len(fact.content) <= 400
    assert set(night.statuses(ids)) == {"active"}
    memory = night.node(fact.id)
    assert (memory.kind, memory.layer, memory.text) == ("knowledge", "long_term", fact.content)
    # And ten more runs, with more use of all, change nothing
    night.encode()
    before = in_scope(admin, "memories", night.scope)
    for _ in range(10):
        night.use([*ids, fact.id], 1)
        assert not any(night.crystalliser.crystallise(night.scope).values())
    assert in_scope(admin, "crystal_facts", night.scope) == 1
    assert in_scope(admin, "memories", night.scope) == before


def test_a_cluster_that_grows_has_one_current_fact(night: Night, admin: Admin) -> None:
    # Given a fact of five
    ids = night.learn(*RUNS[:5], kind="event")
    night.use(ids)
    night.crystalliser.crystallise(night.scope)
    night.encode()
    [old] = night.store.facts(night.scope, 10)
    # When a sixth of the kind is used often
    [sixth] = night.learn(RUNS[5], kind="event")
    night.use([sixth])
    assert night.crystalliser.crystallise(night.scope)["grown"] == 1
    # Then one fact of six is current; the old one is archived behind it
    [new] = night.store.facts(night.scope, 10)
    assert new.source_node_ids == tuple(sorted([*ids, sixth]))
    assert night.node(old.id).superseded_by == new.id
    # And nothing grows further
    night.encode()
    night.use([*ids, sixth], 1)
    assert not any(night.crystalliser.crystallise(night.scope).values())
    assert night.consolidator.dedupe(night.scope)["archived"] == 0
    assert_whole(night, admin)


def test_a_model_may_write_the_fact(pool: Database, scope: Scope, admin: Admin) -> None:
    # Given a model
    admin.execute("DELETE FROM outbox")
    night = Night(pool, scope, model="Li Ming is a runner.")
    night.use(night.learn(*RUNS[:5], kind="event"))
    # When a cluster crystallises, Then its summary is the fact
    night.crystalliser.crystallise(scope)
    assert [fact.content for fact in night.store.facts(scope, 10)] == ["Li Ming is a runner."]


@pytest.mark.parametrize("written", ["Li Ming\0 runs", "Li Ming \ud800", " ", "long " * 100])
def test_what_no_memory_can_hold_is_not_taken_from_a_model(
    pool: Database, scope: Scope, admin: Admin, written: str
) -> None:
    # Given a model that writes nonsense
    admin.execute("DELETE FROM outbox")
    night = Night(pool, scope, model=written)
    night.use(night.learn(*RUNS[:5], kind="event"))
    # When a cluster crystallises, Then the fact is made without it
    assert night.crystalliser.crystallise(scope)["facts"] == 1
    [fact] = night.store.facts(scope, 10)
    assert fact.content.startswith("Li Ming runs along the old river")


@pytest.mark.req("X14", "C16")
def test_two_owners_of_the_same_texts_have_a_fact_each(
    pool: Database, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given the same memories of two owners, in one index
    admin.execute("DELETE FROM outbox")
    mine, theirs = Night(pool, scope), Night(pool, other)
    theirs.index = mine.index
    facts = []
    for night in (mine, theirs):
        ids = night.learn(*RUNS[:5], kind="event")
        night.use(ids)
        # When each sleeps, ten times
        Night.all_jobs(night)
        rebuilt = Night(pool, night.scope)
        rebuilt.index.rows = mine.index.rows
        for _ in range(10):
            rebuilt.crystalliser.crystallise(night.scope)
        [fact] = night.store.facts(night.scope, 10)
        assert fact.source_node_ids == tuple(sorted(ids))
        facts.append(fact)
    # Then each has its own fact
    assert facts[0].id != facts[1].id


# -- feedback ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("G22")
@pytest.mark.req("G15", partly="the caller says which were useful")
def test_useful_memories_gain_a_use_energy_and_each_other(night: Night) -> None:
    # Given three recalled memories
    one, two, unused = night.learn("He was ill", "He stayed at home", "It rained", kind="event")
    night.records.touch(night.scope, [one, two, unused], night.clock.now())
    before = {key: night.node(key).energy for key in (one, two, unused)}
    # When two were useful, in two turns
    for turn in ("1", "2"):
        night.feedback.learn(night.scope, [one, two], turn=turn)
    # Then their counters rise, and that of the unused does not
    assert [night.node(key).useful_count for key in (one, two, unused)] == [2, 2, 0]
    assert [night.node(key).access_count for key in (one, two, unused)] == [1, 1, 1]
    assert night.node(one).energy == pytest.approx(min(1.0, before[one] + 0.2))
    assert night.node(unused).energy == pytest.approx(before[unused])
    # And their links grew by one a turn: along the cause, and in both directions by meaning
    strengths = {link.type: link.strength for link in night.links.of(night.scope, one)}
    assert strengths == {"causal": 2, "semantic": 2}


@pytest.mark.long
@pytest.mark.req("X35", "C19", partly="a loop of recalls and nothing else")
def test_a_thousand_recalls_in_a_minute_prove_nothing(night: Night) -> None:
    # Given a memory
    [key] = night.learn("It rained in Lisbon", kind="event")
    start = night.node(key).energy
    # When a loop recalls it a thousand times in a minute
    for _ in range(1000):
        night.clock.advance(seconds=0.059)
        night.records.touch(night.scope, [key], night.clock.now())
    # Then one boost is all it got, and no one called it useful
    looped = night.node(key)
    assert looped.access_count == 1000
    assert looped.useful_count == 0
    assert looped.energy <= start + 0.1


# -- killed at every statement ----------------------------------------------------------------------------------------


@pytest.fixture
def mortal(database: str) -> Iterator[Mortal]:
    """Connections of a process that will die."""
    opened = Mortal(database)
    yield opened
    opened.close()


def _prepare_duplicates(night: Night) -> None:
    ids = night.learn(
        "Ann lives in Rome with two cats!", "ann lives in rome with two cats", "Ann lives in Rome with two cats"
    )
    [friend] = night.learn("Rome is warm")
    night.links.connect(night.scope, [NewLink(key, friend, "semantic", 0.8, 8) for key in ids], START)
    night.use(ids, 1)


def _prepare_merge(night: Night) -> None:
    ids = night.learn(*RUNS[:3], layer="long_term")
    [friend] = night.learn("Rex is brown")
    night.links.connect(night.scope, [NewLink(key, friend, "semantic", 0.8, 8) for key in ids], START)
    night.use(ids, 1)


def _prepare_crystal(night: Night) -> None:
    night.use(night.learn(*RUNS[:5], kind="event"))


def _prepare_growth(night: Night) -> None:
    _prepare_crystal(night)
    night.crystalliser.crystallise(night.scope)
    night.encode()
    night.use(night.learn(RUNS[5], kind="event"))


def _end(night: Night, admin: Admin) -> list[tuple[Any, ...]]:
    """What a scope holds, apart from ids and times."""
    rows = admin.execute(
        "SELECT m.text, m.status, m.access_count, m.useful_count, m.layer, round(m.energy_anchor::numeric, 6),"
        " h.text, f.id IS NOT NULL, f.metadata ? 'superseded_by',"
        " (SELECT count(*) FROM derivations d WHERE d.memory_id = m.id),"
        " (SELECT sum(strength) FROM crystal_links l WHERE NOT l.deleted AND m.id::text IN (l.source_id, l.target_id))"
        " FROM memories m LEFT JOIN memories h ON h.id = m.superseded_by LEFT JOIN crystal_facts f ON f.id = m.id"
        " WHERE m.ns = %s",
        (night.scope.ns,),
    ).fetchall()
    return sorted(rows, key=str)


JOBS: dict[str, tuple[Callable[[Night], None], Callable[[Night], object]]] = {
    "dedupe": (_prepare_duplicates, lambda night: night.consolidator.dedupe(night.scope)),
    "merge": (_prepare_merge, lambda night: night.consolidator.merge(night.scope)),
    "crystallise": (_prepare_crystal, lambda night: night.crystalliser.crystallise(night.scope)),
    "growth": (_prepare_growth, lambda night: night.crystalliser.crystallise(night.scope)),
}


@pytest.mark.sized
@pytest.mark.req("X8", partly="consolidation")
@pytest.mark.parametrize("job", JOBS)
def test_killed_before_any_statement_the_next_run_ends_as_if_nothing_had_happened(
    mortal: Mortal, pool: Database, scope: Scope, admin: Admin, job: str
) -> None:
    prepare, run = JOBS[job]
    # Given how the job ends when no process dies
    admin.execute("DELETE FROM outbox")
    calm = Night(pool, Scope("contract", f"{scope.user} calm"))
    prepare(calm)
    run(calm)
    expected = _end(calm, admin)
    for statement in places(3):
        # When a process dies before its n-th statement
        night = Night(mortal, Scope("contract", f"{scope.user} {statement}"))
        prepare(night)
        mortal.left = statement
        died = False
        try:
            run(night)
        except Killed:
            died = True
        mortal.left = None
        # And the next night is whole
        run(night)
        # Then it ends the same, and all is whole
        assert _end(night, admin) == expected, f"killed before statement {statement}"
        assert_whole(night, admin)
        # And one more night changes nothing
        before = state(admin, night.scope)
        run(night)
        assert state(admin, night.scope) == before
        if not died:
            break
    assert statement > 8


@pytest.mark.req("X8", partly="feedback")
def test_feedback_killed_before_any_statement_and_repeated_counts_once(mortal: Mortal, scope: Scope) -> None:
    statement, killed = 0, True
    while killed:
        # Given two memories, and a process that dies before its n-th statement of feedback
        statement += 1
        night = Night(mortal, Scope("contract", f"{scope.user} {statement}"))
        one, two = night.learn("He was ill", "He stayed at home", kind="event")
        mortal.left = statement
        try:
            night.feedback.learn(night.scope, [one, two], turn="t")
            killed = False
        except Killed:
            pass
        mortal.left = None
        # When the caller repeats the turn
        night.feedback.learn(night.scope, [one, two], turn="t")
        # Then it counted once
        assert [night.node(key).useful_count for key in (one, two)] == [1, 1]
        assert {link.type: link.strength for link in night.links.of(night.scope, one)} == {"causal": 1, "semantic": 1}
    assert statement > 4


# -- three at once ----------------------------------------------------------------------------------------------------


UNLIKE = (
    "Apples ripen late",
    "Bridges cross wide rivers",
    "Copper conducts heat quickly",
    "Dolphins breathe air",
    "Elephants remember old paths",
    "Ferns love deep shade",
)


def test_a_pair_that_is_merged_before_it_is_deduplicated_is_one_memory_as_well(night: Night, admin: Admin) -> None:
    # Given a pair of long-term memories that say the same: one job keeps the richer, and so does the other
    one, two = night.learn("Copper conducts heat quickly", "Copper conducts heat quickly!")
    night.use([one, two], 12)
    # When the other job is first, as while a second worker still deduplicates
    night.consolidator.merge(night.scope)
    night.encode()
    night.consolidator.dedupe(night.scope)
    # Then one memory stands for both
    assert night.successor(one) == night.successor(two)
    assert night.statuses([one, two]) == ["archived", "active"]
    assert_whole(night, admin)


@pytest.mark.req("X38")
def test_three_sleepers_at_once_on_their_own_connections_end_as_one_would(
    database: str, scope: Scope, admin: Admin
) -> None:
    # Given memories to dedupe, merge and crystallise, with links
    admin.execute("DELETE FROM outbox")
    pools = [Database(database, pool_size=3, retry_s=10.0) for _ in range(3)]
    locks = [PostgresExclusive(database) for _ in range(3)]
    try:
        nights = [Night(pool, scope) for pool in pools]
        for night in nights[1:]:
            night.index.rows = nights[0].index.rows
        first = nights[0]
        # Unlike each other: used so much that they become long-term, facts that are alike would be merged, too
        same = first.learn(*[f"{text}{mark}" for text in UNLIKE for mark in ("", "!")])
        used = first.learn(*RUNS, kind="event")
        first.use(used)
        first.links.connect(
            scope, [NewLink(one, two, "semantic", 0.8, 8) for one in same for two in used], first.clock.now()
        )
        sleepers = [
            JobRunner(
                [BackgroundJob(str(number), run) for number, run in enumerate(night.all_jobs())],
                exclusive=lock,
                clock=night.clock,
                telemetry=Telemetry(),
            )
            for night, lock in zip(nights, locks, strict=True)
        ]
        start = threading.Barrier(3)

        def sleep(sleeper: JobRunner) -> list[str]:
            start.wait(60)
            reports = [sleeper.sleep(scope) for _ in range(3)]
            return [job.reason for report in reports for job in report.failed]

        # When all three sleep at once, while recalls and feedback go on
        with ThreadPoolExecutor(4) as threads:
            asleep = [threads.submit(sleep, sleeper) for sleeper in sleepers]
            for turn in range(10):
                first.records.touch(scope, [*used, *same], START + timedelta(hours=2, minutes=turn))
                first.feedback.learn(scope, used[:3], turn=str(turn))
            reasons = [reason for future in asleep for reason in future.result(60)]
        # Then nothing failed but what ran already
        assert set(reasons) <= {"it runs already"}
        sleepers[0].sleep(scope)
        # And each pair is one of the two, there is one fact of all six, and nothing dangles
        pairs = [(first.successor(one), first.successor(two)) for one, two in zip(same[::2], same[1::2], strict=True)]
        assert all(one == two for one, two in pairs)
        assert len({one for one, _ in pairs}) == 6
        assert sorted(first.statuses(same)) == ["active"] * 6 + ["archived"] * 6
        [fact] = first.store.facts(scope, 10)
        assert set(fact.source_node_ids) == set(used)
        assert_whole(first, admin)
        # And all feedback was counted
        assert [first.node(key).useful_count for key in used[:3]] == [10, 10, 10]
    finally:
        for lock in locks:
            lock.close()
        for pool in pools:
            pool.close()


# -- nothing to do ----------------------------------------------------------------------------------------------------


@pytest.mark.req("X14", "G16", partly="a second night")
def test_a_second_night_writes_no_row(night: Night, admin: Admin) -> None:
    # Given a scope that slept
    night.learn("Ann lives in Rome!", "ann lives in rome", "Bob sings")
    night.learn(*RUNS[:3], layer="long_term")
    night.use(night.learn(*RUNS[:5], kind="event"))
    for _ in range(2):  # what the first night made is indexed, and looked at in the second
        for job in night.all_jobs():
            job(night.scope)
        night.encode()
    for job in night.all_jobs():
        job(night.scope)
    before = state(admin, night.scope)
    # When it sleeps again, a year later
    night.clock.advance(days=365)
    changes = [job(night.scope) for job in night.all_jobs()]
    # Then nothing changed, and no row was written
    assert all(not any(change.values()) for change in changes)
    assert state(admin, night.scope) == before


@pytest.mark.parametrize("text", ["Ann sings", "林晓每天早上跑五公里。", "🙂", "。"])
def test_a_scope_of_one_memory_sleeps_well(night: Night, text: str) -> None:
    # Given one memory, used so often that every job looks at it / When it sleeps / Then it is as it was
    [key] = night.learn(text)
    night.use([key], 12)
    before = night.node(key)
    for job in night.all_jobs():
        assert not any(job(night.scope).values())
    assert night.node(key) == before


def test_chinese_memories_merge_and_crystallise(night: Night) -> None:
    # Given Chinese facts that are alike, some of them long-term, some used together
    habit = "李明 每天 早上 都 沿着 老河 和 他的 狗 一起 慢跑 "
    merged = night.learn(habit + "五圈", habit + "唱歌", layer="long_term", speaker="林晓")
    used = night.learn(*(habit + word for word in ("快乐", "安静", "独自", "下雨", "微笑")), kind="event")
    night.use(used)
    # When they sleep
    for job in night.all_jobs():
        job(night.scope)
    # Then one text says what both say, and the five are a fact
    kept = night.node(night.successor(merged[0]))
    assert night.successor(merged[1]) == kept.id
    assert {"五圈", "唱歌"} <= set(kept.text.split())
    [fact] = night.store.facts(night.scope, 10)
    assert set(fact.source_node_ids) == set(used)
    assert fact.content.startswith("李明")


def test_an_empty_scope_sleeps_well(night: Night) -> None:
    for job in night.all_jobs():
        assert not any(job(night.scope).values())
