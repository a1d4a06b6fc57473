"""English follow-up questions in full: "And my sister's?", "Where does she live?", "How much per night?"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from biem.domain.speech.follow_up import mentioned
from biem.domain.speech.follow_up.dialogue import Gender, Meant, Person, Round
from biem.domain.speech.follow_up.english_mentions import ATTRIBUTE, NAME, OWNER, names_before, persons_in, thing_in
from biem.domain.text import late

_ASKS = late(
    r"\?\W*$|^\W*(?:(?:and|so|but|oh|ok|okay)\b\W*)*(?:(?:what|where|when|who|whose|which|why|how)(?:['’]s)? [^.!]*$"
    r"|(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should)"
    r" (?:she|he|it|they|there|her|his|its|their)\b"
    r"|(?:please )?(?:tell|remind) me (?:wh|how)[^.!]*$)",
    re.IGNORECASE,
)
_FILLER = r"(?:oh|ok|okay|right|great|good|thanks|cool|fine|yes|yeah|alright|well|ah|hm+)\b[\s,]*"
_CONJUNCTION = late(rf"^\W*(?:(?:and|so|but|or|then|also)\b[\s,]*|{_FILLER})+", re.IGNORECASE)
_FEMININE, _PLURAL = late("she|hers?", re.IGNORECASE), late("they|them|theirs?", re.IGNORECASE)
_PRONOUN = late(r"\b(?P<pronoun>she|he|hers?|his|him|they|them|theirs?)\b(?P<is>['’](?:s|ll|d|re))?", re.IGNORECASE)
_OBJECT_AFTER = late(
    r"\W*(?:$|[?.!,;]|(?:again|now|then|today|tomorrow|tonight|on|in|at|for|with|by|to|from|about|when|if|and|or|after"
    r"|before|next|this|last|back|up|there|here)\b)",
    re.IGNORECASE,
)
"""What follows "her" where it is no possessive."""
_IT = late(r"\b(?P<it>it|its|their|that one|this one|that(?= again\b|\W*$))\b(?P<is>['’](?:s|ll))?", re.IGNORECASE)
_EXPLETIVE = late(
    r"\bit(?:['’]s| is| was| will)? (?:going to )?(?:rain|snow|late\b|cold\b|hot\b|dark\b|\d|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|true\b|possible\b|worth\b|safe\b|ok\b|okay\b|time\b|normal\b|that\b)"
    r"|, (?:is|was|does|did|has)(?:n['’]t)? it\b|\b(?:believe|imagine|guess|about|silly|funny|like|make|got) it\b"
    r"|\b(?:is|was|would|will|does) it (?:be )?(?:true|possible|worth|safe|ok|okay|better|make sense|rain|snow|normal"
    r"|take to|silly|funny|rude|odd|strange|fair|nice|good|bad|weird|wise|wrong|right)\b"
    r"|\b(?:what time|how late|what day|how cold|how warm) is it\b|\bhow(?: is|['’]s) it going\b",
    re.IGNORECASE,
)
"""Where "it" means nothing that was named."""
_THERE = late(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )\bthere\b(?!['’]| is\b| are\b| was\b)", re.IGNORECASE
)
_ELLIPSIS = late(
    rf"^\W*(?:{_FILLER})*(?P<leads>(?:and|or|but)(?: (?:what|how) about)?|(?:what|how) about)?\s*"
    r"(?P<rest>[^,.!?]{1,60}?)(?: too| as well)?\s*(?P<asks>\?)?\W*$",
    re.IGNORECASE,
)
_CONNECTED = late(rf"^\W*(?:{_FILLER})*(?:and|or|but|what about|how about)\b", re.IGNORECASE)
_VERBS = late(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must|what|where|when|who|which"
    r"|why|how|if|i|we|you|tell|show|give|find|remind|please)\b|n['’]t\b",
    re.IGNORECASE,
)
_BEFORE_THAT = late(r"^(?:before|before (?:that|then)|earlier|originally)$", re.IGNORECASE)
_INDEFINITE = late(r"^(?:an?|some|any|another|no|more)\b", re.IGNORECASE)
_OWNED = late(r"^.{1,40}['’]s$")
_TIME = (
    r"(?:(?:on |this |next |last |coming )*(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|tonight"
    r"|(?:(?:this|next|last|in the|the) )(?:morning|afternoon|evening|weekend|week|month|year|spring|summer|autumn"
    r"|winter)"
    r"|(?:in )?(?:January|February|March|April|June|July|August|September|October|November|December)"
    r"|(?:on |at |the )*\d{1,2}(?:st|nd|rd|th|am|pm|:\d\d)?)"
)
_TIMES, _ONLY_TIME = late(rf"\b{_TIME}\b", re.IGNORECASE), late(rf"^{_TIME}$", re.IGNORECASE)
_LED = late(r"^(?P<word>of|for|with|in|at|to|from|on)\s+(?P<rest>.+)$", re.IGNORECASE)
_OWNER_ASKED = late(rf"(?:\b(?i:{OWNER}|the) (?:[a-z-]+ ){{0,2}}?[\w-]+|\b{NAME}(?: {NAME})?)['’]s(?= )")
_DETERMINED = late(rf"(?:{OWNER}|the|that|this|.+['’]s)\b", re.IGNORECASE)
_TOWARDS = late(r"\b(?:to|from|in|at) $")
_ASKS_WHEN = late(r"\W*(?:where|when|what time)\b", re.IGNORECASE)
_MINE = late(r"\b(?:my|our)\b", re.IGNORECASE)
_LONGEST = 100
_LIGHT = frozenset(
    re.findall(
        "[a-z]+",
        "what when where who whom how which why much many long often far soon early late big large old time times "
        "day days date is are was were be been am do does did has have had will would can could should shall may "
        "might must s re ll ve d i we you they them us me it one ones there that this these those the a an of in "
        "on at to by for from with up out off over back about per each every night week month year hour person "
        "people head piece leave leaving go going get getting come coming start starting begin end finish arrive "
        "arriving return open close cost costs pay paid charge owe take takes took last ready done due again now "
        "then still exactly altogether total and or so but ok okay please happen happens meet home price need "
        "bring know everything all left else other more since ago fly land check book booked reach call called fit ",
    )
)
"""Words of a question that names nothing."""
_WORDS, _MOST_WORDS = late(r"[a-zà-ÿ]+|\d+", re.IGNORECASE), 9
_KIND_ALONE = late(r"^\W*(?:which|what) [a-z]+\W*$", re.IGNORECASE)
"""Asks for a kind of thing, and says no more: "Which terminal?"."""
_OWN_STATE = late(r"\b(?:am i|do i have|have i|i have|i had)\b", re.IGNORECASE)
"""Asks for the user himself: "How old am I?"."""
_ADJUNCT = late(
    r"^(?:about|at|by|for|from|in|on|since|to|until|with) (?:how (?:long|much|many)|what|when|where|which|whom?)\W*$",
    re.IGNORECASE,
)
"""Asks for a further part of the last question: "For how much?", "With whom?"."""
_PART = late(
    r"^(?:what|who|which|where|when|how (?!do|can|to\b|is|are|was)\w+|is there|are there"
    r"|(?:in|at|to|on|for|from|with|by) (?:what|which))\b",
    re.IGNORECASE,
)
"""Begins a question for a part of something."""
_NO_PART = late(
    r"\b(?:i|my|our|we|you|your|why|she|he|her|his|they|their)\b|(?<!there )\ban?\b"
    r"|\b(?:of|in|for|from|at|on|to) (?!what\b|which\b|it\b)\w|,",
    re.IGNORECASE,
)
"""Says whose part it is, or asks for something else."""
_MOST_UNASKED = 5
"""Words of "and my sister's" without a question mark."""
_MOST_CONTENT = 2
"""Words that tell something, of a question about "it": one of more is about what they name."""


def meant(message: str, rounds: Sequence[Round]) -> Meant:
    """The question in full; the message where it stands on its own."""
    as_it_is = Meant(message)
    ellipsis = _ELLIPSIS.match(message)
    if ellipsis is not None and not _VERBS.search(ellipsis["rest"]):
        brief = ellipsis["leads"] and message[-1] not in ".!" and len(message.split()) <= _MOST_UNASKED
        asks = ellipsis["asks"] or brief
        return _of_ellipsis(message, ellipsis["rest"].strip(), rounds) if asks else as_it_is
    if _ASKS.search(message) is None or len(message) > _LONGEST:
        return as_it_is
    text = _CONJUNCTION.sub("", message)
    text = text[:1].upper() + text[1:]
    if full := _with_persons(text, rounds):
        return Meant(_with_things(full, rounds) or full, pronoun=True)
    if any(not one.name.lower().startswith("the ") for one in persons_in(text)):
        return as_it_is
    if full := _with_things(text, rounds):
        return Meant(full, sure=False)
    if _ADJUNCT.match(text):
        return Meant(f"{rounds[-1].said.rstrip(' ?.!')}, {text[0].lower()}{text[1:]}", sure=False)
    stands = not _names_nothing(text)
    thing = mentioned.thing(rounds) if not stands or _names_a_part(text) else ""
    full = f"{text.rstrip(' ?.!')}, {thing}?"
    return Meant(full, "" if stands else thing, sure=False, stands=stands) if thing else as_it_is


def _with_persons(text: str, rounds: Sequence[Round]) -> str:
    """The text with the names of those whom its first pronoun means; empty if it is known of none, or names them."""
    first = _PRONOUN.search(text)
    if first is None or "," in text[: first.start()] or any(one.start < first.start() for one in persons_in(text)):
        return ""
    if names_before(text, first.start(), person=True):
        return ""
    plural = _PLURAL.fullmatch(first["pronoun"]) is not None
    gender: Gender = "f" if _FEMININE.fullmatch(first["pronoun"]) else "m"
    name = mentioned.several(rounds) if plural else mentioned.person(rounds, gender)
    if not name:
        return ""

    def put(found: "re.Match[str]") -> str:
        word = found["pronoun"].lower()
        if (_PLURAL.fullmatch(word) is not None) != plural or (_FEMININE.fullmatch(word) is not None) != (
            gender == "f"
        ):
            return found[0]
        if word == "her":
            owns = _OBJECT_AFTER.match(text, found.end("pronoun")) is None
        else:
            owns = word in ("his", "hers", "their", "theirs")
        genitive = ("’" if name.endswith("s") and plural else "'s") if owns else ""
        return f"{name}{genitive}{found['is'] or ''}"

    full = _PRONOUN.sub(put, text)
    return full[:1].upper() + full[1:]


def _with_things(text: str, rounds: Sequence[Round]) -> str:
    """The text with it, that one or there replaced; empty if nothing is known to stand for them."""
    content = [word for word in _WORDS.findall(re.sub("n['’]t", "", text.lower())) if word not in _LIGHT]
    if _EXPLETIVE.search(text) or len(content) > _MOST_CONTENT or "," in text:
        return ""
    full = text
    if (there := _THERE.search(full)) is not None and (place := mentioned.place(rounds)):
        full = f"{full[: there.start()]}{place}{full[there.end() :]}"
    it = _IT.search(full)
    if it is not None and not names_before(full, it.start(), person=False) and (thing := mentioned.thing(rounds)):
        known = thing if _DETERMINED.match(thing) or thing[0].isupper() else f"the {thing}"
        genitive = "'s" if it["it"].lower() in ("its", "their") else ""
        full = f"{full[: it.start()]}{known}{genitive}{it['is'] or ''}{full[it.end() :]}"
    return full[:1].upper() + full[1:] if full != text else ""


def _names_nothing(text: str) -> bool:
    """Whether a question names nothing: "How much per night?", "When do we leave?"."""
    words = _WORDS.findall(re.sub("n['’]t", "", text.lower()))
    if not 0 < len(words) <= _MOST_WORDS or _OWN_STATE.search(text) or _EXPLETIVE.search(text):
        return False
    return all(word in _LIGHT for word in words) or _KIND_ALONE.match(text) is not None


def _names_a_part(text: str) -> bool:
    """Whether a question names a part of something, and not of what: "What's the address?", "Who sings?"."""
    content = [word for word in _WORDS.findall(text.lower()) if word not in _LIGHT]
    if not 0 < len(content) <= _MOST_CONTENT or _PART.match(text) is None:
        return False
    return not (_NO_PART.search(text) or _EXPLETIVE.search(text) or re.search(rf" {NAME}\b", text))


def _of_ellipsis(message: str, rest: str, rounds: Sequence[Round]) -> Meant:
    """ "And my sister's?" after "When is my brother's birthday?" asks for my sister's birthday."""
    as_it_is, last, connected = Meant(message), rounds[-1].said, _CONNECTED.match(message) is not None
    named = _with_persons(rest, rounds)
    rest = named[:1].lower() + named[1:] if named[:3] in ("My ", "Our") else named or rest
    if _BEFORE_THAT.match(rest):
        return Meant(f"{last.rstrip(' ?.!')} before?")
    if _ONLY_TIME.match(rest):
        return Meant(_put(rest, _TIMES.search(last), last) or f"{last.rstrip(' ?.!')} {rest}?")
    if _OWNED.match(rest):
        return Meant(_put(rest, _OWNER_ASKED.search(last), last) or message)
    if led := _LED.match(rest):
        former = re.search(rf"\b{led['word']} (?:(?:{OWNER}|the) )?[\w'’-]+", last, re.IGNORECASE)
        return Meant(_put(rest, former, last) or message, sure=False)
    persons = [one for one in persons_in(last) if not _TOWARDS.search(last[: one.start])]
    attribute = ATTRIBUTE.fullmatch(rest) is not None
    if _is_person(rest) and not attribute:
        return Meant(f"{last[: persons[0].start]}{rest}{last[persons[0].end :]}") if persons else as_it_is
    if named:
        return Meant(f"{named}?")
    owned = (_DETERMINED.match(rest) and not rest.lower().startswith("the ")) or _MINE.search(rest)
    says = attribute or (len(rest.split()) > 1 and not set(_WORDS.findall(rest.lower())) <= _LIGHT)
    if "?" not in message or _INDEFINITE.match(rest) or owned or not says:
        return as_it_is
    full = _of_part(rest if connected else rest[:1].lower() + rest[1:], persons, rounds)
    return replace(full, about="", stands=True) if full.text and not connected else full if full.text else as_it_is


def _of_part(rest: str, persons: Sequence[Person], rounds: Sequence[Round]) -> Meant:
    """A part or an attribute, of the person or thing that was asked for last; an empty text without any."""
    last = rounds[-1].said
    asked = re.sub("^the ", "", rest)
    if persons:
        return Meant(f"{persons[0].owner or persons[0].name}'s {asked}?", sure=False)
    asked_last, thing = thing_in(last), mentioned.thing(rounds)
    if asked_last and asked_last in last and _ASKS_WHEN.match(last):
        return Meant(last.replace(asked_last, rest, 1), sure=False)
    return Meant(f"The {asked} of {thing}?" if thing else "", thing, sure=False)


def _put(rest: str, former: "re.Match[str] | None", last: str) -> str:
    """The last question with this in place of what it had; empty if it had nothing."""
    return f"{last[: former.start()]}{rest}{last[former.end() :]}" if former else ""


def _is_person(rest: str) -> bool:
    """Whether it is the name of one person, and no more."""
    found = persons_in(rest)
    return re.fullmatch(NAME, rest) is not None or (bool(found) and (found[0].start, found[0].end) == (0, len(rest)))
