"""The write gate: what it compares with, in which order, and whom it does not judge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from benchmarks import gate as benchmark
from benchmarks._data import Conversation, Question, Turn
from benchmarks._embedders import SyntheticEmbedder
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.config import Settings
from biem.domain.designs.aim import GateDecision, surprise
from biem.domain.fields import Fields
from biem.domain.node import Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.scope import Scope
from biem.engine.encode.gate import Gate, is_explicit
from biem.ports import Vector, Vectors
from biem.ports.aim import Anchored, Held, Said, Standing
from biem.ports.embedding import DirectionOdds
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry
from tests.support.concept_fakes import ScriptedReasoner
from tests.support.fakes import START, HeldClock, WordEmbedder

SCOPE = Scope(user="gate")
RULES, ANALYZER = contradiction.build(), RuleAnalyzer()
NEWS = "the old lighthouse keeper paints quiet harbours every windy morning before breakfast"
"""Eleven words of content, and no anchor."""


def node(number: int, **values: Any) -> Node:
    row: dict[str, Any] = {
        "id": str(number), "scope": SCOPE, "text": NEWS, "kind": "event", "status": "pending",
        "layer": "short_term", "at": START, "created_at": START, "write_seq": number,
    } | values  # fmt: skip
    return Node(**row)


def at(degrees: float) -> Vector:
    """A vector in the plane: the likeness of two is the cosine of their angle, and 0 from a right angle on."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], dtype=np.float32)


class Records:
    """The part of `AimRecords` that the gate needs."""

    def __init__(self) -> None:
        self.before: list[Said] = []
        self.known: dict[str, Standing] = {}
        self.refused: dict[str, GateDecision] = {}
        self.fields: dict[str, Fields] = {}
        self.held: list[Held] = []

    def said(self, scope: Scope, seqs: Sequence[int], most: int) -> list[Said]:
        return [one for one in self.before if any(seq - most <= one.write_seq < seq for seq in seqs)]

    def standing(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Standing]:
        return {key: self.known.get(key, Standing(formed=True, decided=False)) for key in ids}

    def decide(self, scope: Scope, ids: Sequence[str], refused: Mapping[str, GateDecision]) -> frozenset[str]:
        self.refused = dict(refused)
        return frozenset(ids) - refused.keys()

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:
        return [one for one in self.held if one.node.id in ids]

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:
        return {key: Anchored(self.fields.get(key, Fields()), None, 0) for key in ids}


class Nearby:
    """The port `Neighbours`: everything that is held."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        return [{one.node.id: 1.0 for one in self._records.held} for _ in vectors]


@pytest.fixture
def records() -> Records:
    return Records()


def gate(
    records: Records, *, reasoner: Reasoner | None = None, courtesy_odds: DirectionOdds | None = None, **policy: Any
) -> Gate:
    """With the design's own gate unless `policy` says otherwise."""
    return Gate(
        records=records,  # type: ignore[arg-type]
        neighbours=Nearby(records),
        rules=RULES,
        analyzer=ANALYZER,
        embedder=WordEmbedder(dim=2),
        clock=HeldClock(),
        policy=replace(AimPolicy(), **{"admission": "gate", **policy}),
        conflicts=ConflictPolicy(),
        telemetry=Telemetry(),
        reasoner=reasoner,
        courtesy_odds=courtesy_odds,
    )


@pytest.mark.req("C8", "X26", partly="an empty memory")
def test_an_empty_memory_takes_its_first_text(records: Records) -> None:
    assert gate(records).admit(SCOPE, [(node(1), at(0))], {}, {}) == {"1"}
    assert records.refused == {}


@pytest.mark.req("A25", "A26", partly="r compares with what was said, s with what is formed")
def test_relevance_looks_at_what_was_said_and_surprise_at_what_is_formed(records: Records) -> None:
    # Given two remarks just before, of which one was refused; and a formed memory far back
    records.before = [Said("1", 1, "c", True, at(0)), Said("2", 2, "c", False, at(60))]
    records.known = {"2": Standing(formed=False, decided=True), "9": Standing(formed=True, decided=True)}

    # When the next one is like the refused remark only
    strict = gate(records, write_threshold=1.0)
    strict.admit(SCOPE, [(node(3, conversation="c"), at(60))], {"3": [("2", 1.0), ("1", 0.5), ("9", 0.1)]}, {})

    # Then it is relevant, and as new as the nearest formed one lets it be
    decision = records.refused["3"]
    assert decision.relevance == pytest.approx(1.0)
    assert decision.surprise == pytest.approx(surprise(0.5, 11, 0.0))


