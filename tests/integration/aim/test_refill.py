"""Evidence (A14–A18, A37, A48, C22): summaries by default, originals byte for byte when asked for."""

import hashlib

import pytest

from biem.aim import AimMemory
from tests.integration.aim.conftest import facts

ORIGINAL = "她说：“剂量 0.3 mg”。\r\n\tLi Ming noted 10M\u3000tokens —  twice  "


@pytest.mark.req("A14", "A16", "A17", "A37")
@pytest.mark.parametrize(
    ("query", "mode", "told"),
    [
        ("Li Ming's dose", "fast", False),
        ("Li Ming's dose", "strict", True),
        ("Li Ming's dose 原文", "fast", True),
        ("Li Ming's dose, exact", "strict", True),
    ],
)
def test_originals_come_by_mode_or_trigger_word(aim: AimMemory, query: str, mode: str, told: bool) -> None:
    facts(aim, ORIGINAL)
    nodes, refill = aim.route_memory(query, mode=mode)
    assert len(nodes) == 1
    assert refill == (ORIGINAL if told else "")


@pytest.mark.req("A15", "C22")
@pytest.mark.parametrize("word", ["精确", "原文", "证明", "引用", "来源", "exact", "quote", "proof"])
def test_each_trigger_word_alone_is_enough(aim: AimMemory, word: str) -> None:
    facts(aim, ORIGINAL)
    assert aim.route_memory(f"Li Ming {word}")[1] == ORIGINAL


@pytest.mark.req("A18")
def test_every_node_can_be_traced_to_its_original(aim: AimMemory) -> None:
    facts(aim, ORIGINAL, "Anjali marries on 2025-10-04 in Porto")
    nodes, _ = aim.route_memory("Li Ming's dose and Anjali's wedding, 原文")
    assert nodes
    for one in nodes:
        assert one.evidence is not None
        assert hashlib.sha256(one.evidence.encode()).hexdigest() == one.node.evidence_ptr
        for name in one.node.fields.names:
            assert name in one.evidence


@pytest.mark.req("A48", partly="cutting")
def test_a_long_original_is_cut_between_characters(aim: AimMemory) -> None:
    long = "海" * 4_999 + "🌊"
    facts(aim, long)
    assert aim.route_memory("海", mode="strict")[1] == "海" * 2_000
