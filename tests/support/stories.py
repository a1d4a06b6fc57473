"""What two people live through in a month, told in English and in Chinese."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Story:
    """Texts of one month: a message of `chat` every other day, and all of `noise` every day, told apart by the day."""

    language: str
    speaker: str
    chat: Sequence[str]
    noise: Sequence[str]
    precious: str
    """Importance 5, never asked for."""
    praised: str
    unpraised: str
    """Importance 2 both; the first is of use twice."""
    asked: tuple[str, str]
    """What is recalled five times, and the question."""
    home: tuple[str, str, str]
    """Where a user lived, moved to, and the question; said in conversation."""
    taste: tuple[str, str, str]
    """A fact, the sure contradiction, and the question."""
    employer: tuple[str, str, str]
    """A fact, an unsure contradiction, and the question."""
    habit: tuple[Sequence[str], str]
    """Five messages that are alike, and the question that brings them all."""
    topic: str
    """What the habit is about."""


ENGLISH = Story(
    language="en",
    speaker="Ann",
    chat=(
        "The dentist moved my appointment to the afternoon",
        "I finished the novel about the lighthouse keeper",
        "My bicycle has a flat tyre",
        "The neighbours adopted a grey kitten",
        "I signed up for the pottery course",
        "Our train to Hamburg was cancelled",
        "I repaired the leaking kitchen tap",
        "My cousin passed her driving test",
        "The bakery on the corner sells rye bread",
        "I lost my umbrella in the museum",
        "We planted tomatoes on the balcony",
        "My laptop battery lasts two hours only",
        "The choir rehearses a mass by Haydn",
        "I cooked lentil soup for the team",
    ),
    noise=("Bus 41 was {day} minutes late", "It drizzled at {day} past noon", "Parking slot {day} was taken"),
    precious="Ann is severely allergic to peanuts",
    praised="The spare key of the cabin hangs behind the boiler",
    unpraised="The cinema sold out of popcorn",
    asked=("The alarm code of the workshop is 7714", "alarm code of the workshop"),
    home=("I live in Beijing", "I moved to Shanghai", "Where do I live?"),
    taste=("The old bridge is open", "The old bridge is closed", "old bridge"),
    employer=("Li Ming works at Acme", "Li Ming works at Globex", "Where does Li Ming work?"),
    habit=(
        (
            "I watered the roses in the greenhouse before breakfast",
            "I watered the roses in the greenhouse with my sister",
            "I watered the roses in the greenhouse with rainwater",
            "This evening I watered the roses in the greenhouse",
            "I watered the red roses in the greenhouse",
        ),
        "watered the roses in the greenhouse",
    ),
    topic="greenhouse",
)

CHINESE = Story(
    language="zh",
    speaker="小安",
    chat=(
        "牙医把我的预约改到下午了",
        "我读完了那本关于灯塔的小说",
        "我的自行车轮胎没气了",
        "邻居收养了一只灰色的小猫",
        "我报名参加了陶艺课",
        "去汉堡的火车被取消了",
        "我修好了厨房漏水的水龙头",
        "表妹考过了驾照",
        "街角的面包店卖黑麦面包",
        "我把雨伞落在博物馆了",
        "我们在阳台上种了番茄",
        "笔记本电脑的电池只能用两个小时",
        "合唱团在排练海顿的弥撒曲",
        "我给团队煮了扁豆汤",
    ),
    noise=("41路公交车晚了{day}分钟", "中午过{day}分下了点小雨", "{day}号停车位被占了"),
    precious="小安对花生严重过敏",
    praised="小木屋的备用钥匙挂在锅炉后面",
    unpraised="电影院的爆米花卖完了",
    asked=("车间的报警密码是7714", "车间的报警密码"),
    home=("我住在北京", "我搬到上海了", "我住在哪里？"),
    taste=("小安喜欢吃辣", "小安不喜欢吃辣", "小安吃辣吗"),
    employer=("李明在腾讯工作", "李明在阿里工作", "李明在哪里工作？"),
    habit=(
        (
            "早饭前我给温室里的玫瑰浇了水",
            "我和姐姐给温室里的玫瑰浇了水",
            "我又给温室里的玫瑰浇了水",
            "今天晚上我给温室里的玫瑰浇了水",
            "我用雨水给温室里的玫瑰浇了水",
        ),
        "给温室里的玫瑰浇水",
    ),
    topic="温室",
)
