"""Routes: what they look at, where inertia leads them, and what each number of the design moves."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from benchmarks._exact import at_once
from biem.adapters import contradiction
from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.life import TierPolicy
from biem.engine.aim.conversation import four_parts
from biem.engine.aim.inertia import direction
from biem.engine.aim.route import Router
from biem.engine.life.tiers import Tiers
from biem.errors import StoreUnavailable
from biem.ports import Role, Vector, Vectors
from biem.ports.hot import InertiaState
from biem.telemetry import Telemetry
from tests.support.aim_fakes import SCOPE, Bank
from tests.support.fakes import START, HeldClock, WordEmbedder

DIM = 8


def unit(*values: float) -> Vector:
    vector = np.zeros(DIM, dtype=np.float32)
    vector[: len(values)] = values
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


X, Y = unit(1), unit(0, 1)
TOPICS = [f"topic {number}" for number in range(6)]
QUERIES = {"about x": X, "about y": Y, "and then?": unit(1, 1)} | {
    topic: unit(*(float(place == number) for place in range(6))) for number, topic in enumerate(TOPICS)
}


class Directions(WordEmbedder):
    """Queries that lie where a test says."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        return np.stack([QUERIES.get(text, X) for text in texts])


def clusters(size: int = 20) -> Bank:
    """Nodes near x and near y, by turns, the youngest nearest; each pair is equally far from between the two."""
    bank = Bank()
    for number in range(size):
        away = 0.3 + 0.01 * ((size - 1 - number) // 2)
        side = unit(1, 0, away) if number % 2 == 0 else unit(0, 1, away)
        bank.add(f"{'xy'[number % 2]} number {number}", side)
    return bank


def near_x(router: Router, conversation: str, first: int = 6) -> int:
    """How many of the nearest of an ambiguous query belong to x."""
    cluster = router.cluster(SCOPE, "and then?", conversation)[:first]
    return sum(int(key) % 2 == 0 for key in cluster)


@pytest.mark.req("A4")
@pytest.mark.req("A65", partly="beside a plain search a query costs one reading of K nodes; not measured as latency")
def test_a_route_asks_for_k_nodes_in_the_direction_of_query_and_inertia_and_scores_no_other() -> None:
    # Given a conversation on its way, and many more nodes than K
    bank = clusters(200)
    router = bank.router(Directions(DIM), local_cluster_k=7)
    router.route(SCOPE, "about x", conversation="c")
    state = router.inertia(SCOPE, "c")
    bank.asked.clear()
    bank.scored.clear()

    # When it goes on / Then the index was asked once, for exactly K, along d; and K nodes were read
    route = router.route(SCOPE, "and then?", conversation="c")
    ((asked, limit),) = bank.asked
    wanted = direction(QUERIES["and then?"], state, 0.5)
    assert asked == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-6)
    assert limit == 7
    assert bank.scored == [7] == [len(route.cluster)]


