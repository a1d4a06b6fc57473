"""Whether a text denies a value that an earlier one gave, and gives another: "9:10, not 8:40", 是48，不是72.

Or tells why it is over, and then who or which came instead: 老邬骨折了，看仓库的活交给小闵.
"""

import re

from biem.domain.conflict import Matter

_DENIES = re.compile(
    r"\b(?:not|cannot|instead of|rather than|no longer|moved from|no way)\b|n['’]t\b|不是|而不是|不再", re.IGNORECASE
)
_TIME = re.compile(r"\d\d:(?!00)\d\d")
"""A time of day, but no full hour: that many things have."""
_ANY_TIME = re.compile(r"\d\d:\d\d")
_DATE = re.compile(r"\d\d-(?P<day>\d\d)")
_SPELT = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    *("twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth"),
    *("twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
_NTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)|(?<=the )({'|'.join(reversed(_SPELT))})(?= (?:and|but|so|any)\b|\W*$|[,.;!]))\b",
    re.IGNORECASE,
)

_PARTS = re.compile(r"[,;，；。！!]\s*|\.\s+|\s(?=so\s)|\sand\s")
_BEFORE_NAME = re.compile(r"^(?:后来|结果|因为|可惜|但是?|不过|the |my |our |since |because |as )+", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z][\w+'-]*|[\u4e00-\u9fff]+")
_NO_NAME = re.compile(
    r"[我你他她它咱您这那哪有没今昨明上下前后每]|(?:i|we|you|he|she|they|it|this|that|there|so|and|but|no|yes)(?![a-z])",
    re.IGNORECASE,
)
_OWNS = re.compile(
    r"的|['’]s\b|[和跟与、]| and\b|自己|[们说问讲让叫要想觉提看嫌她他]| (?:says|said|asks|asked|told|wants|thinks"
    r"|suggested)\b"
)
"""After a name: the statement is about a thing or a relative of it, about two, or only said by it."""
_COMES = re.compile(
    r"顶[上着替班岗]?|接[上手着班管替过]|代[替管班课]|替|上手|换|改|归|交[给由]|[发转让留]给|轮到|的是|[现这]在|[这后]阵"
    r"|以后|今后|这[次回段几]|先[用拿借]|[租借买收雇请找]了|都[是用由找点去在]|来带|负责|[转挪搬移迁派调][\u4e00-\u9fff]?[到去给]"
    r"|新来?的?[^，。]{0,4}[姓叫是]"
    r"|\b(?:now|instead|t(?:akes?|ook|aken|aking) (?:over|(?:his|her|their|its) place)|stepped in|steps in"
    r"|fill(?:s|ed|ing)? in|cover(?:s|ed|ing)? for|in charge|replac(?:es|ed)|switched|moved to|from now on|these days"
    r"|this week|since last|bought|from tomorrow|so (?:we|i|(?-i:[A-Z])\w+)(?:['’](?:re|ve|m))?)\b",
    re.IGNORECASE,
)
"""Who or what comes in place of another."""
_ENDS = re.compile(
    r"退休|离职|辞|跳槽|调[去走回到]|回[^，。]{1,3}[去了]|走了|搬走|停[了产业工课]|坏了|丢了|偷|关[了门]|倒闭|拆|卖[了掉]|[没断缺]货"
    r"|取消|黄了|报废|住院|休[产病年]?假|出差|怀孕|毕业|受伤|拉伤|骨折|老了"
    r"|\b(?:retired|left|quit|died|stolen|broke|broken|closed|sold|gone|went|moved|poached|expired"
    r"|ran out|finished|leaving|swapp?(?:s|ed) with|on (?:\w+ )?(?:leave|duty)|found a job|got a|burnt out|fell|shut"
    r"|packed|crashed)\b",
    re.IGNORECASE,
)
"""What ends the part of a person or thing."""
_SET_ASIDE = re.compile(
    r"当[备替副]|[当做][^，。]{0,3}(?:备|副|B)|给[^，。]{1,6}[了玩用拿]|卖|退[了掉]|闲|收起|淘汰|停用|停了(?![半一几两])|扔|送[了给人]|不用了|下岗|挂咸鱼"
    r"|\b(?:sold|gone|retired|returned|spare|backup|for sale|put away)\b",
    re.IGNORECASE,
)
"""What becomes of a thing that is no longer used."""
_SHORT = 2
"""Minimum Chinese characters of a name."""
_BRIEF = 120
"""Maximum characters of each text: a longer one tells of many things."""


def gives_way(newer: str, older: str, asked: str, *, asks_who: bool) -> bool:
    """Whether a part of the newer text begins with the value of the older, of which it tells something, and a later
    part what comes in its place; or the value comes last and is put aside: 租了台 Alexa，FX6 卖了.

    The value begins no part of the older text, unless a name is asked for: then "Ada drives" has it, too.
    """
    if max(len(newer), len(older)) > _BRIEF:
        return False
    first, *rest = _PARTS.split(newer)
    then = " ".join(rest)
    if not then:
        return False
    if _is_about_value(_BEFORE_NAME.sub("", first), then, older, asked, asks_who=asks_who):
        return _COMES.search(then) is not None or _ENDS.search(first) is not None
    return any(
        _SET_ASIDE.search(part) and _is_about_value(part, first, older, asked, asks_who=asks_who) for part in rest
    )


def _is_about_value(part: str, besides: str, older: str, asked: str, *, asks_who: bool) -> bool:
    """Whether a part of a text begins with a value of the older text that the question and the other parts lack, and
    tells something of it.
    """
    value = _leading_value(part, older)
    if not value or value.lower() in (asked + besides).lower():
        return False
    if not part[len(value) :].strip() or _OWNS.match(part, len(value)):
        return False
    before = _PARTS.split(older[: older.lower().find(value.lower())])[-1]
    return asks_who or _BEFORE_NAME.sub("", before).strip() != ""


def _leading_value(text: str, older: str) -> str:
    """The longest beginning of a text that the older has: a name in Latin letters, or two Chinese characters."""
    found = _NAME.match(text)
    if found is None or _NO_NAME.match(text):
        return ""
    if found.group().isascii():
        if not found.group()[0].isupper():
            return ""
        whole = re.search(rf"(?<![A-Za-z]){re.escape(found.group())}(?![A-Za-z])", older)
        return found.group() if whole else ""
    size = len(found.group())
    while size >= _SHORT and found.group()[:size] not in older:
        size -= 1
    return found.group()[:size] if size >= _SHORT else ""


def denies_former(text: str, newer: Matter, older: Matter) -> bool:
    """Whether the newer text has a time or date of the older, another one, and a denial."""
    if _DENIES.search(text) is None:
        return False
    told, said = newer.numbers, older.numbers
    for value, another in ((_TIME, _ANY_TIME), (_DATE, _DATE)):
        given, other, former = (
            frozenset(filter(kind.fullmatch, numbers))
            for kind, numbers in ((value, told), (another, told), (value, said))
        )
        if given & former and other - former:
            return True
    nth = frozenset(int(day or _SPELT.index(word.lower()) + 1) for day, word in _NTH.findall(text))
    days, later = (
        frozenset(int(found["day"]) for found in map(_DATE.fullmatch, numbers) if found) for numbers in (said, told)
    )
    return bool(nth & days and (nth | later) - days)
