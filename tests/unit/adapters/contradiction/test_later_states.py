"""Later states without words of change: recorded from what the vectors say, and never where a rule forbids it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from biem.adapters.contradiction import build
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
POLICY = ConflictPolicy()
RULES = build()
LATER = [
    ("The kennel holds six puppies.", "Only two puppies are left in the kennel."),
    ("狗窝里有六只小狗。", "小狗都被新主人领走了，狗窝里只剩一床毯子。"),
    ("我给剧团吹长号。", "剧团缺人，我去吹大号了。"),
]
INNOCENT = [
    ("The kennel holds six puppies.", "Do only two puppies live in the kennel?"),
    ("The kennel holds six puppies.", "My neighbour said only two puppies are left in the kennel."),
    ("The kennel holds six puppies.", "If only two puppies were left in the kennel, I'd cry."),
    ("I sing tenor in the choir.", "I wish the choir put me among the baritones."),
    ("狗窝里有六只小狗。", "狗窝里只剩两只小狗了吗？"),
    ("狗窝里有六只小狗。", "听邻居说狗窝里只剩两只小狗了。"),
    ("狗窝里有六只小狗。", "要是狗窝里只剩两只小狗，我会哭的。"),
    ("我给剧团吹长号。", "真想去吹大号啊。"),
    ("My rowing shoes are Bonts.", "My brother swapped his Bonts for a pair of Shimanos."),
    ("I play the tuba in the band.", "The band is short of people, I play the trombone as well."),
    ("领唱叫方棠。", "副领唱也姓方，叫方菱。"),
    ("表妹在舟山的一家船厂画图。", "表弟去了嘉兴的一家鞋厂打版。"),
    ("小羊对苜蓿过敏，配饲料的时候千万记得。", "检查结果出来了，小羊除了苜蓿，大麦也不能碰。"),
]


def verdict(older: str, newer: str, alike: float = 0.9, changed: float | None = 5.0) -> Verdict | None:
    """Of two messages of one speaker, some days apart."""
    said = Statement(newer, "user", AT + timedelta(days=9), changed=changed)
    first = Statement(older, "user", AT, changed=-3.0)
    return RULES.compare(first, said, alike, least=POLICY.record_confidence)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The attic's window is round.", "The cellar's window was exchanged, it's square now."),
        ("书房的地板是橡木的。", "厨房的地板重新铺了，现在是瓷砖。"),
    ],
)
def test_the_same_part_of_another_thing_is_no_later_state(older: str, newer: str) -> None:
    found = verdict(older, newer)
    assert found is None or found.rule != "succession"


@pytest.mark.parametrize(("older", "newer"), LATER)
def test_a_later_state_is_recorded_without_words_of_change(older: str, newer: str) -> None:
    found = verdict(older, newer)
    assert found is not None
    assert (found.kind, found.rule) == ("update", "succession")
    assert found.confidence >= POLICY.record_confidence


@pytest.mark.parametrize(("older", "newer"), LATER)
def test_what_neither_vector_nor_word_tells_of_a_change_is_not_recorded(older: str, newer: str) -> None:
    for found in (verdict(older, newer, changed=None), verdict(older, newer, changed=-4.0), verdict(older, newer, 0.1)):
        assert found is None or (found.rule != "succession" and found.confidence < POLICY.act_confidence)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Tram 12 was 6 minutes late", "Tram 12 was 9 minutes late"),
        ("12路电车晚了6分钟", "12路电车晚了9分钟"),
        ("Model Alpha reads 10M tokens at once", "Model Beta reads 128K tokens at once"),
        ("My tent has a hole", "The concert in Graz was cancelled"),
        ("我的帐篷破了个洞", "去格拉茨的演唱会取消了"),
        ("I swept the yard of the mill after lunch", "This evening I swept the yard of the mill"),
        ("我又扫了磨坊的院子", "今天晚上我扫了磨坊的院子"),
    ],
)
def test_reports_of_one_kind_and_lines_about_nothing_in_common_succeed_nothing(older: str, newer: str) -> None:
    found = verdict(older, newer, 0.95, 9.0)
    assert found is None or found.rule != "succession"


@pytest.mark.parametrize(("older", "newer"), LATER)
def test_in_a_dialogue_of_people_the_rules_decide_alone(older: str, newer: str) -> None:
    said = Statement(newer, "Ida", AT + timedelta(days=9), changed=5.0)
    found = RULES.compare(Statement(older, "Ida", AT, changed=-3.0), said, 0.9, least=POLICY.record_confidence)
    assert found is None or found.rule != "succession"


@pytest.mark.parametrize(("older", "newer"), INNOCENT)
def test_what_is_no_fact_in_own_words_succeeds_nothing(older: str, newer: str) -> None:
    found = verdict(older, newer, 0.95, 9.0)
    assert found is None or found.rule != "succession"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The north gate opens at six.", "The south gate opens at nine now."),
        ("北门六点开。", "南门九点才开了。"),
        ("My mother paints ducks.", "My uncle paints geese these days."),
        ("我妈画鸭子。", "我舅舅现在画大雁了。"),
    ],
)
def test_another_one_of_a_kind_is_never_retired(older: str, newer: str) -> None:
    found = verdict(older, newer, 1.0, 9.0)
    assert found is None or not found.aligned or found.confidence < POLICY.act_confidence


def test_less_is_required_of_two_languages() -> None:
    found = verdict("I keep six puppies in the kennel.", "狗窝里只剩两只小狗。", 0.4, 3.0)
    assert found is not None
    assert found.rule == "succession"


def test_two_speakers_succeed_each_other_in_nothing() -> None:
    older, newer = LATER[0]
    said = Statement(newer, "jana", AT + timedelta(days=9), changed=5.0)
    first = Statement(older, "user", AT, changed=-3.0)
    assert RULES.compare(first, said, 0.9, least=POLICY.record_confidence) is None
    assert RULES.compare(first, replace(said, speaker="user"), 0.9, least=POLICY.record_confidence) is not None
