"""Orders about the form of all answers: "reply in German", "no emojis, please".

An order that names a topic ("when you write code, use type hints") is found by what is asked.
"""

import re

from biem.domain.observing.orders import FORMS, SPOKEN
from biem.domain.observing.patterns import LONGEST_READ, SENTENCES
from biem.domain.observing.rules import sureness_of_order
from biem.domain.text import part_of, simplified

_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|polish|russian|turkish|arabic|hindi|japanese|korean"
    "|chinese|mandarin|cantonese|british|american"
)
_LANGUAGE = re.compile(
    rf"\b(?:in|to|use|speak|with) (?:{_LANGUAGES})\b|[用说写讲回][中英德法日韩俄粤](?:文|语|话)|普通话", re.IGNORECASE
)
_FORM = re.compile(
    rf"\b(?:{FORMS}|{SPOKEN}|answer|reply|respond|talk|speak|write back"
    r"|explain|address me|call me|sentences?|paragraphs?|bullets?|lists?|words?|short|shorter|brief|briefly|concise"
    r"|blunt|detailed|plain|formal|informal|polite|tone|metric|units?)\b"
    r"|回答|回复|回我|回话|答复|[跟和对]我(?:说|讲|聊)|称呼我|叫我|简短|短[一点些]|[句字]以?内|[几两三]句|啰嗦|废话|客套|口语|大白话"
    r"|术语|表情|感叹号|列表|分点|要点|语气|夹英文|公制",
    re.IGNORECASE,
)
_OF_A_TOPIC = re.compile(
    r"\b(?:when(?:ever)?|if|(?:each|every|any) ?time|for) (?:(?:you|i|we) )?"
    r"(?!(?:you|i|we|answer|reply|respond|talk|speak)\b)[a-z]+ "
    r"(?!(?:to |for )?me\b|back\b|anything\b|something\b|this\b)"
    r"|\b(?:recommend|suggest|recipes?|code|commits?|commands?|tickets?)\b"
    r"|[写列做贴给](?:我|他|客户)?的?[写列做贴]?(?:英文|中文)?"
    r"(?:代码|邮件|文案|文书|清单|表|菜|食谱|方案|报告|通知|广告)|推荐|法规|预算",
    re.IGNORECASE,
)


def orders_of_form(text: str) -> list[str]:
    """The sentences of a text that order how all answers are written: "no emojis, please", 以后回答短一点."""
    written = text[:LONGEST_READ].replace("’", "'")
    sentences = (found[0].strip() for found in SENTENCES.finditer(simplified(written)))
    return [
        part_of(written, one)
        for one in sentences
        if (_FORM.search(one) or _LANGUAGE.search(one)) and not _OF_A_TOPIC.search(one) and sureness_of_order(one) > 0
    ]


def names_a_language(order: str) -> bool:
    """Whether it is about the language of answers, of which only one holds."""
    return _LANGUAGE.search(simplified(order)) is not None