def test_a_conversation_is_compared_with_itself_and_a_new_one_with_nothing(records: Records) -> None:
    # Given conversations of one, six and two texts, of which only the first is about the same as what comes
    records.before = [Said("1", 1, "a", True, at(0)), *(Said(str(n), n, "b", True, at(90)) for n in range(2, 8))]
    records.before += [Said(str(n), n, "c", True, at(90)) for n in range(8, 10)]

    # When each is gone on with, and a fourth begins
    batch = [(node(n, conversation=name), at(0)) for n, name in ((11, "a"), (12, "b"), (13, "c"), (14, "new"))]
    gate(records, write_threshold=1.0).admit(SCOPE, batch, {str(n): [("1", 0.9)] for n in range(11, 15)}, {})

    # Then it is irrelevant to the second, and of the third, which has hardly begun, one text is still to come
    assert [round(records.refused[str(n)].relevance, 3) for n in range(11, 15)] == [1.0, 0.0, 0.333, 1.0]


def test_a_batch_is_judged_in_the_order_it_was_written(records: Records) -> None:
    # Given three equal messages in one batch, handed over the wrong way round
    records.before = [Said("0", 0, "", True, at(0)), *(Said(str(n), n, "", True, at(80)) for n in (1, 2, 3))]
    near = {str(n): [(str(m), 1.0) for m in (1, 2, 3) if m != n] + [("0", 0.17)] for n in (1, 2, 3)}

    # When they are judged / Then the later ones repeat the first, once that is formed
    batch = [(node(n), at(80)) for n in (3, 2, 1)]
    assert gate(records, write_threshold=0.55, gate_beta=0.6).admit(SCOPE, batch, near, {}) == {"1"}
    assert records.refused["3"].surprise == pytest.approx(0.0)
    gate(records, write_threshold=1.0).admit(SCOPE, batch, near, {})
    assert records.refused["3"].surprise == pytest.approx(surprise(0.17, 11, 0.0))  # none of the batch is formed


def test_what_the_nearest_memories_do_not_pin_down_is_news(records: Records) -> None:
    # Given a formed memory with a figure / When the same is said with the same figure, and with another
    records.before = [Said("1", 1, "", True, at(0))]
    batch = [(node(2, text="The tank holds 48 litres"), at(0)), (node(3, text="The tank holds 52 litres"), at(0))]
    numbers = [ANALYZER.analyze(one.text).fields.numbers for one, _ in batch]
    records.fields = {"1": Fields(numbers=numbers[0])}
    formed = gate(records).admit(SCOPE, batch, {"2": [("1", 0.98)], "3": [("1", 0.98)]}, {})

    # Then the first is no news, and the second is
    assert numbers[0] != numbers[1]
    assert formed == {"3"}
    assert records.refused["2"].surprise < surprise(1.0, 5, 3.0)


@pytest.mark.req("A27")
@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("The deposit for the flat is 500 euros", "The deposit for the flat is 800 euros"),
        ("房租押金是五百元", "房租押金是八百元"),
    ],
)
def test_another_figure_for_the_same_thing_is_a_conflict_and_the_same_sentence_is_none(
    records: Records, known: str, text: str
) -> None:
    # Given something formed / When texts are judged: another figure, the same sentence, something else
    records.held = [Held(node(1, text=known), True, 0, at(0), None)]
    judge = gate(records).judge
    other = judge(SCOPE, text, ["something else entirely"]).conflict
    same = judge(SCOPE, known, [known]).conflict
    unrelated = judge(SCOPE, "The cat sleeps on the sofa", [known]).conflict

    # Then the other figure conflicts more than the rest, and repeating does not at all
    assert 0.0 <= unrelated < other <= 1.0
    assert same == 0.0


