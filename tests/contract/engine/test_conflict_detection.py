"""New memories against known ones, over the real rules and a real PostgreSQL."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from biem.adapters.contradiction import build
from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.conflict import Conflict
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.engine.conflicts.detect import ConflictChecker, Fresh
from biem.ports import Vectors
from biem.telemetry import Telemetry
from tests.contract.conftest import Admin, claim_all, encoded, write
from tests.contract.postgres.test_conflicts import everything, validity
from tests.support.fakes import START, HeldClock, WordEmbedder

RULES = build()


class Index:
    """The port `Neighbours`, as stale as told: it shows what was put in."""

    def __init__(self) -> None:
        self.shown: dict[str, list[str]] = {}

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        return [dict.fromkeys(self.shown.get(scope.ns, []), 0.9) for _ in vectors]


class Encoding:
    """What the encoder does with new memories, as far as conflicts care."""

    def __init__(self, records: PostgresRecords, conflicts: PostgresConflicts, embedder: WordEmbedder) -> None:
        self.records = records
        self.embedder = embedder
        self.index = Index()
        self.checker = ConflictChecker(
            conflicts=conflicts,
            neighbours=self.index,
            embedder=embedder,
            rules=RULES,
            clock=HeldClock(),
            policy=ConflictPolicy(),
            telemetry=Telemetry(),
            judged=False,
        )

    def remember(self, scope: Scope, *texts: str, at: datetime = START, **details: Any) -> list[str]:
        written = self.records.remember(scope, [write(text, at=at, **details) for text in texts])
        return [row.id for row in written]

    def check(self, scope: Scope, ids: Sequence[str]) -> Sequence[Conflict]:
        nodes = [node for key in ids if (node := self.records.get(scope, key)) is not None]
        vectors = self.embedder.embed([node.indexed_text for node in nodes], "passage")
        keyed = {sha256(node.indexed_text): vector for node, vector in zip(nodes, vectors, strict=True)}
        self.records.save_vectors(self.embedder.info.id, keyed)
        fresh = [Fresh(node, vector) for node, vector in zip(nodes, vectors, strict=True)]
        return self.checker.check(scope, fresh).conflicts


@pytest.fixture
def encoding(jobs: PostgresRecords, pool: Database) -> Encoding:
    embedder = WordEmbedder()
    return Encoding(jobs, PostgresConflicts(pool, model=embedder.info.id, purge_after_s=65.0), embedder)


@pytest.mark.req("B3", "C9", partly="the check itself; the worker's part is tested with the memory")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Li Ming lives in Beijing", "Li Ming moved to Shanghai"),
        ("林晓住在北京", "林晓现在搬到上海了"),
    ],
)
def test_a_fact_said_again_supersedes_the_old_one_and_an_unrelated_one_nothing(
    encoding: Encoding, scope: Scope, admin: Admin, older: str, newer: str
) -> None:
    # Given a fact, and another that has nothing to do with it
    old = encoding.remember(scope, older, "The kettle boils at 100 degrees")
    assert encoding.check(scope, old) == []

    # When news is encoded the next day
    new = encoding.remember(scope, newer, at=START + timedelta(days=1))
    [conflict] = encoding.check(scope, new)

    # Then the old fact ends, and the other one stays
    assert (conflict.older_id, conflict.newer_id, conflict.status) == (old[0], new[0], "resolved")
    assert conflict.superseded == (old[0],)
    assert validity(admin, *old) == [(START + timedelta(days=1), new[0]), (None, None)]


@pytest.mark.req("C9", partly="a rule alone retires no claim that stands")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ann lives in Berlin and owns a cat", "Ann moved to Paris"),
        ("小明住在北京，养了一只猫", "小明搬到上海了"),
    ],
)
def test_news_about_one_of_two_things_that_a_fact_says_waits_and_both_are_found(
    encoding: Encoding, scope: Scope, admin: Admin, older: str, newer: str
) -> None:
    # Given a fact that says two things
    old = encoding.remember(scope, older)
    encoding.check(scope, old)

    # When one of them changes
    new = encoding.remember(scope, newer, at=START + timedelta(days=1))
    [conflict] = encoding.check(scope, new)

    # Then the conflict is sure enough to act, and yet waits: the other thing is still so
    assert conflict.confidence >= ConflictPolicy().act_confidence
    assert (conflict.status, conflict.superseded) == ("pending", ())
    assert validity(admin, *old, *new) == [(None, None), (None, None)]


@pytest.mark.req("X14", partly="conflicts")
def test_two_owners_with_the_same_contradiction_have_a_conflict_each_and_none_between_them(
    encoding: Encoding, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given two owners, of whom one has news, and an index that mixes them up
    mine = encoding.remember(scope, "Li Ming lives in Beijing")
    theirs = encoding.remember(other, "Li Ming moved to Shanghai", at=START + timedelta(days=1))
    encoding.index.shown = {scope.ns: [*mine, *theirs], other.ns: [*mine, *theirs]}

    # When both are encoded
    assert encoding.check(scope, mine) == encoding.check(other, theirs) == []

    # Then nothing happened between them, and each has a conflict when it has both sides
    assert validity(admin, *mine, *theirs) == [(None, None), (None, None)]
    for owner, text, day in ((scope, "Li Ming moved to Shanghai", 2), (other, "Li Ming lives in Beijing", -2)):
        added = encoding.remember(owner, text, at=START + timedelta(days=day))
        assert len(encoding.check(owner, added)) == 1


@pytest.mark.req("X8", partly="encoding with conflicts")
def test_a_worker_that_died_before_it_completed_has_decided_and_the_next_one_finds_the_same(
    encoding: Encoding, scope: Scope, admin: Admin
) -> None:
    # Given a worker that checked a batch and died
    ids = encoding.remember(scope, "Li Ming lives in Beijing") + encoding.remember(
        scope, "Li Ming moved to Shanghai", at=START + timedelta(days=1)
    )
    [first] = encoding.check(scope, ids)
    before = everything(admin, scope)

    # When the next worker checks the same and completes it
    [second] = encoding.check(scope, ids)
    assert everything(admin, scope) == before
    encoding.records.complete(encoded(claim_all(encoding.records)))

    # Then the decision is the same, and the memories are active
    assert second == first
    assert [node.status for key in ids if (node := encoding.records.get(scope, key))] == ["active", "active"]
    assert validity(admin, ids[0]) == [(START + timedelta(days=1), ids[1])]


@pytest.mark.req("X38", partly="two workers encode at once")
def test_two_workers_that_encode_both_sides_at_once_miss_nothing_while_the_index_shows_neither(
    encoding: Encoding, scope: Scope
) -> None:
    # Given pairs that contradict each other, far enough apart to be in different batches
    for round_number in range(8):
        name = f"Person{round_number}"
        [older] = encoding.remember(scope, f"{name} lives in Beijing")
        encoding.remember(scope, *(f"noise {round_number} {n}" for n in range(20)))
        [newer] = encoding.remember(scope, f"{name} moved to Shanghai", at=START + timedelta(days=1))
        together = Barrier(2)

        # When two workers encode one each, at the same time
        def work(key: str, barrier: Barrier = together) -> Sequence[Conflict]:
            barrier.wait(60)
            return encoding.check(scope, [key])

        with ThreadPoolExecutor(2) as threads:
            found: Mapping[str, Conflict] = {c.id: c for told in threads.map(work, (older, newer)) for c in told}

        # Then one of them at least saw the other, and it is one conflict
        assert {(conflict.older_id, conflict.newer_id) for conflict in found.values()} == {(older, newer)}
