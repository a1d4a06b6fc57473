"""English clauses that name a former value as ended: "I've left PureGym", "Jenkins has been switched off"."""

import re

from biem.adapters.contradiction.changes.clause_words import ClauseWords, OlderWords
from biem.adapters.contradiction.changes.frames import FRAMES, ON_ONE_DAY, TIMES, Frame

_OF_ANOTHER = re.compile(r"\b(?:his|her|hers|their)\b", re.IGNORECASE)
_PART = re.compile(
    r"\b(?:one|two|three|four|some|half|most|many|part|all but one) of\b|\ba (?:few|couple)\b", re.IGNORECASE
)
_FINITE = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|does|did|do|will|can|could|i|we|they|he|she|it)\b", re.IGNORECASE
)
_NAMES = re.compile(r"\b(?:called|(?:code-?)?named?|known as|goes by|as)\b", re.IGNORECASE)
_IS_SO = re.compile(
    r"^(?!.*\b(?:thought|weigh|consider|wonder|suggest|propos|recommend|should|could|tempted|fanc|quot|try|tried"
    r"|trying|test)\w*).*\b(?:now|nowadays|these days|now on|has|have|['’]s|is|are|am|wants?|going with|went with"
    r"|chose|will"
    r"|put|moved|swapped|switched)\b",
    re.IGNORECASE,
)
"""It has come about, or was decided."""
_LIKES = re.compile(r"\b(?<!would )(?:love|like|enjoy|adore|hate|dislike|prefer)s?\b", re.IGNORECASE)
_IS_PLANNED = re.compile(
    r"\b(?:going|having|booked|fly|playing|hosting|coming|meet|meeting|trip|holiday|party|wedding|concert|gig|gala"
    r"|course|class|match|exam|appointment|viewing|interview|visit|tickets?|game|lesson|dinner|lunch|race|marathon"
    r"|show|talk|tour|sale|fair|festival|session|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march"
    r"|april|may|june|july|august|september|october|november"
    r"|december|tonight|tomorrow|next|\d+(?:st|nd|rd|th)|(?:am|are|is|['’]m|['’]re|['’]s) [a-z]+ing)\b",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:is|are|['’]s) (?:my|our|the|on call)\b|\b(?:my|our|the) [\w' -]{2,40} (?:is|are|['’]s) |\b(?:works?|does|do"
    r"|runs?|trains?|coach(?:es)?|teach(?:es)?|cleans?|mows?|walks?|owns?|takes|sings?|plays?|sits|lives|rents|staying"
    r"|packing"
    r"|seeing|called)\b",
    re.IGNORECASE,
)
_FROM = re.compile(r"^\w+ from ", re.IGNORECASE)
_REFERS = re.compile(r"\b(?:that|this|those|these|it|them|one)\b", re.IGNORECASE)
_AUXILIARY = re.compile(r"^(?:is|are|was|were|has|have|does|do|can|will|also) ", re.IGNORECASE)


def ends(words: ClauseWords, old: OlderWords, clause: str, before: str) -> bool:
    """Whether a clause after the text `before` names a value of the older as ended, and nothing else."""
    for frame in FRAMES:
        found = frame.shape.match(clause)
        if found is None:
            continue
        gap = found["former"]
        if _PART.search(gap) or _FINITE.search(gap) or (_OF_ANOTHER.search(gap) and not _OF_ANOTHER.search(old.text)):
            continue
        if _REFERS.search(gap) and words.strange(before, old):
            continue
        former = [one for one in words.content(gap) if one in old.known or not words.is_arranged(one, old)]
        if not former or not set(former) <= old.known or (frame.of_one_day and ON_ONE_DAY.search(clause)):
            continue
        if frame.of_event and not _IS_PLANNED.search(old.text):
            continue
        if frame.of_role and not _ROLE.search(old.text):
            continue
        if (frame.naming and not _NAMES.search(old.text)) or (frame.new_before and not _IS_SO.search(clause)):
            continue
        tail = clause[found.end("former") :].replace(found.groupdict().get("new") or "\n", " ")
        if _is_about(words, frame, found, before, old, former) and (frame.of_role or words.is_placed(tail, old)):
            return True
    return False


def _is_about(
    words: ClauseWords, frame: Frame, found: re.Match[str], before: str, old: OlderWords, former: list[str]
) -> bool:
    """Whether the clause is about the person or thing of the older, of which it names the complement."""
    clause = found.string
    said = set(words.content(clause)) & old.known
    if frame.naming and words.place(former, old) < old.verb:
        return False
    if frame.whole:
        named = frame.of_role or not words.is_family(old)
        return not old.person or bool(old.people & said) or (named and words.place(former, old) >= old.verb)
    if frame.caused and _LIKES.search(old.text):
        return False
    who = TIMES.sub("", found["who"] or "").strip()
    others = said - set(former)
    strange = words.strange(who, old)
    if frame.new_before and _FROM.search(who) and words.strange(who.partition(" from ")[2], old):
        return False
    if frame.new_before and (words.place(former, old) > 0 or others):
        strange = []
    if strange and not (frame.caused and words.may_change_it(who)):
        return False
    if not words.is_of_its_person(who, before, old):
        return False
    if not who and _AUXILIARY.match(clause) and words.strange(before, old):
        return False
    shown = found.groupdict().get("obj") or ""
    if any(not words.is_attribute(one) for one in words.strange(shown, old)):
        return False
    return words.names_subject(clause, who, old, former, found["former"]) and (
        words.place(former, old) > 0 or bool(others)
    )
