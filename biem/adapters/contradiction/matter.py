"""Whom and what a text speaks of, named alike in questions and answers: 妈妈, mum and mother are one."""

import re

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import SINGLE, spans
from biem.adapters.contradiction.reading import Reading
from biem.adapters.contradiction.subjects import Subjects
from biem.domain.conflict import Matter

_SAME_KIN = (
    "mother mom mum mommy mummy mama 妈妈 母亲 妈",
    "father dad daddy papa 爸爸 父亲 爸",
    "wife spouse 老婆 妻子 太太",
    "husband 老公 丈夫",
    "girlfriend 女朋友 女友",
    "boyfriend 男朋友 男友",
    "brother 哥哥 弟弟",
    "sister 姐姐 妹妹",
    "son 儿子",
    "daughter 女儿",
    "kid child kids children 孩子",
    "parents parent 父母 爸妈",
    "grandmother grandma granny 奶奶 外婆",
    "grandfather grandpa 爷爷 外公",
    "uncle 叔叔 舅舅 伯伯",
    "aunt auntie 阿姨 姑姑 姨妈",
    "cousin 表哥 表姐 表弟 表妹 堂哥 堂姐 堂弟 堂妹",
    "nephew 侄子 外甥",
    "niece 侄女",
    "friend 朋友 闺蜜",
    "colleague coworker 同事",
    "boss manager 老板 上司 领导",
    "roommate flatmate 室友",
    "neighbour neighbor 邻居",
    "classmate 同学",
    "teacher 老师",
    "dog 狗",
    "cat 猫",
)
_KIN = {word: line.split()[0] for line in _SAME_KIN for word in line.split()}
_ASKED = re.compile(r"\b(?:is|are|was|were|do|does|did|has|had|can|could|will|would|should) ([A-Z][\w-]+)")
"""Somebody a question is about, by name."""
_ANAPHORS = frozenset(("he", "she", "they", "quoted"))
_OTHER = {"你": "you", "您": "you", "他": "he", "她": "she"}


def matter_of(reading: Reading, subjects: Subjects) -> Matter:
    """See `Matter`."""
    persons = frozenset(_plain(name) for name in subjects.about(reading).persons) - _ANAPHORS
    text = reading.text
    persons |= {name.lower() for name in _ASKED.findall(text) if name != "I" and "?" in text}
    return Matter(
        persons,
        frozenset(spans(text, chinese=reading.chinese)) & SINGLE,
        bool(marks.OF_THE_PAST.search(text) or marks.OLD_ONE.search(text)),
    )


def _plain(name: str) -> str:
    owner, dot, rest = name.partition(".")
    owner = _OTHER.get(owner, owner)
    return f"{owner}.{_KIN.get(rest.split()[-1], rest)}" if dot and rest else owner
