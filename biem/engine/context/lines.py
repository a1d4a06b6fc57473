"""The hits of a recall as lines that may be shown: what each is about, from the user's point of view."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from biem.domain.conflict import Matter
from biem.domain.node import Hit, Node
from biem.domain.retention import ASSISTANT
from biem.domain.speech.acts import asking_part, is_ironic, is_standing_order, is_statement
from biem.domain.speech.excerpt import excerpt
from biem.domain.speech.first_person import in_first_person
from biem.domain.text import is_han, late
from biem.domain.tokens import estimate_tokens
from biem.engine.context.persons import (
    asked_of_speaker,
    foreign_penalty,
    named_by,
    named_speakers,
    refers_back,
    result_of,
    seen_by_the_user,
    speakers_meant,
    without_receivers,
)
from biem.engine.query.question import asks_of_the_past, asks_what_was
from biem.ports import Analyzer
from biem.ports.contradiction import ContradictionRules

BRIEF = 25
"""Tokens up to which a text has a single subject."""
UNCHANGED = -1.5
"""Log-odds of a change, as most lines have them: with an embedder that gives none, and for a line without a vector."""
_READ = 500
"""Characters of a text that are searched for persons: a longer text is about many."""
BEGINNING = 2_000
"""Characters of a text that are searched for a supposition, hearsay or a quotation; its vector is about no more."""
_KEPT = 4_096
"""Texts of which is kept what kind of sentences they are: the lines of a user's blocks recur."""
_LONGEST_GUESS = 160
"""Characters of an assistant's message from which it is an answer, though it may also guess."""
_OF_DESCRIBED = 0.9
"""Share of the likeness of a message that one has which describes by a pronoun what that one names."""
_BY_WORDS = 0.5
"""Likeness, 0 to 1, of a part that has all words of the question."""
_OF_ANYTHING = frozenset({"name"})
"""Topics that say nothing of the subject."""
_HAN = late("[\u4e00-\u9fff]")
_SENTENCES = re.compile(r"[^.!?。！？\s](?:[^.!?。！？]|\.(?=\d))*[.!?。！？]*")
_TELLING = 3
"""Minimum index terms of a sentence that tells something."""
CLAUSES = re.compile(r"[,;:，；：。！？!?]\s*|\.\s+")
_SUPPOSES = late(
    r"^\W*(?:if(?! (?:you|any(?:one|body)|some(?:one|body)) (?:ever |still )?(?:needs?|wants?|ha(?:s|ve) to)\b)"
    r"|suppose|imagine|what if|perhaps|maybe|(?:i|we) (?:may|might|could))\b"
    r"|^\W*(?:(?:[今明后]年|[下这]个?[月周]|以后|将来|过几[年天])?(?:我们?)?(?:也许|可能|或许|说不定))|^\W*(?:假如"
    r"|如果|要是|假设)"
    r"|\bnot sure yet\b|还没(?:想好|定|确定)"
    r"|\b(?:i|we) heard (?:that\b|(?:\w+ ){1,3}(?:wants?|wanted|is|are|was|may|might|will|would|plans?)\b)"
    r"|\brumou?rs?\b|(?<!no )\bjok(?:ed|ing)\b"
    r"|\b(?:suggested|proposed) (?:that|to|moving|changing)\b"
    r"|(?<!\bi )(?<!\bwe )\bclaim(?:s|ed) (?:that|he|she|it|they|we|my|our|to be)\b|\bswears (?:my|our|it)\b"
    r"|\bthey(?:['’]re| are) (?:talking|thinking) (?:about|of)\b|\bon the radio\b"
    r"|\b(?:hopes?|believes?|thinks?|guess(?:es|ed)?) that\b(?!['’]s)"
    r"|听说(?![课读写])|据说|有人(?:建议|提议|说|传)|(?<![除并无])[非硬]说|(?<!以防)万一|新闻里?[讲说]|照这样|开玩笑|传言"
    r"|猜(?![拳谜灯])",
    re.IGNORECASE,
)
_GUESSES = late(
    r"\b(?:my guess|i(?:'d| would)? (?:guess|suppose|assume|imagine|bet|presume|reckon|suspect|expect|take it|say you)"
    r"|i(?:'m| am) guessing|if i had to guess|(?:may|might|could|must) (?:well )?be|you (?:seem|sound|look|appear)"
    r"|you(?:r \w+)? (?:may|might|must)(?! (?:try|want|visit|consider|check|like to|also)\b)"
    r"|(?:perhaps|maybe|probably|possibly|presumably|apparently)\b[^.!?]{0,40}\byour?|your?\b[^.!?]{0,40}"
    r"\b(?:perhaps|maybe|probably|possibly|presumably|apparently))\b"
    r"|猜|估计|我(?:想|看)[你您]|打赌|推测|[你您].{0,6}(?:可能|大概|也许|或许|似乎|好像|多半)|听起来|看来|看样子"
    r"|^\W*(?:也许|可能|大概|或许)",
    re.IGNORECASE,
)
"""Words with which an assistant guesses about the user. "You could visit …" is a suggestion."""
_A_LIVING = late(r"\b(?:for|mak(?:e|es|ing)|earn(?:s|ing)?) (?:a|my|our|your|his|her|their) living\b", re.IGNORECASE)
"""Asks for a job: its word is no word of homes."""
_BY_NAMES = frozenset({"name", "place"})
"""Kinds of values that are given by names."""
_NAMES = re.compile(r"(?<=[a-z] )[A-Z][\w-]+")
"""Names within a sentence."""
_QUOTES = late(
    '^["“‘\'「『][^"”’」』]+["”’\'」』]\\W{0,2}(?:\\w+\\W+){0,4}?(?:said|says|told|wrote)\\b'
    '|^["“‘\'「『].+["”’\'」』].{0,12}[说道]|^\\W*.{1,20}(?:\\b(?:said|says)\\b|(?<![别不要少再])说)\\s*[,:，：]?\\s*["“‘「『]',
    re.IGNORECASE,
)


