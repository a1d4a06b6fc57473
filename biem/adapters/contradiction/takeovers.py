"""Chinese updates told in passing: who or what was there before has its own clause, the next one has the successor.

中通最近丢件，统一换顺丰发 names the former value and the new one; 预算只有28万了 names the thing and another number of it;
例汤换萝卜牛腩 names the thing right before the verb of change. Chinese has no word boundaries, and names are unknown to the
segmenter, so stretches of characters in both texts are compared, not words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.reading import Reading, StatementReader
from biem.adapters.contradiction.statement_core import Core, Piece, positions
from biem.adapters.contradiction.statement_parts import (
    are_of_other_occasions,
    are_of_two,
    by_kind,
    is_difference,
)
from biem.adapters.contradiction.value_updates import ValueUpdates
from biem.domain.conflict import Verdict

TAKEOVERS = frozenset(("taken over", "counted again"))
"""The rules of this module."""
_SURE = 0.86
_KEPT = 1_024
_LONGEST = 120
"""Maximum characters of each text."""
_SHORT = 2
"""Minimum characters of a common stretch."""
_NAMED = 4
"""Maximum words of the thing in a verdict."""
_ASIDE = 6
"""Maximum characters of a clause that only describes the value before it: 人很随和."""
_CLAUSE = re.compile(r"[^，。！？；：,;!?、—–…\n]+")
_STRETCH = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z][\w+-]*(?:\.\w+)?")
_EMPTY = frozenset(
    "我你他她它们的了是在有把从和跟与个到成为就都也又去来给对这那哪今明昨不没很最每天年月周日号点半几多少现目时候以还着过让说要会能可想"
    "用只些位样自己已经才再先刚因所但早"
)
"""Characters that alone name nothing."""
_ENDS = "的了是在我们把给就都也到"
"""Characters that are cut off the ends of a common stretch."""
_NOW = r"(?:现在|如今|眼下|目前|这阵子|这会儿|接下来|(?i:\bnow\b))"
_GO = "成|为|用|投|到|去|进|至|在|给|发|走|叫|吃|喝|坐|住|放|开|穿|刷|骑|订|找|跟|由|送|做|学|练|读|看|租|报|种|养|戴"
_TO = re.compile(rf"[改换转调挪搬移迁][\u4e00-\u9fff]?(?:{_GO})|[改换转](?:了|上)?|变成了?|升级?到|改由")
"""A change by which one thing takes the place of another."""
_HAND = re.compile(r"交(?:给|到|由)|转给|让给|归|由|轮到|轮着|接手的?是|顶上来?的?是|接[班替]的?是")
_CHANGE = re.compile(rf"{_NOW}|都[是由归去在找]|{_TO.pattern}|{_HAND.pattern}")
"""A change, before the value that comes in."""
_NOW_IS = re.compile(rf"{_NOW}(?:已经|都|就|改)?(?:是|在|用|[放住跑挂停存摆]在|叫|归|由|跟着?)")
_ENDED = re.compile(
    "(?:完|坏|没|停|断|丢|卖掉?|退休?|关门?|走|离职|辞职?|不干|不做|拆|取消|撤|下线|淘汰|过期|到期|死|报废|没货|缺货|断货|停产|倒闭|不[\u4e00-\u9fff]{1,2})了?(?:$|[，。,])"
    "|(?:被调|调[去走回]|休产假|跳槽|退了|搬走|搬去)"
)
"""Of a former value, in its own clause."""
_LED_IN = re.compile(
    r"(?:是由?|用的?是?|选[的了]?是?|叫|姓|走|发|投|找|吃|喝|坐|开|骑|住在?|[放停挂存摆种]在?|在|交给|外包给|租给|送给?|归|由|跟着?|靠"
    r"|[订装买学][的了]?是?|打|卖|演|当|带|养|做|刷|穿|喂)"
    r"(?:的是|了|着)?(?:一?[片个只家辆台条份位名种款间套匹本张双粒][^，。的]{0,4})?(?:[^，。的]{1,8}的)?\s*[\"“《「]?$"
)
"""A verb before a value, with what may stand between."""
_IS = re.compile(
    rf"(?:一[直般])?{_NOW}?\s?(?:[A-Za-z]+ )?(?:用的是|选的是|的?是由?|用|叫|姓|选了?|[放挂停存摆种]在|走|发|在)(?![不没])"
    r"|\s(?:is|are|runs?|lives?|stands?|sits) (?:(?:on|in|at|with|by) )?"
)
"""Right after a thing: what comes is its value."""
_NOT_NEW = re.compile(r"^(?:了|过|着|个|一|只|家|位|名|上|的|是|在|用|走|去|新|辆|台|条|\s)*")
_NO_TOPIC = re.compile(
    r"[^，]{1,8}(?:把|被|让|帮|替|给(?=[我咱他她你]))|我们|咱们?|大家|全[队家店]|从[^，]{1,8}?(?:起|开始)|[上下这那]个?[周月年阵次]子?起?|往[前后]|最近|现在|如今|目前|眼下|已经"
    r"|终于|后来|干脆|统一|只好|一律|最后|全部|以后|今后|从此|暂时|直接|立刻|今天|昨天|前天|昨晚|今早|早上|晚上|中午|下午|月份?起"
    r"|店里|家里|公司|这边|那边|那块|这块|那个|这个|这套|那套|一下|索性|重新|一次|一直|平时|每[天周月年次顿]|(?:量|称|测|数|算|查)了|的?(?:时间|日期|日子)|(?i:\b(?:now|the|my|our|an?)\b)"
)
"""Who acts, when and how: no subject of a clause."""
_NOT_LASTING = re.compile(
    "今天(?!起|开始|之后|以后)|今晚|今早|明天(?!起|开始)|明晚|后天|这[次回趟顿]|临时|一[次回趟]|有时|偶尔|差点|本来|下不为例|破例"
)
_ANOTHER_ONE = re.compile("隔壁|对门|对面|楼上|楼下|人家|别人|别家|竞品|同行|同事|邻居|朋友|他们|她们|你们")
_ADDED = re.compile("另外?|还(?!是)|也|又(?=[加添养买招雇请开])|多了")
_BESIDES = re.compile("除了|除去|之外|另外")
_OF_TIME = re.compile("(?i:weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|周[一二三四五六日天末]|星期|礼拜|[上中下]午|[早晚]上|凌晨|傍晚|睡前|[饭餐][前后]|[今明后]天|[今明]年|[一二三四五六七八九十]")
_RECKONED = re.compile(
    rf"(?:[涨升降减加增缩调提推挪延移改换砍放剩掉变跌长瘦胖冲][\u4e00-\u9fff]{{0,2}}?[到至成]|只有|[只就还又]?剩下?|总共|一共|{_NOW}"
    r"|加起来|合计|改|换|涨|降|减|到)(?:了|是|有|为|就|只|要|每[天周月年次]?|能|在|都|\s|[早晚上下中凌][上午晨]|周[一二三四五六日天])*$"
)
"""Right before a number: it tells how much there is now."""
_RECKONS = re.compile(_RECKONED.pattern.removesuffix("$") + r"\s?[\d一二两三四五六七八九十百千万半周星礼]")
_CHANGED_BEFORE = re.compile("(?:[改换变调挪](?:时间|日子|日期)?了|(?:时间|日子|日期)[^，。]{0,3}[改换变调挪]了)[，,]$")
"""Of a thing, before its new date: 组会换时间了，周二下午三点."""
_MEASURED_AGAIN = re.compile("(?:又|重新|再)[^，。]{0,4}(?:量|称|测|数|算|查|考)了?一?[次遍下回]?|复[查测]")
_ORDINAL = re.compile(r"(?:第?[\d一二三四五六七八九十]+)(?![\d年月日天周岁次个点:：.])[\u4e00-\u9fff]|[\d一二三四五六七八九十]{1,3}点|[A-Z]?\d{2,}")
"""Tells one of several: 一楼, 二号, 六点那顿, 6308."""
_FIGURES = re.compile(r"[\d.,:：零一二两三四五六七八九十百千万亿半第]+|周|星期|礼拜")
_COUNTERS = frozenset("个台张只条位人次片粒件号平斤本份层楼户桌杯盆箱节页章名辆款种套间岁度天周月年米寸分秒折级栋头枚棵株桶袋瓶页字公")
_MINE = re.compile("[我咱]们?(?![的家妈爸哥姐弟妹])")
_ENDS_OF_OWNERS = "的了"
_HAPPENED = re.compile("了$")
_AMOUNTS = re.compile("[有到共剩是在]")
_TITLES = re.compile("老师|师父|老板|领导")
_LABEL = re.compile(r"[#№]\s?$")


@dataclass(frozen=True, slots=True)
class _Common:
    """A stretch of characters in both texts, and where it begins in each."""

    text: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class _Change:
    """A clause of the newer text that tells of a change: where it begins and ends, and the verb of change."""

    start: int
    end: int
    verb: tuple[int, int]


class Takeovers:
    """Judges pairs of which the newer is in Chinese. Thread-safe."""

    def __init__(self, reader: StatementReader, value_updates: ValueUpdates) -> None:
        self._core = value_updates.core
        self._tagged = reader.tagged
        self._bounds = lru_cache(_KEPT)(self._bounds_of)

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement may tell of a value that takes the place of another."""
        if not newer.in_chinese or len(newer.text) > _LONGEST:
            return False
        return bool(_CHANGE.search(newer.text) or (newer.numbers and _RECKONS.search(newer.text)))

    def tells_of_another(self, older: Reading, newer: Reading) -> bool:
        """Whether what changes is a thing that the older does not name, and that has another: 超市的会员日改成周二了, after
        the day of a chemist's.
        """
        one, other = older.text, newer.text
        if not (newer.in_chinese and older.in_chinese) or max(len(one), len(other)) > _LONGEST:
            return False
        common = tuple(self._common(one, other))
        changes = [change for change in _changes(other) if _TO.match(other, change.verb[0])]
        return bool(changes) and all(_begins_foreign(other, change, one, common) for change in changes)

    def judge(self, older: Reading, newer: Reading) -> Verdict | None:
        """The verdict that the newer replaces the older, or None."""
        if len(older.text) > _LONGEST or not self.speaks(newer):
            return None
        old, new = self._core(older), self._core(newer)
        if not (old.holds and new.holds) or old.past or old.open or new.open:
            return None
        if are_of_two(old, new) or are_of_other_occasions(old, new) or not _same_people(old, new):
            return None
        common = tuple(self._common(old.text, new.text))
        if found := _counted(old, new, common):
            rule, place = "counted again", found
        elif found := _taken_over(old, new, common):
            rule, place = "taken over", found
        else:
            return None
        told = _clause_at(old.text, place)
        if marks.DENIES.search(told) or (_HAPPENED.search(told) and not _AMOUNTS.search(told)):
            return None
        rest = _rest(old.text, place, common)
        thing = " ".join(piece.stem for piece in old.words[:_NAMED])
        return Verdict(
            "update",
            _SURE,
            rule,
            partial=bool(rest),
            claim=told if rest else "",
            subject=f"{' and '.join(sorted(old.persons)) or 'me'}: {thing}",
            aligned=True,
        )


    def _common(self, old: str, new: str) -> Iterator[_Common]:
        """The stretches of whole words and the words in Latin letters that both texts have, longest first."""
        found = [
            one
            for stretch in _STRETCH.finditer(old)
            for one in (
                _latin(stretch, new) if stretch.group().isascii() else self._han(old, new, *stretch.span())
            )
        ]
        yield from sorted(found, key=lambda one: -len(one.text))

    def _han(self, old: str, new: str, start: int, end: int) -> Iterator[_Common]:
        bounds, others = self._bounds(old), self._bounds(new)
        while start < end - 1:
            size = _SHORT
            while start + size <= end and old[start : start + size] in new:
                size += 1
            size -= 1
            if size < _SHORT:
                start += 1
                continue
            first, last, there = start, start + size, new.index(old[start : start + size]) - start
            while first < last and (first not in bounds or first + there not in others or old[first] in _ENDS):
                first += 1
            while last > first and (last not in bounds or last + there not in others or old[last - 1] in _ENDS):
                last -= 1
            if last - first >= _SHORT and not _EMPTY.issuperset(old[first:last]):
                yield _Common(old[first:last], first, first + there)
            start += size

    def _bounds_of(self, text: str) -> frozenset[int]:
        """Where the known words of a text begin and end."""
        found = set()
        for stretch in _STRETCH.finditer(text):
            at = stretch.start()
            found.add(at)
            for word in (stretch.group(),) if stretch.group().isascii() else (w for w, _ in self._tagged(stretch.group())):
                at += len(word)
                found.add(at)
        return frozenset(found)


