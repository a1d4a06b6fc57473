"""Questions about times: "What's on next week?", "What did I do last weekend?", 下周有什么安排？"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from biem.domain.text import late
from biem.domain.times.dated import Dated, dated, expanded
from biem.domain.times.spans import DAY, Window

_CLAUSE = re.compile(r"[,，。?？!！;；]+")
_MY_WEEK = re.compile(r"\bmy (day|week|month)\b(?! (?:off|job))")
_LONGEST = 160
"""Characters of a question that is read."""
_LATELY = 14
_COMING = 366
"""Days that count as lately, and as the time to come."""
_IS_PAST = late(
    r"\b(?:did|was|were|had|have (?:i|we)(?! got| any| some| every)|has|happened|went|been)\b"
    r"|(?<!coming )\bup to\b|[了过](?!敏|期)|[上昨前]|干了|做了|发生|来着|最近(?!.{0,6}(?:要|安排|计划|打算))",
)
_IS_AHEAD = late(
    r"\b(?:what's on|what is on|anything on|is there|are there|do i have|have i got|do we have|am i|are we|will"
    r"|going to|gonna"
    r"|plans?|planned|coming"
    r"|scheduled|left|remaining|rest of|free|busy|next|tomorrow|due|agenda|calendar|schedule|upcoming|need to"
    r"|have to)\b"
    r"|安排|计划|打算|要(?:做|干|去|办)|有空|有事|有什么事|下[周个次]|明[天早晚]|后天|接下来|日程|行程",
)
_COMING_UP = late(
    r"\bcoming up\b|\blies ahead\b|\b(?:still )?to come\b|\bon the horizon\b|\bin store\b|\bthe future\b"
    r"|\bupcoming\b|\bahead of me\b|\bin the pipeline\b|\b(?:my|our) (?:plans|schedule|agenda"
    r"|calendar)\b|\bnext few (?:days|weeks)\b"
    r"|接下来|往后|后面|之后(?:还|都)?有|将来|近期|最近(?=.{0,6}(?:要|安排|计划|打算))|未来",
)
_RECENTLY = late(r"\b(?:lately|recently|been up to)\b|最近|近来|这[段阵]时?间?子?|这些天")
_GENERAL = late(
    r"\b(?:what|what's|whats|how|which|is|was|were|are|am|did|do|does|done|have|has|had|got|been|be"
    r"|being|will|would|can|could"
    r"|happen(?:ed|ing|s)?|going|went|go|gonna|up|up to|on|in|at|of|for|from|to|by|until|till|after|before|since"
    r"|past|during|over|with|and|or|so|about|around|across"
    r"|i|i've|i'm|we|we've|you|me|my|us|our|it|there|there's|the|a|an|that|this|else|just|again|still|already"
    r"|actually|exactly|really"
    r"|tell|show|list|give|remind|know|remember|check|see|look|looks|looking|like|keep|run|through|please|hey|ok"
    r"|okay|quick|can you"
    r"|any|all|left|remaining|between|and|first|any ?thing|some ?thing|every ?thing|things?|stuff|much|day|date"
    r"|dates|week|weeks|weekend|month|time|year"
    r"|plans?|planned|planning|schedule[d]?|agenda|calendar|diary|booked|coming|upcoming|ahead|next|free|busy"
    r"|available|open|due|need"
    r"|lately|recently|these|days|few|life|morning|afternoon|evening|night|lunchtime|noon|spend|spent|back|take"
    r"|took|place|new|main|big"
    r"|set|lined|pencilled|penciled|down|commitments?|engagements?|events?|activities|note[sd]?|log(?:ged)?"
    r"|entries|entry|mention(?:ed)?"
    r"|said|told|say|summary|summari[sz]e|run ?down|days?|far|now|empty|future|say|recap|overview|slot|clear|full"
    r"|packed|hold|store|bring|brings|get|gets|doing|make|made|in the diary|not|forget|supposed|anywhere"
    r"|somewhere|between|then)\b"
    r"|那个?(?:周末?|星期|礼拜)|星期|礼拜|周末?|个|我们?|咱们?|你|家里?|都|也|就|还|又|那|这|会|能|可以|要|得|该|一?天|日期|当天|当日|整天|做|干|忙|发生|记录|日[记志程]"
    r"|行程|还剩|剩|以后|将来|开始|起|之间|经历|总结|帮|麻烦|发|看看|是不是|别的|事儿|过得|怎么过|怎么样|忙不忙|玩|嘛|来着|那个?(?:周末?|星期|礼拜)|那一周|不$|等着|等|处|刚|这儿"
    r"|两|个|干嘛|出|头|办|什么|啥|哪些|怎么|咋"
    r"|事情?|活动?|有|没|的|了|过|着|在|是|和|给|说|讲|看|查|帮|列|告诉|提醒|吗|呢|吧|呀|啊|嘛|怎么样|如何|情况|请|安排|计划|打算|空|忙不忙"
    r"|接下来|往后|后面|之后|近期|最近|近来|段|时间|阵子|些|几|未来|将来|别的|其他|重要|特别|一下|下|里|内|上|到|从|去|来|过得|玩|早上|上午|中午|下午|晚上|夜里|点|待办|排|满|着落"
    r"|约|定|多少|主要|大概|记得|知道|想|一共|总共|期间"
)
_WORD = re.compile(r"\w")
_MARKS = re.compile(r"['’]s\b|['’](?:ve|m|re|d|ll)\b")


_NO_TIME_OF = r"(?! (?:day|night|week|weekend|month|year|name|word|few|couple|resort|straw|two|three|four|\d))"
_WHEN_ZH = "(?=.*(?:时候|哪一?[天日]|几[号月]|何[时日]|多久|几天|日期))"
_LAST = late(
    r"\bwhen\b.*\b(?:last|most recent(?:ly)?|previous(?:ly)?|latest)\b|\bwhen was the last time\b"
    rf"|^\W*(?:my )?last{_NO_TIME_OF} \w+(?: \w+)?\W*$|^\W*last time (?:i|we)\b"
    r"|\bhow (?:long|recently|many (?:days|weeks|months)) (?:ago|since|(?:is it|has it been) since)\b"
    r"|\bhow recently (?:did|have|was)\b|\b(?:a while|ages|long) since\b"
    rf"|(?:上一?[次回趟]|最后一?[次回趟]|最近一?[次回趟节]){_WHEN_ZH}"
    r"|多久(?:没|之?前|以前)|多长时间没|过了?多久|过去(?:多久|几天)|(?:几|多少|几个)(?:天|周|月|礼拜|星期)没"
)
_NEXT = late(
    r"\bwhen(?:'s| is| are| do| does| will|'m| am)\b.*\b(?:next|again|following|soonest)\b"
    rf"|^\W*(?:whens )?(?:the |my )?next{_NO_TIME_OF} \w+(?: \w+)?\W*$|\b(?:whens|when is|when's) the next\b"
    r"|(?:下一?[次回趟期个场班节]|接下来那)(?=.*(?:什么时候|啥时候|几[号点时]|哪[一]?天|何时))|(?:什么|啥)时候再"
)
_EACH = late(
    r"\b(?:which|what|all the|every) (?:days|dates|times|nights|evenings|mornings|weekends)\b"
    r"|\bhow (?:often|many times) (?:did|have|has|was|were)\b|\bevery time\b"
    r"|哪[几些]个?(?:[天日次回]|晚上?|周末)|(?<!第)[几多]少?[次回趟]",
)
"""Asks in the past for each time of something."""
_HAS_PASSED = late(
    r"\b(?:did|was|were|have|has|had|went|i (?:\w+ed|ran|swam|saw|met|went))\b|[了过](?!敏|期|年|节)|是.*的"
)
_OPEN = late(r"\b(?:after|since|beyond)\s(?:the\s)?$|^\s*(?:之?以?后|起|往后|过后|开始)")
_SINCE = late(r"\bsince\s|从$")
_UNTIL_THEN = late(r"\b(?:now|today) (?:and|until|till|to) (?:the )?$|(?:今天|现在)[到至]$")
_BEFORE = late(r"\b(?:before|until|till|by)\s(?:the\s)?$|^\s*(?:之?以?前)")
_OF_TIME = late(
    r"^\W*(?:(?:and|so|hey|ok|remind me|tell me|do you (?:know|remember)),? )*(?:on |for )?"
    r"(?:when(?:'s|'re| did| was| were| is| are| do| does| will| am| have| has| had)?"
    r"|how (?:long|soon|(?:many )?(?:days|weeks|months)) (?:ago )?(?:(?:is|was) it|has it been|have"
    r"|has)?(?: (?:since|until|till|to|before))?"
    r"(?: (?:did|was|were|is|are))?|(?:which|what) (?:days?|dates?|times?|nights?|evenings?|mornings?"
    r"|weekends?)(?: did| have| was| were| do)?"
    r"|how (?:often|many times)(?: did| have| has| was)?|(?:are|is|were|was) there|any|did)\b"
    r"|\b(?:(?:the )?(?:last|next|latest|most recent) time|most recent(?:ly)?|last|next|latest|ago|again)\b"
    r"|[离距]?(?:上一?[次回]|下一?[次回个]|最后一[次回]|最近一[次回]|最近)|(?:都|又|最后)?是?(?:在)?(?:哪[一几些]?[天日次]|什么时候|啥时候|几号|何时)(?:的|啊|呀|呢|来着)*"
    r"|过?了?(?:有|是)?(?:多久|多长时间|多少天|几天)(?:没有?|之?前|以前|了)?|(?:分别)?哪[几些]?[天日次回](?:的)?|有没有",
    re.IGNORECASE,
)
Order = Literal["", "last", "next", "each"]


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time that a question asks about."""

    span: Window
    ahead: bool
    only: bool
    """Whether it asks for everything that happens then, of any kind."""
    topic: str
    """The question without its times."""
    which: Order = ""
    """For the last or the next time of something, or for each; empty: for what happens in the span."""


