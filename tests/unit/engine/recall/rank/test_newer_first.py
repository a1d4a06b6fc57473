"""Of two values of one thing recall tells the newer first."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from biem.adapters import contradiction
from biem.domain.node import Hit, Node, new_id
from biem.domain.scope import Scope
from biem.engine.recall.rank.newer_first import newest_first

RULES = contradiction.build()
START = datetime(2026, 3, 1, tzinfo=UTC)


def hits(*told: tuple[str, int]) -> list[Hit]:
    """Hits of these texts, each said that many days after the first day, with falling scores."""
    return [
        Hit(
            Node(
                id=new_id(),
                scope=Scope(user="u"),
                text=text,
                kind="event",
                status="active",
                layer="short_term",
                at=START + timedelta(days=days),
                created_at=START,
                importance=3.0,
                energy=1.0,
                write_seq=place,
                valid_from=START + timedelta(days=days),
            ),
            1.0 - place / 10,
            {},
        )
        for place, (text, days) in enumerate(told)
    ]


def texts(query: str, *told: tuple[str, int]) -> list[str]:
    return [hit.node.text for hit in newest_first(query, hits(*told), RULES)]


def test_the_newer_value_takes_the_place_of_the_older() -> None:
    found = newest_first(
        "Where do I live?", hits(("I'm based in Graz", 0), ("I like tea", 1), ("Home for me is Linz", 9)), RULES
    )
    assert [hit.node.text for hit in found] == ["Home for me is Linz", "I'm based in Graz", "I like tea"]
    assert [hit.score for hit in found] == [1.0, 0.9, 0.8]
    assert found[1].why["said_before"] == "2026-03-10"
    assert texts("我住在哪里？", ("我住在格拉茨", 0), ("我家在林茨", 9)) == ["我家在林茨", "我住在格拉茨"]


def test_another_persons_value_and_questions_about_the_past_change_no_order() -> None:
    told = (("I'm based in Graz", 0), ("My brother is based in Linz", 9))
    assert texts("Where do I live?", *told) == [text for text, _ in told]
    told = (("I'm based in Graz", 0), ("Home for me is Linz", 9))
    assert texts("Where did I live before?", *told) == [text for text, _ in told]


def test_who_overruled_whom_and_what_is_over_or_distilled_is_left_alone() -> None:
    older, newer = ("I'm based in Graz", 0), ("Home for me is Linz", 9)

    def told(first: dict[str, Any], second: dict[str, Any], why: dict[str, float | str] | None = None) -> bool:
        """Whether the newer was put before the older."""
        one, two = hits(older, newer)
        pair = [Hit(replace(one.node, **first), one.score, why or {}), Hit(replace(two.node, **second), two.score, {})]
        return newest_first("Where do I live?", pair, RULES)[0].node.text == newer[0]

    assert told({}, {})
    # An assistant's word overrules no user's; two of the assistant, and a user's over an assistant's, do
    assert not told({"source": "user"}, {"source": "assistant"})
    assert told({"source": "assistant"}, {"source": "assistant"})
    assert told({"source": "assistant"}, {"source": "user"})
    # What is over, replaced or distilled stands where the ranking put it
    assert not told({}, {}, {"held_until": "2026-03-05"})
    assert not told({"superseded_by": "x"}, {})
    assert not told({}, {"source": "crystal"})
    # What was said at the same moment is no newer
    assert not told({}, {"at": START})


def test_scores_and_places_bound_what_is_compared() -> None:
    # Given a newer value of a quarter of the score, and of less / Then only the first is lifted
    one, two = hits(("I'm based in Graz", 0), ("Home for me is Linz", 9))
    for score, lifted in ((0.25, True), (0.2499, False)):
        found = newest_first("Where do I live?", [replace(one, score=1.0), replace(two, score=score)], RULES)
        assert (found[0].node is two.node) == lifted
    # Given one at the fifteenth place, and at the sixteenth / Then only the first is looked at
    for between, lifted in ((13, True), (14, False)):
        others = [(f"It rained in week {number}", 20 + number) for number in range(between)]
        given = hits(("I'm based in Graz", 0), *others, ("Home for me is Linz", 9))
        found = newest_first("Where do I live?", [replace(hit, score=0.5) for hit in given], RULES)
        assert (found[0].node.text == "Home for me is Linz") == lifted


def test_the_name_that_is_asked_for_is_kept_and_the_first_word_of_a_question_is_none() -> None:
    told = (("Tram 7 stops at the market", 0), ("Tram 13 stops at the bridge", 9))
    assert texts("Where does tram 7 stop?", *told) == [text for text, _ in told]


def test_an_older_value_says_the_last_day_on_which_it_was_renewed() -> None:
    given = hits(("I'm based in Graz", 0), ("Home for me is Linz", 5), ("Home for me is Wels", 9))
    found = {hit.node.text: hit for hit in newest_first("Where do I live?", given, RULES)}
    assert found["I'm based in Graz"].why["said_before"] == "2026-03-10"
    assert found["I'm based in Graz"].why["renewed_by"] == given[2].node.id
