"""General rules of disagreement, in both languages: kinds of things, how often, how many."""

import pytest

from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = RuleContradictions()
POLICY = ConflictPolicy()


def compare(older: str, newer: str, similarity: float = 0.7) -> Verdict | None:
    """Two statements of one person."""
    return RULES.compare(Statement(older, "ann"), Statement(newer, "ann"), similarity)


@pytest.mark.req("B40", "C9", partly="rules by kind of disagreement")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # the general denied, the special affirmed
        ("I don't have any siblings", "I have two brothers"),
        ("I am allergic to peanuts", "I have no allergies"),
        ("My brother is a vegetarian", "My brother eats meat every day"),
        ("I have no pets", "I have a dog"),
        ("我没有兄弟姐妹", "我有一个哥哥"),
        ("我是素食主义者", "我最爱吃红烧肉"),
        # how often
        ("I rarely exercise", "I exercise every day"),
        ("我从不熬夜", "我经常熬夜"),
        ("我再也不去那家店了", "我每周都去那家店"),
        ("我戒烟了", "我每天抽一包烟"),
        ("Tom smokes", "Tom quit smoking last month"),
        ("I used to smoke", "I have never smoked"),
        # how many
        ("大家都同意这个方案", "没有人同意这个方案"),
        ("全班都通过了考试", "全班没有一个人通过考试"),
        ("所有测试都通过了", "有些测试没通过"),
        ("公司有200名员工", "公司有500名员工"),
        ("The team has 12 engineers", "The team has 20 engineers"),
        # news that end or change something
        ("I work at Acme", "I got a job at Globex"),
        ("I work at Acme", "I was laid off from Acme"),
        ("I am single", "I got married in May"),
        ("The wifi password is heron", "I changed the wifi password to osprey"),
        ("The budget is 10k", "The budget was cut to 8k"),
        ("The meeting is on Tuesday", "The meeting is cancelled"),
        ("I live in Leeds", "We moved to York last month"),
        ("我住在北京", "我上个月搬家到上海了"),
        ("我在腾讯上班", "我被腾讯裁员了"),
        ("会议在周二", "会议改到周四了"),
        ("会议在周二下午三点", "会议取消了"),
        ("预算是10万", "预算砍到8万了"),
        ("航班是10点40", "航班延误到13点了"),
        # values
        ("My phone number is 555-1234", "My phone number is 555-9876"),
        ("I have lived in Rome for ten years", "I live in Naples"),
        ("房租每月三千", "房租涨到三千五了"),
        ("他是左撇子", "他是右撇子"),
        ("我属龙", "我属虎"),
        ("他已经结婚了", "他还是单身"),
    ],
)  # fmt: skip
def test_these_disagree_and_are_recorded(older: str, newer: str) -> None:
    # Given two statements that cannot both hold / When compared / Then it is worth recording
    verdict = compare(older, newer)
    assert verdict is not None
    assert verdict.kind != "duplicate"
    assert verdict.confidence >= POLICY.record_confidence


@pytest.mark.req("C9", partly="what is no conflict")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # another subject, left out or introduced on the way
        ("我叫张伟", "我养了一只猫，叫花花"),
        ("我叫张伟", "我女儿五岁了，叫小雨"),
        ("我叫张志强", "昨晚我试着烤了个蛋糕，叫做黑森林"),
        ("我今年30岁", "我女儿上学了，今年6岁"),
        ("我住在北京", "我爸妈退休了，住在成都"),
        # another kind, another person
        ("I have no pets", "I saw a dog in the park"),
        ("I am a vegetarian", "My brother eats meat"),
        ("我没有孩子", "我姐姐有一个儿子"),
        ("我不喝酒", "我爸爸喝啤酒"),
        ("My brother Arjun lives in Mumbai", "I no longer live in Leeds, I moved to York"),
        ("I live in Leeds", "My brother moved to York"),
        ("I work at Acme", "My wife works at Globex"),
        ("My sister's car is at the garage", "The car was moved to the yard"),
        # other occasions
        ("Yesterday we won against Leeds", "Today we lost against Leeds"),
        ("昨天下雨了", "今天没下雨"),
        # some do and some do not
        ("Some of my friends smoke", "Some of my friends don't smoke"),
        ("有些同学通过了", "有些同学没通过"),
        # the same, from the other end
        ("我比弟弟高", "弟弟比我矮"),
        ("Anna is taller than Ben", "Ben is taller than Carl"),
        ("Anna is Ben's friend", "Ben is Anna's friend"),
        ("房租每月三千", "水费每月三十"),
    ],
)
def test_these_hold_together(older: str, newer: str) -> None:
    # Given two statements that may both be true / When compared / Then at most a model is asked
    verdict = compare(older, newer)
    assert verdict is None or verdict.confidence < POLICY.record_confidence


@pytest.mark.req("C9", partly="what acts by itself")
@pytest.mark.parametrize(
    ("older", "newer", "acts"),
    [
        ("I drink coffee every morning", "I never drink coffee any more", True),
        ("I work at a bakery as a baker", "I no longer work at the bakery", True),
        ("我每周去健身房锻炼", "我不再去健身房锻炼了", True),
        ("我每天早上喝咖啡", "我不再喝咖啡了，改喝茶", True),
        ("豆豆学钢琴", "豆豆不学钢琴了", True),
        ("和老张打羽毛球，输了", "老张不打羽毛球了", False),
        ("My manager is Daniel", "My manager is now Olivia, Daniel left", True),
        ("My brother Arjun lives in Mumbai", "Arjun moved to Pune", True),
        ("I live in Porto with Ana near the old harbour", "I no longer live with Ana", False),
        ("I drink coffee every morning", "I didn't drink coffee this morning", False),
    ],
)
def test_what_is_so_no_longer_supersedes_nearly_all_that_was_said(older: str, newer: str, acts: bool) -> None:
    # Given something said, and later that it is so no longer / When compared
    verdict = compare(older, newer)

    # Then the rule acts on its own if it is said of nearly all, and not of one detail
    assert (verdict is not None and verdict.confidence >= POLICY.act_confidence) == acts


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I have no pets", "I have a dog"),
        ("I am a vegetarian", "I eat meat every day"),
        ("我没有兄弟姐妹", "我有一个哥哥"),
        ("大家都同意这个方案", "没有人同意这个方案"),
    ],
)
def test_the_quick_way_out_for_unlike_texts_misses_none_of_them(older: str, newer: str) -> None:
    # Given words that hardly agree / When only sure verdicts are wanted / Then it is the same verdict
    quick = RULES.compare(Statement(older, "ann"), Statement(newer, "ann"), 0.3, least=POLICY.record_confidence)
    assert quick == compare(older, newer, 0.3)


def test_suspicions_keep_their_order_below_the_ceiling() -> None:
    # Given pairs with weak cues of different strength / When compared / Then the strongest is shown from the others
    weak = [
        compare(older, newer, 0.9)
        for older, newer in (
            ("I think the plan may work", "I don't know whether the plan works, nobody does"),
            ("我只听过一场交响乐", "我不听古典音乐的"),
            ("我跑了8圈", "我没跑圈"),
        )
    ]
    found = {verdict.confidence for verdict in weak if verdict is not None and verdict.rule == "cues"}
    assert len(found) > 1
    assert max(found) < POLICY.record_confidence
