"""Later lines about another person, thing or occasion than what is asked for, among lines about such things."""

from dataclasses import replace

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.occasions import is_exception
from biem.engine.context.picking import Picker
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())


def first(question: str, *said: str) -> str:
    """The first line of a block for messages told one after another."""
    hits = [hit(text, days=2 * place) for place, text in enumerate(said)]
    return PICKER.pick(measured(question, hits), question, None)[0].node.text


def test_a_line_that_names_by_a_pronoun_is_no_later_state_of_the_one_that_it_is_about() -> None:
    # Given a lesson that moved, and then what became of the pupil / When the lesson's time is asked for
    question, moved = "蔓蔓的琵琶课几点开始？", "琵琶老师要巡演，蔓蔓的琵琶课改到下午五点了。"
    hits = [hit(moved), hit("抽签抽完了，她转去四组了。", days=1)]
    before, later = measured(question, hits)
    later = replace(later, refers_to=before.node, why={**later.why, "referred_likeness": before.why["likeness"]})

    # Then that is no newer time
    assert PICKER.pick([before, later], question, None)[0].node.text == moved


@pytest.mark.req("C31", partly="a line about another person")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Where do I live?",
            ("I live in Truro with my partner Ed.", "My ex Gerald moved to Dundee with his new girlfriend."),
        ),
        (
            "Where does my mother live?",
            ("My mother lives in Kendal.", "My mother-in-law has moved into a home in Poole."),
        ),
        ("我的猫叫什么名字？", ("我的猫叫芝麻。", "我表哥的猫叫豆沙。", "表哥给猫改名了，现在叫汤圆。")),
        (
            "我的年假什么时候开始？",
            ("我的年假从7月2号开始。", "同事小陈的年假从7月20号开始。", "小陈的年假改到8月6号了。"),
        ),
        ("When do I have my review?", ("My review is on 4 May.", "My colleague's boss moved the review to 9 May.")),
        ("我女朋友哪天生日？", ("我女朋友的生日是4月5号。", "前女友的生日好像是4月19号。")),
    ],
)
def test_a_later_line_about_another_person_stays_below(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Who is my boss?",
            ("My boss is called Nadine.", "Nadine left the firm last week, Oswald has taken over her team."),
        ),
        (
            "Who is Ida's Latin teacher?",
            (
                "Ida's Latin teacher is Mr Crumb.",
                "Ida's chemistry teacher is Ms Vale.",
                "Mr Crumb retired, Mrs Pike teaches Latin now.",
            ),
        ),
        (
            "When is my singing lesson?",
            (
                "My singing lesson is on Mondays at five.",
                "My teacher has choir on Mondays now, so the lesson is on Thursdays at four.",
            ),
        ),
        ("我哪天上声乐课？", ("我的声乐课是每周一下午。", "声乐老师周一没空了，课换到周四上午。")),
        ("我们家的牙科医生是谁？", ("我们家的牙科医生是韩医生。", "韩医生退休了，我们转到邵医生那里看牙。")),
    ],
)
def test_a_person_who_acts_or_is_the_answer_leaves_the_line_a_successor(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[-1]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much do I weigh?", ("I weigh 92 kilos.", "Only 90 kilos today.", "Weighed again: 87 kilos now.")),
        ("我哪天上日语课？", ("我报了日语班，每周二晚上上课。", "日语班合班了，我的课挪到周四晚上。")),
    ],
)
def test_the_last_of_several_values_comes_first(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[-1]


@pytest.mark.req("C31", partly="a line about an earlier time")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "When does the rowing club meet?",
            ("The rowing club meets on Tuesdays.", "Years ago the rowing club met on Fridays."),
        ),
        ("桥牌社什么时候活动？", ("桥牌社每周二下午活动。", "好几年前桥牌社是在周五活动。")),
    ],
)
def test_how_things_once_were_comes_after_how_they_are(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="a line about something else")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "How much is the internet?",
            (
                "The internet bill is 34 pounds a month.",
                "The heating bill is 88 pounds a month.",
                "The heating went up to 97.",
            ),
        ),
        (
            "Which Redis does prod run?",
            ("Prod runs Redis 6.", "Staging runs Redis 7.", "We upgraded staging to Redis 8 on Monday."),
        ),
        ("邮箱服务用哪个端口？", ("邮箱服务监听2525端口。", "报表监听7100端口。", "报表端口改成7200了。")),
    ],
)
def test_a_change_of_the_thing_of_a_third_line_stays_below(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="a line about an occasion")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My Welsh class is every Monday at 6.", "My Welsh class is cancelled tomorrow."),
        ("I live in Frome.", "I'm at my dad's in Bude for two weeks."),
        ("我开的是轩逸。", "轩逸在修，这两天先开租来的朗逸。"),
        ("站会是九点半。", "站会明天临时改到十点。"),
    ],
)
def test_what_ends_by_itself_replaces_nothing(older: str, newer: str) -> None:
    assert is_exception(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The dinner is on Friday.", "The dinner is tomorrow instead."),
        ("My Welsh class is every Monday.", "From this week my Welsh class is on Wednesdays."),
        ("I see the physio every Monday.", "That was my last session with the physio today."),
        ("我每周一去做理疗。", "今天理疗最后一次，疗程结束。"),
        ("I live in Frome.", "I moved to Bude."),
        ("We hope to hike it in six hours.", "We aim for four hours on the hike."),
        ("I'm at my dad's for two weeks.", "I'm at the hotel until Friday."),
        ("晚饭定在周五。", "晚饭改到明天了。"),
        ("我的课每周一。", "从这周起我的课改到周三。"),
        ("会议订在海棠厅。", "海棠厅被总部临时占用了，换到银杏厅。"),
        ("", ""),
    ],
)
def test_what_goes_on_and_what_moves_one_event_are_no_exceptions(older: str, newer: str) -> None:
    assert not is_exception(newer, older)


@pytest.mark.req("C31", partly="a line about something else")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When is my cousin's birthday?", ("My cousin Ivo's birthday is on 12 March.",
                                           "My cousin's birthday party is on the 15th though.")),
        ("我表弟的生日是哪天？", ("我表弟的生日是3月12日。", "表弟的生日会改在15号办。")),
        ("How does Lars take his tea?", ("Lars takes honey and lemon.", "Since my cold I take honey in my tea.")),
        ("Do I like okra?", ("I hate okra.", "Yeah sure, I just love okra, that's why I hid it under the rice.")),
        ("我喜欢秋葵吗？", ("我讨厌秋葵。", "呵呵，我爱秋葵，所以全挑出来了。")),
    ],
)  # fmt: skip
def test_a_later_line_about_another_thing_stays_below(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="a line about an occasion")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When is choir usually?", ("Choir is on Tuesdays at 7.", "This week only, choir is on Thursday.")),
        ("我们平时哪天排练？", ("我们每周二晚上排练。", "就这一周改到周四排练。")),
    ],
)
def test_what_holds_otherwise_goes_before_an_exception(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[0]


@pytest.mark.req("C31", partly="newer values first")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where does my book group meet?", ("My book group meets on Mondays at Ina's.",
                                            "The book group meets at Paul's place now.")),
        ("我儿子的数学老师是谁？", ("我儿子的数学老师姓权。", "权老师退休了，现在石老师教数学。")),
        ("What does Mr Pratt drive?", ("Our neighbour Mr Pratt drives a Volvo.", "Mr Pratt sold the Volvo for a Kia.")),
    ],
)  # fmt: skip
def test_owners_of_places_and_verbs_name_no_other_subject(question: str, said: tuple[str, ...]) -> None:
    assert first(question, *said) == said[1]
