"""Follow-up questions from prepared candidates, on real servers: never older than the records, never another user's."""

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import biem
from biem import BIEMContextPlugin
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.orbit import OrbitPolicy
from biem.telemetry import Span
from tests.support.fakes import START, WordEmbedder, eventually
from tests.support.servers import Configure
from tests.support.workloads import ROOT

READY = OrbitPolicy(min_confidence=0.0, least_talk=0.0)
"""All that is prepared answers: correctness must not rest on caution."""
TOWNS = ["Lisbon", "Oslo", "Kyoto", "Quito"]
ELSEWHERE = """
import sys
import biem
from biem.config import load_settings
from tests.support.fakes import WordEmbedder
settings = load_settings().model_copy(update={"queue": "none", "close_timeout_s": 0.0})
with biem.connect(settings, scope=biem.Scope(user=sys.argv[1]), embedder=WordEmbedder()) as memory:
    memory.erase(sys.argv[2])
    print(memory.remember("The Lisbon tram 29 goes to the castle", speaker="Ann", conversation="Lisbon"))
"""


class Session:
    """A memory of four journeys, asked in one session; waits until what is near was taken prepared."""

    def __init__(self, memory: biem.Memory, name: str = "s") -> None:
        self.memory, self.name = memory, name
        self.spans: list[Span] = []
        memory.telemetry.attach(self.spans.append)
        self.ids: dict[str, str] = {}
        for place, town in enumerate(TOWNS):
            texts = [f"The {town} tram {n} costs {n} coins" for n in range(15)]
            items = [
                {"text": text, "speaker": "Ann", "conversation": town, "at": START + timedelta(days=place, minutes=n)}
                for n, text in enumerate(texts)
            ]
            self.ids |= dict(zip(texts, memory.remember_many(items), strict=True))
        assert memory.flush()

    def ask(self, query: str, **more: Any) -> biem.Hits:
        hits = self.memory.recall(query, session=self.name, **more)
        if hits.way == "search" and hits:
            self.settle()
        return hits

    def settle(self) -> None:
        """What the last search was given is prepared."""
        eventually(lambda: self.count("biem.recall.gather") >= self.searches())

    def count(self, name: str) -> int:
        return sum(span.name == name for span in self.spans)

    def searches(self) -> int:
        return sum(span.name == "biem.recall" and span.attributes.get("way") == "search" for span in self.spans)


@pytest.fixture
def ready(settings: Configure, embedder: WordEmbedder) -> Iterator[Session]:
    """A session in which everything prepared is good enough."""
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(orbit=READY), scope=scope, embedder=embedder) as memory:
        yield Session(memory)


def texts(hits: biem.Hits) -> list[str]:
    return [hit.node.text for hit in hits]


def test_a_follow_up_needs_no_search_and_says_so(ready: Session) -> None:
    # Given a question that was searched for
    first = ready.ask("What costs the Lisbon tram 3?")
    assert first.way == "search"
    assert first[0].why["way"] == "search"
    before = ready.count("biem.recall.search")

    # When the same session asks on
    second = ready.ask("And the Lisbon tram 7?")

    # Then the answer is as good, came without a search, and says so
    assert second[0].node.text == "The Lisbon tram 7 costs 7 coins"
    assert (second.way, second[0].why["way"]) == ("orbit", "orbit")
    assert ready.count("biem.recall.search") == before
    assert second.confidence > 0.5
    assert second.grounds["talk"] > 0.5
    # And so does the context of a plugin for the same conversation, but not another session or none
    assert ready.memory.context("Lisbon tram 9", session="s").hits[0].why["way"] == "orbit"
    assert ready.memory.recall("Lisbon tram 9", session="another").way == "search"
    assert ready.memory.recall("Lisbon tram 9").way == "search"


def test_another_matter_is_searched_for(settings: Configure, embedder: WordEmbedder) -> None:
    # Given the default policy, but that small memories are no exception, and a question about Lisbon
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(orbit=OrbitPolicy(whole=0)), scope=scope, embedder=embedder) as memory:
        session = Session(memory)
        session.ask("What costs the Lisbon tram 3?")

        # When the next one is about Quito / Then what is prepared does not answer it
        hits = session.ask("What costs the Quito tram 14?")
        assert hits.way == "search"
        assert hits[0].node.text == "The Quito tram 14 costs 14 coins"


def test_a_small_memory_is_prefetched_as_a_whole_for_every_question_of_a_session(
    settings: Configure, embedder: WordEmbedder
) -> None:
    # Given the default policy and a memory of sixty, of which Lisbon was asked for
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(), scope=scope, embedder=embedder) as memory:
        session = Session(memory)
        session.ask("What costs the Lisbon tram 3?")

        # When the next one is about Quito / Then it is answered without a search
        asked = "What costs the Quito tram 14?"
        hits = session.ask(asked)
        assert hits.way == "orbit"
        assert hits[0].node.text == "The Quito tram 14 costs 14 coins"

        # And what is archived meanwhile is not told
        key = session.ids["The Quito tram 14 costs 14 coins"]
        memory.archive(key)
        assert key not in [hit.node.id for hit in session.ask(asked)]


