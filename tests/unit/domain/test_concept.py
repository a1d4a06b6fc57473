"""Values and arithmetic of concepts: snippets, ages, choosing, keeping, and what a conversation has on its mind."""

import math
import random
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.config import load_settings
from biem.domain.concept import (
    Item,
    Message,
    Peak,
    Recollection,
    Snippet,
    choose,
    concept_id,
    cut,
    duplicates,
    item_id,
    salient,
    sample_instants,
    term_similarity,
)
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.running_memory import Running, next_turn, with_keywords
from biem.errors import ConfigError
from tests.support.fakes import START

PEAKS = (Peak(6, 3, 0.6), Peak(32, 12, 0.4))


def message(seq: int, minute: float, conversation: str = "a", kind: str = "event") -> Message:
    at = START + timedelta(minutes=minute)
    return Message(str(seq), seq, f"text {seq}", "Ann", conversation, kind, at, at)


talks = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["event", "knowledge"]), st.integers(0, 30)), max_size=40
)


class TestSnippets:
    @pytest.mark.req("H9", "X36", partly="cutting")
    @given(talk=talks, length=st.integers(1, 5), step=st.integers(1, 7))
    def test_cut_at_once_or_bit_by_bit_each_message_is_in_one_snippet_of_one_conversation(
        self, talk: list[tuple[str, str, int]], length: int, step: int
    ) -> None:
        # Given messages with pauses
        minute, messages = 0, []
        for seq, (conversation, kind, pause) in enumerate(talk, start=1):
            minute += pause
            messages.append(message(seq, minute, conversation, kind))

        # When they are cut at once, and in parts that go on where the last one stopped
        whole = {s.first_seq: s for s in cut(messages, [], length=length, pause_s=600)}
        parts: dict[int, Snippet] = {}
        for start in range(0, len(messages), step):
            changed = cut(messages[start : start + step], parts.values(), length=length, pause_s=600)
            parts |= {s.first_seq: s for s in changed}

        # Then both are the same; every message is counted once; none is too long or spans a pause
        assert whole == parts
        assert sum(s.messages for s in whole.values()) == len(messages)
        for s in whole.values():
            held = [m for m in messages if s.first_seq <= m.seq <= s.last_seq and m.spoken == s.spoken]
            held = [m for m in held if not s.spoken or m.conversation == s.conversation]
            assert len(held) == s.messages <= length
            gaps = [(b.at - a.at).total_seconds() for a, b in pairwise(held)]
            assert not s.spoken or all(gap <= 600 for gap in gaps)

    def test_what_was_built_from_does_not_grow(self) -> None:
        # Given a snippet that was built from / When its conversation goes on / Then another begins
        (first,) = cut([message(1, 0)], [], length=9, pause_s=600)
        used = Snippet(1, 1, 1, "a", True, START, START, START, times=1)
        assert [s.first_seq for s in cut([message(2, 1)], [first], length=9, pause_s=600)] == [1]
        assert [s.first_seq for s in cut([message(2, 1)], [used], length=9, pause_s=600)] == [2]

    @pytest.mark.req("H9", partly="two peaks of age")
    def test_ages_have_two_peaks_with_their_weights(self) -> None:
        # Given many samples / When their ages are looked at
        ages = [(START - at).total_seconds() / 3600 for at in sample_instants(START, PEAKS, 20_000, random.Random(1))]

        # Then sixty of a hundred lie about six hours, the rest about 32, and none ahead
        near, far = [age for age in ages if age < 13], [age for age in ages if age >= 19]
        assert min(ages) >= 0
        assert 0.58 < len(near) / len(ages) < 0.67
        assert abs(sum(near) / len(near) - 6) < 0.5
        assert abs(sum(far) / len(far) - 35.1) < 0.5  # of those above 19 hours

    def test_the_same_seed_gives_the_same_instants(self) -> None:
        # Given one seed / When sampled twice / Then both are the same
        one, two = (sample_instants(START, PEAKS, 8, random.Random(5)) for _ in range(2))
        assert one == two


