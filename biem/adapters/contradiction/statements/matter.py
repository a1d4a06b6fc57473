"""Whom and what a text speaks of, named alike in questions and answers: 妈妈, mum and mother are one."""

import re
from collections import defaultdict
from collections.abc import Iterable

from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import HAN_OF_BIRTHDAYS, IN_USE, OF_BIRTHDAYS, SINGLE
from biem.adapters.contradiction.lexicon.relatives import KIN
from biem.adapters.contradiction.lexicon.value_kinds import GIVES, WANTS
from biem.adapters.contradiction.reading.journeys import returns
from biem.adapters.contradiction.reading.reader import Reading
from biem.adapters.contradiction.statements.core_reader import Core, positions
from biem.adapters.contradiction.statements.occupations import EMPLOYED_BY, REPORTS, STATES_OCCUPATION
from biem.adapters.contradiction.subjects.subjects import Subjects, is_reported, mentions_speaker
from biem.domain.conflict import Matter
from biem.domain.speech.names import SURNAME

_ASKED = re.compile(r"\b(?i:is|are|was|were|do|does|did|has|had|can|could|will|would|should) ([A-Z][\w-]+)")
"""The person whom a question names."""
_KIN_WITHIN = re.compile(rf"(?:^|(?<=[\s\u4e00-\u9fff]))(?=({'|'.join(sorted(KIN, key=len, reverse=True))})\b)")
_KIN_EN, _KIN_ZH = ("|".join(word for word in KIN if word.isascii() is latin) for latin in (True, False))
_HAS = re.compile(
    r"\b(?:I|[Ww]e)(?:'ve| have| got)+ (?:only )?(?:(?:an?|one|two|three|four|five) )?(?:[a-z]+ ){0,2}?"
    rf"(?P<kin>{_KIN_EN})s?\b(?! (?:who|name|food|of))(?:(?:,| called| named) (?P<name>[A-Z][\w-]+))?"
    rf"|我(?:们|家)?有[一两二三四五个]{{0,2}}[\u4e00-\u9fff]?(?P<han>{_KIN_ZH})"
)
"""Introduces relatives: "We have two sons, Ben and Leo"."""
_OF_A_RELATIVE = re.compile(r"['’]s?\s")
_NOT_MINE = re.compile(r"['’]s?\s|[ -]in[ -]law\b|^(?:his|her|their|your)\b", re.IGNORECASE)
"""My wife's sister is no sister of mine, my mother-in-law not my mother, and his girlfriend not mine."""
_RANKED = re.compile(r"\.(?:older|younger)(?=[a-z])")
"""A rank, which `Matter.which` has."""
_NTH_CHILD = frozenset(("me.olderchild", "me.youngerchild"))
_ANY_CHILD = frozenset(("me.kid", "me.son", "me.daughter"))
"""Whom "my eldest" may name: which of them, `Matter.which` tells."""
_ANAPHORS = frozenset(("he", "she", "they", "quoted"))
_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight yesterday".split()  # noqa: SIM905
)
"""Owners that are no persons: "Friday's practice"."""
_OTHER = {"你": "you", "您": "you", "他": "he", "她": "she"}


