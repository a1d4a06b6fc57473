"""The promises of `OrbitReader` on a real PostgreSQL."""

import math
from datetime import timedelta

import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.readers import PostgresOrbits
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports.readers import Vicinity
from tests.contract.conftest import MODEL, Admin, claim_all, encoded, unit, write
from tests.support.fakes import START, HeldClock


@pytest.fixture
def reader(pool: Database) -> PostgresOrbits:
    return PostgresOrbits(pool, clock=HeldClock(), decay_per_hour=0.1, model=MODEL)


def talk(records: PostgresRecords, scope: Scope, count: int, conversation: str = "c") -> list[str]:
    """Messages a minute apart, in one transaction."""
    rows = [
        write(f"{conversation} {n}", conversation=conversation, at=START + timedelta(minutes=n), kind="event")
        for n in range(count)
    ]
    return [written.id for written in records.remember(scope, rows)]


def fillers(records: PostgresRecords, scope: Scope) -> None:
    """More facts than count as written last."""
    records.remember(scope, [write(f"filler {n}", fact=True) for n in range(16)])


def gathered(
    reader: PostgresOrbits, scope: Scope, *chosen: str, others: tuple[str, ...] = (), whole: int = 0
) -> Vicinity:
    return reader.gather(scope.readable, chosen, others, whole)


def test_six_turns_on_each_side_and_twenty_around_the_best_of_the_three_largest_conversations(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope
) -> None:
    # Given four long conversations, of which the first three have two chosen messages each
    talks = {name: talk(records, scope, 60, name) for name in "abcd"}
    fillers(records, scope)
    chosen = [key for name in "abc" for key in (talks[name][30], talks[name][55])] + [talks["d"][30]]

    # When what is near is read
    found = gathered(reader, scope, *chosen).turns

    # Then of the first three there are twenty around the best chosen one and six around the other; of the fourth six
    for name in "abc":
        assert [key for key in talks[name] if key in found.by_id] == [*talks[name][10:51], *talks[name][51:60]]
    assert [key for key in talks["d"] if key in found.by_id] == talks["d"][24:37]
    assert tuple(talks["a"][10:51]) in found.stretches
    assert tuple(talks["a"][49:60]) in found.stretches
    assert found.openings == frozenset()


def test_the_first_turn_of_a_conversation_opens_it(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope
) -> None:
    ids = talk(records, scope, 12)
    assert gathered(reader, scope, ids[5]).turns.openings == {ids[0]}


def test_others_come_alone_and_so_does_what_was_written_last(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope
) -> None:
    # Given a conversation, then sixteen facts, then one fact more
    ids = talk(records, scope, 10)
    fillers(records, scope)
    last = records.remember(scope, [write("the last", fact=True)])[0].id

    # When a fact is chosen and a message taken along
    found = gathered(reader, scope, last, others=(ids[4],)).turns

    # Then the message is there without its neighbours, with the sixteen last
    assert set(ids) & set(found.by_id) == {ids[4]}
    assert len(found.by_id) == 17
    assert found.stretches == []


def test_of_a_project_the_users_own_is_read_too_with_a_number_for_each(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope
) -> None:
    # Given memories of a user and of his project
    project = Scope(scope.tenant, scope.user, "p")
    own, there = talk(records, scope, 2), talk(records, project, 3)

    # When the project gathers / Then both are there; the user alone does not see the project
    found = gathered(reader, project, there[0])
    assert set(found.turns.by_id) == {*own, *there}
    assert found.written == {scope.ns: 2, project.ns: 3}
    assert set(gathered(reader, scope, own[0], there[0]).turns.by_id) == set(own)


@pytest.mark.req("D13", partly="what is at hand")
def test_other_scopes_archived_and_erased_memories_are_never_there(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given the same conversation in two scopes, with an archived and an erased turn in ours
    ids, theirs = talk(records, scope, 5), talk(records, other, 5)
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (ids[1],))
    records.erase(scope, ids[3], 60.0)

    # When all are asked for, now and as news / Then only what lives in our scope is there
    left = {ids[0], ids[2], ids[4]}
    found = gathered(reader, scope, *ids, others=tuple(theirs))
    assert set(found.turns.by_id) == left
    assert (ids[0], ids[2], ids[4]) in found.turns.stretches
    news = reader.since([scope], {scope.ns: 0}, 10)
    assert news is not None
    assert set(news.turns.by_id) == left


