"""The mood of texts: its sign on golden tables, what shifts it, and what must not."""

import pytest

from biem.adapters.analyzers import build

ANALYZER = build()
NEUTRAL = 0.05

CHINESE = {
    1: """我今天很开心|这家餐厅的菜非常好吃|我喜欢吃火锅
旅行太棒了，下次还来|他一点也不讨厌这份工作|虽然很累，但是很幸福
终于考上大学了，恭喜！|服务态度不错|我特别喜欢这个级别的比赛
他们的区别很有趣|妈妈做的饭真香|这部电影精彩极了|孩子们玩得很高兴👍
谢谢你的帮助|收到礼物很惊喜|身体恢复得很好|工作顺利，心情愉快|不是不喜欢
我爱你❤️|价格便宜，但是质量很好|别难过，一切都会好的""",
    -1: """我今天很难过|我不喜欢吃香菜|这家店太差了
没有一点意思，无聊|电影很好看，但是结局让人失望|我不开心|服务态度恶劣
我很担心妈妈的身体|手机又坏了，烦死了|他对我不好|我讨厌下雨天
考试没及格|今天不太顺利|心情糟糕😭|没什么值得高兴的|非常失望
和朋友吵架了|我失眠了，头疼|不推荐这家酒店|好难受|味道一般般，不好吃|我没觉得好玩""",
    0: """今天是星期三|会议在三点开始|他在北京工作|我买了一本书|特别行政区|级别|文件在桌子上|明天去上海出差|请把门关上
数据库有三张表|车牌号是12345|他住在五楼""",
}
ENGLISH = {
    1: """I love this city|What a wonderful day!
The food was delicious and the staff friendly|I am so happy for you|Great job
Not bad at all|I passed the exam, yay!
She is a kind and generous person|The trip was boring at first, but it ended up amazing
This made me smile|Congratulations on the award|I'm proud of you
We had a lot of fun|It's a beautiful place|Thanks for your help
I feel relaxed and safe|My best friend visited, awesome|I enjoy painting 😊""",
    -1: """I hate waiting|What a terrible day|The food was awful and the staff rude|I am so sad|I'm not happy with it
I failed the exam|She is cruel and selfish
The start was great, but the ending was horrible|This made me cry 😭|I lost my job
I'm worried about my mother|My dog died|It was a disaster|I feel lonely and anxious|He lied to me|I don't like it""",
    0: """Shelf 143 holds the seeds|Bus 1432 leaves here|The code is 86
The meeting is on Tuesday|He knows the small hall
The table has three columns|She walked to the station|Turn left at the corner
The train leaves at noon|I bought a book|Know the hall""",
}
TABLE = [
    (text, sign)
    for golden in (CHINESE, ENGLISH)
    for sign, texts in golden.items()
    for text in texts.replace("\n", "|").split("|")
]


def mood(text: str) -> float:
    return ANALYZER.analyze(text).sentiment


@pytest.mark.req("B38", partly="mood")
def test_tables_are_large_enough() -> None:
    for golden in (CHINESE, ENGLISH):
        assert sum(texts.replace("\n", "|").count("|") + 1 for texts in golden.values()) >= 40


@pytest.mark.req("B38", "X18", "X24", partly="mood")
@pytest.mark.parametrize(("text", "sign"), TABLE)
def test_golden_mood(text: str, sign: int) -> None:
    score = mood(text)
    assert (score > NEUTRAL) - (score < -NEUTRAL) == sign, score


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ("我开心", "我非常开心"),
        ("我有点开心", "我开心"),
        ("我不难过", "我开心"),
        ("服务很好，但是菜不好吃", "菜不好吃，但是服务很好"),
        ("我很难过", "我有点难过"),
        ("我不喜欢", "我喜欢"),
        ("I like it", "I love it!!!"),
        ("今天开会 👎", "今天开会 👍"),
    ],
)
def test_degrees_negations_and_contrasts_order_moods(weaker: str, stronger: str) -> None:
    assert mood(weaker) < mood(stronger)


def test_both_languages_of_a_text_count() -> None:
    assert mood("I love this place 非常喜欢") > mood("非常喜欢") > 0
    assert mood("This is terrible 太糟糕了") < mood("太糟糕了") < 0


def test_long_texts_are_judged_by_both_ends() -> None:
    assert mood("我很开心。" + "文件在桌子上。" * 2000 + "太棒了！") > NEUTRAL