_QUALIFIED = re.compile(
    r"\b(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?) from (?:(?:my|our|the) )?"
    r"(?!(?:now|then|today|outside|inside|under|behind|above)\b)(?P<where>[a-z]+)"
    r"|(?P<han_where>[\u4e00-\u9fff]{2,4})的(?P<han>[\u4e00-\u9fff]{2,3})"
)
"""One of several people of one name: Anna from accounting."""
_APPOSED = re.compile(
    r"(?:^|[.;!] )(?P<name>[A-Z][\w-]+), (?:my|our) "
    r"(?:(?!\b(?:is|are|was|were|has|have|had|will|can)\b)[^,.;]){2,40},"
)
"""A person introduced by a relation: "Anna, my dentist's assistant, lives in Graz".

"Sorry, my rent is 900, not 800" has a verb there.
"""
_APPOSED_KIN = re.compile(rf"(?:^|[.;!] )(?P<name>[A-Z][\w-]+), (?:my|our) (?:[a-z]+ )?(?P<kin>{_KIN_EN})(?=[,.;!]|$)")
"""A relative introduced by name: "Nils, my cousin, …"."""
_WAYS = {"去程": "outbound", "返程": "return"}
_BACK = frozenset(("return",))
_ANY_THING = frozenset(("name",))
"""The topic of "is my": a topic only where there is no other."""
_ALTERS = re.compile(
    r"\bagain\b|\bback (?:on|to)\b|(?:^|\b(?:I|we|he|she)(?:'ve| have)? (?:just )?)finished\b|\bdone with\b"
    r"|\bfed up\b|\bnext up\b"
    r"|\b(?:extended|renewed|prolonged|shortened|expanded|doubled|tripled|halved|upped|decreased)\b"
    r"|又(?:开始|[\u4e00-\u9fff]上)|重新|恢复|[看读听学用吃]完|[看听玩吃]腻|延长|续[了签]|扩[大建]|加倍|减半",
    re.IGNORECASE,
)
"""Marks an end or a return to a former habit: a change that the rules for automatic decisions do not rely on."""
_OLD_ENDED = re.compile(
    r"\bold (?:[\w-]+ ){1,3}(?:(?:has |had |is |was |got |just |finally )*"
    r"(?:died|dead|broken?|gave|given|fell|packed|conked|stolen|lost|gone|sold|smashed|cracked|worn|wrecked|scrapped|kaput|returned|retired|closed)\b).*\b(?:i|we|he|she|they)\b"
    "|[旧老][\u4e00-\u9fff]{1,4}(?:终于|已经|前几天|上周|彻底)?[\u4e00-\u9fff]?(?:坏|丢|破|碎|烂|报废|卖|停产|不行|没电)[^，。,.]{0,3}[，。,.;；].*[买换用入]",
    re.IGNORECASE,
)
"""An old thing that ended, and what came in its place."""
_COMPARED_WITH_OLD = re.compile(
    r"\b(?:than|unlike|(?:go|going|goes|went|come|came) back to|miss(?:es|ed|ing)?|better off without)"
    r" (?:(?:at|in|on|with) )?(?:my|our|the|his|her|their) (?:old|former|ex)\b",
    re.IGNORECASE,
)
"""Tells of what holds, beside what was before: "she'd never go back to the old flat"."""
_OF_THEMSELVES = re.compile(
    r"\b(?:told|tells|texted|wrote to|said to) (?:me|us)(?:,| that)? (?:he|she|they|his|her|their)\b"
    r"|(?:[跟和对]我[说讲]|告诉我)[，,：:]?[他她]",
    re.IGNORECASE,
)
"""Other people tell the user of themselves."""
_NAME = re.compile(r"(?<=[a-z] )[A-Z][\w-]+")
_COMPANION = re.compile(r"\bwith (?:my |our )?$")
_OWN_PET = re.compile(r"\b(?:[Mm]y|[Oo]ur) (?:[a-z]+ )?(?:cat|dog)(?: [A-Z][\w-]+)?|我们?家?的?[猫狗]")
_PETS_OWN = re.compile(
    r"\bthe (cat|dog)(?:['’]s\b| (?=(?:is|isn['’]t|has|hates|loves|eats|weighs|needs|takes)\b))", re.IGNORECASE
)
_CALLED = re.compile(r"(?:['’]s name is|['’]s called| is called| is named) (?P<name>[A-Z][\w-]+)")
_HAN_CALLED = re.compile(
    "[,，]?(?:的?名字)?(?:名?叫|是) ?(?P<name>[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+)(?=[，。！,!；]|$)"
    "| ?(?:的?名字)?(?:名?叫)? ?(?P<latin>[A-Z][a-z]+)(?![A-Za-z])"
)
_I_AM = re.compile(
    r"\b(?:I'm|I am) [A-Z][\w-]+(?: [A-Z][\w-]+)?(?=[,.!;]|$| and\b)"
    r"|\b(?:[Mm]y (?:full |first |last )?name|[Cc]all me|[Ww]ho am I)\b"
    r"|我(?:的名字|[叫姓](?![他她你它了上])|是谁)|叫我(?![去来帮做])|称呼我"
    rf"|我是{SURNAME}[\u4e00-\u9fff]{{1,2}}(?=[，。,!！]|$)"
)
"""States the speaker's own name, or asks for it."""
_INTRODUCES = re.compile(
    r"^\W*(?:hi|hello|hey)\b\W+(?:I'm|I am) (?-i:[A-Z])|\b(?:my (?:full |first |last )?name|call me)\b"
    rf"|我的名字|叫我(?![去来帮做])|称呼我|我是{SURNAME}[\u4e00-\u9fff]{{1,2}}(?=[，。,!！]|$)",
    re.IGNORECASE,
)
"""The same where nothing else is stated: "I'm Swiss" states no name."""
_STATES = (
    ("name", _I_AM),
    (
        "age",
        re.compile(
            r"\b(?:[Hh]e|[Ss]he|I)(?:'s| is|'m| am| (?:just )?turned| turns) (?:only |now |already |almost )?"
            r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?= and\b|[,.;!]|$)"
            r"|\b(?:I'm|I am) [A-Z][\w-]+, \d\d,|今年[0-9一二三四五六七八九十百]{1,4}(?=[，。,!！岁]|$)"
        ),
    ),
    (
        "home",
        re.compile(
            r"\b(?:rent|renting|share|sharing|let|sublet) (?:an?|the) (?:[a-z-]+ ){0,3}?"
            r"(?:room|studio|flat|apartment|house|bedsit|loft|attic|annexe|cottage)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "school",
        re.compile(
            r"\b(?:first|second|third|fourth|fifth|sixth|final|last) year (?:of|at) (?:(?:my|a|the) )?[A-Za-z]"
            r"|\b(?:doing|do|did|finished|finishing|started) (?:my|an?) (?:[a-z]+ )?(?:degree|phd"
            r"|doctorate|bachelor|master)",
            re.IGNORECASE,
        ),
    ),
    ("job", STATES_OCCUPATION),
    ("employer", EMPLOYED_BY),
    (
        "origin",
        re.compile(r"\bmoved (?:here|over|to (?:the )?[A-Z][\w-]+) from [A-Z]|从[\u4e00-\u9fff]{2,4}[搬过]过?来|来自"),
    ),
)
"""Topics that a text states beside what else it is about."""
_NAMES_NO_TOPIC = re.compile(
    r"(?:own|owns|owned|started|took up|took over|left(?! (?-i:[A-Z]))"
    r"|most|best|known|opens?|enters?|takes?|play(?:s|ed|ing)?"
    r"|(?<=\bto )work|(?:going|goes|go)(?! to (?:the |an? )?(?-i:[A-Z]))"
    r")\b"
    r"|开(?!的是)|去(?=[做干当学读])|一辆|辆|买了|交|出门|坚持",
    re.IGNORECASE,
)
"""Words with which a value of a topic is stated, and much else: alone they name none."""


