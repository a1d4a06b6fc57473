"""What happened once and what is a quality of another thing contradict nothing: no rule acts upon it on its own."""

import pytest

from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement
from biem.domain.policies.conflicts import ConflictPolicy

RULES = RuleContradictions()
POLICY = ConflictPolicy()

TWO_OCCASIONS = """
我前天去了医院 | 我后天去医院
每天饭前散步 | 每天饭后散步
上班前我喝咖啡 | 下班后我喝咖啡
我们在会前讨论了预算 | 我们在会后讨论了预算
会议开始了 | 会议结束了
我打开了窗户 | 我关闭了窗户
销售额上升 | 销售额下降
我记得带钥匙 | 我忘记带钥匙
孩子睡了 | 孩子没睡
我吃了早饭 | 我没吃早饭
我去了健身房 | 我没去健身房
The meeting started | The meeting ended
Our team won the match | Our team lost the match
I opened the window | I closed the window
I passed the exam | I failed the exam
I remembered the keys | I forgot the keys
I left the office | I stayed at the office
She attended the class | She missed the class
I walked the dog | I did not walk the dog
I have cleaned the kitchen | I have not cleaned the kitchen
"""
TWO_THINGS = """
The hot water works | The cold water works
I like big dogs | I like small dogs
I like hot coffee | I like cold coffee
Her old car is green | Her young car is green
东门开着 | 西门开着
我左脚疼 | 我右脚疼
我喜欢大狗 | 我喜欢小狗
"""
STATES = """
The soup is hot | The soup is cold
The old bridge is open | The old bridge is closed
The weather is hot | The weather is cold
Coffee is hot here | Coffee is cold here
I like green tea | I hate green tea
I support the new tax | I oppose the new tax
天气很热 | 天气很冷
商店开门 | 商店关门
我喜欢喝咖啡 | 我讨厌喝咖啡
"""


def confidence(line: str) -> float:
    """Of the verdict that a rule is sure of; 0 where none is."""
    older, newer = (Statement(text, "Ann") for text in line.split(" | "))
    verdict = RULES.compare(older, newer, 0.8, least=POLICY.record_confidence)
    return verdict.confidence if verdict is not None else 0.0


@pytest.mark.parametrize("line", TWO_OCCASIONS.strip().splitlines())
def test_what_happened_on_two_occasions_is_never_decided_by_a_rule(line: str) -> None:
    # In either order of time: at most a person is asked
    assert confidence(line) < POLICY.act_confidence
    assert confidence(" | ".join(reversed(line.split(" | ")))) < POLICY.act_confidence


@pytest.mark.parametrize("line", TWO_THINGS.strip().splitlines())
def test_a_quality_before_its_noun_tells_two_things_apart(line: str) -> None:
    assert confidence(line) < POLICY.record_confidence


@pytest.mark.parametrize("line", STATES.strip().splitlines())
def test_opposite_states_of_one_thing_are_decided(line: str) -> None:
    assert confidence(line) >= POLICY.act_confidence
