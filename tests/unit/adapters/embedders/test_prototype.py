"""What is embedded of a message when its prototype is its summary and its fields, and a node as the design has it."""

import json

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.aim_prototype import PrototypeEmbedder
from biem.domain.designs.aim_node import AimMemoryNode
from biem.domain.designs.numbers import NUMBERS
from biem.domain.fields import Fields
from biem.domain.policies.aim import AimPolicy
from tests.support.fakes import WordEmbedder

LONG = (
    "林晓: 下周三我飞里斯本，票价 300 欧元。\n"
    + "the sea was calm and the sky was blue. " * 60
    + "Ask Priya about v0.3"
)


@pytest.mark.req("A30")
def test_the_embedder_sees_summary_and_fields_of_a_passage_and_never_the_whole_of_a_long_one() -> None:
    # Given a long message / When it is embedded as the design does
    inner = WordEmbedder()
    embedder = PrototypeEmbedder(inner, RuleAnalyzer(), 200)
    embedder.embed([LONG], "passage")
    embedder.embed([LONG], "query")

    # Then the model got one line of summary and a line of fields, those behind the summary, too; a query goes as it is
    (passage,), (query,) = inner.calls
    summary, fields = passage.split("\n")
    assert len(summary) <= 200
    assert summary.startswith("林晓: 下周三我飞里斯本")
    for value in (*RuleAnalyzer().analyze(LONG).fields.names, "v0.3"):
        assert value in fields
    assert query == LONG


def test_its_vectors_are_never_compared_with_those_of_whole_texts() -> None:
    inner = WordEmbedder()
    infos = {inner.info.id, *(PrototypeEmbedder(inner, RuleAnalyzer(), chars).info.id for chars in (100, 200))}
    assert len(infos) == 3


@pytest.mark.parametrize("text", ["", " ", "\n\n", "嗯", "\u200b"])
def test_a_text_without_anything_is_embedded_as_any_other(text: str) -> None:
    inner = WordEmbedder()
    assert PrototypeEmbedder(inner, RuleAnalyzer(), 200).embed([text], "passage").shape == (1, inner.info.dim)


@pytest.mark.req("A30", "C10")
def test_the_profile_of_the_design_embeds_so_and_the_default_does_not() -> None:
    assert ("aim.prototype", "summary") in {(one.setting, one.value) for one in NUMBERS["aim"]}
    assert AimPolicy().prototype == "text"
    with pytest.raises(ValueError, match="prototype"):
        AimPolicy(prototype="fields")  # type: ignore[arg-type]


@pytest.mark.req("A20")
def test_a_node_has_the_designs_parts_and_survives_json() -> None:
    # Given a bare node and a whole one / When they are written and read
    bare = AimMemoryNode("n1")
    fields = Fields(("10M", "1%"), ("林晓",), ("RAG",), ("α",))
    whole = AimMemoryNode("n2", (0.25, -0.5), "一行 summary", fields, ("n1", "n3"), 0.8**3, "ab" * 32, "原文\r\n🌊")

    # Then nothing is lost, and the parts are the design's with its defaults
    for node in (bare, whole):
        assert AimMemoryNode.from_json(json.loads(json.dumps(node.as_json()))) == node
    assert set(bare.as_json()) == {
        "id", "proto", "summary", "fields", "links", "w", "evidence_ptr", "evidence_text"
    }  # fmt: skip
    assert set(bare.as_json()["fields"]) == {"numbers", "names", "definitions", "symbols"}
    assert (bare.w, bare.evidence_ptr, bare.evidence_text) == (1.0, None, None)
