"""A memory with an end: hidden at that instant everywhere, then archived or erased. The tests move the clock."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.node import Node
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.jobs import SleepPolicy
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

HOUR = timedelta(hours=1)
VAULT = "The saffron vault opens with the number 7714"
LASTING = "The saffron harvest begins in October"


@dataclass
class Place:
    """A memory and its clock."""

    memory: biem.Memory
    clock: HeldClock

    def told(self, node_id: str) -> dict[str, bool]:
        """Where a memory shows itself."""
        memory, query = self.memory, VAULT
        block = memory.context(query, top_k=5)
        return {
            "recall": node_id in ids(hit.node for hit in memory.recall(query)),
            "recall of a session": node_id in ids(hit.node for hit in memory.recall(query, session="vaults")),
            "typed recall": node_id in ids(hit.node for hit in memory.recall_typed(query)),
            "recall as of now": node_id in ids(hit.node for hit in memory.recall(query, as_of=memory.now())),
            "filtered": node_id in ids(hit.node for hit in memory.recall(query, where={"vault": 7714})),
            "context": "7714" in block.text,
            "list": node_id in ids(memory.list().items),
            "timeline": node_id in ids(memory.timeline().items),
            "count": memory.count(where={"vault": 7714}) == 1,
            "graph": node_id in {node.id for node in memory.graph().nodes},
            "instant": any("7714" in note.text for note in memory.instant("vaults")),
            "related": any("7714" in item.memory for item in memory.related(query)),
        }


def ids(nodes: Any) -> set[str]:
    """The ids of nodes."""
    return {node.id for node in nodes}


@pytest.fixture(scope="module")
def opened(settings: Configure) -> Iterator[Place]:
    clock = HeldClock()
    policy = replace(ContextPolicy(), slots=1)
    chosen = settings(sleep=ONLY_SLEEP, context=policy)
    with biem.connect(chosen, embedder=WordEmbedder(dim=512), clock=clock) as memory:
        yield Place(memory, clock)


@pytest.fixture
def place(opened: Place) -> Place:
    return Place(opened.memory.scope(user=uuid.uuid4().hex), opened.clock)


def remembered(place: Place, **draft: Any) -> str:
    """The secret, which expires in an hour, between lasting memories of one conversation."""
    turn = {"speaker": "Ann", "conversation": "vaults"}
    hidden = {**turn, "ttl": HOUR, "metadata": {"vault": 7714}, "importance": 5, **draft}
    items = [{"text": LASTING, **turn}, {"text": VAULT, **hidden}, {"text": f"{LASTING} or so", **turn}]
    found = place.memory.remember_many(items, wait=True)
    place.memory.feedback(useful=found)
    return found[1]


@pytest.mark.req("M26", partly="ExpiresAt, of a memory of any layer")
@pytest.mark.parametrize("layer", ["short_term", "long_term", "session", "core"])
@pytest.mark.parametrize("on_expiry", ["archive", "erase"])
def test_at_its_expiry_a_memory_is_hidden_everywhere_before_any_job_ran(
    layer: str, on_expiry: str, place: Place
) -> None:
    # Given a memory with an hour to live, which was useful, and shows itself wherever it can
    key = remembered(place, layer=layer, on_expiry=on_expiry)
    place.memory.sleep()
    told = place.told(key)
    assert [where for where, shown in told.items() if not shown and where not in ("instant", "related")] == []

    # When the last instant before its end passes / Then it is there still
    place.clock.advance(hours=1, microseconds=-1)
    assert place.told(key)["recall"]

    # When its end has come / Then nothing shows it, and what was said next to it is there
    place.clock.advance(microseconds=1)
    assert [where for where, shown in place.told(key).items() if shown] == []
    assert place.memory.count() == 2
    assert LASTING in place.memory.context(LASTING).text
    shown = place.memory.list(status="archived").items
    assert ids(shown) == ({key} if on_expiry == "archive" else set())
    if on_expiry == "erase":
        with pytest.raises(biem.NotFound):
            place.memory.get(key)
        with pytest.raises(biem.NotFound):
            place.memory.restore(key)
    else:
        node = place.memory.get(key)
        assert (node.status, node.archive_reason, node.archived_at) == ("archived", "expired", node.expires_at)


@pytest.mark.req("M26", partly="ExpiresAt")
def test_the_job_archives_what_has_expired_and_it_can_be_restored(place: Place) -> None:
    # Given an indexed memory, one that is pending, and one that lasts longer
    key = remembered(place)
    later = place.memory.remember("The cellar has another number", ttl=2 * HOUR, wait=True)
    place.clock.advance(hours=1)

    # When the night comes
    place.memory.sleep()

    # Then what had expired is archived for that reason, and nothing else
    assert ids(place.memory.list(status="archived").items) == {key}
    assert place.memory.get(key).archive_reason == "expired"
    assert place.memory.get(later).status == "active"
    assert place.memory.restore(key)
    assert place.memory.flush()
    node = place.memory.get(key)
    assert (node.status, node.expires_at) == ("active", None)
    assert place.told(key)["recall"]

    # And a second night leaves it alone
    place.clock.advance(minutes=30)
    place.memory.sleep()
    assert place.memory.get(key).status == "active"


def test_an_expired_memory_is_restored_before_the_job_came_to_it(place: Place) -> None:
    key = remembered(place)
    place.clock.advance(hours=1)
    assert place.memory.restore(key)
    assert place.memory.flush()
    assert place.told(key)["recall"]
    assert place.memory.get(key).expires_at is None
    assert place.memory.sleep().failed == ()
    assert place.memory.get(key).status == "active"


def receipts(stack: Servers, place: Place, key: str) -> list[dict[str, Any]]:
    """The receipts of one memory."""
    with psycopg.connect(stack.postgres_dsn) as admin:
        query = "SELECT receipt FROM erasures WHERE ns = %s AND receipt ->> 'target' = %s"
        return [row for (row,) in admin.execute(query, (place.memory.bound_to.ns, key))]


@pytest.mark.parametrize("archived", [False, True])
def test_what_is_to_be_erased_at_its_expiry_is_destroyed_with_a_receipt(
    archived: bool, place: Place, stack: Servers
) -> None:
    # Given a memory that is to be erased, archived before or not
    key = remembered(place, on_expiry="erase")
    if archived:
        place.memory.archive(key)
    place.clock.advance(hours=1)

    # When the night comes / Then nothing of it is left anywhere, and one receipt says so
    report = place.memory.sleep()
    assert sum(job.changes.get("erased", 0) for job in report.jobs) == 1
    [receipt] = receipts(stack, place, key)
    assert receipt["memories"] == 1
    assert {count["store"]: count["after"] for count in receipt["stores"]} == {
        count["store"]: 0 for count in receipt["stores"]
    }
    with pytest.raises(biem.NotFound):
        place.memory.get(key)
    with psycopg.connect(stack.postgres_dsn) as admin:
        assert admin.execute("SELECT count(*) FROM memories WHERE id = %s", (key,)).fetchone() == (0,)


@pytest.mark.parametrize("sleeps", [False, True])
@pytest.mark.parametrize("on_expiry", ["archive", "erase"])
def test_what_is_written_again_after_its_expiry_is_found(sleeps: bool, on_expiry: str, place: Place) -> None:
    # Given a fact that has expired, and was or was not archived or erased since
    key = place.memory.remember(VAULT, ttl=HOUR, on_expiry=on_expiry, wait=True)
    place.clock.advance(hours=1)
    if sleeps:
        place.memory.sleep()

    # When it is written again, with another hour to live
    again = place.memory.remember(VAULT, ttl=HOUR, wait=True)

    # Then it is found until then
    assert (again == key) is not (sleeps and on_expiry == "erase")
    assert place.memory.recall(VAULT)[0].node.id == again
    place.memory.sleep()
    assert place.memory.recall(VAULT)[0].node.id == again
    place.clock.advance(hours=1)
    assert place.memory.recall(VAULT) == []


@pytest.mark.parametrize(("second", "lives_h"), [(None, 1_000), (3 * HOUR, 3), (HOUR / 2, 1)])
def test_a_fact_that_is_written_twice_lives_as_long_as_the_longer_of_both(
    second: timedelta | None, lives_h: int, place: Place
) -> None:
    key = place.memory.remember(VAULT, ttl=HOUR)
    assert place.memory.remember(VAULT, ttl=second) == key
    place.clock.advance(hours=lives_h, seconds=-1)
    assert place.memory.get(key).status != "archived"
    if second is not None:
        place.clock.advance(seconds=1)
        assert place.memory.get(key).status == "archived"


def test_promotion_leaves_an_expiry_as_it_was_set(place: Place) -> None:
    key = remembered(place, layer="short_term")
    for _ in range(12):
        place.memory.recall(VAULT)
    place.memory.feedback(useful=[key], turn="1")
    place.memory.feedback(useful=[key], turn="2")
    node: Node = place.memory.get(key)
    assert (node.layer, node.expires_at) == ("long_term", place.clock.now() + HOUR)
    place.clock.advance(hours=1)
    assert place.memory.get(key).status == "archived"


def test_no_text_is_made_of_memories_that_expire(place: Place) -> None:
    # Given near-copies, of which one expires, that are long-term and often used
    told = [f"{VAULT} since May", VAULT, f"{VAULT} as ever"]
    found = place.memory.remember_many(
        [{"text": text, "layer": "long_term", **({"ttl": HOUR} if n == 0 else {})} for n, text in enumerate(told)],
        wait=True,
    )
    for turn in range(3):
        place.memory.feedback(useful=found, turn=str(turn))

    # When nights pass / Then no other memory has been made of it, nor has it taken the place of another
    place.memory.sleep()
    place.memory.sleep()
    assert place.memory.get(found[0]).status == "active"
    assert not any("since May" in node.text for node in place.memory.list(limit=500).items if node.id != found[0])
    assert place.memory.facts() == []


def test_a_conflict_with_an_expired_memory_is_not_listed_nor_does_it_dispute(place: Place) -> None:
    # Given a pending conflict, of which one side expires
    first = place.memory.remember("The bridge is open", wait=True)
    place.clock.advance(minutes=1)
    place.memory.remember("The bridge is closed", ttl=HOUR, wait=True)
    [pair] = place.memory.conflicts(status=None)
    if pair.status == "resolved":
        place.memory.undo(pair.id)
    with pytest.raises(biem.InvalidInput, match="expires"):
        place.memory.resolve(pair.id, "merge")

    # When it has expired / Then the conflict is listed no more, and the other side is shown without a doubt
    place.clock.advance(hours=1)
    assert place.memory.conflicts(status=None) == []
    assert place.memory.stats()["conflicts"] == 0
    assert "disputed" not in place.memory.context("Is the bridge open?").text
    assert place.memory.recall("bridge")[0].node.id == first


def test_sweeps_archive_what_has_expired_between_two_nights(place: Place) -> None:
    assert SleepPolicy().sweep_s < SleepPolicy().lifecycle_s
    key = remembered(place)
    place.clock.advance(hours=1)
    place.memory._system.job_runner.run_everywhere("sweep")
    assert ids(place.memory.list(status="archived").items) == {key}
