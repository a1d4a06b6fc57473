"""Numbers, names, definitions and symbols of texts in both languages; what shows as entities; which language it is."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.analyzers import RuleAnalyzer, build, symbols
from biem.domain.fields import Fields

ANALYZER = build()


def fields(numbers: str = "", names: str = "", definitions: str = "", symbols: str = "") -> Fields:
    """Fields written as lists with `|`."""
    return Fields(*(tuple(part for part in kind.split("|") if part) for kind in (numbers, names, definitions, symbols)))


GOLDEN = [
    ("10M tokens 的模型", fields("10M")),
    ("128K 的上下文窗口", fields("128K")),
    ("准确率提高了1%，版本4.0", fields("1%|4.0", symbols="4.0")),
    ("论文 arXiv:2310.07707 值得一读", fields(symbols="arXiv:2310.07707")),
    ("学习率 λ=0.1，α 和 β 不变", fields("0.1", symbols="λ|α|β")),
    ("The threshold θ is 0.85", fields("0.85", symbols="θ")),
    ("预算是１０万元", fields("¥100000")),
    ("有100,000名用户", fields("100000")),
    ("有十万名用户", fields("100000")),
    ("三百二十页，两千字", fields("320|2000")),
    ("他20岁，身高180cm", fields("20岁|180cm")),
    ("门票¥99，酒店$1,200", fields("¥99|$1200")),
    ("5月2号下午3点开会", fields("05-02|15:00")),
    ("会议在2024年5月2日晚上八点半", fields("2024-05-02|20:30")),
    ("每周四次", fields("4")),
    ("每周四", fields("")),
    ("身高一米七六", fields("1.76m")),
    ("身高1米8", fields("1.8m")),
    ("大巴是一点发车", fields("01:00")),
    ("早一点出发", fields("")),
    ("挪到 10 点", fields("10:00")),
    ("The release on 2024-05-02 at 14:30", fields("2024-05-02|14:30")),
    ("She arrived on May 2nd, 2023 at 3 pm", fields("2023-05-02|15:00")),
    ("百分之二十的人等了三个小时", fields("20%|3h")),
    ("We waited 3 hours for 10 million rows", fields("3h|10M")),
    ("It needs 3.5GB of memory and 2 TB of disk", fields("3.5GB|2TB")),
    ("He is 20 years old and runs 5 km", fields("20岁|5km")),
    ("气温零下，只有-5℃", fields("-5°C")),
    ("电话138-1234-5678", fields("13812345678")),
    ("万一下雨，千万别一个人去", fields()),
    ("一起吃饭，十分开心，星期三见", fields()),
    ("第三章有两只猫", fields("3|2")),
    ("Beatrice's dog met Harriet in New York on Monday", fields(names="Beatrice|Harriet|New York")),
    ("刘海遮住眼睛了，杨桃和宫保鸡丁都很甜，汪汪叫的小狗在山坡上", fields()),
    ("刘海燕在山坡上放风筝", fields(names="刘海燕")),
    ("Hey Beatrice! How have you been?", fields(names="Beatrice")),
    ("Running is fun. Honestly, we love it.", fields()),
    ("We visited the Museum of Modern Art with Dr. Smith", fields(names="Museum of Modern Art|Smith")),
    ('They read "Home Alone" together', fields(names="Home Alone")),
    ("I use PostgreSQL and Milvus, not MySQL.", fields(names="PostgreSQL|Milvus|MySQL")),
    ("ping @alice about it", fields(names="@alice")),
    ("我叫张伟，在上海工作", fields(names="张伟|上海")),
    ("李先生和王小明去北京故宫", fields(names="李先生|王小明|北京故宫")),
    ("王总经理和李老师总是迟到", fields(names="王总经理|李老师")),
    ("母亲王秀英和店员小刘一起去了杭州", fields(names="王秀英|小刘|杭州")),
    ("我在看《三体》", fields(names="三体")),
    ("小明和老王在清华大学见面", fields(names="小明|老王|清华大学")),
    ("冯浩然在晨跑后见了蒋婷婷，本周重要的会议取消", fields(names="冯浩然|蒋婷婷")),
    ("今天天气很好，大家都高兴", fields()),
    ("我用Python写代码", fields(names="Python")),
    ("Milvus is a vector database that scales.", fields(names="Milvus", definitions="Milvus")),
    ("RAG stands for retrieval-augmented generation.", fields(names="RAG", definitions="RAG")),
    ("A mutex is a lock that protects data.", fields(definitions="mutex")),
    ("记忆晶体是指经过巩固的知识", fields(definitions="记忆晶体")),
    ("所谓幂等，就是多次执行结果相同", fields(definitions="幂等")),
    ("向量数据库是一种存储向量的系统", fields(definitions="向量数据库")),
    ("RAG，即检索增强生成", fields(names="RAG", definitions="RAG")),
    ("遗忘曲线的定义是记忆随时间的变化", fields(definitions="遗忘曲线")),
    ("什么是向量数据库？", fields(definitions="向量数据库")),
    ("See main.go and src/app/util.py", fields(symbols="main.go|src/app/util.py")),
    ("call get_user or getUserName in v1.2.3", fields(symbols="get_user|getUserName|v1.2.3")),
    ("GPT-4 比 BGE-M3 大", fields(symbols="GPT-4|BGE-M3")),
    ("run `pip install biem` first", fields(symbols="pip install biem")),
    (
        "邮箱zhang_wei@example.com，网址https://example.com/a?b=1。",
        fields(symbols="zhang_wei@example.com|https://example.com/a?b=1"),
    ),
    ("能量公式 E=mc^2", fields(symbols="E=mc^2")),
    ("we moved to Python 3.11 from C++", fields("3.11", "Python", symbols="3.11|C++")),
]

NO_DEFINITION = """
This is a good idea that works.|It is a book that I like.
He is a man of few words.|She is a nurse who works in Boston.
There is a cat in the garden.|That is a problem for us.|Today is a day for rest.|My dog is a beagle that barks.
The weather is a mess of clouds.|This isn't a lock that works.|It means little to them.|Family means everything to me.
I mean that we should go.|You mean the world to me.|What do you mean?|By all means, go.|That means that we lost.
Which means we are late.|Money means nothing.
This history is a list of thistles.|We is a team for life.|What is your name?
What is the weather?|What's up?|What is it?|What are you doing?
Who is Beatrice?|Beatrice went to the park.|I refer to it often.
She stands for nothing.|He stands by the door.
They refer us to a doctor.|Our trip is a reminder of home.|His list is long.
Cooking outdoors is a cheap kind of holiday.|Paris is lovely.
Beatrice is a nurse.|Harriet is happy.|Bob is at home.
Christmas is a time of joy.|Music is a friend of mine.
Dinner is a mess.|Life is a box of chocolates.|Love is a thing that hurts.
I think this is a sign of hope.|Everything is a gift from you.
One is a lonely number of friends.|Here is a photo of my dog.
Maybe it is a bug in the code.|The plan is a trip to Rome.|Your support means the world.|Is this a definition of love?
他是一个好人。|这是一种很好的方法。|那是一种误会的开始。|今天是一个好日子。
我是一名老师。|她是一位医生。|立即出发。|即使下雨也去。
他即将毕业。|随即离开了。|你可以立即使用。|即便如此，我也去。|即可完成。
当即决定。|这是什么？|你是什么意思？|那是什么意思？
这个特别好吃。|他们有区别。|级别很高。|我觉得这是一种享受的感觉。
这真是一种折磨的体验。|我们的意思是不去了。|他的意思是明天来。
我不知道什么是最好的。|什么是你最喜欢的？|我的定义是什么都行。
大家都是一家人。|今天确实是一种考验的日子。|你真是一个天才。
我喜欢的是一种红色的花。|她说的是一种很旧的车。|他被称为大哥。|我姓王。
他叫张伟。|这就是一种生活的态度。|这也是一种好的选择。
那不是一种好的方式。|可能是一种误会的结果。|我指的是他。|你指的是谁？
他指的是那本书。|这里指的是北京。|对我来说是一种幸福的事。
人是会变的。|时间过得很快。|北京是首都。|猫是动物。|会议是明天。
电影是昨天看的。|书是我的。|饭是妈妈做的。|天是蓝的。|问题是没时间。
因为这是一种责任的体现。|如果是一种病的话就去医院。
其实是一种借口的说法。|我即刻回复。|请立即付款。|在即的考试让我紧张。
""".replace("\n", "|")


@pytest.mark.req("A10", "A13", "X27")
@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_golden_fields(text: str, expected: Fields) -> None:
    assert ANALYZER.analyze(text).fields == expected


@pytest.mark.req("X27", "C11")
def test_numbers_of_different_value_or_unit_never_share_a_spelling() -> None:
    spellings = [
        ANALYZER.analyze(text).fields.numbers for text in ("10M", "10K", "10", "10 %", "１０万", "10B", "10kg", "10岁")
    ]
    assert len({*spellings}) == len(spellings)


@pytest.mark.req("X27")
@pytest.mark.parametrize(
    "same",
    [
        ("100,000", "100000", "１００，０００", "10万", "十万"),
        ("10%", "10 %", "１０％", "百分之十", "10 percent"),
        ("5 kg", "5kg", "5公斤", "五公斤", "5千克"),
        ("3小时", "三个小时", "3 hours", "3h"),
        ("99元", "¥99", "九十九元"),
        ("2024-05-02", "2024年5月2日", "2024/5/2", "May 2, 2024", "2 May 2024"),
        ("下午3点", "15:00", "3pm", "下午三点", "3:00 PM"),
        ("20岁", "二十岁", "20 years old"),
    ],
)
def test_equal_numbers_have_one_spelling(same: tuple[str, ...]) -> None:
    assert len({ANALYZER.analyze(text).fields.numbers for text in same}) == 1


@pytest.mark.req("X24", partly="definitions; the other rules have smaller sets, and none of them makes a core memory")
def test_ordinary_sentences_define_nothing() -> None:
    sentences = [line.strip() for line in NO_DEFINITION.split("|") if line.strip()]
    wrong = {text: found for text in sentences if (found := ANALYZER.analyze(text).fields.definitions)}
    assert len(sentences) >= 100
    assert len(wrong) / len(sentences) < 0.02, wrong


@pytest.mark.req("B38", partly="entities")
def test_entities_come_most_useful_first_and_once() -> None:
    found = ANALYZER.analyze("李娜在腾讯上班。李娜喜欢上海，也用 GPT-4。").entities
    assert found[0] == "李娜"
    assert set(found) == {"李娜", "腾讯", "上海", "GPT-4"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there", "en"),
        ("你好", "zh"),
        ("", "und"),
        ("12 + 3", "und"),
        ("我在用 PostgreSQL 存储记忆数据", "zh"),
        ("The word 你好 means hello", "en"),
        ("こんにちは、げんきですか", "und"),
        ("Привет, как дела", "und"),
        ("안녕하세요", "und"),
    ],
)
def test_language_follows_the_letters(text: str, expected: str) -> None:
    assert ANALYZER.analyze(text).language == expected


@pytest.mark.req("B38", partly="any text has both")
@given(st.text(st.characters(), max_size=200))
def test_any_text_can_be_analysed(text: str) -> None:
    found = ANALYZER.analyze(text)
    assert -1 <= found.sentiment <= 1
    assert found.language in ("en", "zh", "und")
    for kind in (
        found.fields.numbers,
        found.fields.names,
        found.fields.definitions,
        found.fields.symbols,
        found.entities,
    ):
        assert len(set(kind)) == len(kind)
        assert not any(not value or "\0" in value or any("\ud800" <= c <= "\udfff" for c in value) for value in kind)


_PIECES = (
    *("a", "B", "wide", "Python", "camelCase", "iPhone", "GPT", "top", "v", "3", "11", ".", "-", "--", "_", "/", "~"),
    *(
        "..",
        "://",
        "http",
        "s3",
        "é",
        "ß",
        "@",
        "x.py",
        ".md",
        " ",
        "\t",
        "\n",
        "()",
        "(",
        "=",
        "+",
        "#",
        "$",
        "`",
        ",",
    ),
    *(
        "文 Go",
        ", Python",
        "++",
        ":",
        "arXiv:",
        "10.",
        "1234",
        "Release",
        "version",
        "版本",
        "号",
        "是",
        "中文",
        "α",
        "ά",
        "∑",
        "\ufffd",
        "'s",
    ),
)


def test_no_symbol_begins_where_none_is_looked_for() -> None:
    for text in map("".join, product(_PIECES, _PIECES, ("", "3.11", " 3.11", "x_y"))):
        tried = [(found.span(), found.lastgroup) for found in symbols._matches(text)]
        assert tried == [(found.span(), found.lastgroup) for found in symbols._PATTERN.finditer(text)]


@given(st.text("0123456789一二三四五六七八九十百千万亿两零〇年月日点岁元%.,:-/$¥ KM第May pm", max_size=30))
def test_number_like_noise_is_harmless(text: str) -> None:
    assert all(number.strip() == number for number in ANALYZER.analyze(text).fields.numbers)


def test_a_new_analyzer_says_the_same() -> None:
    again = RuleAnalyzer()
    assert all(again.analyze(text) == ANALYZER.analyze(text) for text, _ in GOLDEN)
