"""Memories that are replaced for two reasons at once, by a night and by a decision: one of each always holds."""

import pytest

from biem.adapters.conflicts import PostgresConflicts
from biem.adapters.lifecycle import PostgresLife
from biem.domain.node import new_id
from biem.errors import AlreadyDecided
from biem.ports.conflicts import Finding
from tests.contract.test_consolidation_jobs import RUNS, Night, night
from tests.fakes import START

__all__ = ["night"]


def conflicts(night: Night) -> PostgresConflicts:
    return PostgresConflicts(night.database, model=night.embedder.info.id, purge_after_s=1)


def duplicate(older: str, newer: str) -> Finding:
    return Finding(
        id=new_id(),
        kind="duplicate",
        older_id=older,
        newer_id=newer,
        confidence=0.9,
        rule="test",
        attribute="",
        acts=False,
        judged_later=False,
        suspected=False,
    )


def state(night: Night, *ids: str) -> list[tuple[str, str | None]]:
    return [(night.node(key).status, night.node(key).superseded_by) for key in ids]


def test_a_decision_for_what_a_night_has_replaced_is_refused(night: Night) -> None:
    # Given an open conflict, of which a night made the older stand for the newer
    store = conflicts(night)
    older, newer = night.learn("Ferns love deep shade!", "Ferns love deep shade")
    [conflict] = store.record(night.scope, [duplicate(older, newer)], START)
    night.consolidator.dedupe(night.scope)

    # When somebody decides for the newer / Then it is refused: each would be superseded by the other, and none hold
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

    # When the next night looks at them / Then somebody wanted it back, and it stays
    assert night.consolidator.merge(night.scope)["archived"] == 0
    assert state(night, one, two) == before
