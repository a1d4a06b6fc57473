"""Which facts a life has, in which of its sessions they are stated and change, and its other messages."""

from dataclasses import dataclass
from random import Random

from benchmarks.lives.facts import Key
from benchmarks.lives.grammar import LANGS, Split, Value, kinds, templates, words

SESSIONS = 16
ALLUSIONS = ("reported", "hypo", "plan", "past", "joke", "deny")
OTHERS = ("birthday", "home", "employer", "job", "sport", "pet", "allergy", "diet", "car", "favourite")
"""Kinds of facts that other people have, too."""
_OWN = (
    *("birthday", "home", "employer", "sport", "allergy", "diet", "weight", "distance", "car", "order", "wish"),
    *("holiday", "promo", "trip", "pet", "relation", "code", "favourite"),
)
_IN_PAIRS = ("meeting", "flight", "appointment", "amount", "deadline")
"""Kinds of which the user has two: only the thing tells them apart."""
_OWN_TOLD, _PAIRS_TOLD, _OTHERS_TOLD = 14, 3, 3
_ALLUDED, _CHANGED, _CORRECTED, _ASKED = 14, 11, 5, 15
_BESIDE = {"small": 9, "task": 4, "courtesy": 7, "stranger": 4}
"""How often each occurs: small talk, requests, courtesies, questions about things never mentioned."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the user says in one session."""

    what: str
    """tell, change, correct, also, allusion, asked; without a matter small, task, courtesy, stranger."""
    key: Key | None = None
    brief: bool = False
    """Right after it he corrects himself, without saying of what he speaks."""


def outline(random: Random, split: Split) -> list[list[Event]]:
    """The messages of each session, in order."""
    sessions: list[list[Event]] = [[] for _ in range(SESSIONS)]
    told = [(key, random.randrange(SESSIONS - 5)) for key in _keys(random)]
    for key, session in told:
        sessions[session].append(Event("tell", key))
    _revise(sessions, told, random, split)
    for key, session in random.choices([one for one in told if one[0].possessor is None], k=_ALLUDED):
        sessions[random.randrange(session + 1, SESSIONS)].append(Event("allusion", key))
    for key, session in random.choices(told, k=_ASKED):
        sessions[random.randrange(session + 1, SESSIONS)].append(Event("asked", key))
    for what, count in _BESIDE.items():
        for _ in range(count):
            random.choice(sessions).append(Event(what))
    for events in sessions:
        random.shuffle(events)
    return sessions


def _revise(sessions: list[list[Event]], told: list[tuple[Key, int]], random: Random, split: Split) -> None:
    """Some facts change, a few of them twice; some are corrected, half of these at once; some get a second value."""
    changing = [key.id for key, _ in told if has(key, "change", split)]
    changed = set(random.sample(changing, min(_CHANGED, len(changing))))
    correcting = [key.id for key, _ in told if key.id not in changed and has(key, "correct", split)]
    corrected = set(random.sample(correcting, min(_CORRECTED, len(correcting))))
    for key, session in told:
        later = random.randrange(session + 1, SESSIONS - 1)
        if key.id in changed:
            sessions[later].append(Event("change", key))
            if random.random() < 0.2:
                sessions[random.randrange(later + 1, SESSIONS)].append(Event("change", key))
        elif key.id in corrected and random.random() < 0.5:
            sessions[session].remove(Event("tell", key))
            sessions[session].append(Event("tell", key, brief=True))
        elif key.id in corrected:
            sessions[later].append(Event("correct", key))
        elif has(key, "also", split) and random.random() < 0.5:
            sessions[later].append(Event("also", key))


def has(key: Key, field: str, split: Split) -> bool:
    """Whether there are surface forms of this field for this matter, in every language."""
    return all(templates(lang, key.kind, field_of(key, field), split) for lang in LANGS)


def field_of(key: Key, field: str) -> str:
    """The name of a field as it is for the possessor of this matter."""
    if key.possessor is None or field in ALLUSIONS:
        return field
    return "of" if field == "tell" else f"{field}_of"


def thing_of(kind: str, random: Random) -> Value | None:
    """What a fact of this kind is about, where that is more than its possessor."""
    things = kinds("en")[kind].things
    return random.choice(words(things)) if things and kind != "employer" else None


def _keys(random: Random) -> list[Key]:
    found = [Key(None, kind, thing_of(kind, random)) for kind in random.sample(_OWN, _OWN_TOLD)]
    for kind in random.sample(_IN_PAIRS, _PAIRS_TOLD):
        found += [Key(None, kind, thing) for thing in random.sample(words(kinds("en")[kind].things), 2)]
    for one in random.sample(words("kin"), _OTHERS_TOLD):
        kind = random.choice(OTHERS)
        found.append(Key(one, kind, thing_of(kind, random)))
    found.append(Key(random.choice(words("child")), "school", None))
    pair, kind = random.randrange(3), random.choice(("birthday", "home", "employer", "sport"))
    found += [Key(one, kind, None) for one in words("namesake")[2 * pair : 2 * pair + 2]]
    return found