def _taken_over(old: Core, new: Core, common: tuple[_Common, ...]) -> int | None:
    """Where the older has the value that another one replaces; None if none does."""
    values = [one for one in common if _LED_IN.search(old.text[_begin(old.text, one.old) : one.old])]
    things = [one for one in common if one not in values and not _is_of_another(one, old.text, new.text)]
    for change in _changes(new.text):
        comes = _NOT_NEW.sub("", new.text[change.verb[1] : change.end])
        timed = _OF_TIME.match(comes) is not None
        if not _is_gained(comes, old.text):
            continue
        before = [one for one in common if change.start <= one.new < change.verb[0]]
        strange = _is_foreign(new.text[change.start : change.verb[0]], old.text, common)
        for value in values:
            if _within(value.new, change) or timed != (_OF_TIME.match(value.text) is not None):
                continue
            gives_way, named = _gives_way(value, change, new.text), any(one is not value for one in before)
            thing = any(one.text not in value.text and not _within(one.new, change) for one in things)
            if (named and gives_way) or (not strange and (named or thing or gives_way)):
                return value.old
        for thing in things if not timed and not strange else ():
            told = _IS.match(old.text, thing.old + len(thing.text))
            if told is not None and _is_its_own(thing, change, old.text, new.text, common):
                return told.end()
    return None


