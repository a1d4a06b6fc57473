"""What is erased leaves no trace: a word is put wherever one can be, and looked for in every value of every store."""

import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.ports import Erasure
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP, embedder
from tests.support.servers import Configure, Testbed
from tests.support.workloads import anywhere, in_postgres, in_redis


@pytest.fixture
def word() -> str:
    """A word that is nowhere yet, and that no stemmer changes."""
    return f"zq{uuid.uuid4().hex[:12]}0"


@dataclass
class Person:
    """One user with a project, and the ids of what was given on the user's own level."""

    memory: biem.Memory
    project: biem.Memory
    ids: list[str]
    clock: HeldClock


@pytest.fixture
def person(testbed: Testbed, word: str) -> Iterator[Person]:
    """A life in which every table and every kind of key gets the word."""
    clock = HeldClock()
    settings = testbed.settings(sleep=ONLY_SLEEP, aim=AimPolicy(admission="always"))
    scope = Scope(user=f"user {word}")
    with biem.connect(settings, scope=scope, embedder=embedder(), clock=clock) as memory:
        yield Person(memory, memory.scope(project=f"garden {word}"), lived(memory, clock, word), clock)


def lived(memory: biem.Memory, clock: HeldClock, word: str) -> list[str]:
    """Talk, facts, contradictions, duplicates, concepts, links: ids of all of it."""
    habit = f"Li Ming runs with {word} along the old river every single morning before breakfast with his dog"
    told: list[dict[str, Any]] = [
        {"text": habit + how, "speaker": word, "conversation": word, "tags": [word], "metadata": {word: word}}
        for how in ("", " happily", " again", " alone", " slowly")
    ]
    choir = f"The choir of {word} by the market square rehearses a mass by Haydn every Tuesday evening"
    told += [{"text": f"{choir} {how}", "layer": "long_term", "reason": word, "source": word} for how in ("a", "b")]
    told += [{"text": f"The {word} locker opens with code 7714{end}"} for end in ("!", "")]
    told += [
        {
            "text": f"The {word} bridge is {state}",
            "at": clock.now() + timedelta(seconds=number),
            "ref": f"{word} {state}",
        }
        for number, state in enumerate(("open", "closed"))
    ]
    told += [
        {"text": f"{text} of {word}", "speaker": "Ann", "conversation": f"farm {word}", "importance": 4.5}
        for text in ("The saffron harvest", "The saffron fields", "The saffron price")
    ]
    ids = memory.remember_many(told, wait=True)
    memory.feedback(useful=ids[:5], turn=f"turn {word}")
    for _ in range(3):
        memory.recall(habit, top_k=5)
    clock.advance(days=1)
    memory.sleep()
    clock.advance(days=5)
    memory.sleep()
    memory.flush()
    return [*ids, *(fact.id for fact in memory.facts())]


@pytest.mark.long
@pytest.mark.req("D8", "X16", partly="erasing; what a project holds of the user's own level")
def test_memories_erased_one_by_one_leave_no_word_in_any_table_key_or_row(
    person: Person, stack: Servers, word: str
) -> None:
    # Given two projects that have the user's texts ready, of which PostgreSQL knows one
    known, unknown = person.project, person.memory.scope(project=f"balcony {word}")
    known.remember("Nothing of interest", wait=True)
    for project in (known, unknown):
        running = project.running(f"Tell me about {word} and saffron", conversation=f"kitchen {word}")
        assert any(word in item.content for item in running)
    keys = {key.split(":")[1] for key in in_redis(stack.redis_url, word)}
    assert keys == {"hot", "mind"}
    assert set(in_postgres(stack.postgres_dsn, word)) >= {
        "concept_items", "concept_terms", "concepts", "conflict_pairs", "crystal_facts", "evidence", "instant_memories",
        "memories",
    }  # fmt: skip
    # When every memory is erased by its id
    receipts = []
    for memory_id in person.ids:
        with suppress(biem.NotFound):  # it went with another one, which said the same
            receipts.append(person.memory.erase(memory_id))
    # Then only names are left that callers gave to what is still there: the user, the project, the turn
    assert all(receipt.complete for receipt in receipts)
    assert next(count.before for count in receipts[0].stores if count.store == "redis.running_memory") == 2
    assert anywhere(stack, word) == ["postgres.feedbacks", "postgres.link_work", "postgres.scopes"]
    # And an erased user leaves none of these
    assert person.memory.erase(user=person.memory.bound_to.user).complete
    assert anywhere(stack, word) == []


