"""Who is kept of several that say the same, what a merge says, and what a cluster is called."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.fields import Fields
from biem.domain.merging import (
    Passage,
    Terms,
    adds_nothing,
    count_otherwise,
    covers,
    derived_id,
    digest,
    groups,
    information,
    join,
    richest,
    sentences,
    sources_hash,
)
from biem.domain.node import parse_id

ANALYZER = RuleAnalyzer()
IDS = st.lists(st.uuids().map(str), min_size=1, max_size=6)
_WORDS = [
    "Ann", "Bob", "rows", "row", "rowed", "not", "can't", "to", "from", "at 10:30", "5 km", "7", "INV-0114",
          "zqbbkx", "lake", "lakes", "林晓", "跑步", "没有", "去", "她", "café", "cafe", "🙂", ".",
]  # fmt: skip
TEXTS = st.lists(st.tuples(st.sampled_from(_WORDS), st.sampled_from([" ", ". ", "\n", "。", "; "])), min_size=1).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
"""Sentences of few words, so that they repeat, resemble and contradict each other."""


def _keeps(whole: str, parts: list[str], terms: Terms) -> bool:
    held = set(terms(whole))
    return all(held.issuperset(terms(part)) for part in parts)


def day(number: int) -> datetime:
    return datetime(2026, 5, number, 9, 0, tzinfo=UTC)


class TestIdentity:
    @pytest.mark.req("C16", partly="the name of a cluster")
    @given(IDS)
    def test_a_cluster_has_one_name_in_any_order_and_multiplicity(self, ids: list[str]) -> None:
        assert sources_hash([*ids[::-1], ids[0]]) == sources_hash(ids)

    @given(IDS, st.uuids().map(str))
    def test_another_member_makes_another_name(self, ids: list[str], other: str) -> None:
        assert (sources_hash([*ids, other]) == sources_hash(ids)) == (other in ids)

    def test_derived_ids_differ_by_scope_and_purpose_and_are_ids(self) -> None:
        made = {derived_id(ns, what, "x") for ns in ("a", "b") for what in ("fact", "merge")}
        assert len(made) == 4
        assert all(parse_id(key) == key for key in made)

    def test_derived_ids_are_the_same_on_every_machine(self) -> None:
        assert derived_id("ns", "fact", sources_hash(["b", "a"])) == "8c45cf1d-e778-5faf-90eb-664017573181"


class TestInformation:
    @pytest.mark.req("H12", partly="the measure")
    def test_it_is_entropy_times_length(self) -> None:
        assert information("") == 0.0
        assert information("aaaa") == 0.0
        assert information("ab") == pytest.approx(2.0)
        assert information("abcd") == pytest.approx(8.0)
        assert information("aabb") == pytest.approx(4.0)

    @given(st.text(), st.text())
    def test_it_is_never_negative_and_ignores_how_text_is_spaced(self, one: str, two: str) -> None:
        assert information(one) >= 0.0
        assert information(f" {one} \n\t {two} ") == pytest.approx(information(" ".join(f"{one} {two}".split())))

    def test_the_richer_text_wins_and_of_equals_the_smaller_key(self) -> None:
        assert richest({"b": "Li Ming runs 5 km every day", "a": "Li Ming runs"}) == "b"
        assert richest({"b": "林晓每天早上跑五公里", "a": "林晓跑步"}) == "b"
        assert richest({"b": "same", "a": "same"}) == "a"
        assert richest({"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "b": "abcdef"}) == "b"

    def test_a_text_covers_another_when_it_pins_down_all_that_the_other_does(self) -> None:
        rich = Fields(numbers=("5km", "07:00"), names=("Li Ming",), symbols=("v1.2",))
        assert covers(rich, Fields(numbers=("5km",), names=("Li Ming",)))
        assert covers(rich, Fields())
        assert not covers(rich, Fields(numbers=("6km",)))
        assert not covers(rich, Fields(names=("Li Na",)))
        assert not covers(rich, Fields(symbols=("v1.3",)))

    def test_two_texts_of_which_each_has_its_own_number_count_otherwise(self) -> None:
        three, five = Fields(numbers=("3km",)), Fields(numbers=("5km", "3km"))
        assert count_otherwise(Fields(numbers=("3km", "07:00")), five)
        assert count_otherwise(three, Fields(numbers=("5km",)))
        assert not count_otherwise(three, five)
        assert not count_otherwise(five, three)
        assert not count_otherwise(three, Fields())


class TestSentences:
    def test_english_and_chinese_texts_fall_into_sentences(self) -> None:
        text = "It costs 3.5 dollars. He said so!  我喜欢苹果。你呢？“好。”\nNew line v1.2"
        assert sentences(text) == [
            "It costs 3.5 dollars.",
            "He said so!",
            "我喜欢苹果。",
            "你呢？",
            "“好。”",
            "New line v1.2",
        ]

    @given(st.text())
    def test_no_text_breaks_it_and_no_character_but_white_space_is_lost(self, text: str) -> None:
        assert "".join("".join(sentences(text)).split()) == "".join(text.split())


class TestJoin:
    @pytest.mark.req("C21", partly="merge: keep the richer and what the other adds")
    def test_it_keeps_the_richer_and_adds_only_what_is_new(self) -> None:
        kept = "Li Ming runs 5 km every morning."
        others = ["Li Ming runs every morning. He also swims on Sundays."]
        assert join(kept, others, ANALYZER.lexemes) == f"{kept}\nHe also swims on Sundays."

    def test_a_sentence_with_another_number_is_never_dropped(self) -> None:
        kept = "The weekly team meeting starts at 10:00 in the large room on the second floor."
        other = "The weekly team meeting starts at 11:30 in the large room on the second floor."
        assert join(kept, [other], ANALYZER.lexemes) == f"{kept}\n{other}"

    def test_chinese_texts_join_alike(self) -> None:
        kept = "林晓每天早上在公园跑步五公里。"
        joined = join(kept, ["林晓每天早上在公园跑步！周末她去爬山。"], ANALYZER.lexemes)
        assert joined == f"{kept}\n周末她去爬山。"

    def test_one_other_word_in_a_long_sentence_is_not_lost(self) -> None:
        kept = "Water the lemon tree on the balcony twice a week in summer."
        other = "Water the olive tree on the balcony twice a week in summer."
        assert join(kept, [other], ANALYZER.lexemes) == f"{kept}\n{other}"


class TestAddsNothing:
    def test_all_terms_in_the_same_order_add_nothing(self) -> None:
        kept = "Li Ming runs 5 km along the river every morning, before work!"
        assert adds_nothing(kept, "li ming runs 5 km every morning", ANALYZER.lexemes)
        assert not adds_nothing("li ming runs 5 km every morning", kept, ANALYZER.lexemes)
        assert adds_nothing("林晓每天早上跑五公里！", "林晓每天早上跑五公里", ANALYZER.lexemes)

    def test_who_did_it_to_whom_matters(self) -> None:
        assert not adds_nothing("Mary told Tom the secret", "Tom told Mary the secret", ANALYZER.lexemes)

    @given(st.text())
    def test_a_text_adds_nothing_to_itself(self, text: str) -> None:
        assert adds_nothing(text, text, ANALYZER.lexemes)

    @pytest.mark.parametrize(
        ("kept", "other"),
        [
            ("Ann can swim far out in the lake", "Ann can't swim"),
            ("Ann gave him the silver key in the garden", "He gave Ann the key"),
            ("The train goes to Rome from Paris at noon", "from Rome to Paris"),
            ("I love her old garden", "she loves my garden"),
        ],
    )
    def test_small_words_that_change_the_meaning_are_not_passed_over(self, kept: str, other: str) -> None:
        assert not adds_nothing(kept, other, ANALYZER.wording)
        assert join(kept, [other], ANALYZER.wording) == f"{kept}\n{other}"

    @pytest.mark.req("M53", partly="no word of the merged is lost")
    @given(st.lists(TEXTS, min_size=1, max_size=5))
    def test_no_word_name_or_number_is_lost(self, texts: list[str]) -> None:
        kept, *others = texts
        joined = join(kept, others, ANALYZER.wording)
        assert _keeps(joined, texts, ANALYZER.wording)
        held = ANALYZER.analyze(joined).fields
        for text in texts:
            assert set(ANALYZER.analyze(text).fields.numbers) <= set(held.numbers)

    @given(TEXTS, TEXTS)
    def test_what_adds_nothing_has_no_new_word(self, kept: str, other: str) -> None:
        if adds_nothing(kept, other, ANALYZER.wording):
            assert _keeps(kept, [other], ANALYZER.wording)

    @given(st.lists(st.sampled_from(["He runs.", "She swims far.", "他跑步。", "It rains at 10:00."]), max_size=6))
    def test_joining_again_adds_nothing(self, others: list[str]) -> None:
        once = join("Start here.", others, ANALYZER.lexemes)
        assert join(once, others, ANALYZER.lexemes) == once


class TestDigest:
    def test_it_takes_the_sentences_that_most_texts_share_in_order_of_time(self) -> None:
        passages = [
            Passage("Li Ming trains for the marathon. The sky was grey.", day(3)),
            Passage("Li Ming runs the marathon training plan.", day(1)),
            Passage("Marathon training made Li Ming tired.", day(2)),
        ]
        told = digest(passages, ANALYZER.lexemes, 120)
        assert "sky" not in told
        assert "marathon" in told.lower()
        assert told == "\n".join(sorted(told.splitlines()))  # each line begins with its day

    def test_what_most_texts_share_comes_before_what_was_said_first(self) -> None:
        # Given a text that shares nothing, before three that share their words / When there is room for one
        texts = ["x y", "a b c", "a b c d", "a b"]
        passages = [Passage(text, day(1).replace(hour=hour)) for hour, text in enumerate(texts)]
        # Then the one that has most of what is shared takes it
        assert digest(passages, str.split, 8) == "a b c d"

    def test_days_are_shown_only_where_they_differ(self) -> None:
        same = digest(
            [Passage("他喜欢跑步。", day(1)), Passage("他喜欢游泳。", day(1).replace(hour=10))], ANALYZER.lexemes, 400
        )
        assert same == "他喜欢跑步。\n他喜欢游泳。"
        other = digest([Passage("他喜欢跑步。", day(1)), Passage("他喜欢游泳。", day(2))], ANALYZER.lexemes, 400)
        assert other == "2026-05-01: 他喜欢跑步。\n2026-05-02: 他喜欢游泳。"

    @given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=8), st.integers(20, 400))
    def test_it_is_never_longer_than_allowed(self, texts: list[str], limit: int) -> None:
        passages = [Passage(text, day(1 + place)) for place, text in enumerate(texts)]
        assert len(digest(passages, ANALYZER.lexemes, limit)) <= limit

    def test_what_a_sentence_counts_grows_with_the_root_of_its_length(self) -> None:
        # Given three terms that two texts have, and eight of which two texts have one: 6 / √4 = 9 / √9
        texts = ["a b c d e f g h.", "x y z", "x y z", "a"]
        passages = [Passage(text, day(1).replace(hour=hour)) for hour, text in enumerate(texts)]
        # When there is room for one of the two / Then it is the earlier
        assert digest(passages, lambda text: text.strip(".").split(), 17) == texts[0]

    def test_one_sentence_longer_than_the_limit_is_cut(self) -> None:
        assert digest([Passage("word " * 200, day(1))], ANALYZER.lexemes, 50) == ("word " * 10).rstrip()

    def test_the_order_of_the_passages_does_not_matter(self) -> None:
        passages = [Passage(f"He met person {name} at work.", day(1)) for name in "ABCDE"]
        assert digest(passages, ANALYZER.lexemes, 90) == digest(passages[::-1], ANALYZER.lexemes, 90)


EDGES = st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=4), max_size=8)


class TestGroups:
    def test_connected_members_form_a_group_in_either_direction(self) -> None:
        assert groups({"a": ["b"], "c": ["b"], "d": []}, 10) == [["a", "b", "c"], ["d"]]

    @given(EDGES, st.integers(1, 9))
    def test_every_member_is_in_exactly_one_group_of_bounded_size(self, edges: dict[str, list[str]], most: int) -> None:
        found = groups(edges, most)
        members = [member for group in found for member in group]
        assert sorted(members) == sorted(edges.keys() | {other for others in edges.values() for other in others})
        assert all(1 <= len(group) <= most for group in found)

    def test_a_long_chain_is_cut_and_the_rest_is_not_lost(self) -> None:
        chain = {f"{number:02}": [f"{number + 1:02}"] for number in range(9)}
        assert [len(group) for group in groups(chain, 6)] == [6, 4]
