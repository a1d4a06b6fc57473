"""A statement that says several things is not retired because one of them changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = RuleContradictions()
ACTS = ConflictPolicy().act_confidence

MORE = """
Ann lives in Berlin and owns a cat | Ann moved to Paris
I live in Berlin and work at Acme | I moved to Paris
I live in Berlin. I have two sisters. | I moved to Paris
I live in Berlin; my sister visits on Sundays | I moved to Paris
My daughter is 5 and my son is 7 | My daughter turned 6
The meeting is at 3 pm on Friday and Bob leads it | The meeting moved to 5 pm
I eat meat and drink beer | I no longer eat meat
I am allergic to peanuts but I love pizza | I am not allergic to peanuts
小明住在北京，养了一只猫 | 小明搬到上海了
我住在北京并养了一只猫 | 我搬到上海了
我喜欢茶和咖啡 | 我不再喜欢茶了
我住在北京，在腾讯上班 | 我搬到上海了
My rent is 800, the garage is 60 | My rent is 850 now
The gym opens at 7, the pool opens at 9 | The gym opens at 6 now
`orders` uses Node 18, `shop` uses Node 20 | Upgraded orders to Node 22
Billing runs on Node 18 and web runs on Node 20 | Upgraded billing to Node 22
房租3000，停车位300 | 房租涨到3200了
健身房7点开门，游泳馆9点开门 | 健身房改成6点开门了
"""
ALL = """
Ann lives in Berlin | Ann moved to Paris
I live in Berlin, Germany | I moved to Paris
I live in Berlin, up on the hill, third floor, no lift | I moved to Paris
I live in Berlin now, and it is great | I moved to Paris
I like tea and coffee | I no longer like tea and coffee
Hello there! By the way, I live in Berlin, and I love it. See you soon! | I moved to Paris
我住在北京，建国路88号 | 我搬到上海了
小明住在北京 | 小明搬到上海了
我住在北京，朝阳区 | 我搬到上海了
My rent is 800, due on the 3rd | My rent is 850 now
我的牙医预约在周五，下午三点 | 我的牙医预约改到周一了
大家好，顺便说一下，我住在北京，非常喜欢这里。很高兴认识你 | 我搬到上海了
"""


def pairs(lines: str) -> list[tuple[str, str]]:
    """The two sides of each line."""
    return [(older, newer) for line in lines.strip().splitlines() for older, newer in [line.split(" | ")]]


def judged(older: str, newer: str) -> Verdict:
    """What the rules say of a pair that disagrees."""
    verdict = RULES.compare(Statement(older, "Bo"), Statement(newer, "Bo"), 0.8)
    assert verdict is not None
    return verdict


@pytest.mark.req("B3", "C9", partly="what else the older one says")
@pytest.mark.parametrize(("older", "newer"), pairs(MORE))
def test_news_about_one_claim_is_a_verdict_about_a_part(older: str, newer: str) -> None:
    # Given a statement of two claims / When one of them is contradicted, as surely as may act
    verdict = judged(older, newer)
    assert verdict.confidence >= ACTS
    # Then the verdict says that the older one says more
    assert verdict.partial


@pytest.mark.parametrize(("older", "newer"), pairs(ALL))
def test_news_about_all_that_is_claimed_is_a_verdict_about_the_whole(older: str, newer: str) -> None:
    # Given a statement of one claim, however it is put, or news about each of several
    verdict = judged(older, newer)
    # Then nothing besides stands in the way of acting
    assert verdict.confidence >= ACTS
    assert not verdict.partial


def test_a_verdict_about_several_claims_is_no_surer_than_about_each() -> None:
    # Given a statement of two claims, both of which change / Then it is no surer than what is known of either
    whole = judged("我住在北京，在腾讯上班", "我搬到上海了，跳槽到阿里了")
    home = judged("我住在北京", "我搬到上海了，跳槽到阿里了")
    employer = judged("我在腾讯上班", "我搬到上海了，跳槽到阿里了")
    assert not whole.partial
    assert whole.confidence <= min(home.confidence, employer.confidence)


def test_the_same_said_twice_is_a_duplicate_of_the_whole() -> None:
    text = "Ann lives in Berlin and owns a cat"
    assert judged(text, text) == Verdict("duplicate", 0.95, "equal words")


@given(text=st.text(max_size=60), newer=st.sampled_from(("Ann moved to Paris", "小明搬到上海了")))
def test_any_addition_to_a_claim_has_an_answer_and_a_duplicate_is_never_partial(text: str, newer: str) -> None:
    for older in (f"Ann lives in Berlin and {text}", f"小明住在北京，{text}"):
        verdict = RULES.compare(Statement(older), Statement(newer), None)
        assert verdict is None or not (verdict.partial and verdict.kind == "duplicate")
