"""Which pairs of memories are compared, what follows from a verdict, and what a language model's word is worth."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from biem.domain.conflict import Conflict, ConflictKind, Matter, Statement, Verdict
from biem.domain.node import Node, new_id
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.scope import Scope
from biem.engine.conflicts.detect import ConflictChecker, Fresh
from biem.engine.conflicts.resolve import Resolver, joined
from biem.engine.remember.writer import Writer
from biem.errors import AlreadyDecided, InvalidInput
from biem.ports import Records, Vectors
from biem.ports.conflicts import Claimed, ConflictFinding, Conflicts, Peer
from biem.ports.embedding import DirectionOdds, PairOdds, TextPair
from biem.ports.reasoner import Judgement, Reasoner
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock, WordEmbedder

SCOPE = Scope(user="u")
POLICY = ConflictPolicy()


class Rules:
    """The port `ContradictionRules`: texts that begin alike and end otherwise disagree, equal ones are duplicates."""

    def __init__(self, confidence: float = 0.9, kind: ConflictKind = "update", *, partial: bool = False) -> None:
        self.confidence = confidence
        self.kind = kind
        self.partial = partial
        self.subjects = False
        self.asked: list[tuple[Statement, Statement, float | None]] = []

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        self.asked.append((older, newer, similarity))
        if older.text == newer.text:
            return Verdict("duplicate", self.confidence, "same")
        if older.text.split()[0] == newer.text.split()[0]:
            subject = older.text if self.subjects else ""
            return Verdict(self.kind, self.confidence, "value", "home", self.partial, subject=subject, aligned=True)
        return None

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        if newer.text.endswith("?"):
            return None
        return Verdict("update", 1.0, "read together", subject="me", aligned="says" not in newer.text)

    def claims(self, statement: Statement) -> Sequence[str]:
        return statement.text.split(" and ") if " and " in statement.text else ()

    def rivals(self, older: Statement, newer: Statement) -> bool:
        return False

    def matter(self, text: str) -> Matter:
        return Matter()


class World:
    """The half of the port `Conflicts` that the checker uses, and the port `Neighbours`; all memories are peers."""

    def __init__(self) -> None:
        self.embedder = WordEmbedder()
        self.memories: dict[str, Peer] = {}
        self.findings: list[ConflictFinding] = []
        self.limits: list[int] = []
        self.windows: list[tuple[list[int], int]] = []

    def add(self, text: str, day: float = 0, **details: Any) -> str:
        at = START + timedelta(days=day)
        details = {
            "kind": "knowledge",
            "layer": "short_term",
            "importance": 3.0,
            "source": "",
            "speaker": "",
            "conversation": "",
            **details,
        }
        details = {"valid_from": at, "valid_to": None, **details}
        vector = self.embedder.embed([text], "passage")[0]
        peer = Peer(id=new_id(), text=text, at=at, write_seq=len(self.memories), vector=vector, **details)
        self.memories[peer.id] = peer
        return peer.id

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        self.limits.append(limit)
        return [dict.fromkeys(self.memories, 1.0) for _ in vectors]

    def peers(self, scope: Scope, ids: Sequence[str], seqs: Sequence[int], around: int, max_chars: int) -> list[Peer]:
        self.windows.append((list(seqs), around))
        return [
            replace(peer, text="", long=True) if len(peer.text) > max_chars else peer for peer in self.memories.values()
        ]

    def texts(self, scope: Scope, ids: Sequence[str]) -> dict[str, str]:
        return {key: self.memories[key].text for key in ids}

    def record(self, scope: Scope, findings: Sequence[ConflictFinding], at: datetime) -> list[Conflict]:
        self.findings += findings
        return []

    def check(
        self,
        *ids: str,
        rules: Rules | None = None,
        judged: bool = False,
        change_odds: DirectionOdds | None = None,
        pair_odds: PairOdds | None = None,
    ) -> list[ConflictFinding]:
        """What the checker finds about these."""
        checker = ConflictChecker(
            conflicts=cast(Conflicts, self),
            neighbours=self,
            embedder=self.embedder,
            rules=rules or Rules(),
            clock=HeldClock(),
            policy=POLICY,
            telemetry=Telemetry(),
            judged=judged,
            change_odds=change_odds,
            pair_odds=pair_odds,
        )
        checker.check(SCOPE, [Fresh(node(self.memories[key]), self.memories[key].vector) for key in ids])
        return self.findings


def node(peer: Peer) -> Node:
    return Node(
        id=peer.id,
        scope=SCOPE,
        text=peer.text,
        kind=peer.kind,
        status="pending",
        layer=peer.layer,
        at=peer.at,
        created_at=peer.at,
        write_seq=peer.write_seq,
    )


@pytest.fixture
def world() -> World:
    return World()


class Reader:
    """The port `PairOdds`: the same log-odds for all."""

    def __init__(self, odds: float) -> None:
        self.odds = odds
        self.asked: list[TextPair] = []

    def __call__(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.full(len(pairs), self.odds, np.float32)


SURE, UNSURE, NO = 12.0, 4.0, -12.0
"""Log-odds that act, nearly act, and are far from it."""


class TestReadTogether:
    """What no rule decides is read together by a model."""

    @pytest.mark.parametrize(("odds", "found"), [(SURE, [(True, "read together")]), (UNSURE, []), (NO, [])])
    def test_only_a_sure_reading_counts(self, world: World, odds: float, found: list[tuple[bool, str]]) -> None:
        world.add("wear the splint")
        fresh = world.add("off the splint", 1)

        findings = world.check(fresh, pair_odds=Reader(odds))

        assert [(finding.acts, finding.rule) for finding in findings] == found

    def test_only_what_no_rule_decides_is_read(self, world: World) -> None:
        # Given a pair that a rule acts upon, one that no rule knows, and a question
        world.add("home Rome here"), world.add("off here here")
        decided, asks = world.add("home Oslo here", 1), world.add("where is here ?", 2)

        reader = Reader(NO)
        world.check(decided, asks, pair_odds=reader)

        assert TextPair("off here here", "home Oslo here") in reader.asked
        assert all((pair.first, pair.second) != ("home Rome here", "home Oslo here") for pair in reader.asked)
        assert all(not pair.second.endswith("?") for pair in reader.asked)

    def test_a_weak_verdict_of_a_rule_gives_way_to_a_sure_reading_only(self, world: World) -> None:
        world.add("home Rome")
        fresh = world.add("home Oslo", 1)

        [unsure] = world.check(fresh, rules=Rules(0.6), pair_odds=Reader(UNSURE))
        world.findings.clear()
        [sure] = world.check(fresh, rules=Rules(0.6), pair_odds=Reader(SURE))

        assert (unsure.rule, unsure.acts) == ("value", False)
        assert (sure.rule, sure.acts) == ("read together", True)

    def test_a_message_with_a_claim_that_stands_is_recorded_for_the_claim_that_ends(self, world: World) -> None:
        world.add("wear the splint and eat no nuts")
        fresh = world.add("off the splint", 1)

        class Ends(Reader):
            def __call__(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
                return np.array([SURE if "splint" in pair.first else NO for pair in pairs], np.float32)

        [finding] = world.check(fresh, pair_odds=Ends(SURE))

        assert (finding.acts, finding.claim) == (False, "wear the splint")

    def test_reported_speech_of_another_speaker_and_what_is_protected_never_acts(self, world: World) -> None:
        world.add("wear the splint", speaker="user")
        world.add("needs the splint", layer="core", speaker="user")
        said = world.add("Ann says the splint broke", 1, speaker="user")
        other = world.add("off the splint", 2, speaker="jana")

        findings = world.check(said, other, pair_odds=Reader(SURE))

        assert findings
        assert not any(finding.acts for finding in findings)

    def test_only_some_neighbours_are_read_the_most_similar_first(self, world: World) -> None:
        words = [f"w{n}" for n in range(9)]
        known = ["x " + " ".join(words[n:]) for n in range(8)]
        for text in known:
            world.add(text)
        fresh = world.add("y " + " ".join(words), 1)

        reader = Reader(NO)
        world.check(fresh, pair_odds=reader)

        assert [pair.first for pair in reader.asked] == known[: POLICY.readings]

    def test_traditional_characters_are_read_as_simplified_ones(self, world: World) -> None:
        world.add("手上 打著 石膏 的 繃帶")
        fresh = world.add("石膏 拆了 的 繃帶", 1)

        reader = Reader(NO)
        world.check(fresh, pair_odds=reader)

        assert reader.asked == [TextPair("手上 打着 石膏 的 绷带", "石膏 拆了 的 绷带")]

    def test_what_tells_of_no_change_by_its_vector_is_not_read(self, world: World) -> None:
        world.add("wear the splint")
        fresh = world.add("off the splint", 1)

        reader = Reader(SURE)
        calm = lambda vectors: np.full(len(vectors), POLICY.read_change - 1, np.float32)  # noqa: E731
        findings = world.check(fresh, change_odds=calm, pair_odds=reader)

        assert (findings, reader.asked) == ([], [])

    @pytest.mark.parametrize("by", [{"source": "assistant"}, {"speaker": "Assistant"}])
    def test_what_a_model_says_is_not_read(self, world: World, by: dict[str, Any]) -> None:
        world.add("wear the splint", **by)
        reader = Reader(SURE)
        findings = world.check(world.add("off the splint", 1, **by), pair_odds=reader)

        assert (findings, reader.asked) == ([], [])

    def test_long_texts_and_unlike_ones_are_not_read(self, world: World) -> None:
        world.add("splint " * POLICY.max_statement_chars)
        world.add("a b c d e f g h i j k l m n o p q r s splint")
        fresh = world.add("off splint", 1)

        reader = Reader(SURE)
        world.check(fresh, pair_odds=reader)

        assert reader.asked == []


class TestChecking:
    @pytest.mark.req("B3", partly="on rules of the test's own")
    def test_a_contradicting_pair_raises_a_signal_and_a_compatible_one_does_not(self, world: World) -> None:
        # Given an older memory, and two new ones of which one disagrees with it
        older, other, newer = world.add("home Rome"), world.add("tea likes", 1), world.add("home Oslo", 2)

        # When they are encoded
        [finding] = world.check(other, newer)

        # Then that pair is the only signal, and it acts
        assert (finding.older_id, finding.newer_id, finding.acts) == (older, newer, True)
        assert (finding.kind, finding.confidence, finding.rule, finding.attribute) == ("update", 0.9, "value", "home")

    @pytest.mark.req("B40")
    def test_a_memory_is_compared_with_its_ten_nearest_and_no_others(self, world: World) -> None:
        # Given twenty memories that share ever fewer words with a new one
        words = [f"w{n}" for n in range(20)]
        known = [world.add("x " + " ".join(words[n:])) for n in range(20)]
        fresh = world.add("y " + " ".join(words), 1)

        # When the new one is checked
        rules = Rules()
        world.check(fresh, rules=rules)

        # Then the search asked for ten besides itself, and the rules saw the ten nearest, with their similarity
        assert world.limits == [11]
        assert [older.text for older, _, _ in rules.asked] == [world.memories[key].text for key in known[:10]]
        likeness = [similarity for _, _, similarity in rules.asked]
        assert likeness == sorted(likeness, key=lambda value: -(value or 0.0))
        assert likeness[0] == pytest.approx(float(world.memories[fresh].vector @ world.memories[known[0]].vector))

    def test_neighbours_about_something_else_are_not_compared(self, world: World) -> None:
        # Given two older memories, of which one shares no word with a new one
        near, _ = world.add("home Rome"), world.add("tea green")
        fresh = world.add("home Oslo", 1)

        # When it is encoded / Then the rules are asked about the other only
        rules = Rules()
        world.check(fresh, rules=rules)
        assert [(one.text, other.text) for one, other, _ in rules.asked] == [("home Rome", "home Oslo")]
        assert [finding.older_id for finding in world.findings] == [near]

    def test_memories_of_one_batch_are_compared_with_each_other_once(self, world: World) -> None:
        # Given two facts that came within one second
        first, second = world.add("home Rome"), world.add("home Oslo", 1e-5)

        # When both are new
        rules = Rules()
        findings = world.check(first, second, rules=rules)

        # Then there is one comparison, and one finding
        assert len(rules.asked) == 1
        assert [(finding.older_id, finding.newer_id) for finding in findings] == [(first, second)]
        assert world.windows == [([0, 1], POLICY.around)]

    def test_what_was_said_later_wins_even_if_it_was_written_earlier(self, world: World) -> None:
        # Given a memory of today, and an import of what was said last year
        today = world.add("home Oslo", 0)
        imported = world.add("home Rome", -365)

        # When the import is encoded
        [finding] = world.check(imported)

        # Then it is the older one
        assert (finding.older_id, finding.newer_id) == (imported, today)

    @pytest.mark.parametrize(("seconds", "compared"), [(0.0, 1), (600.0, 1), (600.001, 0)])
    def test_a_correction_is_compared_with_what_was_said_ten_minutes_before_at_most(
        self, seconds: float, compared: int, world: World
    ) -> None:
        # Given two messages of one talk that share no word, so long apart
        world.add("meeting wednesday", conversation="c", speaker="Li")
        second = world.add("no, thursday", seconds / 86_400, conversation="c", speaker="Li")

        # When the second is encoded / Then the rules see it next to the first only if that was just before
        rules = Rules()
        world.check(second, rules=rules)
        assert [(older.follows, newer.follows) for older, newer, _ in rules.asked] == [(False, True)] * compared

    def test_a_document_between_two_messages_of_a_talk_does_not_part_them(self, world: World) -> None:
        # Given a message, a document of the same speaker, and a correction that shares no word with either
        world.add("meeting wednesday", conversation="c", speaker="Li")
        world.add("x y z. " * 400, 1e-4, conversation="c", speaker="Li")
        third = world.add("no, thursday", 2e-4, conversation="c", speaker="Li")

        # When the correction is encoded / Then it is compared with the message
        rules = Rules()
        world.check(third, rules=rules)
        assert [(one.text, other.text) for one, other, _ in rules.asked] == [("meeting wednesday", "no, thursday")]

    def test_of_two_said_in_the_same_moment_the_one_written_later_is_newer(self, world: World) -> None:
        first, second = world.add("home Rome"), world.add("home Oslo")
        [finding] = world.check(first)
        assert (finding.older_id, finding.newer_id) == (first, second)

    @pytest.mark.parametrize(
        ("confidence", "found", "acts"), [(0.499, 0, False), (0.5, 1, False), (0.799, 1, False), (0.8, 1, True)]
    )
    def test_confidence_decides_between_silence_a_record_and_an_act(
        self, world: World, confidence: float, found: int, acts: bool
    ) -> None:
        world.add("home Rome")
        findings = world.check(world.add("home Oslo", 1), rules=Rules(confidence))
        assert len(findings) == found
        assert [finding.acts for finding in findings] == [acts] * found

    @pytest.mark.parametrize(
        ("confidence", "judged", "kind", "source", "found"),
        [
            (0.34, True, "update", "", [True]),
            (0.33, True, "update", "", []),
            (0.34, False, "update", "", []),
            (0.5, True, "update", "", [False]),
            (0.4, True, "duplicate", "", []),
            (0.4, True, "update", "assistant", []),
        ],
    )
    def test_a_suspicion_is_kept_for_a_model_and_only_if_there_is_one(
        self, world: World, confidence: float, judged: bool, kind: Any, source: str, found: list[bool]
    ) -> None:
        world.add("home Rome")
        newer = world.add("home Oslo", 1, source=source)
        findings = world.check(newer, rules=Rules(confidence, kind), judged=judged)
        assert [finding.suspected for finding in findings] == found
        assert not any(finding.acts for finding in findings)

    @pytest.mark.parametrize(
        ("older", "newer", "acts", "judged"),
        [
            ({"importance": 4.5}, {}, False, True),
            ({"importance": 4.4}, {}, True, True),
            ({"layer": "core"}, {}, False, True),
            ({}, {"layer": "core", "importance": 5.0}, True, True),
            ({"source": "user"}, {"source": "assistant"}, False, False),
            ({"source": "assistant"}, {"source": "assistant"}, True, True),
            ({"source": "assistant"}, {"source": "user"}, True, True),
            ({"speaker": "助手"}, {"speaker": "助手"}, True, True),
            ({"speaker": "jana"}, {"speaker": "Assistant"}, False, False),
        ],
    )
    def test_what_is_precious_or_said_by_the_user_is_not_superseded_by_a_rule_alone(
        self, world: World, older: dict[str, Any], newer: dict[str, Any], acts: bool, judged: bool
    ) -> None:
        world.add("home Rome", **older)
        [finding] = world.check(world.add("home Oslo", 1, **newer))
        assert (finding.acts, finding.judged_later) == (acts, judged)

    def test_a_change_of_one_of_two_known_things_is_recorded_for_both_and_ends_neither(self, world: World) -> None:
        # Given two flights, and rules that tell them apart
        rules = Rules()
        rules.subjects = True
        flights = {world.add("flight Rome at seven"), world.add("flight Oslo at eight", 1)}

        # When one of them, no one says which, is moved / Then both disagreements are recorded, and none acts
        findings = world.check(world.add("flight moved to nine", 2), rules=rules)
        assert {(finding.older_id, finding.acts) for finding in findings} == {(flight, False) for flight in flights}

    def test_an_uncertain_change_is_recorded_only_of_the_most_similar_memory(self, world: World) -> None:
        # Given the versions of two servers / When a rule is unsure which of them changed / Then it is the one named
        staging = world.add("postgres fifteen runs on staging")
        world.add("postgres fourteen runs on production", 1)
        findings = world.check(world.add("postgres of staging is sixteen", 2), rules=Rules(POLICY.record_confidence))
        assert [(finding.older_id, finding.acts) for finding in findings] == [(staging, False)]

    def test_what_the_assistant_repeated_is_no_second_thing_that_a_correction_may_mean(self, world: World) -> None:
        # Given a statement and its repetition by the assistant, which rules read as two subjects
        rules = Rules()
        rules.subjects = True
        said = {world.add("sugar 300", source="user"), world.add("sugar 300 noted", 1, source="assistant")}

        # When the user corrects it / Then both end
        findings = world.check(world.add("sugar 350", 2, source="user"), rules=rules)
        assert {(finding.older_id, finding.acts) for finding in findings} == {(one, True) for one in said}

    def test_what_the_assistant_replies_disputes_no_message_that_it_takes_up(self, world: World) -> None:
        said = world.add("lesson sunday", source="user", conversation="one")
        reply = world.add("lesson moved to sunday", 0.001, source="assistant", conversation="one")
        assert world.check(reply, rules=Rules()) == []

        later = world.add("lesson moved to monday", 5, source="assistant", conversation="two")
        assert {finding.older_id for finding in world.check(later, rules=Rules())} >= {said}

    @pytest.mark.req("C9", partly="a rule alone retires no claim that stands")
    def test_what_says_more_than_is_disputed_waits_for_a_person(self, world: World) -> None:
        # Given a sure verdict about a part of what the older says / Then it is recorded and nothing is superseded
        old, new = world.add("home Rome cat"), world.add("home Oslo", 1)
        [finding] = world.check(new, rules=Rules(partial=True))
        assert (finding.older_id, finding.newer_id, finding.acts, finding.suspected) == (old, new, False, False)

        # And no model decides it, who would retire the whole; a mere suspicion of it is nothing
        assert not finding.judged_later
        world.findings.clear()
        assert world.check(new, rules=Rules(0.4, partial=True), judged=True) == []

    @pytest.mark.parametrize(("kind", "found"), [("knowledge", 1), ("event", 0)])
    def test_facts_that_repeat_each_other_are_recorded_and_messages_are_not(
        self, world: World, kind: str, found: int
    ) -> None:
        world.add("home Rome", kind=kind)
        findings = world.check(world.add("home Rome", 1, kind=kind), rules=Rules(1.0))
        assert [(finding.kind, finding.acts, finding.judged_later) for finding in findings] == [
            ("duplicate", False, False)
        ] * found

    @pytest.mark.parametrize(
        ("confidence", "held_days", "found"),
        [(0.9, 1, 1), (0.6, 1, 0), (0.6, 3, 1), (0.9, 0, 0)],
        ids=["sure: history", "unsure: nothing to ask", "it held when the newer was said", "it never held"],
    )
    def test_a_superseded_memory_is_part_of_history_but_no_open_question(
        self, world: World, confidence: float, held_days: int, found: int
    ) -> None:
        # Given an older memory that held for some days
        world.add("home Rome", valid_to=START + timedelta(days=held_days))

        # When one of the second day disagrees
        findings = world.check(world.add("home Oslo", 2), rules=Rules(confidence))

        # Then it counts as long as it matters
        assert len(findings) == found

    def test_what_never_held_supersedes_nothing(self, world: World) -> None:
        world.add("home Oslo", 1, valid_to=START + timedelta(days=1))
        assert world.check(world.add("home Rome", 0)) == []

    @pytest.mark.parametrize("document_first", [True, False])
    def test_a_document_is_compared_by_its_sentences_and_neither_ends_the_other(
        self, world: World, document_first: bool
    ) -> None:
        # Given a document with a sentence that the rules would act on, and a statement, in either order
        document = world.add("x y z. " * 400 + "home Rome. " + "x y z. " * 400, 0 if document_first else 1)
        statement = world.add("home Oslo", 1 if document_first else 0)

        # When the newer is checked
        [found] = world.check(statement if document_first else document, rules=Rules())

        # Then the disagreement is recorded, about that sentence, and decides nothing
        assert (found.older_id, found.newer_id) == ((document, statement) if document_first else (statement, document))
        assert not found.acts
        assert not found.judged_later
        assert found.claim == ("home Rome." if document_first else "")

    def test_rules_are_told_what_the_vectors_say_of_changes(self, world: World) -> None:
        # Given two memories and an embedder with a direction of changes / When the newer is checked
        older, newer = world.add("home Rome"), world.add("home Oslo", 1)
        first = world.memories[older].vector
        rules = Rules()
        world.check(newer, rules=rules, change_odds=lambda vectors: np.asarray(vectors @ first, dtype=np.float32))

        # Then both statements have their log-odds; without a direction they have none
        [(before, after, _)] = rules.asked
        assert (before.changed, after.changed) == pytest.approx((1.0, float(world.memories[newer].vector @ first)))
        world.check(newer, rules=(bare := Rules()))
        assert [one.changed for pair in bare.asked for one in pair[:2]] == [None, None]

    def test_erased_memories_and_empty_batches_are_not_compared(self, world: World) -> None:
        # Given a memory that is erased while it is encoded
        world.add("home Rome")
        gone = world.add("home Oslo", 1)
        fresh = [Fresh(node(world.memories[gone]), world.memories[gone].vector)]
        del world.memories[gone]
        rules = Rules()
        checker = ConflictChecker(
            conflicts=cast(Conflicts, world),
            neighbours=world,
            embedder=world.embedder,
            rules=rules,
            clock=HeldClock(),
            policy=POLICY,
            telemetry=Telemetry(),
            judged=False,
        )

        # When they are checked
        for batch in ([], fresh):
            checker.check(SCOPE, batch)

        # Then nothing is compared, and where there is nothing to compare no server is asked
        assert rules.asked == []
        assert len(world.limits) == 1

    @settings(max_examples=30)
    @given(st.lists(st.integers(0, 6), min_size=2, max_size=8), st.data())
    def test_findings_do_not_depend_on_the_order_of_the_batch(self, days: list[int], data: st.DataObject) -> None:
        # Given memories of some days that all disagree
        world = World()
        ids = [world.add(f"home {n}", day) for n, day in enumerate(days)]

        # When they are checked in two orders
        first = {(f.older_id, f.newer_id, f.acts) for f in world.check(*ids)}
        world.findings.clear()
        second = {(f.older_id, f.newer_id, f.acts) for f in world.check(*data.draw(st.permutations(ids)))}

        # Then the same is found: each pair, the older first
        assert first == second
        assert len(first) == len(ids) * (len(ids) - 1) // 2
        assert all(world.memories[older].at <= world.memories[newer].at for older, newer, _ in first)


class Table:
    """The half of the port `Conflicts` that the judge uses."""

    def __init__(self, *claimed: Claimed) -> None:
        self.waiting = list(claimed)
        self.calls: list[tuple[Any, ...]] = []
        self.decided = False

    def claim(self, lease_s: float, max_attempts: int, *, judged: bool) -> Claimed | None:
        ready = [item for item in self.waiting if item.plan is not None or judged]
        if ready:
            self.waiting.remove(ready[0])
        return ready[0] if ready else None

    def resolve(self, scope: Scope, conflict_id: str, resolution: str, by: str, at: datetime) -> None:
        if self.decided:
            raise AlreadyDecided("somebody was faster")
        self.calls.append((conflict_id, resolution, by))

    def judged(self, scope: Scope, conflict_id: str, kind: str | None) -> None:
        self.calls.append((conflict_id, "judged", kind))

    def release(self, scope: Scope, conflict_id: str, delay_s: float) -> None:
        self.calls.append((conflict_id, "release", delay_s))


class Model:
    """The part of the port `Reasoner` that judges."""

    def __init__(self, answer: Judgement | None, pause_s: float = 0.0) -> None:
        self.answer = answer
        self.pause_s = pause_s
        self.asked: list[tuple[str, str]] = []

    def judge(self, scope: Scope, older: str, newer: str) -> Judgement | None:
        self.asked.append((older, newer))
        return self.answer

    def paused_s(self) -> float:
        return self.pause_s if self.asked else 0.0


def conflict(key: str = "c", **details: Any) -> Conflict:
    base = Conflict(
        id=key,
        kind="update",
        older_id="o",
        newer_id="n",
        older_text="home Rome",
        newer_text="home Oslo",
        confidence=0.6,
        rule="value",
        created_at=START,
    )
    return replace(base, **details)


def resolver(table: Table, model: Model | None) -> Resolver:
    return Resolver(
        conflicts=cast(Conflicts, table),
        records=cast(Records, None),
        writer=cast(Writer, None),
        links=None,
        reasoner=cast("Reasoner | None", model),
        destroy=lambda *_: None,
        clock=HeldClock(),
        policy=POLICY,
        telemetry=Telemetry(),
    )


class TestJudging:
    @pytest.mark.req("C9", partly="the follow-up task's decision")
    @pytest.mark.parametrize(
        ("kind", "confidence", "expected"),
        [
            ("update", 0.9, ("c", "keep_new", "judge")),
            ("contradiction", 0.8, ("c", "keep_new", "judge")),
            ("none", 0.9, ("c", "keep_both", "judge")),
            ("duplicate", 0.9, ("c", "judged", "duplicate")),
            ("update", 0.79, ("c", "judged", None)),
            ("none", 0.5, ("c", "judged", None)),
            ("duplicate", 0.5, ("c", "judged", None)),
        ],
    )
    def test_a_sure_answer_decides_and_an_unsure_one_leaves_it_to_a_person(
        self, kind: Any, confidence: float, expected: tuple[Any, ...]
    ) -> None:
        table, model = Table(Claimed(SCOPE, conflict(), None)), Model(Judgement(kind, confidence, "because"))
        assert resolver(table, model).work(10) == 1
        assert table.calls == [expected]
        assert model.asked == [("home Rome", "home Oslo")]

    @pytest.mark.parametrize(
        ("kind", "confidence", "resolution"),
        [("update", 0.9, "keep_new"), ("update", 0.7, None), ("none", 0.9, "keep_both"), ("duplicate", 0.9, None)],
    )
    def test_a_suspicion_that_the_model_does_not_confirm_is_ignored(
        self, kind: Any, confidence: float, resolution: str | None
    ) -> None:
        table = Table(Claimed(SCOPE, conflict(suspected=True), None))
        resolver(table, Model(Judgement(kind, confidence, ""))).work(1)
        assert table.calls == [("c", resolution, "judge")]

    @pytest.mark.req("D9", partly="the judge")
    def test_without_a_model_nothing_is_claimed_for_judging(self) -> None:
        table = Table(Claimed(SCOPE, conflict(), None))
        assert resolver(table, None).work(10) == 0
        assert table.calls == []
        assert len(table.waiting) == 1

    def test_a_model_that_gave_nothing_usable_leaves_the_conflict_to_its_lease(self) -> None:
        table = Table(Claimed(SCOPE, conflict(), None))
        assert resolver(table, Model(None)).work(10) == 1
        assert table.calls == []

    def test_a_model_that_is_down_gives_the_conflict_back_and_is_not_asked_again(self) -> None:
        table, model = Table(*(Claimed(SCOPE, conflict(key), None) for key in "abc")), Model(None, pause_s=30.0)
        assert resolver(table, model).work(10) == 1
        assert table.calls == [("a", "release", 30.0)]
        assert len(model.asked) == 1

    def test_moot_conflicts_cost_no_call_and_a_person_who_was_faster_wins(self) -> None:
        # Given a conflict that no one needs to decide, and one that a user decides meanwhile
        table = Table(Claimed(SCOPE, conflict("a", moot=True), None), Claimed(SCOPE, conflict("b"), None))
        table.decided = True
        model = Model(Judgement("update", 1.0, ""))

        # When the worker goes through both
        assert resolver(table, model).work(10) == 2

        # Then the model was asked once, and its answer came too late
        assert len(model.asked) == 1
        assert table.calls == [("a", "judged", None)]

    def test_a_round_takes_no_more_than_asked_for(self) -> None:
        table = Table(*(Claimed(SCOPE, conflict(key), None) for key in "abc"))
        assert resolver(table, Model(Judgement("none", 1.0, ""))).work(2) == 2
        assert len(table.waiting) == 1

    @pytest.mark.parametrize("resolution", ["", "keep", "KEEP_NEW", "undo"])
    def test_unknown_words_are_refused_with_those_that_are_known(self, resolution: str) -> None:
        with pytest.raises(InvalidInput, match="keep_new, keep_old, merge, keep_both, ignore"):
            resolver(Table(), None).resolve(SCOPE, new_id(), resolution)
        with pytest.raises(InvalidInput, match="pending, resolved, ignored"):
            resolver(Table(), None).find(SCOPE, status=resolution)
        with pytest.raises(InvalidInput):
            resolver(Table(), None).undo(SCOPE, "not an id")

    @pytest.mark.parametrize("limit", [0, -1, 1_001, True, 1.5])
    def test_lists_have_a_bounded_length(self, limit: Any) -> None:
        with pytest.raises(InvalidInput, match="from 1 to 1,000"):
            resolver(Table(), None).find(SCOPE, limit=limit)


class TestJoining:
    @pytest.mark.parametrize(
        ("older", "newer", "expected"),
        [
            ("lives in Rome", "lives in Oslo", "lives in Rome\nlives in Oslo"),
            ("Ann lives in Rome, Italy", "lives in Rome", "Ann lives in Rome, Italy"),
            ("喜欢茶", "她喜欢茶和咖啡", "她喜欢茶和咖啡"),
            (" a ", "a", " a "),
        ],
    )
    def test_the_richer_text_is_kept_and_otherwise_both(self, older: str, newer: str, expected: str) -> None:
        assert joined(older, newer) == expected

    @given(st.text(min_size=1), st.text(min_size=1))
    def test_nothing_that_was_said_is_lost(self, older: str, newer: str) -> None:
        text = joined(older, newer)
        assert older.strip() in text
        assert newer.strip() in text
