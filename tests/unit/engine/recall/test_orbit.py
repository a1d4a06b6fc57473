"""What a session has prepared: kept in bounds, dropped when something is erased, and never a reason to fail."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from biem.domain.conflict import Dispute
from biem.domain.policies.orbit import OrbitPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.scope import Scope
from biem.engine.recall.orbit import Orbits
from biem.engine.recall.rank.adjustments import Adjustments, candidates_of
from biem.engine.recall.rank.pool import Found, Pool
from biem.engine.recall.rank.prepared_pool import PreparedPool
from biem.engine.recall.rank.ranker import Answer, ParsedQuery
from biem.engine.recall.rank.reasons import Reasons
from biem.engine.recall.rank.score import Ranked
from biem.errors import StoreUnavailable
from biem.ports.readers import Turn, Turns, Vicinity
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

MINE, PROJECT, THEIRS = Scope(user="me"), Scope(user="me", project="p"), Scope(user="they")


def turn(key: str, conversation: str = "", words: str = "") -> Turn:
    return Turn(
        id=key, ns="n", lexemes=tuple(words.split()), vector=None, kind="event", speaker="", conversation=conversation,
        at=START, write_seq=1, asks=False, matches=True, valid_to=None, superseded_by=None,
    )  # fmt: skip


def no_conflicts(scope: Scope, ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
    return {}


def prepared(turns: Turns) -> PreparedPool:
    return PreparedPool(turns, {}, Pool(candidates_of(turns), {}, 0.0, None))


class Reader:
    """The port `OrbitReader` over given turns."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = {one.id: one for one in turns}
        self.news: dict[str, Turn] | None = {}
        self.asked: list[tuple[list[str], list[str]]] = []
        self.whole = 0
        self.failure: Exception | None = None
        self.meanwhile: Callable[[], None] = lambda: None

    def gather(self, scopes: Sequence[Scope], chosen: Sequence[str], others: Sequence[str], whole: int) -> Vicinity:
        self.asked.append((list(chosen), list(others)))
        self.whole = whole
        self.meanwhile()
        if self.failure:
            raise self.failure
        return Vicinity(Turns(self.turns, (), frozenset()), {scope.ns: 1 for scope in scopes})

    def since(self, scopes: Sequence[Scope], written: Mapping[str, int], limit: int) -> Vicinity | None:
        if self.failure:
            raise self.failure
        return None if self.news is None else Vicinity(Turns(self.news, (), frozenset()), written)


class Kept:
    """Orbits on a reader and a clock to hold."""

    def __init__(
        self, *turns: Turn, supply: Callable[[Scope, str], Sequence[str]] | None = None, **policy: float
    ) -> None:
        self.reader, self.clock = Reader(*turns), HeldClock()
        self.orbits = Orbits(
            reader=self.reader,
            supplies=[supply] if supply else [],
            clock=self.clock,
            policy=OrbitPolicy(**policy),  # type: ignore[arg-type]
            telemetry=Telemetry(),
        )

    def holds(self, scope: Scope, session: str) -> bool:
        return self.orbits.of(scope, session) is not None


def test_each_session_of_each_scope_has_its_own() -> None:
    kept = Kept(turn("a"))
    kept.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    assert kept.holds(MINE, "s")
    assert not kept.holds(MINE, "other")
    assert not kept.holds(THEIRS, "s")


def test_sessions_used_longest_ago_go_first_and_silence_ends_one() -> None:
    # Given room for two sessions / When a third begins after the first was used again
    kept = Kept(turn("a"), sessions=2, max_age_s=60.0)
    for name in ("first", "second"):
        kept.orbits.gather(MINE, name, ["a"], [], no_conflicts, prepared)
    assert kept.holds(MINE, "first")
    kept.orbits.gather(MINE, "third", ["a"], [], no_conflicts, prepared)

    # Then the second had to go, and after a minute all have
    assert [kept.holds(MINE, name) for name in ("first", "second", "third")] == [True, False, True]
    kept.clock.advance(seconds=61)
    assert not kept.holds(MINE, "first")


def test_without_a_session_or_switched_off_nothing_is_kept() -> None:
    off, on = Kept(turn("a"), enabled=False), Kept(turn("a"))
    off.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    on.orbits.gather(MINE, "", ["a"], [], no_conflicts, prepared)
    on.orbits.gather(MINE, "s", [], [], no_conflicts, prepared)
    assert off.reader.asked == on.reader.asked == []
    assert not off.holds(MINE, "s")
    assert not on.holds(MINE, "")


def test_neighbours_and_supplies_are_taken_along_up_to_their_number() -> None:
    kept = Kept(turn("a"), supply=lambda _, session: [f"mind of {session}"], links=2)
    kept.orbits.gather(MINE, "s", ["a"], ["near", "nearer", "far"], no_conflicts, prepared)
    assert kept.reader.asked == [(["a"], ["near", "nearer", "mind of s"])]


