"""Persons of English texts: relatives, people who serve or work with the speaker, names and pronouns."""

import re

from biem.adapters.contradiction.reading.reader import StatementReader
from biem.adapters.contradiction.subjects.relations import FIRST, KIN_NAMES, PETS, SAME, THIRD, Named

_KIN_CHAIN = re.compile(
    r"\b(?P<owner>(?i:my|our|his|her|their|your|the)|(?!(?:Here|There|That|What|Who|Where|When|How|It|He|She|Let)['’])[A-Z][\w-]+(?:\s[A-Z][\w-]+)?['’]s)\s"
    r"(?P<before>(?:(?:ex|old|older|elder|eldest|oldest|young|younger|youngest|middle|big|little|late|twin|best|other|former|new|good|dear|step|half"
    r"|great)[\s-]){0,2})(?P<kin>[a-z]+(?:[ -]in[ -]law)?)(?P<name>(?:\s(?!I\b)[A-Z][\w-]+){0,2})"
)
_FURTHER = re.compile(
    r"['’]s?\s(?:(?:older|elder|younger|eldest|oldest|youngest|middle|big|little|twin|best|new|ex|step)[\s-])?"
    r"(?P<kin>[a-z]+(?:-in-law)?)\b"
)
"""A relative of a relative: my wife's sister."""
_OF_A_PERSON = (
    "(?:phone|mobile|fax|account|licence|number|e-?mail|address|birthday|age|name|car|house|flat|home|wife|husband|salary"
    "|shoe)"
)
_ROLE_OWNER = re.compile(
    r"\b(?:my|our|the)\s(?:[a-z]+\s)?(?P<role>land(?:lady|lord)|tenant|lodger|dentist|doctor|nurse|coach|trainer|tutor|supervisor|mentor"
    r"|therapist|lawyer|accountant|assistant|secretary|cleaner|nanny|babysitter|childminder|gardener|driver|hairdresser|barber"
    r"|plumber|electrician|builder|caretaker|housemate|pal|client|customer|student|pupil|intern|apprentice|employee|trainee"
    rf"|teammate|guest|captain|owner|bandmate|buddy)(?:s?['’]s?\s(?:new\s|old\s)?(?={_OF_A_PERSON}\b)"
    rf"|(?=\s(?:has|got|has got|has changed|changed)\s(?:(?:a\s|her\s|his\s|their\s)?(?:new\s)?{_OF_A_PERSON}\b"
    r"|(?:a\snew|her|his|their)\s(?!appointment|time|slot|date|dose|plan|offer|price)[a-z])))",
    re.IGNORECASE,
)
_WHICH = re.compile(r"(?:other|former|new|good|dear|big|little|best)[\s-]|\s$")
"""Adjectives that do not distinguish persons."""
_ELDEST = re.compile(r"\b(?:elder|eldest|oldest)\b[\s-]?", re.IGNORECASE)
_YOUNGEST = re.compile(r"\byoungest\b[\s-]?", re.IGNORECASE)
_NO_ONE = "Everything|Something|Anything|Nothing|Everybody|Everyone|Somebody|Someone|Anybody|Anyone|Nobody"
"""Words in capitals that name no person: "Everything runs through the shop"."""
_ASKING = rf"(?!(?:What|Who|Whose|When|Where|Which|Why|How|That|This|It|He|She|There|Here|Let|{_NO_ONE})\b)"
_OWNED = re.compile(
    rf"\b(?P<name>{_ASKING}[A-Z][\w-]+(?:\s[A-Z][\w-]+)?)['’]s\b(?!\s(?:a|an|the|not|now|been|going)\b)"
)
_AT = re.compile(r"\b(?:at|in|to|from|near|behind|opposite)\s$", re.IGNORECASE)
"""Before an owner that only names a place: "at Paul's"."""
_ACTING = re.compile(
    r"^(?:(?:so|well|and|but|also|actually|now|update|correction|hey|oh|yes|no|fyi|btw)[,:]?\s+)*"
    r"(?P<name>(?!(?:I|The|A|An|My|Our|His|Her|Their|Your|This|That|It|He|She|We|They|You|There|Correction|Update"
    rf"|What|Who|Whose|When|Where|Which|Why|How|Here|Has|Have|Had|Is|Are|Was|Were|Do|Does|Did|{_NO_ONE})\b)"
    r"[A-Z][^\W\d_][\w-]*(?:\s[A-Z][^\W\d][\w-]*)?)\s"
    r"(?:(?:now|just|also|still|never|always|no longer|not anymore|not|recently)\s)?"
    r"(?:is|was|has|had|lives|works|likes|loves|hates|moved|plays|goes|wants|owns|drives|studies|teaches|got|left|joined"
    r"|started|quit|does|did|doesn't|didn't|isn't|can|can't|will|won't|takes|runs|eats|drinks|speaks|turned|changed|said|asked|told"
    r"|keeps|thinks|[a-z]{2,}ed(?! (?:my|our|me|us)\b))\b"
)
_ACTING_TOO = re.compile(
    r"(?:[,;]|\b(?:and|but|while))\s(?P<name>(?!(?:I|The|My|Our|He|She|It|We|They)\b)[A-Z][a-z]+)\s"
    r"(?:is|was|has|lives|works|plays|goes|studies|takes|does|gets|likes|eats|drinks|wears|drives|speaks)\b"
)
_ANAPHORS = frozenset(("he", "she", "they"))
_ALONE = re.compile(
    r"(?<!\bmy )(?<!\bour )(?<!\bhis )(?<!\bher )(?<!\btheir )(?<!['’]s )(?<!\b[Aa] )(?<!\bthe )\b"
    r"(?P<kin>(?i:mom|mum|mommy|mummy|mama|dad|daddy|papa|grandma|grandpa|granny|nana|auntie))\b"
)
"""Relations without an owner: the speaker's."""
_CHILD = re.compile(
    r"\b(?:my|our)\s(?P<which>eldest|oldest|youngest)(?=['’]s\b|\s(?:one|will|can|can't|got|won't|went|left|took|came|began|quit"
    r"|isn't|doesn't|(?!class|boss|dress)[a-z]{1,}(?:s|[^e]ed))\b"
    r"|\s[a-z]+\s(?:to|at|in|on|from|for|with)\?|\s?[.;!?]|$)",
    re.IGNORECASE,
)
"""Relations without a noun: my eldest."""
_TITLED = re.compile(
    r"\b(?P<kin>(?i:aunt|auntie|uncle|cousin|grandma|grandpa|granny|nana|grandmother|grandfather))\s"
    r"(?P<name>[A-Z][\w-]+)"
)
"""Aunt Vera: the speaker's."""
_OURS = {"my": "me", "our": "me", "the": ""}


