"""When what a message tells happens: "Went to the dentist" today, "Flying to Oslo on Friday", 下周三见会计.

Each clause is read in its own tense. A clause in the past tense that names no time tells of the day on which it is
said; one in the present without a time ("My brother lives in Gdansk") tells of no day.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from biem.domain.speech.acts import is_statement
from biem.domain.times.dated import Dated, dated, expanded
from biem.domain.times.days_of import day_number
from biem.domain.times.spans import DAY, Window

_LONGEST = 2_000
"""Characters of a message that are read."""
_KEPT = 8_192
_WIDE, _LONG = 7 * DAY, 10 * DAY
"""An event at some time in a longer period is not told for a part of that."""
_CLAUSE = re.compile(
    r"[,;，；] ?|[:：](?!\d) ?| (?:and(?! (?:the )?\d)|but|so|then|because|since we|(?:—|–|-)(?! ?\d)) "
    r"|(?<![.!?])[.!?]++(?= |$) ?|(?<![。！？])[。！？]++ ?"
)
_SENTENCE_END = re.compile(r"[.!?。！？]")
_ARRANGED = re.compile(
    r"\b(?:moved|pushed|postponed|rescheduled|shifted|bumped|booked|scheduled|planned|invited|arranged"
    r"|reserved|confirmed|signed (?:me|us|him|her)? ?up|squeezed|slotted|agreed|due|put back|brought forward"
    r"|delayed|changed"
    r"|call(?:ed)? off|cancell?ed|off|tickets?|appointment|reservation|deadline)\b"
    r"|改[到在成期]|挪到|推[到迟]|延[到期]|提前到|约|订|定[了在到]|预约|安排|排[到在了]|报[了名]|截止|取消|泡汤|的票"
)
"""Arrangements lie ahead, in any tense."""
_PAST = re.compile(
    r"\b(?:had|did|went|got|came|took|made|saw|said|told|gave|left|broke|lost|found|bought|sold|met|ate|drank|ran"
    r"|fell|felt|kept|slept|woke|forgot|brought|thought|spent|sent|won|heard|paid|began|caught|drove|flew|knew"
    r"|sat|stood"
    r"|taught|threw|wore|wrote|rode|swam|sang|spoke|built|cut|hit|put|read|set|held|led|grew|hung|chose|stuck"
    r"|shot|lent"
    r"|froze|rang|tore|rose|shut|quit|split|dug|beat|became|bit|blew|stole|swept|understood|done|been|gone|seen"
    r"|didn't"
    r"|wasn't|weren't|couldn't|back from|just)\b"
    r"|\b(?:was|were) (?!born|called|named)(?:\w+(?:ed|ing|own|ept|ade)|back|off|out|ill|sick)\b"
    r"|\b[a-z]{2,}(?<!e)(?<!hundr)(?<!\bne)ed\b(?!\s+to be\b)"
    r"|打卡|(?<![岁不])(?<!太.)(?<!太..)了(?![解不]|.{0,4}年了)"
    r"|[^通经不难超路度]过(?![敏年期世程分节去来几两三一天])|刚|[吃去来买看做跑见聊玩喝走开写学练游打办交修拿送寄][^，。]{0,8}的$"
)
_AHEAD = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|tomorrow|next|must|need to|needs to|have to|has to|got to|gotta|should"
    r"|plan(?:ning)? to"
    r"|want to|hope to|about to|is on|are on|it's on|is at|starts?|arrives?|leaves?|comes?|opens?)\b|(?:'ll|'m"
    r"|'re|'s) (?:\w+ing|off|due|on)\b|\b(?:am|is|are) \w+ing\b"
    r"|[要将]|准备|打算|计划|得[去在把]|需要|该|会(?:[去来有在到])|下[周个次]|明[天早晚]|后天"
)
_EVERY = re.compile(
    r"\b(?:every|each) (?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend)"
    r"|(?<!like )(?<!liked )(?<!love )(?<!loved )(?<!hate )(?<!hated )\b(?P<days>(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)days)\b"
    r"|\b(?P<part>mon|tues?|wed|thurs?|fri|sat|sun)(?:nesday|ursday|day|urday)? (?:morning|afternoon|evening"
    r"|night)s\b"
    r"|(?:每个?|逢)(?:周|星期|礼拜)的?(?P<han>[一二三四五六日天末])"
)
_HABIT = re.compile(r"\b(?:usually|normally|always|generally|as a rule)\b|一般|通常|平时|固定|雷打不动|总是")
_DAY_OF_HABIT = re.compile(
    r"\bon (?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:周|星期|礼拜)(?P<han>[一二三四五六日天])"
)
_SEVERAL_DAYS = re.compile(
    r"(?:每?周|每?星期|每?礼拜)(?P<han>[一二三四五六日][、]?[一二三四五六日](?:[、]?[一二三四五六日])*)(?!点)"
)
_YEARLY = re.compile(r"\b(?:birthday|anniversary)\b|生日|纪念日|忌日")
_TIME_OF_DAY = re.compile(
    r"\b(?:at (?:lunch|dawn|noon|midnight|dusk)|before breakfast|after work|all day|all night|just)\b"
    r"|早上|上午|中午|下午|晚上|夜里|凌晨|一大早|一早"
)
_FEELING = re.compile(
    r"^\W*(?:i'?m|i am|feel(?:ing)?|so|bit|a bit|really|very|too|quite|pretty)?\s*(?:a bit |so |really |very "
    r"|quite |pretty |too )*"
    r"(?:tired|bored|hungry|exhausted|happy|sad|stressed|busy|sleepy|ok|okay|fine|good|great)\b|^\W*(?:好|真|太"
    r"|有点儿?)?(?:累|困|烦|饿|无聊)"
)
_BEING = re.compile(
    r"-\w+ed\b|\b(?:named|called)\b|\bi've ever \w+|\b\b(?:is|are|am|be|isn't|aren't)\s+(?:\w+ly\s+"
    r"|not\s+)?\w+(?:ed|own|ept|ade|old)\b|(?:'s|'re|'m)\s+(?:\w+ed|allergic)\b"
)
"""A participle that tells how something is."""
_DONE = re.compile(
    r"^\W*(?:(?:quick|nice|long|lovely|great|late|early|first|another|big|family|work|morning|evening)\s+)*"
    r"(?:lunch|dinner|brunch|breakfast|coffee|drinks?|tea|beers?|run|walk|swim|gym|training|practice|rehearsal"
    r"|class|lesson|visit|trip"
    r"|party|shopping|cinema|rink|pool|yoga|hike|game|match|picnic|barbecue|bbq|[a-z]{3,}ing)\s+(?:again|with|at"
    r"|in|on|by|round|around|along|for)\b"
)
"""A fragment that names what was done."""
_UNTIL = re.compile(
    r"(?:\b(?:until|till|through|back(?: on)?|return(?:ing)?(?: on)?|com(?:e|ing) (?:back|home)(?: on)?|home on)"
    r"|(?<![改挪推延排提约订定调限])到|至)\s*(?:the\s)?$"
)
_FROM = re.compile(r"\bfrom\b.{1,30}?(?=\bto\b)")
_BARE_DAY = re.compile(r"(?<![月\d])\d{1,2}\s?[号日](?!.*(?:周|星期|礼拜))")
"""Chinese has no tense: 16号包了院子 may be ahead."""
_SINCE = re.compile(r"\bsince (?:the )?$|自从?$")
_TO_NOTE = re.compile(
    r"\W*(?:please )?(?:note|remember|reminder|remind me)\b"
    r"|\W*(?:请|帮我|麻烦)?(?:你|您)?(?:记录|记一?下|记住|备忘|提醒)"
)
_POSTPONED = re.compile(r"\b(?:moved|pushed|postponed|rescheduled|shifted|bumped|put|delayed|changed)\b")
_RESTING = re.compile(
    r"\b(?:used to|always|never|usually|for years|years ago|when i was|as a (?:kid|child)|back in|in the \w+ties"
    r"|at (?:school|uni|university|college|boarding school)|before the war|grew up|was born|were born)\b|从小|以前"
    r"|小时候|一直|出生|毕业于|老家"
)
"""Tells what was or is so for long."""


class Happening(NamedTuple):
    """When a message's events happen."""

    windows: tuple[Window, ...] = ()
    weekdays: frozenset[int] = frozenset()
    """Each week on these days, 0 for Monday."""
    yearly: bool = False
    """The windows recur each year."""

    def within(self, span: Window, said: datetime) -> datetime | None:
        """When the first of these events in `span` begins; None without any.

        A recurring event does so from when it was `said`.
        """
        windows = (one for one in self.windows if one[1] - one[0] <= max(_LONG, span[1] - span[0]))
        found = [max(start, span[0]) for start, end in windows if start < span[1] and end > span[0]]
        if self.yearly:
            found += [at for start, _ in self.windows if (at := _in_year(start, span)) is not None and at > said]
        if self.weekdays:
            first = max(span[0], said.replace(hour=0, minute=0, second=0, microsecond=0))
            days = (first + day * DAY for day in range(min(7, max(0, (span[1] - first).days))))
            found += [day for day in days if day.weekday() in self.weekdays][:1]
        return min(found, default=None)