@dataclass(slots=True)
class RatedLine:
    """A hit that may become a line of the block."""

    hit: Hit
    terms: frozenset[str]
    like: float
    """Likeness to the question."""
    matter: Matter
    """From the user's point of view: the user is `me`, even if the assistant says "you"."""
    foreign: float
    """Penalty for the persons it is about (`biem.engine.context.persons`)."""
    said: str = ""
    """The clauses of its text that have a word of the question; all of it where none or each has one."""
    owners: frozenset[str] = frozenset()
    """The persons of these clauses, as in `matter`."""
    supposed: bool = False
    """Whether it supposes, see `supposes`."""
    worth: float = 0.0
    """Log-odds that it is about what is asked; raised to those of a line that it succeeds."""
    answering: float = 0.0
    """The part of `worth` that vectors say of an answer. A successor may mention the matter in question in passing
    only, so that succession is read without it."""
    reading: float | None = None
    """Log-odds that it answers, read together with the question; None if it was not read."""


@dataclass(frozen=True, slots=True)
class LineQuestion:
    """The question that the lines are to answer."""

    text: str
    matter: Matter
    terms: frozenset[str]
    now: bool
    """Whether it asks about the present."""
    former: bool = False
    """Whether it explicitly asks for a former state."""
    aspect: frozenset[str] = frozenset()
    """Index terms that tell in other words what it asks for, if that is a listed aspect of life and no topic."""
    english: frozenset[str] = frozenset()
    """Things of the English texts among it and the hits; empty if all are in one script."""
    meanings: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The Chinese things in question with the English ones that they may mean."""
    personal: float = 0.0
    """Log-odds that memories can help with it; 0 if they are not known."""


class LineReader:
    """Reads hits as lines. Thread-safe."""

    def __init__(self, rules: ContradictionRules, analyzer: Analyzer) -> None:
        self._rules = rules
        self._analyzer = analyzer
        self._terms_of = analyzer.lexemes

    def question(self, text: str, hits: Sequence[Hit], personal: float = 0.0) -> LineQuestion:
        """A question with its subject. `personal`: log-odds that memories can help with it."""
        speakers = named_speakers(hits)
        text = asked_of_speaker(text, *speakers) if len(speakers) == 1 else in_first_person(text)
        texts = {text, *(hit.node.text for hit in hits)}
        latin = [one for one in texts if not is_han(one)]
        english: frozenset[str] = frozenset()
        if 0 < len(latin) < len(texts):
            english = english.union(*(self._rules.matter(one[:_READ]).things for one in latin))
        read = _A_LIVING.sub("job", text)
        matter = self._matter(read, english)
        chinese = [thing for thing in matter.things if english and _HAN.search(thing)]
        return LineQuestion(
            text,
            matter,
            frozenset(self._terms_of(read)),
            not asks_of_the_past(text),
            asks_what_was(text),
            self._analyzer.related(text) if matter.topics <= _OF_ANYTHING else frozenset(),
            english,
            {thing: self._analyzer.english([thing]) & english for thing in chinese},
            personal,
        )

    def _matter(self, text: str, english: frozenset[str]) -> Matter:
        """The subject of a text; the things of a Chinese one also in English, if `english` has them."""
        matter = self._rules.matter(text[:_READ])
        if not english or not is_han(text):
            return matter
        things, persons = (
            names | (self._analyzer.english(names) & english) for names in (matter.things, matter.persons)
        )
        return replace(matter, things=things, persons=persons)

    def lines(self, hits: Sequence[Hit], question: LineQuestion) -> list[RatedLine] | None:
        """The hits as lines, one for each passage; None if no hit has a likeness, so that the order of hits is kept.

        Rankings of the source designs have none, nor have recalls without an embedder.
        """
        if not any("likeness" in hit.why for hit in hits):
            return None
        asked, terms = question.matter, question.terms
        persons = asked.persons - {"you"}
        several = len(named_speakers(hits)) > 1  # then "I" may be anyone
        if not several:
            hits = [one for hit in hits for one in hit.passages or (hit,)]
        meant = speakers_meant(persons, hits)
        lines = []
        for hit, found in zip(hits, _likenesses(hits), strict=True):
            node, whole = hit.node, in_first_person(hit.node.text, fact=hit.node.kind != "event")
            part = self._part(whole, terms)
            like = found if part == whole else max(found, self._likeness(part, terms))
            foreign = 0.0
            terms_told = frozenset(self._terms_of(whole))
            told = seen_by_the_user(self._matter(part, question.english), node)
            told = self._settled(told, part)
            if (given := without_receivers(part)) != part:
                persons_told = seen_by_the_user(self._matter(given, question.english), node).persons
                kept = persons_told | (told.persons & asked.persons)
                told = replace(told, persons=kept)
            if _BY_NAMES & asked.wants & told.gives:
                told = replace(told, gives=told.gives - self._only_by_names(part, question))
            reports = node.source == ASSISTANT and hit.answers is not None
            if told.persons and told.topics and told.holds and not reports:  # whole without the question before it
                hit = replace(hit, answers=None)
            if hit.answers is not None:
                asking = asking_part(hit.answers.text)
                subject = self._matter(asking, question.english)
                told = _with_question(told, seen_by_the_user(subject, hit.answers))
                if subject.things:  # it names what a pronoun refers to
                    hit = replace(hit, refers_to=None)
                like = max(like, float(hit.why.get("asked_likeness", 0.0)))
                terms_told = terms_told.union(self._terms_of(asking))
            if hit.refers_to is not None:
                described = seen_by_the_user(self._matter(hit.refers_to.text, question.english), hit.refers_to)
                told = _with_described(told, described)
                like = max(like, _OF_DESCRIBED * float(hit.why.get("referred_likeness", 0.0)))
                terms_told = terms_told.union(self._terms_of(hit.refers_to.text))
            if hit.replaces is not None and estimate_tokens(part) <= BRIEF and not told.topics:
                former = seen_by_the_user(self._matter(hit.replaces.text, question.english), hit.replaces)
                told = replace(former, holds=told.holds, past=False, changes=True, gives=told.gives)
                like = max(like, float(hit.why.get("former_likeness", 0.0)))  # "I meant Linz": of what it corrects
            translated = is_han(node.text) != is_han(question.text)
            if translated:
                named_too = {thing for thing, words in question.meanings.items() if words & told.things}
                told = replace(told, things=told.things | named_too)
                terms_told |= told.things & question.terms
            by_name = named_by(told, node, meant) if meant else told
            if not several:
                told = by_name
                foreign = foreign_penalty(asked, question.text.lower(), told, part.lower(), translated=translated)
                if not foreign and asked.persons == {"me"} and told.persons > {"me"}:
                    foreign = self._penalty_of_clauses(question, part, translated=translated)
            elif by_name.persons != told.persons:  # the speaker is the subject
                by_name_asked = replace(asked, persons=frozenset(meant.values()))
                foreign = foreign_penalty(by_name_asked, question.text.lower(), by_name, part.lower(), translated=False)
            said, owners = self._asked_of(part, question, told.persons)
            lines.append(RatedLine(hit, terms_told, like, told, foreign, said, owners, supposes(node)))
        _know_by_name(lines, persons)
        return lines

    def _penalty_of_clauses(self, question: LineQuestion, part: str, *, translated: bool) -> float:
        """The penalty of the clauses about the topic of a question about the user, if all of them have one.

        "My wife's birthday is in May, I mixed it up" names the user, and tells nothing of the user's birthday.
        """
        asked, penalty = question.matter, 0.0
        for clause in CLAUSES.split(part):
            told = self._matter(clause, question.english)
            if asked.topics & told.topics or asked.things & told.things:
                penalty = foreign_penalty(asked, question.text.lower(), told, clause.lower(), translated=translated)
                if not penalty:
                    return 0.0
        return penalty

    def _asked_of(self, part: str, question: LineQuestion, persons: frozenset[str]) -> tuple[str, frozenset[str]]:
        """The clauses that have a word of the question, with their persons: "lunch is at two, the twins have football"
        is about the lunch.
        """
        result = result_of(part)
        if question.terms.isdisjoint(self._terms_of(result)):
            result = part  # "Kim is on holiday, so I open the shop" tells who is on holiday
        clauses = CLAUSES.split(result) if persons - {"me", "you"} else []
        asked = [clause for clause in clauses if not question.terms.isdisjoint(self._terms_of(clause))]
        if not asked or len(asked) == len(clauses) or not part.isascii():
            return part, persons
        said = ", ".join(asked)
        if refers_back(said):
            return part, persons
        return said, self._matter(said, question.english).persons & persons

    def _only_by_names(self, part: str, question: LineQuestion) -> frozenset[str]:
        """Kinds of values that it gives only by the names of the question: "Ada sings" tells no place of Ada."""
        names = _NAMES.findall(question.text)
        if not names:
            return frozenset()
        unnamed = re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", "they", part)
        return _BY_NAMES - self._matter(unnamed, question.english).gives

    def _settled(self, told: Matter, text: str) -> Matter:
        """The subject of a text whose first sentence that tells something is no supposition, wish or plan.

        Later ones may be: "The Fiesta is sold, I drive a Yaris now. How do I pair my phone?" decides something, and so
        does "They gave the account to Tom. Not sure why."
        """
        if told.holds and not told.open:
            return told
        result = result_of(text[:_READ])
        if result != text[:_READ] and not supposes_something(text):
            then = self._rules.matter(result)
            if then.holds and not then.open:  # "Ida wants to rest, so Ben does the books"
                return replace(told, open=False, holds=True)
        said = (one for one in _SENTENCES.findall(text[:_READ]) if one[-1] not in "?？" and is_statement(one))
        first = next((one for one in said if len(frozenset(self._terms_of(one))) >= _TELLING), text)
        settled = self._rules.matter(first)
        if first == text or settled.open or supposes_something(first):
            return told
        return replace(told, open=False, holds=told.holds or settled.holds)

    def _part(self, text: str, terms: frozenset[str]) -> str:
        """The sentences of a long text that have most of these terms; a shorter text itself."""
        return text if len(text) <= BEGINNING else excerpt(text, _READ, terms, self._terms_of)

    def _likeness(self, part: str, terms: frozenset[str]) -> float:
        """A likeness of the part of a long text by its words: the vector of the text is one of its beginning."""
        return _BY_WORDS * len(terms.intersection(self._terms_of(part))) / max(1, len(terms))


def _know_by_name(lines: Sequence[RatedLine], asked: frozenset[str]) -> None:
    """Lines about "Jonas" are about my brother, and the reverse, if one of the lines says that he is called Jonas."""
    called = {pair for line in lines for pair in line.matter.called}
    same = {name: person for person, name in called if person in asked}
    same.update((person, name) for person, name in called if name in asked)
    for line in lines:
        known = line.matter.persons | line.matter.things
        names = [name for name in same if name in known]
        if line.foreign and names:
            line.foreign = 0.0
            meant = frozenset(same[name] for name in names)
            line.matter, line.owners = replace(line.matter, persons=line.matter.persons | meant), line.owners | meant


def _with_question(told: Matter, asked: Matter) -> Matter:
    """The subject of a short answer together with the question that it answers."""
    return replace(
        told,
        persons=told.persons | asked.persons,
        attributes=told.attributes | asked.attributes,
        topics=told.topics | asked.topics,
        things=told.things | asked.things,
        kinds=told.kinds | asked.kinds,
        which=told.which | asked.which,
        gives=told.gives | asked.wants,
        holds=True,
    )


def _with_described(told: Matter, described: Matter) -> Matter:
    """The subject of a text that describes by a pronoun what another one names."""
    return replace(
        told,
        persons=told.persons | described.persons,
        topics=told.topics | described.topics,
        things=told.things | described.things,
        kinds=told.kinds | described.kinds,
        which=told.which | described.which,
    )


def _likenesses(hits: Sequence[Hit]) -> list[float]:
    """Likenesses of the hits; a hit without a vector gets the highest of the others."""
    found = [hit.why.get("likeness") for hit in hits]
    best = max((one for one in found if isinstance(one, float)), default=0.0)
    return [one if isinstance(one, float) else best for one in found]


def only_asks(node: Node) -> bool:
    return node.kind == "event" and not (_tells(node.text) if len(node.text) <= BEGINNING else _asserts(node.text))


def _asserts(text: str) -> bool:
    return is_statement(text) or is_standing_order(text)


_tells = lru_cache(_KEPT)(_asserts)


def supposes(node: Node) -> bool:
    """Whether its beginning is a supposition, hearsay, a quotation or irony, or a guess of the assistant's."""
    text = node.text[:BEGINNING]
    if node.source == ASSISTANT and len(text) <= _LONGEST_GUESS and _GUESSES.search(text):
        return True
    return supposes_something(text)


@lru_cache(_KEPT)
def supposes_something(text: str) -> bool:
    """Whether a text is a supposition, hearsay, a quotation or irony."""
    return is_ironic(text) or bool(_SUPPOSES.search(text) or _QUOTES.search(text))


def odds(score: float) -> float:
    """Log-odds of a score, which is clipped so that 0 and 1 stay finite."""
    share = min(max(score, 1e-6), 1.0 - 1e-6)
    return math.log(share / (1.0 - share))


def rare_share(holders: Counter[str], common: frozenset[str], terms: frozenset[str]) -> float:
    """The share of these terms that are common, weighed by their rarity among the lines; 0 without terms.

    `holders`: number of lines with each term.
    """
    return rarity(holders, common) / (rarity(holders, terms) or 1.0)


def rarity(holders: Counter[str], terms: frozenset[str]) -> float:
    """The sum of the rarities of these terms, each 1 / (1 + number of lines with it)."""
    return sum(1.0 / (1.0 + holders[term]) for term in terms)
