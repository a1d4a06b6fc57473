"""The forgetting curve."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.config import Settings
from biem.domain.energy import energy_at
from biem.domain.policies.life import RetentionPolicy
from biem.domain.retention import Lived, becomes_long_term, deadline, retention_days
from tests.support.fakes import START

POLICY = RetentionPolicy()
REASON = "because he asked for it twice already"
importances = st.floats(1, 5)
counts = st.integers(0, 1_000)
layers = st.sampled_from(["session", "short_term", "long_term", "core"])
reasons = st.sampled_from(["", "why not", REASON])


def days(
    importance: float = 3.0, *, layer: str = "short_term", reason: str = "", accesses: int = 0, useful: int = 0
) -> float | None:
    return retention_days(Lived("the sky", "", "knowledge", layer, importance, reason, accesses, useful), POLICY)


def span(
    importance: float = 3.0, *, layer: str = "short_term", reason: str = "", accesses: int = 0, useful: int = 0
) -> float:
    """As `days`, with a century for ever."""
    found = days(importance, layer=layer, reason=reason, accesses=accesses, useful=useful)
    return 36_500.0 if found is None else found


@pytest.mark.req("G25", partly="the curve")
@pytest.mark.parametrize(
    ("importance", "expected"), [(1, 3), (1.5, 6.4807), (2, 14), (3, 90), (4, 365), (4.5, 735.06), (5, None)]
)
def test_the_span_of_an_untouched_memory_grows_with_its_importance(importance: float, expected: float | None) -> None:
    # Given no use and no reason / Then importance alone decides
    assert days(importance) == (pytest.approx(expected, rel=1e-4) if expected else None)


@pytest.mark.req("G25", partly="reasons and use")
def test_reason_and_praise_prolong_it() -> None:
    # Given a normal memory / When it has a good reason, a bad one, praise / Then its days follow
    assert days(reason=REASON) == pytest.approx(135)
    assert days(reason="因为他两次问过这件事") == pytest.approx(135)
    assert days(reason="hm") == pytest.approx(90)
    assert [days(useful=useful) for useful in (1, 2, 4, 400)] == pytest.approx([270, 450, 810, 810])
    assert days(1, useful=2) == pytest.approx(15)


@pytest.mark.req("X35", partly="being returned does not make immortal")
def test_being_returned_lifts_noise_to_what_is_normal_and_no_further() -> None:
    # Given noise that is returned ever more often / Then its span ends at that of long-term memory
    assert [days(1, accesses=count) for count in (0, 1, 2, 5, 1_000_000)] == pytest.approx([3, 6, 12, 90, 90])
    assert days(3, accesses=1_000_000) == days(3)


@pytest.mark.req("M51", "C18", partly="the rule")
def test_long_term_memory_stays_ninety_days_and_core_for_ever() -> None:
    # Given the layers / Then each has its span
    assert days(1, layer="long_term") == 90
    assert days(3, layer="long_term", accesses=5) == 90
    assert days(4, layer="long_term") == pytest.approx(365)
    assert days(1, layer="core") is None


@given(layer=layers, importance=importances, reason=reasons, accesses=counts, useful=counts, more=counts)
def test_more_importance_use_or_reason_never_shortens_a_life(
    layer: str, importance: float, reason: str, accesses: int, useful: int, more: int
) -> None:
    # Given any memory
    now = span(importance, layer=layer, reason=reason, accesses=accesses, useful=useful)

    # When one of them grows / Then it stays at least as long
    assert now >= 3
    assert span(min(5.0, importance + 0.5), layer=layer, reason=reason, accesses=accesses, useful=useful) >= now
    assert span(importance, layer=layer, reason=reason, accesses=accesses + more, useful=useful) >= now
    assert span(importance, layer=layer, reason=reason, accesses=accesses, useful=useful + more) >= now
    assert span(importance, layer=layer, reason=REASON, accesses=accesses, useful=useful) >= now
    if layer == "short_term":
        promoted = span(importance, layer="long_term", reason=reason, accesses=accesses, useful=useful)
        assert promoted >= now


@pytest.mark.req("C18", partly="nothing alive is archived")
@given(energy=st.floats(0, 1), span_days=st.floats(0, 40), rate=st.floats(0.001, 2))
def test_at_the_deadline_its_energy_is_below_the_minimum_and_its_span_over(
    energy: float, span_days: float, rate: float
) -> None:
    # Given any memory / When its deadline is computed
    due = deadline(START, span_days, energy, START, rate, 0.1)

    # Then both conditions hold then, and not a moment earlier
    assert due is not None
    over = START + timedelta(days=span_days)
    assert due >= over
    assert energy_at(energy, START, due + timedelta(milliseconds=1), rate) < 0.1 + 1e-6
    if due > over:
        assert energy_at(energy, START, due - timedelta(seconds=1), rate) >= 0.1 - 1e-9


def test_there_is_no_deadline_without_a_span_or_without_decay() -> None:
    # Given memories that never fade / Then none
    assert deadline(START, None, 0.0, START, 0.1, 0.1) is None
    assert deadline(START, 3.0, 0.5, START, 0.0, 0.1) is None
    assert deadline(START, 3.0, 0.5, START, 1e-9, 0.1) is None
    assert deadline(START, 3.0, 0.05, START, 0.0, 0.1) == START + timedelta(days=3)


@pytest.mark.req("C17", "M50", partly="the rule")
@pytest.mark.parametrize(
    ("layer", "accesses", "useful", "proven"),
    [
        ("short_term", 4, 1, False),
        ("short_term", 5, 0, True),
        ("short_term", 0, 2, True),
        ("session", 9, 9, False),
        ("core", 9, 9, False),
        ("long_term", 9, 9, False),
    ],
)
def test_use_proves_a_short_term_memory(layer: str, accesses: int, useful: int, proven: bool) -> None:
    # Given counts / When they are judged / Then five accesses or two praises are enough
    assert becomes_long_term(layer, accesses, useful, POLICY) is proven


@pytest.mark.req("M13", partly="its bounds are validated")
@pytest.mark.parametrize(
    "wrong", [{"noise_days": 0.0}, {"low_days": 100.0}, {"keep_share": 0.0}, {"max_memories": 0}, {"batch": 0}]
)
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    # Given a wrong number / When a policy is made of it / Then it says what is wrong
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(retention=RetentionPolicy(**wrong))  # type: ignore[arg-type]


OWN = Lived("my bicycle was repaired yesterday", "user", "event", "short_term", 3.0)


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        (OWN, replace(OWN, importance=4.5)),
        (OWN, replace(OWN, reason=REASON)),
        (OWN, replace(OWN, useful_count=1)),
        (replace(OWN, importance=1.0), replace(OWN, importance=1.0, access_count=1)),
        (replace(OWN, importance=1.0), replace(OWN, importance=1.0, layer="long_term")),
        (replace(OWN, text="Thanks a lot!"), replace(OWN, text="the bicycle is red")),
        (replace(OWN, kind="knowledge", text="the bicycle was repaired yesterday"), OWN),
        (replace(OWN, kind="knowledge", text="the bicycle is red"), replace(OWN, kind="knowledge")),
        (replace(OWN, source="assistant"), OWN),
    ],
    ids=["importance", "reason", "praise", "use", "layer", "a-statement", "told", "by-a-person", "of-the-user"],
)
def test_each_property_of_a_memory_prolongs_its_span(shorter: Lived, longer: Lived) -> None:
    # Given two memories that differ in one property / Then the one that has it stays longer
    one, other = retention_days(shorter, POLICY), retention_days(longer, POLICY)
    assert one is not None
    assert other is not None
    assert other > one


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to shellfish, badly.",
        "My daughter is lactose intolerant",
        "我对青霉素过敏",
        "我妈妈有糖尿病",
        "I take 20 mg of atorvastatin every evening",
        "My birthday is on March 3rd",
        "我的生日是三月三号",
        "Please call me Kit",
        "叫我小舟就行",
        "My sister is called Ruta",
        "我儿子叫子涵",
        "I have a dog named Bruno",
        "Never share my address with anyone",
        "以后请用中文回答我",
        "I work as a nurse at the Charité",
        "我在图书馆工作",
        "In case of emergency ring my brother",
        "Hazelnuts make my lips swell",
        "Uncle Rolf was diagnosed with leukaemia",
        "My niece needs dialysis",
        "I've been taking simvastatin for years",
        "No more rhyming answers",
        "Close the cellar hatch or somebody falls in",
        "我一闻到油漆就头晕",
        "大夫确诊我是甲状腺炎",
        "我妹做过心脏手术",
        "每次都用英制单位给我报价",
        "阳台门要关好，否则猫会跳下去",
        "我boyfriend有asthma",
        "They had my gallbladder removed",
        "My nan raised me in Leith",
        "Use the 24-hour clock, always",
        "我喝了牛奶就反胃想吐",
        "老人家不能碰那个开关",
        "以后别把我的行程给任何人",
    ],
)
def test_health_safety_identity_relationships_and_orders_never_expire(text: str) -> None:
    # Given what a person said, and the same from the assistant / Then only the person's words stay without an end
    told = Lived(text, "user", "event", "short_term", 3.0)
    assert retention_days(told, POLICY) is None
    assert retention_days(replace(told, importance=1.0), POLICY) is None
    assert (retention_days(replace(told, source="assistant"), POLICY) or math.inf) <= 183


@pytest.mark.parametrize(
    ("state", "occasion"),
    [
        ("I keep halal", "I kept the receipt"),
        ("Leonie is my stepmother", "Leonie is visiting me tomorrow"),
        ("My landlady is Mrs. Duarte", "My landlady was furious"),
        ("We're Mennonites", "We're on our way"),
        ("I'm a glazier", "I'm so tired"),
        ("Cold weather upsets my lungs", "I think the weather upsets my plans"),
        ("My violin is made of maple", "I made a violin"),
        ("我是苗族", "我刚到公司"),
        ("我信伊斯兰教", "我觉得信号不好"),
        ("我师傅姓欧阳", "我师傅昨天生病请假"),
        ("我三十七岁", "我困死了"),
        ("我们家七口人", "我们聊聊天吧"),
    ],
)
def test_a_state_of_the_user_never_expires_but_an_occasion_does(state: str, occasion: str) -> None:
    # Given a state told in words that no list has / Then it stays, unless it is marked as unimportant or an assistant's
    told = Lived(state, "user", "event", "short_term", 3.0)
    assert retention_days(told, POLICY) is None
    assert retention_days(replace(told, importance=1.0), POLICY) == pytest.approx(3)
    assert (retention_days(replace(told, source="assistant"), POLICY) or math.inf) <= 183
    assert retention_days(replace(told, text=occasion), POLICY) == pytest.approx(365)


@pytest.mark.parametrize(
    "text",
    [
        "My mother comes tomorrow",
        "我妈妈明天来",
        "The train was late again",
        "火车又晚点了",
        "Is my sister called Ruta?",
    ],
)
def test_passing_matters_and_questions_expire(text: str) -> None:
    # Given what holds for a day or asks / Then its span is finite
    assert retention_days(Lived(text, "user", "event", "short_term", 3.0), POLICY) is not None


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("A fine old boat. How long is she?", "A fine old boat."),
        ("Which harbour does she lie in?", "How can I help you with the boat?"),
        ("船停在哪个港口？", "需要我帮你查一下港口吗？"),
        ("I've moved the boat to berth six.", "I've noted that the boat lies at berth six."),
        ("已改到六号泊位。", "已记录泊位。"),
    ],
)
def test_a_question_of_the_assistant_stays_as_long_as_a_statement_and_a_report_half_as_long(
    asked: str, other: str
) -> None:
    # Given a question, to which the answer may be a word, or what was done / Then it stays; a remark or an offer of
    # help does not
    told = replace(OWN, text=asked, source="assistant")
    assert retention_days(told, POLICY) == pytest.approx(365 if asked[-1] in "?？" else 182.5)
    assert retention_days(replace(told, text=other), POLICY) == pytest.approx(30)
    assert retention_days(replace(told, importance=1.0), POLICY) == pytest.approx(1)
    assert retention_days(replace(told, believed=False), POLICY) == pytest.approx(30)
