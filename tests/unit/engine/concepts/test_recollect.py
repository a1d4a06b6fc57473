"""What keywords remind of: how far and how much, and that no model is asked when it is switched off."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, cast

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.concept import Concept, Item
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.running_memory import RunningMemory
from biem.domain.scope import Scope
from biem.engine.concepts.recollect import Reminder
from biem.engine.concepts.running import Activator
from biem.telemetry import Telemetry
from tests.support.fakes import HeldClock

SCOPE = Scope(user="ann")
ANALYZER = RuleAnalyzer()
TOPICS = ("Grace", "Rex", "Lisbon", "Piano", "Marathon")


class Nobody:
    """Any collaborator that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked")


class FiveConcepts:
    """Concepts with four items each, all reached from any keyword; keeps what spreading was asked for."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def find(self, scopes: object, ids: Sequence[str], at: object) -> list[Concept]:
        return [Concept(key, "ns", key, items=4) for key in TOPICS if key in ids] or [Concept(ids[0], "ns", "seed")]

    def items(self, scopes: object, ids: Sequence[str], *_: object) -> Mapping[str, list[Item]]:
        return {key: [Item(f"{key}{n}", key, f"{key} said {n}", (f"m{n}",)) for n in range(4)] for key in ids}

    def spread(self, scope: Scope, seeds: Mapping[str, float], **options: Any) -> dict[str, float]:
        self.asked.append(options)
        return {key: 2.0 - place / 10 for place, key in enumerate(TOPICS)}

    def refresh(self, scope: Scope) -> None:
        """Everything is known."""

    def access(self, *_: object, cooldown_s: float) -> None:
        """Counts nothing."""

    def load(self, scope: Scope, conversation: str) -> RunningMemory:
        return RunningMemory()

    def save(self, *_: object, most: int, ttl_s: float) -> bool:
        return True

    def sources(self, scopes: object, memories: Sequence[str]) -> dict[str, bool]:
        return dict.fromkeys(memories, True)


def activator(held: object, policy: ConceptPolicy) -> Activator:
    return Activator(
        running_memory=cast(Any, held), reminder=reminder(held, policy), analyzer=ANALYZER, policy=policy, reasoner=None
    )


def reminder(held: object, policy: ConceptPolicy) -> Reminder:
    here = cast(Any, held)
    return Reminder(
        concepts=here, associations=here, analyzer=ANALYZER, clock=HeldClock(), policy=policy, random=Random(1),
        telemetry=Telemetry(),
    )  # fmt: skip


@pytest.mark.req("H39")
def test_a_message_reminds_of_three_concepts_two_memories_each_three_links_away() -> None:
    # Given five concepts within reach, of four memories each / When a message calls up its keywords
    held = FiveConcepts()
    found = reminder(held, ConceptPolicy()).from_topics(SCOPE, ["Grace", "piano"])
    running = activator(held, ConceptPolicy()).activate(SCOPE, "chat", "Grace plays the piano")

    # Then activation went three links far, and the three concepts activated most have two memories each
    assert held.asked == 2 * [{"strategy": "subtractive", "max_depth": 3}]
    assert [one.topic for one in found] == [topic for topic in TOPICS[:3] for _ in range(2)]
    assert {item.topic for item in running} == set(TOPICS[:3])


@pytest.mark.req("H38")
def test_switched_off_neither_a_model_nor_a_store_is_asked() -> None:
    # Given the main switch is off, and collaborators that must not be asked
    off, nobody = ConceptPolicy(enabled=False), cast(Any, Nobody())
    asleep = Reminder(
        concepts=nobody, associations=nobody, analyzer=nobody, clock=nobody, policy=off, random=Random(1),
        telemetry=nobody, embedder=nobody, reasoner=nobody,
    )  # fmt: skip
    silent = Activator(running_memory=nobody, reminder=asleep, analyzer=nobody, policy=off, reasoner=nobody)

    # When they are asked / Then the answer is empty at once
    assert silent.activate(SCOPE, "chat", "Grace plays the piano", history="Ann: hello") == ()
    assert asleep.related(SCOPE, "Grace") == asleep.from_topics(SCOPE, ["Grace"]) == []
    assert asleep.drawn(SCOPE, "Grace", Random(1)) == []