def _gives_way(value: _Common, change: _Change, text: str) -> bool:
    """Whether a clause before the change is about the former value: 中通最近丢件，统一换顺丰发."""
    start = _begin(text, value.new)
    if start >= change.start or _NO_TOPIC.sub("", text[start : value.new]).strip():
        return False
    if _TO.match(text, change.verb[0]):
        return True
    return _ENDED.search(text[value.new + len(value.text) : _end(text, value.new) + 1]) is not None


def _is_its_own(thing: _Common, change: _Change, old: str, new: str, common: tuple[_Common, ...]) -> bool:
    """Whether the change is that of a thing of which the older tells the value: 例汤换萝卜牛腩, 龟背竹长太大，搬到书房了."""
    if not (_TO.match(new, change.verb[0]) or _NOW_IS.match(new, change.verb[0])):
        return False
    if _is_foreign(old[_begin(old, thing.old) : thing.old], new, common):
        return False
    if change.start <= thing.new < change.verb[0]:
        return not _NO_TOPIC.sub("", new[thing.new + len(thing.text) : change.verb[0]]).strip()
    leads = _begin(new, thing.new) == thing.new < change.start
    return leads and not _NO_TOPIC.sub("", new[change.start : change.verb[0]]).strip()


def _counted(old: Core, new: Core, common: tuple[_Common, ...]) -> int | None:
    """Where the older has the number of which there is another one now; None if there is none."""
    things = tuple(one for one in common if not _is_of_another(one, old.text, new.text))
    for number in new.numbers:
        start, end = _begin(new.text, number.start), _end(new.text, number.start)
        before = new.text[start : number.start]
        told = _RECKONED.search(before)
        earlier = new.text[:start]
        if not (told or _MEASURED_AGAIN.search(earlier) or _CHANGED_BEFORE.search(earlier)):
            continue
        if is_difference(new, number) or _NOT_LASTING.search(new.text[start:end]):
            continue
        if _ADDED.search(before) or _BESIDES.search(new.text) or marks.DENIES.search(before):
            continue
        numbers = [one for one in old.numbers if _LABEL.search(old.text[: one.start]) is None]
        of_kind = [one for one in numbers if _kind(old.text, one) == _kind(new.text, number)]
        before = before[: told.start()] if told else before
        if len(of_kind) != 1 or of_kind[0].stem == number.stem or _is_foreign(before, old.text, things):
            continue
        here = any(start <= item.new < end for item in things)
        led = new.text[_begin(new.text, max(0, start - 2)) : start]
        if not here and (not any(item.new < start for item in things) or _is_foreign(led, old.text, things)):
            continue
        return of_kind[0].start
    return None


