"""The same turns and questions in other shapes: what is replaced, and that every question keeps its answer."""

from random import Random

import pytest

from benchmarks._data import Conversation
from benchmarks._shapes import SHAPES, cut, products, shaped, together
from benchmarks.lives.beside import conversation_of
from benchmarks.lives.grammar import Lang
from benchmarks.lives.schedule import life


def _conversation(number: int = 0) -> Conversation:
    one = conversation_of(life(number, 0, "en", "dev"))
    return cut(one, 12, 80, Random(1))


def _answerable(conversation: Conversation) -> bool:
    known = {turn.id for turn in conversation.turns}
    return all(group & known for question in conversation.questions for group in question.groups)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_keeps_texts_and_answers(name: str) -> None:
    whole = _conversation()
    (changed,) = shaped([whole], name, Random(2))
    assert sorted(turn.text for turn in changed.turns) == sorted(turn.text for turn in whole.turns)
    assert _answerable(changed)


def test_bare_facts_have_no_speaker_conversation_or_time_of_their_own() -> None:
    (bare,) = shaped([_conversation()], "bare facts", Random(2))
    assert {(turn.speaker, turn.session) for turn in bare.turns} == {("", "")}
    assert len({turn.at for turn in bare.turns}) == 1


def test_labels_and_speakers_are_replaced() -> None:
    whole = _conversation()
    labels = {name: {turn.session for turn in shaped([whole], name, Random(2))[0].turns} for name in SHAPES}
    assert labels["one label"] == {"notes"}
    assert len(labels["random labels"]) == 8
    assert labels["topic labels"] == labels["as it is"]
    assert {turn.speaker for turn in shaped([whole], "one speaker", Random(2))[0].turns} == {"Sam"}


def test_shuffled_turns_are_in_another_order_and_times_go_with_it() -> None:
    whole = _conversation()
    (shuffled,) = shaped([whole], "shuffled", Random(2))
    assert [turn.id for turn in shuffled.turns] != [turn.id for turn in whole.turns]
    moments = [turn.at for turn in shuffled.turns]
    assert moments == sorted(set(moments))


def test_one_scope_holds_all_conversations_and_what_stands_beside() -> None:
    parts, other = [_conversation(0), _conversation(1)], _conversation(2)
    (merged,) = together(parts, other.turns)
    assert len(merged.turns) == sum(len(one.turns) for one in (*parts, other))
    assert len({turn.id for turn in merged.turns}) == len(merged.turns)
    assert len(merged.questions) == sum(len(one.questions) for one in parts)
    assert _answerable(merged)


def test_a_cut_keeps_what_its_questions_need() -> None:
    one = _conversation()
    assert len(one.questions) == 12
    assert _answerable(one)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_product_like_sets_have_questions_with_answers(lang: Lang) -> None:
    made = products(0, lang, 15)
    many = {"many facts", "many filed", "filed by person", "filed over a year", "busy channel"}
    written = {"support tickets", "household log", "world notes"}
    assert made.keys() == {"facts", "filed facts", "tickets", "diary", "channel log"} | many | written
    assert {len(made[name][0].turns) for name in many - {"busy channel"}} == {960}
    assert all(60 <= len(made[name][0].turns) <= 100 and len(made[name][0].questions) == 30 for name in written)
    for name, conversations in made.items():
        assert all(_answerable(one) and one.questions and one.turns for one in conversations), name
    assert {turn.speaker for turn in made["facts"][0].turns} == {""}
    assert len({turn.speaker for turn in made["channel log"][0].turns}) == 3
    assert {"home", "employer"} & {turn.session for turn in made["filed facts"][0].turns}
    assert made["tickets"][0].turns[0].text.startswith("Ticket #")