_ASKS_OF_MINE = re.compile(r"^\W*(?!who\b)(?:what|when|where|which|how)\b.*\b(?:is|are) $", re.IGNORECASE)
""""What is my pension?" asks for no name, as "who is my boss?" does."""


def _topics() -> tuple[dict[str, frozenset[str]], frozenset[str], re.Pattern[str]]:
    """The topics of each word, the words that name things, and a pattern of the English words."""
    of: dict[str, set[str]] = {}
    things: set[str] = set()
    for (name, *star), *languages in lexicon.columns("topics"):
        for word in (word for words in languages for word in words):
            of.setdefault(word, set()).add(name)
            if star:
                things.add(word)
    pattern = re.compile(rf"\b({_by_initial(word for word in of if word.isascii())})s?\b", re.IGNORECASE)
    return {word: frozenset(names) for word, names in of.items()}, frozenset(things), pattern


def _by_initial(words: Iterable[str]) -> str:
    """A pattern of these words, the longest first; grouped, since Python tries each alternative at each word."""
    of: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(re.escape(word)), word)):
        of[word[0]].append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in of.items())


_TOPICS, _THINGS, _ENGLISH = _topics()
_BY_INITIAL: defaultdict[str, list[str]] = defaultdict(list)
"""The words of topics of two characters and more, by their first."""
for _word in _TOPICS:
    if len(_word) > 1:
        _BY_INITIAL[_word[0]].append(_word)
_HOUSE = re.compile("(?<=^[\u4e00-\u9fff]{2})家$")
"""The segmenter takes 晓雯家 for a name."""
_OF_QUESTIONS = frozenset(("时候", "地方"))
"""Words of questions that name no thing: 什么时候, 什么地方."""
_OF_BIRTHDAYS = re.compile(rf"\bbirthday (?={OF_BIRTHDAYS}\b)|生日(?={HAN_OF_BIRTHDAYS})", re.IGNORECASE)
_SHORT = 2
"""Characters of a Chinese word of which one may name the topic: 车 of 新车, not of 公交车司机."""


