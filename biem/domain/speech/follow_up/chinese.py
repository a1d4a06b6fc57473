"""Chinese follow-up questions in full: 我姐呢？, 她住哪儿？, 一晚多少钱？."""

from collections.abc import Sequence

from biem.domain.speech.follow_up import mentioned
from biem.domain.speech.follow_up.chinese_mentions import ASKED, ROLE_OR_HOUSE, TIME, persons_in
from biem.domain.speech.follow_up.dialogue import Meant, Person, Round
from biem.domain.text import late

_ASKS = late(f"[？?]|{ASKED}|[吗呢么]\\W*$|来着\\W*$")
_FILLER = late(
    "^(?:(?:那么?|对了|哦|噢|嗯|好的?|还有|另外|然后|谢谢|知道了|明白了|行|请问|顺便问下?|话说)[，,\\s]*)+(?![里儿边个家天年台辆款])"
)
_PRONOUN = late("(?P<pronoun>[他她](?:们(?=[的在住吃去来做是有要现什几哪])|(?!们)))(?!山|乡|日)")
_IT = late(
    "^\\W*(?:现在|平时|后来)?(?P<it>它(?!们)|(?:这|那)(?:家|个|台|辆|款|只|本|部|间|套|张)(?=[，,是有在多几什怎贵要叫的好还人附]|$))"
)
_THERE = late("^\\W*(?:现在|平时|后来)?(?P<there>(?:那|这)(?:里|儿|边)(?!有))")
_ELLIPSIS = late("^(?:(?:那么?|还有|然后|而)[，,]?)?(?P<rest>[\u4e00-\u9fffA-Za-z0-9]{1,8}?)呢[？?。!！]*$")
_INTERROGATIVE = late(ASKED)
_BEFORE_THAT = late("^(?:再?(?:之|以)前|原来|从前|一开始)$")
_NOW = late("现在|目前|如今")
_TIMES, _ONLY_TIME = late(TIME), late(f"^{TIME}$")
_OWN = late("我(?!们)(?P<de>的?)")
_LIGHT = late(
    f"(?:{ASKED}|{TIME}"
    "|现在|目前|平时|一般|大概|大约|一共|总共|到底|具体|每|一|两|这|那|个|晚|次|节|袋|斤|天|月(?!会)|年(?![会假货终])|一周|每周|课|位|件|份|小时|人"
    "|钱|块|花|买|卖|收|付|交|给|要|得|能|会|可以|有|没|没有|是|在|去|来|到|回|回来|回去|回家|到家|家|出发|动身|走|开始|结束|开|关|上|下|办|做"
    "|完|好|弄|订|定|约|住|坐|的|了|着|过|地|吗|呢|吧|呀|啊|嘛|来着|还|再|又|都|就|才|也|我们|咱们?|你|您|他们|她们|它们"
    "|跟|和|用|叫|写|选|拿|取|贵|远|够|起|里|儿|[，,？?。！!\\s])+"
)
"""A question that names nothing."""
_ATTRIBUTE = late("(?:[资日话码号价费址龄格间积薪期票量]|专业)$")
"""Ends what a person or thing is asked for: 工资, 生日, 电话."""
_PART = late(f"(?=.{{2,9}}[？?]?$).*(?:{ASKED}|怎么)")
"""A short question; it has a part of something, or is about one."""
_NO_PART = late("[我你您咱吗0-9]|^什么(?:是|叫)|为什么|怎么(?![吃用去走付算喝擦开充停])")
_LONGEST = 30
_OF_PERSONS = late("的?(?:生日|住|做什么|干[嘛什]|有什么|不能吃|喜欢|爱吃|对什么|在做|多大|几岁|什么时候来|是做|现在)")
"""What only persons are asked for."""


