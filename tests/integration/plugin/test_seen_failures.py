"""What a new user saw an agent told wrongly, played again in other words through the plugin with its defaults."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

import biem
from biem import BIEMContextPlugin
from tests.support.fakes import HeldClock
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure


class Life:
    """One user, who tells and asks an agent through the plugin."""

    def __init__(self, memory: biem.Memory, clock: HeldClock) -> None:
        self.memory = memory.scope(user=uuid.uuid4().hex)
        self.clock = clock
        self.began = clock.now()

    def tells(self, text: str, *, by: str = "user", **details: Any) -> None:
        """A message in its own conversation, a day after the last."""
        self.clock.advance(days=1)
        plugin = BIEMContextPlugin(self.memory, conversation=f"day {self.clock.now():%j}")
        record = plugin.record_user_message if by == "user" else plugin.record_assistant_message
        record(text, **details)
        assert self.memory.flush(120)

    def asks(self, question: str) -> list[str]:
        """The lines that an agent reads, best first."""
        self.clock.advance(minutes=5)
        block = BIEMContextPlugin(self.memory, conversation="questions").recall_context(question)
        return [hit.node.text for hit in block.hits]

    def nights(self, days: int, at_once: int = 30) -> None:
        """Time passes, with a night now and then."""
        for _ in range(0, days, at_once):
            self.clock.advance(days=at_once)
            self.memory.sleep()


@pytest.fixture(scope="module")
def opened(settings: Configure) -> Iterator[tuple[biem.Memory, HeldClock]]:
    clock = HeldClock()
    with biem.connect(settings(sleep=ONLY_SLEEP), clock=clock) as memory:
        yield memory, clock


@pytest.fixture
def life(opened: tuple[biem.Memory, HeldClock]) -> Life:
    return Life(*opened)


@pytest.mark.parametrize(
    ("first", "later", "question"),
    [
        ("I was born on 21 November.", "Correction: my dad was born on 2 February.", "When was I born?"),
        ("我的生日是11月21日。", "更正一下，我爸的生日是2月2日。", "我哪天过生日？"),
        ("我爸爸的生日是2月2日。", "我约了2月9日看牙，改到2月12日了。", "我爸爸哪天过生日？"),
        ("My train to Graz leaves at 8:10.", "The train back from Graz was moved to 17:40.",
         "When does my train to Graz leave?"),
        ("我去南京的高铁是8:10开。", "从南京回来的高铁改到17:40了。", "我去南京的高铁几点开？"),
        ("I enjoy the night shift.", '"I can\'t stand the night shift any more," Petra told me.',
         "Do I enjoy the night shift?"),
    ],
)  # fmt: skip
def test_1_what_is_said_of_another_person_or_thing_retires_nothing(
    life: Life, first: str, later: str, question: str
) -> None:
    life.tells(first)
    life.tells(later)
    assert life.asks(question)[0] == first
    assert not [one for one in life.memory.conflicts(status="resolved") if one.decided_by == "rule"]


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Penicillin gives me a rash, I must never take it.", "Which medicine must I never take?"),
        ("我对虾过敏，吃了会起疹子。", "我对什么过敏？"),
    ],
)
def test_2_health_outlives_months_and_details_are_kept(life: Life, told: str, question: str) -> None:
    life.tells(told)
    life.tells("The tram was late today.")
    life.tells("Our fuse box is behind the mirror.", importance=5, layer="long_term", tags=["house"], metadata={"n": 1})
    life.nights(150)
    assert life.asks(question)[0] == told
    [kept] = life.memory.recall("Where is the fuse box?", tags=["house"], top_k=1)
    assert (kept.node.importance, kept.node.layer, kept.node.metadata) == (5.0, "long_term", {"n": 1})


def test_3_a_prompt_repeats_nothing_of_its_history(life: Life) -> None:
    plugin = BIEMContextPlugin(life.memory, conversation="now")
    texts = ["I play the oboe in a wind quintet.", "The quintet rehearses in the chapel.", "The oboe needs a new reed."]
    for text in texts:
        plugin.record_user_message(text)
    assert life.memory.flush(120)
    history = [{"role": "user", "content": text} for text in texts]
    assert not any(text in plugin.messages("", history, "What about my oboe?")[0]["content"] for text in texts)
    assert life.memory.context("What about my oboe?", exclude_conversation="now").hits == ()
    assert texts[0] in plugin.messages("", history[1:], "What about my oboe?")[0]["content"]


@pytest.mark.parametrize(
    "text",
    [
        "I drive trams for the city of Linz.", "We moved into a houseboat in April.", "I own a tortoise called Basil",
        "I can't eat walnuts, they close my throat", "My twins start school next autumn.",
        "我在地铁公司开列车。", "我们四月搬进了新房子。", "我养了一只叫豆豆的乌龟",
        "我不能吃核桃，会喘不过气", "我家双胞胎明年上小学。",
    ],
)  # fmt: skip
def test_4_what_users_say_of_themselves_is_formed(life: Life, text: str) -> None:
    life.tells(text)
    [hit] = life.memory.recall(text, top_k=1)
    assert hit.node.energy > 0
    assert life.memory.node(hit.node.id)


@pytest.mark.long
def test_5_no_fact_is_made_of_courtesies(life: Life) -> None:
    for number in range(6):
        life.tells(("Great, I've made a note of it!", "好的，我已经记下了，谢谢！")[number % 2], by="assistant")
        life.tells(("Perfect, thank you so much.", "太好了，非常感谢。")[number % 2])
    for _ in range(3):
        life.memory.recall("I've made a note of it, thank you", top_k=5)
    life.nights(6, 1)
    assert list(life.memory.facts()) == []


def test_6_a_birthday_that_was_decided_about_is_not_disputed_by_a_journey(life: Life) -> None:
    life.tells("My birthday is on 3 June.")
    life.tells("My birthday is on 5 June.")
    for conflict in life.memory.conflicts(status=None):
        life.memory.undo(conflict.id)
        life.memory.resolve(conflict.id, "keep_both")
    life.tells("The trip to Bergen is put off.")
    assert life.memory.conflicts() == []
    assert not any("disputed" in line for line in life.memory.context("When is my birthday?").text.splitlines())


@pytest.mark.parametrize(
    ("told", "questions"),
    [
        (["I teach chemistry at Norwood High.", "I've left Norwood and work for Siemens now."],
         ["Which company do I work for?"]),
        (["On Tuesdays I do judo.", "Judo was too hard on my knees, so these days it's swimming."],
         ["What sport do I practise?", "How do I keep fit these days?"]),
        (["我每周二打羽毛球。", "膝盖受伤以后羽毛球不打了，改游泳了。"], ["我平时做什么运动？"]),
        (["我在一家银行当柜员。", "银行那份工作我辞了，如今在一家出版社做编辑。"],
         ["我靠什么谋生？", "我是做什么工作的？"]),
        (["我开一辆旧桑塔纳。", "桑塔纳报废了，现在开的是比亚迪。"], ["我开什么车？", "What car do I drive?"]),
    ],
)  # fmt: skip
def test_7_what_holds_now_is_shown_first(life: Life, told: list[str], questions: list[str]) -> None:
    for text in told:
        life.tells(text)
    life.tells("I suppose you are an accountant who loves tennis and drives a van.", by="assistant")
    for question in questions:
        assert life.asks(question)[:1] == told[-1:], question
    block = BIEMContextPlugin(life.memory).recall_context("Am I an accountant?")
    assert all("assistant" in line for line in block.text.splitlines() if "accountant" in line)


@pytest.mark.parametrize(
    ("asked", "said", "beside", "question", "mark"),
    [
        ("How many performances do you give in a month?", "Six.", "The costumes are stored in the old mill.",
         "How many performances do we give each month?", '(asked: "{}")'),
        ("你们一个月演几场？", "六场。", "戏服都放在老磨坊里。", "我们每个月演几场？", '(回答："{}")'),
    ],
)  # fmt: skip
def test_a_short_answer_to_the_assistant_is_found_and_told_with_its_question(
    life: Life, asked: str, said: str, beside: str, question: str, mark: str
) -> None:
    # Given a user who answers the assistant in one word / When that is asked later / Then the line says of what it is
    life.tells(beside)
    plugin = BIEMContextPlugin(life.memory, conversation="talk")
    plugin.record_assistant_message(asked)
    plugin.record_user_message(said)
    assert life.memory.flush(120)
    life.tells(beside + beside)
    assert life.asks(question)[:1] == [said]
    block = BIEMContextPlugin(life.memory, conversation="later").recall_context(question)
    assert f'"{said}" {mark.format(asked)}' in block.text


@pytest.mark.parametrize(
    ("lasting", "passing"),
    [
        (["Mustard makes my tongue swell", "I'm a saddler", "Ilse is my half-sister", "Quote prices in crowns, always"],
         "my tea is getting cold"),
        (["我吃了芥末舌头会肿", "我是做马鞍的", "伊丽是我同父异母的妹妹", "一律用克朗给我报价"], "我的茶凉了"),
    ],
)  # fmt: skip
def test_a_state_of_the_user_outlives_a_year_and_small_talk_does_not(
    life: Life, lasting: list[str], passing: str
) -> None:
    plugin = BIEMContextPlugin(life.memory, conversation="long ago")
    kept = [plugin.record_user_message(text) for text in lasting]
    gone, said = plugin.record_user_message(passing), plugin.record_assistant_message("You may like sailing.")
    assert life.memory.flush(120)
    life.nights(400, 40)
    assert [life.memory.get(str(one)).status for one in kept] == ["active"] * len(lasting)
    assert [life.memory.get(str(one)).status for one in (gone, said)] == ["archived"] * 2


@pytest.mark.parametrize(
    ("before", "fact", "question"),
    [
        ("and then we walked on and talked about this and that ", "the boat shed opens with the brass key ",
         "Which key opens the boat shed?"),
        ("后来我们又往前走了一段还聊了不少别的事", "船棚要用那把黄铜钥匙开", "船棚用哪把钥匙开？"),
    ],
)  # fmt: skip
def test_a_fact_within_a_line_without_punctuation_is_shown(life: Life, before: str, fact: str, question: str) -> None:
    life.tells(before * 120 + fact + before * 120)
    block = BIEMContextPlugin(life.memory, conversation="later").recall_context(question)
    assert fact.strip() in block.text


@pytest.mark.parametrize(
    ("told", "echo", "question"),
    [
        ("Our dinghy is moored at pier nine.", "Understood, I'll remember that your dinghy is moored at pier nine.",
         "Where is our dinghy moored?"),
        ("我们的小艇停在九号码头。", "好的，我记下了，你们的小艇停在九号码头。", "我们的小艇停在哪里？"),
    ],
)  # fmt: skip
def test_an_acknowledgement_that_only_repeats_is_no_line(life: Life, told: str, echo: str, question: str) -> None:
    life.tells(told)
    life.tells(echo, by="assistant")
    assert life.asks(question) == [told]


def test_a_conversation_that_the_prompt_holds_is_excluded_by_the_plugin(life: Life) -> None:
    life.tells("My oar is made of ash.")
    plugin = BIEMContextPlugin(life.memory, conversation="now")
    plugin.record_user_message("The other oar is made of spruce.")
    assert life.memory.flush(120)
    system = plugin.messages("", [], "What are my oars made of?", exclude_conversation="now")[0]["content"]
    assert "ash" in system
    assert "spruce" not in system


@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        (("Reserve a hall for the choir on Sunday.", "Reserved: the river hall, Sunday at 18:15, for thirty singers."),
         ("Move the choir somewhere larger.", "The river hall has no larger room, so I reserved one in the granary."),
         "Where does the choir meet on Sunday?"),
        (("帮我给合唱团订周日的场地。", "已预订:江边厅,周日18:15,三十人。"),
         ("合唱团的场地换个大点的。", "江边厅没有更大的了,已改订旧粮仓。"),
         "合唱团周日的场地在哪儿？"),
    ],
)  # fmt: skip
def test_what_an_agent_has_done_for_the_user_is_known_and_the_last_of_it_comes_first(
    life: Life, first: tuple[str, str], second: tuple[str, str], question: str
) -> None:
    for asked, done in (first, second):
        life.clock.advance(days=1)
        plugin = BIEMContextPlugin(life.memory, conversation=asked)
        plugin.record_user_message(asked)
        plugin.record_assistant_message(done)
        assert life.memory.flush(120)
    lines = life.asks(question)
    assert lines[0] == second[1]


@pytest.mark.parametrize(
    ("facts", "later", "questions"),
    [
        (
            ("User repairs clocks in Ghent", "The user prefers answers in short paragraphs", "Owns a folding canoe"),
            "User sold the folding canoe and bought a rowing boat",
            {"Where does the user repair clocks?": 0, "Do I like short or long paragraphs?": 1},
        ),
        (
            ("用户在根特修钟表", "用户喜欢简短的段落", "用户有一条折叠皮艇"),
            "用户卖掉了折叠皮艇，买了一条划艇",
            {"我在哪里修钟表？": 0, "我喜欢长段落还是短段落？": 1},
        ),
    ],
)
def test_facts_about_the_user_answer_his_questions_months_later(
    life: Life, facts: tuple[str, ...], later: str, questions: dict[str, int]
) -> None:
    # Given facts that a program or model keeps about "the user" / When months pass, and one changes
    for fact in facts:
        life.clock.advance(days=1)
        life.memory.remember(fact)
    life.clock.advance(days=1)
    life.memory.remember(later)
    assert life.memory.flush(120)
    life.nights(150)

    # Then they answer questions in the first person and the third, and the newer one comes first
    assert {question: life.asks(question)[:1] for question in questions} == {
        question: [facts[place]] for question, place in questions.items()
    }
    assert life.asks("Which boat do I have?" if later.isascii() else "我有什么船？")[0] == later


LONG = {
    "en": (
        "Quick brain dump before the long weekend. We're moving the archive from the cellar to unit 12 in Harbour Road,"
        " and Farid looks after that. The humidity has to stay below 50. I'm in Trieste from the 14th to the 22nd. Our"
        " landlord sends the new lease by registered mail, and my son starts at the Waldorf school in autumn.",
        "Notes of this morning:\n- the board grants 3,200 for shelves, nothing for scanners\n- Farid goes to the"
        " museum, Ilse takes the archive over on Monday\n- keys are with the porter\n- alarm code: new every quarter",
        (
            ("Where is the archive moving to?", "unit 12"),
            ("How humid may it be in there?", "below 50"),
            ("Which school is my son going to?", "Waldorf"),
            ("How much money do we have for shelves?", "3,200"),
            ("Who has the keys?", "porter"),
        ),
    ),
    "zh": (
        "先把这周的事说一遍：档案室要从地下室搬到临江路十二号，这事由法丽负责。湿度必须控制在五十以下。我十四号到"
        "二十二号在大理休假，手机能打通。房东说新租约用挂号信寄来。我儿子秋天开始上枫叶小学，校车七点一刻到楼下。",
        "今天例会记录：\n1. 理事会批了三千二买架子，扫描仪没批\n2. 法丽调去博物馆，周一起档案由老秦接手"
        "\n3. 钥匙放在门卫那里\n4. 报警器密码每季度换一次",
        (
            ("档案室搬到哪里？", "临江路十二号"),
            ("湿度不能超过多少？", "五十以下"),
            ("我儿子上哪所小学？", "枫叶小学"),
            ("买架子有多少钱？", "三千二"),
            ("钥匙在谁那里？", "门卫"),
        ),
    ),
}


@pytest.mark.parametrize("lang", LONG)
def test_each_statement_of_a_long_message_is_found_and_shown(life: Life, lang: str) -> None:
    # Given two messages with several statements each / When one is asked for / Then the block has its words
    first, later, asked = LONG[lang]
    for text in (first, later):
        life.tells(text)
    for question, words in asked:
        block = BIEMContextPlugin(life.memory, conversation="questions").recall_context(question)
        assert words in block.text, (question, block.text)


@pytest.mark.parametrize(
    ("told", "question", "first"),
    [
        (
            (
                "My dentist is called Dr. Osei.",
                "The gym costs 31 a month.",
                "We had soup for lunch.",
                "I drive a Skoda.",
            ),
            "What's my dentist's name and how much is the gym?",
            {0, 1},
        ),
        (
            ("My sister Klara lives in Lund.", "My brother Anton lives in Gdansk.", "We had soup for lunch."),
            "Where do my siblings live?",
            {0, 1},
        ),
        (
            ("我的牙医姓欧。", "健身房一个月三百一。", "中午喝的汤。", "我开一辆斯柯达。"),
            "我的牙医姓什么，健身房一个月多少钱？",
            {0, 1},
        ),
        (
            ("The wifi password is heron-42.", "The alarm code is 8831.", "We had soup for lunch.", "I drive a Skoda."),
            "Give me the wifi password and the alarm code.",
            {0, 1},
        ),
        (("我姐在隆德当老师。", "我哥在船厂当焊工。", "中午喝的汤。"), "我哥和我姐分别是做什么的？", {0, 1}),
    ],
)
def test_each_question_of_a_message_is_answered(
    life: Life, told: tuple[str, ...], question: str, first: set[int]
) -> None:
    # Given memories / When a message asks for two of them / Then the first two lines answer
    for text in told:
        life.tells(text)
    assert set(life.asks(question)[: len(first)]) == {told[place] for place in first}


@pytest.mark.parametrize(
    ("told", "requests"),
    [
        (
            ("My name is Ilse.", "I work as a welder in a shipyard.", "It rained all day.", "I live in Tromsø."),
            ("What do you know about me?", "Who am I?"),
        ),
        (("我叫若溪。", "我是船厂的焊工。", "下了一天雨。", "我住在舟山。"), ("你都知道我些什么？", "我是谁？")),
    ],
)
def test_a_request_for_all_that_is_known_of_the_user_gets_it(
    life: Life, told: tuple[str, ...], requests: tuple[str, ...]
) -> None:
    for text in told:
        life.tells(text)
    for request in requests:
        assert set(life.asks(request)) == {told[place] for place in (0, 1, 3)}
