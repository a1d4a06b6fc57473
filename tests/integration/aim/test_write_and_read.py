"""Writing and reading (A24–A32, A38, X26): what the gate lets form, and what it refuses and still is found."""

import json
from datetime import timedelta
from importlib.resources import files

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.aim import AimMemory
from biem.domain.fields import Fields
from tests.integration.aim.conftest import facts
from tests.support.fakes import PATIENCE_S, eventually


@pytest.mark.req("A24", "A32")
@pytest.mark.req("A28", partly="through the public API")
def test_an_empty_memory_takes_its_first_text_and_refuses_its_repetition(aim: AimMemory) -> None:
    # Given an empty memory / When a text is written twice / Then the first forms a memory and the second is refused
    assert aim.write_memory("The lighthouse of Kelda was built in 1871") is True
    assert aim.write_memory("The lighthouse of Kelda was built in 1871") is False

    # And the refused one is in HotKV, but no node; it is found, and what refused it is known
    eventually(lambda: aim.get_stats()["hot_kv_size"] == 2)
    assert aim.get_stats()["node_bank_size"] == 1
    (refusal,) = aim.memory.refusals()
    assert refusal.id in {hit.node.id for hit in aim.memory.recall("lighthouse of Kelda")}
    assert refusal.decision.value < refusal.decision.threshold == 0.6
    assert refusal.decision.surprise == pytest.approx(0.0, abs=0.01)
    assert aim.memory.get(refusal.id).energy == 0.0
    assert aim.memory.links(refusal.id) == []


@pytest.mark.req("A25")
@pytest.mark.req("A26")
def test_relevance_and_surprise_are_measured_apart(aim: AimMemory) -> None:
    # Given a memory of something else
    assert aim.write_memory("ok") is True  # an empty memory takes its first text
    assert aim.memory.replay(aim.memory.recall("ok")[0].node.id).surprise == 1.0  # next to nothing at all
    facts(aim, "The dam of the valley was repaired in spring")
    text = "Li Ming is allergic to peanuts and never eats at the market"

    # When the text is its own context, and when the context is about something else
    formed = aim.write_memory(text, context=text)
    refused = aim.write_memory("林晓下周三飞里斯本", context="The printer on the second floor is out of toner")
    again = aim.write_memory(text, context=text)

    # Then the first is relevant and formed; the second is new, but to no purpose; the third is relevant and not new
    assert (formed, refused, again) == (True, False, False)
    repeated, stray = (one.decision for one in aim.memory.refusals())
    assert repeated.relevance >= 0.9
    assert stray.relevance <= 0.3
    assert repeated.surprise < 0.05 < 0.3 < stray.surprise
    assert stray.surprise < 1.0 - stray.relevance


@pytest.mark.req("A25", "A32")
def test_without_a_context_a_text_is_compared_with_what_hotkv_holds_and_not_with_itself(aim: AimMemory) -> None:
    # Given a conversation, and next to it another, all in HotKV
    for text in ("The printer is out of toner", "Who orders new toner?", "The toner comes on Monday"):
        aim.write_memory(text, conversation="office")
    aim.write_memory("Paella wants saffron", conversation="kitchen")
    text = "林晓下周三飞里斯本"
    aim.write_memory(text, conversation="office")
    eventually(lambda: aim.get_stats()["hot_kv_size"] == 5)

    # When the text is judged by default, and with the texts of HotKV as its context
    nodes = [aim.memory.get(entry.id) for entry in aim.memory.aim.conversant.recent(aim.memory.bound_to)]
    (written,) = (node for node in nodes if node.text == text)
    said = [node.text for node in nodes if node.conversation == "office" and node.id != written.id]
    decided = aim.memory.replay(written.id)
    judged = aim.memory.aim.replayer.gate.judge(aim.memory.bound_to, text, said)

    # Then it is as irrelevant to them as to each other, and was not its own context
    assert len(said) == 3
    assert decided.relevance == pytest.approx(judged.relevance, abs=1e-4)
    assert decided.relevance <= 0.3