def meant(message: str, rounds: Sequence[Round]) -> Meant:
    """The question in full; the message where it stands on its own."""
    as_it_is = Meant(message)
    if (ellipsis := _ELLIPSIS.match(message)) and not _INTERROGATIVE.search(ellipsis["rest"]):
        return _of_ellipsis(message, ellipsis["rest"], rounds)
    if _ASKS.search(message) is None or len(message) > _LONGEST:
        return as_it_is
    text = _FILLER.sub("", message)
    if (pronoun := _PRONOUN.search(text)) is not None:
        if "，" in text[: pronoun.start()] or any(one.start < pronoun.start() for one in persons_in(text)):
            return as_it_is
        name = _meant_by(pronoun[0], rounds)
        return Meant(text.replace(pronoun[0], name), pronoun=True) if name else as_it_is
    if (it := _IT.search(text)) is not None:
        thing = (mentioned.person(rounds, "") if it["it"] == "它" else "") or mentioned.thing(rounds)
        return Meant(f"{text[: it.start('it')]}{thing}{text[it.end() :]}", sure=False) if thing else as_it_is
    if (there := _THERE.search(text)) is not None:
        place = mentioned.place(rounds)
        return Meant(f"{text[: there.start('there')]}{place}{text[there.end() :]}", sure=False) if place else as_it_is
    stands = _LIGHT.fullmatch(text) is None
    thing = mentioned.thing(rounds) if not stands or _names_a_part(text) else ""
    return Meant(f"{thing}，{text}", thing, sure=False, stands=stands) if thing else as_it_is


def _names_a_part(text: str) -> bool:
    """Whether a question names a part of something, and not what it is a part of: 班主任是谁？, 哪家医院？, 专业？."""
    if _NO_PART.search(text) or _TIMES.search(text) or (persons_in(text) and not ROLE_OR_HOUSE.match(text)):
        return False
    return _PART.match(text) is not None or _ATTRIBUTE.search(text.rstrip("？?")) is not None


def _meant_by(pronoun: str, rounds: Sequence[Round]) -> str:
    if pronoun.endswith("们"):
        return mentioned.several(rounds)
    return mentioned.person(rounds, "f" if pronoun == "她" else "m")


def _of_ellipsis(message: str, rest: str, rounds: Sequence[Round]) -> Meant:
    """我姐呢 after 我弟哪天生日 asks for my sister's birthday."""
    as_it_is, last = Meant(message), rounds[-1].said
    if (pronoun := _PRONOUN.search(rest)) is not None and len(rest) > len(pronoun[0]):
        name = _meant_by(pronoun[0], rounds)
        if not name or not persons_in(last) or not _is_name(rest.replace(pronoun[0], "我")):
            return Meant(message.replace(pronoun[0], name)) if name else as_it_is
        person = persons_in(last)[0]  # 他老婆呢 asks of her what was asked of him
        return Meant(f"{last[: person.start]}{rest.replace(pronoun[0], name)}{last[person.end :]}")
    if rest.endswith("的") and _is_name(rest[:-1]):
        rest = rest[:-1]
    if _BEFORE_THAT.match(rest):
        return Meant(f"以前{_NOW.sub('', last)}")
    if _ONLY_TIME.match(rest):
        former = _TIMES.search(last)
        return Meant(f"{last[: former.start()]}{rest}{last[former.end() :]}" if former else f"{rest}{last}")
    persons, named = persons_in(last), persons_in(rest)
    if _is_name(rest) or (
        persons and not named and len(rest) == 2 and not _ATTRIBUTE.search(rest) and _asks_of_persons(last, persons[0])
    ):
        if persons:
            return Meant(f"{last[: persons[0].start]}{rest}{last[persons[0].end :]}")
        if own := _OWN.search(last):
            return Meant(f"{last[: own.start()]}{rest}{own['de']}{last[own.end() :]}")
        return Meant(f"{rest}{last}", sure=False)
    thing = "" if named else mentioned.thing(rounds)
    return Meant(f"{thing}，{rest}呢？", thing, sure=False) if thing else as_it_is


def _is_name(rest: str) -> bool:
    """Whether it is the name of one person, and no more."""
    found = persons_in(rest)
    return bool(found) and (found[0].start, found[0].end) == (0, len(rest))


def _asks_of_persons(question: str, person: Person) -> bool:
    """Whether a question begins with a person and asks what only persons are asked, so that two characters after it
    may be a name.
    """
    return person.start == 0 and _OF_PERSONS.match(question, person.end) is not None
