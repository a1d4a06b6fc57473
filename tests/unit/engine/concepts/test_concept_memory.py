"""The hub of the concept memory and its parts: what goes through it, what each operation may write, what can be set."""

import ast
import json
import random
import threading
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.reasoner import parsing
from biem.adapters.reasoner.parsing import ModelReply
from biem.config import load_settings
from biem.domain.concept import Item, Message, Snippet
from biem.domain.link import NewLink, grown, semantic_links
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.policies.graph import GraphPolicy
from biem.domain.scope import Scope
from biem.domain.text import one_line
from biem.engine.concepts.build import ConceptJobs
from biem.engine.concepts.recollect import Reminder
from biem.engine.graph.associations import Associations
from biem.engine.sleep.jobs import SleepReport
from biem.errors import BiemError, ConfigError
from biem.memory import Memory
from biem.ports.concepts import Concepts, Instants
from biem.ports.links import Links
from biem.system import System
from biem.telemetry import Telemetry
from tests.support.concept_fakes import ScriptedReasoner
from tests.support.fakes import START, HeldClock

ENGINE = Path(__file__).parents[4] / "biem" / "engine"
SCOPE = Scope()
WRITES = {"add", "used", "connect", "replace", "fade", "weaken", "remove_nodes", "vanish", "access"}
WORDS = st.text(st.characters(whitelist_categories=("Lu", "Ll", "Lo")), min_size=2, max_size=12).filter(
    lambda word: not parsing.is_placeholder_word(word) and one_line(word, 12) == word  # fillers are letters, too
)


