"""What is built of a snippet, what an instant memory is made of, and keywords of a text: with and without a model."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.concept import Message, Snippet
from biem.domain.node import Node
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.scope import Scope
from biem.engine.concepts.instant_memory import InstantMaker
from biem.engine.concepts.topics import SnippetText, Topics
from biem.errors import StoreUnavailable
from biem.ports.concepts import InstantMemory
from biem.ports.reasoner import Instant, Topic
from tests.support.concept_fakes import ScriptedReasoner
from tests.support.fakes import START, HeldClock

SCOPE = Scope()
ANALYZER = RuleAnalyzer()
TALK = (
    "I need to buy a birthday cake for Grace",
    "Which bakery makes the best birthday cake?",
    "Grace likes the bakery near the river, but it is closed",
    "OK",
)


def messages(*texts: str, kind: str = "event") -> list[Message]:
    return [
        Message(f"id{i}", i, text, "Ann", "chat", kind, START + timedelta(minutes=i), START)
        for i, text in enumerate(texts, start=1)
    ]


def passages(
    *texts: str, kind: str = "event", reasoner: ScriptedReasoner | None = None, **policy: object
) -> list[list[SnippetText]]:
    topics = Topics(
        analyzer=ANALYZER,
        policy=ConceptPolicy(**policy),  # type: ignore[arg-type]
        reasoner=reasoner,
    )
    talk = messages(*texts, kind=kind)
    snippet = Snippet(1, len(talk), len(talk), "chat", kind == "event", START, START, START)
    return topics.of(SCOPE, snippet, talk, {}, 0)


class TestTopics:
    @pytest.mark.req("C21", "H10", "H52", partly="extractive, every item with its source")
    def test_without_a_model_topics_are_counted_and_items_are_what_was_said(self) -> None:
        # Given a conversation / When its topics are looked for
        (found,) = passages(*TALK)

        # Then they are what it is about, and items are whole messages that say the topic, with their ids
        assert {"Grace", "bakery", "birthday cake"} <= {said.topic.name for said in found}
        lines = {f"id{i}": f"Ann: {text}" for i, text in enumerate(TALK, start=1)}
        for said in found:
            assert lines[said.sources[0]] == said.text
            assert said.topic.name.casefold() in said.text.casefold()
            assert set(said.mentions) <= lines.keys()

    def test_few_topics_and_few_items_of_each_are_kept(self) -> None:
        # Given limits / When topics are looked for / Then they hold
        (found,) = passages(*TALK, topics_per_snippet=2, items_per_topic=1)
        assert len(found) == len({said.topic.id for said in found}) == 2

    def test_words_said_together_once_are_no_topic(self) -> None:
        # Given words that stand together once / When topics are looked for / Then only each for itself
        (found,) = passages("Grace likes the payment service")
        assert "payment service" not in {said.topic.name for said in found}

    def test_each_fact_is_its_own_passage_and_costs_no_call(self) -> None:
        # Given facts and a model / When their topics are looked for / Then one by one, without it
        reasoner = ScriptedReasoner(topics=[Topic("a", "b")])
        found = passages(
            "Grace is allergic to peanuts", "The router is a Fritzbox", kind="knowledge", reasoner=reasoner
        )
        assert [{said.sources for said in passage} for passage in found] == [{("id1",)}, {("id2",)}]
        assert reasoner.calls == []

    @pytest.mark.req("H10", partly="banned topics, long and empty answers")
    def test_the_models_topics_are_taken_as_they_are_but_for_banned_and_empty_ones(self) -> None:
        # Given a model that names a banned topic, an empty one and one with a huge summary
        told = [Topic("cake", "x" * 900), Topic("Weather", "rain"), Topic("weathers", "rain"), Topic("...", "?")]
        reasoner = ScriptedReasoner(topics=[*told, Topic("empty", " \n ")])

        # When topics are looked for
        (found,) = passages(*TALK, reasoner=reasoner, banned=("weather",), item_chars=100)

        # Then the others are left, cut, and made of all messages
        assert [said.topic.name for said in found] == ["cake"]
        assert len(found[0].text) == 100
        assert found[0].sources == ("id1", "id2", "id3", "id4")

    def test_the_messages_closest_to_a_summary_are_those_that_mention_its_topic(self) -> None:
        # Given a summary / When its mentions are looked for / Then they are the messages that share its words
        reasoner = ScriptedReasoner(topics=[Topic("bakery", "Grace likes the bakery near the river")])
        (found,) = passages(*TALK, reasoner=reasoner)
        assert found[0].mentions == ("id3",)

    @pytest.mark.req("C21", partly="topics")
    @pytest.mark.parametrize(("answer", "topics"), [(None, True), ([], False)])
    def test_a_model_that_fails_is_replaced_and_one_that_finds_nothing_is_believed(
        self, answer: Sequence[Topic] | None, topics: bool
    ) -> None:
        # Given a model that fails, or finds nothing worth keeping / When asked / Then counted, or nothing
        (found,) = passages(*TALK, reasoner=ScriptedReasoner(topics=answer))
        assert bool(found) is topics

    def test_of_a_long_message_the_part_that_says_the_topic_is_kept(self) -> None:
        # Given a long message with its topic at the end / When it is kept / Then the end is
        (found,) = passages("Nothing of interest here. " * 40 + "The Fritzbox is in the cellar.", item_chars=80)
        assert {said.text for said in found if said.topic.name == "Fritzbox"} == {"Ann: The Fritzbox is in the cellar."}

    def test_a_name_keeps_its_capital_however_it_is_met_first(self) -> None:
        # Given a name that first stands in lower case / When topics are looked for / Then it is written as a name
        (found,) = passages("ask zalando.", "The offer of Zalando is good")
        assert "Zalando" in {said.topic.name for said in found}

    def test_spellings_of_a_name_are_one_concept(self) -> None:
        # Given spellings / When named / Then they are one
        topics = Topics(analyzer=ANALYZER, policy=ConceptPolicy())
        assert topics.named(SCOPE, "Machine  Learning").id == topics.named(SCOPE, "machine learning").id
        assert topics.named(SCOPE, "李明").id != topics.named(Scope(user="b"), "李明").id


class HeldInstants:
    """The part of the port `Instants` that making notes needs."""

    def __init__(self) -> None:
        self.kept: list[InstantMemory] = []
        self.failure: Exception | None = None

    def add(self, scope: Scope, note: InstantMemory) -> bool:
        return self.add_all(scope, [note]) > 0

    def add_all(self, scope: Scope, notes: Sequence[InstantMemory]) -> int:
        if self.failure is not None:
            raise self.failure
        self.kept += notes
        return len(notes)

    def recent(self, scope: Scope, conversation: str, limit: int, at: object) -> list[InstantMemory]:
        return self.kept[-limit:]

    def due(self, scope: Scope, before: object, limit: int) -> list[InstantMemory]:
        return []

    def done(self, scope: Scope, ids: Sequence[str], at: object) -> None:
        """Nothing is due."""

    def forget(self, scope: Scope, before: object, limit: int) -> int:
        return 0


def maker(instants: HeldInstants, reasoner: ScriptedReasoner | None = None, **policy: Any) -> InstantMaker:
    return InstantMaker(
        instants=instants,
        analyzer=ANALYZER,
        clock=HeldClock(),
        policy=ConceptPolicy(**policy),
        reasoner=reasoner,
    )


def node(text: str, *, kind: str = "event", conversation: str = "chat", importance: float = 3.0) -> Node:
    return Node(
        id="id1",
        scope=SCOPE,
        text=text,
        kind=kind,
        status="active",
        layer="short_term",
        speaker="Ann",
        conversation=conversation,
        importance=importance,
        at=START,
        created_at=START,
    )


class TestInstant:
    @pytest.mark.req("C21", "H45", partly="the rule without a model")
    @pytest.mark.parametrize(
        ("text", "importance", "worth"),
        [
            ("The meeting with Zalando is at 14:30", 3.0, True),
            ("林晓下周三飞里斯本，住 Hotel Avenida", 3.0, True),
            ("Hello Grace!", 3.0, False),
            ("What did Grace say about the trip to Lisbon?", 3.0, False),
            ("今天天气真好，我们出去走走", 3.0, False),
            ("never mind", 3.0, False),
            ("never mind", 4.0, True),
            ("", 3.0, False),
        ],
    )
    def test_a_message_that_pins_something_down_is_worth_a_note(
        self, text: str, importance: float, worth: bool
    ) -> None:
        # Given a message and no model / When it is judged / Then the rule decides
        assert maker(HeldInstants()).if_need_build(node(text, importance=importance)) is worth

    @pytest.mark.req("H45", "H46", partly="the model's answers; reading them is the adapter's")
    def test_the_model_judges_and_writes_and_the_rule_stands_in_where_it_fails(self) -> None:
        # Given a model / When it says yes and writes, says no, and fails in either
        kept = HeldInstants()
        written = Instant("Ann meets Zalando", ("Zalando", "meeting"))
        said = [
            maker(kept, ScriptedReasoner(worth=True, instant=written)).create_and_store_memory(node("see you")),
            maker(kept, ScriptedReasoner(worth=False)).create_and_store_memory(node("Zalando is at 14:30 today")),
            maker(kept, ScriptedReasoner(worth=True)).create_and_store_memory(node("Grace likes soup")),
            maker(kept, ScriptedReasoner()).create_and_store_memory(node("The meeting with Zalando is at 14:30")),
        ]

        # Then its words are kept where it had some, else the message's own
        assert said == [True, False, True, True]
        assert [(note.text, note.memory_id, note.conversation) for note in kept.kept] == [
            ("Ann meets Zalando", "id1", "chat"),
            ("Ann: Grace likes soup", "id1", "chat"),
            ("Ann: The meeting with Zalando is at 14:30", "id1", "chat"),
        ]
        assert kept.kept[0].keywords == ("Zalando", "meeting")
        assert "Zalando" in kept.kept[2].keywords

    @pytest.mark.req("H44", partly="failure does not affect the message")
    def test_an_outage_costs_the_note_and_nothing_else(self) -> None:
        # Given a store that is down / When a message is noted / Then nothing is raised
        kept = HeldInstants()
        kept.failure = StoreUnavailable("down")
        assert maker(kept).create_and_store_memory(node("The meeting with Zalando is at 14:30")) is False

    @pytest.mark.parametrize("switch", ["enabled", "instant"])
    def test_switched_off_or_for_what_is_no_message_no_one_is_asked(self, switch: str) -> None:
        # Given the switch, and what is no message of a conversation / When noted / Then no model is asked
        kept, reasoner = HeldInstants(), ScriptedReasoner(worth=True)
        assert not maker(kept, reasoner, **{switch: False}).create_and_store_memory(node("Zalando is at 14:30"))
        assert maker(kept, None, **{switch: False}).recent(SCOPE, "chat") == []
        assert not maker(kept, reasoner).create_and_store_memory(node("Zalando is at 14:30", kind="knowledge"))
        assert not maker(kept, reasoner).create_and_store_memory(node("Zalando is at 14:30", conversation=""))
        assert (reasoner.calls, kept.kept) == ([], [])
