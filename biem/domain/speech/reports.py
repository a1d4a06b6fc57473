"""Reports of an assistant: "Booked: table for six", "The bank rang, the appointment is on the 14th", 已改成线上。

Of an assistant that acts, such a message is the only record of a result. Most of what an assistant says is something
else: assent, advice, promises, guesses and reactions, by which a report is recognised.
"""

import re

from biem.domain.merging import sentences
from biem.domain.speech.acts import ASKS, is_courtesy, is_statement, with_spaces
from biem.domain.text import late

_READ = 300
"""Maximum characters in which a report is looked for."""
_LEAST = 8
"""Minimum characters of a sentence that reports without a value."""
_NO_REPORT = late(
    # promises and offers
    r"\b(?:i|we)(?:'ll| will|'d| would| can| could| might| may|'m going to)\b|\bwill do\b"
    # advice
    r"|\b(?:you|one) (?:could|should|might|may|can|must)\b|\b(?:should|must|may|might|could|would) (?:be|have|do)\b"
    r"|^\W*(?:try|consider|keep|check|remember|don't|take|mind|avoid|give|make sure|use|ask|look|start|watch|then)\b"
    r"|\b(?:perhaps|maybe|probably|possibly|presumably|apparently|typically|usually|often|many|most|some)\b"
    # reactions, and what is said of the user
    r"|^\W*(?:enjoy|hope|nice|lovely|great|good|poor|lucky|well done|hi|hello|sounds|congrat\w*|what an?|how)\b"
    r"|^\W*you(?:r|'\w+)?\b"
    r"|^\W*(?:that|this)(?:'s| is| was| sounds| makes)\b|\bi hope\b|\b(?:sorry|glad|happy|thank you)\b"
    # what is only taken note of
    r"|\b(?:noted|saved|remembered|got it|understood|made a note|settled)\b"
    r"|\b(?:updated|added|corrected|recorded) (?:my|your|the) (?:notes?|records?|memory|profile)\b"
    r"|我(?:会|来|可以|能|这就)|可以|建议|最好|应该|不妨|记得|别忘|一定要|多半|一般|通常|往往|大多|小心|注意|祝|希望"
    r"|恭喜|加油|听起来|看来|难怪|辛苦|^\W*(?:真|太|很|那|[你您])|就好|也好|挺|记(?:住|下|好|着|录)|收到|明白|了解|知道了|保存",
    re.IGNORECASE,
)
_VALUE = late(
    r"\d+(?:[.,:/]\d+)*|`[^`]+`|(?<=[a-z] )[A-Z][a-z]{2,}|(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)"
    r"|(?:周|星期|礼拜)[一二三四五六日天末]"
    r"|[一二两三四五六七八九]?[十百千万][一二三四五六七八九十百千]+|(?:[二两三四五六七八九十百千半]|(?<=[上下中早晚午])一)+点"
    r"|[一二三四五六七八九十]+[号月日]|[二两三四五六七八九十百千半]+[折块元个台间层楼天次年周分桌位人晚页箱条斤公斤万千百]"
)
"""A number, a name, a day or code."""
_DONE = late(
    r"\b(?:is|are) (?:now|up|back|done|live|set|in|at|on)\b|\bnow\b|\b[a-z]{3,}ed\b"
    r"|\b(?:was|were|went|came|took|said|rang|got|ran|sent|made|built|put|cut|found|bought|wrote|chose)\b"
    r"|[\u4e00-\u9fff]了(?=[，。；！,;!\u4e00-\u9fff]|$)|已|[改换][成为到]",
    re.IGNORECASE,
)
"""Something that was done, or how it stands now."""
_KNOWS_NOT = late(
    r"\b(?:(?:do|did|could|can)(?:n't| not)|cannot) (?:know|have|find|see|tell)\b|\bno (?:record|information|idea)\b"
    r"|\bnot sure\b|不知道|不清楚|没有?(?:记录|找到|查到|相关)|不确定",
    re.IGNORECASE,
)
_OPENS = late(
    r"^\W*(?:also|besides|by the way|btw|another thing|one more|separately|unrelated|meanwhile)\b"
    r"|^\W*(?:另外|还有|对了|顺便|此外)",
    re.IGNORECASE,
)
"""Turns to another matter than the message before."""
_COMMANDS = late(
    r"(?:^|[.!?;,]\s+)\W*(?:(?:please|now|then|ok|okay|and|also|so|just)\W+)*(?:add|arrange|ask|book|bring|bump|buy|call|cancel"
    r"|change|check|clean|copy|cut|delete|deploy|double|download|email|find|fix|get|give|install|invite|lower|mail|make"
    r"|mark|merge|message|move|order|pay|pause|pick|plan|post|print|push|put|raise|rebook|reduce|remind|remove|rename"
    r"|renew|replace|reply|reschedule|reserve|restart|roll|run|schedule|send|set|ship|shift|start|stop|swap|switch|take"
    r"|tell|try|turn|update|upload|use|write)"
    r"(?!(?: [\w'-]+){0,2} (?:is|was|are|were|has|had|went|starts|ends)\b)\s+[\w'`-]"
    r"|\b(?:can|could|will|would) you\b|^\W*(?:行|好[的吧]?|嗯)?[，,。]?(?:请|麻烦|帮|替|把|给|让)"
    r"|[帮给替]我|(?:一下|吧)[。！]?$|[换改找订买加来]个(?!.*了)",
    re.IGNORECASE,
)


def commands(text: str) -> bool:
    """Whether a message tells the assistant to do something, by an imperative or as a question."""
    return _COMMANDS.search(text[:_READ].replace("’", "'")) is not None


def stands_for_itself(text: str) -> bool:
    """Whether a message states something, and does not tell the assistant to do it."""
    return is_statement(text) and not commands(text)


def opens_another(text: str) -> bool:
    """Whether a message turns to another matter than the one before: "Also, …", 另外."""
    return _OPENS.search(text) is not None


def reports_another_value(text: str, said: str) -> bool:
    """Whether a sentence of a report has a number, a day, a name or code that is not in `said`."""
    known = said.lower()
    parts = filter(_reports, _parts(text))
    return any(value[0].lower() not in known for part in parts for value in _VALUE.finditer(part))


def is_report(text: str) -> bool:
    """Whether a sentence of an assistant's message says what was done, or how something stands.

    Questions, courtesies, promises, advice, guesses and reactions do not. That it repeats what the user said is for the
    caller to see.
    """
    return any(map(_reports, _parts(text)))


def _parts(text: str) -> list[str]:
    return sentences(with_spaces(text[:_READ].replace("’", "'")))


def _reports(sentence: str) -> bool:
    if is_courtesy(sentence) or ASKS.search(sentence) or _NO_REPORT.search(sentence) or knows_nothing(sentence):
        return False
    return bool(_VALUE.search(sentence) or (len(sentence) >= _LEAST and _DONE.search(sentence)))


def knows_nothing(text: str) -> bool:
    """Whether a message says that its speaker does not know: it answers no question."""
    return _KNOWS_NOT.search(text[:_READ].replace("’", "'")) is not None