NOWHERE = Happening()


def happening(text: str, said: datetime) -> Happening:
    """When the events of a message happen that was said at `said` (aware); nothing for one that tells of none."""
    return _read(text[:_LONGEST], said.replace(minute=0, second=0, microsecond=0))


@lru_cache(_KEPT)
def _read(text: str, said: datetime) -> Happening:
    lowered = expanded(" ".join(text.lower().replace("’", "'").replace("\n", "。").split()))
    windows, bookings, weekdays = dict[Window, None](), dict[Window, None](), set[int]()
    inherited = False
    for clause, begins in _clauses(lowered):
        inherited = inherited and not begins
        if every := _habit(clause):
            weekdays |= every
            continue
        if _POSTPONED.search(clause):
            clause = _FROM.sub(" ", clause)
        past = _PAST.search(_BEING.sub(" ", clause)) is not None
        arranged = _ARRANGED.search(clause) is not None
        ahead = arranged or _AHEAD.search(clause) is not None
        tense = None if past and not ahead and _BARE_DAY.search(clause) else ahead or not past
        named = _spans(clause, dated(clause, said, ahead=tense), windows, said)
        windows = {one: None for one in windows if not any(_lies_in(one, other) for other in named)}
        windows |= dict.fromkeys(named)
        if not (past or ahead):
            windows |= dict.fromkeys(_just_before(clause, said))
        if named:
            inherited = True
        elif not inherited and (past or _TIME_OF_DAY.search(clause) or _DONE.search(clause)) and _tells(clause):
            (bookings if arranged else windows)[_today(said)] = None
    if not windows:
        windows |= bookings
    for wide in [one for one in windows if one[1] - one[0] > _WIDE and any(_lies_in(other, one) for other in windows)]:
        del windows[wide]
    if (windows or weekdays) and not (is_statement(text) or _TO_NOTE.match(lowered)):
        return NOWHERE
    return Happening(tuple(windows), frozenset(weekdays), bool(windows) and _YEARLY.search(lowered) is not None)


