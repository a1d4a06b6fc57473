"""Memories that are replaced for two reasons at once, by a night and by a decision: one of each always holds."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any, cast

import pytest

from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.database import Database, PooledConnection
from biem.adapters.postgres.life import PostgresLife
from biem.domain.conflict import Conflict
from biem.domain.link import NewLink
from biem.domain.node import new_id
from biem.domain.policies import Policies
from biem.domain.policies.life import RetentionPolicy
from biem.errors import AlreadyDecided
from biem.ports.conflicts import ConflictFinding
from tests.contract.conftest import Admin
from tests.contract.engine.test_consolidation_jobs import RUNS, Night, night
from tests.support.fakes import START, eventually

__all__ = ["night"]

DAY = timedelta(days=1)


class Interrupted(Database):
    """A database in which something else happens once, before a statement and within its transaction."""

    def __init__(self, dsn: str, name: str, happens: Callable[[], object]) -> None:
        super().__init__(dsn, pool_size=2, retry_s=5.0)
        self.name = name
        self.happens: Callable[[], object] | None = happens

    @contextmanager
    def connection(self, *, patient: bool = False, in_steps: bool = False) -> Iterator[PooledConnection]:
        with super().connection(patient=patient, in_steps=in_steps) as connection:
            yield cast(PooledConnection, _Watched(connection, self))

    def before(self, statement: object) -> None:
        if self.happens is not None and statement == self.sql[self.name]:
            happens, self.happens = self.happens, None
            happens()


class _Watched:
    def __init__(self, connection: PooledConnection, database: Interrupted) -> None:
        self._connection = connection
        self._database = database

    def execute(self, statement: Any, *arguments: Any, **options: Any) -> Any:
        self._database.before(statement)
        return self._connection.execute(statement, *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def conflicts(night: Night, database: Database | None = None) -> PostgresConflicts:
    return PostgresConflicts(database or night.database, model=night.embedder.info.id, purge_after_s=1)


def duplicate(older: str, newer: str, *, acts: bool = False) -> ConflictFinding:
    return ConflictFinding(
        id=new_id(),
        kind="update" if acts else "duplicate",
        older_id=older,
        newer_id=newer,
        confidence=0.9,
        rule="test",
        attribute="",
        acts=acts,
        judged_later=False,
        suspected=False,
    )


def days(night: Night, *texts: str) -> list[str]:
    """Memories of consecutive days."""
    return [night.learn(text, at=START + day * DAY)[0] for day, text in enumerate(texts)]


def open_pair(night: Night, older: str, newer: str) -> Conflict:
    [conflict] = conflicts(night).record(night.scope, [duplicate(older, newer)], START)
    return conflict


def standing(night: Night, memory_id: str) -> str:
    """Where following successors ends; fails when it never does."""
    seen = [memory_id]
    while (successor := night.node(seen[-1]).superseded_by) is not None:
        assert successor not in seen, "a circle"
        seen.append(successor)
    return seen[-1]


def state(night: Night, *ids: str) -> list[tuple[str, str | None]]:
    return [(night.node(key).status, night.node(key).superseded_by) for key in ids]


def test_a_decision_for_what_a_night_has_replaced_is_refused(night: Night) -> None:
    # Given an open conflict, of which a night made the older stand for the newer
    store = conflicts(night)
    older, newer = night.learn("Ferns love deep shade!", "Ferns love deep shade")
    [conflict] = store.record(night.scope, [duplicate(older, newer)], START)
    night.consolidator.dedupe(night.scope)

    # When a user decides for the newer / Then it is refused: each would be superseded by the other, and none hold
    with pytest.raises(AlreadyDecided, match=older):
        store.resolve(night.scope, conflict.id, "keep_new", "user", START)
    assert state(night, older, newer) == [("active", None), ("archived", older)]


def test_undoing_a_merge_revives_what_the_merged_memory_came_to_stand_for(night: Night) -> None:
    # Given a merge by decision, which a night then made stand for a third memory
    store = conflicts(night)
    older, newer, third = night.learn("Ann lives in Rome", "Ann lives in Oslo", "Ann lives in Oslo now")
    [conflict] = store.record(night.scope, [duplicate(older, newer)], START)
    [merged] = night.learn("Ann lives in Rome\nAnn lives in Oslo now")
    store.resolve(night.scope, conflict.id, "merge", "user", START, merged_id=merged)
    assert night.store.absorb(night.scope, merged, [third], START)

    # When the merge is undone
    store.undo(night.scope, conflict.id, START, None)
    night.encode()

    # Then all three hold again
    assert state(night, older, newer, third) == [("active", None)] * 3
    assert night.node(merged).status == "archived"


def test_what_was_restored_from_a_merge_is_not_merged_with_the_same_again(night: Night) -> None:
    # Given two memories that a model's words merged, and one of them restored
    one, two = night.learn(RUNS[1], RUNS[2], layer="long_term")
    night.consolidator.merge(night.scope)
    night.encode()
    assert night.successor(one) == night.successor(two)
    PostgresLife(night.database, clock=night.clock, decay_per_hour=0.1).restore(night.scope, one, START)
    night.encode()
    before = state(night, one, two)

    # When the next night looks at them / Then a user wanted it back, and it stays
    assert night.consolidator.merge(night.scope)["archived"] == 0
    assert state(night, one, two) == before


def test_what_was_restored_before_a_dead_process_moved_its_links_keeps_them(night: Night) -> None:
    # Given a memory that was replaced by a process that died before it moved the links
    gone, kept, friend = night.learn("Ferns love deep shade", "Ferns love deep shade!", "Bob sings")
    night.links.connect(night.scope, [NewLink(gone, friend, "causal")], START)
    assert night.store.absorb(night.scope, kept, [gone], START)

    # When it is restored, and the next night makes good the rest
    PostgresLife(night.database, clock=night.clock, decay_per_hour=0.1).restore(night.scope, gone, START)
    night.encode()
    assert night.integrity.mend(night.scope)["relinked"] == 0

    # Then its link is its own
    assert [(link.source, link.target) for link in night.links.of(night.scope, friend)] == [(gone, friend)]


# -- making room ------------------------------------------------------------------------------------------------------


def crowded(night: Night, database: Database) -> PostgresLife:
    """Retention that leaves a scope two memories."""
    policies = Policies(retention=RetentionPolicy(max_memories=2, keep_share=1.0))
    return PostgresLife(database, clock=night.clock, decay_per_hour=0.1, policies=policies)


@pytest.mark.req("X38", "M52", partly="room is made while something else happens")
def test_what_absorbed_another_after_it_was_picked_is_not_archived_to_make_room(night: Night, database: str) -> None:
    # Given three memories where two are allowed, of which the weakest is picked
    weak, important, other = (
        night.learn("Ferns love shade!", importance=1.0)
        + night.learn("Ferns love shade", importance=4.0)
        + night.learn("Copper conducts heat", importance=2.0)
    )
    at = START + 30 * DAY

    # When it comes to stand for the important one before it is archived
    def absorb() -> None:
        assert night.store.absorb(night.scope, weak, [important], at)

    with closing(Interrupted(database, "room_lock", absorb)) as slow:
        gone = crowded(night, slow).make_room(night.scope, at, 10)

    # Then it stays, and so does what it stands for
    assert gone == []
    assert state(night, weak, important, other) == [("active", None), ("archived", weak), ("active", None)]


@pytest.mark.req("X38", "M52", partly="room is made while something else happens")
@pytest.mark.parametrize("commits", [False, True], ids=["still at it", "just before"])
def test_what_is_praised_while_room_is_made_is_left_alone_and_not_waited_for(
    night: Night, database: str, admin: Admin, commits: bool
) -> None:
    # Given three memories where two are allowed, and feedback about the weakest whose transaction is under way
    texts = ("Ferns love shade", "Copper conducts heat", "Dolphins breathe air")
    weak, second, _ = [night.learn(text, importance=1.0 + place)[0] for place, text in enumerate(texts)]
    admin.execute("BEGIN")

    def praise() -> None:
        admin.execute("UPDATE memories SET useful_count = 4 WHERE id = %s", (weak,))
        if commits:
            admin.execute("COMMIT")

    # When room is made meanwhile
    with closing(Interrupted(database, "room_lock", praise)) as slow:
        life = crowded(night, slow)
        assert life.make_room(night.scope, START + 30 * DAY, 10) == []
        admin.execute("COMMIT")

        # Then the next time another process goes
        assert life.make_room(night.scope, START + 30 * DAY, 10) == [second]
    assert night.node(weak).status == "active"


# -- decisions that would close a circle ------------------------------------------------------------------------------


@pytest.mark.req("X17", "X38", partly="two decisions at once")
def test_two_decisions_at_once_that_would_close_a_circle_of_four_are_made_one_after_the_other(
    night: Night, database: str, admin: Admin
) -> None:
    # Given a stands behind b, and c behind d
    a, b, c, d = days(night, "Ann lives in Rome", "Ann lives in Oslo", "Ann lives in Bonn", "Ann lives in Kiel")
    store = conflicts(night)
    first, second, onward, back = (open_pair(night, *pair) for pair in ((a, b), (c, d), (b, c), (a, d)))
    for pair in (first, second):
        store.resolve(night.scope, pair.id, "keep_new", "user", START)

    def waits() -> bool:
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return admin.execute(query).fetchone() != (0,)

    # When a user decides for c while another process decides for a: each alone would be no circle
    with ThreadPoolExecutor(1) as thread:

        def decide() -> None:
            other.append(thread.submit(store.resolve, night.scope, back.id, "keep_old", "user", START))
            eventually(lambda: waits() or other[0].done())

        other: list[Any] = []
        with closing(Interrupted(database, "conflict_decide", decide)) as slow:
            conflicts(night, slow).resolve(night.scope, onward.id, "keep_new", "user", START)

        # Then the second hears of the first
        with pytest.raises(AlreadyDecided, match=a):
            other[0].result(60)
    assert {standing(night, key) for key in (a, b, c, d)} == {d}


@pytest.mark.req("X17", partly="decisions that another one hides for now")
def test_a_decision_that_counts_only_when_another_is_taken_back_closes_no_circle_either(night: Night) -> None:
    # Given the oldest lost to the second, which ended it first, and to the third as well
    old, second, third, fourth = days(night, "Ann is in Rome", "Ann is in Oslo", "Ann is in Bonn", "Ann is in Kiel")
    store = conflicts(night)
    pairs = [(old, second), (old, third), (third, fourth), (old, fourth)]
    *before, last = (open_pair(night, *pair) for pair in pairs)
    for pair in before:
        store.resolve(night.scope, pair.id, "keep_new", "user", START)
    assert standing(night, old) == second

    # When a user decides that the fourth never held, for the oldest
    with pytest.raises(AlreadyDecided):
        store.resolve(night.scope, last.id, "keep_old", "user", START)

    # Then what counts after an undo is no circle
    store.undo(night.scope, before[0].id, START, None)
    assert [standing(night, key) for key in (old, second, third)] == [fourth, second, fourth]


@pytest.mark.req("X17", partly="a rule and decisions")
def test_a_rule_closes_no_circle_with_decisions_and_asks_instead(night: Night) -> None:
    # Given the second stands behind the third, of which a user decided that it never held: the first does
    first, second, third = days(night, "Ann is in Rome", "Ann is in Oslo", "Ann is in Bonn")
    store = conflicts(night)
    pair = open_pair(night, first, third)
    store.record(night.scope, [duplicate(second, third, acts=True)], START)
    store.resolve(night.scope, pair.id, "keep_old", "user", START)

    # When a rule is sure that the first ended with the second
    [conflict] = store.record(night.scope, [duplicate(first, second, acts=True)], START)

    # Then it is asked, and the first holds
    assert (conflict.status, conflict.resolution) == ("pending", None)
    assert {standing(night, key) for key in (first, second, third)} == {first}


@pytest.mark.req("X17", partly="a decision while the rules were looking")
@pytest.mark.parametrize("acts", [True, False])
def test_a_memory_declared_never_valid_during_the_check_is_no_finding(night: Night, acts: bool) -> None:
    # Given rules that found the second to disagree with the third
    first, second, third = days(night, "Ann is in Rome", "Ann is in Oslo", "Ann is in Bonn")
    found = [duplicate(second, third, acts=acts)]

    # When a user decides, before they record it, that the second never held
    store = conflicts(night)
    store.resolve(night.scope, open_pair(night, first, second).id, "keep_old", "user", START)

    # Then there is nothing to record
    assert store.record(night.scope, found, START) == []
    assert state(night, first, second, third) == [("active", None), ("active", first), ("active", None)]


def test_a_pair_of_which_the_older_ended_while_the_rules_were_looking_is_no_open_question(night: Night) -> None:
    # Given the first ended with the second / When rules come with a doubt about it and the third, which began later
    first, second, third = days(night, "Ann is in Rome", "Ann is in Oslo", "Ann is in Bonn")
    store = conflicts(night)
    store.record(night.scope, [duplicate(first, second, acts=True)], START)

    # Then it is not asked
    assert store.record(night.scope, [duplicate(first, third)], START) == []


def test_what_comes_back_when_its_successor_is_erased_obeys_the_decision_that_it_lost_by(night: Night) -> None:
    # Given a memory that a night archived behind another, and a decision since then that it ended with a third
    gone, third = days(night, "Ann is in Rome", "Ann is in Oslo")
    [kept] = night.learn("Ann is in Rome!")
    pair = open_pair(night, gone, third)
    assert night.store.absorb(night.scope, kept, [gone], START)
    conflicts(night).resolve(night.scope, pair.id, "keep_new", "user", START)

    # When the other is unmade, as by undoing the merge that made it
    with night.database.connection() as connection, connection.transaction():
        connection.execute(night.database.sql["see_scopes"], (night.scope.ns,))
        connection.execute(night.database.sql["erase_revive"], {"ns": night.scope.ns, "ids": [kept]})

    # Then it comes back as what held until then
    assert state(night, gone) == [("pending", third)]
    assert night.node(gone).valid_to == START + DAY
