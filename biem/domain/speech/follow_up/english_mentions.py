"""The persons, things and places that an English message mentions."""

import re

from biem.domain.speech.follow_up.dialogue import SHORT, Gender, Person
from biem.domain.text import late

_FEMALE = (
    "sister|mother|mum|mom|mummy|mommy|wife|daughter|aunt|auntie|grandmother|grandma|granny|gran|girlfriend|niece"
    "|fiancée|granddaughter|stepmother|stepdaughter|godmother|ex-wife|mother-in-law|sister-in-law|daughter-in-law"
    "|landlady|midwife|nan|sis"
)
_MALE = (
    "brother|father|dad|daddy|husband|son|uncle|grandfather|grandpa|granddad|boyfriend|nephew|grandson|stepfather"
    "|hubby|stepson|godfather|ex-husband|father-in-law|brother-in-law|son-in-law"
)
_ANY = (
    "cousin|boss|manager|colleague|coworker|co-worker|friend|roommate|flatmate|housemate|neighbou?r|partner|teacher"
    "|classmate|doctor|dentist|surgeon|therapist|physio|trainer|coach|landlord|tenant|lawyer|accountant|supervisor"
    "|plumber|electrician|cleaner|nanny|babysitter|tutor|mechanic|hairdresser|builder|painter|gardener|vet|client"
    "|intern|assistant|instructor|nurse|optician|solicitor|carpenter|roofer|baker|captain|skipper|guide|agent|mate|gp"
    "|dog|cat|puppy|kitten|rabbit|horse|baby"
)
_PLURAL = "parents|grandparents|kids|children|twins|boys|girls|siblings|neighbou?rs|friends|in-laws|colleagues"
_ROLE = rf"(?:{_FEMALE}|{_MALE}|{_ANY}|{_PLURAL})"
_BARE = "[Mm]um|[Mm]om|[Mm]ummy|[Mm]ommy|[Dd]ad|[Dd]addy|[Gg]randma|[Gg]randpa|[Gg]ranny|[Gg]ran|[Gg]randdad|[Nn]an"
_TITLE = r"(?:Dr|Doctor|Mr|Mrs|Ms|Miss|Prof|Professor|Aunt|Auntie|Uncle|Grandma|Grandpa|Coach)\.?"
_NO_NAME = (
    "January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday"
    "|Thursday|Friday|Saturday|Sunday|Christmas|Easter|New|English|German|French|Spanish|Italian|Chinese|Japanese"
    "|Hotel|Lake|Street|Road|Cafe|Café|School|University|Hospital|Station|Airport|WiFi|Wi"
    "|What|When|Where|Which|Who|Whose|Why|How|That|This|There|Here|It|He|She|They|We|You|Let|The|And|But|So|Then|Or"
    "|My|Our|His|Her|Their|Yes|No|Not|Is|Are|Was|Do|Does|Did|Has|Have|Can|Will|Today|Tomorrow|Tonight|Everyone|Someone"
    "|Nothing|Everything|All|One|Sure|Great|Nice|Good|Thanks|Please|Sorry|Dear|In|On|At|For|From|With|By|Near|Behind"
    "|Really|Seriously|Right|Correct|Pardon|Already|Only|Just|About|Maybe|Both|Every|Not|Next|Last|Poor|Oh|Ok|Okay|Well"
)
NAME = rf"(?!(?:{_NO_NAME}|{_BARE})\b)[A-Z][a-zà-ÿ]+(?:[A-Z][a-z]+)?"
"""A capitalised word that may name a person."""
OWNER = r"(?:my|our|your|his|her|their)"
_BEFORE_NAME = (
    *(
        "does",
        "do",
        "did",
        "is",
        "was",
        "has",
        "can",
        "can['’]t",
        "will",
        "should",
        "['’]s",
        "doesn['’]t",
        "are",
        "with",
    ),
    *(
        "of",
        "for",
        "by",
        "about",
        "see",
        "meet",
        "meeting",
        "seeing",
        "visiting",
        "call",
        "ask",
        "tell",
        "visit",
        "from",
        "to",
        "and",
        "that",
        "sent",
    ),
    *("give", "gave", "pay", "isn['’]t", "if", "when", "like"),
)
"""Words after which a capitalised word is a person, if a pronoun asks for one."""
_AFTER_WORD = "|".join(rf"(?<={word if word[0] == '[' else chr(92) + 'b' + word} )" for word in _BEFORE_NAME)
_PERSON = late(
    rf"\b(?P<kin>(?:(?i:{OWNER}|the|that)|(?P<owner>{NAME}|(?:{_BARE})|(?i:{OWNER}) {_ROLE})['’]s) (?:(?:older|elder"
    rf"|younger|big|little|best|old|new|former|eldest|oldest|youngest) )?(?P<role>{_ROLE})\b(?!['’]s {_ROLE}\b)"
    rf"(?! {NAME}['’]s)(?: {NAME})?)"
    rf"|\b(?P<bare>{_BARE})\b"
    rf"|\b(?P<titled>(?P<title>{_TITLE}) {NAME})"
    rf"|(?:{_AFTER_WORD})(?P<name>{NAME})"
    rf"|(?:^|(?<=[.!?] ))(?P<first>{NAME})(?=['’]s\b|,? and [A-Z]| (?:is|was|has|had|will|can|wants?|needs?|called"
    r"|wrote|texted|says|said|sent|asked|comes|invited|moved|got|just|rang|phoned|emailed|messaged|arrives|leaves"
    r"|left|starts|started|hates|loves|likes|lives|works|plays|thinks)\b)"
    rf"|\b(?P<owning>{NAME})(?=['’]s\b)"
)
_GROUPS = ("kin", "bare", "titled", "name", "first", "owning")
_PAIR = late(rf"\b{NAME} and {NAME}\b|\b(?i:{OWNER}) (?:{_PLURAL})\b|\b(?:the|{NAME}['’]s) (?:{_PLURAL})\b")
_TITLED: dict[str, Gender] = {
    **dict.fromkeys(("mr", "uncle", "grandpa"), "m"),
    **dict.fromkeys(("mrs", "ms", "miss", "aunt", "auntie", "grandma"), "f"),
}
_FEMALE_ROLE = late(rf"(?:{_FEMALE})", re.IGNORECASE)
_MALE_ROLE = late(rf"(?:{_MALE})", re.IGNORECASE)
_PLURAL_ROLE = late(rf"(?:{_PLURAL})", re.IGNORECASE)
_ASKS_WHO = late(rf"\bwho(?!se)(?:['’]s)?\b|\bname\b|\bcalled\b|\bwhich (?:{_ANY}|{_FEMALE}|{_MALE})\b", re.IGNORECASE)
_ONLY_NAME = late(rf"^\W*(?P<name>{NAME}(?: {NAME})?)\W*$")
_LEADING = late(r"^(?:My|Our|The|That|Your|His|Her|Their) ")

