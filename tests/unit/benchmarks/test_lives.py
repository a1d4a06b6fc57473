"""The generator of lives: the same seed gives the same life, splits share no surface form, every answer was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks._embedders import SyntheticEmbedder
from benchmarks.gate import judge
from benchmarks.lives.beside import conversation_of
from benchmarks.lives.facts import Life
from benchmarks.lives.fates import Fates
from benchmarks.lives.grammar import LANGS, SPLITS, Lang, chatter, kinds, templates, words
from benchmarks.lives.schedule import life
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.config import load_settings

_FREE = ("echo", "echo_of", "guess")
_MIXED = (*LANGS, "mixed")
_VALUES = ("city", "company", "job", "sport", "petname", "allergen", "diet", "car", "school", "person", "wish", "liked")


@given(number=st.integers(0, 50), lang=st.sampled_from(_MIXED), split=st.sampled_from(SPLITS))
def test_the_same_arguments_give_the_same_life(number: int, lang: str, split: str) -> None:
    one, again = (life(number, 3, lang, split) for _ in range(2))  # type: ignore[arg-type]
    assert one == again
    assert one.turns != life(number + 1, 3, lang, split).turns  # type: ignore[arg-type]


@pytest.mark.parametrize("lang", LANGS)
def test_no_template_belongs_to_both_splits_and_none_is_lost(lang: Lang) -> None:
    for kind in kinds(lang).values():
        for field, forms in kind.forms.items():
            dev, held_out = (templates(lang, kind.name, field, split) for split in SPLITS)
            if field not in _FREE:
                assert not set(dev) & set(held_out), (kind.name, field)
                assert sorted((*dev, *held_out)) == sorted(forms)
                assert dev, (kind.name, field)
                assert held_out, (kind.name, field)


@pytest.mark.parametrize("name", _VALUES)
def test_no_value_belongs_to_both_splits(name: str) -> None:
    dev, held_out = (set(words(name, split)) for split in SPLITS)
    assert dev
    assert held_out
    assert not dev & held_out


@pytest.mark.parametrize("kind", ["courtesy", "small", "noted", "brief", "stranger"])
def test_no_small_talk_belongs_to_both_splits(kind: str) -> None:
    for lang in LANGS:
        assert not set(chatter(kind, lang, "dev")) & set(chatter(kind, lang, "held-out"))


def test_both_languages_know_the_same_kinds_of_facts_and_fields() -> None:
    en, zh = kinds("en"), kinds("zh")
    assert en.keys() == zh.keys()
    for name in en:
        assert en[name].forms.keys() == zh[name].forms.keys(), name
        assert (en[name].values, en[name].things) == (zh[name].values, zh[name].things)


def _lives() -> list[Life]:
    return [life(number, 0, lang, split) for lang in _MIXED for split in SPLITS for number in range(4)]


def test_an_answer_was_stated_before_it_is_asked_for() -> None:
    for one in _lives():
        place = {turn.id: position for position, turn in enumerate(one.turns)}
        for question in one.questions:
            assert all(question.groups), question
            assert bool(question.groups) is (question.category != "unknown"), question
            assert all(place[turn] < question.before for turn in question.relevant), question


def test_stale_and_valid_turns_differ_and_both_are_relevant() -> None:
    for one in _lives():
        for question in one.questions:
            assert not question.stale & question.answers, question
            assert question.stale | question.answers <= question.relevant, question


def test_each_life_has_every_sort_of_trouble() -> None:
    sorts = {turn.sort for one in _lives() for turn in one.turns}
    assert {
        *("tell", "change", "correct", "brief", "also", "reported", "hypo", "plan", "past", "joke", "deny"),
        *("small", "task", "courtesy", "question", "noted", "reply", "echo", "guess", "unknown"),
    } <= sorts


def test_no_slot_is_left_unfilled_and_turns_go_forward_in_time() -> None:
    for one in _lives():
        texts = [turn.text for turn in one.turns] + [question.text for question in one.questions]
        assert not [text for text in texts if "{" in text or "None" in text]
        moments = [turn.at for turn in one.turns]
        assert moments == sorted(set(moments))


def test_a_life_has_about_as_many_turns_and_questions_as_the_page_says() -> None:
    for one in _lives():
        assert 150 <= len(one.turns) <= 240
        assert 60 <= len(one.questions) <= 110


def test_a_value_stated_in_one_language_is_asked_for_in_the_other_in_mixed_lives() -> None:
    crossed = 0
    for one in (life(number, 0, "mixed", "dev") for number in range(4)):
        lang_of = {turn.id: turn.lang for turn in one.turns}
        crossed += sum(question.lang not in {lang_of[key] for key in question.answers} for question in one.questions)
    assert crossed > 20


def test_the_gate_benchmark_judges_every_turn_of_a_life() -> None:
    one = life(0, 0, "zh", "dev")
    sources = {turn.id: turn.role for turn in one.turns}
    judged, _ = judge(
        conversation_of(one), SyntheticEmbedder(), RuleAnalyzer(), contradiction.build(), load_settings(), sources
    )
    assert [turn.id for turn in judged] == [turn.id for turn in one.turns]
    fates = Fates()
    fates.refuse(one, {turn.id for turn in one.turns if turn.sort == "courtesy"})
    shares = {row["what"]: row["share"] for row in fates.rows()}
    assert shares["refused: courtesies"] == 1.0
    assert shares["refused: needed by a question"] == 0.0
