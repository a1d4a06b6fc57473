"""Relatives that one English word names and Chinese distinguishes."""

import pytest

from biem.domain.speech.kinship import are_other_relatives, distinguished


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我表姐和舅舅都来了", {"表姐", "舅舅"}),
        ("姑妈家新装了空调", {"姑姑"}),
        ("表姐夫会修车，表姐的女儿学画画", set()),
        ("My cousin moved to Linz", set()),
    ],
)
def test_each_word_names_one_person(text: str, found: set[str]) -> None:
    assert distinguished(text) == found


def test_two_texts_are_of_other_relatives_only_where_both_name_some() -> None:
    assert are_other_relatives("表弟在哪儿上班？", "表妹在邮局上班")
    assert not are_other_relatives("姑姑几点到？", "姑妈五点到")
    assert not are_other_relatives("表弟在哪儿上班？", "My cousin works at the post office")
    assert not are_other_relatives("我在哪儿上班？", "表妹在邮局上班")
