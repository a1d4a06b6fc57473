"""Whom a text speaks of, named alike in questions and answers, and the names that it gives them."""

import re

from biem.adapters.contradiction.lexicon.relatives import KIN
from biem.adapters.contradiction.reading.reader import Reading
from biem.adapters.contradiction.statements.core_persons import positions
from biem.adapters.contradiction.statements.occupations import REPORTS
from biem.adapters.contradiction.statements.topics import NAME, TOPICS
from biem.adapters.contradiction.subjects.relations import mentions_speaker
from biem.adapters.contradiction.subjects.subjects import Subjects

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
_OF_THEMSELVES = re.compile(
    r"\b(?:told|tells|texted|wrote to|said to) (?:me|us)(?:,| that)? (?:he|she|they|his|her|their)\b"
    r"|(?:[跟和对]我[说讲]|告诉我)[，,：:]?[他她]",
    re.IGNORECASE,
)
"""Other people tell the user of themselves."""
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
_HOUSE = re.compile("(?<=^[\u4e00-\u9fff]{2})家$")
"""The segmenter takes 晓雯家 for a name."""


def persons_of(reading: Reading, subjects: Subjects, things: frozenset[str]) -> frozenset[str]:
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


def called_in(text: str, relations: tuple[tuple[int, int], ...]) -> frozenset[tuple[str, str]]:
    """Relatives and pets, and the names that the text gives them, in lower case; of a Chinese full name also the given
    name.
    """
    found, ends = set(), {end for _, end in relations}
    for start, end in (*relations, *(pet.span() for pet in _OWN_PET.finditer(text))):
        if start in ends or _OF_A_RELATIVE.search(text, start, end):
            continue
        named = {word[1] for word in _KIN_WITHIN.finditer(text[start:end])}
        kin = next((KIN[word] for word in KIN if word in named), "")
        if kin and (name := NAME.search(text, start, end)):
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
    if name in TOPICS:
        return False
    if name not in text or name[0] < "\u4e00" or "？" in text:
        return True
    following = (text[at + len(name) : at + len(name) + 1] for at in positions(text, name))
    return any(one.isalnum() or one == "_" for one in following)


def _kin_of(word: str, otherwise: str) -> str:
    return KIN.get(word) or KIN.get(word.removesuffix("s"), otherwise)


def _plain(name: str) -> str:
    owner, dot, rest = name.partition(".")
    owner = _OTHER.get(owner, owner)
    kin = (_kin_of(part.split()[-1], part) for part in rest.split(".") if part)
    return ".".join((owner, *kin)) if dot and rest else owner