@pytest.mark.req("X47", partly="what is at hand for a follow-up")
def test_what_was_erased_archived_or_replaced_between_two_questions_is_not_shown(ready: Session) -> None:
    for change in (
        lambda key: ready.memory.erase(key),
        lambda key: ready.memory.archive(key),
    ):
        # Given a question that has tram 5 prepared
        ready.name = uuid.uuid4().hex
        assert "The Lisbon tram 5 costs 5 coins" in texts(ready.ask("What costs the Lisbon tram 5?"))

        # When it is gone before the next question / Then that does not hear of it
        change(ready.ids["The Lisbon tram 5 costs 5 coins"])
        assert "The Lisbon tram 5 costs 5 coins" not in texts(ready.ask("The Lisbon tram 5, again?"))
        ready.ids["The Lisbon tram 5 costs 5 coins"] = ready.memory.remember(
            "The Lisbon tram 5 costs 5 coins", speaker="Ann", conversation="Lisbon", wait=True
        )


def test_a_fact_replaced_by_a_decision_between_two_questions_is_shown_as_it_is_now(ready: Session) -> None:
    # Given two facts in conflict, prepared
    memory = ready.memory
    old = memory.remember("The Lisbon tram office opens at 8:00", wait=True)
    new = memory.remember("The Lisbon tram office opens at 10:00", wait=True)
    (found,) = memory.conflicts(status=None)
    assert {found.older_id, found.newer_id} == {old, new}
    query = "When does the Lisbon tram office open?"
    ready.ask(query)

    # When the newer one is decided for / Then only that is shown
    if found.status == "pending":
        memory.resolve(found.id, "keep_new")
    told = [hit.node.id for hit in ready.ask(query)]
    assert new in told
    assert old not in told


def test_what_was_written_between_two_questions_is_found(ready: Session) -> None:
    # Given something prepared / When a user says something new
    ready.ask("What costs the Lisbon tram 3?")
    new = ready.memory.remember("The Lisbon tram 77 goes to the zoo", speaker="Ann", conversation="Lisbon")

    # Then the follow-up finds it, before and after it is indexed
    hits = ready.ask("Where does the Lisbon tram 77 go?")
    assert new in [hit.node.id for hit in hits]
    assert hits.way == "orbit"
    assert ready.memory.flush()
    assert ready.ask("Where does the Lisbon tram 77 go?")[0].node.id == new


@pytest.mark.long
def test_after_too_much_news_the_next_question_is_searched_for(ready: Session) -> None:
    ready.ask("What costs the Lisbon tram 3?")
    ready.memory.remember_many([{"text": f"Note {n} of the office"} for n in range(65)])
    assert ready.ask("And the Lisbon tram 4?").way == "search"
    assert ready.ask("And the Lisbon tram 5?").way == "orbit"


def test_conditions_originals_and_the_past_are_searched_for(ready: Session) -> None:
    ready.ask("What costs the Lisbon tram 3?")
    options: list[dict[str, Any]] = [
        {"speakers": ["Ann"]},
        {"until": START + timedelta(days=1)},
        {"kinds": ["event"]},
        {"conversations": ["Lisbon"]},
        {"as_of": ready.memory.now()},
        {"mode": "strict"},
    ]
    for more in options:
        assert ready.memory.recall("And the Lisbon tram 4?", session="s", **more).way == "search", more
    assert ready.memory.recall("The exact words about tram 4?", session="s").way == "search"
    assert ready.memory.recall("And the Lisbon tram 4?", session="s", top_k=100).way == "search"


def test_a_session_of_the_same_name_in_another_scope_has_nothing_prefetched(ready: Session) -> None:
    # Given a session with something prepared / When another user's agent uses the same name
    ready.ask("What costs the Lisbon tram 3?")
    stranger = ready.memory.scope(user=uuid.uuid4().hex)

    # Then nothing is known there; and a project of ours starts with its own search
    assert stranger.recall("What costs the Lisbon tram 3?", session="s") == []
    assert ready.memory.scope(project="p").recall("What costs the Lisbon tram 3?", session="s").way == "search"


@pytest.mark.long
@pytest.mark.req("X47", partly="what is at hand for a follow-up, changed by another process")
def test_another_process_erases_and_writes_between_two_questions(ready: Session, environment: dict[str, str]) -> None:
    # Given something prepared in this process
    gone = ready.ids["The Lisbon tram 5 costs 5 coins"]
    assert gone in [hit.node.id for hit in ready.ask("What costs the Lisbon tram 5?")]

    # When another process erases it and writes something else
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, ready.memory.bound_to.user, gone],
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    written = done.stdout.split()[-1]

    # Then the follow-ups know both
    assert gone not in [hit.node.id for hit in ready.ask("What costs the Lisbon tram 5?")]
    assert ready.ask("Does the Lisbon tram 29 go to the castle?")[0].node.id == written


