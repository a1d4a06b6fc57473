"""Inertia (A2–A6): a conversation's queries are pulled where its last selections lie."""

import numpy as np
import pytest

from biem.aim import AimMemory
from tests.integration.aim.conftest import facts

BOATS = ("The white ferry leaves the harbour at seven", "The ferry to the island takes an hour")
COOKING = ("Paella needs a wide pan and saffron", "The soup wants more salt and pepper")


@pytest.mark.req("A2")
def test_inertia_begins_at_zero_and_belongs_to_one_conversation(aim: AimMemory) -> None:
    facts(aim, *BOATS, *COOKING)
    assert aim.get_stats("monday")["inertia_norm"] == 0.0
    assert aim.route_memory("When does the ferry leave?", conversation="monday")[0]
    assert aim.get_stats("monday")["inertia_norm"] > 0
    assert aim.get_stats("tuesday")["inertia_norm"] == 0.0


@pytest.mark.req("A5", partly="through the public API")
def test_a_route_that_selects_nothing_changes_nothing(aim: AimMemory) -> None:
    # Given a conversation that was somewhere
    aim.memory.erase(aim.memory.bound_to) if aim.get_stats()["node_bank_size"] else None
    facts(aim, *BOATS)
    aim.route_memory("When does the ferry leave?", conversation="c")
    before = aim.memory.aim.snapshots._inertia.of(aim.memory.bound_to, "c").vector
    assert before is not None

    # When a route selects nothing / Then the inertia is the same, bit by bit
    assert aim.route_memory("When does the ferry leave?", conversation="c", top_n=0)[0] == []
    after = aim.memory.aim.snapshots._inertia.of(aim.memory.bound_to, "c").vector
    assert after is not None
    assert np.array_equal(before.view(np.uint32), after.view(np.uint32))


@pytest.mark.req("A2", "C10", partly="the profile aim of recall follows the session")
def test_the_profile_of_recall_follows_its_session_and_the_default_does_not(aim: AimMemory) -> None:
    facts(aim, *BOATS)
    aim.memory.recall("When does the ferry leave?", session="c")
    assert aim.get_stats("c")["inertia_norm"] == 0.0
    aim.memory.recall("When does the ferry leave?", session="c", profile="aim")
    assert aim.get_stats("c")["inertia_norm"] > 0


@pytest.mark.req("A24", partly="a refused text is no node")
def test_no_route_leads_to_what_was_refused(aim: AimMemory) -> None:
    facts(aim, *BOATS)
    assert aim.write_memory(BOATS[0]) is False
    (refused,) = (refusal.id for refusal in aim.memory.refusals())
    for hits in (aim.memory.recall(BOATS[0], profile="aim"), aim.route_memory(BOATS[0])[0]):
        assert hits
        assert refused not in {hit.node.id for hit in hits}
    assert refused in {hit.node.id for hit in aim.memory.recall(BOATS[0])}


@pytest.mark.req("A6", "X1", partly="inertia")
def test_related_queries_drift_into_the_same_cluster(aim: AimMemory) -> None:
    # Given two clusters, and a conversation that asked about the first
    facts(aim, *COOKING, *BOATS)
    question = "And what else should I know about it?"
    for query in ("When does the ferry leave?", "How long does the ferry take?", "Where does the white ferry go?"):
        aim.route_memory(query, conversation="boats", top_n=1)

    # When an ambiguous question follows / Then the first cluster is nearer than it is without inertia
    pulled = aim.rag(question, lambda _, ids: ids, conversation="boats")
    plain = aim.rag(question, lambda _, ids: ids, conversation="fresh")
    texts = {key: aim.memory.get(key).text for key in plain}
    assert texts[pulled[0]] in BOATS

    def places(ids: list[str]) -> int:
        return sum(place for place, key in enumerate(ids) if texts[key] in BOATS)

    assert places(pulled) < places(plain)