@pytest.mark.req("C9", partly="the successor is at hand")
def test_what_superseded_a_memory_comes_along(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given an old fact that was replaced, and many newer memories
    old, new = (records.remember(scope, [write(f"home {n}")])[0].id for n in range(2))
    admin.execute("UPDATE memories SET superseded_by = %s, valid_to = %s WHERE id = %s", (new, START, old))
    fillers(records, scope)

    # When the old one is chosen / Then the new one is there
    found = gathered(reader, scope, old).turns.by_id
    assert found[old].superseded_by == new
    assert found[old].valid_to == START
    assert found[new].valid_to is None


def test_what_was_written_since_is_shown_with_its_vector_once_it_has_one(
    reader: PostgresOrbits, jobs: PostgresRecords, scope: Scope
) -> None:
    # Given a session that gathered, and two memories after that, of which one is indexed
    first = jobs.remember(scope, [write("first words")])[0].id
    known = gathered(reader, scope, first)
    indexed = jobs.remember(scope, [write("indexed words")])[0].id
    jobs.save_vectors(MODEL, {sha256("indexed words"): unit(1, 0)})
    jobs.complete(encoded(claim_all(jobs)))
    fresh = jobs.remember(scope, [write("fresh words")])[0].id

    # When it asks what came since / Then both are there, and the number has grown
    news = reader.since([scope], known.written, 10)
    assert news is not None
    assert set(news.turns.by_id) == {indexed, fresh}
    vector = news.turns.by_id[indexed].vector
    assert vector is not None
    assert vector.tolist() == unit(1, 0).tolist()
    assert news.turns.by_id[fresh].vector is None
    assert news.turns.by_id[fresh].lexemes == ("fresh", "words")
    assert news.written == {scope.ns: 3}
    again = reader.since([scope], news.written, 10)
    assert again is not None
    assert again.turns.by_id == {}


def test_too_much_news_and_an_erased_scope_are_to_be_gathered_again(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given a scope no one has written to, then five memories in it
    assert reader.since([other], {other.ns: 0}, 3) is not None
    talk(records, other, 5)
    assert reader.since([other], {other.ns: 0}, 5) is not None
    assert reader.since([other], {other.ns: 0}, 4) is None

    # When a scope is erased as a whole / Then what was known of it is worthless
    ids = talk(records, scope, 2)
    known = gathered(reader, scope, *ids)
    records.erase(scope, None, 60.0)
    assert reader.since([scope], known.written, 10) is None
    assert gathered(reader, scope, *ids).turns.by_id == {}
    assert gathered(reader, scope).written == {scope.ns: 0}


def indexed(jobs: PostgresRecords, *texts: str) -> None:
    """Give these texts vectors, as the worker does."""
    jobs.save_vectors(MODEL, {sha256(text): unit(1, 0) for text in texts})
    jobs.complete(encoded(claim_all(jobs)))


def test_a_memory_that_never_held_more_than_the_limit_is_there_as_a_whole(
    reader: PostgresOrbits, jobs: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given a user's two conversations and a fact, a project of his, and another user's memory
    project = Scope(scope.tenant, scope.user, "p")
    first, second = talk(jobs, scope, 30, "a"), talk(jobs, project, 3, "b")
    fact = jobs.remember(scope, [write("tea", fact=True)])[0].id
    talk(jobs, other, 3, "a")
    indexed(jobs, "tea", *(f"a {n}" for n in range(30)), *(f"b {n}" for n in range(3)))

    # When a fact is chosen in the project, where 34 were written
    found = gathered(reader, project, fact, whole=34)

    # Then all of both are there, with their conversations from the first turn to the last
    assert found.complete
    assert set(found.turns.by_id) == {*first, *second, fact}
    assert sorted(found.turns.stretches) == sorted([tuple(first), tuple(second)])
    assert found.turns.openings == {first[0], second[0]}
    assert found.written == {scope.ns: 31, project.ns: 3}

    # And with one more it is only what is near
    assert not gathered(reader, project, fact, whole=33).complete


def test_a_whole_memory_is_not_complete_while_something_has_no_vector_or_could_come_back(
    reader: PostgresOrbits, jobs: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a message with a vector and one without
    ids = talk(jobs, scope, 1)
    indexed(jobs, "c 0")
    assert gathered(reader, scope, ids[0], whole=9).complete
    fresh = jobs.remember(scope, [write("fresh words")])[0].id

    # When everything is read / Then both are there, and it may change
    found = gathered(reader, scope, ids[0], whole=9)
    assert (set(found.turns.by_id), found.complete) == ({ids[0], fresh}, False)

    # When the first is archived / Then it is not there, and may come back
    indexed(jobs, "fresh words")
    assert gathered(reader, scope, fresh, whole=9).complete
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (ids[0],))
    found = gathered(reader, scope, fresh, whole=9)
    assert (set(found.turns.by_id), found.complete) == ({fresh}, False)


@pytest.mark.parametrize("way", ["near", "whole", "news"])
def test_what_is_prefetched_says_how_important_used_and_lively_it_is(
    reader: PostgresOrbits, records: PostgresRecords, scope: Scope, admin: Admin, way: str
) -> None:
    # Given a memory that is important, was returned nine times, and an hour old
    row = write("standing", importance=4.5)
    records.remember(scope, [row])
    admin.execute(
        "UPDATE memories SET access_count = 9, anchor_at = %s WHERE id = %s", (START - timedelta(hours=1), row.id)
    )

    # When it is read in one of the three ways / Then all of that is shown
    if way == "news":
        found = reader.since([scope], {scope.ns: 0}, 10)
        assert found is not None
    else:
        found = gathered(reader, scope, row.id, whole=10 if way == "whole" else 0)
    turn = found.turns.by_id[row.id]
    assert (turn.importance, turn.accesses) == (4.5, 9)
    assert turn.energy == pytest.approx(0.6 * math.exp(-0.1))
