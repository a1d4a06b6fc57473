"""Untrusted hits: their places among trusted ones, and their section of a block."""

from datetime import UTC, datetime

import pytest

from biem.domain.node import Hit, Node
from biem.domain.policies.context import UNVERIFIED_SHARE, ContextPolicy
from biem.domain.scope import Scope
from biem.domain.tokens import estimate_tokens
from biem.engine.context.block import BlockReader
from biem.engine.context.unverified_section import unverified
from biem.engine.recall.unverified import followed_by

POLICY = ContextPolicy()
READER = BlockReader()
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def hits(count: int, *, trust: str, score: float = 0.5) -> list[Hit]:
    """Hits of one level, of falling scores."""
    return [Hit(_node(f"{trust} text number {n}", trust), score - n / 100, {}) for n in range(count)]


def _node(text: str, trust: str) -> Node:
    return Node(
        id=text,
        scope=Scope(user="u"),
        text=text,
        kind="event",
        status="active",
        layer="short_term",
        at=NOON,
        created_at=NOON,
        trust=trust,
        origin="web",
    )


@pytest.mark.parametrize(("top_k", "trusted", "untrusted"), [(20, 18, 2), (10, 9, 1), (5, 4, 1), (2, 1, 1), (1, 1, 0)])
def test_untrusted_hits_take_a_tenth_of_the_places_at_most(top_k: int, trusted: int, untrusted: int) -> None:
    found = followed_by(hits(20, trust="trusted"), hits(9, trust="untrusted", score=0.9), top_k)
    assert [hit.node.trust for hit in found] == ["trusted"] * trusted + ["untrusted"] * untrusted
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_untrusted_hits_that_rank_lower_take_no_place_and_free_ones_are_theirs() -> None:
    low = hits(9, trust="untrusted", score=0.1)
    many = hits(20, trust="trusted")
    assert followed_by(many, low, 10) == many[:10]
    assert [hit.node.trust for hit in followed_by(hits(3, trust="trusted"), low, 5)].count("untrusted") == 2


@pytest.mark.parametrize(("top_k", "more", "trusted", "untrusted"), [(10, 0, 10, 0), (1, 0, 1, 0), (5, 15, 18, 2)])
def test_untrusted_hits_take_no_place_that_was_asked_for_from_trusted_ones_that_answer_as_surely(
    top_k: int, more: int, trusted: int, untrusted: int
) -> None:
    high = hits(9, trust="untrusted", score=0.9)
    found = followed_by(hits(20, trust="trusted"), high, top_k, more=more, surer=False)
    assert [hit.node.trust for hit in found] == ["trusted"] * trusted + ["untrusted"] * untrusted
    # But those that are free
    few = followed_by(hits(3, trust="trusted"), high, top_k, more=more, surer=False)
    assert [hit.node.trust for hit in few].count("trusted") == min(3, top_k + more)
    assert len(few) == min(12, top_k + more)


def test_the_section_is_last_framed_and_within_its_share() -> None:
    text, shown = unverified(hits(30, trust="untrusted"), [], "who?", POLICY, READER, 400, 400)
    assert text.startswith("## Unverified")
    assert all("[from the web, not verified]" in line for line in text.splitlines()[4:])
    assert 0 < len(shown) < 30
    assert estimate_tokens(text) <= UNVERIFIED_SHARE * 400


def test_the_section_has_only_what_the_others_left_and_repeats_no_line() -> None:
    several = hits(3, trust="untrusted")
    assert unverified(several, [], "谁？", POLICY, READER, 1_000, 20) == ("", ())
    text, shown = unverified([*several, *several], several[:1], "谁？", POLICY, READER, 1_000, 1_000)
    assert len(shown) == 2
    assert "来自网络，未经核实" in text
