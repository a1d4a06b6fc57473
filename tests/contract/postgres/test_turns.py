"""The promises of `TurnReader` on a real PostgreSQL."""

import math
from datetime import timedelta

import numpy as np
import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.readers import PostgresTurns
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports import Filter
from biem.ports.readers import Turns
from tests.contract.conftest import ANY, MODEL, Admin, claim_all, encoded, unit, write
from tests.support.fakes import START, HeldClock


@pytest.fixture
def reader(pool: Database) -> PostgresTurns:
    return PostgresTurns(pool, clock=HeldClock(), decay_per_hour=0.1, model=MODEL)


def around(reader: PostgresTurns, scope: Scope, *ids: str, lexemes: tuple[str, ...] = (), where: Filter = ANY) -> Turns:
    return reader.around([scope], ids, lexemes, where, pending_limit=10)


def talk(records: PostgresRecords, scope: Scope, *texts: str, conversation: str = "c") -> list[str]:
    """Messages a minute apart."""
    return [
        records.remember(
            scope, [write(text, conversation=conversation, at=START + timedelta(minutes=number), kind="event")]
        )[0].id
        for number, text in enumerate(texts)
    ]


def test_two_turns_on_each_side_come_along_in_the_order_they_were_said(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope
) -> None:
    # Given six messages, written out of order with another conversation between them
    ids = talk(records, scope, "one", "two", "three?", "four", "five", "six？")
    talk(records, scope, "elsewhere", conversation="d")

    # When the surroundings of the third and of the first are read
    third = around(reader, scope, ids[2])
    first = around(reader, scope, ids[0])
    fourth = around(reader, scope, ids[3])

    # Then they are a stretch without gaps, and only the first message opens the conversation
    assert third.stretches == [tuple(ids[:5])]
    assert set(third.by_id) == set(ids[:5])
    assert third.openings == {ids[0]}
    assert fourth.stretches == [tuple(ids[1:])]
    assert fourth.openings == frozenset()
    assert first.stretches == [tuple(ids[:3])]
    assert first.openings == {ids[0]}
    assert [third.by_id[key].asks for key in ids[:5]] == [False, False, True, False, False]
    assert around(reader, scope, ids[5]).by_id[ids[5]].asks


def test_facts_stand_alone(reader: PostgresTurns, records: PostgresRecords, scope: Scope) -> None:
    # Given facts, which have no conversation / When one is read / Then nothing comes along
    one, _ = (records.remember(scope, [write(text, fact=True)])[0].id for text in ("one", "two"))
    found = around(reader, scope, one)
    assert set(found.by_id) == {one}
    assert found.stretches == []


def test_a_digest_comes_with_its_sources_and_nothing_else_has_any(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope
) -> None:
    # Given a digest, one whose sources a user made up, and a message that claims to have sources
    sources = ["01a20030-8b06-717d-9011-0e4aec753683", "01a20030-8b06-717d-9011-0e4aec753684"]
    digest, broken, message = (
        records.remember(scope, [write(text, source=source, metadata={"sources": given}, kind="knowledge")])[0].id
        for text, source, given in (("one", "crystal", sources), ("two", "crystal", "all"), ("three", "user", sources))
    )

    # When they are read / Then only the digest has sources
    found = around(reader, scope, digest, broken, message).by_id
    assert {key: turn.sources for key, turn in found.items()} == {digest: sources, broken: None, message: None}


def test_neighbours_outside_the_callers_conditions_are_only_context_and_those_outside_the_times_are_not_there(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope
) -> None:
    # Given messages of two speakers
    ids = [
        records.remember(
            scope,
            [write(f"turn {n}", conversation="c", speaker="Ana" if n % 2 else "Ben", at=START + timedelta(hours=n))],
        )[0].id
        for n in range(5)
    ]

    # When one speaker is asked for / Then the other's turns are context
    found = around(reader, scope, *ids, where=Filter(speakers=("Ana",)))
    assert {key for key, turn in found.by_id.items() if turn.matches} == {ids[1], ids[3]}
    assert set(found.by_id) == set(ids)

    # When only earlier turns may be known / Then nothing later is there, not even as context
    until = around(reader, scope, *ids, where=Filter(until=START + timedelta(hours=3)))
    assert set(until.by_id) == set(ids[:3])
    since = around(reader, scope, *ids, where=Filter(since=START + timedelta(hours=3)))
    assert set(since.by_id) == set(ids[3:])


