"""How the links of one scope follow the changes in PostgreSQL."""

from biem.domain.link import Link, LinkType
from biem.engine.graph.scope_graph import UNKNOWN, ScopeGraph
from biem.ports.links import LinkChanges
from tests.support.fakes import START


def link(source: str, target: str, strength: int = 1, kind: LinkType = "temporal", weight: float = 1.0) -> Link:
    return Link(source, target, kind, weight, strength, START)


def test_a_loaded_graph_has_the_memories_without_links() -> None:
    graph = ScopeGraph(10)
    assert graph.follow(UNKNOWN, LinkChanges(1, True, [link("a", "b")], [], nodes=["a", "b", "alone"]))
    assert set(graph.links) == {"a", "b", "alone"}


def test_a_memory_that_loses_its_last_link_leaves_the_graph_and_one_with_another_link_stays() -> None:
    graph = ScopeGraph(10)
    graph.follow(UNKNOWN, LinkChanges(1, True, [link("a", "b"), link("b", "c")], []))
    assert graph.follow(1, LinkChanges(2, False, [], [link("a", "b").key, ("a", "elsewhere", "temporal")]))
    assert set(graph.links) == {"b", "c"}
    assert graph.edges == 1


def test_changes_that_another_thread_took_over_already_fit() -> None:
    # Given a graph at version 2, which two threads asked for since version 1
    graph, changes = ScopeGraph(10), LinkChanges(2, False, [link("b", "c")], [])
    graph.follow(UNKNOWN, LinkChanges(1, True, [link("a", "b")], []))
    assert graph.follow(1, changes)

    # When the second answer arrives / Then there is nothing to ask for again, but of later changes there is
    assert graph.follow(1, changes)
    assert not graph.follow(1, LinkChanges(3, False, [link("c", "d")], []))
    assert graph.version == 2
    assert set(graph.links) == {"a", "b", "c"}


def test_a_memory_that_is_added_is_a_node_at_once_only_of_a_loaded_graph() -> None:
    # Given a graph that was never loaded, and one that was / When a memory is added
    fresh, loaded = ScopeGraph(10), ScopeGraph(10)
    loaded.follow(UNKNOWN, LinkChanges(1, True, [link("a", "b")], []))
    assert set(loaded.links) == {"a", "b"}
    for graph in (fresh, loaded):
        graph.add(["new"])

    # Then the one that was is complete, and the other when it is loaded
    assert set(loaded.links) == {"a", "b", "new"}
    assert set(fresh.links) == set()
    fresh.follow(UNKNOWN, LinkChanges(1, True, [link("a", "b")], []))
    assert set(fresh.links) == {"a", "b", "new"}