class TestChoosing:
    @pytest.mark.req("H30", "C28", partly="top_k and squared_norm")
    def test_the_most_activated_are_chosen_or_drawn_by_the_square(self) -> None:
        # Given activations whose squares are as 9 : 4 : 1
        activation = {"a": 3.0, "b": 2.0, "c": 1.0, "dead": 0.0, "below": -1.0}

        # When the top is taken, and one is drawn many times
        drawn = Counter(choose(activation, 1, random.Random(seed))[0] for seed in range(5_000))

        # Then these are the top, and the draws follow a²/Σa²
        assert choose(activation, 3) == ["a", "b", "c"]
        assert choose(activation, 1) == ["a"]
        assert [round(drawn[node] / 5_000 * 14) for node in "abc"] == [9, 4, 1]
        assert set(drawn) == set("abc")

    @given(
        activation=st.dictionaries(st.sampled_from("abcdef"), st.floats(-2, 2, allow_nan=False)),
        limit=st.integers(0, 7),
        seed=st.none() | st.integers(0, 99),
    )
    def test_each_is_chosen_at_most_once_and_the_seed_decides(
        self, activation: dict[str, float], limit: int, seed: int | None
    ) -> None:
        # Given any activations / When chosen twice with one seed, in another order of entries
        turned = dict(reversed(activation.items()))
        draws = [choose(a, limit, None if seed is None else random.Random(seed)) for a in (activation, turned)]

        # Then both are the same, without repeats, as many as there are
        assert draws[0] == draws[1]
        alive = sum(a * a > 0 for a in activation.values() if a > 0)
        assert len(draws[0]) == len(set(draws[0])) == min(limit, alive)

    @pytest.mark.req("H34", partly="similarity of names")
    def test_similarity_is_the_cosine_of_terms(self) -> None:
        # Given names / When compared / Then by the cosine of their terms
        assert term_similarity(["a", "b"], ["b", "a"]) == 1.0
        assert term_similarity(["a", "b"], ["a", "b", "c"]) == pytest.approx(2 / math.sqrt(6))
        assert term_similarity(["a"], ["b"]) == term_similarity([], ["b"]) == term_similarity([], []) == 0.0

    def test_what_is_said_often_and_of_few_snippets_comes_first(self) -> None:
        # Given keys said as often, one of them known from everywhere, and a banned one
        mentions = {"new": [1.0, 1.0], "known": [1.0, 1.0], "often": [1.0] * 20, "banned": [9.0]}

        # When they are ordered / Then frequency × rarity decides, ties by key
        assert salient(mentions, {"known": 50, "often": 50}, 60, {"banned"}, 9) == ["often", "new", "known"]
        assert salient({"b": [1.0], "a": [1.0]}, {}, 0, (), 1) == ["a"]

    def test_the_same_name_is_the_same_concept_only_within_a_scope(self) -> None:
        # Given names and texts / When ids are made / Then they depend on scope, name and text alone
        assert concept_id("x", ["rex"]) == concept_id("x", ["rex"]) != concept_id("y", ["rex"])
        assert concept_id("x", ["a", "b"]) != concept_id("x", ["ab"])
        assert item_id("1", "a") == item_id("1", "a") != item_id("2", "a")


class TestDuplicates:
    @pytest.mark.req("H12", partly="keep the one with more information")
    def test_the_richer_one_stands_for_what_is_like_it_and_for_nothing_else(self) -> None:
        # Given items of which neighbours are alike, but not the ends
        items = [Item(str(i), "c", text, ()) for i, text in enumerate(["aa", "abc", "abcdef", "zzz zz"])]

        # When duplicates are looked for / Then the richest takes its neighbour, and no chain is followed
        groups = duplicates(items, lambda a, b: abs(a - b) == 1)
        assert [(kept.text, [other.text for other in others]) for kept, others in groups] == [
            ("abcdef", ["abc", "zzz zz"])
        ]
        assert duplicates(items, lambda a, b: False) == duplicates([], lambda a, b: True) == []

    @given(
        texts=st.lists(st.text("abc ", max_size=6), max_size=8),
        alike=st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))),
    )
    def test_no_item_is_in_two_groups(self, texts: list[str], alike: set[tuple[int, int]]) -> None:
        # Given any likeness / When duplicates are looked for / Then each item is in one group at most
        items = [Item(str(i), "c", text, ()) for i, text in enumerate(texts)]
        groups = duplicates(items, lambda a, b: (a, b) in alike or (b, a) in alike)
        seen = [item.id for kept, others in groups for item in (kept, *others)]
        assert len(seen) == len(set(seen))