@pytest.mark.req("A29")
def test_a_node_has_the_fields_of_its_text(aim: AimMemory) -> None:
    texts = (
        "Model Alpha reads 10M tokens, 128K fewer than arXiv:2310.07707 says",
        "林晓下周三飞里斯本，票价 1% 的折扣",
        "RAG means retrieval augmented generation; α is 4.0",
    )
    analyzer = RuleAnalyzer()
    for key, text in zip(facts(aim, *texts), texts, strict=True):
        assert aim.memory.get(key).fields == analyzer.analyze(text).fields != Fields()


@pytest.mark.req("A31")
def test_a_node_is_linked_with_its_neighbours_in_both_directions_and_with_no_stranger(aim: AimMemory) -> None:
    # Given two texts that share a name, and one about something else, hours apart
    now = aim.memory.now()
    (first,) = facts(aim, "Li Ming is allergic to peanuts", at=now)
    (second,) = facts(aim, "Li Ming has an allergy to peanuts and nuts", at=now + timedelta(hours=2))
    (third,) = facts(aim, "The dam of the valley was repaired in spring", at=now + timedelta(hours=4))

    # When their links are looked at / Then the two lead to each other, and nothing to the third
    def linked(key: str) -> set[str]:
        return {link.target if link.source == key else link.source for link in aim.memory.links(key)}

    assert (linked(first), linked(second), linked(third)) == ({second}, {first}, set())


@pytest.mark.req("X26", "C8")
def test_of_a_bilingual_dialogue_the_gate_refuses_some_and_lets_some_form(aim: AimMemory) -> None:
    # Given six weeks of dialogue in English and Chinese
    lines = files("biem.cli").joinpath("demo_dialogue.jsonl").read_text(encoding="utf-8").splitlines()[:180]
    turns = [json.loads(line) for line in lines]
    ids = aim.memory.remember_many(
        {"text": turn["text"], "speaker": turn["speaker"], "conversation": turn["conversation"]} for turn in turns
    )
    assert aim.memory.flush(PATIENCE_S)

    # When the gate has judged it with its defaults
    refused = {refusal.id for refusal in aim.memory.refusals(limit=1_000)}

    # Then between a fifth and four fifths are formed in each language, and all are still memories
    nodes = [aim.memory.get(key) for key in ids]
    for language in ("en", "zh"):
        judged = [node.id in refused for node in nodes if node.language == language]
        assert len(judged) > 20
        assert 0.2 <= 1 - sum(judged) / len(judged) <= 0.8, (language, sum(judged), len(judged))
    assert {node.status for node in nodes} == {"active"}


@pytest.mark.req("C7", partly="the gate; refusals are recorded and replayed")
def test_what_was_refused_is_formed_when_it_is_replayed_by_force_or_praised(aim: AimMemory) -> None:
    # Given two refused remarks
    said = ["The tide turns at noon", "The tide turns at noon"]
    for text in ("The tide turns at noon", *said):
        aim.write_memory(text)
    praised, replayed = (refusal.id for refusal in aim.memory.refusals())

    # When one is judged again, Then it is refused again; by force it is formed
    assert aim.memory.replay(replayed).formed is False
    assert aim.memory.get(replayed).energy == 0.0
    assert aim.memory.replay(replayed, force=True).formed is True
    assert aim.memory.get(replayed).energy > 0.5
    assert aim.memory.links(replayed)

    # And the other is formed when a user calls it useful
    aim.memory.feedback(useful=[praised])
    assert aim.memory.get(praised).energy > 0.5
    assert aim.memory.refusals() == []


@pytest.mark.req("A38")
def test_a_route_gives_nodes_and_their_originals_as_text(aim: AimMemory) -> None:
    facts(aim, "The archive of Kelda opens at nine", "Paella needs a wide pan")
    nodes, refill = aim.route_memory("When does the archive of Kelda open?", mode="strict")
    assert nodes[0].node.text == "The archive of Kelda opens at nine"
    assert "The archive of Kelda opens at nine" in refill
