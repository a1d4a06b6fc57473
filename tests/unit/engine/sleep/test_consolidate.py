"""Who is near whom, and what follows when one memory came to stand for others."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

import numpy as np
import pytest

from biem.domain.node import Node, new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.engine.sleep.consolidate import is_current
from biem.engine.sleep.relink import LinkTransfer
from biem.engine.sleep.similar import Neighbourhood
from biem.ports import Candidates, Records, Vector, VectorIndex, Vectors
from biem.ports.consolidation import Consolidations, Replacement
from biem.ports.links import Links
from tests.support.fakes import START, HeldClock, WordEmbedder

SCOPE = Scope(user="u")


def node(text: str) -> Node:
    return Node(
        id=new_id(),
        scope=SCOPE,
        text=text,
        kind="knowledge",
        status="active",
        layer="short_term",
        at=START,
        created_at=START,
    )


class World:
    """Records, vectors and an index that knows all of them but what is `hidden`."""

    def __init__(self, *texts: str) -> None:
        self.embedder = WordEmbedder(dim=256)
        self.nodes = {made.id: made for made in map(node, texts)}
        self.ids = list(self.nodes)
        rows = self.embedder.embed(list(texts), "passage")
        self.cache: dict[bytes, Vector] = {sha256(text): row for text, row in zip(texts, rows, strict=True)}
        self.hidden: set[str] = set()
        self.searches: list[int] = []
        self.neighbourhood = Neighbourhood(
            records=cast(Records, self), index=cast(VectorIndex, self), embedder=self.embedder, k=2
        )

    def candidates(self, scopes: Sequence[Scope], ids: Sequence[str], *_: object, **__: object) -> Candidates:
        live = {key: self.nodes[key] for key in ids if key in self.nodes and self.nodes[key].status != "archived"}
        return Candidates(live, {}, frozenset(), {})

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        return {key: self.cache[key] for key in keys if key in self.cache}

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        self.searches.append(len(vectors))
        known = {
            key: self.cache[sha256(made.text)] for key, made in self.nodes.items() if sha256(made.text) in self.cache
        }
        return [
            dict(
                sorted(
                    ((key, float(vector @ other)) for key, other in known.items() if key not in self.hidden),
                    key=lambda item: -item[1],
                )[:limit]
            )
            for vector in vectors
        ]


class TestNeighbourhood:
    def test_neighbours_come_with_their_calibrated_similarity_highest_first(self) -> None:
        # Given one memory, two like it, one unlike
        world = World("a b c d", "a b c e", "a b c d f", "x y z")
        asked, near, nearer, far = world.ids
        # When its neighbours are asked for
        found = world.neighbourhood.of(SCOPE, [asked], 0.5)
        # Then they are there, the nearer first, itself and the unlike not
        assert list(found.similar[asked]) == [nearer, near]
        assert 0.5 <= found.similar[asked][near] < found.similar[asked][nearer] <= 1.0
        assert {asked, near, nearer} <= found.nodes.keys()
        assert far not in found.similar[asked]

    def test_a_batch_is_one_search_and_is_compared_with_itself(self) -> None:
        # Given two memories that are alike, of which the index shows neither yet
        world = World("a b c d", "a b c d e")
        world.hidden = set(world.ids)
        # When both are asked about
        found = world.neighbourhood.of(SCOPE, world.ids, 0.5)
        # Then each finds the other, in one call
        assert [list(found.similar[key]) for key in world.ids] == [[world.ids[1]], [world.ids[0]]]
        assert world.searches == [2]

    @pytest.mark.parametrize("missing", ["archived", "erased", "without vector"])
    def test_what_is_gone_or_has_no_vector_is_left_out(self, missing: str) -> None:
        # Given a neighbour that is not there any more, although the index shows it
        world = World("a b c d", "a b c e")
        asked, gone = world.ids
        if missing == "archived":
            world.nodes[gone] = replace(world.nodes[gone], status="archived")
        elif missing == "erased":
            ghost = world.nodes.pop(gone)
            world.cache[sha256(ghost.text)] = world.cache[sha256("a b c e")]
        else:
            world.cache.pop(sha256("a b c e"))
        # When neighbours are asked for, Then it is none; and asked for itself, it has none
        assert not world.neighbourhood.of(SCOPE, [asked], 0.1).similar.get(asked)
        assert gone not in world.neighbourhood.of(SCOPE, [gone], 0.1).similar

    def test_nothing_asked_searches_nothing(self) -> None:
        world = World()
        assert world.neighbourhood.of(SCOPE, [], 0.5).similar == {}
        assert world.neighbourhood.similarity(SCOPE, []) == {}
        assert world.searches == []

    def test_pairs_have_one_similarity_each(self) -> None:
        world = World("a b c d", "a b c e", "x y z")
        pairs = world.neighbourhood.similarity(SCOPE, world.ids)
        assert set(pairs) == {(one, two) for one in world.ids for two in world.ids if one < two}
        one, two = sorted(world.ids[:2])
        expected = float(np.dot(*[world.cache[sha256(text)] for text in ("a b c d", "a b c e")]))
        assert pairs[(one, two)] == pytest.approx(expected, abs=1e-4)


class Ledger:
    """What was replaced, and who took over which links."""

    def __init__(self, *replacements: Replacement) -> None:
        self.open = list(replacements)
        self.redirected: list[tuple[tuple[str, ...], str]] = []
        self.failure: Exception | None = None

    def unlinked(self, scope: Scope, limit: int) -> list[Replacement]:
        return self.open[:limit]

    def linked(self, scope: Scope, replacement: Replacement) -> None:
        self.open.remove(replacement)

    def redirect(self, scope: Scope, old_ids: Sequence[str], new_id: str, at: datetime) -> int:
        if self.failure is not None:
            raise self.failure
        self.redirected.append((tuple(old_ids), new_id))
        return 1


class TestSuccession:
    def build(self, ledger: Ledger, heard: list[str]) -> LinkTransfer:
        return LinkTransfer(
            consolidations=cast(Consolidations, ledger),
            links=cast(Links, ledger),
            changed=lambda _, ids: heard.extend(ids),
            clock=HeldClock(),
            limit=10,
        )

    @pytest.mark.req("X47", partly="after consolidation")
    def test_links_are_taken_over_and_copies_are_dropped(self) -> None:
        # Given a replacement that was committed just now, and one that a dead process left
        ledger, heard = Ledger(Replacement("k", ("a", "b")), Replacement("old", ("c",))), list[str]()
        # When it is settled
        self.build(ledger, heard).settle(SCOPE, "k", ["a", "b"])
        # Then both took over their links, and anyone who keeps copies heard of those of now
        assert ledger.redirected == [(("a", "b"), "k"), (("c",), "old")]
        assert ledger.open == []
        assert heard == ["k", "a", "b"]

    def test_a_failure_leaves_the_rest_for_the_next_time(self) -> None:
        # Given a graph that cannot be reached
        ledger, heard = Ledger(Replacement("k", ("a",))), list[str]()
        ledger.failure = RuntimeError("down")
        succession = self.build(ledger, heard)
        with pytest.raises(RuntimeError):
            succession.settle(SCOPE, "k", ["a"])
        # When it can again, Then nothing was forgotten
        ledger.failure = None
        assert succession.catch_up(SCOPE) == 1
        assert succession.catch_up(SCOPE) == 0
        assert ledger.redirected == [(("a",), "k")]


@pytest.mark.parametrize(
    "change",
    [{"status": "pending"}, {"superseded_by": "x"}, {"valid_to": START}, {"metadata": {"fact": "x"}}],
    ids=["pending", "superseded", "over", "a fact"],
)
def test_only_what_stands_for_itself_and_still_holds_is_current(change: dict[str, object]) -> None:
    known = node("a")
    assert is_current(known)
    assert not is_current(replace(known, **change))  # type: ignore[arg-type]
