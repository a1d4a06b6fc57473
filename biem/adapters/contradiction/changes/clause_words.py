"""Words of English clauses, their subjects, and how texts are cut into clauses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from biem.adapters.contradiction.changes.frames import FILL, OF_PLANS, TIMES
from biem.adapters.contradiction.lexicon.relatives import KIN
from biem.adapters.contradiction.reading.reader import StatementReader

LONGEST_OLDER, LONGEST_CLAUSE = 140, 110
"""Maximum characters of a statement and a clause: longer ones tell of many things."""
_SPLIT = re.compile(
    r"[,.;:!?—–]+(?=\s|$)|\s[-–—]+\s|\s(?:and|but|so|because|since|while|after|as|though)\s(?=(?:mr|mrs|ms|dr|i|we|he"
    r"|she|it|they|my|our|the"
    r"|there|now|changed|moved|joined|started|switched|got|have|has|will|put|sold|dropped|goodbye)\b)",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"^(?:according to|rumou?r|apparently|supposedly|allegedly|word is|they say|i (?:heard|read)|[\w ]{1,24}\b(?:says"
    r"|said|reckons|claims"
    r"|told me|thinks)$)",
    re.IGNORECASE,
)
"""Before reported speech."""
_WORD = re.compile(r"[^\W_][\w'’.&-]*(?<![.'’&-])|[$€£]\d[\d.,]*")
_LEAD = re.compile(
    r"^(?P<why>by|after|because of|due to|as of|from|thanks to|following|since|in|on|at|for"
    r"|with) (?P<of>.{2,30}?) (?=(?:i|we|they|it|he|she|my|our|the)\b)",
    re.IGNORECASE,
)
"""When, where or why, before the subject."""
_WHERE = frozenset(("in", "on", "at", "for", "with"))
_AGENTS = re.compile(
    r"^(?:(?:the|my|our|new|good news) )*(?:doctors?|docs?|gp|surgeon|consultant|physio|dentist|school|council"
    r"|landlord|landlady|boss|manager|management|company|work|office|garage|club|team|airline|they|it|hr|facilities"
    r"|bank|coach|foundation|organi[sz]ers?|marketing|hospital|board|committee|agent|agency|shop|firm|client|insurer"
    r"|insurance|broker|builders?|kids|everyone|everybody|we all|headteacher|head|captain|admin|parents|teacher"
    r"|town|government|university|uni|college|agm|vote|publisher|editor"
    r"|neighbou?rs|supplier|venue|host|hotel)(?:['’]s| have| has| had| got| are| is)?(?: (?:just|now|finally|all))?$",
    re.IGNORECASE,
)
"""People and bodies that may change the user's affairs."""
_SPEAKER = re.compile(r"\b(?:i|we|me|us|i['’]m|i['’]ve|we['’]re|we['’]ve)\b", re.IGNORECASE)
_SINGULAR = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(?:at|in|on|for|of|from|to|by) (?:(?:the|my|our|his|her|their|a|an) )?(?P<where>[^\W\d_][\w'’-]*)",
    re.IGNORECASE,
)
_OF_WORK = frozenset(
    ("teacher", "boss", "manager", "colleague", "coworker", "neighbour", "neighbor", "friend", "partner", "roommate",
     "flatmate")
)  # fmt: skip
"""Relations that end."""
_REASON = ("for", "because", "as", "so", "in favo", "to ")
_VERBS = """
is are am was has have had can will do does run runs use uses go goes take takes live lives work works get gets
keep keeps play plays sing sings study studies teach teaches wear wears eat eats drink drinks drive drives
"""
_VERBS_OF_STATES = frozenset(_VERBS.split())


@dataclass(frozen=True, slots=True)
class OlderWords:
    """An older statement in words."""

    text: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    verb: int
    """Place of the word that ends its subject."""
    subject: frozenset[str]
    """Stems that name its subject; empty if that is the speaker."""
    people: frozenset[str]
    """Stems of the relatives and names in its subject."""
    own: bool
    """The subject is the speaker."""
    known: frozenset[str]
    """All stems."""

    @property
    def person(self) -> bool:
        """Whether its subject is, or belongs to, a relative or a person with a name."""
        return bool(self.people)


class ClauseWords:
    """Reads words of clauses. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._stem, self._is_empty, self._kin = reader.stem, reader.is_empty, reader.grammar["kin"]
        self._family = {reader.stem(word) for word in KIN if word not in _OF_WORK}
        self._fill = FILL | {reader.stem(word) for word in FILL}
        self._plans = [({reader.stem(word) for word in words}, needs) for words, needs in OF_PLANS]

    def told(self, text: str) -> OlderWords:
        """The words of an older statement."""
        words = tuple(found.group() for found in _WORD.finditer(text))
        stems = tuple(self._stem(re.sub(r"['’]s$", "", word)) for word in words)
        verb = next(
            (n for n, word in enumerate(words) if n and word.lower() in _VERBS_OF_STATES), min(2, len(words) - 1)
        )
        subject = frozenset(one for one in stems[:verb] if one not in self._fill)
        people = {one for one in subject if one in self._kin}
        for n, (word, one) in enumerate(zip(words[:verb], stems[:verb], strict=True)):
            owner = word.endswith(("'s", "’s")) or verb == 1
            if word[:1].isupper() and one in subject and (n or owner):
                people.add(one)
        own = _SPEAKER.search(" ".join(words[: verb + 1])) is not None
        return OlderWords(text, words, stems, verb, subject, frozenset(people), own, frozenset(stems))

    def clauses(self, text: str, old: OlderWords) -> Iterator[tuple[str, str, str]]:
        """The clauses of a text that are not about another place or event, each without its lead-in, with the text
        before and after it.
        """
        cuts = [(0, 0), *(found.span() for found in _SPLIT.finditer(text)), (len(text), len(text))]
        parts = [text[one[1] : other[0]].strip() for one, other in pairwise(cuts)]
        for n, clause in enumerate(parts):
            if "?" in text[slice(*cuts[n + 1])] or (n and _HEARSAY.search(parts[n - 1])):
                continue
            lead = _LEAD.match(clause)
            if lead is not None:
                if lead["why"].lower() in _WHERE and self.strange(lead["of"], old):
                    continue
                clause = clause[lead.end() :]
            if 0 < len(clause) <= LONGEST_CLAUSE:
                yield clause, " ".join(parts[:n]), " ".join(parts[n + 1 :])

    def content(self, text: str) -> list[str]:
        """Stems of the words that name something."""
        stems = (self._stem(re.sub(r"['’]s$", "", word)) for word in _WORD.findall(TIMES.sub(" ", text)))
        return [one for one in stems if one not in self._fill and not self._is_empty(one)]

    def strange(self, text: str, old: OlderWords) -> list[str]:
        """Stems of names that the older lacks."""
        return [one for one in self.content(text) if one not in old.known]

    def is_arranged(self, stem: str, old: OlderWords) -> bool:
        """Whether it only names the kind of arrangement in the older: the Lisbon trip."""
        return any(stem in nouns and needs.search(old.text) is not None for nouns, needs in self._plans)

    def is_attribute(self, stem: str) -> bool:
        """Whether it names an attribute that most things have: their day, name, price."""
        return stem in self._plans[-1][0]

    def may_change_it(self, who: str) -> bool:
        """Whether the subject has power over the user's affairs: "the council"."""
        return _AGENTS.match(who) is not None

    def is_of_its_person(self, who: str, before: str, old: OlderWords) -> bool:
        """Whether "he" or "she", if the subject, may be the person of the older."""
        return _SINGULAR.search(who) is None or not (old.own or self.strange(before, old))

    def is_family(self, old: OlderWords) -> bool:
        """Whether the subject is a relative, who stays one."""
        return any(one in self._family for one in old.subject)

    def names_subject(self, clause: str, who: str, old: OlderWords, former: Sequence[str], gap: str) -> bool:
        """Whether a clause is about the subject of the older: it names that, or a thing that is the speaker's."""
        said = frozenset(self.content(clause)) & old.subject
        if old.own:
            return True
        if old.person:
            return not old.people.isdisjoint(self.content(clause)) or _SINGULAR.search(who) is not None
        if said or not old.subject:
            return True
        named = any(word[:1].isupper() for word in _WORD.findall(gap) if word.lower() not in self._fill)
        return named and self.place(former, old) >= old.verb

    def place(self, stems: Sequence[str], old: OlderWords) -> int:
        """The last place of these stems in the older; -1 if it has none."""
        return max((n for n, one in enumerate(old.stems) if one in stems), default=-1)

    def is_placed(self, tail: str, old: OlderWords, *, reasons: bool = True) -> bool:
        """Whether no phrase names another thing or place. `reasons`: "for …" may tell why."""
        tail = TIMES.sub(" ", tail).strip().lower()
        if reasons and tail.startswith(_REASON):
            return True
        stems = ((one["where"].lower(), self._stem(one["where"])) for one in _PLACED.finditer(tail))
        return all(stem in old.known or word in self._fill or self._is_empty(stem) for word, stem in stems)