@pytest.mark.long
@pytest.mark.req("D8", partly="erasing a person")
def test_an_erased_user_is_gone_with_all_projects_and_others_stay(person: Person, stack: Servers, word: str) -> None:
    memory = person.memory
    person.project.remember_many([{"text": f"Plant {word} number {n}"} for n in range(3)], wait=True)
    person.project.running(f"Tell me about {word} and saffron", conversation="kitchen")
    neighbour = memory.scope(user="neighbour", project=person.project.bound_to.project[:6])
    kept = neighbour.remember("Of another user", wait=True)
    own, project = memory.scopes()
    assert (own.scope, project.scope) == (memory.bound_to, person.project.bound_to)
    assert (project.memories, project.pending, project.written_at) == (3, 0, person.clock.now())
    # When the user is erased from within a project, of which the caller need not know
    receipt = person.project.erase(user=memory.bound_to.user)
    # Then the receipt counts each scope
    assert receipt.complete
    assert receipt.scopes == {str(own.scope): own.memories, str(project.scope): 3}
    assert receipt.memories == own.memories + 3
    assert (receipt.target, receipt.backups) == (memory.bound_to.ns, ())
    assert anywhere(stack, word) == []
    assert memory.scopes() == []
    # And others have theirs, and an erasure of no one is complete
    assert [hit.node.id for hit in neighbour.recall("another user")] == [kept]
    again = memory.erase(user=memory.bound_to.user)
    assert (again.complete, again.memories) == (True, 0)
    assert neighbour.erase(user="neighbour").complete


class Killed(BaseException):
    """The end of a process, which no code of ours sees."""


@pytest.fixture
def crowd(settings: Configure, word: str) -> Iterator[biem.Memory]:
    """A user with three projects and ten memories in each scope."""
    alone = settings(queue="none")
    with biem.connect(alone, scope=Scope(user=f"user {word}"), embedder=WordEmbedder()) as memory:
        for project in ("", "a", "b", "c"):
            memory.scope(project=project).remember_many([{"text": f"{word} {n} of {project}"} for n in range(10)])
        yield memory


@pytest.mark.parametrize("after", [1, 2, 3])
def test_an_erasure_of_a_user_that_was_killed_is_finished_by_the_next(
    after: int, crowd: biem.Memory, settings: Configure, stack: Servers, word: str
) -> None:
    records = crowd._system.records
    erase = records.erase
    done: list[Scope] = []

    def killed(scope: Scope, memory_id: str | None, purge_after_s: float, **options: Any) -> Erasure:
        if len(done) == after:
            raise Killed
        done.append(scope)
        return erase(scope, memory_id, purge_after_s, **options)

    records.erase = killed  # type: ignore[method-assign]
    with pytest.raises(Killed):
        crowd.erase(user=crowd.bound_to.user)
    with biem.connect(settings(queue="none"), scope=crowd.bound_to, embedder=WordEmbedder()) as other:
        assert len(other.scopes()) == 4 - after
        receipt = other.erase(user=crowd.bound_to.user)
    assert receipt.complete
    assert receipt.memories == 10 * (4 - after)
    assert in_postgres(stack.postgres_dsn, word) == []


@pytest.mark.long
def test_projects_that_are_made_while_a_user_is_erased_are_erased_or_reported(
    crowd: biem.Memory, settings: Configure, stack: Servers, word: str
) -> None:
    with biem.connect(settings(queue="none"), scope=crowd.bound_to, embedder=WordEmbedder()) as other:
        records = crowd._system.records
        erase, late = records.erase, iter(["d", ""])

        def raced(scope: Scope, memory_id: str | None, purge_after_s: float, **options: Any) -> Erasure:
            erasure = erase(scope, memory_id, purge_after_s, **options)
            if (project := next(late, None)) is not None:
                other.scope(project=project).remember(f"{word} written meanwhile")
            return erasure

        # Given a program that writes to two scopes meanwhile / Then both are erased
        records.erase = raced  # type: ignore[method-assign]
        receipt = crowd.erase(user=crowd.bound_to.user)
        assert receipt.complete
        assert receipt.memories == 42
        assert in_postgres(stack.postgres_dsn, word) == []
        # And given one that never ends / Then the receipt says that something is left
        late = iter(str(number) for number in range(1_000))
        receipt = crowd.erase(user=crowd.bound_to.user)
        assert not receipt.complete
        (left,) = [count.after for count in receipt.stores if count.store == "postgres.scopes"]
        assert left == len(crowd.scopes()) > 0
        records.erase = erase  # type: ignore[method-assign]
        assert crowd.erase(user=crowd.bound_to.user).complete


def test_what_is_to_be_erased_is_named_once(memory: biem.Memory) -> None:
    for wrong in ({}, {"target": memory.bound_to, "user": "ann"}):
        with pytest.raises(biem.InvalidInput, match="user=…"):
            memory.erase(**wrong)  # type: ignore[arg-type]
    with pytest.raises(biem.InvalidInput, match="user"):
        memory.erase(user="")


def test_only_scopes_of_the_bound_user_are_listed(memory: biem.Memory) -> None:
    memory.scope(project="p").remember("Mine")
    for other in (memory.scope(user=f"{memory.bound_to.user} too"), memory.scope(tenant="elsewhere")):
        other.remember("Not mine")
    here = memory.scope(project="q")
    assert [summary.scope.project for summary in here.scopes()] == ["p"]
    assert [summary.scope.user for summary in here.scopes()] == [memory.bound_to.user]