class EnglishPersons:
    """Reads the persons of English texts. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._reader = reader
        self._kin = reader.grammar["kin"]
        self._people = self._kin - PETS

    def of(self, text: str) -> Named:
        """See `Named`."""
        persons: set[str] = set()
        words: set[str] = set()
        spans: list[tuple[int, int]] = []
        rest = text
        for found in _KIN_CHAIN.finditer(text):
            kin = found["kin"].partition("-in-")[0].partition(" in ")[0]
            if self._reader.stem(kin) not in self._kin and kin not in self._kin:
                if (further := _FURTHER.match(text, found.end())) and further["kin"] in self._people:
                    persons.add(f"{found['kin']}.{further['kin']}")  # the hero's brother
                continue
            owner = found["owner"].lower().removesuffix("'s").removesuffix("’s")
            whose = _OURS.get(owner, SAME.get(owner, owner))
            name = found["name"].strip().lower()
            which = _ELDEST.sub("older", _YOUNGEST.sub("younger", _WHICH.sub("", found["before"])))
            relation = found["kin"].replace(" in law", "-in-law")
            person = name or f"{which}{KIN_NAMES.get(relation, relation)}"
            end = found.end()
            if (further := _FURTHER.match(text, end)) and further["kin"].partition("-in-")[0] in self._people:
                person += f".{KIN_NAMES.get(further['kin'], further['kin'])}"
                end = further.end()
            persons.add(".".join(part for part in (whose, person) if part))
            named = {self._reader.stem(word) for word in re.findall(r"[\w-]+", text[found.start() : end])}
            words |= named
            if kin.lower() not in PETS:
                spans.append((found.start(), end))
            rest = rest.replace(text[found.start() : end], " ", 1)
        for found in _ROLE_OWNER.finditer(rest):
            persons.add(f"me.{found['role'].lower()}")
            words.add(self._reader.stem(found["role"]))
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _ROLE_OWNER.sub(" ", rest)
        for found in _CHILD.finditer(rest):
            persons.add("me.youngerchild" if found["which"].lower() == "youngest" else "me.olderchild")
            words.add(self._reader.stem(found["which"]))
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _CHILD.sub(" ", rest)
        for found in _TITLED.finditer(rest):
            persons.add(f"me.{found['name'].lower()}")
            words |= {self._reader.stem(word) for word in found.group().split()}
            spans.append((place := text.index(found.group()), place + len(found.group())))
        rest = _TITLED.sub(" ", rest)
        for found in _ALONE.finditer(rest):
            persons.add(f"me.{KIN_NAMES.get(found['kin'].lower(), found['kin'].lower())}")
            words.add(self._reader.stem(found["kin"]))
            spans.append(found.span())
        rest = _ALONE.sub(" ", rest)
        for pattern in (_OWNED, _ACTING):
            for found in pattern.finditer(rest):
                if pattern is not _OWNED or not _AT.search(rest, 0, found.start()):
                    persons.add(found["name"].lower())
                words |= {self._reader.stem(word) for word in found["name"].split()}
        if _ACTING.match(rest):  # "Ida is in form 3, Max is in form 5"
            for found in _ACTING_TOO.finditer(rest):
                persons.add(found["name"].lower())
                words.add(self._reader.stem(found["name"]))
        if FIRST.search(rest):
            persons.add("me")
        known = bool(persons - {"me", ""})
        for found in THIRD.finditer(rest):
            who = (found["who"] or "").lower()
            who = SAME.get(who, who)
            if not (known and who in _ANAPHORS):  # a person named before in the same statement
                persons.add(who)
        return persons - {""}, words, spans