class Noted:
    """The ports of the concept memory, of which every call is noted, with one conversation and two like items."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.details: dict[str, dict[str, object]] = {}
        talk = ("Grace trains for the marathon", "Grace runs the marathon in Lisbon")
        self._messages = [
            Message(f"id{i}", i, text, "Ann", "chat", "event", START, START) for i, text in enumerate(talk)
        ]
        self._answers: dict[str, Any] = {
            "collect": 0,
            "nearest": Snippet(0, 1, 2, "chat", True, START, START, START),
            "messages": self._messages,
            "find": [],
            "built": 0,
            "similar": [],
            "used": True,
            "pick": ["c"],
            "items": {"c": [Item("a", "c", "Grace runs", ("id0",)), Item("b", "c", "Grace runs", ("id1",))]},
            "replace": True,
            "fade": 1,
            "vanishing": ["c"],
            "vanish": 1,
            "weaken": type("Weakened", (), {"weakened": 1, "removed": 0})(),
            "due": [],
            "forget": 0,
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*args: object, **more: object) -> Any:
            self.calls.append(name)
            self.details[name] = more
            return self._answers.get(name, 1)

        return call

    @property
    def written(self) -> set[str]:
        return WRITES.intersection(self.calls)


def hub(noted: Noted, policy: ConceptPolicy | None = None) -> ConceptJobs:
    return ConceptJobs(
        concepts=cast(Concepts, noted),
        instants=cast(Instants, noted),
        links=cast(Links, noted),
        analyzer=RuleAnalyzer(),
        clock=HeldClock(),
        policy=policy or ConceptPolicy(snippets=1),
        graph=GraphPolicy(),
        random=random.Random(7),
        telemetry=Telemetry(),
    )


@pytest.mark.req("H6")
def test_building_consolidating_and_forgetting_write_different_things() -> None:
    # Given the three operations, each on stores that note what is asked of them
    written: dict[str, set[str]] = {}
    for name in ("build", "consolidate", "forget"):
        noted = Noted()
        changed = getattr(hub(noted), name)(SCOPE)

        # When each runs / Then it does something
        assert sum(changed.values()) > 0
        written[name] = noted.written

    # And each writes its own, and consolidating builds nothing
    assert written == {
        "build": {"add", "connect", "used"},
        "consolidate": {"replace"},
        "forget": {"fade", "weaken", "remove_nodes", "vanish"},
    }


@pytest.mark.req("H1", partly="three of the operations, each through a part; one object that does all there is not")
def test_each_operation_on_the_concept_memory_goes_through_one_part_of_the_hub() -> None:
    # Given a memory all of whose parts are stand-ins that note who is asked
    asked: list[str] = []

    class Part:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, method: str) -> Any:
            def call(*args: object, **more: object) -> SleepReport:
                asked.append(f"{self._name}.{method}")
                return SleepReport(SCOPE, START, ())

            return call

    class Hub:
        closed = threading.Event()
        views: ClassVar[set[object]] = set()

        def here(self) -> "Hub":
            return self

        def __getattr__(self, name: str) -> Any:
            return Part(name)

    memory = Memory(cast(System, Hub()), SCOPE)

    # When the public operations are called / Then each asks one part, and no one else
    memory.related("cats")
    memory.running("cats", conversation="chat")
    memory.sleep()
    assert asked == ["reminder.related", "activator.activate", "job_runner.sleep"]


@pytest.mark.req(
    "H7", partly="one a connection, as C24 decides, not one a process; after its end, not before its start"
)
@pytest.mark.req("C24", partly="one hub a connection, shared by all its scopes")
def test_all_scopes_share_one_hub_and_a_closed_one_says_so() -> None:
    """Two lookups give one object, as H7 asks; it is one a connection, not one of the interpreter, by C24."""
    # Given one connection, seen from two scopes
    parts = SimpleNamespace(closed=threading.Event(), views=set())
    parts.here = lambda: parts
    memory = Memory(cast(System, parts), SCOPE)
    other = memory.scope(user="somebody")

    # When both look up the hub / Then it is one; and once it is closed, both say what to do
    assert memory._system is other._system
    assert memory.bound_to != other.bound_to
    parts.closed.set()
    for closed in (memory, other):
        with pytest.raises(BiemError, match=r"biem\.connect"):
            closed.related("cats")


@pytest.mark.req("H5")
@pytest.mark.parametrize(
    "part",
    [
        "concepts/build",
        "concepts/topics",
        "concepts/recollect",
        "concepts/running",
        "concepts/instant_memory",
        "graph/associations",
        "graph/scope_graph",
    ],
)
def test_no_part_of_the_concept_memory_knows_the_database(part: str) -> None:
    # Given the source of a part / When its imports are read / Then it speaks to the database through ports only
    tree = ast.parse((ENGINE / f"{part}.py").read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert any(name.startswith("biem.ports") for name in imported)
    assert not [name for name in imported if name.startswith(("biem.adapters", "biem.bootstrap", "psycopg", "redis"))]


@pytest.mark.req("H34")
@pytest.mark.parametrize(("similarity", "strength"), [(0.69, None), (0.70, 7), (0.99, 9), (1.0, 10)])
def test_a_new_name_is_linked_from_seven_tenths_on_and_no_link_is_ever_lowered(
    similarity: float, strength: int | None
) -> None:
    # Given a name of such a likeness / When it is linked / Then with its tenths, or not at all
    links = semantic_links("new", [("old", similarity)], above=0.7, inclusive=True)
    assert [link.strength for link in links] == ([] if strength is None else [strength])

    # And what was stronger stays as strong
    for link in links:
        assert grown((1.0, 12), link) == (1.0, 12)
        assert grown((0.1, 1), link)[1] == strength
    assert grown((0.9, 9), NewLink("a", "b", "semantic", 0.7, 7)) == (0.9, 9)


@pytest.mark.req("H24")
@settings(max_examples=40)
@given(
    words=st.lists(WORDS, min_size=1, max_size=6, unique_by=str.casefold),
    fence=st.sampled_from(["{}", "```json\n{}\n```", "```\n{}\n```", "Sure! {} Anything else?"]),
    single=st.booleans(),
    left=st.floats(0.0, 1.0),
    cut=st.booleans(),
)
def test_a_fenced_cut_off_or_oddly_quoted_answer_gives_words_of_it_or_none(
    words: list[str], fence: str, single: bool, left: float, cut: bool
) -> None:
    # Given an answer in JSON that was damaged
    whole = json.dumps({"keywords": words}, ensure_ascii=False)
    said = fence.format(whole.replace('"', "'") if single else whole)
    said = said[: int(len(said) * left)] if cut else said

    # When it is read / Then all is there, or its first words, each of them whole
    found = parsing.keywords(ModelReply(said, cut), [], 10)
    assert found == words[: len(found)]
    closed = [word for word in words if (f"'{word}'" if single else f'"{word}"') in said]
    assert len(found) >= len(closed) - cut  # the last one said may be half of a word
    assert len(found) == len(words) or cut


def _numbers() -> list[str]:
    return [item.name for item in fields(ConceptPolicy) if item.type in ("int", "float", int, float)]


@pytest.mark.req("H50")
def test_every_constant_is_a_setting_and_nonsense_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Given every number of the concept memory, its switches and words, and how often its jobs are due
    numbers = _numbers()
    assert {"near_age_h", "similarity", "forget_idle_h", "max_memory_num", "cached_keywords", "topic_num"} <= {*numbers}
    named = {f"BIEM_CONCEPTS__{name}": "perhaps" for name in ("ENABLED", "INSTANT", "KEYWORDS", "SELECTION", "BANNED")}
    named |= {f"BIEM_SLEEP__{name}": "-1" for name in ("BUILD_S", "FORGET_S", "CONSOLIDATE_S")}

    # When one of them makes no sense / Then nothing starts, and the message names it
    for variable, value in named.items():
        with monkeypatch.context() as changed:
            changed.setenv(variable, value)
            with pytest.raises(ConfigError, match=f"(?i){variable.split('__')[1]}"):
                load_settings()
    tuning = tmp_path / "tuning.toml"
    monkeypatch.setenv("BIEM_TUNING", str(tuning))
    for name in numbers:
        tuning.write_text(f"concepts.{name} = -1\n", encoding="utf-8")
        with pytest.raises(ConfigError, match=name):
            load_settings()


@pytest.mark.req("H20")
@pytest.mark.parametrize(
    "text", ["李明下周三飞里斯本参加会议，顺便看海", "My sister Grace moved to Berlin, a big city"]
)
def test_in_fast_mode_keywords_are_cut_out_of_the_text_and_no_model_is_asked(text: str) -> None:
    # Given a model that would answer, and fast mode
    model = ScriptedReasoner(concepts=["x"], keywords=["x"])
    reminder = Reminder(
        concepts=cast(Concepts, Noted()),
        associations=cast(Associations, Noted()),
        analyzer=RuleAnalyzer(),
        clock=HeldClock(),
        policy=ConceptPolicy(keywords="fast"),
        random=random.Random(7),
        telemetry=Telemetry(),
        reasoner=model,
    )

    # When keywords are asked for / Then they are words of the text, longer than a character, and the model was not
    found = reminder.keywords(SCOPE, text)
    assert found
    assert all(len(word) > 1 and word.casefold() in text.casefold() for word in found)
    assert model.calls == []


@pytest.mark.req("C30", partly="the share; that it is drawn is tested with the links")
@pytest.mark.parametrize(("given", "share"), [({}, 1.0), ({"sample_ratio": 0.01}, 0.01)])
def test_forgetting_takes_what_is_due_or_a_share_of_it(given: dict[str, float], share: float) -> None:
    # Given the default, or the share of Hippocampus / When it forgets / Then that share of what is idle is weakened
    noted = Noted()
    policy = ConceptPolicy(**given)  # type: ignore[arg-type]
    hub(noted, policy).forget(SCOPE)
    assert noted.details["weaken"]["share"] == share
    assert ConceptPolicy().sample_ratio == 1.0
