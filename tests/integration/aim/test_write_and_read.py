"""Writing and reading (A24–A32, A38, X26): what the gate lets form, and what it refuses and still is found."""

import json
from importlib.resources import files

import pytest

from biem.aim import AimMemory
from tests.fakes import eventually
from tests.integration.aim.conftest import facts


@pytest.mark.req("A24", "A32", "A28", partly="through the public API")
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


@pytest.mark.req("A25", "A26", partly="what is refused; what is its own context is told, not refused")
def test_relevance_and_surprise_are_measured_apart(aim: AimMemory) -> None:
    # Given two texts in contexts of the caller's own
    text = "Li Ming is allergic to peanuts"
    facts(aim, "The dam of the valley was repaired in spring")

    # When the text is its own context, and when the context is about something else
    formed = aim.write_memory(text, context=text)
    refused = aim.write_memory("林晓下周三飞里斯本", context="The printer on the second floor is out of toner")

    # Then the first is relevant enough to be formed, and the other is new, too, but to no purpose
    assert (formed, refused) == (True, False)
    [refusal] = aim.memory.aim.replayer.refusals(aim.memory.bound_to, 10)
    assert refusal.text == "林晓下周三飞里斯本"
    assert refusal.decision.relevance <= 0.3
    assert refusal.decision.surprise >= 0.5


@pytest.mark.req("X26", "C8")
def test_of_a_bilingual_dialogue_the_gate_refuses_some_and_lets_some_form(aim: AimMemory) -> None:
    # Given six weeks of dialogue in English and Chinese
    lines = files("biem.cli").joinpath("demo_dialogue.jsonl").read_text(encoding="utf-8").splitlines()[:180]
    turns = [json.loads(line) for line in lines]
    ids = aim.memory.remember_many(
        {"text": turn["text"], "speaker": turn["speaker"], "conversation": turn["conversation"]} for turn in turns
    )
    assert aim.memory.flush()

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

    # And the other is formed when somebody calls it useful
    aim.memory.feedback(useful=[praised])
    assert aim.memory.get(praised).energy > 0.5
    assert aim.memory.refusals() == []


@pytest.mark.req("A38")
def test_a_route_gives_nodes_and_their_originals_as_text(aim: AimMemory) -> None:
    facts(aim, "The archive of Kelda opens at nine", "Paella needs a wide pan")
    nodes, refill = aim.route_memory("When does the archive of Kelda open?", mode="strict")
    assert nodes[0].node.text == "The archive of Kelda opens at nine"
    assert "The archive of Kelda opens at nine" in refill
