"""Texts that deny a time or date of an earlier one."""

import pytest

from biem.adapters import contradiction
from biem.engine.context.currency.former_values import denies_former, gives_way

RULES = contradiction.build()


@pytest.mark.parametrize(
    ("older", "newer", "denied"),
    [
        ("The bus to Lund goes at 7:25.", "The board shows 7:55, not 7:25.", True),
        ("The bus to Lund goes at 7:25.", "I can't make 7:25, so I take the one at 8:00.", True),
        ("We row at half six.", "Oda can't do half six, we row at seven.", True),
        ("Our audit is on 9 May.", "The hall isn't free on the 9th, we do it on the 11th.", True),
        ("Our audit is on 9 May.", "We audit on 11 May instead of 9 May.", True),
        ("Our audit is on 9 May.", "No way we make the ninth, so it's 11 May.", True),
        ("Our audit is on 9 May.", "The ninth visitor couldn't come before 11 May.", False),
        ("Our audit is on 9 May.", "We audit on 11 May.", False),
        ("Our audit is on 9 May.", "I'm not free on 9 May.", False),
        ("The pool opens at 8:00.", "I can't call at 8:00, let's say 9:00.", False),
        ("这个托盘能放36棵苗。", "花盆是63块，不是36块。", False),
        ("这个托盘能放36棵苗。", "那个数我记岔了，是63。", False),
        ("We audit on Mondays.", "I'm not free on Mondays, call me on Fridays.", False),
    ],
)
def test_a_former_time_or_date_is_denied_beside_another_one(older: str, newer: str, denied: bool) -> None:
    assert denies_former(newer, RULES.matter(newer), RULES.matter(older)) == denied


@pytest.mark.parametrize(
    ("older", "newer", "asked", "gives"),
    [
        ("保洁是老苗，一周来两趟。", "老苗摔断了胳膊，最近上门打扫的是阿桂。", "谁来打扫？", True),
        ("上网课用的是钉钉。", "钉钉总掉线，先用腾讯会议凑合。", "上网课用什么？", True),
        ("My tutor is Imke.", "Imke got a post in Oslo, Ravi takes over from her.", "Who is my tutor?", True),
        ("Imke is our tutor.", "Imke got a post in Oslo, Ravi takes over from her.", "Who is our tutor?", True),
        ("Imke is our tutor.", "Imke swapped with Ravi, he has us on Mondays.", "Who is our tutor?", True),
        ("Imke has the late shift.", "Imke is tired, Ravi has it from tomorrow.", "Who has the late shift?", True),
        ("Imke lives in Bonn.", "Imke got a post in Oslo, Ravi takes over from her.", "Where does Imke live?", False),
        ("我和老苗一个村。", "老苗说了，以后打扫的事交给阿桂。", "老苗是哪里人？", False),
        ("保洁是老苗。", "老苗的儿子考上大学了，现在在武汉。", "谁来打扫？", False),
        ("保洁是老苗。", "老苗今天买了新拖把，挺好用。", "谁来打扫？", False),
        ("上网课用的是钉钉。", "钉钉总掉线，不过现在还是用钉钉。", "上网课用什么？", False),
        ("直播用的是小蚁。", "朋友转了台大疆给我，小蚁卖了。", "直播用什么？", True),
        ("直播用的是小蚁。", "朋友送了盏灯给我，小蚁架在灯下面。", "直播用什么？", False),
        ("我们住在杭州。", "我们周末去爬山了，现在腿酸。", "我们住在哪儿？", False),
    ],
)
def test_what_became_of_a_value_and_what_came_after(older: str, newer: str, asked: str, *, gives: bool) -> None:
    asks_who = asked.startswith(("Who", "谁"))

    assert gives_way(newer, older, asked, asks_who=asks_who) == gives