def test_a_text_of_several_statements_comes_with_their_vectors(
    reader: PostgresTurns, jobs: PostgresRecords, scope: Scope
) -> None:
    # Given two indexed texts, one of two statements / When they are read / Then it has a vector for each, in order
    several, one = (jobs.remember(scope, [write(text)])[0].id for text in ("two statements", "one"))
    parts = np.stack([unit(1, 0), unit(3, 4)])
    keys = [sha256(text) for text in ("two statements", "one")]
    jobs.save_vectors(MODEL, dict.fromkeys(keys, unit(1, 1)), {keys[0]: parts})
    jobs.complete(encoded(claim_all(jobs)))
    found = around(reader, scope, several, one).by_id

    read = found[several].parts
    assert read is not None
    assert read == pytest.approx(parts, abs=1e-3)
    assert found[one].parts is None


def test_vectors_come_with_the_indexed_and_words_with_all(
    reader: PostgresTurns, jobs: PostgresRecords, scope: Scope
) -> None:
    # Given an indexed memory with a vector, and one that no one has indexed yet
    known = jobs.remember(scope, [write("known text")])[0].id
    jobs.save_vectors(MODEL, {sha256("known text"): unit(1, 0)})
    jobs.complete(encoded(claim_all(jobs)))
    fresh = jobs.remember(scope, [write("fresh words")])[0].id

    # When the surroundings are read with a word of the fresh one
    found = around(reader, scope, known, lexemes=("fresh",))

    # Then the fresh one is there by its word, without a vector
    assert found.by_id[known].lexemes == ("known", "text")
    vector = found.by_id[known].vector
    assert vector is not None
    assert vector.tolist() == unit(1, 0).tolist()
    assert found.by_id[fresh].vector is None
    assert fresh not in around(reader, scope, known, lexemes=("other",)).by_id


@pytest.mark.req("D13", partly="neighbours of recall")
def test_other_scopes_archived_and_erased_memories_are_never_there(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given a conversation of the same name in two scopes, with an archived and an erased turn in ours
    ids = talk(records, scope, "one", "two", "three", "four")
    theirs = talk(records, other, "one", "two", "three", "four")
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (ids[1],))
    records.erase(scope, ids[2], 60.0)

    # When all are asked for / Then only what lives in our scope is there, and its neighbours close the gap
    found = around(reader, scope, *ids, *theirs)
    assert set(found.by_id) == {ids[0], ids[3]}
    assert (ids[0], ids[3]) in found.stretches


@pytest.mark.req("C9", partly="the successor comes along")
def test_what_superseded_a_memory_comes_along_over_several_steps(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a fact that was replaced twice
    first, second, third = (records.remember(scope, [write(f"home {n}")])[0].id for n in range(3))
    for old, new in ((first, second), (second, third)):
        admin.execute("UPDATE memories SET superseded_by = %s, valid_to = %s WHERE id = %s", (new, START, old))

    # When the oldest is found / Then its successors are there, too
    found = around(reader, scope, first)
    assert set(found.by_id) == {first, second, third}
    assert found.by_id[first].superseded_by == second
    assert found.by_id[first].valid_to == START
    assert found.by_id[third].valid_to is None


def test_what_an_archived_memory_was_merged_into_comes_instead_of_it(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given a memory merged into another one, one merged into a memory of another scope, and one merged away
    one, two, three, gone, merged = (records.remember(scope, [write(f"home {n}")])[0].id for n in range(5))
    foreign = records.remember(other, [write("home")])[0].id
    for old, new in ((one, merged), (two, foreign), (three, gone)):
        admin.execute("UPDATE memories SET superseded_by = %s, status = 'archived' WHERE id = %s", (new, old))
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (gone,))

    # When they are read by ids that a search found before / Then what stands for them is there, of our scope
    assert set(around(reader, scope, one, two, three).by_id) == {merged}


def test_every_session_plans_for_lookups_by_key(pool: Database) -> None:
    # Given a connection of the service / When its way of planning is asked for
    with pool.connection() as connection:
        names = (
            "role",
            "plan_cache_mode",
            "jit",
            "enable_seqscan",
            "random_page_cost",
            "max_parallel_workers_per_gather",
            "enable_memoize",
        )
        settings = [connection.execute("SELECT current_setting(%s)", (name,)).fetchone() for name in names]

    # Then nothing is planned again, compiled, read as a whole, sorted for its pages, shared with helpers or remembered
    assert settings == [("biem_service",), ("force_generic_plan",), ("off",), ("off",), ("1",), ("0",), ("off",)]


def test_a_turn_says_how_important_used_and_lively_it_is(
    reader: PostgresTurns, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a memory that is important, was returned nine times, and an hour old
    row = write("standing", importance=4.5)
    records.remember(scope, [row])
    admin.execute(
        "UPDATE memories SET access_count = 9, anchor_at = %s WHERE id = %s", (START - timedelta(hours=1), row.id)
    )

    # When it is read as a candidate / Then all of that is shown
    turn = around(reader, scope, row.id).by_id[row.id]
    assert (turn.importance, turn.accesses) == (4.5, 9)
    assert turn.energy == pytest.approx(0.6 * math.exp(-0.1))
