"""Updates told in another language than what they change."""

import pytest

from biem.adapters import contradiction
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = contradiction.build()
POLICY = ConflictPolicy()


def verdict(older: str, newer: str) -> Verdict | None:
    """On two statements of one user."""
    return RULES.compare(Statement(older), Statement(newer), None, least=POLICY.record_confidence)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # ways, ranks and occasions have other words there
        ("返程航班是5月3日9点20分。", "My return flight now leaves on May 4 at 10:10."),
        ("My return flight is on 2 June at 8:15.", "返程航班改签到6月5日11点30分了。"),
        ("我姐姐住在奥胡斯。", "My sister has moved to Tromsø."),
        ("My sister lives in Aarhus.", "我妹妹搬到特罗姆瑟了。"),
        ("我嫂子开一辆五菱。", "My sister-in-law's new car is a Skoda."),
        ("The honeymoon will take us to Toronto.", "多伦多取消了，蜜月现在去希腊。"),
        # relatives that the dictionary does not have, or spells otherwise
        ("我表妹在利兹工作。", "My cousin works in Porto now."),
        ("My neighbour lives in Leeds.", "我邻居搬到波尔图了。"),
        ("My godson goes to Elm Park School.", "我干儿子从榆园学校转到了滨海学校。"),
        # names that cannot be compared, of which one is named as former
        ("I work for Corvex.", "我从柯维克跳槽到远帆重工了。"),
        ("My daughter's school is Elm Park.", "我女儿从榆园小学转到了滨海小学。"),
        # numbers named as former tell what is meant
        ("For the books: gas bill 740 euros.", "我的燃气费现在是810欧元，不是740欧元了。"),
        # a word that is taken for a name, and a stem that ends in another letter
        ("I have a pension of 900 euros a month.", "更正，养老金：950欧元。"),
        ("Lilies are my favourite flowers.", "茉莉取代了百合，成了我最喜欢的花。"),
    ],
)
def test_a_change_told_in_the_other_language_replaces_what_it_changes(older: str, newer: str) -> None:
    # When both are compared / Then the newer takes the place of the older
    found = verdict(older, newer)
    assert found is not None
    assert (found.kind, found.aligned) == ("update", True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The outbound flight is on 2 June at 8:15.", "返程航班改签到6月5日11点30分了。"),
        ("My younger sister lives in Aarhus.", "我姐姐搬到特罗姆瑟了。"),
        ("My aunt lives in Aarhus.", "我姐姐搬到特罗姆瑟了。"),
        ("The honeymoon will take us to Toronto.", "暑假不去罗马了，去希腊。"),
        ("My uncle Joe's company is Corvex.", "我从柯维克跳槽到远帆重工了。"),
        ("I came back from Porto last night, a work trip.", "我从柯维克跳槽到远帆重工了。"),
        ("I eat fish.", "我不吃肉了。"),
        ("Anna lives in Aarhus.", "我搬到特罗姆瑟了。"),
        ("The choir meets at 19:00.", "瑜伽课不在19点了，改成20点。"),
        ("For the books: gas bill 740 euros.", "我的房租现在是810欧元，不是740欧元了。"),
        ("The outbound flight is on 3 May.", "牙医的预约不是5月3日，是5月6日。"),
        ("I drive a Skoda.", "我女儿把斯柯达卖了，换了五菱。"),
    ],
)
def test_a_change_of_something_else_in_the_other_language_replaces_nothing(older: str, newer: str) -> None:
    found = verdict(older, newer)
    assert found is None or not found.aligned


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Quartzite is due on 3 March.", "The client gave us more time, Quartzite is due on 9 April."),
        ("我的领导叫孙悦。", "我换了新的领导：许静。"),
    ],
)
def test_more_time_and_a_new_one_state_a_change(older: str, newer: str) -> None:
    found = verdict(older, newer)
    assert found is not None
    assert (found.kind, found.aligned) == ("update", True)