@pytest.mark.req("A26", partly="the formula; with a real model in the integration tests")
def test_a_repetition_surprises_less_than_news_and_an_empty_memory_is_all_surprise(records: Records) -> None:
    empty = gate(records).judge(SCOPE, "ok", ["some context"])
    records.held = [Held(node(1), True, 0, WordEmbedder(dim=2).embed([NEWS], "passage")[0], None)]
    again, news = (gate(records).judge(SCOPE, text, [NEWS]) for text in (NEWS, f"{NEWS} on Kelda in 1871"))
    assert empty.surprise == 1.0
    assert again.surprise == pytest.approx(0.0, abs=1e-6)
    assert news.surprise > 0.2
    assert again.relevance == pytest.approx(1.0)
    assert news.surprise != pytest.approx(1.0 - news.relevance)


@pytest.mark.req("X41", partly="c raises the gate")
def test_a_conflict_raises_the_value(records: Records) -> None:
    records.before = [Said("1", 1, "", True, at(0))]
    for conflict in (0.0, 0.9):
        gate(records, write_threshold=1.0).admit(SCOPE, [(node(2), at(70))], {"2": [("1", 0.3)]}, {"2": conflict})
        assert records.refused["2"].conflict == conflict
    doubtful = records.refused["2"].value
    gate(records, write_threshold=1.0).admit(SCOPE, [(node(2), at(70))], {"2": [("1", 0.3)]}, {})
    assert records.refused["2"].value < doubtful


@pytest.mark.req("C7", partly="explicit remembering bypasses the gate")
@pytest.mark.parametrize(
    ("values", "explicit"),
    [
        ({}, False),
        ({"kind": "task"}, True),
        ({"layer": "core"}, True),
        ({"importance": 4.0}, True),
        ({"text": "Please remember that Rui is allergic to hazelnuts."}, True),
        ({"text": "以后别用花生。"}, True),
        ({"text": "Do you remember that Rui is allergic?"}, False),
    ],
)
def test_what_is_remembered_on_purpose_is_not_judged(records: Records, values: dict[str, Any], explicit: bool) -> None:
    records.before = [Said("1", 1, "", True, at(0))]
    memory = node(2, **values)
    assert is_explicit(memory) is explicit
    formed = gate(records, write_threshold=1.0).admit(SCOPE, [(memory, at(0))], {"2": [("1", 1.0)]}, {})
    assert formed == ({"2"} if explicit else set())


def test_what_was_decided_or_foretold_is_not_judged_again(records: Records) -> None:
    records.before = [Said("1", 1, "", True, at(0))]
    records.known = {"2": Standing(True, True), "3": Standing(False, True), "4": Standing(True, False, foretold=True)}
    gate(records, write_threshold=1.0).admit(SCOPE, [(node(n), at(0)) for n in (2, 3, 4)], {}, {})
    assert records.refused == {}


def test_without_a_gate_everything_is_formed(records: Records) -> None:
    records.before = [Said("1", 1, "", True, at(0))]
    assert gate(records, admission="always").admit(SCOPE, [(node(2), at(0))], {"2": [("1", 1.0)]}, {}) == {"2"}


@pytest.mark.req("C7", partly="a rule in the gate's place")
def test_a_classifier_forms_what_tells_something_and_records_its_score(records: Records) -> None:
    # Given a message that tells much, one that asks, one that is hardly a word, and a fact of one word
    texts = {"1": NEWS, "2": "Where did the lighthouse keeper paint the harbours?", "3": "ok", "4": "ok"}
    batch = [(node(int(key), text=text), at(0)) for key, text in texts.items()]
    batch[3] = (replace(batch[3][0], kind="knowledge"), at(0))

    # When the rule decides / Then it forms the first, and what is remembered on purpose in any case
    assert gate(records, admission="classifier").admit(SCOPE, batch, {}, {}) == {"1", "4"}
    assert set(records.refused) == {"2", "3"}
    assert {(one.form, one.threshold) for one in records.refused.values()} == {("classifier", 0.5)}
    assert all(0.0 <= one.value < 0.5 for one in records.refused.values())
    assert gate(records, admission="classifier").judge(SCOPE, NEWS, ["ok"]).formed


