"""Each design's recall step by step: which candidates it asks for, what it makes of them, and where it cuts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise, product
from random import Random
from typing import Any, cast

import numpy as np
import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.config import Settings
from biem.domain.concept import Recollection
from biem.domain.link import Link
from biem.domain.node import Hits, Node
from biem.domain.policies import Policies
from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.designs import FormulaPolicy
from biem.domain.policies.recall import RecallPolicy, RerankPolicy
from biem.domain.scope import Scope
from biem.engine.graph.associations import Associations
from biem.engine.recall.profiles import ProfileRecaller
from biem.engine.recall.rank.pool import Found
from biem.engine.recall.rerank import Choice, Chooser
from biem.ports import Filter
from biem.ports.links import LinkChanges, Links
from biem.ports.records import Candidates
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope(user="ann")
ANALYZER = RuleAnalyzer()


def node(key: str, **values: Any) -> Node:
    row: dict[str, Any] = {"text": key, "kind": "knowledge", "status": "active", "layer": "short_term", "at": START}
    return Node(id=key, scope=SCOPE, created_at=START, **(row | values))


@dataclass
class Shelf:
    """Every collaborator of the profiles at once, over memories held by the test; it keeps what it was asked."""

    dense: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    content: Mapping[str, float] = field(default_factory=dict)
    """Calibrated likeness, and cosine, of what has a vector."""
    tags: Mapping[str, float] = field(default_factory=dict)
    links: Sequence[Link] = ()
    recollected: Sequence[Recollection] = ()
    ages: Mapping[str, int] = field(default_factory=dict)
    doubted: Mapping[str, float] = field(default_factory=dict)
    limits: list[int] = field(default_factory=list)
    read: list[list[str]] = field(default_factory=list)

    # -- the searches

    def search(
        self, scope: Scope, query: str, parts: Sequence[str], lexemes: Sequence[str], limit: int, where: Filter
    ) -> Found:
        self.limits.append(limit)
        return Found(vector=np.ones(1, np.float32), dense=first(self.dense, limit), words=first(self.words, limit))

    def candidates(
        self, scopes: object, ids: Sequence[str], lexemes: object, where: object, *, pending_limit: int, evidence: bool
    ) -> Candidates:
        self.read.append(list(ids))
        return Candidates({key: self.nodes.get(key) or node(key) for key in ids}, {}, frozenset(), {})

    # -- what is known of candidates

    def similarities(self, scope: Scope, ids: Sequence[str], vector: object, where: Filter) -> Mapping[str, float]:
        return {key: self.content[key] for key in ids if key in self.content}

    cosines = similarities

    def of_tags(self, nodes: Sequence[Node], vector: object, degraded: list[str]) -> Mapping[str, float]:
        return {one.id: self.tags.get(one.id, 0.0) for one in nodes}

    def against(self, scope: Scope, query: str, nodes: Sequence[Node]) -> frozenset[str]:
        return frozenset(one.id for one in nodes if one.id in self.doubted)

    def changes(self, known: Mapping[Scope, int]) -> Mapping[Scope, LinkChanges]:
        return {scope: LinkChanges(1, True, self.links, ()) for scope, since in known.items() if since < 1}

    def drawn(self, scope: Scope, text: str, random: Random | None) -> list[Recollection]:
        return list(self.recollected)

    # -- inertia, of which nothing pulls

    def pulled(self, scope: Scope, vector: object, conversation: str, where: Filter) -> None:
        return None

    def bank(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, int]:
        return {key: self.ages[key] for key in ids if key in self.ages}

    def went(self, *arguments: object) -> None:
        """Follows nothing."""

    def recall(self, profile: str, top_k: int, query: str = "tea", clock: datetime = START, **policies: Any) -> Hits:
        # what the search does next to is not asked for: then the profile itself looks for new links
        policy = replace(Policies(recall=RecallPolicy(activation_weight=0.0)), **policies)
        telemetry = Telemetry()
        here, held = cast(Any, self), HeldClock(clock)
        chooser = Chooser(reranker=None, policy=RerankPolicy(), random=Random(1), telemetry=telemetry)
        associations = Associations(links=cast(Links, self), clock=held, policy=policy.graph, telemetry=telemetry)
        recaller = ProfileRecaller(
            records=here, likenesses=here, searcher=here, associations=associations, reminder=here,
            typed=here, chooser=chooser, analyzer=ANALYZER, clock=held, policies=policy, router=here,
        )  # fmt: skip
        return recaller.recall(SCOPE, query, Choice(profile), top_k=top_k, strict=False, where=Filter())


def first(scores: Mapping[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda pair: -pair[1])[:limit])


def falling(prefix: str, count: int, best: float = 0.9) -> dict[str, float]:
    """m00, m01, …, each a hundredth less than the one before."""
    return {f"{prefix}{place:02d}": best - place / 100 for place in range(count)}


def told(hits: Hits) -> dict[str, float]:
    return {hit.node.id: round(float(hit.why["score"]), 6) for hit in hits}


# -- BIEM -------------------------------------------------------------------------------------------------------------


@pytest.mark.req("B44", partly="in the profile biem; the default takes three times as many, at least 30")
def test_biem_asks_for_twice_as_many_nearest_as_are_wanted() -> None:
    # Given forty memories / When five are wanted / Then ten were asked for, and five of these are the answer
    shelf = Shelf(dense=falling("m", 40))
    hits = shelf.recall("biem", 5)
    assert shelf.limits == [10]
    assert shelf.read == [list(falling("m", 10))]
    assert [hit.node.id for hit in hits] == list(falling("m", 5))


@pytest.mark.req("B45")
def test_biem_spreads_two_hops_from_the_five_nearest() -> None:
    # Given a chain of weight 1 from the fifth nearest, and another one from the sixth
    def chain(*nodes: str) -> list[Link]:
        return [Link(a, b, "semantic", 1.0, 1) for a, b in pairwise(nodes)]

    shelf = Shelf(dense=falling("m", 6), links=[*chain("m04", "x", "y", "z"), *chain("m05", "w")])

    # When it is recalled as BIEM does
    active = {hit.node.id: hit.why["activation"] for hit in shelf.recall("biem", 10)}

    # Then activation is 1, a half and a quarter, and reaches nothing else
    assert active == {**dict.fromkeys(falling("m", 5), 1.0), "m05": 0.0, "x": 0.5, "y": 0.25}


@pytest.mark.req("B48")
def test_biems_numbers_are_its_documents() -> None:
    assert Settings(profile="biem").recall.top_k == Settings().recall.top_k == 10
    for graph in (Settings(profile="biem").policies.graph, Settings().policies.graph):
        assert (graph.seeds, graph.hops, graph.decay) == (5, 2, 0.5)


@pytest.mark.req("C10", partly="BIEM to the letter")
def test_biems_order_is_its_formulas() -> None:
    # Given a memory that only links lead to, and likenesses / When they are recalled / Then 0.7 and 0.3 of them decide
    link = Link("a", "c", "semantic", 1.0, 1)
    assert told(Shelf(dense={"a": 0.9, "b": 0.2}, links=[link]).recall("biem", 3)) == {
        "a": 0.93,
        "b": 0.44,
        "c": 0.15,
    }


# -- AIMate -----------------------------------------------------------------------------------------------------------


AIMATE = Shelf(
    dense={**falling("v", 11), "both": 0.95},
    words={**{key: 10 * value for key, value in falling("w", 11).items()}, "both": 10.0},
    content={"both": 0.8, "v00": 0.7, "v01": 0.6, "v02": 0.59, "v03": 0.1},
    nodes={
        "both": node("both", importance=5.0, access_count=9, at=START - timedelta(days=30)),
        "v00": node("v00", importance=1.0, at=START - timedelta(days=60)),
        "v01": node("v01", importance=4.0),
        "w00": node("w00", importance=5.0, access_count=99, at=START - timedelta(days=30)),
    },
)
"""Twelve by meaning and twelve by words; one is among both. By words the best has 1, the second 0.9."""


@pytest.mark.req("M36", "M38")
@pytest.mark.req("C10", partly="AIMate to the letter")
def test_aimate_takes_ten_of_each_merges_weighs_sorts_and_cuts() -> None:
    # Given memories found by meaning, by words and by both / When four are recalled as AIMate does
    shelf = replace(AIMATE, limits=[], read=[])
    hits = shelf.recall("aimate", 4)

    # Then ten of each were taken; what is too little like it was left out, and what both found is there once
    assert shelf.limits == [10]
    assert shelf.read == [["both", "v00", "v01", *(f"w{place:02d}" for place in range(9))]]

    # And the order is raw × 0.95^(days/30) × (0.8 + 0.2·importance/5) × (1 + 0.1·lg(accesses + 1)), cut to four
    assert told(hits) == {
        "both": pytest.approx(1.0 * 0.95 * 1.0 * 1.1),
        "w00": pytest.approx(0.9 * 0.95 * 1.0 * 1.2),
        "w01": pytest.approx(0.89 * 1.0 * 0.92 * 1.0),
        "w02": pytest.approx(0.88 * 1.0 * 0.92 * 1.0),
    }
    assert list(told(hits)) == ["both", "w00", "w01", "w02"]


@pytest.mark.req("M21")
@pytest.mark.req("X1", partly="vector index")
@pytest.mark.parametrize(
    ("vector", "keyword", "time", "least"),
    [case for case in product((True, False), (True, False), (True, False), (0.6, 0.75)) if any(case[:2])],
)
def test_every_combination_of_aimates_options_finds_and_weighs_as_it_says(
    vector: bool, keyword: bool, time: bool, least: float
) -> None:
    # Given options / When everything is recalled under them
    policy = FormulaPolicy(
        aimate_vector=vector, aimate_keyword=keyword, aimate_time_weight=time, aimate_min_similarity=least
    )
    found = told(replace(AIMATE, limits=[], read=[]).recall("aimate", 100, formulas=policy))

    # Then what only one search finds is there if that one is on, and is like enough
    assert ("w08" in found) == keyword
    assert {key for key in found if key.startswith("v")} == ({"v00", "v01"} if vector and least == 0.6 else set())

    # And the better of both counts, with age if it is on
    raw = 1.0 if keyword else 0.8
    assert found["both"] == pytest.approx(raw * (0.95 if time else 1.0) * 1.1, abs=1e-6)


@pytest.mark.req("M21")
def test_aimates_options_are_its_documents_by_default() -> None:
    policy = FormulaPolicy()
    assert (policy.aimate_vector, policy.aimate_keyword, policy.aimate_time_weight) == (True, True, True)
    assert policy.aimate_min_similarity == 0.6
    assert Settings(profile="aimate").recall.top_k == 5


# -- the other three --------------------------------------------------------------------------------------------------


@pytest.mark.req("C10", partly="the notes' formula to the letter")
def test_notes_rank_thirty_of_each_by_words_content_and_tags() -> None:
    # Given forty of each / When they are recalled as notes are
    shelf = Shelf(
        dense=falling("v", 40), words={"w": 8.0, **falling("x", 39, 4.0)}, content={"v00": 0.9, "w": 0.5}, tags={"w": 1}
    )
    found = told(shelf.recall("notes", 60))

    # Then thirty of each were asked for, and 0.3, 0.4 and 0.3 of the three decide
    assert (shelf.limits, len(found)) == ([30], 60)
    assert {key: found[key] for key in ("w", "v00", "x00")} == {"w": 0.8, "v00": 0.36, "x00": 0.15}
    assert next(iter(found)) == "w"


@pytest.mark.req("X48")  # with tags, embedder and stores as they are: integration/recall/test_profiles
def test_each_of_a_hundred_candidates_gets_its_own_tag_score_and_all_three_weights_order() -> None:
    # Given a hundred candidates, which content, tags and words each rank in their own order
    keys = [f"m{place:03d}" for place in range(100)]
    nearest = {key: 1 - place / 100 for place, key in enumerate(keys)}
    tags = {key: place * 61 % 100 / 100 for place, key in enumerate(keys)}
    words = {key: float(place * 37 % 100) for place, key in enumerate(keys)}
    shelf = Shelf(dense=nearest, words=words, content=nearest, tags=tags)

    def ranked(bm25: float, content: float, tag: float) -> Hits:
        weights = FormulaPolicy(notes_candidates=100, notes_bm25=bm25, notes_content=content, notes_tag=tag)
        return shelf.recall("notes", 100, formulas=weights)

    # When they are ranked as notes are / Then each has the score of its tags, and the formula's of all three
    hits = ranked(0.3, 0.4, 0.3)
    assert {hit.node.id: hit.why["tag"] for hit in hits} == pytest.approx(tags)
    assert told(hits) == pytest.approx(
        {key: 0.3 * words[key] / 99 + 0.4 * nearest[key] + 0.3 * tags[key] for key in keys}, abs=1e-6
    )

    # And each weight, alone or taken away, makes another order
    shares = [(0.3, 0.4, 0.3), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.6, 0.4)]
    orders = [[hit.node.id for hit in ranked(*weights)] for weights in shares]
    assert len({tuple(order) for order in orders}) == len(shares)
    alone = [sorted(keys, key=lambda key: -one[key]) for one in (words, nearest, tags)]
    assert orders[1:4] == alone


@pytest.mark.req("C10", partly="the squares of Hippocampus to the letter")
def test_hippocampus_ranks_by_squared_shares_of_its_concepts() -> None:
    # Given what two concepts remind of / When it is recalled / Then each memory has a²/Σa² of its concept
    recollected = [Recollection("Rex", "bites", ("r",), 0.5), Recollection("Grace", "moved", ("g", "h"), 1.0)]
    assert told(Shelf(recollected=recollected).recall("hippocampus", 9)) == {"g": 0.8, "h": 0.8, "r": 0.2}


@pytest.mark.req("C10", partly="AIM-Memory to the letter")
def test_aim_filters_by_anchors_and_ranks_by_weight_anchors_and_conflict() -> None:
    # Given a query with a quantity, memories of several ages, one of them in conflict, one never formed
    nodes = {key: node(key, fields=ANALYZER.analyze("10M tokens").fields) for key in ("new", "old", "doubted", "raw")}
    shelf = Shelf(
        dense={**falling("m", 3), **dict.fromkeys(nodes, 0.5)},
        nodes=nodes,
        ages={"new": 0, "old": 2, "doubted": 1, "m00": 0},
        doubted={"doubted": 1.0},
    )
    policy = AimPolicy()

    # When it is recalled / Then 0.3·w + anchor·η·w − penalty decides among those that have the quantity
    hits = shelf.recall("aim", 9, "a model of 10M tokens")
    assert shelf.limits == [policy.local_cluster_k]
    anchor = float(hits[0].why["anchor"])
    assert 0 < anchor <= 1
    assert told(hits) == {
        "new": pytest.approx(0.3 + 2 * anchor, abs=1e-6),
        "old": pytest.approx((0.3 + 2 * anchor) * 0.8**2, abs=1e-6),
        "doubted": pytest.approx((0.3 + 2 * anchor) * 0.8 - 1, abs=1e-6),
    }


@pytest.mark.req("C10")
def test_the_default_is_no_design() -> None:
    # Given no word about profiles / When something is recalled / Then our own ranking answers, and all five are there
    assert Choice().profile == Settings().recall.profile == "hybrid"
    for design in ("aim", "biem", "notes", "hippocampus", "aimate"):
        assert Choice(design).profile == design