@pytest.mark.req(
    "A65", partly="beside a search, one reading of K nodes is waited for; its latency: benchmarks.promises"
)
def test_a_single_query_waits_for_no_count_of_accesses_and_an_outage_there_costs_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Given a pool of threads that never comes to what counts accesses, and a server that would refuse it
    later: list[Callable[[], object]] = []
    bank = clusters()

    def refuse(*_: object) -> None:
        raise StoreUnavailable("down")

    unused: Any = None
    tiers = Tiers(
        records=cast(Any, SimpleNamespace(touch=refuse)),
        life=unused,
        canvas=unused,
        clock=HeldClock(),
        policy=TierPolicy(),
        telemetry=Telemetry(),
    )

    def submit(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if work.__name__ != "count":
            return at_once(work, *arguments)
        later.append(partial(work, *arguments))
        return Future()

    # When a single query is routed / Then it is answered, after one search and one reading
    router = bank.router(Directions(DIM), accessed=tiers.count, submit=submit)
    assert router.route(SCOPE, "about x").nodes
    assert (len(bank.asked), len(bank.scored)) == (1, 1)

    # And what fails afterwards is only told
    (count,) = later
    count()
    assert "accesses not counted" in caplog.text


@pytest.mark.req("A6")
@pytest.mark.req("X1", partly="inertia")
@pytest.mark.parametrize(("strength", "of_x"), [(0.5, 6), (0.0, 3)])
def test_three_queries_lead_an_ambiguous_one_into_their_cluster_and_without_inertia_it_is_a_tie(
    strength: float, of_x: int
) -> None:
    router = clusters().router(Directions(DIM), inertia_strength=strength, local_cluster_k=6)
    for _ in range(3):
        router.route(SCOPE, "about x", conversation="c")
    assert near_x(router, "c") == of_x
    assert near_x(router, "another") == 3


@pytest.mark.req("A35")
@pytest.mark.parametrize(
    ("query", "penalty"),
    [("Ada lives in Lisbon", 0.25), ("Does Ada live in Lisbon?", 0.0), ("The ferry takes an hour", 0.0)],
)
def test_a_node_that_contradicts_what_a_query_states_loses_the_penalty_and_a_question_states_nothing(
    query: str, penalty: float
) -> None:
    bank = Bank()
    bank.add("Ada lives in Porto", X)
    router = bank.router(Directions(DIM), rules=contradiction.build(), anchor_threshold=0.0, conflict_penalty=0.25)
    (node,) = bank.nodes([SCOPE], ["0"], START, evidence=False)
    assert router.against(SCOPE, query, [node.node]) == ({"0"} if penalty else set())
    (one,) = router.route(SCOPE, query).nodes
    assert one.score.penalty == penalty
    (free,) = bank.router(Directions(DIM), anchor_threshold=0.0, conflict_penalty=0.0).route(SCOPE, query).nodes
    assert one.score.total == pytest.approx(free.score.total - penalty)


@pytest.mark.req("A52", "X41")
def test_each_number_moves_what_its_rule_of_thumb_says() -> None:
    def stickiness(**policy: Any) -> int:
        router = clusters(60).router(Directions(DIM), local_cluster_k=30, **policy)
        router.route(SCOPE, "about x", conversation="c")
        return near_x(router, "c", 30)

    def old_nodes(**policy: Any) -> int:
        route = clusters(60).router(Directions(DIM), **policy).route(SCOPE, "about x", top_n=60)
        return sum(int(one.node.id) < 54 for one in route.nodes)

    def precision(**policy: Any) -> float:
        # older nodes say the whole that is asked for, younger ones a part of it
        bank = Bank()
        for number in range(12):
            bank.add("Ada has 10M and 20K" if number < 6 else "Ada has 10M and 33K", X)
        nodes = bank.router(Directions(DIM), **policy).route(SCOPE, "who has 10M and 20K?", top_n=12).nodes
        return nodes[0].score.total - max(one.score.total for one in nodes if "33K" in one.node.text)

    def scored(**policy: Any) -> int:
        bank = clusters(60)
        bank.router(Directions(DIM), **policy).route(SCOPE, "about x")
        return bank.scored[0]

    # continuity: λ; retention: γ; precision: η; cost: K
    assert stickiness(inertia_strength=0.0) == 15 < stickiness(inertia_strength=0.5) <= stickiness(inertia_strength=2.0)
    assert old_nodes(weight_decay_gamma=0.8) < old_nodes(weight_decay_gamma=0.9) < old_nodes(weight_decay_gamma=0.99)
    assert precision(anchor_boost=3.0, weight_decay_gamma=0.99) > precision(weight_decay_gamma=0.99)
    assert scored(local_cluster_k=16) < scored(local_cluster_k=32) < scored(local_cluster_k=60)


@pytest.mark.req("A1")
def test_the_context_of_an_answer_is_of_one_size_however_much_is_stored() -> None:
    # Given ten, a thousand and ten thousand nodes of long texts / When a context is built of each
    random, policy = np.random.default_rng(4), AimPolicy()
    sizes = []
    for count in (10, 1_000, 10_000):
        bank, text = Bank(), f"{count} words about the harbour. " * 100
        for vector in random.standard_normal((count, DIM)).astype(np.float32):
            bank.add(text, vector / np.linalg.norm(vector))
        router = bank.router(Directions(DIM))
        recent = [
            one.node for one in bank.nodes([SCOPE], [str(count - 1 - n) for n in range(6)], START, evidence=False)
        ]
        for query in ("about x", "about y", "and then? 原文"):
            hits = router.route(SCOPE, query, conversation="c").hits(policy)
            sizes.append(len(four_parts(recent, hits, policy)))

    # Then none is longer than a fixed number of summaries and originals, and the size does not grow
    most = (policy.answer_texts + policy.top_n) * (policy.summary_chars + 200) + policy.top_n * (
        policy.max_evidence_length + 200
    )
    assert max(sizes) <= most + policy.top_n * 2_000
    assert max(sizes[6:8]) <= 1.1 * max(sizes[0:2])
    assert sizes[8] <= 1.1 * sizes[2]


@pytest.mark.req("A62")
def test_parameters_follow_a_simulated_conversation_within_bounds_and_only_when_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Given a conversation that switches topics, and one that stays
    caplog.set_level("INFO")

    def played(queries: Sequence[str], **policy: Any) -> InertiaState:
        bank = Bank()
        for number in range(60):
            bank.add(f"note {number}", QUERIES[TOPICS[number % 6]])
        router = bank.router(Directions(DIM), weight_decay_gamma=0.99, local_cluster_k=10, **policy)
        for query in queries:
            router.route(SCOPE, query, conversation="c")
        return router.inertia(SCOPE, "c")

    # When nothing is said of adapting / Then nothing adapts
    plain = played(TOPICS * 3)
    assert (plain.strength, plain.gamma, plain.cluster) == (None, None, None)
    assert not caplog.text

    # When it is asked for, Then switching lowers λ, staying raises it, all within bounds, and the log says so
    switching, staying = (played(queries, adaptive=True) for queries in (TOPICS * 8, TOPICS[:1] * 48))
    assert 0.125 <= (switching.strength or 0) < 0.5 < (staying.strength or 0) <= 0.75
    for one in (switching, staying):
        assert 0.5 <= (one.gamma or 0) <= 0.99
        assert 5 <= (one.cluster or 0) <= 40
    assert "adapted to λ" in caplog.text