class Worth(ScriptedReasoner):
    """A model that finds one word worth remembering, or says nothing."""

    def __init__(self, word: str | None) -> None:
        super().__init__()
        self.word = word

    def is_worth(self, scope: Scope, text: str) -> bool | None:
        self.calls.append("worth")
        return None if self.word is None else self.word in text


@pytest.mark.req("C7", partly="a model in the gate's place")
def test_a_model_decides_where_it_is_asked_to_and_the_gate_where_it_says_nothing(records: Records) -> None:
    # Given two messages, of which the model finds one of worth
    batch = [(node(2, text=NEWS), at(0)), (node(3, text="ok"), at(0)), (node(4, kind="task"), at(0))]
    model = Worth("ok")
    judging = gate(records, reasoner=model, admission="llm")

    # When it decides / Then it does so alone, and is not asked about what is remembered on purpose
    assert judging.admit(SCOPE, batch, {}, {}) == {"3", "4"}
    assert (records.refused["2"].form, records.refused["2"].value) == ("llm", 0.0)
    assert model.calls == ["worth"] * 2
    # And a caller that waits is asked for by the model's quick uses
    assert judging.judge(SCOPE, "ok then", []).formed
    assert model.for_replies == 1

    # When it says nothing, or there is none / Then it is as with the gate
    records.refused.clear()
    by_gate = gate(records).admit(SCOPE, batch, {}, {})
    assert by_gate == gate(records, reasoner=Worth(None), admission="llm").admit(SCOPE, batch, {}, {})
    assert by_gate == gate(records, admission="llm").admit(SCOPE, batch, {}, {})


@pytest.mark.req("C8", "X26", partly="the raw gate as the design has it")
def test_the_raw_gate_with_a_low_threshold_is_all_open(records: Records) -> None:
    records.before = [Said("1", 1, "", True, at(0))]
    opened = gate(records, gate_form="raw", write_threshold=0.5)
    assert opened.admit(SCOPE, [(node(2), at(0))], {"2": [("1", 1.0)]}, {}) == {"2"}
    closed = gate(records, gate_form="raw", write_threshold=0.75)
    assert closed.admit(SCOPE, [(node(2), at(90))], {"2": [("1", 0.0)]}, {"2": 1.0}) == set()


@pytest.mark.req("X26", partly="what the benchmark counts")
def test_the_benchmark_judges_a_conversation_as_the_worker_does() -> None:
    # Given a conversation in which a question needs one turn
    said = (
        "The ferry to Kelda leaves at 9:30 from pier 4",
        "ok",
        "The ferry to Kelda leaves at 9:30 from pier 4",
        "ok",
    )
    turns = tuple(Turn(str(n), "s", "Ada", text, START) for n, text in enumerate(said))
    asked = Question("q", "When does the ferry leave?", "", (frozenset({"0"}),), frozenset({"s"}), None)

    # When the gate judges it / Then the first turn is formed, no repetition is, and the evidence differs
    judged, _ = benchmark.judge(
        Conversation("c", "en", turns, (asked,)), SyntheticEmbedder(), ANALYZER, RULES, Settings()
    )
    assert [one.decision.formed for one in judged] == [True, False, False, False]
    assert [one.evidence for one in judged] == [True, False, False, False]
    row = benchmark.row("c", judged, 0.0)
    assert (row["accepted"], row["evidence"], row["other"], row["auc"]) == (0.25, 1.0, 0.0, 1.0)


def test_auc_counts_equal_values_half_and_says_nothing_without_pairs() -> None:
    assert benchmark.auc([1.0, 0.5], [0.5, 0.0]) == 0.875
    assert benchmark.auc([], [1.0]) is None


# -- statements are formed, courtesies are not ------------------------------------------------------------------------

