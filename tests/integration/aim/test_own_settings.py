"""Memories with their own settings: alone in this file, as one that is open next to them would do their work."""

import hashlib
import uuid

import pytest

from biem.aim import AimMemory
from biem.bootstrap.aim_memory import create_aim_memory
from biem.ports import Embedder
from tests.integration.aim.conftest import facts
from tests.integration.aim.test_refill import ORIGINAL
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Testbed


# That a model may decide, and that what is remembered on purpose is judged by no one: unit/engine/encode/test_gate
@pytest.mark.req("C7")
def test_what_a_classifier_refuses_is_recorded_with_its_score_found_and_replayed(
    testbed: Testbed, model: Embedder
) -> None:
    with create_aim_memory({"admission": "classifier"}, settings=testbed.settings(), embedder=model) as opened:
        aim = AimMemory(opened.memory.scope(user=uuid.uuid4().hex))

        # Given a message that tells something, one that does not, and the same remembered on purpose
        assert aim.write_memory("The lighthouse keeper of Kelda paints quiet harbours") is True
        assert aim.write_memory("Kelda then?") is False
        aim.memory.remember("Kelda then?")

        # When it is asked what was refused / Then that is one, with who refused it and its score; it is found, and kept
        (refusal,) = aim.memory.refusals()
        assert (refusal.text, refusal.decision.form) == ("Kelda then?", "classifier")
        assert refusal.decision.value < refusal.decision.threshold
        assert refusal.id in {hit.node.id for hit in aim.memory.recall("Kelda then?")}
        eventually(lambda: aim.get_stats()["hot_kv_size"] == 3)

        # And it can be replayed: the rule says the same, and force forms it
        assert aim.memory.replay(refusal.id).formed is False
        assert aim.memory.replay(refusal.id, force=True).formed is True
        assert aim.memory.refusals() == []


@pytest.mark.req("A48")
@pytest.mark.req("A30", partly="the embedder of an open memory")
def test_an_original_may_be_withheld_and_the_model_sees_the_prototype_only(testbed: Testbed) -> None:
    # Given a memory that stores no originals and embeds summaries
    config, words = {"store_evidence": False, "prototype": "summary"}, WordEmbedder()
    with create_aim_memory(config, settings=testbed.settings(), embedder=words) as opened:
        silent = AimMemory(opened.memory.scope(user=uuid.uuid4().hex))

        # When it is asked strictly / Then it knows which original it was, and has it not
        facts(silent, ORIGINAL)
        nodes, refill = silent.route_memory("Li Ming", mode="strict")
        assert (refill, nodes[0].evidence) == ("", None)
        assert nodes[0].node.evidence_ptr == hashlib.sha256(ORIGINAL.encode()).hexdigest()

    # And no model ever saw the original as it is
    embedded = [text for call in words.calls for text in call]
    assert not any(ORIGINAL in text for text in embedded)
    assert any("Li Ming noted 10M tokens — twice\n" in text for text in embedded)
