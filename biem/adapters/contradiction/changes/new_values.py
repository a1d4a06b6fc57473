"""English clauses that tell a new number, name or place of the thing of an older statement: "subs are up to 45"."""

import re
from collections.abc import Sequence

from biem.adapters.contradiction.changes.clause_words import ClauseWords, OlderWords
from biem.adapters.contradiction.changes.frames import ON_ONE_DAY
from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.number_kinds import NO_UNITS, is_difference, kind_of
from biem.adapters.contradiction.values.other_quantities import is_another_quantity

_VERBS = (
    r"(?:moved?|put|pushed|brought|shifted|slipped|changed|switched|went|gone|raised|lowered|cut|dropped|bumped|upped"
    r"|increased|reduced|extended|shortened|turned|knocked|voted|rescheduled|postponed|delayed|rebooked|re-?set|talked"
    r"|doubled|halved|trimmed|crept|risen|rose|fallen|fell|climbed|grown|grew|down|up|taken|took|rearranged|adjusted"
    r"|capped|set|jumped|dipped|refinanced|rise|raise|gave|revised|corrected)"
)
CHANGED = re.compile(rf"\b(?:{_VERBS}|rang|called|phoned|wrote|emailed|texted|messaged)\b", re.IGNORECASE)
"""A change, or a person who may tell of one, before the clause of the new number."""
_AT = r"(?:to|at|until|till|from|for) "
_NEAR = r"(?:(?:the|a|an|about|around|only|just|roughly|now) )*[$€£¥]?$"
_SHIFTED = re.compile(rf"\b{_VERBS}\b.{{0,60}}?\b{_AT}{_NEAR}", re.IGNORECASE)
"""A completed change up to the new number."""
_AND_IS = re.compile(
    rf"\b{_VERBS}\b.{{0,60}}, (?:so )?(?:it|they|that|which|we|she|he)(?: is| are| will be| gets?| pays?"
    rf"|['’]s)(?: (?:{_AT}|on ))?(?: )?{_NEAR}",
    re.IGNORECASE,
)
"""A completed change, and the new number in the next clause."""
_NOW = re.compile(
    r"\b(?:now|these days|nowadays|from now on|from today|as of \w+|going forward|from here on)\b", re.IGNORECASE
)
_IS_NOW = re.compile(
    r"\b(?P<verb>is|are|costs?|gets?|pays?|stops?|starts?|opens?|closes?|shuts?|begins?|runs?|leaves?|ends?|goes"
    r"|weighs?|charges?|takes?|kicks?"
    rf"|comes?|meets?|work|works|finish|finishes)(?: off| out| in| up| back)?(?: now)?(?: {_AT})?(?: )?{_NEAR}",
    re.IGNORECASE,
)
"""How it is now, up to the number."""
_COPULAS = frozenset(("is", "are", "get", "gets"))
_SENSES = (
    frozenset(("open", "opens", "start", "starts", "begin", "begins", "kicks", "run", "runs", "is")),
    frozenset(
        ("close", "closes", "shut", "shuts", "stop", "stops", "end", "ends", "finish", "finishes", "until", "till")
    ),
    frozenset(("cost", "costs", "is", "are", "charge", "charges", "pay", "pays", "for")),
    frozenset(("come", "comes", "meet", "meets", "leave", "leaves", "goes", "go")),
)
"""Verbs of one sense."""
_HUSK = re.compile(
    rf"\b(?:{_VERBS}|back|forward|over|good news|rang|called|phoned|wrote|emailed|texted|messaged|costs?|stops?"
    rf"|starts?|opens?|closes?"
    r"|shuts?|begins?|leaves?|ends?|weighs?|charges?|kicks?|comes?|meets?|pays?|finish(?:es)?|now|these days"
    r"|nowadays|drop|scales?)\b",
    re.IGNORECASE,
)
_NEAR_VERB = 4
"""Words of an older statement among which its thing is: "I keep my chisels …"."""
_DAYS = frozenset(("date", "weekday", "month", "nth"))
_NTH = re.compile(r"\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom (?:the )?[$€£¥]?$", re.IGNORECASE)
_NOT_DONE = re.compile(r"\b(?:by|not|almost|nearly|wanted|asked|if|used to)\b", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:(?:is|are|['’]s) (?:called|named)|(?:plays?|trades?|publish) as|name is|goes by)\b", re.IGNORECASE
)
_RENAMED = re.compile(
    r"\b(?:renamed|rebranded|rechristened|relabelled|relabeled|relaunched as|changed (?:our|the|its|their|my|his"
    r"|her)(?: \w+)? (?:name|handle)"
    r"|(?:new|different) name|new handle|(?:goes|go) by)\b",
    re.IGNORECASE,
)
_OF_US = re.compile(r"^(?:they|he|she)\b", re.IGNORECASE)
_PROPER = re.compile(r"[\"“'][^\"”']*[\"”']|\b[A-Z][\w&-]*|[@#][\w.-]+")
_NOW_CALLED = re.compile(
    r"^(?P<who>we|it|they|he|she|(?:the|our|my) .{2,40}?)(?: (?:is|are|am)"
    r"|['’]s) (?:the )?(?P<new>[\"“']?[A-Z].{1,40}?) (?:now|these days|from now on|from today|as of \w+)$"
)
_PLACED = re.compile(
    r"\b(?:is|are|['’]s|am|lives?|stands?|sits?|sleeps?|meets?|practi[sc]es?|rehearses?|plays?|stays?|hangs?|kept"
    r"|stored|based|held|keep|keeps|store|park|do|does|leave|goes?|go)\b.*\b(?:in|on|at|under|behind|by|next to|beside"
    r"|near|over|above|below|down|upstairs|downstairs"
    r"|against|outside|inside|to)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"^(?P<who>.{0,30}?)\b(?:moved|shifted|relocated|switched|carried|wheeled|transferred|rehoused"
    r"|dragged)\b(?P<obj>.{0,40}?)"
    r"(?: back| over| down| up| out| across)*(?: (?:to|into|onto|in|under|on|upstairs|downstairs)\b)(?P<new>.*)$",
    re.IGNORECASE,
)


def renumbers(words: ClauseWords, old: OlderWords, older: Core, newer: Core, clause: str, before: str) -> bool:
    """Whether a clause, with its core, tells that the number of the older was changed to another of the same kind."""
    had = _kinds(older.text, [one for one in older.numbers if one.stem not in {n.stem for n in newer.numbers}])
    fresh = [one for one in newer.numbers if one.stem not in {n.stem for n in older.numbers}]
    if not had or not fresh or any(is_difference(newer, one) or _FROM.search(clause, 0, one.start) for one in fresh):
        return False
    told = clause[: min(one.start for one in fresh)]
    if _NOT_DONE.search(told) or ON_ONE_DAY.search(told):
        return False
    changed = _SHIFTED.search(told) or _AND_IS.search(told)
    if not changed and not (_NOW.search(clause) and _is_its_verb(_IS_NOW.search(told), old)):
        return False
    kinds = _kinds(clause, fresh)
    if not all(_replaces(kind, had) for kind in kinds) or is_another_quantity(older, newer, list(kinds)):
        return False
    if not words.is_placed(before, old, reasons=False):
        return False
    subject = _HUSK.split(told, maxsplit=1)[0].strip()
    strange = [one for one in words.strange(_HUSK.sub(" ", told), old) if not words.is_attribute(one)]
    if strange and words.may_change_it(subject):
        strange = [one for one in strange if one not in words.content(subject)]
    tail = _HUSK.sub(" ", clause[max(one.end for one in fresh) :])
    shared = [one for one in words.content(f"{told} {tail}") if one in old.known and not words.is_attribute(one)]
    return (
        not strange
        and bool(shared)
        and words.is_of_its_person(subject, before, old)
        and words.is_placed(tail, old, reasons=False)
        and words.names_subject(clause, subject, old, shared, "")
    )


def _is_its_verb(found: re.Match[str] | None, old: OlderWords) -> bool:
    """Whether the verb of a present number is that of the older, or one of the same sense."""
    if found is None:
        return False
    verb = found["verb"].lower()
    groups = [group for group in _SENSES if verb in group]
    said = {word.lower() for word in old.words}
    return verb in _COPULAS or verb in said or any(not group.isdisjoint(said) for group in groups)


def renames(words: ClauseWords, old: OlderWords, clause: str, before: str) -> bool:
    """Whether a clause tells that the thing of the older, which tells its name, has another one."""
    if _NAMED.search(old.text) is None:
        return False
    if old.person and old.people.isdisjoint(words.content(clause)) and not _OF_US.search(clause):
        return False
    called, renamed = _NOW_CALLED.match(clause), _RENAMED.search(clause)
    if called is not None:
        return not words.strange(called["who"], old) and not words.strange(before, old)
    if renamed is None:
        return False
    rest = f"{clause[: renamed.start()]} {_PROPER.sub(' ', clause[renamed.end() :])}"
    return not [one for one in words.strange(rest, old) if not words.is_attribute(one)]


def relocates(words: ClauseWords, old: OlderWords, clause: str, before: str) -> bool:
    """Whether a clause tells that the thing of the older, which tells its place, was moved to another one."""
    found = _MOVED.match(clause)
    if found is None or _PLACED.search(old.text) is None or old.person:
        return False
    thing = words.content(found["obj"]) or words.content(found["who"])
    if not thing or not set(thing) <= old.known or not words.strange(found["new"], old):
        return False
    who = found["who"] if words.content(found["obj"]) else ""
    if words.strange(who, old) and not words.may_change_it(who.strip()):
        return False
    return words.is_of_its_person(who, before, old) and words.place(thing, old) <= max(old.verb, _NEAR_VERB)


def _kinds(text: str, numbers: Sequence[Piece]) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for one in numbers:
        kind = "nth" if _NTH.match(text, one.start) else kind_of(one.stem)
        kinds.setdefault(kind, []).append(one.stem)
    return kinds


def _replaces(kind: str, had: dict[str, list[str]]) -> bool:
    """Whether the older has one number of this kind, a day for a day, an hour for an hour."""
    if kind in _DAYS:
        return not had.keys().isdisjoint(_DAYS)
    if kind == "time":
        return "time" in had
    if kind in NO_UNITS:
        return len(had.get(kind, ())) == 1
    others = [one for one in had if one not in NO_UNITS and one != "nth"]
    return len(others) == 1 and len(had[others[0]]) == 1 and (kind == others[0] or "" in (kind, others[0]))
