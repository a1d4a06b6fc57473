"""Of two values of one thing recall tells the newer first."""

from datetime import UTC, datetime, timedelta

from biem.adapters import contradiction
from biem.domain.node import Hit, Node, new_id
from biem.domain.scope import Scope
from biem.engine.recall.rank.newer_first import newest_first

RULES = contradiction.build()
START = datetime(2026, 3, 1, tzinfo=UTC)


def hits(*told: tuple[str, int]) -> list[Hit]:
    """Hits of these texts, each said so many days after the first day, with falling scores."""
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
