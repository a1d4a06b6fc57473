"""The conversation teaches which memories are of use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from biem.domain.link import NewLink
from biem.domain.node import Node, new_id
from biem.domain.policies.jobs import FeedbackPolicy
from biem.domain.scope import Scope
from biem.engine.life.feedback import Feedback, Lesson
from biem.errors import InvalidInput, NotFound
from biem.ports import Candidates, Records, Touched
from biem.ports.links import Links
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

USER = Scope(user="ann")
PROJECT = Scope(user="ann", project="kitchen")
SOMEBODY = Scope(user="bob")


class Table:
    """The reading half of the port `Records`."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}

    def add(self, scope: Scope = USER, *, minute: int = 0, **details: Any) -> str:
        at = START + timedelta(minutes=minute)
        node = Node(
            id=new_id(), scope=scope, text="t", kind="event", status="active", layer="short_term", at=at, created_at=at
        )
        self.nodes[node.id] = replace(node, **details)
        return node.id

    def candidates(
        self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: object, search: object, *, pending_limit: int,
        evidence: bool,
    ) -> Candidates:  # fmt: skip
        live = {
            key: node
            for key in ids
            if (node := self.nodes.get(key)) and node.scope in scopes and node.status != "archived"
        }
        return Candidates(live, {}, frozenset(), {})

    def get(self, scope: Scope, memory_id: str) -> Node | None:
        node = self.nodes.get(memory_id)
        return node if node and node.scope == scope else None


class Takings:
    """The port `Feedbacks`."""

    def __init__(self) -> None:
        self.turns: set[tuple[Scope, str]] = set()
        self.marks: list[Mapping[str, float]] = []
        self.forgotten: list[datetime] = []

    def take(self, scope: Scope, turn: str, marks: Mapping[str, float], at: datetime) -> list[Touched] | None:
        if (scope, turn) in self.turns:
            return None
        self.turns.add((scope, turn))
        self.marks.append(dict(marks))
        return [Touched(key, scope.ns, 0.0, at, "L2", "L2") for key in marks]

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        self.forgotten.append(before)
        return 7


class Net:
    """The growing half of the port `Links`."""

    def __init__(self) -> None:
        self.links: list[tuple[Scope, NewLink]] = []
        self.names: list[tuple[Scope, str | None]] = []
        self.failure: BaseException | None = None

    def connect(self, scope: Scope, links: Sequence[NewLink], at: datetime, *, once: str | None = None) -> int:
        if self.failure is not None:
            raise self.failure
        if (scope, once) in self.names:
            return 0
        self.names.append((scope, once))
        self.links += [(scope, link) for link in links]
        return len(links)


class World:
    """A feedback engine and all that it speaks to."""

    def __init__(self) -> None:
        self.table, self.takings, self.net = Table(), Takings(), Net()
        self.touched: list[str] = []
        self.feedback = Feedback(
            records=cast(Records, self.table),
            feedbacks=self.takings,
            links=cast(Links, self.net),
            touched=lambda scope, touched: self.touched.extend(item.id for item in touched),
            clock=HeldClock(),
            policy=FeedbackPolicy(most=5),
            telemetry=Telemetry(),
        )

    def edges(self, kind: str) -> set[tuple[str, str]]:
        return {(link.source, link.target) for _, link in self.net.links if link.type == kind}


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.req("G15", partly="marks")
def test_useful_is_praised_useless_is_blamed_and_the_rest_is_left_alone(world: World) -> None:
    # Given three recalled memories
    good, bad, ignored = world.table.add(), world.table.add(), world.table.add()
    # When one was useful and one useless
    lesson = world.feedback.learn(USER, [good], [bad])
    # Then these two are marked and renewed where they are kept hot
    assert world.takings.marks == [{good: 1.0, bad: -1.0}]
    assert set(world.touched) == {good, bad}
    assert ignored not in world.touched
    assert lesson == Lesson(useful=1, useless=1, links=0)


@pytest.mark.req("G22", partly="links")
def test_what_was_useful_together_is_linked_from_the_earlier_to_the_later(world: World) -> None:
    # Given an effect recalled before its cause
    effect, cause = world.table.add(minute=5), world.table.add(minute=1)
    # When both were useful
    lesson = world.feedback.learn(USER, [effect, cause])
    # Then the cause leads to the effect, and they mean more to each other, in both directions
    assert world.edges("causal") == {(cause, effect)}
    assert {frozenset(edge) for edge in world.edges("semantic")} == {frozenset((cause, effect))}
    assert all(link.add == 1 for _, link in world.net.links)
    assert lesson.links == 2


@pytest.mark.req("G24", partly="when the caller names the new ones; the plugin names none")
def test_new_memories_of_the_turn_are_linked_to_each_other_and_to_the_useful(world: World) -> None:
    # Given a useful memory and two new ones
    old = world.table.add()
    new = [world.table.add(minute=9, status="pending"), world.table.add(minute=10, status="pending")]
    # When the turn is over
    world.feedback.learn(USER, [old], new=new)
    # Then all three are linked, and only the useful one is praised
    assert world.edges("causal") == {(old, new[0]), (old, new[1]), (new[0], new[1])}
    assert world.takings.marks == [{old: 1.0}]


def test_useless_memories_are_linked_to_nothing(world: World) -> None:
    bad, worse = world.table.add(), world.table.add(minute=1)
    world.feedback.learn(USER, [], [bad, worse])
    assert world.net.links == []