def test_a_memory_as_small_as_the_policy_says_is_taken_along_whole() -> None:
    kept = Kept(turn("a"), whole=7)
    kept.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    assert kept.reader.whole == 7


def test_an_erasure_drops_what_may_hold_it_also_while_it_is_read() -> None:
    # Given sessions of a user, of his project, which reads the user's own, and of another user
    kept = Kept(turn("a"))
    for scope in (MINE, PROJECT, THEIRS):
        kept.orbits.gather(scope, "s", ["a"], [], no_conflicts, prepared)

    # When something of the user is erased / Then what could hold it is gone
    kept.orbits.drop(MINE)
    assert [kept.holds(scope, "s") for scope in (MINE, PROJECT, THEIRS)] == [False, False, True]

    # When an erasure comes while what is near is being read / Then it is not kept
    kept.reader.meanwhile = lambda: kept.orbits.drop(MINE)
    kept.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    assert not kept.holds(MINE, "s")


def test_a_store_that_is_down_costs_the_orbit_and_nothing_else() -> None:
    # Given a session with something prepared / When the records cannot be read
    kept = Kept(turn("a"))
    kept.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    orbit = kept.orbits.of(MINE, "s")
    assert orbit is not None
    kept.reader.failure = StoreUnavailable("down")

    # Then it is not known what was written since, and what is stale is let go
    assert kept.orbits.with_news(MINE, orbit) is None
    kept.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    assert not kept.holds(MINE, "s")


def test_news_joins_what_is_prefetched_unless_it_is_too_much() -> None:
    kept = Kept(turn("a"))
    kept.orbits.gather(MINE, "s", ["a"], [], no_conflicts, prepared)
    orbit = kept.orbits.of(MINE, "s")
    assert orbit is not None
    kept.reader.news = {"b": turn("b")}
    turns = kept.orbits.with_news(MINE, orbit)
    assert turns is not None
    assert set(turns.by_id) == {"a", "b"}
    kept.reader.news = None
    assert kept.orbits.with_news(MINE, orbit) is None


def test_a_follow_up_is_recognised_by_its_conversation_and_its_words() -> None:
    # Given last answers mostly from the conversation c
    turns = [
        turn("a", "c", "violin lesson"),
        turn("b", "c", "teacher"),
        turn("x", "d", "boat"),
        turn("fact", "", "tea"),
    ]
    kept = Kept(*turns)
    kept.orbits.gather(MINE, "s", ["a", "b", "x", "fact"], [], no_conflicts, prepared)
    orbit = kept.orbits.of(MINE, "s")
    assert orbit is not None

    # When a question finds two turns of it, one of another and a fact
    given = Turns({one.id: one for one in turns}, (), frozenset())
    ordering = Adjustments(given, Found(), {}, RecallPolicy(), START + timedelta(days=1))
    order = sorted(range(4), key=lambda place: ordering.candidates[place].id)
    ranked = Ranked(order, np.array([1.0, 2.0, 7.5, 3.0]), np.zeros((4, 0)), np.zeros(0))
    answer = Answer(ordering, ranked, given.by_id, Found(), {"known": 0.5}, Reasons(ranked, "", {}, (), chinese=False))
    found = orbit.grounds(answer, ParsedQuery("", ["violin", "boat", "unsaid", "tea"], []))

    # Then half of its best are of that conversation, and three of its four words were in the last answers
    assert found == {"known": 0.5, "best": 7.5, "talk": 0.5, "echo": 0.75}


def test_what_cannot_be_of_the_last_conversation_is_not_ranked() -> None:
    # Given an answer from conversation a, of which two messages are prefetched, and one from no conversation
    kept = Kept(*(turn(key, "a") for key in "12"), *(turn(key, "b") for key in "345678"), turn("9"))
    kept.orbits.gather(MINE, "chat", ["1"], [], no_conflicts, prepared)
    kept.orbits.gather(MINE, "facts", ["9"], [], no_conflicts, prepared)
    chat, facts = kept.orbits.of(MINE, "chat"), kept.orbits.of(MINE, "facts")
    assert chat is not None
    assert facts is not None
    turns = chat.vicinity.turns

    # When three of the five best must be of that conversation, then two messages are too few
    assert not chat.may_answer(turns, 0.6)
    assert not facts.may_answer(turns, 0.6)

    # And they suffice with a third one, which was written since, or where less is asked
    assert chat.may_answer(Turns({**turns.by_id, "0": turn("0", "a")}, (), frozenset()), 0.6)
    assert chat.may_answer(turns, 0.4)
    assert facts.may_answer(turns, 0.0)

    # And everything may answer where nothing else could be found
    complete = replace(facts, vicinity=replace(facts.vicinity, complete=True))
    assert complete.may_answer(turns, 0.6)