class TestMind:
    @pytest.mark.req("H25")
    def test_of_eleven_keywords_the_last_eight_stay_in_order(self) -> None:
        # Given an empty cache / When eleven keywords come one by one
        cache: tuple[str, ...] = ()
        sizes = []
        for number in range(11):
            cache = with_keywords(cache, [str(number)], most=10, kept=8)
            sizes.append(len(cache))

        # Then ten fit, and the eleventh leaves the last eight; what is said again is the newest
        assert sizes == [*range(1, 11), 8]
        assert cache == tuple(map(str, range(3, 11)))
        assert with_keywords("abc", ["a"], most=10, kept=8) == ("b", "c", "a")

    @pytest.mark.req("H40")
    def test_what_came_in_turn_one_is_there_in_turn_two_and_gone_in_turn_three(self) -> None:
        # Given an item of turn one / When two turns pass
        turns = [turn((), "rex barks")]
        turns += [turn(turns[-1])]
        turns += [turn(turns[-1])]

        # Then it ages and goes
        assert [[(i.content, i.duration) for i in items] for items in turns] == [
            [("rex barks", 1)],
            [("rex barks", 2)],
            [],
        ]

    @pytest.mark.req("H41")
    def test_what_is_nearly_there_already_is_refused(self) -> None:
        # Given an item / When a near-duplicate and a different one come / Then only the different one joins
        items = turn(turn((), "Grace is allergic to peanuts"), "Grace is allergic to peanut", "Rex ate the shoes")
        assert [(i.topic, i.content, i.duration) for i in items] == [
            ("t", "Grace is allergic to peanuts", 2),
            ("t", "Rex ate the shoes", 1),
        ]

    @pytest.mark.req("H42")
    def test_only_the_last_three_stay(self) -> None:
        # Given five memories that differ / When they come at once / Then the last three stay
        texts = ["aaaa", "bbbb", "cccc", "dddd", "eeee"]
        assert [i.content for i in turn((), *texts)] == texts[2:]


def turn(running: tuple[Running, ...], *texts: str) -> tuple[Running, ...]:
    found = [Recollection("t", text) for text in texts]
    return next_turn(running, found, turns=3, most=3, similarity=0.7)


class TestPolicy:
    @pytest.mark.req("H50", partly="every number is checked")
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("near_weight", 1.1),
            ("similarity", -0.1),
            ("sample_ratio", math.nan),
            ("snippets", 0),
            ("pause_s", -1.0),
            ("forget_idle_h", math.nan),
            ("kept_keywords", 11),
        ],
    )
    def test_a_number_that_makes_no_sense_is_refused_by_its_name(self, name: str, value: float) -> None:
        # Given such a number / When a policy is made with it / Then its name is said
        with pytest.raises(ValueError, match=name):
            ConceptPolicy(**{name: value})  # type: ignore[arg-type]

    @pytest.mark.req("H50", partly="from the environment")
    def test_every_number_can_be_set_from_outside_and_is_refused_by_its_name(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        # Given the environment and a tuning file / When settings are loaded / Then they are there, or refused by name
        monkeypatch.setenv("BIEM_CONCEPTS__BANNED", '["天气", "weather"]')
        monkeypatch.setenv("BIEM_CONCEPTS__SELECTION", "squared_norm")
        tuning = tmp_path / "tuning.toml"
        monkeypatch.setenv("BIEM_TUNING", str(tuning))
        tuning.write_text("concepts.similarity = 0.8\n", encoding="utf-8")
        loaded = load_settings().policies.concepts
        assert (loaded.banned, loaded.selection, loaded.similarity) == (("天气", "weather"), "squared_norm", 0.8)
        for name, value in (("KEYWORDS", "slow"), ("BANNED", "weather")):
            with monkeypatch.context() as changed:
                changed.setenv(f"BIEM_CONCEPTS__{name}", value)
                with pytest.raises(ConfigError, match=f"(?i){name}"):
                    load_settings()
        for name, value in (("similarity", "1.5"), ("snippets", "0")):
            tuning.write_text(f"concepts.{name} = {value}\n", encoding="utf-8")
            with pytest.raises(ConfigError, match=name):
                load_settings()