def test_a_turn_counts_once(world: World) -> None:
    # Given a turn that taught something
    one, two = world.table.add(), world.table.add(minute=1)
    world.feedback.learn(USER, [one, two], turn="42")
    # When it is repeated
    lesson = world.feedback.learn(USER, [one, two], turn="42")
    # Then nothing is rewarded or linked twice
    assert lesson == Lesson(0, 0, 0)
    assert len(world.takings.marks) == 1
    assert len(world.net.links) == 2
    # And turns without a name are each their own
    world.feedback.learn(USER, [one])
    world.feedback.learn(USER, [one])
    assert len(world.takings.marks) == 3


@pytest.mark.req("X8", partly="feedback")
def test_a_turn_that_died_between_reward_and_links_is_made_whole_by_repeating_it(world: World) -> None:
    # Given a process that died after the reward
    one, two = world.table.add(), world.table.add(minute=1)
    world.net.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        world.feedback.learn(USER, [one, two], turn="42")
    world.net.failure = None
    # When the turn is repeated
    world.feedback.learn(USER, [one, two], turn="42")
    # Then the reward was given once, and the links are there
    assert len(world.takings.marks) == 1
    assert world.edges("causal") == {(one, two)}


@pytest.mark.req("D13", partly="feedback")
def test_unknown_ids_and_those_of_others_are_named_and_nothing_is_learnt(world: World) -> None:
    # Given a memory of one's own, one of another user, and an id of nothing
    mine, theirs, nothing = world.table.add(), world.table.add(SOMEBODY), new_id()
    # When all are called useful
    with pytest.raises(NotFound) as error:
        world.feedback.learn(USER, [mine, theirs, nothing])
    # Then the message names both that are not one's own, and nothing was learnt
    assert theirs in str(error.value)
    assert nothing in str(error.value)
    assert mine not in str(error.value)
    assert world.takings.marks == []


def test_a_project_teaches_the_users_own_memories_and_links_within_each_scope(world: World) -> None:
    # Given two memories of the user and two of the project, which a recall in the project may mix
    own = [world.table.add(USER, minute=minute) for minute in (1, 2)]
    its = [world.table.add(PROJECT, minute=minute) for minute in (3, 4)]
    # When all were useful
    world.feedback.learn(PROJECT, [*own, *its])
    # Then all are praised, and no link crosses from one scope to the other
    assert set(world.takings.marks[0]) == {*own, *its}
    assert world.edges("causal") == {(own[0], own[1]), (its[0], its[1])}
    assert {scope for scope, _ in world.net.links} == {USER, PROJECT}


def test_what_was_merged_since_it_was_recalled_passes_its_praise_on(world: World) -> None:
    # Given a memory merged twice since, and one archived for good
    heir = world.table.add()
    between = world.table.add(status="archived", superseded_by=heir)
    recalled = world.table.add(status="archived", superseded_by=between)
    faded = world.table.add(status="archived")
    # When they were useful
    lesson = world.feedback.learn(USER, [recalled, faded])
    # Then the one that stands for the first is praised
    assert world.takings.marks == [{heir: 1.0}]
    assert lesson.useful == 1


def test_a_circle_of_successors_ends(world: World) -> None:
    # Given two archived memories that point to each other
    one = world.table.add(status="archived")
    two = world.table.add(status="archived", superseded_by=one)
    world.table.nodes[one] = replace(world.table.nodes[one], superseded_by=two)
    # When one is praised, Then nothing is, and it ends
    assert world.feedback.learn(USER, [one]) == Lesson(0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"useful": "not-a-list"}, "must be a list"),
        ({"useful": ["not-an-id"]}, "is not an id"),
        ({"useless": None}, "must be a list"),
        ({"useful": [new_id() for _ in range(6)]}, "at most 5"),
        ({"turn": ""}, "1 to 256"),
        ({"turn": "x" * 257}, "1 to 256"),
        ({"turn": "a\0b"}, "NUL"),
        ({"turn": 7}, "1 to 256"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(world: World, arguments: Mapping[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        world.feedback.learn(USER, **arguments)
    assert world.takings.marks == []


def test_a_name_and_a_list_as_long_as_they_may_be_are_taken(world: World) -> None:
    # Given as many memories as a turn may praise, and a turn of the longest name / When it is learnt / Then all count
    ids = [world.table.add() for _ in range(5)]
    assert world.feedback.learn(USER, ids, turn="x" * 256).useful == 5


def test_a_memory_merged_ten_times_since_is_no_longer_followed(world: World) -> None:
    # Given chains of nine and of ten memories, each archived for the next, before one that lives
    chains = []
    for length in (9, 10):
        heir = world.table.add()
        for _ in range(length):
            heir = world.table.add(status="archived", superseded_by=heir)
        chains.append(heir)

    # When the first of each is praised / Then the praise of the shorter one arrives
    assert [world.feedback.learn(USER, [first]).useful for first in chains] == [1, 0]


def test_useful_and_useless_at_once_is_refused(world: World) -> None:
    key = world.table.add()
    with pytest.raises(InvalidInput, match="both useful and useless"):
        world.feedback.learn(USER, [key], [key])


def test_nothing_to_say_changes_nothing(world: World) -> None:
    assert world.feedback.learn(USER) == Lesson(0, 0, 0)
    assert world.takings.turns == set()


def test_old_turns_are_forgotten_after_a_week(world: World) -> None:
    assert world.feedback.compact(USER) == {"turns": 7}
    assert world.takings.forgotten == [START - timedelta(days=7)]