STATEMENTS = [
    "I work as a data analyst at Otto.",
    "I moved to Hamburg in May.",
    "I have a cat named Miso",
    "I'm allergic to peanuts, it's serious",
    "I'm vegan",
    "I'd love to see the northern lights one day",
    "The workshop is on the third floor",
    "我对花生过敏，很严重",
    "我搬到汉堡了",
    "我吃素",
    "我想明年去看极光",
    "我表妹在银行上班",
]
COURTESIES = [
    "Thanks, I'll keep that in mind.",
    "Noted.",
    "Got it! I'll remember that.",
    "That sounds great, I'm so happy for you!",
    "Good to know, thanks for sharing!",
    "收到，谢谢告诉我。",
    "好的，我会记住的。",
    "太好了，真为你高兴！",
]


def spoken(text: str, source: str = "user") -> Node:
    return replace(node(2), text=text, source=source)


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_a_person_states_is_formed_however_little_the_gate_thinks_of_it(records: Records, text: str) -> None:
    # Given talk that the text has nothing to do with, so that the gate alone refuses it
    records.before = [Said(str(n), n, "c", True, at(90)) for n in (-3, -2, -1, 0, 1)]
    near = {"2": [("1", 0.6)]}
    records.known = {"1": Standing(formed=True, decided=True)}

    # When the default rule, and the same for the assistant, judges it
    by_rule = gate(records, admission="statements").admit(SCOPE, [(spoken(text), at(0))], near, {})

    # Then it is formed
    assert by_rule == {"2"}


@pytest.mark.parametrize("text", COURTESIES)
@pytest.mark.parametrize("source", ["user", "assistant"])
def test_courtesies_and_acknowledgements_are_refused_from_every_speaker(
    records: Records, text: str, source: str
) -> None:
    # Given an empty memory, where the gate alone takes everything / Then a courtesy is refused, and recorded so
    batch = [(spoken(text, source), at(0))]
    assert gate(records).admit(SCOPE, batch, {}, {}) == {"2"}
    assert gate(records, admission="statements").admit(SCOPE, batch, {}, {}) == set()
    assert records.refused["2"].value == 0.0


def test_a_statement_that_repeats_what_is_known_is_left_to_the_gate(records: Records) -> None:
    # Given a statement that was formed, in talk that has nothing to do with it
    records.before = [Said(str(n), n, "c", True, at(90)) for n in (-3, -2, -1, 0, 1)]
    records.known = {"1": Standing(formed=True, decided=True)}
    batch = [(spoken("I moved to Hamburg in May."), at(0))]
    records.fields["1"] = ANALYZER.analyze("I moved to Hamburg in May.").fields

    # When it is said again, or with another place, or against it
    again = gate(records, admission="statements").admit(SCOPE, batch, {"2": [("1", 1.0)]}, {})
    records.fields["1"] = ANALYZER.analyze("I moved to Kiel in May.").fields
    elsewhere = gate(records, admission="statements").admit(SCOPE, batch, {"2": [("1", 0.99)]}, {})

    # Then only the repetition is refused
    assert again == set()
    assert elsewhere == {"2"}


def like_courtesies(vectors: Vectors) -> Vector:
    """Log-odds that grow with the second component."""
    return np.asarray(vectors[:, 1] - 0.5, dtype=np.float32)


@pytest.mark.parametrize(
    ("text", "degrees", "conflicts", "formed"),
    [
        ("Ta ever so kindly!", 90, 0.0, False),
        ("那可就放心多啦", 90, 0.0, False),
        ("Ta ever so kindly!", 0, 0.0, True),
        ("Ta ever so kindly!", 90, 0.9, True),
        ("Ta ever so kindly, 14 eggs!", 90, 0.0, True),
        ("那可就放心多啦，3月5号见", 90, 0.0, True),
        ("They took it!", 90, 0.0, True),
        ("他点头了！", 90, 0.0, True),
        (NEWS, 90, 0.0, True),
    ],
)
def test_a_short_message_that_lies_where_courtesies_do_is_refused(
    records: Records, text: str, degrees: float, conflicts: float, formed: bool
) -> None:
    # Given a message / When its vector is that of a courtesy, it is short, has no number and contradicts nothing
    # Then it is refused, else it is formed as a statement
    judge = gate(records, courtesy_odds=like_courtesies, admission="statements")
    admitted = judge.admit(SCOPE, [(node(1, text=text, source="user"), at(degrees))], {}, {"1": conflicts})
    assert (admitted == {"1"}) is formed
