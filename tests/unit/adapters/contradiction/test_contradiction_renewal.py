"""True updates take effect however they are worded, and what is about something else retires nothing."""

import pytest

from biem.adapters.contradiction import build
from biem.adapters.contradiction.subjects.reports import is_reported
from biem.domain.conflict import Statement
from biem.ports.contradiction import ContradictionRules

UPDATES = (
    ("I live in Berlin.", "I've just moved to Munich."),
    ("I live in Berlin.", "I don't live in Berlin anymore, Munich is home now."),
    ("I'm based in Graz.", "I said Graz, but my flat is in Linz."),
    ("My car is a Volvo.", "The Volvo is gone, I drive a Mini now."),
    ("My sister owns a Volvo.", "My sister bought a Toyota to replace the Volvo."),
    ("My cousin trains in karate every weekend.", "My cousin switched from karate to yoga."),
    ("My uncle has a position at Lumen Press.", "Orbita hired my uncle away from Lumen Press."),
    ("My father likes silver best when it comes to a colour.", "My father's favourite colour is purple now."),
    ("Wang Lei is my piano teacher.", "Wang Lei is no longer my piano teacher, Chen Jie took over."),
    ("The stand-up is on Wednesday at 13:00.", "I gave you the wrong time, the stand-up is on Friday at 12:00."),
    ("6329 opens the cellar.", "I mistyped, the cellar opens with 7082."),
    ("I take the bus to work.", "I switched from the bus to the bike."),
    ("My birthday is on May 14th.", "Correction: my birthday is on May 15th."),
    ("我住在北京", "我不住北京了，现在住杭州"),
    ("我在格拉茨租了个小房子。", "说错了，我住在林茨，不是格拉茨。"),
    ("我妈妈有一辆特斯拉。", "我妈妈的新车是丰田雅力士。"),
    ("我打网球", "我不打网球了，改打高尔夫"),
    ("我最喜欢的颜色是绿色", "我改主意了，我最喜欢的颜色是蓝色"),
    ("牙医预约在3月3日", "牙医预约改到3月12日了"),
    ("我妈妈的生日是9月3日", "说错了，我妈妈的生日是9月5日"),
    ("考试是6月3日", "我说错了，考试是6月5日"),
    # the speaker's own words, although others think, say or show something beside it
    ("I drink beer", "I think I don't drink beer any more"),
    ("我吃羊肉", "我觉得我已经不吃羊肉了"),
    ("我住在大连", "医生觉得潮湿不好，我搬到兰州了"),
    ("我住在大连", "跟你讲，我搬到兰州了"),
    ("秤上显示我有82公斤。", "秤不准，我体重是86公斤。"),
)
INNOCENT = (
    # what others say, write or think of the speaker, and what is denied as untrue
    ("摊位费一个月900。", "摊位费涨了一百。"),
    ("The pitch costs 90 a month.", "The pitch went up by 15 a month."),
    ("表妹在宁波上班。", "表弟现在在温州上班了。"),
    ("I eat lamb", "Everyone assumes I don't eat lamb any more"),
    ("I play squash", "My trainer suspects I no longer play squash"),
    ("I drink beer", "Mia complains that I don't drink beer any more"),
    ("I drink beer", "The doctor was convinced that I don't drink beer any more"),
    ("I take zinc at night", "It's not true that I stopped taking zinc at night"),
    ("我吃虾", "食堂阿姨在本子上写我不吃虾了"),
    ("我每周三去图书馆帮忙", "听老吴讲，我已经不去图书馆帮忙了"),
    ("我喝啤酒", "医生认为我已经不喝啤酒了"),
    ("我打壁球", "教练怀疑我不打壁球了"),
    ("我吃虾", "全家都觉得我不吃虾了"),
    ("My birthday is on May 14th.", "Correction: my mother's birthday is September 5th."),
    ("My outbound flight leaves at 9:40 on Friday.", "The return flight has been moved to 18:15."),
    ("I like my job.", '"I no longer like my job," said Jana.'),
    ("The wifi password at home is hunter2", "The wifi password at the office was changed to blue42"),
    ("I love Berlin.", "I moved from Berlin to Munich."),
    ("My sister studies in Berlin.", "I moved from Berlin to Munich."),
    ("My car is a Volvo.", "My car is now five years old."),
    ("I have a cat named Miso.", "I have a cat named Tofu now."),
    ("I have a meeting on Monday.", "I have a new meeting on Tuesday."),
    ("My old phone has 64 GB", "My new phone has 256 GB"),
    ("I live in Berlin.", "If I moved to Munich now, I'd miss the lakes."),
    ("I play tennis.", "I've started golf as well, besides tennis."),
    ("She lives in Prague.", "She moved to Vienna."),
    ("Alex is vegetarian.", "Alexa is no longer vegetarian."),
    ("我的生日是5月14日。", "更正：我妈妈的生日是9月5日。"),
    ("去程航班是早上9点", "返程航班改到晚上8点了"),
    ("家里的wifi密码是abc123", "公司的wifi密码改成xyz789了"),
    ("我的车是沃尔沃", "我的车现在在修理厂"),
    ("我爱北京", "我从北京搬到上海了"),
    ("第一次面试是周一", "第二次面试改到周五"),
)
BRIEF = (
    ("The dentist is on March 5 at 9:00.", "Actually, make that the 12 March."),
    ("I work for Novalux.", "Wait, no: Tencent."),
    ("合唱排练在周四10点", "不对，是周五"),
    ("我的房东叫孙悦。", "搞错了，是艾莎。"),
)


