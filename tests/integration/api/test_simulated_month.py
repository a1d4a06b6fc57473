"""A simulated month through the public API, in English and in Chinese: what is remembered, and what fades.

Ann and 小安 live through it at the same time. Ann's double writes what Ann writes, and never asks for anything.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

import biem
from biem.bootstrap import build_embedder
from biem.config import Settings
from biem.domain.node import Hit, Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.running_memory import Running
from biem.engine.sleep.jobs import SleepReport
from tests.support.fakes import START, HeldClock, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Testbed
from tests.support.stories import CHINESE, ENGLISH, Story
from tests.support.workloads import in_milvus

DAYS = 28
MOVE = 16
"""The day on which homes, bridges and employers change."""
RESTART = 13
"""The day before which the process ends and another one goes on."""


Held = tuple[object, object, object, object]
"""Links, what a word reminds of, facts, and how many memories are active."""


@dataclass(slots=True)
class Life:
    """One person's month, and what was seen of it."""

    memory: biem.Memory
    story: Story
    ids: dict[str, str] = field(default_factory=dict)
    energies: dict[float, float] = field(default_factory=dict)
    """Of one memory, by hours after it was written."""
    tiers: list[str] = field(default_factory=list)
    """Of a hot memory: at once, and after a night."""
    layers: list[str] = field(default_factory=list)
    """Of a memory that is asked for now and then, after each time."""
    nights: list[SleepReport] = field(default_factory=list)
    again: list[SleepReport] = field(default_factory=list)
    """A second night right after, every fourth day."""
    active: list[int] = field(default_factory=list)
    """Active memories after each night."""
    reminded: list[tuple[str, str]] = field(default_factory=list)
    running: tuple[Running, ...] = ()
    seen: list[Hit] = field(default_factory=list)
    over_the_restart: tuple[Held, Held] | None = None
    end: Mapping[str, Node] = field(default_factory=dict)

    def say(self, name: str, text: str, about: str, **details: object) -> None:
        """One message of a conversation."""
        self.ids[name] = self.memory.remember(
            text,
            speaker=self.story.speaker,
            conversation=about,
            **details,  # type: ignore[arg-type]
        )

    def recall(self, query: str, top_k: int = 3) -> list[str]:
        """The texts found; hits are counted behind the answer, so the counts are waited for."""
        hits = self.memory.recall(query, top_k=top_k)
        self.seen += hits
        before = {hit.node.id: hit.node.access_count for hit in hits}
        eventually(lambda: all(self.memory.get(key).access_count > count for key, count in before.items()))
        return [hit.node.text for hit in hits]

    def found(self, query: str, top_k: int = 3, **where: object) -> list[str]:
        """The ids of a recall."""
        hits = self.memory.recall(query, top_k=top_k, **where)  # type: ignore[arg-type]
        self.seen += hits
        return [hit.node.id for hit in hits]

    def held(self) -> Held:
        """All of it that another process has to know, too."""
        linked = {
            (name, link.key, link.weight, link.strength)
            for name, key in self.ids.items()
            if self.memory.get(key).status == "active"
            for link in self.memory.links(key)
        }
        reminds = [pair.pair for pair in self.memory.related(self.story.topic)]
        return linked, reminds, {fact.id for fact in self.memory.facts()}, self.memory.stats()["active"]

    def morning(self, day: int) -> None:
        """What is said on a day."""
        story = self.story
        for number, text in enumerate(story.noise):
            self.say(f"noise {day}.{number}", text.format(day=day), f"weather {day}", importance=1)
        if day % 2 == 0:
            self.say(f"chat {day // 2}", story.chat[day // 2], f"evening {day}")
        if day == 0:
            self.ids["precious"] = self.memory.remember(story.precious, importance=5)
            for name, text in (("praised", story.praised), ("unpraised", story.unpraised), ("asked", story.asked[0])):
                self.ids[name] = self.memory.remember(text, importance=2)
        if day in (0, MOVE):
            turn = day // MOVE
            self.say(f"home {turn}", story.home[turn], f"letter {day}")
            self.ids[f"taste {turn}"] = self.memory.remember(story.taste[turn])
            self.ids[f"employer {turn}"] = self.memory.remember(story.employer[turn])
        if 4 <= day < 9:
            self.say(f"habit {day - 4}", story.habit[0][day - 4], f"garden {day}")

    def noon(self, day: int) -> None:
        """What is asked for on a day, and what was of use."""
        if day in (1, 3):
            self.recall(self.story.praised, top_k=1)
            for _ in range(2):  # the second time by mistake
                self.memory.feedback(useful=[self.ids["praised"]], turn=f"turn of day {day}")
        if day in (1, 2, 4, 6, 8):
            self.recall(self.story.asked[1], top_k=1)
            self.layers.append(self.memory.get(self.ids["asked"]).layer)
        if day in (10, 11, 12):
            self.recall(self.story.habit[1], top_k=5)
        if day == 9:
            self.reminded = [(pair.topic, pair.memory) for pair in self.memory.related(self.story.topic)]
            self.running = self.memory.running(self.story.topic, conversation="another talk")

    def night(self, day: int) -> None:
        """Sleep, and now and then sleep again."""
        self.nights.append(self.memory.sleep())
        if day % 4 == 3:
            assert self.memory.flush()
            self.again.append(self.memory.sleep())
        self.active.append(int(self.memory.stats()["active"]))


@dataclass(frozen=True, slots=True)
class Month:
    """All who lived through it."""

    lives: Mapping[str, Life]
    double: Life
    milvus: str


@pytest.fixture(scope="module")
def month(testbed: Testbed) -> Iterator[Month]:
    """Four weeks, on the packaged embedder and a clock that is moved by hand."""
    clock = HeldClock()
    embedder = build_embedder(Settings())
    settings = testbed.settings(sleep=ONLY_SLEEP, aim=AimPolicy(admission="always"))  # the gate has its own tests
    scope = biem.Scope(user=uuid.uuid4().hex)
    with ExitStack() as opened:
        memory = opened.enter_context(biem.connect(settings, scope=scope, embedder=embedder, clock=clock))
        lives = {story.language: Life(memory.scope(user=uuid.uuid4().hex), story) for story in (ENGLISH, CHINESE)}
        double = Life(memory.scope(user=uuid.uuid4().hex), ENGLISH)
        everybody = (*lives.values(), double)
        for day in range(DAYS):
            if day == RESTART:
                for life in everybody:
                    assert life.memory.flush()  # what a night makes of several memories is indexed behind it
                before = [life.held() for life in everybody]
                memory.close()
                memory = opened.enter_context(biem.connect(settings, scope=scope, embedder=embedder, clock=clock))
                for life in everybody:
                    life.memory = memory.scope(user=life.memory.bound_to.user)
                for life, held in zip(everybody, before, strict=True):
                    life.over_the_restart = (held, life.held())
            for life in everybody:
                life.morning(day)
            for life in everybody:
                assert life.memory.flush()
            if day == 0:
                watch_the_first_hours(lives, clock)
            clock.advance(hours=2)
            for life in lives.values():
                life.noon(day)
            clock.advance(hours=16)
            for life in lives.values():
                life.night(day)
            if day % 4 == 3:
                double.night(day)
            if day == 0:
                for life in lives.values():
                    life.tiers.append(life.memory.get(life.ids["precious"]).tier)
            clock.advance(hours=6)
        for life in everybody:
            life.end = {name: life.memory.get(key) for name, key in life.ids.items()}
        yield Month(lives, double, testbed.where.milvus_uri)


def watch_the_first_hours(lives: Mapping[str, Life], clock: HeldClock) -> None:
    """No one touches anything; then the clock goes back to where it was."""
    for life in lives.values():
        life.tiers.append(life.memory.get(life.ids["precious"]).tier)
    for hours in (0.0, 1.0, 6.931, 24.0):
        clock.advance(hours=hours)
        for life in lives.values():
            life.energies[hours] = life.memory.get(life.ids["chat 0"]).energy
        clock.advance(hours=-hours)


@pytest.fixture(params=["en", "zh"])
def life(request: pytest.FixtureRequest, month: Month) -> Life:
    """The month of one of the two."""
    return month.lives[request.param]


# -- energy and tiers -------------------------------------------------------------------------------------------------


@pytest.mark.req("B33", partly="through the public API")
def test_energy_fades_by_the_hour(life: Life) -> None:
    # Given a message of importance 3, so of energy 0.6, Then an hour takes a tenth of e, and 6.931 hours half
    assert life.energies == pytest.approx({0.0: 0.6, 1.0: 0.6 * 0.904837, 6.931: 0.3, 24.0: 0.6 * 0.090718}, abs=1e-4)


@pytest.mark.req("B4", partly="in and out of the canvas, and into the archive")
def test_what_is_hot_enters_the_canvas_and_leaves_it_when_it_has_cooled(life: Life) -> None:
    assert life.tiers == ["L1", "L2"]
    assert life.end["noise 0.0"].tier == "L3"


# -- forgetting -------------------------------------------------------------------------------------------------------


@pytest.mark.req("G25", "H51", partly="a month")
def test_noise_is_forgotten_within_days_and_the_store_stays_bounded(life: Life, month: Month) -> None:
    # Given three remarks a day that no one needs, Then those of the last days are there, and no others
    noise = {name: node.status for name, node in life.end.items() if name.startswith("noise")}
    days: dict[str, set[int]] = defaultdict(set)
    for name, status in noise.items():
        days[status].add(int(name.split()[1].split(".")[0]))
    assert days["active"] == {DAYS - 3, DAYS - 2, DAYS - 1}
    assert days["archived"] == set(range(DAYS - 3))
    # And with them nothing but what is worth it: at most ten remarks beyond the rest
    kept = [name for name in life.ids if not name.startswith("noise")]
    assert max(life.active) <= len(kept) + len(life.memory.facts()) + 12
    # And the index holds what is active, once
    active = {node.id for node in life.end.values() if node.status == "active"}
    facts = {fact.id for fact in life.memory.facts()}
    eventually(lambda: sorted(in_milvus(month.milvus, ns=life.memory.bound_to.ns)) == sorted(active | facts))


@pytest.mark.req("B1", "C17", partly="a month through the public API")
def test_what_matters_is_found_after_the_month(life: Life) -> None:
    # Given what is precious, what was useful, and messages of four weeks, Then each is the first answer
    story = life.story
    wanted = {f"chat {number}": text for number, text in enumerate(story.chat)}
    wanted |= {"precious": story.precious, "praised": story.praised, "asked": story.asked[1]}
    assert {name: life.found(text)[0] for name, text in wanted.items()} == {name: life.ids[name] for name in wanted}
    # And of two remarks of little importance the one that was of no use is gone
    assert life.end["praised"].useful_count == 2
    assert (life.end["unpraised"].status, life.end["unpraised"].archive_reason) == ("archived", "expired")
    assert life.ids["unpraised"] not in life.found(story.unpraised)


@pytest.mark.req("B1")
def test_of_two_who_wrote_the_same_only_the_one_who_asked_for_it_remembers(month: Month) -> None:
    ann, double = month.lives["en"], month.double
    assert ann.end["asked"].text == double.end["asked"].text
    assert [who.end["asked"].status for who in (ann, double)] == ["active", "archived"]
    assert [who.end["praised"].status for who in (ann, double)] == ["active", "archived"]
    assert [len(who.memory.facts()) for who in (ann, double)] == [1, 0]


@pytest.mark.req("X4")
def test_what_was_recalled_five_times_has_become_long_term(life: Life) -> None:
    assert life.layers == ["short_term"] * 4 + ["long_term"]
    assert (life.end["asked"].access_count, life.end["asked"].useful_count) == (5, 0)


@pytest.mark.req("M53", partly="a memory that a night archived")
def test_what_was_forgotten_can_be_brought_back(life: Life) -> None:
    # Given a forgotten remark, When it is restored, Then it is found, and forgotten again by request
    text, key = life.story.unpraised, life.ids["unpraised"]
    assert life.memory.restore(key)
    assert life.found(text)[0] == key
    assert life.memory.flush()
    assert life.memory.archive(key, "it was a test")
    assert key not in life.found(text)


@pytest.mark.req("X10", "H16", partly="in the middle of a month, through the public API")
def test_a_restart_in_the_middle_of_the_month_changes_nothing(life: Life) -> None:
    # Given links, topics and facts of thirteen days / When another process goes on / Then it knows the same
    assert life.over_the_restart is not None
    before, after = life.over_the_restart
    assert before[0]
    assert before[1]
    assert after == before


@pytest.mark.req("H18", "G24", partly="through the public API")
def test_what_was_asked_for_is_linked_and_comes_to_mind_in_another_talk(life: Life) -> None:
    # Given the topic of five messages / When another conversation names it / Then it is on one's mind
    assert life.running
    assert all(item.topic and item.content for item in life.running)
    # And what was said in one talk is linked with what was said before it
    assert any(life.memory.links(life.ids[f"habit {number}"]) for number in range(5))


# -- conflicts --------------------------------------------------------------------------------------------------------


@pytest.mark.req("B3", "B40", partly="by rules, through the public API")
@pytest.mark.parametrize("what", ["home", "taste"])
def test_of_what_changed_the_new_is_shown_first_and_the_old_as_of_then(life: Life, what: str) -> None:
    question = getattr(life.story, what)[2]
    old, new = life.ids[f"{what} 0"], life.ids[f"{what} 1"]
    # When asked now, Then the new one comes first; an outdated fact is left out, an outdated message is below
    found = life.found(question)
    assert found[0] == new
    assert (old in found) == (what == "home")
    # And as of the days before, the old one, and the new one was not known
    assert life.found(question, as_of=START + timedelta(days=MOVE - 1))[0] == old
    assert new not in life.found(question, as_of=START + timedelta(days=MOVE - 1))
    assert (life.end[f"{what} 0"].superseded_by, life.end[f"{what} 0"].valid_to) == (new, START + timedelta(days=MOVE))


def test_as_of_an_instant_after_the_change_the_answer_is_that_of_now(life: Life) -> None:
    # Given a question that is closer to the words of the old memory than to those of the new one
    new, question = life.ids["home 1"], life.story.home[2]
    assert life.found(question)[0] == new
    # When asked as of the day after the change, Then the answer is the same
    assert life.found(question, as_of=START + timedelta(days=MOVE + 1))[0] == new


@pytest.mark.req("X17", "C9", partly="a decision of a rule")
def test_a_decision_is_listed_and_can_be_undone_and_done_again(life: Life) -> None:
    old, new, question = life.ids["taste 0"], life.ids["taste 1"], life.story.taste[2]
    # Given a decision that was taken weeks ago
    [decided] = [pair for pair in life.memory.conflicts(status=None) if pair.older_id == old]
    assert (decided.newer_id, decided.status, decided.resolution, decided.decided_by) == (
        new,
        "resolved",
        "keep_new",
        "rule",
    )
    assert decided.id not in {pair.id for pair in life.memory.conflicts()}
    # When it is taken back, Then both hold, and it is an open question
    assert life.memory.undo(decided.id).status == "pending"
    assert {old, new} <= set(life.found(question))
    assert (life.memory.get(old).valid_to, life.memory.get(old).superseded_by) == (None, None)
    assert decided.id in {pair.id for pair in life.memory.conflicts()}
    # When it is decided again, Then all is as before
    life.memory.resolve(decided.id, "keep_new")
    found = life.found(question)
    assert (found[0], old in found) == (new, False)
    assert life.memory.get(old).valid_to == START + timedelta(days=MOVE)


@pytest.mark.req("B3", partly="an unsure verdict")
def test_an_unsure_contradiction_waits_for_a_person_to_decide(life: Life) -> None:
    old, new, question = life.ids["employer 0"], life.ids["employer 1"], life.story.employer[2]
    # Given two employers and a rule that is not sure, Then after twelve nights it is still open and both are shown
    [pending] = life.memory.conflicts()
    assert (pending.older_id, pending.newer_id) == (old, new)
    assert {old, new} <= set(life.found(question))
    # When a user decides for the old one, Then the new one is shown no more, until it is undone
    life.memory.resolve(pending.id, "keep_old")
    assert life.memory.conflicts() == []
    found = life.found(question)
    assert (found[0], new in found) == (old, False)
    life.memory.undo(pending.id)
    assert [pair.id for pair in life.memory.conflicts()] == [pending.id]


@pytest.mark.req("C9", partly="precision of what acts by itself, on one month")
def test_nothing_else_was_taken_for_a_contradiction(life: Life) -> None:
    pairs = {(pair.older_id, pair.newer_id) for pair in life.memory.conflicts(status=None)}
    assert pairs == {(life.ids[f"{what} 0"], life.ids[f"{what} 1"]) for what in ("home", "taste", "employer")}


# -- what nights make -------------------------------------------------------------------------------------------------


@pytest.mark.req("B28", "B51", "X14", partly="through the public API")
def test_what_was_used_together_is_one_fact_that_outlives_its_sources(life: Life) -> None:
    # Given five messages that are alike and were asked for three times, Then there is one fact of them
    sources = sorted(life.ids[f"habit {number}"] for number in range(5))
    [fact] = life.memory.facts()
    assert sorted(fact.source_node_ids) == sources
    assert {*sources, fact.id} == set(life.found(life.story.habit[1], top_k=6))
    # When the messages are archived, Then the fact answers
    for key in sources:
        life.memory.archive(key)
    assert life.found(life.story.habit[1])[0] == fact.id
    for key in sources:
        life.memory.restore(key)
    assert life.memory.flush()


@pytest.mark.req("H31", "H33", partly="through the public API")
def test_a_word_reminds_of_topics_and_what_was_said_of_them(life: Life) -> None:
    assert all(topic and text for topic, text in life.reminded)
    assert life.reminded[0][1].removeprefix(f"{life.story.speaker}: ") in life.story.habit[0]


@pytest.mark.req("G16", "X38", partly="a second night")
def test_every_night_ends_well_and_a_second_one_changes_nothing(life: Life) -> None:
    assert [job for night in (*life.nights, *life.again) for job in night.failed] == []
    assert [job for night in life.again for job in night.jobs if job.changed] == []
    assert (len(life.nights), len(life.again)) == (DAYS, DAYS // 4)
    did = {job.name for night in life.nights for job in night.jobs if job.changed}
    assert did >= {"build", "crystallise", "forget", "lifecycle"}


# -- others -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("X16", partly="no memory of one in the answers to another")
def test_nothing_of_one_is_shown_to_another(month: Month) -> None:
    everybody = {**month.lives, "double": month.double}
    for name, life in everybody.items():
        life.found(life.story.home[2])
        assert life.seen
        assert {hit.node.scope for hit in life.seen} == {life.memory.bound_to}, name
        own = {*life.ids.values(), *(fact.id for fact in life.memory.facts())}
        assert {hit.node.id for hit in life.seen} <= own, name
        pairs = life.memory.conflicts(status=None)
        assert {key for pair in pairs for key in (pair.older_id, pair.newer_id)} <= own, name
        for fact in life.memory.facts():
            assert set(fact.source_node_ids) <= own, name
    ids = [set(life.ids.values()) for life in everybody.values()]
    assert sum(map(len, ids)) == len(set().union(*ids))
    assert int(month.double.memory.stats()["memories"]) == len(month.double.ids)