def _kind(text: str, number: Piece) -> tuple[str, str]:
    """The kind of a number, and the word that counts it: 个, 台."""
    said = _FIGURES.sub("", text[number.start : number.end]).strip()
    counted = said or text[number.end : number.end + 2].strip()[:1]
    return next(iter(by_kind([number]))), counted if counted in _COUNTERS else ""


def _changes(text: str) -> Iterator[_Change]:
    """The clauses that tell of a lasting change, with each verb of change."""
    for clause in _CLAUSE.finditer(text):
        if _NOT_LASTING.search(clause.group()):
            continue
        for verb in _CHANGE.finditer(text, *clause.span()):
            before = text[clause.start() : verb.start()]
            if not (_ADDED.search(clause.group()) or _BESIDES.search(text) or marks.DENIES.search(before)):
                yield _Change(*clause.span(), verb.span())


def _is_of_another(one: _Common, old: str, new: str) -> bool:
    """Whether each text has another character before it: 大论文, 小论文."""
    left, right = old[max(0, one.old - 1) : one.old], new[max(0, one.new - 1) : one.new]
    return left != right and all(side >= "\u4e00" and side not in _EMPTY and side.isalpha() for side in (left, right))


def _within(place: int, change: _Change) -> bool:
    return change.verb[1] <= place < change.end