def _spans(clause: str, found: Sequence[Dated], before: Collection[Window], said: datetime) -> list[Window]:
    """The windows of these times; "until Friday" ends what begins with the time before it, or today."""
    windows = list[Window]()
    for one in found:
        ends = _UNTIL.search(clause[: one.start]) is not None and _POSTPONED.search(clause) is None
        first = (windows or list(before) or [_today(said)])[-1][0] if ends else one.window[0]
        if first > one.window[0]:  # "until the 9th" after what it ends
            later = (found for found in dated(clause, first, ahead=True) if found.start == one.start)
            one = next(later, one)
        if ends and windows:
            windows.pop()
        last = _today(said)[1] if _SINCE.search(clause[: one.start]) else one.window[1]
        windows.append((min(first, one.window[0]), max(last, one.window[1])))
    return windows


def _just_before(clause: str, said: datetime) -> list[Window]:
    """An event on a weekday, in a clause without a tense, may have been in the last three days."""
    found = (one.window for one in dated(clause, said, ahead=False))
    return [one for one in found if one[1] <= _today(said)[1] and one[0] >= _today(said)[0] - 3 * DAY]


def _tells(clause: str) -> bool:
    return _RESTING.search(clause) is None and _FEELING.search(clause) is None


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a text, each with whether a sentence begins with it."""
    place, begins = 0, True
    for found in _CLAUSE.finditer(text):
        if text[place : found.start()].strip():
            yield text[place : found.start()], begins
            begins = False
        begins = begins or _SENTENCE_END.search(found[0]) is not None
        place = found.end()
    if text[place:].strip():
        yield text[place:], begins


def _lies_in(one: Window, other: Window) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


def _habit(clause: str) -> set[int]:
    """The weekdays on which a clause says that something happens each week."""
    found = [*_EVERY.finditer(clause), *(_DAY_OF_HABIT.finditer(clause) if _HABIT.search(clause) else ())]
    names = [one for match in found for one in match.groupdict().values() if one]
    days = {day for name in names for day in ((5, 6) if name in ("weekend", "末") else (day_number(name),))}
    return days.union(
        *({day_number(one) for one in match["han"] if one != "、"} for match in _SEVERAL_DAYS.finditer(clause))
    )


def _today(said: datetime) -> Window:
    start = said.replace(hour=0)
    return start, start + DAY


def _in_year(start: datetime, span: Window) -> datetime | None:
    """The same day in the years of a span, if it is in the span."""
    for year in range(span[0].year, min(span[1].year, span[0].year + 1) + 1):
        at = start.replace(year=year, day=min(start.day, 28) if start.month == 2 else start.day)
        if span[0] <= at < span[1]:
            return at
    return None
