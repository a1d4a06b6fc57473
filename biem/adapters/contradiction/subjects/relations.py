"""Names of relations, and words for the speaker and for other persons without a name, in both languages."""

import re

Named = tuple[set[str], set[str], list[tuple[int, int]]]
"""The persons of a text, the words that name them, and `About.spans`."""
FIRST = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|mine|myself|we|our|us|ourselves)\b|[我咱俺]|本人", re.IGNORECASE)
PETS = frozenset(("dog", "cat", "狗", "猫"))
THIRD = re.compile(
    r"\b(?P<who>he|she|they|him|her|his|hers|their|them|you|your)\b|(?P<han>(?<![其吉])[他她]们?|(?<!迷)[你您]们?)",
    re.IGNORECASE,
)
SAME = {
    "him": "he", "his": "he", "her": "she", "hers": "she", "their": "they", "them": "they", "your": "you", "您": "你",
}  # fmt: skip
KIN_NAMES = {
    **dict.fromkeys(("mom", "mum", "mommy", "mummy", "mama"), "mother"),
    **dict.fromkeys(("dad", "daddy", "papa"), "father"),
    **dict.fromkeys(("grandma", "granny", "nana"), "grandmother"),
    "grandpa": "grandfather", "bro": "brother", "sis": "sister", "auntie": "aunt", "hubby": "husband",
    **dict.fromkeys(("妈", "老妈", "母亲"), "妈妈"), **dict.fromkeys(("爸", "老爸", "老爹", "父亲"), "爸爸"),
    **dict.fromkeys(("妻子", "媳妇", "爱人", "老伴"), "老婆"), "闺女": "女儿",
    **dict.fromkeys(("丈夫", "先生"), "老公"), "男友": "男朋友", "女友": "女朋友",
    "大哥": "哥哥", "大姐": "姐姐", "小妹": "妹妹", "老弟": "弟弟", "姥姥": "外婆", "姥爷": "外公",
    "哥": "哥哥", "姐": "姐姐", "弟": "弟弟", "妹": "妹妹",
}  # fmt: skip
"""Synonyms of relations."""


def mentions_speaker(text: str) -> bool:
    """Whether it contains a word for the speaker."""
    return FIRST.search(text) is not None
