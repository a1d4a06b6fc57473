"""The association graph against a port whose answers are held by the test."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.link import Key, Link, LinkType, Moment, NewLink
from biem.domain.policies.graph import GraphPolicy
from biem.domain.scope import Scope
from biem.engine.graph.associations import Associations, Linkable, Strategy
from biem.errors import StoreUnavailable
from biem.ports.links import LinkChanges, Links
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock, WordEmbedder

USER = Scope(user="ann")
PROJECT = Scope(user="ann", project="house")
STRANGER = Scope(user="bob")


class HeldLinks:
    """The reading half of the port, over a list of what happened to each scope; version n is after n events."""

    def __init__(self) -> None:
        self.events: dict[Scope, list[Link | Key]] = {}
        self.floor = 0
        self.asked: list[dict[Scope, int]] = []
        self.written: list[NewLink] = []
        self.names: list[str | None] = []
        self.talk: list[Moment] = []
        self.back: list[str] = []
        self.tended: list[tuple[object, ...]] = []
        self.gone: list[tuple[str, tuple[str, ...], datetime]] = []
        self.before_answer: Callable[[], None] | None = None
        self.failure: Exception | None = None

    def put(self, scope: Scope, *links: Link | Key) -> None:
        self.events.setdefault(scope, []).extend(links)

    def changes(self, known: Mapping[Scope, int]) -> Mapping[Scope, LinkChanges]:
        self.asked.append(dict(known))
        if self.failure is not None:
            raise self.failure
        answer = {scope: self._since(scope, since) for scope, since in known.items() if scope in self.events}
        if self.before_answer is not None:
            hook, self.before_answer = self.before_answer, None
            hook()
        return answer

    def _since(self, scope: Scope, since: int) -> LinkChanges:
        events = self.events[scope]
        complete = not self.floor <= since <= len(events)
        last: dict[Key, Link | None] = {}
        for event in events[0 if complete else since :]:
            last[event.key if isinstance(event, Link) else event] = event if isinstance(event, Link) else None
        links = [link for link in last.values() if link is not None]
        removed = [] if complete else [key for key, link in last.items() if link is None]
        return LinkChanges(len(events), complete, links, removed)

    def connect(self, scope: Scope, links: Sequence[NewLink], at: datetime, *, once: str | None = None) -> int:
        self.written += links
        self.names.append(once)
        return len(links)

    def restore(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        self.back += ids
        return 0

    def prune(self, scope: Scope, max_links: int, limit: int, at: datetime) -> int:
        self.tended.append(("prune", scope, max_links, limit, at))
        return 3

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        self.tended.append(("compact", scope, before, limit))
        return 4

    def purge(self, ns: str, ids: Sequence[str], at: datetime) -> int:
        self.gone.append((ns, tuple(ids), at))
        return len(ids)

    def earlier(
        self, scope: Scope, memories: Sequence[Moment], *, most: int, window_s: float
    ) -> Mapping[str, Sequence[Moment]]:
        return {memory.id: self.talk for memory in memories}


def build(held: HeldLinks, **policy: int) -> Associations:
    return Associations(
        links=cast(Links, held),
        clock=HeldClock(),
        policy=GraphPolicy(**policy),
        telemetry=Telemetry(),
        similarity=WordEmbedder().similarity,
    )


def edge(a: str, b: str, kind: LinkType = "temporal", weight: float = 1.0, strength: int = 1) -> Link:
    return Link(a, b, kind, weight, strength)


def spread(
    graph: Associations, seed: str, scope: Scope = USER, strategy: Strategy = "multiplicative"
) -> dict[str, float]:
    return graph.spread(scope, {seed: 1.0}, strategy=strategy)


@pytest.fixture
def held() -> HeldLinks:
    return HeldLinks()


@pytest.mark.req("C3", "X12", "X10", partly="the graph")
@pytest.mark.parametrize("kind", ["temporal", "semantic", "mention", "cooccurrence"])
def test_links_lead_both_ways(held: HeldLinks, kind: LinkType) -> None:
    # Given a link / When it is restored / Then the new end reaches the old one and the old the new one
    held.put(USER, edge("new", "old", kind, 0.5))
    graph = build(held)
    graph.refresh(USER)
    assert spread(graph, "new") == {"new": 1.0, "old": 0.25}
    assert spread(graph, "old") == {"old": 1.0, "new": 0.25}


@pytest.mark.req("C3", partly="the graph")
def test_a_cause_leads_to_its_effect_and_not_back(held: HeldLinks) -> None:
    # Given a causal link / When its ends are activated / Then only the effect is reached, by either strategy
    held.put(USER, edge("cause", "effect", "causal", strength=4))
    graph = build(held)
    graph.refresh(USER)
    assert spread(graph, "cause") == {"cause": 1.0, "effect": 0.5}
    assert spread(graph, "effect") == {"effect": 1.0}
    assert spread(graph, "cause", strategy="subtractive") == {"cause": 1.0, "effect": 0.75}
    assert spread(graph, "effect", strategy="subtractive") == {"effect": 1.0}


@pytest.mark.req("C3")
def test_links_of_all_types_stand_next_to_each_other_and_each_keeps_its_way(held: HeldLinks) -> None:
    # Given one pair with a link of each type, and the same type twice
    kinds: tuple[LinkType, ...] = ("temporal", "semantic", "mention", "cooccurrence", "causal")
    held.put(USER, *(edge("a", "b", kind, 0.5) for kind in kinds), edge("a", "b", "causal", 1.0))
    graph = build(held)
    graph.refresh(USER)

    # When they are read / Then there is one of each, and against its direction only the causal one is no way
    assert {link.type for link in graph.neighbours(USER, "a")} == {*kinds}
    assert len(graph.neighbours(USER, "a")) == len(kinds)
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5}
    assert spread(graph, "b") == {"b": 1.0, "a": 0.25}


@pytest.mark.req("C2")
def test_each_strategy_reads_its_own_attribute(held: HeldLinks) -> None:
    # Given two links of other types between a pair, one heavy and one strong
    held.put(USER, edge("a", "b", "temporal", 0.9, 1), edge("b", "a", "semantic", 0.2, 5))
    graph = build(held)
    graph.refresh(USER)

    # When activation spreads / Then weight counts for the one and strength for the other, the best of the pair
    assert spread(graph, "a") == {"a": 1.0, "b": 0.45}
    assert spread(graph, "a", strategy="subtractive") == {"a": 1.0, "b": 0.8}
    assert len(graph.neighbours(USER, "a")) == len(graph.neighbours(USER, "b")) == 2


@pytest.mark.req("B22", partly="a node beside links, in a process that goes on")
def test_a_new_memory_is_a_node_before_and_after_its_graph_is_loaded_until_it_is_archived(held: HeldLinks) -> None:
    # Given a graph in use and one that is being loaded while a memory is written
    held.put(USER, edge("a", "b"))
    graph = build(held)
    held.before_answer = lambda: graph.remembered(USER, ["late"])
    graph.refresh(USER)
    graph.remembered(USER, ["new"])

    # Then both memories are nodes with nothing around them, and of no other scope
    for node in ("late", "new"):
        assert graph.holds(USER, node)
        assert spread(graph, node) == {node: 1.0}
        assert not graph.holds(PROJECT, node)

    # And when one is linked and another archived, the linked one stays
    held.put(USER, edge("new", "a"))
    graph.refresh(USER)
    graph.archived(USER.ns, ["late", "a"])
    assert spread(graph, "new") == {"new": 1.0, "a": 0.5, "b": 0.25}
    assert not graph.holds(USER, "late")


@pytest.mark.req("B22", partly="any memory is a node; rows are written by remember")
def test_a_memory_without_links_is_only_itself(held: HeldLinks) -> None:
    # Given an empty graph, an unknown scope, and a graph never loaded / When a memory is activated / Then it is itself
    held.put(USER)
    graph = build(held)
    assert spread(graph, "alone") == {"alone": 1.0}
    graph.refresh(USER)
    graph.refresh(STRANGER)
    for scope in (USER, STRANGER):
        assert spread(graph, "alone", scope) == {"alone": 1.0}
        assert graph.neighbours(scope, "alone") == []


def test_numbers_of_one_call_replace_those_of_the_policy(held: HeldLinks) -> None:
    # Given a chain / When hops, decay or depth are asked for / Then they hold for this call
    held.put(USER, edge("a", "b", strength=9), edge("b", "c", strength=9), edge("c", "d", strength=9))
    graph = build(held)
    graph.refresh(USER)
    assert graph.spread(USER, {"a": 1.0}, hops=1, decay=0.8) == {"a": 1.0, "b": 0.8}
    assert set(graph.spread(USER, {"a": 1.0}, hops=3)) == set("abcd")
    assert set(graph.spread(USER, {"a": 1.0}, strategy="subtractive", max_depth=1)) == set("ab")


@pytest.mark.req("C37", partly="the version check")
def test_refreshing_takes_over_what_grew_came_and_went(held: HeldLinks) -> None:
    # Given a graph that has been used, so that its neighbourhoods are prepared
    held.put(USER, edge("a", "b"), edge("b", "c"))
    graph = build(held)
    graph.refresh(USER)
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5, "c": 0.25}

    # When one link changes, one goes, one comes, and something unknown goes
    held.put(USER, edge("a", "b", weight=0.5), ("b", "c", "temporal"), edge("b", "d"), ("x", "y", "causal"))
    graph.refresh(USER)

    # Then it spreads over what is there now, and has asked for the changes only
    assert spread(graph, "a") == {"a": 1.0, "b": 0.25, "d": 0.125}
    assert graph.neighbours(USER, "c") == []
    assert graph.edges == 2
    assert held.asked == [{USER: -1}, {USER: 2}]


def test_a_project_reads_the_users_graph_too_in_one_question(held: HeldLinks) -> None:
    # Given links of a project, of its user and of another user
    held.put(PROJECT, edge("a", "b"))
    held.put(USER, edge("u", "v"))
    held.put(STRANGER, edge("a", "s"), edge("u", "s"))
    graph = build(held)
    for scope in (STRANGER, PROJECT):
        graph.refresh(scope)

    # When seeds of both are activated / Then the project reaches both, the user only its own, no one the stranger's
    assert graph.spread(PROJECT, {"a": 1.0, "u": 0.5}) == {"a": 1.0, "b": 0.5, "u": 0.5, "v": 0.25}
    assert graph.spread(USER, {"a": 1.0, "u": 0.5}) == {"a": 1.0, "u": 0.5, "v": 0.25}
    assert held.asked[-1] == {PROJECT: -1, USER: -1}


def test_an_outage_is_said_and_the_last_known_graph_goes_on(held: HeldLinks) -> None:
    # Given a loaded graph, and one that was never loaded
    held.put(USER, edge("a", "b"))
    graph = build(held)
    graph.refresh(USER)
    held.put(STRANGER, edge("c", "d"))

    # When PostgreSQL is down / Then refreshing says so and spreading does what it can
    held.failure = StoreUnavailable("down")
    for scope in (USER, STRANGER):
        with pytest.raises(StoreUnavailable):
            graph.refresh(scope)
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5}
    assert spread(graph, "c", STRANGER) == {"c": 1.0}

    # When it is back / Then nothing is locked
    held.failure = None
    graph.refresh(STRANGER)
    assert spread(graph, "c", STRANGER) == {"c": 1.0, "d": 0.5}


def test_an_answer_overtaken_by_another_thread_changes_nothing_back(held: HeldLinks) -> None:
    # Given an answer that is on its way while another thread learns of newer links
    held.put(USER, edge("a", "b", weight=0.1))
    graph = build(held)
    graph.refresh(USER)
    held.put(USER, edge("a", "b", weight=0.2))

    def overtake() -> None:
        held.put(USER, edge("a", "b", weight=1.0), edge("b", "c"))
        graph.refresh(USER)

    held.before_answer = overtake

    # When it arrives / Then the newer stays
    graph.refresh(USER)
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5, "c": 0.25}


def test_an_answer_that_does_not_fit_any_more_is_asked_for_again(held: HeldLinks) -> None:
    # Given an answer about version 1 to 3, overtaken by one about 1 to 2
    held.put(USER, edge("a", "b"))
    graph = build(held)
    graph.refresh(USER)
    late: list[Link] = []

    def overtake() -> None:
        kept = held.events[USER]
        held.events[USER] = kept[:2]
        graph.refresh(USER)
        held.events[USER] = kept
        late.append(edge("a", "b"))

    held.put(USER, edge("b", "c"), edge("c", "d"))
    held.before_answer = overtake

    # When it arrives / Then the graph is that of version 3
    graph.refresh(USER)
    assert late
    assert graph.spread(USER, {"a": 1.0}, hops=3) == {"a": 1.0, "b": 0.5, "c": 0.25, "d": 0.125}


def test_a_scope_erased_or_created_again_leaves_nothing_of_the_old(held: HeldLinks) -> None:
    # Given a loaded graph / When its scope is erased
    held.put(USER, edge("a", "b"))
    graph = build(held)
    graph.refresh(USER)
    erased = held.events.pop(USER)
    graph.refresh(USER)

    # Then it is empty, and when it is rebuilt it has what is new
    assert spread(graph, "a") == {"a": 1.0}
    assert graph.edges == 0
    held.events[USER] = [*erased, ("a", "b", "temporal"), edge("a", "c")]
    graph.refresh(USER)
    assert spread(graph, "a") == {"a": 1.0, "c": 0.5}


def test_what_is_asked_for_below_the_floor_is_replaced_as_a_whole(held: HeldLinks) -> None:
    # Given a graph whose next changes are not kept / When it is refreshed / Then it is replaced, without ghosts
    held.put(USER, edge("a", "b"))
    graph = build(held)
    graph.refresh(USER)
    held.put(USER, ("a", "b", "temporal"), edge("a", "c"))
    held.floor = 3
    graph.refresh(USER)
    assert spread(graph, "a") == {"a": 1.0, "c": 0.5}
    assert graph.edges == 1


def test_a_database_that_came_back_from_a_backup_is_believed(held: HeldLinks) -> None:
    # Given a graph known at version 3 / When the database is as it was at version 1
    held.put(USER, edge("a", "b"), edge("b", "c"), edge("c", "d"))
    graph = build(held)
    graph.refresh(USER)
    held.events[USER] = held.events[USER][:1]
    graph.refresh(USER)

    # Then the graph is, too, and follows what is written from there on
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5}
    held.put(USER, edge("b", "x"))
    graph.refresh(USER)
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5, "x": 0.25}


@pytest.mark.req("C37", partly="idle graphs are dropped")
def test_graphs_used_longest_ago_make_room(held: HeldLinks) -> None:
    # Given room for two graphs of 100 edges
    scopes = [Scope(user=f"user {number}") for number in range(3)]
    for scope in scopes:
        held.put(scope, *(edge("hub", f"n{number}") for number in range(100)))
    graph = build(held, max_edges=250)

    # When a third is loaded after the first was used again
    for scope in (scopes[0], scopes[1], scopes[0], scopes[2]):
        graph.refresh(scope)

    # Then the second is gone, and comes back when it is needed
    assert graph.edges == 200
    assert [len(graph.neighbours(scope, "hub")) for scope in scopes] == [100, 0, 100]
    graph.refresh(scopes[1])
    assert len(graph.neighbours(scopes[1], "hub")) == 100

    # When one is dropped by name / Then it is gone
    graph.drop(scopes[1])
    assert len(graph.neighbours(scopes[1], "hub")) == 0


def test_one_graph_too_large_for_the_room_is_still_used(held: HeldLinks) -> None:
    # Given a graph beyond the limit / When it is loaded / Then it stays while it is in use
    held.put(USER, *(edge("hub", f"n{number}") for number in range(100)))
    graph = build(held, max_edges=50)
    graph.refresh(USER)
    assert len(graph.neighbours(USER, "hub")) == 100


@pytest.mark.req("X32", partly="the cost of spreading does not follow a node's degree")
def test_a_hub_leads_to_its_strongest_neighbours_only(held: HeldLinks) -> None:
    # Given a hub with 500 links not pruned yet
    held.put(USER, *(edge("hub", f"n{number:03d}", "semantic", number / 500, number + 1) for number in range(500)))
    graph = build(held)
    graph.refresh(USER)

    # When it is activated / Then the 50 strongest are reached; each of them still reaches the hub
    strategies: tuple[Strategy, ...] = ("multiplicative", "subtractive")
    for strategy in strategies:
        found = spread(graph, "hub", strategy=strategy)
        assert set(found) == {"hub", *(f"n{number:03d}" for number in range(450, 500))}
    assert "hub" in spread(graph, "n400")


def test_loading_one_scope_does_not_hold_up_another(held: HeldLinks) -> None:
    # Given a load that does not come to its end
    held.put(USER, edge("a", "b"))
    held.put(STRANGER, edge("c", "d"))
    graph = build(held)
    slow, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        slow.set()
        go_on.wait(60)

    held.before_answer = wait
    with ThreadPoolExecutor(1) as thread:
        loading = thread.submit(graph.refresh, USER)
        slow.wait(60)

        # When another scope is used meanwhile / Then it is served
        graph.refresh(STRANGER)
        assert spread(graph, "c", STRANGER) == {"c": 1.0, "d": 0.5}
        assert spread(graph, "a") == {"a": 1.0}
        go_on.set()
        loading.result()
    assert spread(graph, "a") == {"a": 1.0, "b": 0.5}


def test_readers_never_see_half_a_change(held: HeldLinks) -> None:
    # Given a chain that is moved as a whole from b to c and back, many times
    held.put(USER, edge("a", "b"), edge("b", "z"))
    graph = build(held)
    graph.refresh(USER)
    there: tuple[Link | Key, ...] = (edge("a", "c"), edge("c", "z"), ("a", "b", "temporal"), ("b", "z", "temporal"))
    back: tuple[Link | Key, ...] = (edge("a", "b"), edge("b", "z"), ("a", "c", "temporal"), ("c", "z", "temporal"))
    stop = threading.Event()

    def read() -> int:
        seen = 0
        while not stop.is_set():
            found = spread(graph, "a")
            assert found in ({"a": 1.0, "b": 0.5, "z": 0.25}, {"a": 1.0, "c": 0.5, "z": 0.25})
            seen += 1
        return seen

    # When it is read meanwhile / Then every answer is one or the other
    with ThreadPoolExecutor(3) as threads:
        readers = [threads.submit(read) for _ in range(3)]
        for turn in range(100):
            held.put(USER, *(back if turn % 2 else there))
            graph.refresh(USER)
        stop.set()
        assert all(reader.result() for reader in readers)


changes = st.tuples(
    st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from(["causal", "semantic"]), st.integers(0, 4)
).filter(lambda change: change[0] != change[1])


@given(batches=st.lists(st.lists(changes, max_size=4), max_size=5))
def test_following_changes_equals_loading_again(batches: list[list[tuple[str, str, LinkType, int]]]) -> None:
    # Given any history, followed step by step with spreading in between
    held = HeldLinks()
    follower = build(held)
    for batch in batches:
        held.put(USER, *(edge(a, b, k, n / 4, n) if n else (a, b, k) for a, b, k, n in batch))
        follower.refresh(USER)
        follower.spread(USER, dict.fromkeys("abcd", 0.5))

    # When another process loads the end of it
    held.floor = 1_000
    fresh = build(held)
    fresh.refresh(USER)

    # Then both are the same graph
    strategies: tuple[Strategy, ...] = ("multiplicative", "subtractive")
    for node in "abcd":
        assert follower.neighbours(USER, node) == fresh.neighbours(USER, node)
        for strategy in strategies:
            answers = [spread(graph, node, strategy=strategy) for graph in (follower, fresh)]
            assert answers[0] == answers[1]
    assert follower.edges == fresh.edges


# -- linking -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("B19", "B20", "B23", partly="what the encoder asks for; the port keeps it")
def test_new_memories_are_linked_in_time_and_meaning(held: HeldLinks) -> None:
    # Given two memories of a batch that say the same, one of them like an older one, after one in the same talk
    held.talk = [Moment("earlier", START - timedelta(seconds=10), 1, "talk")]
    same = WordEmbedder().embed(["the cat sat", "the cat sat"], "passage")
    entries = [
        Linkable(Moment("a", START, 2, "talk"), [("old", 0.8), ("unlike", 0.7), ("a", 1.0)], same[0]),
        Linkable(Moment("b", START, 3, ""), [], same[1]),
        Linkable(Moment("c", START, 4, "talk"), [], np.roll(same[0], 7)),
        Linkable(Moment("d", START, 5, "talk")),
    ]

    # When they are linked
    written = build(held).link_new(USER, entries)

    # Then all of that is asked for in one call
    assert written == len(held.written)
    assert {(*link.key, round(link.weight, 3), link.strength) for link in held.written} == {
        ("a", "earlier", "temporal", 1.0, 1),
        ("c", "earlier", "temporal", 1.0, 1),
        ("d", "earlier", "temporal", 1.0, 1),
        ("a", "old", "semantic", 0.8, 8),
        ("a", "b", "semantic", 1.0, 10),
    }
    assert len(held.names) == 1
    assert held.back == ["a", "b", "c", "d"]
    assert build(held).link_new(USER, []) == 0


@pytest.mark.req("B20", partly="what the index finds")
@pytest.mark.parametrize(("similarity", "linked"), [(0.699, False), (0.70, False), (0.701, True), (1.0, True)])
def test_what_is_more_alike_than_seven_tenths_is_linked(held: HeldLinks, similarity: float, linked: bool) -> None:
    # Given a memory and its likeness to an older one, as the index tells it / When it is linked by default
    build(held).link_new(USER, [Linkable(Moment("new", START, 1, ""), [("old", similarity)])])

    # Then above 0.7 there is a semantic link of this weight, and at 0.7 there is none
    written = [(*link.key, link.weight) for link in held.written if link.type == "semantic"]
    assert written == ([("new", "old", "semantic", similarity)] if linked else [])


def test_links_of_archived_memories_leave_the_graph(held: HeldLinks) -> None:
    # Given archived memories, of a scope known by its ns / When the graph hears of them / Then their links are purged
    assert build(held).archived(USER.ns, ["a", "b"]) == 2
    assert held.gone == [(USER.ns, ("a", "b"), START)]


def test_tending_prunes_and_clears_in_bounded_portions(held: HeldLinks) -> None:
    # Given bounds / When a scope is tended / Then it is pruned and old traces of it are cleared, within them
    assert build(held, max_links=9, tend_links=7, trace_days=2).tend(USER) == {"pruned": 3, "traces": 4}
    assert held.tended == [("prune", USER, 9, 7, START), ("compact", USER, START - timedelta(days=2), 7)]
