"""Typed recall on real servers: channels, chains, weights, and a choice that can be repeated."""

import uuid
from collections import Counter
from collections.abc import Iterator

import pytest

import biem
from biem.domain.node import KINDS
from biem.errors import EmbedderUnavailable, InvalidInput
from tests.support.fakes import START, HeldClock, WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

QUERY = "how to bake bread"


@pytest.fixture
def memory(settings: Configure) -> Iterator[biem.Memory]:
    """Ten memories of each kind about bread, a few minutes apart, so that none are linked in time."""
    clock = HeldClock()
    user = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(sleep=ONLY_SLEEP), scope=user, embedder=WordEmbedder(), clock=clock) as opened:
        for number in range(10):
            for kind in KINDS:
                clock.advance(minutes=10)
                opened.remember(f"{kind} {number} about how to bake bread", kind=kind, at=clock.now())
        assert opened.flush()
        yield opened


@pytest.mark.req("G17")
def test_seven_of_each_kind_are_candidates(memory: biem.Memory) -> None:
    # Given ten of each kind / When recall is typed / Then seven of each are in its channels, and seven are chosen
    hits = memory.recall_typed(QUERY)
    assert {kind: len(channel) for kind, channel in hits.channels.items()} == dict.fromkeys(KINDS, 7)
    assert len(hits) == 7
    kinds = {key: kind for kind, channel in hits.channels.items() for key in channel}
    assert all(memory.get(key).kind == kind for key, kind in list(kinds.items())[::7])


@pytest.mark.req("G11")
def test_flooding_one_kind_leaves_the_channels_of_the_others_as_they_were(memory: biem.Memory) -> None:
    # Given the channels
    before = memory.recall_typed(QUERY).channels

    # When a thousand events about the same come in / Then the other channels say what they said
    memory.remember_many({"text": f"{QUERY} {n}", "kind": "event", "at": START} for n in range(1_000))
    after = memory.recall_typed(QUERY).channels  # while most of them are pending
    assert {kind: after[kind] for kind in KINDS if kind != "event"} == {
        kind: before[kind] for kind in KINDS if kind != "event"
    }
    assert memory.flush(300)
    later = memory.recall_typed(QUERY).channels
    assert {kind: later[kind] for kind in KINDS if kind != "event"} == {
        kind: before[kind] for kind in KINDS if kind != "event"
    }
    assert later["event"] != before["event"]


@pytest.mark.req("G18")
@pytest.mark.req("G19", partly="on real servers")
def test_what_candidates_are_linked_with_joins_them_and_weighs_by_its_links_and_uses(memory: biem.Memory) -> None:
    # Given a memory about something else that was useful together with two of the candidates
    hits = memory.recall_typed(QUERY, selection="top_k")
    first, second = hits.channels["skill"][0], hits.channels["task"][0]
    other = memory.remember("grandmother's kitchen in Porto", kind="emotion", wait=True)
    for turn in ("one", "two", "three"):
        memory.feedback(useful=[first, other], turn=turn)
        memory.feedback(useful=[second, other], turn=f"{turn} again")

    # When recall is typed / Then it is a candidate although no channel has it, with a weight of links × uses
    found = memory.recall_typed(QUERY, top_k=50, selection="top_k")
    joined = next(hit for hit in found if hit.node.id == other)
    assert all(other not in channel for channel in found.channels.values())
    occurred = float(joined.why["occurrences"])
    assert occurred >= 2.0
    assert joined.why["use_count"] == 6.0
    assert joined.why["weight"] == occurred * 6.0
    assert found[0].score == 1.0
    assert all(hit.why["use_count"] == max(1.0, hit.node.useful_count) for hit in found)


@pytest.mark.req("C28", "G20", partly="the seed is told with the result")
def test_a_choice_can_be_repeated_by_its_seed(memory: biem.Memory) -> None:
    # Given a choice / When it is repeated with the seed it tells / Then it is the same, and without one it varies
    first = memory.recall_typed(QUERY)
    assert first.selection == "weighted_random"
    again = memory.recall_typed(QUERY, seed=first.seed)
    assert [hit.node.id for hit in again] == [hit.node.id for hit in first]
    choices = Counter(tuple(sorted(hit.node.id for hit in memory.recall_typed(QUERY))) for _ in range(8))
    assert len(choices) > 1
    assert len({hit.node.id for hit in first}) == len(first)


@pytest.mark.req("G21", partly="on real servers")
def test_three_kinds_are_in_an_answer_although_one_outweighs_all(memory: biem.Memory) -> None:
    # Given events that were of use often / When the heaviest seven are asked for / Then two places are for others
    events = memory.recall_typed(QUERY).channels["event"]
    for turn in range(4):
        memory.feedback(useful=list(events), turn=str(turn))
    hits = memory.recall_typed(QUERY, selection="top_k")
    assert len({hit.node.kind for hit in hits}) >= 3
    assert Counter(hit.node.kind for hit in hits)["event"] == 5


def test_conditions_choose_the_channels_and_returned_memories_are_counted(memory: biem.Memory) -> None:
    # Given kinds and a number / When recall is typed under them / Then there is nothing else, and its access counts
    hits = memory.recall_typed(QUERY, kinds=["skill", "task"], per_kind=2, top_k=3, selection="top_k")
    assert {kind: len(channel) for kind, channel in hits.channels.items()} == {"skill": 2, "task": 2}
    assert {hit.node.kind for hit in hits} <= {"skill", "task"}
    eventually(lambda: all(memory.get(hit.node.id).access_count == 1 for hit in hits))
    assert memory.recall_typed(QUERY, tags=["nobody has this"]) == []
    with pytest.raises(InvalidInput, match="per_kind"):
        memory.recall_typed(QUERY, per_kind=0)
    with pytest.raises(InvalidInput, match="kind 'mood'"):
        memory.recall_typed(QUERY, kinds=["mood"])


def test_a_fact_that_holds_no_more_is_in_no_channel(memory: biem.Memory) -> None:
    # Given a fact that another one replaced / When recall is typed / Then only the newer one is there
    memory.remember("Ann lives in Rome", kind="knowledge", wait=True)
    memory.remember("Ann no longer lives in Rome, Ann moved to Oslo", kind="knowledge", wait=True)
    texts = {hit.node.text for hit in memory.recall_typed("where Ann lives", kinds=["knowledge"], top_k=20)}
    superseded = {conflict.status for conflict in memory.conflicts(status="resolved")}
    assert ("Ann lives in Rome" in texts) == (not superseded)
    assert "Ann no longer lives in Rome, Ann moved to Oslo" in texts


def test_it_goes_by_words_while_the_embedder_is_down_and_says_so(settings: Configure) -> None:
    # Given memories, and an embedder that then fails
    embedder = WordEmbedder()
    user = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(), scope=user, embedder=embedder) as memory:
        memory.remember("bread needs salt", kind="knowledge", wait=True)
        memory.remember("面包需要盐", kind="skill", wait=True)
        embedder.failure = EmbedderUnavailable("down")

        # When recall is typed / Then words find what they can, and the answer says why it is not better
        hits = memory.recall_typed("bread")
        assert hits.degraded == ("embedder",)
        assert hits[0].node.text == "bread needs salt"
        assert (len(hits.channels["knowledge"]), len(hits.channels["skill"])) == (1, 0)
        assert memory.recall_typed("盐").channels["skill"]