@pytest.fixture(scope="module")
def rules() -> ContradictionRules:
    return build()


def acts(rules: ContradictionRules, older: str, newer: str, *, follows: bool = False) -> bool:
    """Whether the rules alone retire the older."""
    verdict = rules.compare(Statement(older), Statement(newer, follows=follows), 0.7, least=0.5)
    return verdict is not None and verdict.aligned and not verdict.partial and verdict.confidence >= 0.8


@pytest.mark.parametrize(
    "said", ["Can't believe I sold the Volvo.", "Just heard my flight was moved to 9.", "顺便讲我搬到兰州了。"]
)
def test_a_speaker_who_leaves_out_the_pronoun_does_not_report(said: str) -> None:
    assert not is_reported(said)
    assert is_reported("My boss just heard my flight was moved to 9.")


@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_a_true_update_takes_effect(rules: ContradictionRules, older: str, newer: str) -> None:
    assert acts(rules, older, newer)


@pytest.mark.parametrize(("older", "newer"), INNOCENT)
def test_what_is_about_something_else_retires_nothing(rules: ContradictionRules, older: str, newer: str) -> None:
    assert not acts(rules, older, newer)


@pytest.mark.parametrize(("older", "newer"), BRIEF)
def test_a_brief_correction_is_of_what_was_said_right_before(rules: ContradictionRules, older: str, newer: str) -> None:
    assert acts(rules, older, newer, follows=True)
    assert not acts(rules, older, newer)


def test_two_values_of_one_thing_are_rivals_without_any_word_of_change(rules: ContradictionRules) -> None:
    assert rules.rivals(Statement("I'm based in Graz"), Statement("Home for me is Linz"))
    assert rules.rivals(Statement("我住在格拉茨"), Statement("我家在林茨"))
    assert not rules.rivals(Statement("I'm based in Graz"), Statement("My brother is based in Linz"))
    assert not rules.rivals(Statement("I'm based in Graz"), Statement("I work at Bosch"))


def test_an_unrelated_change_is_not_even_recorded(rules: ContradictionRules) -> None:
    pairs = (
        ("My birthday is May 14th.", "The Lisbon trip is postponed to September 5th."),
        ("我妈妈的生日是9月3日", "牙医预约改到9月12日了"),
    )
    for older, newer in pairs:
        assert rules.compare(Statement(older), Statement(newer), 0.7, least=0.5) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My cousin Nell plays handball.", "I can't eat walnuts, I have an allergy."),
        ("My brother works at the mill.", "I don't eat meat, it makes me sick."),
        ("My neighbour keeps bees.", "Correction: I live in Graz."),
        ("Our new vet is called Mrs Hale.", "*really* tired today"),
        ("我弟弟的运动是网球。", "更正：我的饮食是清真。"),
        ("我记笔记用的是轨道。", "九月的会议我搞错了，是在贵阳，不是昆明。"),
        ("小侄子今年7岁。", "我算错了，少拿了30块"),
        ("仓库月租3300。", "刚才转错了，转了3900"),
    ],
)
def test_a_correction_of_something_else_said_right_after_retires_nothing(
    rules: ContradictionRules, older: str, newer: str
) -> None:
    # Given a statement / When the next message denies or corrects what it does not tell / Then it stays
    assert not acts(rules, older, newer, follows=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The course is on 9 April.", "Sorry, June 6, not 9 April."),
        ("My flat is in Linz.", "It's not Linz, it's Graz."),
        ("Our new vet is called Mrs Hale.", "*Mrs Haley"),
        ("我家在林茨。", "不是林茨，是格拉茨。"),
        ("小狗称了一下，13公斤，又重了。", "看反了，31"),
        ("船票一张210块。", "记岔了，是120"),
        ("爷爷今年86了。", "说早了，是85"),
        ("我的柜子是41号。", "抄反了，改成了14"),
        ("我住7栋1604。", "打错了，是7栋1640"),
    ],
)
def test_a_correction_that_denies_what_was_said_right_before_takes_effect(
    rules: ContradictionRules, older: str, newer: str
) -> None:
    assert acts(rules, older, newer, follows=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Tampere.", "I moved to Oulu last weekend."),
        ("I live in Tampere.", "I moved to Oulu the other day."),
        ("I live in Tampere.", "I moved to Oulu last Monday."),
        ("我住在海口。", "我上周末搬到三亚了。"),
        ("我住在海口。", "我前阵子搬到三亚了。"),
    ],
)
def test_when_it_changed_is_no_part_of_the_new_value(rules: ContradictionRules, older: str, newer: str) -> None:
    assert acts(rules, older, newer)
