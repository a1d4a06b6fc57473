"""Words that distinguish things of one kind."""

import pytest

from biem.engine.context.modifiers import has_other_modifier, has_other_subject


@pytest.mark.parametrize(
    ("asked", "older", "newer"),
    [
        ("When is the weekly sync?", "The weekly sync is on Tuesday.", "The monthly sync moved to Thursday."),
        ("What is the budget for marketing?", "The budget for marketing is 40k.", "The budget for hiring went up."),
        ("Which size are Leo's shoes?", "Leo's shoes are size 31.", "Mia’s shoes are size 28 now."),
        (
            "What's the code for the tool box?",
            "The code for the tool box is 11.",
            "The bicycle's code was changed to 22.",
        ),
        ("When does the kiosk close?", "The kiosk in our station closes at 8.", "The florist now closes at 7."),
        ("左眼度数是多少？", "左眼350度。", "右眼涨到375度了。"),
        ("When is the 'weekly' sync?", "The weekly sync is on Tuesday.", "The monthly sync moved."),
        ("周会什么时候开？", "周会是周二上午十点。", "月会改到周四了。"),
        ("工资卡是哪家银行的？", "工资卡是招行的。", "信用卡换成建行的了。"),
        ("年会在哪里开？", "年会在杭州开。", "周会改到三楼开了。"),
        ("Where do the leeks stand?", "The leeks stand by the wall.", "The kales stand by the pond."),
        ("日语课是星期几？", "日语课是星期三。", "德语课改到星期五了。"),
        ("历史老师是谁？", "历史老师是高老师。", "语文老师换成马老师了。"),
        ("地下室的钥匙在哪？", "地下室的钥匙在盒子里。", "阁楼的钥匙在抽屉里。"),
    ],
)
def test_another_modifier_of_the_same_word_names_another_thing(asked: str, older: str, newer: str) -> None:
    assert has_other_modifier(newer, older, asked)


@pytest.mark.parametrize(
    ("asked", "older", "newer"),
    [
        ("我们一周排几次？", "剧团每周排两次。", "首演快到了，加排到每周四次。"),
        ("When is the weekly sync?", "The weekly sync is on Tuesday.", "The weekly sync moved to Thursday."),
        ("When is the weekly sync?", "The weekly sync is on Tuesday.", "We moved the sync to Thursday."),
        ("When is the weekly sync?", "The weekly sync is on Tuesday.", "It's on Thursdays now."),
        ("When is the sync?", "The weekly sync is on Tuesday.", "The monthly sync is on Friday."),
        ("周会星期几开？", "周会星期二开。", "会改到星期四了。"),
        ("数学老师是谁？", "数学老师是高老师。", "换成马老师了。"),
        ("小满学什么乐器？", "小满在学二胡。", "小满不拉二胡了，改弹古筝。"),
        ("Do I still live in Berlin?", "I live in Berlin.", "I live in Munich now."),
        ("Am I still on the Pro plan?", "I'm on the Pro plan.", "I downgraded to the Basic plan."),
        ("Where does Ben work?", "Ben works at Aldi.", "He quit and currently works at Lidl."),
        ("我还用苹果手机吗？", "我用苹果手机。", "我换小米手机了。"),
        ("When is the essay due?", "The deadline for the essay is 3 June.", "老师把作文的deadline推到6月10号了。"),
        ("I eat six pears a day.", "I eat six pears a day.", "I stick to two pears a day."),
        ("How many are on the late shift?", "There are six of us on the late shift.", "One left us for good."),
        ("Where does my aunt Vera live?", "My aunt Vera lives in Bude.", "Carried Vera's books to the new flat."),
        ("周五班里聚餐吃什么？", "周五班里聚餐吃火锅。", "这次不聚了。"),
        ("What am I reading?", "I'm reading Persuasion.", "Finished Persuasion, started Kim."),
        ("How many wool hats are left?", "There are 30 wool hats in the box.", "Gave away six hats, 24 left."),
        ("What day do we play?", "We play Mondays at the mill.", "Ada teaches Mondays, so choir is on Tuesdays."),
        ("How do you write lab notes?", "Write lab notes as prose.", "Professor Ito wants notes as tables."),
        ("Which green tea do we buy?", "Our green tea is Sencha.", "Swapped tea brands, it's Gyokuro."),
        ("Where do we buy oat flour?", "We get oat flour at the mill.", "We order flour from Rieder."),
        ("Which hut do we use?", "We use hut D44.", "They've given D44 to the scouts, we use D9."),
        ("What do the girls play?", "The girls play lute.", "The girls gave up lute, they do drums."),
        ("What do I take for my cough?", "I take Velox for my cough.", "The doctor swapped Velox for Ambra."),
        ("", "", ""),
        ("\ud800", "\x00", "的的的"),
    ],
)
def test_the_same_or_no_modifier_names_no_other_thing(asked: str, older: str, newer: str) -> None:
    assert not has_other_modifier(newer, older, asked)


def test_another_thing_as_the_subject_is_not_the_one_in_question() -> None:
    assert has_other_subject("舞蹈班涨到一个月五百了。", "书法课一个月三百。", "书法课多少钱？")
    assert not has_other_subject("书法课涨到一个月五百了。", "书法课一个月三百。", "书法课多少钱？")
    assert not has_other_subject("涨到五百了。", "书法课一个月三百。", "书法课多少钱？")