def _is_gained(comes: str, old: str) -> bool:
    """Whether what follows a verb of change names something that the older lacks, and is no number."""
    found = _STRETCH.match(comes)
    return found is not None and len(found.group()) >= _SHORT and found.group()[:_SHORT].lower() not in old.lower()


def _is_foreign(text: str, other: str, common: tuple[_Common, ...]) -> bool:
    """Whether a stretch before a verb names something that the other text lacks."""
    if any(one.group() not in other for one in _ANOTHER_ONE.finditer(text)) or any(found.group() not in other for found in _ORDINAL.finditer(text)):
        return True
    for one in common:
        text = re.sub(re.escape(one.text), " ", text, flags=re.IGNORECASE)
    rest = _STRETCH.findall(_NO_TOPIC.sub(" ", text))
    named = (left.strip(_ENDS_OF_OWNERS) for left in rest if not _EMPTY.issuperset(left))
    return any(len(left) >= _SHORT and left not in other for left in named)


def _begins_foreign(text: str, change: _Change, other: str, common: tuple[_Common, ...]) -> bool:
    """Whether the clause of a change begins with a thing that the other text lacks, and this with one that it lacks."""
    before = text[change.start : change.verb[0]]
    first = min((one.new for one in common if change.start <= one.new < change.verb[0]), default=change.verb[0])
    if before.isascii() or _MINE.match(before) or not _is_foreign(text[change.start : first], other, ()):
        return False
    begins = _STRETCH.match(_NO_TOPIC.sub("", other).lstrip(_ENDS))
    return begins is None or begins.group()[:_SHORT] not in text


def _same_people(old: Core, new: Core) -> bool:
    one, other = (
        frozenset(person for person in core.persons if person.startswith("me.") and not _is_titled(person, core.text))
        for core in (old, new)
    )
    return one == other and all(name in new.text.lower() for name in old.names)


def _is_titled(person: str, text: str) -> bool:
    """Whether a relation is only the title of a name: 陆老师."""
    title = person.removeprefix("me.")
    return bool(_TITLES.fullmatch(title)) and all(
        "\u4e00" <= text[at - 1 : at] <= "\u9fff" and text[at - 1] not in _EMPTY for at in positions(text, title)
    )


def _begin(text: str, place: int) -> int:
    """Where the clause at this place begins."""
    return next((one.start() for one in _CLAUSE.finditer(text) if one.start() <= place < one.end()), place)


def _end(text: str, place: int) -> int:
    return next((one.end() for one in _CLAUSE.finditer(text) if one.start() <= place < one.end()), place)


def _clause_at(text: str, place: int) -> str:
    return text[_begin(text, place) : _end(text, place)].strip()


def _rest(text: str, place: int, common: tuple[_Common, ...]) -> str:
    """A further claim of the older: a clause before, or a longer one or one with a number after the one at this place."""
    for clause in _CLAUSE.finditer(text):
        here = clause.start() <= place < clause.end()
        told = _NO_TOPIC.sub("", clause.group()).strip()
        further = clause.start() < place or len(told) > _ASIDE or any(map(str.isdigit, told))
        if not here and further and len(told) >= _SHORT and not any(one.text in told for one in common):
            return clause.group()
    return ""


def _latin(word: re.Match[str], new: str) -> Iterator[_Common]:
    found = re.search(rf"(?<![A-Za-z]){re.escape(word.group())}(?![A-Za-z])", new, re.IGNORECASE)
    if found is not None and len(word.group()) >= _SHORT:
        yield _Common(word.group(), word.start(), found.start())
