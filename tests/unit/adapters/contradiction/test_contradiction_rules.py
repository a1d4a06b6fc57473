"""What the rules find in pairs that disagree, in English and Chinese, and what they leave alone."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.contradiction import build
from biem.adapters.contradiction.rules import RuleContradictions
from biem.adapters.contradiction.weak_cues import CEILING
from biem.domain.conflict import ConflictKind, Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy
from biem.ports.contradiction import ContradictionRules

RULES = RuleContradictions()
POLICY = ConflictPolicy()

CONTRADICTIONS = """
我住北京 | 我住上海
My dog is called Rex | My dog is called Max
Bob is my manager | Carol is my manager
我不喝咖啡 | 我每天早上都喝咖啡
The API key expires in 30 days | The API key expires in 90 days
I live in Paris | Well, I live in Rome
I live in Beijing | I live in Shanghai
I live in Paris | I don't live in Paris
My sister lives in Rome | My sister lives in Milan
I am 26 years old | I am 31 years old
My name is Bob | My name is Rob
My birthday is May 3 | My birthday is June 9
My birthday is on May 3rd | My birthday is on May 4th
I was born in London | I was born in Leeds
I work as a nurse | I work as a teacher
I am a doctor | I am a lawyer
I work at Google | I work at Microsoft
My phone number is 555-123-4567 | My phone number is 555-987-6543
My email is ann@example.com | My email is ann@work.example
My favourite colour is blue | My favourite colour is green
My favorite food is pizza | My favorite food is sushi
I am married | I am single
I'm married | I'm divorced
The ticket costs $30 | The ticket costs $50
The meeting is at 3 pm | The meeting is at 5 pm
My car is red | My car is blue
My keys are in the drawer | My keys are on the table
The capital of Australia is Canberra | The capital of Australia is Sydney
I like cats | I don't like cats
I like cilantro | I hate cilantro
I love horror films | I can't stand horror films
I eat meat | I don't eat meat
I am allergic to peanuts | I am not allergic to peanuts
I drink coffee every morning | I never drink coffee
The shop is open | The shop is closed
Ann supports the plan | Ann opposes the plan
I have two sons | I have three sons
I can swim | I can't swim
We have a dog | We don't have a dog
The wifi password is tulip42 | The wifi password is rose77
I am vegetarian | I am vegan
Ann's birthday is May 3 | Ann's birthday is May 9
He lives in Rome | He lives in Milan
我住在北京 | 我住在上海
我住在北京 | 我不住在北京
我妹妹住在北京 | 我妹妹住在上海
我今年25岁 | 我今年32岁
我叫王芳 | 我叫李娜
我的生日是5月3日 | 我的生日是6月9日
我是老师 | 我是医生
我是做销售的 | 我是做财务的
我在腾讯上班 | 我在阿里上班
我的电话是13800138000 | 我的电话是13900139000
我最喜欢的颜色是蓝色 | 我最喜欢的颜色是绿色
我结婚了 | 我还是单身
我已婚 | 我单身
门票30元 | 门票50元
会议在下午3点 | 会议在下午5点
我的车是红色的 | 我的车是蓝色的
钥匙在抽屉里 | 钥匙在桌子上
我喜欢猫 | 我不喜欢猫
我喜欢香菜 | 我讨厌香菜
我吃肉 | 我不吃肉
我对花生过敏 | 我对花生不过敏
我每天喝咖啡 | 我从不喝咖啡
我会游泳 | 我不会游泳
我有两个儿子 | 我有三个儿子
我有女朋友 | 我没有女朋友
我是山东人 | 我是河南人
我是处女座 | 我是狮子座
我在南京上学 | 我在苏州上学
我大二 | 我大三
预算是50万 | 预算是80万
项目负责人是张伟 | 项目负责人是李娜
我是素食者 | 我不是素食者
商店开门 | 商店关门
王芳支持这个方案 | 王芳反对这个方案
他住在北京 | 他住在上海
"""
UPDATES = """
公司在上海 | 公司搬到北京了
李雷在腾讯工作 | 李雷从腾讯离职了
Ann works at Google | Ann left Google
我喜欢吃辣 | 我现在不喜欢吃辣了
I hate running | I love running now
周会是周一 | 周会改到周三
I live in Paris | Last year I moved to Rome.
I live in Beijing | I moved to Shanghai
I live in Beijing | I live in Shanghai now
I live in Paris | I no longer live in Paris
I live in Paris | I don't live in Paris anymore
I live in Paris | I used to live in Paris
I am 26 | I turned 27
I work as a nurse | I now work as a teacher
I work at Google | I joined Microsoft
The meeting is at 3 pm | The meeting moved to 5 pm
The meeting is at 3 pm on Monday | The meeting has been rescheduled to 5 pm
Noor is the lead on harbour works | Elif is now the lead on harbour works
I eat meat | I don't eat meat anymore
I smoke | I quit smoking
The wifi password is tulip42 | The wifi password was changed to rose77
The budget is $5000 | The budget was increased to $8000
The deadline is May 3 | The deadline was pushed back to May 10
Parcel K9 is pending | Update: parcel K9 has shipped
I use Vim | I switched from Vim to Emacs
I'm vegetarian | I'm not vegetarian anymore
我住在北京 | 我搬到上海了
我住在北京 | 我现在住在上海
我住在北京 | 我不再住在北京了
我住在北京 | 我以前住在北京
我是老师 | 我改行做律师了
我在腾讯上班 | 我跳槽到阿里了
会议在下午3点 | 会议改到下午5点
会议在周一下午3点 | 会议推迟到周二下午3点
我吃肉 | 我不再吃肉了
我抽烟 | 我戒烟了
预算是50万 | 预算改为80万
项目负责人是张伟 | 项目负责人换成了李娜
wifi密码是tulip42 | wifi密码改成rose77了
我用微信支付 | 我从微信支付换成支付宝了
截止日期是5月3日 | 截止日期延期到5月10日
"""
DUPLICATES = """
I like tea | I like tea.
I live in Beijing | i live in beijing
我住在北京 | 我住在北京。
I really like green tea | I like green tea
我真的很喜欢绿茶 | 我喜欢绿茶
"""


def golden(lines: str) -> list[tuple[str, str]]:
    """Older and newer statement of each line."""
    return [(older, newer) for older, newer in (line.split(" | ") for line in lines.strip().splitlines())]


def judged(older: str, newer: str, *, speakers: tuple[str, str] = ("", "")) -> Verdict | None:
    """The verdict on two texts, if it would be recorded."""
    verdict = RULES.compare(Statement(older, speakers[0]), Statement(newer, speakers[1]), 0.8)
    return verdict if verdict is not None and verdict.confidence >= POLICY.record_confidence else None


def kind(older: str, newer: str) -> ConflictKind | None:
    """What would be recorded."""
    verdict = judged(older, newer)
    return verdict.kind if verdict else None


@pytest.mark.req("C9", "B3", "X18", partly="the rules alone; the signal is raised by the engine")
@pytest.mark.parametrize(("older", "newer"), golden(CONTRADICTIONS))
def test_statements_that_cannot_both_hold_contradict_each_other(older: str, newer: str) -> None:
    assert kind(older, newer) == "contradiction"


@pytest.mark.req("C9", partly="the rules alone; the engine supersedes")
@pytest.mark.parametrize(("older", "newer"), golden(UPDATES))
def test_a_newer_statement_that_tells_of_a_change_updates_the_older(older: str, newer: str) -> None:
    assert kind(older, newer) == "update"


@pytest.mark.req("G23", partly="the rules alone; merging is the job's")
@pytest.mark.parametrize(("older", "newer"), golden(DUPLICATES))
def test_the_same_thing_said_twice_is_a_duplicate(older: str, newer: str) -> None:
    assert kind(older, newer) == "duplicate"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I paid 30 dollars for the cake", "I paid 40 dollars for the cake"),
        ("I like tea with milk", "I don't like tea with milk"),
        ("I live in Paris", "I used to live in Paris"),
        ("The flight is on January 5", "The flight is on May 5"),
        ("Do you like green tea?", "I like green tea"),
        ("我喜欢喝绿茶", "我不喜欢喝绿茶"),
        ("我喜欢喝绿茶", "他喜欢喝绿茶"),
        ("Tim Cook spoke about the new office in Austin", "Ann Lee spoke about the new office in Austin"),
    ],
)
def test_other_numbers_polarity_tense_or_people_are_no_duplicates(older: str, newer: str) -> None:
    assert kind(older, newer) != "duplicate"


@pytest.mark.req("X18", partly="the rules alone")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I know the way", "I have no way"),
        ("A small car", "All cars"),
        ("He noted the date", "He did not like the date"),
        ("我特别喜欢这首歌", "我别的歌也喜欢"),
        ("这个办法不错", "这个办法错"),
    ],
)
def test_a_part_of_a_word_is_not_a_word(older: str, newer: str) -> None:
    assert judged(older, newer) is None


def test_asked_for_sure_verdicts_only_the_rules_see_as_much() -> None:
    # Given every statement of these tables after each other, also after all that it has nothing to do with
    pairs = [*golden(CONTRADICTIONS), *golden(UPDATES)]
    mixed = [*pairs, *zip([pair[0] for pair in pairs], [pair[1] for pair in pairs[7:] + pairs[:7]], strict=True)]

    # When their embedder finds them little alike / Then what is sure is found all the same
    for older, newer in mixed:
        one, other = Statement(older, "Ann"), Statement(newer, "Ann")
        full = RULES.compare(one, other, 0.3)
        least = POLICY.record_confidence
        expected = full if full is not None and full.confidence >= least else None
        assert RULES.compare(one, other, 0.3, least=least) == expected, (older, newer)


@pytest.mark.parametrize("similarity", [0.9, None])
def test_however_alike_two_statements_are_found_the_quick_way_out_is_taken_only_where_no_rule_speaks(
    similarity: float | None,
) -> None:
    # Given statements after each other, among them the same twice, the same but for a value, and some of all kinds
    report = "In the spring review the team told Anna that the new billing service of the Vienna branch costs {} euros"
    alike = [
        ("The cat sat on the mat today", "the cat sat on the mat today"),
        ("The big red car is parked outside", "A big red car parked outside"),
        (report.format(400), report.format(900)),
        (report.format(400), report.replace("Vienna", "Lisbon").format(400)),
        ("...", "..."),
        ("我们周末去爬香山看红叶", "我们周末去爬香山看红叶。"),
    ]
    tables = [*golden(CONTRADICTIONS), *golden(UPDATES), *alike]
    mixed = [*tables, *zip([one for one, _ in tables], [other for _, other in tables[5:] + tables[:5]], strict=True)]

    # When only what is sure is asked for / Then it is what all rules together are sure of
    least = POLICY.record_confidence
    sure = 0
    for older, newer in mixed:
        one, other = Statement(older, "Ann"), Statement(newer, "Ann")
        full = RULES.compare(one, other, similarity)
        expected = full if full is not None and full.confidence >= least else None
        assert RULES.compare(one, other, similarity, least=least) == expected, (older, newer)
        sure += expected is not None and (older, newer) in alike
    assert sure >= 4


def test_i_is_the_speaker() -> None:
    # Given two people who say where they live
    home, other = "I live in Rome", "I live in Milan"
    # When and then: only the same person contradicts themselves
    assert judged(home, other, speakers=("Ann", "Ann")) is not None
    assert judged(home, other, speakers=("Ann", "Bob")) is None
    assert judged("我住在北京", "我住在上海", speakers=("小王", "小王")) is not None
    assert judged("我住在北京", "我住在上海", speakers=("小王", "小李")) is None


def test_a_name_is_the_speaker_of_that_name() -> None:
    assert judged("I live in Rome", "Ann lives in Milan", speakers=("Ann", "Bob")) is not None
    assert judged("I live in Rome", "Cleo lives in Milan", speakers=("Ann", "Bob")) is None


def test_a_fact_about_a_third_person_conflicts_for_every_speaker() -> None:
    verdict = judged("The meeting is at 3 pm", "The meeting moved to 5 pm", speakers=("Ann", "Bob"))
    assert verdict is not None
    assert verdict.kind == "update"
    assert verdict.confidence >= POLICY.act_confidence


def test_a_pronoun_is_less_sure_than_a_name() -> None:
    named = judged("Ann's birthday is May 3", "Ann's birthday is May 9")
    pronoun = judged("Her birthday is May 3", "Her birthday is May 9")
    assert named is not None
    assert pronoun is not None
    assert pronoun.confidence < POLICY.act_confidence <= named.confidence


def test_a_pronoun_stands_for_the_subject_before_it() -> None:
    assert judged("My sister is a nurse. She lives in Rome.", "My sister lives in Milan.") is not None
    assert judged("My sister is a nurse. She lives in Rome.", "My brother is a cook. He lives in Milan.") is None
    assert judged("王芳是我的上司，她的生日是5月3日", "李雷是我的同事，他的生日是8月9日") is None


@pytest.mark.parametrize(("years", "expected"), [(1, "update"), (6, "contradiction")])
def test_an_age_grows_with_the_years(years: int, expected: ConflictKind) -> None:
    # Given an age, and one that is higher by a year
    older = Statement("I am 26 years old", "Ann", datetime(2020, 1, 1, tzinfo=UTC))
    newer = Statement("I am 27 years old", "Ann", datetime(2020 + years, 1, 2, tzinfo=UTC))
    # When the pair is judged
    verdict = RULES.compare(older, newer, None)
    # Then the expected age is an update, and another one a contradiction
    assert verdict is not None
    assert verdict.kind == expected


def test_weak_cues_are_suspicions_that_nothing_records() -> None:
    # Given statements that no rule decides
    pair = (
        Statement("the government wants to help people buy a home", "Ann"),
        Statement("nobody in this government has helped people buy a home", "Ann"),
    )
    verdict = RULES.compare(*pair, 0.7)
    # Then they are suspect, and no more
    assert verdict is not None
    assert verdict.rule == "cues"
    assert POLICY.suspect_confidence <= verdict.confidence <= CEILING < POLICY.record_confidence

    # And where only findings count, they are not looked for
    assert RULES.compare(*pair, 0.7, least=POLICY.record_confidence) is None


def test_a_swapped_value_is_recorded_but_never_acted_upon() -> None:
    verdict = judged(
        "The 2019 final in Madrid was won by Liverpool after a long season of hard work",
        "The 2019 final in Madrid was won by Arsenal after a long season of hard work",
    )
    assert verdict is not None
    assert verdict.confidence < POLICY.act_confidence


def test_the_attribute_of_a_verdict_is_named() -> None:
    verdict = judged("I live in Rome", "I live in Milan")
    assert verdict is not None
    assert (verdict.rule, verdict.attribute) == ("value", "home")


def test_any_text_gets_an_answer() -> None:
    # Given texts that break parsers
    odd = ["", " ", "?", "。", "I", "我", "is is is", "\0", "\ud800", "不" * 5_000, "not " * 5_000, "a" * 100_000,
           "1" * 5_000, "I live in " * 2_000, "我住在" * 2_000, "，" * 3_000, "\u0301" * 3_000, "👍🏽"]  # fmt: skip
    # When every pair is compared, then nothing raises
    for older in odd:
        for newer in odd:
            RULES.compare(Statement(older, "\ud800"), Statement(newer), None)


@given(st.text(max_size=60), st.text(max_size=60), st.none() | st.floats(0, 1))
def test_the_answer_depends_on_the_arguments_alone(one: str, other: str, similarity: float | None) -> None:
    first = RULES.compare(Statement(one), Statement(other), similarity)
    assert first == RULES.compare(Statement(one), Statement(other), similarity)
    assert first is None or 0.0 <= first.confidence <= 1.0


def test_the_rules_are_the_port() -> None:
    rules: ContradictionRules = build()
    assert rules.compare(Statement("I live in Rome"), Statement("I live in Milan"), None) is not None


def test_a_confidence_beyond_1_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        Verdict("update", 1.2, "value")
