"""Work of the background lets callers pass, and always gets on."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.jobs.thread import InProcessQueue
from biem.domain.conflict import Statement
from biem.domain.node import Hits
from biem.domain.policies.recall import RecallPolicy
from biem.domain.scope import Scope
from biem.engine.priority import ForegroundPriority, YieldingAnalyzer, YieldingEmbedder, YieldingRules
from biem.engine.recall.profiles import ProfileRecaller
from biem.engine.recall.recaller import Recaller
from biem.engine.recall.rerank import Choice
from biem.ports import Filter
from biem.telemetry import Telemetry
from tests.support.fakes import WordEmbedder


class Life:
    """A foreground priority on a simulated clock: who rests, rests as long as it may."""

    def __init__(self) -> None:
        self.at_s = 0.0
        self.rests: list[float] = []
        self.priority = ForegroundPriority(lambda: self.at_s, self._rest, self._nap)

    def _rest(self, quiet: threading.Event, at_most_s: float) -> bool:
        assert not quiet.is_set()
        self.rests.append(at_most_s)
        self.at_s += at_most_s
        return False

    def _nap(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.at_s += seconds

    def burst(self) -> None:
        """Calls that have used up what a burst may have."""
        with self.priority.calling(), self.priority.working():
            self.work(0.001)
        self.rests.clear()

    def work(self, seconds: float) -> None:
        """One step of work, and then manners."""
        self.at_s += seconds
        self.priority.give_way()


@pytest.fixture
def life() -> Life:
    return Life()


@pytest.mark.req("H15", partly="that it leaves time; how much that is worth: benchmarks.upkeep_latency")
def test_a_job_leaves_callers_of_other_processes_four_fifths_of_the_time_for_a_while(life: Life) -> None:
    # Given a process that no one calls / When it works on a job in steps
    with life.priority.pacing():
        for seconds in (0.0001, 0.01, 0.02, 1.0):
            life.work(seconds)
        # Then it rests four times as long as each step took, but not for a moment's work, nor for long at a time
        assert life.rests == pytest.approx([0.0404, 0.08, 0.25])
        for _ in range(1_000):
            life.work(0.1)
        # And not for ever
        assert sum(life.rests) == pytest.approx(20.0)

    # And what it does otherwise, such as encoding, does not rest
    life.rests.clear()
    with life.priority.working():
        life.work(1.0)
    assert life.rests == []


def test_a_burst_of_calls_has_the_process_to_itself_for_two_seconds(life: Life) -> None:
    # Given a call that is not answered yet
    with life.priority.calling(), life.priority.working():
        # When a step of work ends / Then it rests until the call is answered, if that is soon
        life.work(0.001)
    assert life.rests == [pytest.approx(2.0)]


def test_who_calls_on_and_on_leaves_a_fifth_of_the_time(life: Life) -> None:
    # Given calls without end
    life.burst()
    with life.priority.calling(), life.priority.working():
        # When a step of work ends / Then it rests four times as long as it worked
        life.work(0.1)
    assert life.rests == [pytest.approx(0.25)]  # at most


def test_what_a_burst_may_have_comes_back(life: Life) -> None:
    life.burst()
    life.at_s += 10.0
    with life.priority.calling(), life.priority.working():
        life.work(0.001)
    assert life.rests == [pytest.approx(1.2, abs=0.01)]  # a tenth of the time since the first was called


def test_calls_that_follow_each_other_at_once_are_one_burst() -> None:
    # Given a user who calls again as soon as an answer is there, twice, and then thinks
    at_s, waited = 0.0, list[str]()
    follows = iter((True, True, False))

    def rest(event: threading.Event, _: float) -> bool:
        nonlocal at_s
        at_s += 0.001
        waited.append("answered" if event is priority._quiet else "called again")
        return event is priority._quiet or next(follows)

    priority = ForegroundPriority(lambda: at_s, rest)
    # When work gives way
    with priority.calling(), priority.working():
        at_s += 0.001
        priority.give_way()
    # Then it goes on when no one calls again
    assert waited == ["answered", "called again"] * 3


@pytest.mark.parametrize(("unhurried", "rests"), [(False, []), (True, [pytest.approx(0.085)])])
def test_unhurried_work_is_done_in_the_first_part_of_a_gap_between_calls(
    life: Life, unhurried: bool, rests: list[Any]
) -> None:
    # Given two calls with thirty milliseconds in between
    for _ in range(2):
        life.at_s += 0.03
        with life.priority.calling():
            pass
    # When work gives way in the first third of the next gap, after it, and when no call came any more
    with life.priority.working(unhurried=unhurried):
        life.work(0.005)
        early = list(life.rests)
        life.work(0.01)
        life.work(0.01)
    # Then it waits for the next call once, for as long as calls follow each other
    assert (early, life.rests) == ([], rests)


@pytest.mark.parametrize(("gap_s", "waited"), [(0.03, ["answered"]), (0.003, ["answered", "called again"])])
def test_unhurried_work_goes_on_as_soon_as_a_call_is_answered_where_a_step_fits_before_the_next(
    gap_s: float, waited: list[str]
) -> None:
    # Given calls at an interval
    at_s, heard = 0.0, list[str]()

    def rest(event: threading.Event, _: float) -> bool:
        heard.append("answered" if event is priority._quiet else "called again")
        return event is priority._quiet

    priority = ForegroundPriority(lambda: at_s, rest)
    with priority.calling():
        pass
    at_s += gap_s
    # When unhurried work gives way to one
    with priority.calling(), priority.working(unhurried=True):
        at_s += 0.001
        priority.give_way()
    # Then it asks whether another one follows only where there is no room for it
    assert heard == waited


def test_work_goes_on_when_no_call_waits(life: Life) -> None:
    with life.priority.calling():
        pass
    with life.priority.working():
        life.work(1.0)
    assert life.rests == []


def test_work_goes_on_until_the_last_of_several_callers_has_its_answer(life: Life) -> None:
    with life.priority.calling():
        with life.priority.calling():
            pass
        with life.priority.working():
            life.work(0.001)
    with life.priority.working():
        life.work(0.001)
    assert len(life.rests) == 1


def test_a_call_that_fails_is_over(life: Life) -> None:
    with pytest.raises(KeyError), life.priority.calling():
        raise KeyError
    with life.priority.working():
        life.work(1.0)
    assert life.rests == []


def test_tiny_steps_are_no_reason_to_rest(life: Life) -> None:
    life.burst()
    with life.priority.calling(), life.priority.working():
        life.work(0.0001)
        assert life.rests == []
        life.work(0.0001)  # now they add up
    assert len(life.rests) == 1


def test_no_rest_is_long_however_long_the_step_was(life: Life) -> None:
    with life.priority.calling(), life.priority.working():
        life.work(60.0)
    assert life.rests == [pytest.approx(2.0)]


def test_who_does_not_work_never_rests(life: Life) -> None:
    with life.priority.calling():
        life.work(1.0)
    with life.priority.working():
        pass
    with life.priority.calling():
        life.work(1.0)
    assert life.rests == []


def test_calls_of_background_work_block_no_caller(life: Life) -> None:
    with life.priority.working(), life.priority.calling():
        life.work(1.0)
    assert life.rests == []


@given(st.lists(st.floats(0.0, 0.5), min_size=1, max_size=50))
def test_a_sixth_of_the_time_is_left_to_work_however_busy_callers_are(steps: list[float]) -> None:
    life = Life()
    with life.priority.calling(), life.priority.working():
        for seconds in steps:
            life.work(seconds)
    assert sum(life.rests) <= 4.0 * sum(steps) + 2.0 + 0.1 * life.at_s + 1e-9


def test_a_resting_thread_goes_on_at_once_when_the_call_is_answered() -> None:
    # Given a worker that rests without its own end
    resting, went_on = threading.Event(), threading.Event()

    def rest(event: threading.Event, _: float) -> bool:
        if event is priority._called:
            return False
        resting.set()
        event.wait()
        went_on.set()
        return True

    seconds = chain((0.0, 0.0, 0.0), repeat(1.0))
    priority = ForegroundPriority(lambda: next(seconds), rest)

    def work() -> None:
        with priority.working():
            priority.give_way()

    worker = threading.Thread(target=work, daemon=True)
    # When the call that it lets pass is answered
    with priority.calling():
        worker.start()
        assert resting.wait(30.0)
        assert not went_on.is_set()
    # Then it goes on
    assert went_on.wait(30.0)
    worker.join(30.0)


def test_every_round_of_a_queue_is_work() -> None:
    # Given a queue that enters something around its work
    done, inside, seen = threading.Event(), threading.local(), list[bool]()

    @contextmanager
    def around() -> Iterator[None]:
        inside.here = True
        try:
            yield
        finally:
            inside.here = False

    def work() -> int:
        seen.append(inside.here)
        done.set()
        return 0

    queue = InProcessQueue(poll_s=60.0, backoff_s=1.0, backoff_max_s=1.0, around=around)
    queue.start(work)
    try:
        assert done.wait(30.0)
    finally:
        queue.stop(30.0)
    # Then the work ran inside
    assert seen[0]


class Recorded:
    """An analyzer, rules and an embedder that note in which order they were asked."""

    def __init__(self) -> None:
        self.events: list[str] = []

    info = "info"

    def __getattr__(self, name: str) -> object:
        def answer(*given: object, **named: object) -> tuple[object, ...]:
            self.events.append(name)
            return (name, *given, *named.values())

        return answer


def test_rules_texts_and_vectors_are_asked_after_giving_way_with_the_same_words() -> None:
    # Given ports whose answers tell what they were asked
    inner = Recorded()
    asked = inner.events

    def give_way() -> None:
        asked.append("way")

    rules = YieldingRules(inner, give_way)  # type: ignore[arg-type]
    analyzer = YieldingAnalyzer(inner, give_way)  # type: ignore[arg-type]
    embedder = YieldingEmbedder(inner, give_way)  # type: ignore[arg-type]
    older, newer, vector = Statement("a"), Statement("b"), np.zeros(2, np.float32)
    # When each is asked
    answers: list[object] = [
        rules.compare(older, newer, 0.5, least=0.6),
        analyzer.lexemes("x"),
        analyzer.analyze("y"),
        analyzer.keywords("z", 3),
        embedder.embed(["t"], "query"),
        embedder.similarity(vector, vector),
    ]
    # Then it was asked exactly that, each time after giving way; closing closes nothing
    assert answers == [
        ("compare", older, newer, 0.5, 0.6),
        ("lexemes", "x"),
        ("analyze", "y"),
        ("keywords", "z", 3),
        ("embed", ["t"], "query"),
        ("similarity", vector, vector),
    ]
    names = ("compare", "lexemes", "analyze", "keywords", "embed", "similarity")
    assert asked == [event for name in names for event in ("way", name)]
    assert str(embedder.info) == "info"
    embedder.close()
    assert "close" not in asked


class Profiles:
    """Finds nothing, and notes that it was asked."""

    def __init__(self, events: list[str]) -> None:
        self.events = events

    def recall(self, *_: object, **__: object) -> Hits:
        self.events.append("asked")
        return Hits()


def test_a_recall_is_a_call_until_it_is_answered() -> None:
    # Given a recaller that says when a user waits
    events: list[str] = []

    @contextmanager
    def calling() -> Iterator[None]:
        events.append("called")
        yield
        events.append("answered")

    nobody: Any = None  # a profile of a source design needs none of these
    parts = dict.fromkeys(
        ("records", "turns", "conflicts", "anchors", "rules", "searcher", "orbits", "tiers", "analyzer", "clock"),
        nobody,
    )
    waiting: Future[int] = Future()
    waiting.set_result(0)
    parts["searcher"] = SimpleNamespace(unindexed=lambda _: waiting)
    recaller = Recaller(
        **parts,
        embedder=WordEmbedder(),
        policy=RecallPolicy(),
        ranking=nobody,
        weights=nobody,
        orbit=nobody,
        profiles=cast(ProfileRecaller, Profiles(events)),
        chooser=nobody,
        telemetry=Telemetry(),
        calling=calling,
    )
    # When something is asked / Then the answer is looked for inside
    recaller.recall(Scope(user="u"), "tea?", top_k=3, mode="auto", where=Filter(), choice=Choice("aim"))
    assert events == ["called", "asked", "answered"]