def matter_of(reading: Reading, subjects: Subjects, core: Core) -> Matter:
    """See `Matter`. `core`: what is left of the reading."""
    text = reading.text
    words = _words_of(text, subjects.about(reading).spans, chinese=reading.in_chinese)
    named = frozenset(
        name
        for name, start in core.places
        if not (_NAMES_NO_TOPIC.match(text, start) or (name == "name" and _ASKS_OF_MINE.search(text, 0, start)))
    )
    topics = named.union(*(_TOPICS[word] for word in words))
    alters = _ALTERS.search(text) is not None
    replaced = _OLD_ENDED.search(text) is not None
    changes = alters or replaced or core.changes
    holds = core.holds or (changes and _is_explained(text))
    things = frozenset(piece.stem for piece in core.words) - _OF_QUESTIONS | (words & _THINGS)
    persons = _persons(reading, subjects, things)
    called = _called(text, subjects.about(reading).spans)
    return Matter(
        persons,
        core.classes & SINGLE | (_ANY_THING if _I_AM.search(text) else frozenset()),
        bool(
            marks.OF_THE_PAST.search(text)
            or (core.of_old and not (core.marked or replaced or _COMPARED_WITH_OLD.search(text)))
        ),
        _with_stated(topics - _ANY_THING or topics, text, subjects.about(reading).spans)
        | (_ANY_THING if called else frozenset()),
        things,
        frozenset(thing for thing in things if any(_is_stem(thing, kind) for kind in words & _THINGS)),
        frozenset(_WAYS.get(word, word) for word in core.which) | (_BACK if returns(text) else frozenset()),
        frozenset(piece.stem for piece in core.numbers),
        holds,
        core.open,
        core.marked or (holds and (alters or replaced or (changes and not core.adds))),
        frozenset(kind for kind, pattern in WANTS.items() if pattern.search(text)),
        frozenset(kind for kind, pattern in GIVES.items() if pattern.search(text)),
        called,
    )


def _is_stem(stem: str, word: str) -> bool:
    """Whether a word may have this stem: "salary" has `salari`."""
    return word.startswith(stem) or (word.endswith("y") and f"{word[:-1]}i".startswith(stem))


def _is_explained(text: str) -> bool:
    """Whether a report only gives the reason of the speaker's own change: "I eat meat again, my doctor said so"."""
    first, comma, _ = text.replace("，", ",").partition(",")
    if not comma or is_reported(first) or not mentions_speaker(first):
        return False
    return bool(marks.CHANGES.search(first) or _ALTERS.search(first)) and not marks.LEAVES_OPEN.search(text)


def _with_stated(topics: frozenset[str], text: str, relations: tuple[tuple[int, int], ...]) -> frozenset[str]:
    """Adds what it states beside its own topics: "My wife Ida is a nurse" gives a name, too."""
    stated = frozenset(topic for topic, pattern in _STATES if pattern.search(text))
    if not topics:
        return stated - _ANY_THING | (_ANY_THING if _INTRODUCES.search(text) else frozenset())
    return topics | stated | (_ANY_THING if any(_NAME.search(text, *span) for span in relations) else frozenset())


def _persons(reading: Reading, subjects: Subjects, things: frozenset[str]) -> frozenset[str]:
    about, text = subjects.about(reading), reading.text
    whole = (name for name in about.persons if not _begins(name, things))
    persons = {_plain(_HOUSE.sub("", name)) for name in whole if _is_spoken_of(name, text)} - _ANAPHORS - _DAYS
    persons |= {name.lower() for name in _ASKED.findall(text) if name != "I" and "?" in text}
    if nouns_omitted := persons & _NTH_CHILD:
        persons = persons - nouns_omitted | _ANY_CHILD
    persons = {_RANKED.sub(".", name) for name in persons}
    for start, end in about.spans:  # my aunt Li Na: she is an aunt, too
        if reading.in_chinese or _NOT_MINE.search(text[start:end]):
            continue
        kin = {f"me.{KIN[word]}" for word in text[start:end].lower().split() if word in KIN}
        persons |= kin if any(name.startswith("me.") for name in persons) else set()
    for found in _QUALIFIED.finditer(text):
        name, where = (found["name"] or found["han"]), (found["where"] or found["han_where"])
        if found["name"] or found["han"] in persons:
            persons.add(f"{name.lower()}.{where}")
            if "me" in persons and not mentions_speaker(text.replace(found.group(), " ")):
                persons.remove("me")
    for found in _APPOSED.finditer(text):
        persons.add(found["name"].lower())
        if not mentions_speaker(text.replace(found.group(), " ")):
            persons.discard("me")
    if any("." not in name for name in persons - {"me"}):  # "Jo stays with his dad" is about Jo
        persons = {name for name in persons if name.partition(".")[0] not in _ANAPHORS}
    if "me" in persons and all(_COMPANION.search(text, 0, start) for start, _ in about.spans):
        persons = {name for name in persons if not name.startswith("me.")}
    if "me" in persons and len(persons) > 1 and not mentions_speaker(_OF_THEMSELVES.sub(" ", text)):
        persons = persons - {"me"}
    if "me" in persons and REPORTS.search(text):
        persons = persons - {"me"} | {"me.boss"}
    if pet := _PETS_OWN.search(text):
        persons.add(f"me.{pet[1].lower()}")
    if "me" in persons and "?" not in text:
        persons |= {f"me.{KIN[found['kin'] or found['han']]}" for found in _HAS.finditer(text)}
    return frozenset(persons)


