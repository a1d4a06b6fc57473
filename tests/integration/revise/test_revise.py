"""A memory that is corrected: found by its new text, never again by the former one, which stays as a revision."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import biem
from biem.bootstrap import Servers
from biem.bootstrap.admin import backup, reembed, restore_backup
from biem.domain.listing import ORDERS
from biem.domain.policies.orbit import OrbitPolicy
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.life_workloads import CLUSTER, ONLY_SLEEP
from tests.support.servers import Configure
from tests.support.systems import system


def texts(hits: biem.Hits) -> list[str]:
    return [hit.node.text for hit in hits]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def memory(settings: Configure, clock: HeldClock) -> Iterator[biem.Memory]:
    scope = biem.Scope(user=uuid.uuid4().hex)
    chosen = settings(sleep=ONLY_SLEEP, orbit=OrbitPolicy(min_confidence=0.0, least_talk=0.0))
    with biem.connect(chosen, scope=scope, embedder=WordEmbedder(dim=512), clock=clock) as opened:
        yield opened


def test_a_revised_text_is_found_by_its_words_at_once_and_the_former_one_no_more(
    memory: biem.Memory, clock: HeldClock
) -> None:
    # Given a memory that is indexed
    key = memory.remember("Ann keeps the key below the flowerpot", wait=True)
    clock.advance(days=1)
    # When its text is revised
    node = memory.revise(key, text="Ann keeps the key in a drawer", tags=["home"], expect=1)
    # Then it has the same id, and is found by its new words at once, by its vector once it is indexed
    assert (node.id, node.revision, node.status, node.tags) == (key, 2, "pending", ("home",))
    assert texts(memory.recall("drawer")) == ["Ann keeps the key in a drawer"]
    assert memory.flush()
    [hit] = memory.recall("drawer")
    assert (hit.node.text, hit.node.status) == ("Ann keeps the key in a drawer", "active")
    assert [one.text for one in memory.revisions(key)] == [
        "Ann keeps the key below the flowerpot",
        "Ann keeps the key in a drawer",
    ]
    back = memory.revert(key, 1)
    assert (back.revision, back.text, back.tags) == (3, "Ann keeps the key below the flowerpot", ())


def test_as_of_answers_with_the_text_that_stood_then(memory: biem.Memory, clock: HeldClock) -> None:
    # Given a fact that was revised twice, a day apart, among others
    memory.remember_many([{"text": f"Bo has {n} bicycles in the cellar"} for n in range(5)], wait=True)
    key = memory.remember("Ann keeps the key below the flowerpot", tags=["garden"], wait=True)
    clock.advance(days=1)
    first = clock.now() - timedelta(seconds=1)
    memory.revise(key, text="Ann stores her key in a drawer", tags=["home"])
    assert memory.flush()
    clock.advance(days=1)
    second = clock.now() - timedelta(seconds=1)
    memory.revise(key, text="安的钥匙在邻居那里", tags=[])
    assert memory.flush()
    # When it is asked for, now and as of then, by words and by meaning
    told = {
        name: memory.recall("Where does Ann keep her key", top_k=3, as_of=moment)[0].node
        for name, moment in (("first", first), ("second", second))
    }
    # Then each time it tells the text of then, with its tags, and no other
    assert (told["first"].text, told["first"].tags) == ("Ann keeps the key below the flowerpot", ("garden",))
    assert (told["second"].text, told["second"].tags) == ("Ann stores her key in a drawer", ("home",))
    assert memory.recall("钥匙", top_k=1)[0].node.text == "安的钥匙在邻居那里"
    assert memory.recall("钥匙", top_k=1)[0].node.id == key
    assert "安的钥匙在邻居那里" not in texts(memory.recall("钥匙", top_k=10, as_of=second))
    assert texts(memory.recall("flowerpot", top_k=1, as_of=first, mode="strict")) == [told["first"].text]
    assert memory.recall("flowerpot", top_k=1, as_of=first, mode="strict")[0].evidence == told["first"].text
    assert [hit.node.text for hit in memory.recall("key", as_of=first, tags=["garden"])] == [told["first"].text]
    assert texts(memory.recall("key", as_of=second, tags=["garden"])) == []
    assert told["first"].text not in texts(memory.recall("flowerpot", top_k=10))


def test_as_of_answers_with_what_stood_then_in_lists_the_timeline_and_the_core(
    memory: biem.Memory, clock: HeldClock
) -> None:
    # Given a rule of the core and messages; a day later some are revised, and one is written
    rule = memory.remember("Ann drinks tea in the morning", layer="core", importance=5, speaker="Ann")
    moved = memory.remember("安的钥匙在花盆下", tags=["home"], importance=2)
    same = memory.remember("Ann has a brother")
    first = memory.now() + timedelta(minutes=1)
    clock.advance(days=1)
    memory.revise(rule, text="Ann drinks coffee in the morning")
    memory.revise(moved, text="安的钥匙在抽屉里", tags=["drawer"], importance=4, at=memory.now())
    late = memory.remember("Ann bought a car")
    former = {rule: "Ann drinks tea in the morning", moved: "安的钥匙在花盆下", same: "Ann has a brother"}
    present = {rule: "Ann drinks coffee in the morning", moved: "安的钥匙在抽屉里", same: "Ann has a brother"}

    # When they are listed in any order, page by page / Then it is what stood at each moment, each once
    for order in ORDERS:
        for moment, expected in ((first, former), (memory.now(), present | {late: "Ann bought a car"})):
            told: list[biem.Node] = []
            after = ""
            while True:
                page = memory.list(order=order, limit=1, after=after, as_of=moment)
                told += page.items
                after = page.next
                if not after:
                    break
            assert len(told) == len(expected)
            assert {node.id: node.text for node in told} == expected
            if order == "importance":
                assert [node.importance for node in told] == sorted((node.importance for node in told), reverse=True)
    assert memory.count(as_of=first) == 3
    assert memory.count(as_of=first, tags=["home"]) == 1
    assert memory.count(as_of=first, tags=["drawer"]) == 0
    assert [node.id for node in memory.timeline(as_of=first).items] == [rule, moved, same]
    # And the block begins with the core of that time
    then = memory.context("What does Ann drink in the morning?", as_of=first)
    assert "Ann drinks tea in the morning" in then.text
    assert "coffee" not in then.text
    assert "coffee" in memory.context("What does Ann drink in the morning?").text
    # And what left the core since was part of it
    memory.revise(rule, layer="long_term")
    assert "## Core Memories" in memory.context("What does Ann drink in the morning?", as_of=first).text


def test_what_stood_then_is_shown_as_long_and_believed_as_far_as_the_memory_is_now(
    memory: biem.Memory, clock: HeldClock
) -> None:
    # Given memories that said something else yesterday
    texts_then = ("Ann keeps the key below the flowerpot", "Bo keeps the key in the boat")
    ends, doubted = memory.remember_many([{"text": text} for text in texts_then], wait=True)
    then = memory.now()
    clock.advance(days=1)
    # When one expires, and the other is no longer believed
    memory.revise(ends, text="Ann keeps the key in a drawer", ttl=timedelta(hours=1))
    memory.revise(doubted, text="Bo keeps the key at the bank", trust="untrusted")
    memory.revise(doubted, text="Bo keeps the key at home", trust="untrusted")
    assert {node.text for node in memory.list(as_of=then).items} == set(texts_then)
    clock.advance(hours=2)
    # Then no path tells the first, and the second only as what it is now
    assert [(node.text, node.trust) for node in memory.list(as_of=then).items] == [(texts_then[1], "untrusted")]
    assert [hit.node.trust for hit in memory.recall("Where is the key?", as_of=then)] == ["untrusted"]
    assert memory.list(as_of=then, min_trust="normal").items == ()


def test_erasing_destroys_all_revisions_and_counts_them(memory: biem.Memory) -> None:
    # Given a memory of three revisions, and another that has had one of its texts
    key = memory.remember("Eli hides the spade below the bench", wait=True)
    memory.revise(key, text="Eli hides the spade in a barrel")
    assert memory.flush()
    memory.revise(key, text="Eli has lost the spade")
    assert memory.flush()
    # When it is erased
    receipt = memory.erase(key)
    # Then the receipt counts the former revisions, their originals and vectors, and nothing is left
    counts = {count.store: (count.before, count.after) for count in receipt.stores}
    assert counts["postgres.memory_revisions"] == (2, 0)
    assert counts["postgres.evidence"] == (3, 0)
    assert counts["postgres.embeddings"] == (3, 0)
    assert receipt.complete


# -- what was made of the former text ----------------------------------------------------------------------------------


def test_links_by_meaning_are_formed_again_and_those_in_time_stay(memory: biem.Memory) -> None:
    # Given three messages of a conversation, of which the first two resemble each other
    said = [
        "The saffron fields belong to my uncle",
        "The saffron fields of my uncle bloom",
        "Rex the dog sleeps all day",
    ]
    ids = memory.remember_many([{"text": text, "speaker": "Ann", "conversation": "c"} for text in said], wait=True)
    assert {link.source for link in memory.links(ids[1]) if link.type == "semantic"} | {
        link.target for link in memory.links(ids[1]) if link.type == "semantic"
    } == {ids[0], ids[1]}
    before = {link.key for link in memory.links(ids[1]) if link.type == "temporal"}
    # When the second is revised, and resembles the third
    memory.revise(ids[1], text="Rex the dog sleeps half the day")
    assert memory.flush()
    # Then it is linked by meaning with the third alone, and in time as before
    links = memory.links(ids[1])
    assert {key for link in links if link.type == "semantic" for key in (link.source, link.target)} == {ids[1], ids[2]}
    assert before
    assert {link.key for link in links if link.type == "temporal"} == before


def test_an_undecided_conflict_of_the_former_text_goes_and_the_new_text_is_compared(memory: biem.Memory) -> None:
    # Given two facts that contradict each other, and of which no one decided which holds
    now = memory.now()
    older = memory.remember("Ann works at Acme", at=now - timedelta(hours=2), importance=5)
    newer = memory.remember("Ann works at Globex", at=now - timedelta(hours=1), wait=True)
    assert memory.flush()
    for conflict in memory.conflicts(status="resolved"):
        memory.undo(conflict.id)
    assert [(one.older_id, one.newer_id) for one in memory.conflicts()] == [(older, newer)]
    # When the newer is revised, so that they agree no less
    memory.revise(newer, text="The tram to the harbour is green")
    # Then the conflict is gone at once
    assert memory.conflicts() == []
    # When it is revised again, and contradicts the older
    memory.revise(newer, text="Ann works at Initech")
    assert memory.flush()
    # Then this is noticed
    [found] = memory.conflicts(status=None)
    assert (found.older_id, found.newer_id, found.newer_text) == (older, newer, "Ann works at Initech")


def test_a_decided_conflict_stays_and_can_be_taken_back(memory: biem.Memory) -> None:
    now = memory.now()
    older = memory.remember("Ann works at Acme", at=now - timedelta(hours=2))
    newer = memory.remember("Ann works at Globex", at=now - timedelta(hours=1), wait=True)
    assert memory.flush()
    [found] = memory.conflicts(status=None)
    decided = memory.resolve(found.id, "keep_new")
    memory.revise(newer, text="Ann works at Globex now, in Bonn")
    assert memory.flush()
    assert memory.get(older).superseded_by == newer
    assert memory.undo(decided.id).status == "pending"
    assert memory.get(older).superseded_by is None


def test_notes_and_statements_of_concepts_tell_the_new_text(memory: biem.Memory, clock: HeldClock) -> None:
    # Given a message that was noted and built into concepts
    said = "The saffron harvest of Mei begins in October"
    key = memory.remember(said, speaker="Ann", conversation="farm", wait=True)
    clock.advance(days=1)
    memory.sleep()
    assert [note.text for note in memory.instant("farm")] == ["Ann: The saffron harvest of Mei begins in October"]
    assert any("saffron" in found.memory for found in memory.related("saffron harvest"))
    # When it is revised
    memory.revise(key, text="The quince harvest of Bo begins in March")
    # Then neither a note nor a concept tells the former text, from this moment on
    assert memory.instant("farm") == []
    assert memory.related("saffron harvest") == []
    # And after a night both tell the new one
    assert memory.flush()
    clock.advance(days=1)
    memory.sleep()
    assert [note.text for note in memory.instant("farm")] == ["Ann: The quince harvest of Bo begins in March"]
    assert any("quince" in found.memory for found in memory.related("quince harvest"))
    assert not any("saffron" in found.memory for found in memory.related("saffron harvest"))


def test_a_fact_distilled_from_a_former_text_is_archived_and_its_sources_are_distilled_again(
    memory: biem.Memory, clock: HeldClock
) -> None:
    # Given five memories that were of use together, and a fact distilled from them
    ids = memory.remember_many(
        [{"text": text, "speaker": "Ann", "conversation": "sport"} for text in CLUSTER], wait=True
    )
    memory.feedback(useful=ids, turn="t")
    memory.sleep()
    [fact] = memory.facts()
    assert memory.flush()
    # When one of them is revised, and says much the same
    memory.revise(ids[0], text=CLUSTER[0] + " merrily")
    # Then the fact is shown no more, at once
    assert memory.facts() == []
    assert memory.get(fact.id).status == "archived"
    assert fact.id not in [hit.node.id for hit in memory.recall("Li Ming runs along the river", top_k=10)]
    # And the next night distils another one, of the text that stands
    assert memory.flush()
    clock.advance(minutes=1)
    memory.sleep()
    [again] = memory.facts()
    assert again.id != fact.id
    assert sorted(again.source_node_ids) == sorted(ids)
    # And erasing the source erases the archived fact, too, which tells its former text
    memory.erase(ids[0])
    with pytest.raises(biem.NotFound):
        memory.get(fact.id)


def test_a_session_of_another_process_hears_of_a_revision(
    memory: biem.Memory, settings: Configure, clock: HeldClock
) -> None:
    # Given a session in another process that has its candidates prepared
    texts_said = [f"The Lisbon tram {n} costs {n} coins" for n in range(40)]
    ids = memory.remember_many(
        [{"text": text, "speaker": "Ann", "conversation": "t"} for text in texts_said], wait=True
    )
    chosen = settings(queue="none", orbit=OrbitPolicy(min_confidence=0.0, least_talk=0.0))
    with biem.connect(chosen, scope=memory.bound_to, embedder=WordEmbedder(dim=512), clock=clock) as other:
        eventually(lambda: other.recall("What costs the Lisbon tram 3?", session="s").way == "orbit")
        # When a memory is revised here
        memory.revise(ids[7], text="The Lisbon funicular 7 is closed for repair")
        # Then a follow-up there is answered from prepared candidates, with the new text
        hits = other.recall("Is the funicular closed for repair?", session="s")
        assert (hits.way, hits[0].node.id) == ("orbit", ids[7])
        assert "The Lisbon tram 7 costs 7 coins" not in texts(
            other.recall("tram 7 costs 7 coins", session="s", top_k=40)
        )


# -- values ------------------------------------------------------------------------------------------------------------


def test_every_value_can_be_revised_and_reverted(memory: biem.Memory, clock: HeldClock) -> None:
    key = memory.remember("Ann likes tea", tags=["a"], metadata={"n": 1}, kind="knowledge", wait=True)
    first = memory.revisions(key)[0]
    clock.advance(hours=1)
    at, expires = clock.now() - timedelta(days=3), clock.now() + timedelta(days=3)
    values = {
        "text": "安喜欢喝茶", "tags": ("b", "c"), "importance": 5.0, "reason": "she said so", "metadata": {"n": 2},
        "kind": "emotion", "speaker": "Ann", "at": at, "layer": "core", "expires_at": expires, "on_expiry": "erase",
        "trust": "normal",
    }  # fmt: skip
    node = memory.revise(key, **values)  # type: ignore[arg-type]
    assert {name: getattr(node, name) for name in values} == values
    assert {name: getattr(memory.get(key), name) for name in values} == values
    assert memory.revise(key, **values).revision == 2  # type: ignore[arg-type]
    assert memory.flush()
    [hit] = memory.recall("安喝什么", kinds=["emotion"], speakers=["Ann"], tags=["c"], until=at + timedelta(hours=1))
    assert (hit.node.id, hit.node.importance) == (key, 5.0)
    back = memory.revert(key, 1)
    assert back.revision == 3
    assert {name: getattr(back, name) for name in values} == {name: getattr(first, name) for name in values}
    made = memory.revisions(key)
    assert [(one.by, one.stood_until is None) for one in made] == [("", False), ("revise", False), ("revert", True)]
    assert memory.revise(key, expires_at=expires).expires_at == expires
    assert memory.revise(key, expires_at=None).expires_at is None
    assert memory.revise(key, ttl=timedelta(days=1)).expires_at == clock.now() + timedelta(days=1)


def test_a_text_that_another_fact_states_is_refused_with_its_id(memory: biem.Memory) -> None:
    one, other = memory.remember("Ann likes tea"), memory.remember("Ann likes cocoa")
    with pytest.raises(biem.InvalidInput, match=one):
        memory.revise(other, text="Ann  likes tea")
    # But not where the other is archived, and then both can live
    memory.archive(one)
    assert memory.revise(other, text="Ann likes tea").revision == 2
    assert memory.restore(one)
    assert memory.revise(one, reason="it came back").revision == 2


def test_a_repeated_write_of_a_former_text_under_its_ref_is_the_same_memory(memory: biem.Memory) -> None:
    key = memory.remember("Ann likes tea", ref="t")
    memory.revise(key, text="Ann likes cocoa")
    assert memory.remember("Ann likes tea", ref="t") == key
    assert memory.get(key).text == "Ann likes cocoa"


@pytest.mark.long
def test_reindexing_keeps_former_texts_findable(memory: biem.Memory, clock: HeldClock) -> None:
    key = memory.remember("Ann keeps the key below the flowerpot", wait=True)
    then = clock.now()
    clock.advance(days=1)
    memory.revise(key, text="Bo drives a green lorry")
    assert memory.flush()
    memory.reindex()
    assert texts(memory.recall("flowerpot", as_of=then)) == ["Ann keeps the key below the flowerpot"]
    assert texts(memory.recall("lorry")) == ["Bo drives a green lorry"]


@pytest.mark.req("X47")
@pytest.mark.req("M27", partly="a change moves `revised_at`, an access does not")
@pytest.mark.req("M43", partly="a changed text is embedded anew and replaces its row of the index")
def test_a_memory_in_the_canvas_a_slot_and_the_core_is_reported_again_and_once_erased_no_more(
    memory: biem.Memory, clock: HeldClock
) -> None:
    # Given a memory that is hot, useful and core, and was given in a prompt
    former, present = "Ann keeps the spare key below the flowerpot", "Ann gave the spare key to Bo"
    key = memory.remember(former, importance=5, layer="core", wait=True)
    memory.feedback(useful=[key], turn="t")
    assert memory.get(key).tier == "L1"
    assert former in memory.context("Where is the spare key?").text
    assert memory.get(key).revised_at is None
    # When it is corrected
    clock.advance(minutes=1)
    memory.revise(key, text=present)
    # Then the next prompt tells the new text, before and after it is indexed, and no prompt tells the former one
    for _ in range(2):
        for question in ("Where is the spare key?", "flowerpot"):
            assert former not in memory.context(question).text
        assert present in memory.context("Where is the spare key?").text
        assert memory.flush()
    # And an access moves the time of the access alone
    revised_at = memory.get(key).revised_at
    assert revised_at == clock.now()
    clock.advance(minutes=1)
    memory.recall("spare key")
    eventually(lambda: memory.get(key).accessed_at == clock.now())
    assert memory.get(key).revised_at == revised_at
    # When it is erased, Then it is gone
    memory.erase(key)
    assert present not in memory.context("Where is the spare key?").text


@pytest.mark.long
def test_a_backup_and_a_move_to_another_embedder_keep_all_revisions(stack: Servers, tmp_path: Path) -> None:
    with system(stack) as town:
        # Given a memory that was revised twice, once before it was indexed
        with town.connect() as memory:
            key = memory.remember("Ann keeps the key below the flowerpot", wait=True)
            then = memory.now()
            memory.revise(key, text="Ann gave the key to Bo")
            memory.revise(key, text="Bo drives a green lorry")
            assert memory.flush()
            history = memory.revisions(key)
        # When all memories are backed up, changed, brought back, and moved to another embedder
        backup(town.settings, tmp_path / "b")
        with town.connect() as memory:
            memory.erase(key)
        restore_backup(town.settings, tmp_path / "b", replace=True, embedder=town.embedder)
        town.embedder = WordEmbedder(model="another")
        reembed(town.settings, embedder=town.embedder, drop_old=False)
        # Then all revisions are there, found as of then by their words and by vectors of the new model
        with town.connect() as memory:
            assert memory.revisions(key) == history
            assert texts(memory.recall("flowerpot", as_of=then, top_k=1)) == ["Ann keeps the key below the flowerpot"]
            assert texts(memory.recall("lorry", top_k=1)) == ["Bo drives a green lorry"]
        assert town.sql("SELECT count(*) FROM embeddings WHERE model = 'another'") == [(3,)]
