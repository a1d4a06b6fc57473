"""How links arise and grow."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.link import (
    Link,
    Moment,
    NewLink,
    combined,
    grown,
    learned_links,
    meeting_links,
    redirected,
    semantic_links,
    strength_of,
    temporal_links,
)
from tests.support.fakes import START

new_links = st.builds(
    NewLink,
    st.sampled_from("abc"),
    st.sampled_from("abc"),
    st.sampled_from(["semantic", "causal", "cooccurrence"]),
    st.floats(0, 1),
    st.integers(1, 30),
    st.integers(0, 3),
)


def moment(name: str, second: float, conversation: str = "talk", seq: int = 0) -> Moment:
    return Moment(name, START + timedelta(seconds=second), seq, conversation)


def targets(links: list[NewLink]) -> list[str]:
    return [link.target for link in links]


def before(memory: Moment, *others: Moment) -> list[NewLink]:
    return temporal_links(memory, others, most=5, window_s=300.0)


# -- C4 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.req("X37", "C4", partly="the arithmetic")
def test_a_link_of_strength_25_keeps_it_when_it_is_found_with_0_7() -> None:
    # Given strength 25 / When the likeness is found again, weaker / Then nothing is lowered
    assert grown((0.9, 25), NewLink("a", "b", "semantic", 0.71, 7)) == (0.9, 25)
    assert grown((0.71, 3), NewLink("a", "b", "semantic", 0.9, 9)) == (0.9, 9)


@pytest.mark.req("H4", "H36", partly="the arithmetic")
def test_meeting_adds_one_each_time() -> None:
    # Given two concepts / When they meet ten times
    state = None
    for expected in range(1, 11):
        (link,) = meeting_links(["b", "a"])
        state = grown(state, link)

        # Then each time gives one more, the first gives one
        assert state == (1.0, expected)
    assert meeting_links(["a", "a"]) == meeting_links(["a"]) == []


@given(links=st.lists(new_links, max_size=8), state=st.none() | st.tuples(st.floats(0, 1), st.integers(1, 30)))
def test_finding_together_is_finding_one_after_the_other(links: list[NewLink], state: tuple[float, int] | None) -> None:
    # Given any links / When those of one key are combined
    together = {link.key: link for link in combined(links)}

    # Then the result has at least what each alone would give, no loops, and is what greatest and sums make
    for key, link in together.items():
        same = [other for other in links if other.key == key]
        weight, strength = grown(state, link)
        assert weight == max(grown(state, other)[0] for other in same)
        assert strength == max([*(other.strength for other in same), *([state[1]] if state else [])]) + sum(
            other.add for other in same
        )
    assert all(source != target for source, target, _ in together)


@pytest.mark.req("B32", "B18")
def test_a_link_has_its_ends_type_weight_and_strength_within_bounds() -> None:
    # Given values out of bounds / When a link is made of them / Then it is refused
    link = Link("a", "b", "causal", 0.5, 2, START)
    assert (link.source, link.target, link.type, link.weight, link.created_at) == ("a", "b", "causal", 0.5, START)
    for weight, strength, add in (
        (1.1, 1, 0),
        (-0.1, 1, 0),
        (float("nan"), 1, 0),
        (1.0, 0, 0),
        (1.0, -1, 3),
        (1.0, 2, -1),
    ):
        with pytest.raises(ValueError, match=r"weight|strength"):
            NewLink("a", "b", "causal", weight, strength, add)


@pytest.mark.req("C3", partly="symmetric types are one edge a pair")
def test_a_symmetric_link_is_the_same_from_either_end() -> None:
    # Given both directions / When links are made / Then those of meaning are one, those of cause are two
    assert NewLink("b", "a", "semantic") == NewLink("a", "b", "semantic")
    assert NewLink("b", "a", "cooccurrence").key == ("a", "b", "cooccurrence")
    assert len(combined([NewLink("b", "a", "causal"), NewLink("a", "b", "causal")])) == 2


# -- semantic ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("B20", "C4", partly="the arithmetic")
def test_memories_are_linked_above_0_7_and_topics_from_0_7_on() -> None:
    # Given likenesses around the threshold / When links are made of them
    found = [("n70", 0.70), ("n701", 0.701), ("n1", 1.0), ("n69", 0.69), ("self", 0.9), ("over", 1.0000001)]
    links = semantic_links("self", found, above=0.7)

    # Then 0.70 is not enough, weight is the likeness, strength its tenths, and nothing is linked to itself
    assert {(*sorted({link.source, link.target} - {"self"}), link.weight, link.strength) for link in links} == {
        ("n701", 0.701, 7),
        ("n1", 1.0, 10),
        ("over", 1.0, 10),
    }
    assert "n70" in {node for link in semantic_links("self", found, above=0.7, inclusive=True) for node in link.key}


@pytest.mark.req("H34", partly="the arithmetic")
@pytest.mark.parametrize(("similarity", "strength"), [(0.70, 7), (0.79, 7), (0.8, 8), (0.99, 9), (1.0, 10), (0.0, 1)])
def test_the_first_strength_is_the_tenths_of_the_likeness(similarity: float, strength: int) -> None:
    # Given a likeness / When it makes a link / Then its whole tenths count
    assert strength_of(similarity) == strength


@given(tenths=st.integers(1, 10))
def test_no_tenth_is_lost_to_binary_fractions(tenths: int) -> None:
    # Given tenths that binary fractions miss by a little / When they are counted / Then none is lost
    assert strength_of(tenths / 10) == strength_of(sum([0.1] * tenths)) == tenths


# -- temporal ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("B19")
def test_six_memories_within_four_minutes_give_the_last_one_five_links() -> None:
    # Given six memories 48 seconds apart / When each is linked
    talk = [moment(f"m{number}", 48.0 * number, seq=number) for number in range(6)]

    # Then the last has five links, the nearest first, and each earlier one as many as were before it
    assert [len(before(memory, *talk)) for memory in talk] == [0, 1, 2, 3, 4, 5]
    assert targets(before(talk[5], *talk)) == ["m4", "m3", "m2", "m1", "m0"]
    assert before(talk[1], *talk) == [NewLink("m1", "m0", "temporal")]


@pytest.mark.req("B19")
def test_only_the_five_last_of_less_than_five_minutes_count() -> None:
    # Given many memories / When one is linked / Then the five nearest before it are, and none that is 300 s older
    many = [moment(f"m{number}", float(number), seq=number) for number in range(20)]
    assert targets(before(moment("new", 20.0), *many)) == ["m19", "m18", "m17", "m16", "m15"]
    assert before(moment("new", 300.0), moment("old", 0.0)) == []
    assert len(before(moment("new", 299.999), moment("old", 0.0))) == 1


def test_the_order_of_arrival_and_other_talks_do_not_matter() -> None:
    # Given memories of other talks, of later times and of the same instant / When one is linked
    here = moment("here", 100.0, seq=5)
    others = [
        moment("later", 101.0, seq=1),
        moment("same, earlier written", 100.0, seq=4),
        moment("same, later written", 100.0, seq=6),
        moment("elsewhere", 99.0, "another"),
        moment("nowhere", 99.0, ""),
        moment("before", 50.0, seq=9),
        here,
    ]

    # Then what was before it in its talk counts
    assert targets(before(here, *others)) == ["same, earlier written", "before"]
    assert targets(before(moment("quiet", 100.0, ""), *others)) == ["nowhere"]


# -- meeting, learning, merging ----------------------------------------------------------------------------------------


@pytest.mark.req("H35", partly="the arithmetic")
def test_four_topics_of_a_passage_meet_in_six_pairs() -> None:
    # Given four topics, one said twice / When they meet / Then each pair gets one
    links = meeting_links(["a", "b", "c", "d", "a"])
    assert len({link.key for link in links}) == len(links) == 6
    assert all(grown(None, link) == (1.0, 1) for link in links)


@pytest.mark.req("B21", "G22", partly="the rule; feedback applies it")
def test_feedback_links_causes_to_effects_and_strengthens_both_ways() -> None:
    # Given three memories that were useful together, the cause first / When that is learned
    learned = {link.key: link for link in learned_links(["c", "a", "b"])}

    # Then each pair has a causal link from the earlier one, and one more on what is followed both ways
    assert set(learned) == {
        ("c", "a", "causal"),
        ("c", "b", "causal"),
        ("a", "b", "causal"),
        ("a", "c", "semantic"),
        ("b", "c", "semantic"),
        ("a", "b", "semantic"),
    }
    assert grown((0.8, 8), learned["a", "b", "semantic"]) == (0.8, 9)
    assert grown(None, learned["a", "b", "causal"]) == (1.0, 1)
    assert learned_links(["a"]) == learned_links(["a", "a"]) == learned_links([]) == []


def test_a_merge_joins_equal_links_and_drops_loops() -> None:
    # Given links of two nodes that become one / When they are redirected
    links = [
        Link("a", "b", "semantic", 0.9, 9),
        Link("a", "c", "semantic", 0.8, 8),
        Link("b", "c", "semantic", 0.7, 12),
        Link("c", "a", "causal", 0.5, 2),
    ]

    # Then the best of equal ones is left
    assert redirected(links, {"a": "n", "b": "n"}) == [
        NewLink("c", "n", "semantic", 0.8, 12),
        NewLink("c", "n", "causal", 0.5, 2),
    ]