_PLACE = late(
    r"\b(?i:in|at|to|near|behind|above|on)(?: the)? (?:(?!January|February|March|April|May\b|June|July|August|September"
    r"|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Christmas|Easter)[A-Z][\w'’-]*"
    r"(?: [A-Z][\w'’-]*){0,3}|(?:hotel|gym|hospital|school|office|clinic|pool|cabin|lake)\b)"
)
_NOUN_END = (
    "(?:am|is|are|was|were|do|does|did|has|have|had|will|can|could|should|would|must|in|on|at|to|of|for|from|with|by|about"
    "|and|or|but|that|which|who|when|where|what|how|again|now|then|i|we|you|he|she|it|they|my|our|come|comes|coming|go"
    "|goes|going|start|starts|open|opens|close|closes|cost|costs|take|takes|leave|leaves|arrive|arrives|live|lives|work"
    "|works|get|gets|swim|play|plays|study|called|booked|being|be|not|also|still|ready|today|tomorrow|as|if|because"
    "|since|than|this|last|next|there|here|over|up|out|off|back|meet|meets|end|ends|begin|begins|happen|happens|due|take)"
)
_NOUNS = rf"(?:(?!{_NOUN_END}\b)[A-Za-zà-ÿ][\w’-]*)(?: (?!{_NOUN_END}\b)[A-Za-z0-9][\w’-]*){{0,2}}"
_DETERMINED = (
    rf"(?:(?i:{OWNER}) {_ROLE}['’]s|{NAME}['’]s|(?:{_BARE})['’]s|(?i:my|our|the|that|this|his|her|their|a|an))"
)
_PHRASE = late(
    rf"\b(?i:which|what) (?P<kind>(?!(?:time|day|days|date|kind|sort|one|else)\b){_NOUNS})(?= {_NOUN_END}\b)"
    rf"|(?P<aux>\b(?:do|does|did|will|can|could|should|would) )?\b(?P<noun>{_DETERMINED} {_NOUNS})"
)
_ATTRIBUTE = (
    "(?:name|number|price|code|date|colou?r|address|size|cost|time|rent|fee|day|password|brand|model|reason|phone|place|make"
    "|birthday|age|job|deadline|email|salary|surname)s?"
)
ATTRIBUTE = late(_ATTRIBUTE, re.IGNORECASE)
_HEAD = late(rf"^(?:the|its|that|my|our) {_ATTRIBUTE}$", re.IGNORECASE)
"""Asked of a thing, and no thing itself."""
_GENITIVE = late("['’]s? ")
_OWNED = late(r"(?:my|our)\b", re.IGNORECASE)
_ARTICLE = late(r"^an? ", re.IGNORECASE)
_WHERE_TO = late(
    r"\b(?:in|to|at|for|of|on) (?:the )?(?:[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?:['’]s [a-z-]+)?|\bfor (?:my|our|the) [a-z]+"
)
_BARE_NOUN = late(r"^\W*(?:when|where|what time|how much)(?:['’]s| (?:is|are|was|were)) ([a-z]{3,})\W*$", re.IGNORECASE)