def _called(text: str, relations: tuple[tuple[int, int], ...]) -> frozenset[tuple[str, str]]:
    """Relatives and pets, and the names that the text gives them, in lower case; of a Chinese full name also the given
    name.
    """
    found, ends = set(), {end for _, end in relations}
    for start, end in (*relations, *(pet.span() for pet in _OWN_PET.finditer(text))):
        if start in ends or _OF_A_RELATIVE.search(text, start, end):
            continue
        named = {word[1] for word in _KIN_WITHIN.finditer(text[start:end])}
        kin = next((KIN[word] for word in KIN if word in named), "")
        if kin and (name := _NAME.search(text, start, end)):
            found.add((f"me.{kin}", name.group().lower()))
        elif kin and (said := _CALLED.match(text, end)):
            found.add((f"me.{kin}", said["name"].lower()))
        elif kin and (called := _HAN_CALLED.match(text, end)):
            found |= {(f"me.{kin}", name) for name in _han_names(called)}
    found |= {(f"me.{KIN[named['kin']]}", named["name"].lower()) for named in _APPOSED_KIN.finditer(text)}
    for had in _HAS.finditer(text):
        person = f"me.{KIN[had['kin'] or had['han']]}"
        if had["name"]:
            found.add((person, had["name"].lower()))
        elif had["han"] and (called := _HAN_CALLED.match(text, had.end())):
            found |= {(person, name) for name in _han_names(called)}
    return frozenset(found)


def _han_names(called: re.Match[str]) -> frozenset[str]:
    """The name; of a Chinese full name also the given name."""
    name = (called["name"] or called["latin"]).lower()
    return frozenset((name,)) if name.isascii() else frozenset((name, name[-2:]))


def _begins(name: str, things: frozenset[str]) -> bool:
    """Whether a name is the beginning of a longer word: 萨尔 of 萨尔萨课."""
    return name[0] >= "\u4e00" and any(thing.startswith(name) and len(thing) > len(name) + 1 for thing in things)


def _is_spoken_of(name: str, text: str) -> bool:
    """False for a Chinese word that the segmenter takes for a name (过敏, 兰花): a word of a topic, or the last of a
    clause, where a statement has its value.
    """
    if name in _TOPICS:
        return False
    if name not in text or name[0] < "\u4e00" or "？" in text:
        return True
    following = (text[at + len(name) : at + len(name) + 1] for at in positions(text, name))
    return any(one.isalnum() or one == "_" for one in following)


def _words_of(text: str, persons: tuple[tuple[int, int], ...], *, chinese: bool) -> frozenset[str]:
    """The words of a text that name topics. Who is spoken of is no topic."""
    others = (found.span() for pattern in (_OF_BIRTHDAYS, IN_USE) for found in pattern.finditer(text))
    for start, end in (*persons, *others):
        text = text[:start] + " " * (end - start) + text[end:]
    if not chinese:
        return frozenset(found[1].lower() for found in _ENGLISH.finditer(text))
    words = {part for word, _ in knowing().tag(text) for part in _parts(word)}
    said = {word for first in set(text) & _BY_INITIAL.keys() for word in _BY_INITIAL[first] if word in text}
    return frozenset(words & _TOPICS.keys() | said)


def _parts(word: str) -> tuple[str, ...]:
    return (word, word[0], word[-1]) if len(word) <= _SHORT else (word,)


def _kin_of(word: str, otherwise: str) -> str:
    return KIN.get(word) or KIN.get(word.removesuffix("s"), otherwise)


def _plain(name: str) -> str:
    owner, dot, rest = name.partition(".")
    owner = _OTHER.get(owner, owner)
    kin = (_kin_of(part.split()[-1], part) for part in rest.split(".") if part)
    return ".".join((owner, *kin)) if dot and rest else owner
