"""Traditional Chinese is read in simplified characters, and shown as it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.node import Hit, Node, as_read, as_written, written
from biem.domain.scope import Scope
from biem.domain.text import part_of, simplified
from tests.support.fakes import START


def memory(text: str) -> Node:
    return Node(
        id=text,
        scope=Scope(user="u"),
        text=text,
        kind="event",
        status="active",
        layer="short_term",
        at=START,
        created_at=START,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我上禮拜從臺北搬到高雄了", "我上礼拜从台北搬到高雄了"),
        ("妳的貓叫什麼？牠幾歲？", "你的猫叫什么？它几岁？"),
        ("姊姊甚麼時候來？", "姐姐什么时候来？"),
        ("他拿著傘，瞭解了", "他拿着伞，了解了"),
        ("這本名著著名，效果顯著", "这本名著著名，效果显著"),
        ("乾隆年間的乾淨餅乾", "乾隆年间的干净饼干"),
        ("帳號和蚊帳", "账号和蚊帐"),
        ("呢部巴士喺中環總站開", "呢部巴士喺中环总站开"),
        ("Redis 換成 Valkey 了 😀", "Redis 换成 Valkey 了 😀"),
    ],
)
def test_traditional_characters_become_simplified_ones(text: str, expected: str) -> None:
    assert simplified(text) == expected


@pytest.mark.parametrize("text", ["我上周搬到高雄了", "著名的乾隆皇帝", "Ich fliege über Köln", "きのう", "🚲", ""])
def test_other_texts_are_returned_as_they_are(text: str) -> None:
    assert simplified(text) is text


@given(st.text())
def test_the_length_stays_and_a_second_reading_changes_nothing(text: str) -> None:
    once = simplified(text)
    assert len(once) == len(text)
    assert simplified(once) == once


@given(st.text(alphabet="臺灣台湾著乾a ", min_size=1), st.data())
def test_each_part_is_found_where_it_was_written(text: str, data: st.DataObject) -> None:
    read = simplified(text)
    start = data.draw(st.integers(0, len(text) - 1))
    part = read[start : data.draw(st.integers(start + 1, len(text)))]
    place = read.find(part)
    assert part_of(text, part) == text[place : place + len(part)]
    assert part_of(text, "none of it") == "none of it"


def test_a_memory_is_shown_as_it_was_written_with_all_others_of_its_hit() -> None:
    node, before = memory("我養了一隻貓。牠叫年糕。"), memory("妳養了什麼？")
    read = as_read(node)
    assert (read.text, written(read)) == ("我养了一只猫。它叫年糕。", node.text)
    hit = Hit(read, 0.5, {}, answers=as_read(before), told=("它叫年糕。",))
    (shown,) = as_written([hit])
    assert (shown.node, shown.answers, shown.told) == (node, before, ("牠叫年糕。",))


def test_a_memory_in_other_characters_is_itself() -> None:
    node = memory("我养了一只猫。")
    assert as_read(node) is node
    hit = Hit(node, 0.5, {})
    assert as_written([hit])[0] is hit