def persons_in(text: str) -> list[Person]:
    """The persons that a text names one by one, in order."""
    found = []
    for one in _PERSON.finditer(text):
        group = next(name for name in _GROUPS if one[name])
        role = one["role"] or one["bare"] or ""
        if _PLURAL_ROLE.fullmatch(role):
            continue
        gender: Gender = "f" if _FEMALE_ROLE.fullmatch(role) else "m" if _MALE_ROLE.fullmatch(role) else ""
        if one["title"]:
            gender = _TITLED.get(one["title"].rstrip(".").lower(), "")
        found.append(Person(one[group], gender, one.start(group), one.end(group), one["owner"] or ""))
    return found


def several_in(text: str) -> str:
    """Several persons that a text names together: "my parents", "Nina and Carla"; empty without any."""
    found = _PAIR.search(text)
    return found[0] if found else ""


def thing_in(text: str) -> str:
    """The thing that a text is about: "the hotel in Paris" of "Which hotel did we book in Paris?"; empty if unknown."""
    for found in _PHRASE.finditer(text):
        thing = f"the {found['kind']}" if found["kind"] else found["noun"]
        words = thing.split()
        if found["aux"] and len(words) > 2:  # "does the plumber come": the last word is the verb
            thing = " ".join(words[:-1])
        thing = _ARTICLE.sub("the ", thing)
        if _HEAD.match(thing) or _GENITIVE.match(text, found.end()):
            continue
        where = _WHERE_TO.search(text, found.end())
        return f"{thing} {where[0]}" if where else thing
    if noun := _BARE_NOUN.match(text):
        return noun[1]
    where = _WHERE_TO.search(text)
    return where[0].split(" ", 1)[1] if where else ""


def names_before(text: str, place: int, *, person: bool) -> bool:
    """Whether what a pronoun at this place means stands before it: "Does the lock close when it rains?".

    `person`: for she and he, which mean a person: "What does the Swiss relative get from her parents?".
    """
    return any(
        one["noun"]
        and one.start("noun") < place
        and not _HEAD.match(one["noun"])
        and not (person and _OWNED.match(one["noun"]))
        for one in _PHRASE.finditer(text)
    )


def place_in(text: str) -> str:
    """The place that a text names, with its preposition: "in Halden"; empty without one."""
    found = _PLACE.search(text)
    return re.sub(r"^to\b", "in", found[0][0].lower() + found[0][1:]) if found else ""


def answer_in(reply: str) -> str:
    """The name that a reply consists of; empty if it says more."""
    only = _ONLY_NAME.match(reply) if len(reply) <= SHORT else None
    return only["name"] if only else ""


def asks_who(text: str) -> bool:
    """Whether a name is the answer."""
    return _ASKS_WHO.search(text) is not None


def within(name: str) -> str:
    """A name as it stands within a sentence: "My sister" as "my sister"."""
    return _LEADING.sub(lambda found: found[0].lower(), name)
