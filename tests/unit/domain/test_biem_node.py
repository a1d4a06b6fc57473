"""A memory under BIEM's own names, and what becomes of it."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.designs.biem_node import BiemMemoryNode
from biem.domain.link import Link
from tests.support.fakes import START

TIME = Link("a", "b", "temporal", 1.0, 1)
LIKE = Link("a", "c", "semantic", 0.8, 8, START, START + timedelta(days=1))
BARE = BiemMemoryNode(id="a", content="Ann likes tea", energy=0.6, initial_energy=0.6, created_at=START)
WHOLE = BiemMemoryNode(
    id="a",
    content="林晓喜欢茶\r\n🌊",
    vector=(0.6, -0.8),
    metadata={"from": {"page": 3}, "tags": ["茶"]},
    energy=0.55,
    initial_energy=0.6,
    last_accessed=START + timedelta(hours=1),
    created_at=START,
    tier="L1",
    links=(LIKE, TIME),
)


@pytest.mark.req("B30")
@pytest.mark.parametrize("node", [BARE, WHOLE])
def test_a_node_has_the_designs_parts_and_survives_json(node: BiemMemoryNode) -> None:
    # Given a bare node and a whole one / When they are written and read
    saved = node.to_dict()
    # Then nothing is lost, and the parts are the design's
    assert BiemMemoryNode.from_dict(json.loads(json.dumps(saved))) == node
    assert set(saved) == {
        "id", "content", "vector", "metadata", "energy", "initial_energy", "last_accessed", "created_at", "tier",
        "links",
    }  # fmt: skip


@pytest.mark.req("B30", "B34", partly="of a node in hand")
@given(energy=st.floats(0, 1), boost=st.floats(0, 1))
def test_a_touched_node_has_more_energy_at_most_one_and_the_time_of_its_access(energy: float, boost: float) -> None:
    before = BiemMemoryNode(id="a", content="x", energy=energy, initial_energy=0.5, created_at=START)
    after = before.touch(START + timedelta(hours=2), boost)
    assert after.energy == pytest.approx(min(1.0, energy + boost))
    assert (after.last_accessed, before.last_accessed) == (START + timedelta(hours=2), None)
    assert (after.initial_energy, after.created_at, after.id) == (0.5, START, "a")


@pytest.mark.req("B30", "C4", partly="of a node in hand")
def test_a_link_is_there_once_and_never_weaker_than_before() -> None:
    # Given a node with two links / When one is found again, weaker in one way and stronger in the other, and a new one
    again = WHOLE.add_link(Link("a", "c", "semantic", 0.5, 9))
    other = again.add_link(Link("a", "c", "causal", 0.9, 1))
    # Then the greater of both counts, and the closest comes first
    assert [(link.key, link.weight, link.strength) for link in other.links] == [
        (("a", "b", "temporal"), 1.0, 1),
        (("a", "c", "causal"), 0.9, 1),
        (("a", "c", "semantic"), 0.8, 9),
    ]
    assert WHOLE.links == (LIKE, TIME)


@pytest.mark.req("B30", partly="of a node in hand")
@given(content=st.text(max_size=300), limit=st.integers(4, 120))
def test_a_summary_is_one_line_of_limited_length(content: str, limit: int) -> None:
    node = BiemMemoryNode(id="a", content=content, energy=0.5, initial_energy=0.5, created_at=START)
    assert len(node.summarize(limit)) <= limit
    assert len(node.summarize(limit).splitlines()) <= 1
    assert BARE.summarize() == "Ann likes tea"
