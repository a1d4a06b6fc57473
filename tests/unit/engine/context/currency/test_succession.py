"""Later lines that tell how things are now, in words that no rule knows, and those that tell of something else."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.directions import change_odds
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.currency.succession import Succession
from biem.engine.context.lines import LineReader
from biem.engine.context.picking import Picker
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
BESIDE = ("We watched the snow from the kitchen.", "今天地铁特别挤。", "Thanks for the recipe, it came out well.")
"""Other talk, so that the lines are not all that is known."""
CHANGES = [
    (
        "Which accounts do I look after?",
        "I look after the Doyle account.",
        "Irma gave the Doyle account to Ben and handed me the Moss people. Not sure if that's a promotion.",
    ),
    ("我骑什么车？", "我骑的是永久C3。", "永久卖给表弟了，现在骑一辆飞鸽的公路车。"),
    ("What does my uncle do?", "My uncle Otis is a florist.", "Otis is through with flowers, he binds books now."),
    ("我舅舅是做什么的？", "我舅舅阿良开花店。", "阿良不开花店了，如今在装订古书。"),
    (
        "Where do we rehearse?",
        "We rehearse in hall four.",
        "We lost hall four to the choir and play in the chapel for the rest of the year.",
    ),
    ("我在哪里打工？", "我周末在一家书店打工。", "书店关门了，周末改去花店帮忙。"),
    ("Who trains Ida?", "Ida's coach is called Nadia.", "Nadia went back to Lisbon, Joost is the new coach."),
    ("How much rent does flat 3 pay?", "Flat 3 pays 700 a month.", "Flat 3 pays 735 a month since May."),
    ("二号机床用几毫米的刀？", "二号机床用6毫米的刀。", "二号机床换成8毫米的刀了。"),
    ("谁给我拍短片？", "短片的摄影是阿蛰，一天八百。", "阿蛰腿摔断了，先用小冉顶着。"),
    ("直播卖什么牌子的锅？", "直播主推的锅是赤焰。", "赤焰掉漆被投诉，架上先用青岚凑数。"),
    ("年会在哪里办？", "年会在锦江饭店办。", "年会换到湖滨酒店办了。"),
    ("乐乐的钢琴老师是谁？", "乐乐的钢琴老师姓庄。", "庄老师搬走了，新的钢琴老师是林老师。"),
    ("Where do I live?", "I live in Rome.", "我上个月搬到波尔图了。"),
    ("Where are we going for the honeymoon?", "The honeymoon will take us to Porto.", "蜜月改去卑尔根了。"),
    ("蜜月去哪儿？", "我们蜜月去波尔图。", "Porto is off, our honeymoon is in Bergen now."),
    ("Who is my neighbour?", "英格丽是我的邻居。", "Ingrid is no longer my neighbour, Callum took over."),
    ("同学聚会是哪天？", "老同学聚会定在四月十八号。", "聚会往后拖了，改成五月二号。"),
    (
        "Which instrument does Noor play?",
        "My niece Noor plays the trumpet.",
        "Noor has swapped the trumpet for a saxophone.",
    ),
    ("小满学什么乐器？", "我侄女小满在学二胡。", "小满不拉二胡了，改弹古筝。"),
    (
        "Which version does the shop run on?",
        "The shop runs on Django 4.",
        "My colleague says hi, and the shop came up on Django 5 on Sunday without a hitch.",
    ),
    ("装修预算是多少？", "装修预算十二万。", "老公说钱不够，预算加到十五万了。"),
    ("What do I write my notes with?", "I write my notes with Orbital.", "我不用Orbital了，改成羽毛笔。"),
    (
        "What colour is the back gate?",
        "We settled on mint for the back gate.",
        "We got cold feet about mint; the gate ended up brick red.",
    ),
    ("我姑姑喜欢哪项运动？", "我姑姑的运动是划船。", "My aunt Vera switched from rowing to judo."),
    ("我哥哥的猫叫什么？", "我哥哥的猫叫琥珀。", "我哥哥把猫改名叫可可了。"),
    ("我舅舅怎么样了？", "我舅舅摔断了腿，住院了。", "舅舅出院回家了，现在能走路了。"),
    ("What dose do I take?", "I take 10 mg of ramipril in the morning.", "The doctor put me on 5 mg of ramipril."),
    ("我的房租是多少？", "我的房租每月三千二。", "房东来过了，下个月起三千五。"),
    ("Which day is the weekly sync?", "The weekly sync is on Tuesday.", "We moved the weekly sync to Thursday."),
    ("周会星期几开？", "周会星期二开。", "周会改到星期四了。"),
    ("数学老师是谁？", "数学老师是王老师。", "数学老师换成了陈老师。"),
    ("Who maintains the Android app?", "Priya maintains the Android app.", "Tomas took over the Android app."),
    (
        "What day do we rehearse?",
        "We rehearse Mondays at Olga's place.",
        "Olga teaches Mondays these days, so the quartet meets on Thursday evenings.",
    ),
    (
        "How many wool hats do we have?",
        "We have 30 of the wool hats on the shelf.",
        "Sold six hats at the fair, 24 hats remain.",
    ),
    (
        "What time do we eat breakfast on Saturday?",
        "Breakfast on Saturday is at eight.",
        "Saturday breakfast is at ten, the kids have judo until nine.",
    ),
    (
        "Who has the key to the shed?",
        "Key to the shed is with Anton.",
        "If you need anything from the shed, ring Mona, she has the key to it on her board. Anton left.",
    ),
    (
        "Where does Lidia live?",
        "Our daughter Lidia is in Hull with the kids, so we only phone.",
        "Lidia says the Leith house has a garden for the kids, they got the keys on Monday, and goodbye Hull.",
    ),
    ("When does the bus to Lund go?", "The bus to Lund goes at 7:25.", "The board shows 7:55, not 7:25."),
    (
        "When is my aunt Rosa's birthday?",
        "My aunt Rosa's birthday is on 6 July.",
        "I got it wrong, Rosa's is on 16 July.",
    ),
    ("Which day is choir?", "Choir is on Mondays.", "We sing on Thursdays, Mondays are for the school."),
    (
        "What does a member pay?",
        "A member pays 40 pounds a term.",
        "The school board raised it for every member: 55 from May.",
    ),
    (
        "What does the cat eat?",
        "The cat eats Felidor twice a day.",
        "The cat's on Minkas twice a day, she wouldn't eat Felidor.",
    ),
]
OTHERS = [
    ("Which day is the weekly sync?", "The weekly sync is on Tuesday.", "We moved the monthly sync to Thursday."),
    ("周会星期几开？", "周会星期二开。", "月会改到星期四了。"),
    ("数学老师是谁？", "数学老师是王老师。", "语文老师换成了陈老师。"),
    ("Who maintains the Android app?", "Priya maintains the Android app.", "Tomas took over the iOS app."),
    ("测试环境的数据库端口是多少？", "测试环境的数据库端口是5432。", "生产环境的数据库端口改成5433了。"),
    (
        "What's the rent of the Berlin flat?",
        "The Berlin flat costs 900 a month.",
        "The Vienna flat costs 1,150 a month now.",
    ),
    ("What's the budget for marketing?", "The budget for marketing is 40k.", "The budget for hiring went up to 60k."),
    ("北门几点关？", "北门八点关。", "南门改成十点关了。"),
    ("When is my wife's birthday?", "My wife's birthday is May 5.", "My wife's sister's birthday is June 9."),
    ("我儿子上几年级？", "我儿子上三年级。", "我姐姐的儿子升四年级了。"),
    ("大女儿的舞蹈课在哪天？", "大女儿的舞蹈课在周三。", "小女儿的舞蹈课改到周五了。"),
    ("外婆住在哪个医院？", "外婆住在市一院。", "奶奶转到人民医院了。"),
    ("Which class is my elder son in?", "My elder son is in class 3b.", "My younger son moved up to class 2a."),
    (
        "When's my birthday?",
        "My birthday falls on 17 October.",
        "Sorry, my wife's birthday is 4 April, I mixed that up earlier.",
    ),
    ("我的生日是哪天？", "我是10月17号过生日。", "我老婆的生日是4月4号，我之前弄混了。"),
    ("When is my birthday?", "My birthday is on 14 May.", "My mother's birthday is on 5 September."),
    ("What's our cat called?", "Our cat is called Momo.", "Ida's cat is called Tiger."),
    ("When is my mum's birthday?", "My mother's birthday is on 5 September.", "My birthday is on 14 May."),
    ("我妈的生日是哪天？", "我妈妈的生日是9月3日。", "我的生日是5月14日。"),
    ("我住在哪里？", "我住在杭州。", "我姐姐住在苏州。"),
    ("Where do I live?", "I moved to Graz last month.", "My sister lives in Vienna."),
    ("我住在哪里？", "我上个月搬到了成都。", "我姐姐住在上海。"),
    ("What's the code of the shed?", "The code of the shed is 7715.", "The code of the garage is 2260 now."),
    ("When do I see the dentist?", "I see the dentist on May 3.", "The hairdresser moved me to May 9 instead."),
    ("What's my name?", "Call me Jo, I run a bakery.", "My parrot is called Otter."),
    ("Where did I leave the umbrella?", "雨伞落在出租车上了。", "饭盒落在办公室了。"),
    ("雪松最晚哪天交？", "我看错表了，雪松5月26日到期。", "听说要把雪松改到6月8号。"),
    ("What is my cat's name?", "I got a kitten, she's called Velvet.", "Orla's cat Thimble was sick on the rug."),
    (
        "What colour is the back gate?",
        "We settled on mint for the back gate.",
        "We got cold feet about mint; the front gate ended up brick red.",
    ),
    ("Who trains Ida?", "Ida's coach is called Nadia.", "Tove went back to Lisbon, Joost has her flat."),
    ("我现在有女朋友吗？", "我和小雅上周分手了。", "我同事开一辆菲亚特。"),
    ("What does my uncle do?", "My uncle Otis is a florist.", "My cousin Ray gave up flowers, he binds books now."),
    ("When is the chess night?", "The chess night is on Monday.", "The pottery course was moved to Friday."),
    ("棋社什么时候活动？", "棋社周一活动。", "要是棋社改到周五活动就好了。"),
    ("Where are we going for the honeymoon?", "The honeymoon will take us to Porto.", "牙医的预约改到周五了。"),
    ("How much rent does flat 3 pay?", "Flat 3 pays 700 a month.", "Flat 4 pays 735 a month now."),
    ("二号机床用几毫米的刀？", "二号机床用6毫米的刀。", "一号机床换成8毫米的刀了。"),
    ("How much memory has server A?", "Server A has 16 GB of memory.", "Server B has 32 GB of memory now."),
    ("A组星期几交报告？", "A组星期二交报告。", "B组改成星期四交报告了。"),
    ("What is the PIN of the side gate?", "The PIN of the side gate is 4410.", "The PIN of the barn is 9917 now."),
    ("地下室的钥匙在哪里？", "地下室的钥匙在蓝盒子里。", "阁楼的钥匙放到抽屉里了。"),
    ("Where does my brother live?", "My brother lives in Leeds.", "I heard that my brother wants to move to Bristol."),
    ("展览什么时候开幕？", "展览六月二号开幕。", "听说他们想把展览推到九月。"),
    ("When is the review due?", "The review is due on 3 May.", "The audit is due on 9 May instead."),
    ("How much of the budget is left?", "Of the 900, 640 euros are left.", "Five are sewn, so eleven are left."),
    ("预算还剩多少钱？", "还剩六百四十欧元。", "缝好了五个，还剩十一个。"),
    ("乐乐的钢琴老师是谁？", "乐乐的钢琴老师姓庄。", "杜阿姨搬走了，住进来的是林叔叔。"),
    ("Where do I live?", "I live in Linz.", "My sister's flat in Graz is finally hers."),
    ("Where do I live?", "I live in Linz.", "If my flat were in Graz, I would ski."),
    ("What colour is the fence?", "The fence is ochre.", "If the fence were petrol I'd move out."),
    ("我的车停在哪儿？", "我的车停在B区12号。", "老婆的车改停D区了。"),
    (
        "When does my train to Graz leave?",
        "My train to Graz leaves at 8:10.",
        "The train back from Graz was moved to 17:40.",
    ),
    ("我去南京的高铁几点开？", "我去南京的高铁是8:10开。", "从南京回来的高铁改到17:40了。"),
    ("What does Jonas play?", "Jonas plays the viola.", "Mia swapped her flute for a harp."),
    ("Who is the buyer of Belmar?", "Belmar's buyer is Ines Roth.", "Belmar's delivery day was moved to Friday."),
    ("贝尔公司的采购是谁？", "贝尔公司的采购是罗英。", "贝尔公司的送货日改到周五了。"),
]


def block(question: str, former: str, *later: str, measure: bool = True) -> Sequence[str]:
    """The lines of a block for messages told one after another among other talk."""
    said = [hit(former, 0.9, days=5)]
    said += [hit(text, 0.8, days=20 * place) for place, text in enumerate(later, 1)]
    hits: list[Hit] = measured(question, [*said, *(hit(text, 0.3, days=day) for day, text in enumerate(BESIDE))])
    if not measure:
        hits = [hit(one.node.text, one.score) for one in hits]
    return [one.node.text for one in PICKER.pick(hits, question, None)]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(("question", "former", "latter"), CHANGES)
def test_what_was_said_later_of_the_same_goes_before_it(question: str, former: str, latter: str) -> None:
    assert block(question, former, latter)[0] == latter


@pytest.mark.req("C31", partly="a line about something else")
@pytest.mark.parametrize(("question", "answer", "other"), OTHERS)
def test_what_was_said_later_of_something_else_stays_below(question: str, answer: str, other: str) -> None:
    assert block(question, answer, other)[0] == answer


def test_of_several_changes_the_last_comes_first() -> None:
    # Given three values of one thing / When asked for the present / Then the newest leads
    texts = (
        "We cook with gas from Lumo.",
        "Lumo got too dear, Vanto delivers our gas.",
        "Vanto went under, so our gas comes from Pirro.",
    )
    assert block("Who delivers our gas?", *texts)[0] == texts[2]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What did my uncle do before?", "My uncle Otis is a florist.", "Otis gave up flowers, he binds books now."),
        ("我舅舅以前是做什么的？", "我舅舅阿良开花店。", "阿良不开花店了，如今在装订古书。"),
    ],
)
def test_a_question_about_before_gets_the_former_line_first(question: str, older: str, newer: str) -> None:
    assert block(question, older, newer)[0] == older


def test_a_question_about_before_gets_the_line_of_whose_end_another_tells() -> None:
    said = (
        "固定 partner 是 Lorne。",
        "Lorne 调去港区了，跟我巡逻的是 Ike。",
        "I patrol with a torch and a whistle.",
        "I patrol with the harbour dog.",
    )
    shown = list(block("Who did I patrol with before?", *said))
    assert shown.index(said[0]) == shown.index(said[1]) - 1


def test_a_question_about_before_gets_the_last_of_several_former_lines_first() -> None:
    said = (
        "We cook with gas from Lumo.",
        "Lumo got too dear, so Vanto delivers our gas.",
        "Vanto went under, so our gas comes from Pirro.",
    )
    assert block("Who delivered our gas before?", *said)[0] == said[1]


def test_without_vectors_the_order_of_the_ranking_is_kept() -> None:
    question, former, latter = CHANGES[0]
    assert list(block(question, former, latter, measure=False))[:2] == [former, latter]


def test_the_assistant_and_a_supposition_succeed_nothing() -> None:
    question, former = "What does my uncle do?", "My uncle Otis is a florist."
    assert block(question, former, "If Otis gave up flowers, he would bind books.")[0] == former
    hits = [hit(former, 0.9), hit("Otis gave up flowers and binds books now.", 0.8, days=9, source="assistant")]
    assert PICKER.pick(measured(question, hits), question, None)[0].node.text == former


@pytest.mark.parametrize(
    ("question", "asked", "former", "latter"),
    [
        (
            "Which hall is the concert in?",
            "Find a hall for the concert.",
            "Booked the river hall for the concert.",
            "The river hall was flooded, so the concert is in the granary now.",
        ),
        ("音乐会在哪个厅？", "给音乐会找个厅。", "音乐会订了江边厅。", "江边厅进水了，音乐会改到谷仓厅。"),
    ],
)
def test_a_report_of_the_assistant_succeeds_an_earlier_one(question: str, asked: str, former: str, latter: str) -> None:
    hits = [
        replace(hit(former, 0.9, source="assistant"), answers=hit(asked, 0.5).node, reports=True),
        replace(hit(latter, 0.8, days=9, source="assistant"), reports=True),
    ]
    assert PICKER.pick(measured(question, hits), question, None)[0].node.text == latter
    told = [hits[0], replace(hits[1], reports=False)]
    assert PICKER.pick(measured(question, told), question, None)[0].node.text == former


def test_a_report_continues_no_other_matter_because_of_the_request_before_it() -> None:
    # Given a request in other words than the question's / Then its report may still succeed the one before
    question = "Which version is on the kiosk?"
    former, latter = "Installed 2.4 on the kiosk.", "Rolled back to 2.3; the printer works again."
    request = hit("Roll it back, the printer is broken.", 0.4, days=9)
    newer = replace(hit(latter, 0.5, days=10, source="assistant"), answers=request.node, reports=True)
    older = replace(hit(former, 0.9, source="assistant"), reports=True)
    hits = measured(question, [older, newer, request])
    reader = LineReader(contradiction.build(), RuleAnalyzer())
    asked = reader.question(question, hits)
    lines = reader.lines(hits, asked) or []
    assert Succession(lines, asked).may_succeed(lines[1], lines[0])


def test_only_packaged_models_read_changes() -> None:
    # Given an embedder without a direction / Then nothing is read; the packaged one gives a number a text
    assert change_odds("another-model") is None
    odds = change_odds("multilingual-e5-small-q4@1571fc98+centred-ac370b")
    assert odds is not None
    assert odds(np.zeros((3, 384), dtype=np.float32)).shape == (3,)


@pytest.mark.req("C31", partly="a value that may have changed is not given alone")
@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("When does the quiz begin?", "The quiz begins at eight.", "They read the first question at half past eight."),
    ],
)
def test_a_line_that_may_have_changed_the_first_one_follows_it(question: str, older: str, newer: str) -> None:
    # Given a later line, too little like the question to be shown, that perhaps tells how the matter stands now
    hits = [hit(older, 0.8), hit(newer, 0.5, days=20), hit("It rained all week.", 0.4, days=10)]

    # When a block is chosen / Then it follows the line that it may have changed, and nothing else does
    assert [one.node.text for one in PICKER.pick(measured(question, hits), question, None)] == [older, newer]


RETOLD = [
    (
        "Ordered a green armchair, five week wait.",
        "They refunded the armchair without a fuss. Turns out it would never have fit through our door.",
    ),
    (
        "Gran lives on her own in the old mill in Bude.",
        "Gran's room at the care home looks out over the bay. She has unpacked the last box.",
    ),
    (
        "The loft costs me 870 a month, due on the first.",
        "Rent left my account today, 910 from now on. Can you help me plan the rest?",
    ),
    ("家里宽带是联通的200兆，看剧老卡", "电信师傅刚走，千兆已经装好，联通那条销掉了。路由器放哪儿好？"),
    ("我每天自己开车上班，单程半个小时", "车卖掉以后反倒轻松，现在地铁上还能眯一觉再到公司"),
]
RETOLD_OF_OTHERS = [
    ("We have a parrot called Kiwi.", "Kiwi has company! The second parrot is called Mango, they chat all day."),
    ("阳台上种了黄瓜", "阳台又添了两盆薄荷，长得飞快"),
    ("我外婆今年八十三", "三叔非说外婆八十五了，他自己几岁都记不清"),
]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(("former", "latter"), RETOLD)
def test_what_changed_a_line_goes_before_it_when_the_line_is_told_again(former: str, latter: str) -> None:
    hits = [hit(former, 0.9), hit(latter, 0.6, days=9)]
    assert PICKER.pick(measured(former, hits), former, None)[0].node.text == latter


@pytest.mark.req("C31", partly="a line about something else")
@pytest.mark.parametrize(("former", "latter"), RETOLD_OF_OTHERS)
def test_what_adds_to_a_line_or_is_hearsay_stays_below_when_the_line_is_told_again(former: str, latter: str) -> None:
    hits = [hit(former, 0.9), hit(latter, 0.4, days=9)]
    assert PICKER.pick(measured(former, hits), former, None)[0].node.text == former


@pytest.mark.parametrize(
    ("question", "former", "before", "latter"),
    [
        (
            "What time is the choir rehearsal?",
            "Choir rehearsal is at 9:30 in the crypt.",
            "Ottokar leads us while Vilma is away.",
            "Ottokar can't do half nine, so we sing at ten now.",
        ),
        (
            "How much is my monthly pay?",
            "My monthly pay is 3,100.",
            "The bells are being repaired.",
            "Good news, 3,350 lands on the table from now on.",
        ),
    ],
)
def test_who_brings_a_change_and_from_now_on_name_no_other_matter(
    question: str, former: str, before: str, latter: str
) -> None:
    # Given an earlier line about the person who brings the change / Then the change is still one of the former line
    hits = measured(question, [hit(former), hit(before, days=1), hit(latter, days=9)])
    reader = LineReader(contradiction.build(), RuleAnalyzer())
    asked = reader.question(question, hits)
    lines = reader.lines(hits, asked) or []
    assert Succession(lines, asked).may_succeed(lines[2], lines[0])


_SMALL_TALK = {True: ("Lunch was dull.", "It rained all day."), False: ("今天吃了面条。", "外面下雨了。")}


@pytest.mark.req("C31", partly="a later line that only implies the change")
@pytest.mark.parametrize(
    ("question", "former", "change"),
    [
        (
            "Is the billing PR blocked?",
            "The pull request for the new billing module is blocked, legal has to clear the third-party licence first.",
            "Ingrid's lawyers gave us the thumbs up, merged it at noon",
        ),
        (
            "How many seats does our CAD licence cover?",
            "Our licence for the CAD program covers five seats, so Obinna has to wait until one is free.",
            "reseller gave us three extra for the drawing thing, O's already at it",
        ),
        (
            "How many cigarettes do I smoke a day?",
            "I'm down from thirty cigarettes a day to ten, the app on my phone counts along.",
            "very last one was on sunday, ashtray's in the bin, three days clean",
        ),
        ("模型权重去哪儿拉？", "训练好的模型权重放在gpu03的/data2下面", "03硬盘报警，我全挪OSS了，那边清空了"),
        ("我床头那副老花镜还能戴吗？", "我的黑框老花镜搁在床头柜上，看报纸用的", "黑框那副一屁股坐断，扔了"),
        ("我爸还住院吗？", "我爸上周住院了，在三楼病房。", "老爸今天回家了，中午吃了两碗饭"),
    ],
)
def test_a_line_that_only_implies_the_change_is_shown_with_the_former_one(
    question: str, former: str, change: str
) -> None:
    # Given what was so, small talk, and weeks later a line that has hardly a word of it
    said = (former, *_SMALL_TALK[question.isascii()], change)
    hits = measured(question, [hit(text, days=3 * place) for place, text in enumerate(said)])
    # When it is asked for / Then both are shown, and no small talk
    assert {one.node.text for one in PICKER.pick(hits, question, None)} == {former, change}
