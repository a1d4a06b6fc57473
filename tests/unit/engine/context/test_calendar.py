"""Events of a time: their order, what moved or ended, and which are shown."""

from datetime import datetime, timedelta

import pytest

from biem.domain.node import Hit, Hits, Node, new_id
from biem.domain.scope import Scope
from biem.domain.times.asked import AskedTime, asked_time
from biem.engine.context.calendar import TimedHits, events, told_within
from tests.support.fakes import START


def node(day: int, text: str, source: str = "user") -> Node:
    at = START + timedelta(days=day)
    return Node(
        id=new_id(), scope=Scope(user="ann"), text=text, status="active", created_at=at, at=at, energy=0.5,
        kind="event", layer="short_term", source=source,
    )  # fmt: skip


def asked(question: str, day: int) -> AskedTime:
    found = asked_time(question, START + timedelta(days=day))
    assert found is not None
    return found


def told(nodes: list[Node], question: str, day: int) -> list[str]:
    return [one.node.text for one in events(nodes, asked(question, day))]


def test_events_are_in_the_order_in_which_they_happen() -> None:
    nodes = [node(0, "The dentist is on Friday."), node(1, "Lunch with Ines tomorrow."), node(2, "We have a cat.")]
    assert told(nodes, "What's on this week?", 2) == ["Lunch with Ines tomorrow.", "The dentist is on Friday."]


def test_a_moved_event_is_shown_by_the_message_that_moved_it_in_either_order() -> None:
    nodes = [node(2, "Rehearsal moved to Thursday."), node(0, "Rehearsal is on Friday at seven.")]
    assert told(nodes, "What's on this week?", 2) == ["Rehearsal moved to Thursday."]
    assert told(nodes[::-1], "What's on this week?", 2) == ["Rehearsal moved to Thursday."]


def test_an_event_that_was_called_off_is_last_and_no_next_time() -> None:
    nodes = [
        node(0, "Rehearsal is on Wednesday at seven."), node(0, "The dentist is on Friday."),
        node(1, "Wednesday's rehearsal is cancelled."),
    ]  # fmt: skip
    shown = ["The dentist is on Friday.", "Wednesday's rehearsal is cancelled."]
    assert told(nodes, "What's on this week?", 1) == shown
    assert told(nodes, "When is my next rehearsal?", 1) == ["The dentist is on Friday."]


def test_an_assistant_tells_events_only_in_reports() -> None:
    nodes = [
        node(0, "You may have gone to the dentist.", "assistant"),
        node(0, "Booked: ferry on Friday.", "assistant"),
    ]
    assert told(nodes, "What's on this week?", 1) == ["Booked: ferry on Friday."]


@pytest.mark.parametrize(
    ("question", "days"),
    [("When did I last run?", [5, 3]), ("When's my next run?", [1, 3]), ("On which days did I run?", [1, 3, 5])],
)
def test_the_last_the_next_and_each_time_stand_in_their_order(question: str, days: list[int]) -> None:
    nodes = {day: node(day, f"Ran {day} miles.") for day in (3, 5, 1)}
    at: dict[str, datetime] = {one.id: START + timedelta(days=day) for day, one in nodes.items()}
    timed = TimedHits(asked(question, 6), Hits(), at)
    shown = timed.ordered([Hit(one, 1.0, {}) for one in [*nodes.values(), node(2, "We have a cat.")]])
    assert [hit.node.id for hit in shown] == [nodes[day].id for day in days]
    assert timed.bar.sure >= 0.3


def test_of_a_list_what_was_told_in_a_time_that_is_over_is_kept() -> None:
    hits = [Hit(node(day, "Finished another book."), 0.5, {}) for day in (0, 8, 30)]
    now = START + timedelta(days=40)

    def kept(question: str, *told: Hit) -> list[int]:
        return [(hit.node.at - START).days for hit in told_within(Hits(told), asked(question, 40), now)]

    # "in May" is over, "this year" and tomorrow are not, and where nothing was told in a time, all may be meant
    assert kept("What did I read in May?", *hits) == [0, 8]
    assert kept("What have I read this year?", *hits) == [0, 8, 30]
    assert kept("I fly tomorrow, what have I packed?", *hits) == [0, 8, 30]
    assert kept("What did I read in April?", *hits) == [0, 8, 30]