def test_a_whole_scope_erased_between_two_questions_leaves_nothing(ready: Session) -> None:
    ready.ask("What costs the Lisbon tram 3?")
    assert ready.memory.erase(ready.memory.bound_to).complete
    assert ready.ask("And the Lisbon tram 4?") == []


@pytest.mark.long
def test_many_threads_ask_write_and_erase_in_one_session(ready: Session) -> None:
    # Given a session that everyone uses / When some ask while others erase
    ready.ask("What costs the Lisbon tram 3?")
    doomed = [key for text, key in ready.ids.items() if text.startswith("The Lisbon")][:8]
    erased: set[str] = set()
    lock = threading.Lock()

    def erase(key: str) -> None:
        ready.memory.erase(key)
        with lock:
            erased.add(key)

    def ask(number: int) -> None:
        with lock:
            known = set(erased)
        hits = ready.memory.recall(f"What costs the Lisbon tram {number % 15}?", session="s")
        assert not known & {hit.node.id for hit in hits}
        assert len({hit.node.id for hit in hits}) == len(hits)

    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(erase, key) for key in doomed] + [pool.submit(ask, number) for number in range(40)]
        for one in work:
            one.result()


# -- silence ----------------------------------------------------------------------------------------------------------


def test_nothing_is_shown_of_what_no_one_has_heard_of_but_a_recall_still_shows_its_best(ready: Session) -> None:
    # Given memories of journeys / When a stranger's matter comes up
    plugin = BIEMContextPlugin(ready.memory, conversation="chat")
    question = "Why did Professor Fitzgerald sell his violin?"

    # Then the context is empty and the plugin adds nothing to any form of prompt
    assert (ready.memory.context(question).text, plugin.prepare_context(question)) == ("", "")
    assert plugin.system_prompt("Be kind.", question) == "Be kind."
    assert plugin.messages("Be kind.", [], question)[0]["content"] == "Be kind."
    with plugin.inject(holder := {"system_prompt": "Be kind."}, question):
        assert holder == {"system_prompt": "Be kind."}
    assert plugin.injected == ()

    # And a recall says how unsure it is
    hits = ready.memory.recall(question)
    assert hits
    assert hits.confidence < ContextPolicy().min_confidence
    assert ready.memory.recall(question, min_confidence=0.5) == []
    assert ready.memory.recall(question, min_confidence=0.5).confidence == pytest.approx(hits.confidence)
    # And what is known is shown, of a name, too
    assert "tram 3 costs 3" in plugin.prepare_context("What costs the Lisbon tram 3?")
    assert "tram 3 costs 3" in plugin.prepare_context("What did Ann say of the Kyoto tram 3?")


def test_a_session_is_a_name_and_confidence_a_share(memory: biem.Memory) -> None:
    for wrong in ({"session": 5}, {"session": "a\0b"}, {"min_confidence": 1.5}, {"min_confidence": float("nan")}):
        with pytest.raises(biem.InvalidInput):
            memory.recall("anything", **wrong)


def test_silence_can_be_switched_off(settings: Configure, embedder: WordEmbedder) -> None:
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(context=ContextPolicy(min_confidence=0.0)), scope=scope, embedder=embedder) as memory:
        memory.remember("The Lisbon tram costs three coins", wait=True)
        assert "Lisbon" in memory.context("Why did Professor Fitzgerald sell his violin?").text


def test_silence_speaks_chinese(memory: biem.Memory) -> None:
    # Given memories of one family / When another person is asked about
    memory.remember_many(
        [{"text": f"妈妈每个星期{day}去公园跳舞", "speaker": "小红", "conversation": "c"} for day in "一二三四五"],
        wait=True,
    )

    # Then nothing of the stranger is shown, and what is known is
    assert memory.context("张伟的钢琴老师是谁？").text == ""
    assert "公园" in memory.context("妈妈星期三去公园做什么？").text


def test_a_courtesy_brings_nothing_up_and_an_order_is_formed_however_little_it_tells(memory: biem.Memory) -> None:
    # Given a conversation with thanks in it, and an order that says little that is new
    said = ["Rui bakes a nut cake with nuts", "Rui bakes a nut cake with nuts again", "thanks, great", "好的，谢谢"]
    memory.remember_many([{"text": text, "speaker": "Marta", "conversation": "c"} for text in said], wait=True)
    memory.remember("Never bake Rui a nut cake", speaker="Marta", conversation="c", wait=True)

    # Then the next thanks call up nothing, though a search finds the earlier ones
    assert [memory.context(text).text for text in ("thanks!", "Great, thank you", "谢谢", "👍")] == [""] * 4
    assert memory.recall("thanks!")[0].node.text == "thanks, great"
    assert not {"thanks, great", "好的，谢谢"} & {
        hit.node.text for hit in memory.recall("What does Rui bake?", top_k=9)
    }
    # And a question after them is no courtesy, and what was ordered has energy
    assert "Never bake" in memory.context("Thanks! What must I never bake for Rui?").text
    orders = [hit.node for hit in memory.recall("Never bake Rui a nut cake") if hit.node.text.startswith("Never")]
    assert orders
    assert orders[0].energy > 0