def asked_time(question: str, now: datetime) -> AskedTime | None:
    """The time that a question asks about; None for others. `now`: when it is asked."""
    if len(question) > _LONGEST:
        return None
    said = " ".join(question.replace("’", "'").split())
    said = expanded(said)
    said = _MY_WEEK.sub(lambda found: "today" if found[1] == "day" else f"this {found[1]}", said)
    lowered = said.lower()
    clause = next((one for one in _CLAUSE.split(lowered) if dated(one, now, ahead=None)), lowered)
    past = _IS_PAST.search(clause) is not None and not _COMING_UP.search(clause)
    ahead = not past
    found = dated(lowered, now, ahead=None if ahead and not _IS_AHEAD.search(clause) else ahead)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if found:
        span = min(one.window[0] for one in found), max(one.window[1] for one in found)
        if len(found) == 1:
            span = _opened(lowered, found[0], today, ahead=ahead)
        which: Order = "each" if _EACH.search(lowered) else ""
    elif _LAST.search(lowered):
        span, ahead, which = (today - _COMING * DAY, today + DAY), False, "last"
    elif _NEXT.search(lowered):
        span, ahead, which = (today, today + _COMING * DAY), True, "next"
    elif _COMING_UP.search(lowered):
        span, ahead, which = (today, today + _COMING * DAY), True, ""
    elif _EACH.search(lowered) and _HAS_PASSED.search(lowered):
        span, ahead, which = (today - _COMING * DAY, today + DAY), False, "each"
    elif _RECENTLY.search(lowered):
        span, ahead, which = (today - _LATELY * DAY, today + DAY), False, ""
    else:
        return None
    rest = said
    for one in reversed(found):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    left = _GENERAL.sub(" ", _MARKS.sub(" ", _clause_of(lowered, found)))
    only = which in ("", "next") and _WORD.search(left) is None
    topic = _OF_TIME.sub(" ", rest)
    return AskedTime(span, ahead, only, " ".join(topic.split()), which)


def _clause_of(text: str, found: Sequence[Dated]) -> str:
    """The clauses that name a time, without the times; all of the text where none is named."""
    if not found:
        return text
    blank = list(text)
    for one in found:
        blank[one.start : one.end] = "\0" * (one.end - one.start)
    return " ".join(one.replace("\0", " ") for one in _CLAUSE.split("".join(blank)) if "\0" in one)


def _opened(text: str, one: Dated, today: datetime, *, ahead: bool) -> Window:
    """The days of a time that a question names, or all after or before it: "after the 10th"."""
    start, end = one.window
    before, after = text[: one.start], text[one.end :]
    if _OPEN.search(before) or _OPEN.search(after):
        start = start if _SINCE.search(before) else end
        return (start, start + _COMING * DAY) if ahead else (start, max(end, today + DAY))
    if _UNTIL_THEN.search(before) and ahead:
        return min(today, start), end
    if _BEFORE.search(before) or _BEFORE.search(after):
        return (min(today, start), end) if ahead else (start - _COMING * DAY, end)
    return (max(start, today), end) if ahead and start < today < end and _IS_AHEAD.search(text) else (start, end)
