"""Whose matter a line is: the persons that it is about, compared with those of the question."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from biem.domain.conflict import Matter
from biem.domain.node import Hit, Node
from biem.domain.speech.first_person import in_first_person

FOREIGN, UNNAMED = 4.0, 1.0
"""Penalties of texts about other persons than the question, and of texts about no person if it names one: log-odds in
dialogues of several people, else compared only."""
_UNNAMED_SPEAKERS = frozenset(("", "user", "用户", "assistant"))
"""Speakers as `BIEMContextPlugin.complete` and transcripts call the one user and the assistant."""
PETS = frozenset(("dog", "cat"))
"""Relations (`me.cat`) of animals."""
_PASSED_ON = re.compile(r"\b(?:told|tells|wrote|texted|informed) (?:me|us)\b|[跟和对]我说|告诉我", re.IGNORECASE)
_KEPT = 512
ACTING = frozenset(("me.boss", "me.teacher"))
"""Persons who change matters of the user: "my teacher has moved the lesson"."""
_TO_ME = re.compile(
    r"\b(?:me|us|mine|ours)\b|\b(?:my|our)\b(?! (?:boss|manager|teacher|cat|dog)\b)"
    r"|我(?!们?(?:家的?[猫狗]|的?[猫狗]|老板|上司|领导|老师))",
    re.IGNORECASE,
)
"""The user, other than as the one who has a boss or teacher."""
_SAYS = r"(?: (?:said|says|wrote|mentioned|told (?:me|us))(?: that)?| (?:he|she|they)['’]s?)"
_STATE = (
    r"(?:(?:is|are|was|were)(?: not|n['’]t)?"
    r"(?! (?:moving|changing|taking over|replacing|away|off|ill|sick|on (?:leave|holiday|vacation))\b)"
    r"|ha(?:s|ve|d)(?! to\b)(?! (?:just |now |already )?[a-z]+(?:ed|en|ne) (?:the|my|our|it|us|me)\b)"
    r"|does(?: not|n['’]t)|no longer|lives?|works?|drives?|plays?"
    r"|eats?|drinks?|wears?|weighs?|earns?|pays?|likes?|loves?|hates?"
    r"|prefers?|studies|speaks?|rides?|owns?|takes?|goes|quit|gave up|moved to|switched (?:to|from)|changed jobs)\b"
)
_HAN_STATE = (
    "(?:[跟和对]我说|告诉我|说)?[，,：:]?[他她]?(?:现在|已经|最近|又|也|都|早就)*"
    "(?:不?再?[在有是住开养吃喝穿坐用当做学练]|不|戒|喜欢|爱|改[吃喝用开坐学练]|换了?[工手车房号]|搬)"
)
_RESULT = re.compile(
    r"^\W*(?:since|because|as|now that) [^,;.]+, (?P<then>.+)$"
    r"|[,;] (?:and )?(?:so|therefore|which is why|that['’]s why) (?!that\b|far\b)(?P<so>.+)$"
    r"|^(?P<first>.+?),? because \S.*$",
    re.IGNORECASE | re.DOTALL,
)
"""What follows from a reason given beside it: "Kim has the car that day, so we leave on Sunday"."""
_THIRD_PERSON = re.compile(r"\b(?:he|she|they|him|her|his|their|them)\b", re.IGNORECASE)
_RECEIVER = re.compile(
    r"(?P<gives>\b(?i:gave|given|sold|handed|passed|lent|donated)\b[^.,;!?]{0,40}?)"
    r" to (?!(?:me|us)\b)(?:(?:my|our|his|her|the|a) )?[A-Za-z][\w-]+"
    "|(?P<han>[送交卖让借转出捐过留])给了?(?!我)[\u4e00-\u9fff]{1,8}?(?=了|[，。！？,.!?]|$)"
    "|给(?!我)[\u4e00-\u9fff]{1,4}的(?=[，。！？,.!?]|$)"
)


def seen_by_the_user(told: Matter, node: Node) -> Matter:
    """The subject of a message with persons named as the user names them, without the assistant."""
    persons = told.persons
    if node.source == "assistant":  # it has no relatives: 您的朋友 is the user's friend, also where read as "my friend"
        swapped = {"me": "you", "you": "me"}
        names = (name.partition(".") for name in persons)
        persons = frozenset(
            f"me.{rest}" if dot and owner in swapped else f"{swapped.get(owner, owner)}{dot}{rest}"
            for owner, dot, rest in names
        )
    persons -= {"you"}
    return told if persons == told.persons else replace(told, persons=persons)


def without_receivers(text: str) -> str:
    """The text without those who are given something: "sold the bike to my cousin" is about no cousin."""
    return _RECEIVER.sub(lambda found: found["gives"] or found["han"] or "", text)


def is_named(node: Node) -> bool:
    """Whether it has a named speaker, other than the user and the assistant."""
    return node.source != "assistant" and node.speaker not in _UNNAMED_SPEAKERS


def named_speakers(hits: Sequence[Hit]) -> frozenset[str]:
    """The named speakers of these hits, other than the user and the assistant."""
    return frozenset(hit.node.speaker for hit in hits if is_named(hit.node))


def asked_of_speaker(text: str, speaker: str) -> str:
    """A question about the only named speaker or "the user" as he would ask it: "Where does Ann live?" is "Where do I
    live?".
    """
    for name in (speaker, *speaker.split()):
        if name in text:
            word = re.escape(name)
            said = re.sub(rf"\b{word}\b" if name.isascii() else word, "the user" if name.isascii() else "用户", text)
            if (read := in_first_person(said)) != said:
                return read
    return in_first_person(text)


def speakers_meant(asked: frozenset[str], hits: Sequence[Hit]) -> dict[str, str]:
    """The speakers whom the question names, each with the name that it has there."""
    speakers = {hit.node.speaker for hit in hits if hit.node.speaker}
    names = {name.partition(".")[0] for name in asked}
    found = {speaker: name for speaker in speakers for name in names if name in speaker.lower().split()}
    return found or _in_other_letters(names - {"me"}, hits)


def _in_other_letters(names: Collection[str], hits: Sequence[Hit]) -> dict[str, str]:
    """The only named speaker, where the question names one person in other letters than his, whom no text names: 李明
    may be Li Ming.
    """
    speakers = named_speakers(hits)
    if len(speakers) != 1 or len(names) != 1:
        return {}
    (speaker,), (name,) = speakers, names
    named = any(name in hit.node.text.lower() for hit in hits)
    return {} if named or name.isascii() == speaker.isascii() else {speaker: name}


def named_by(told: Matter, node: Node, meant: Mapping[str, str]) -> Matter:
    """The subject of a message with the speaker's name, as the question has it, in place of `me`."""
    if not node.speaker or node.source == "assistant":
        return told
    own = meant.get(node.speaker, node.speaker.lower())
    names = (name.partition(".") for name in told.persons)
    return replace(
        told, persons=frozenset(f"{own if owner == 'me' else owner}{dot}{rest}" for owner, dot, rest in names)
    )


