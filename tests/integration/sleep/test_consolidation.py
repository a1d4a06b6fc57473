"""Consolidation, feedback and sleep through the public API, on real servers and a clock that is moved by hand."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.telemetry import Span
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

RUNS = [
    "Li Ming runs along the old river every single morning before breakfast with his dog Rex",
    *(
        f"Li Ming runs along the old river every single morning before breakfast with his dog Rex {how}"
        for how in ("happily", "again", "alone", "slowly")
    ),
]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def living(settings: Configure, clock: HeldClock) -> Iterator[biem.Memory]:
    """A memory of a scope of the test's own, whose time is held, and whose nights are the test's alone."""
    chosen, scope = settings(sleep=ONLY_SLEEP), biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(chosen, scope=scope, embedder=WordEmbedder(dim=512), clock=clock) as memory:
        yield memory


def recall_often(memory: biem.Memory, clock: HeldClock, query: str, times: int = 4) -> None:
    """Returned hits are counted behind the answer, so the count is waited for."""

    def counted(before: dict[str, int]) -> bool:
        return all(memory.get(key).access_count > count for key, count in before.items())

    for _ in range(times):
        clock.advance(minutes=2)
        before = {hit.node.id: hit.node.access_count for hit in memory.recall(query, top_k=5)}
        eventually(partial(counted, before))


def changes(report: object) -> dict[str, int]:
    return {job.name: sum(job.changes.values()) for job in report.jobs if job.changes}  # type: ignore[attr-defined]


@pytest.mark.req("B28", "B29", "B51", "X15")
@pytest.mark.req("X14", "X1", partly="consolidation")
def test_five_memories_used_often_become_one_fact_that_answers_after_they_are_gone(
    living: biem.Memory, clock: HeldClock, stack: Servers
) -> None:
    # Given four memories that are returned again and again
    ids = [living.remember(text, conversation="sport", speaker="Ann") for text in RUNS[:4]]
    assert living.flush()
    recall_often(living, clock, "Li Ming runs along the river")
    # When the night comes, Then four make no fact
    assert not living.sleep().failed
    assert [hit for hit in living.recall("Li Ming runs") if "fact" in hit.node.metadata] == []
    # When a fifth is returned as often, and the next ten nights come
    ids.append(living.remember(RUNS[4], conversation="sport", speaker="Ann"))
    assert living.flush()
    recall_often(living, clock, "Li Ming runs along the river")
    for _ in range(10):
        assert not living.sleep().failed
        assert living.flush()
    # Then recall knows one fact of all five
    facts = [hit.node for hit in living.recall("Li Ming runs") if "fact" in hit.node.metadata]
    assert [sorted(fact.metadata["sources"]) for fact in facts] == [sorted(ids)]
    # And it answers when its sources are archived
    with closing(psycopg.connect(stack.postgres_dsn, autocommit=True)) as admin:
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = ANY (%s::uuid[])", (ids,))
    [hit] = living.recall("Where does Li Ming run?", top_k=3)
    assert hit.node.id == facts[0].id
    assert "river" in hit.node.text


@pytest.mark.req("G23")
@pytest.mark.req("G16", partly="through the public API")
def test_duplicates_are_one_in_the_morning_and_nothing_is_lost(living: biem.Memory) -> None:
    # Given a fact told twice, with different tags, of use once each, and once together with something else
    rich = living.remember("The parcel locker opens with code 7714!", tags=["home"])
    poor = living.remember("the parcel locker opens with code 7714", tags=["parcels"])
    other = living.remember("Oma sends a cake every December")
    assert living.flush()
    living.feedback(useful=[rich], turn="one")
    living.feedback(useful=[poor, other], turn="two")
    assert {other} <= {end for link in living.links(poor) for end in (link.source, link.target)}
    # When the night has passed
    assert changes(living.sleep())["dedupe"] >= 1
    assert living.flush()
    # Then one is left, found by either tag, and the other is archived behind it
    for tag in ("home", "parcels"):
        assert [hit.node.id for hit in living.recall("parcel locker code", tags=[tag])] == [rich]
    gone = living.get(poor)
    assert (gone.status, gone.superseded_by) == ("archived", rich)
    # And what one was of use is the other's, and so are its links, of which none leads to what is gone
    assert living.get(rich).useful_count == 2
    ends = [{link.source, link.target} for key in (rich, other) for link in living.links(key)]
    assert {rich, other} in ends
    assert not any(poor in pair for pair in ends)
    # And a second night makes nothing of the rest
    assert not changes(living.sleep()).keys() & {"dedupe", "merge", "crystallise", "integrity"}


@pytest.mark.req("G15", "C19", "G22", partly="through the public API")
def test_feedback_counts_what_was_useful_once_a_turn(living: biem.Memory) -> None:
    # Given two memories, both recalled
    useful = living.remember("Ann is allergic to peanuts")
    useless = living.remember("Ann owns a red peanut butter jar")
    assert living.flush()
    living.recall("Ann peanuts")
    # When one was of use, and the call is repeated
    for _ in range(3):
        living.feedback(useful=[useful], useless=[useless], turn="turn 1")
    # Then it counted once
    assert (living.get(useful).useful_count, living.get(useless).useful_count) == (1, 0)
    assert living.get(useful).energy > living.get(useless).energy
    # And a memory of no one is refused
    with pytest.raises(biem.errors.NotFound):
        living.feedback(useful=["01890a5d-ac96-774b-bcce-b302099a8057"])


@pytest.mark.req("X16", "D8", partly="what was made of the erased")
def test_erasing_a_source_erases_what_was_made_of_it(living: biem.Memory, clock: HeldClock, stack: Servers) -> None:
    # Given a fact of five memories
    ids = [living.remember(text, conversation="sport", speaker="Ann") for text in RUNS]
    assert living.flush()
    recall_often(living, clock, "Li Ming runs along the river")
    living.sleep()
    assert living.flush()
    [fact] = [hit.node for hit in living.recall("Li Ming runs") if "fact" in hit.node.metadata]
    # When one of them is erased
    assert living.erase(ids[0]).complete
    # Then the fact is gone with it, and the other sources are there
    assert {hit.node.id for hit in living.recall("Li Ming runs")} == set(ids[1:])
    with closing(psycopg.connect(stack.postgres_dsn, autocommit=True)) as admin:
        left = admin.execute("SELECT count(*) FROM crystal_facts WHERE id = %s", (fact.id,)).fetchone()
    assert left == (0,)


@pytest.mark.parametrize("step", ["biem.recall.search", "biem.recall.live", "biem.recall.rank"])
@pytest.mark.req("X15", partly="a merge in the middle of a recall")
def test_a_recall_in_the_middle_of_a_merge_finds_what_came_of_it(living: biem.Memory, step: str) -> None:
    # Given long-lived facts that are about to become one
    told = [living.remember(text, layer="long_term") for text in RUNS]
    assert living.flush()
    reports: list[object] = []

    def merge(span: Span) -> None:
        if span.name == step and not reports:
            reports.append(None)
            reports[0] = living.sleep()

    # When they do after a step of a recall
    living.telemetry.attach(merge)
    hits = living.recall("Where does Li Ming run every morning?")
    living.telemetry.detach(merge)

    # Then they are archived, and the recall answers with what stands for them
    assert "merge" in changes(reports[0])
    assert any(living.get(key).status == "archived" for key in told)
    assert {hit.node.id for hit in hits} == {standing(living, key) for key in told}


def standing(memory: biem.Memory, memory_id: str) -> str:
    """What stands for a memory now."""
    while (node := memory.get(memory_id)).superseded_by is not None:
        memory_id = node.superseded_by
    return node.id
