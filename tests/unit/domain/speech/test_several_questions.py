"""Messages that ask several questions at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.speech.several_questions import pieces_of, questions_in


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Who is our plumber and how much did he charge?", ("Who is our plumber?", "How much did he charge?")),
        ("Where is the boat, when does it leave?", ("Where is the boat?", "When does it leave?")),
        ("How much is the fee? And when is it due?", ("How much is the fee?", "When is it due?")),
        ("Is my visa valid and when does it expire?", ("Is my visa valid?", "When does it expire?")),
        ("Where do my siblings live?", ("Where does my brother live?", "Where does my sister live?")),
        (
            "What are my aunt's and uncle's plans?",
            ("What is my aunt's plans?", "What is my uncle's plans?"),
        ),
        ("I need these: Mum's birthday, the name of my tutor.", ("Mum's birthday?", "The name of my tutor?")),
        ("my brother's trade, the owner of the van?", ("My brother's trade?", "The owner of the van?")),
        ("when do I see the surgeon, and where", ("When do I see the surgeon?", "Where do I see the surgeon?")),
        ("What do Anjali and Rohan do?", ("What does Anjali do?", "What does Rohan do?")),
        ("A form again. Current firm, and since when?", ("Current firm?", "Since when?")),
        ("工位号、回国日期，各发我一下", ("工位号？", "回国日期？")),
        ("要填表：名字、常去的医院", ("名字？", "常去的医院？")),
        ("伴娘和拍照的那位分别叫什么？", ("伴娘叫什么？", "拍照的那位叫什么？")),
        ("婆婆过寿，日子是哪天，她忌口啥？", ("婆婆过寿，日子是哪天？", "婆婆过寿，她忌口啥？")),
        ("水电工是谁，收了多少钱？", ("水电工是谁？", "收了多少钱？")),
        ("体检是哪天？在哪家医院？", ("体检是哪天？", "在哪家医院？")),
        ("我弟弟和妹妹分别在哪儿上学？", ("我弟弟在哪儿上学？", "我妹妹在哪儿上学？")),
        ("周会是几点，那个会在周几？", ("周会是几点？", "那个会在周几？")),
    ],
)
def test_each_question_is_found_in_its_words(text: str, asked: tuple[str, ...]) -> None:
    assert questions_in(text) == asked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Where is the boat?",
        "Do you know when and where the talk is?",
        "What do I know about who called and what they wanted?",
        "Who was it that rang when I was out?",
        "The plumber came and fixed it.",
        "Who sells bread and butter?",
        "My mother and father are here.",
        "Where is the boat? " * 30,
        "上次说的那件事，后来怎么样了？",
        "水电工是谁？",
        "我爸妈几号过来？",
        "司机问住哪片，我怎么说？",
        "另外那只呢，喂哪种口味？",
        "And my son, what number is on his shirt?",
        "When is the wedding of Kwame and Ilse?",
        "How much does Mrs. Petrova pay?",
        "The lights went out, where's the fuse box?",
        "帮我搭个狗窝，要什么材料，怎么弄？",
        "Which flash should I buy? Has to fit my cameras.",
        "今天有点冷，明天呢？",
        "我爸和我妈来了。",
    ],
)
def test_a_single_question_is_not_divided(text: str) -> None:
    assert questions_in(text) == ()


@given(
    st.lists(
        st.sampled_from(["Who is it?", "and", "when is it due", "my mother and father", ",", "我哥和我姐", "谁？", "x"])
    )
)
def test_there_are_none_or_two_to_four(pieces: list[str]) -> None:
    assert len(questions_in(" ".join(pieces))) in (0, 2, 3, 4)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Give me the wifi password and the alarm code.", ("Give me the wifi password", "the alarm code")),
        (
            "I forgot the name of his teacher, also the room of the class",
            ("I forgot the name of his teacher", "the room of the class"),
        ),
        ("把物业电话、水表户号告诉我", ("把物业电话", "水表户号告诉我")),
        ("老婆喜欢什么花 结婚纪念日几号", ("老婆喜欢什么花", "结婚纪念日几号")),
    ],
)
def test_the_pieces_of_a_request_may_each_ask_for_something(text: str, pieces: tuple[str, ...]) -> None:
    assert questions_in(text) == ()
    assert pieces_of(text) == pieces


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Where is the boat?",
        "We went to the lake and had a picnic.",
        "我们去了湖边，还野餐了。",
        "where, oh where? " * 30,
    ],
)
def test_a_message_without_a_request_or_with_one_has_no_pieces(text: str) -> None:
    assert pieces_of(text) == ()