def names_owner(text: str, told: frozenset[str], known: frozenset[str]) -> bool:
    """Whether a text about the persons `told` says whose the matter is: of a relative, or by a possessive.

    False if all of them are among those `known` to be of the matter.
    """
    others = told - known - {"me", "you"}
    if any("." in name and name not in ACTING and name.rpartition(".")[2] not in PETS for name in others):
        return True
    names = {name.partition(".")[0] for name in others} - {"me", "you"}
    return any(_owned_by(name).search(text) for name in names)


def states_own(text: str, told: frozenset[str]) -> bool:
    """Whether a text says how a person with a name is, lives or works: "Kim has locker 12 now", not "Kim moved it".

    Also where the user only passes it on. False if it mentions the user otherwise.
    """
    names = {name for name in told if "." not in name} - {"me", "you", "quoted"}
    text = result_of(text)
    if not names or _TO_ME.search(_PASSED_ON.sub(" ", text)):
        return False
    return any(_stating(name).search(text) for name in names)


def result_of(text: str) -> str:
    """The part of a text for which the rest gives a reason, unless it is about a person of that; else all of it."""
    found = _RESULT.search(text)
    if found is None:
        return text
    said = next(part for part in found.groups() if part)
    return text if refers_back(said) else said


def refers_back(text: str) -> bool:
    """Whether it names a person by a pronoun: he, her."""
    return _THIRD_PERSON.search(text) is not None


@lru_cache(_KEPT)
def _owned_by(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![a-z])(?:{re.escape(name)}(?:['’]s\b(?! ?(?:$|[,.;:!?]))|s?['’](?= )|的))"
        rf"|\b(?:is|are|was|were) {re.escape(name)}['’]s\b",
        re.IGNORECASE,
    )


@lru_cache(_KEPT)
def _stating(name: str) -> re.Pattern[str]:
    if not name.isascii():
        return re.compile(rf"{re.escape(name)}{_HAN_STATE}")
    adverbs = "(?:(?:now|also|still|just|actually|currently|recently|finally) )*"
    return re.compile(
        rf"\b{re.escape(name)}(?: [A-Z]\w+)?(?:{_SAYS} (?:he|she|they))? {adverbs}(?:has )?{adverbs}{_STATE}",
        re.IGNORECASE,
    )


def foreign_penalty(question: Matter, asks: str, matter: Matter, text: str, *, translated: bool) -> float:
    """The penalty of a text for the persons that it is about. `asks`: the text of the question.

    Names in different scripts cannot be compared.
    """
    asked, told = question.persons - {"you"}, matter.persons
    others = {name.rpartition(".")[2] for name in asked - {"me"}}
    if others:
        if others <= PETS and "pet" in matter.topics and told:  # "I got a kitten", "Ida's cat was sick"
            mine = "me" in told or not told.isdisjoint(f"me.{pet}" for pet in PETS)
            return 0.0 if mine else FOREIGN
        if told.isdisjoint(asked) and any("." in one and one in asked for one in (n.rpartition(".")[0] for n in told)):
            return FOREIGN  # my wife's sister, not my wife
        if any(_names(other, one) for other in others for one in (text, *told)):
            return 0.0
        maybe = translated and any(not name.startswith("me") for name in told)
        return FOREIGN if told and not maybe else UNNAMED
    known = question.things | question.topics
    mine = "me" in told or any(name.removeprefix("me.") in known or name in asks for name in told)
    return FOREIGN if "me" in asked and told and not mine else 0.0


def _names(name: str, text: str) -> bool:
    """Whether a text has the name: as a beginning of a word, but not of "mother-in-law"; in Chinese anywhere."""
    if not name.isascii():
        return name in text
    return re.search(rf"\b{re.escape(name)}(?![ -]in[ -]law)", text) is not None
