"""What stands in for a pronoun: the person, thing or place mentioned last, in the language of each message."""

from collections.abc import Sequence
from types import ModuleType

from biem.domain.speech.follow_up import chinese_mentions, english_mentions
from biem.domain.speech.follow_up.dialogue import SHORT, Gender, Person, Round, of_gender
from biem.domain.text import late

_HAN = late("[\u4e00-\u9fff]")


def is_chinese(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return _HAN.search(text) is not None


def person(rounds: Sequence[Round], gender: Gender) -> str:
    """The person mentioned last who may be of this gender; empty without one.

    In a round the question counts before the reply, unless it asked for a name.
    """
    for past in reversed(rounds):
        asked, answered = persons_in(past.said), persons_in(past.reply)
        if _of(past.said).asks_who(past.said):
            asked = [one._replace(name=one.owner) if one.owner else one for one in asked]
            name = "" if answered else _of(past.reply).answer_in(past.reply)
            candidates = [*([Person(name)] if name else answered), *asked]
        else:
            candidates = [*asked, *answered]
        if (one := of_gender(candidates, gender)) is not None:
            return english_mentions.within(one.name)
    return ""


def several(rounds: Sequence[Round]) -> str:
    """The persons mentioned together last; empty without any."""
    said = (text for past in reversed(rounds) for text in (past.said, past.reply))
    found = next((names for text in said if (names := _of(text).several_in(text))), "")
    return english_mentions.within(found)


def thing(rounds: Sequence[Round]) -> str:
    """The thing that was asked for or told last; empty without one."""
    for past in reversed(rounds):
        if found := past.about or _of(past.said).thing_in(past.said):
            return english_mentions.within(found)
    return ""


def place(rounds: Sequence[Round]) -> str:
    """The place named last, in a reply before the question to it; empty without one."""
    for past in reversed(rounds):
        for said in (past.reply if len(past.reply) <= SHORT else "", past.said):
            if found := _of(said).place_in(said):
                return str(found)
    return ""


def persons_in(text: str) -> list[Person]:
    """The persons that a text names one by one, in order."""
    found: list[Person] = _of(text).persons_in(text)
    return found


def _of(text: str) -> ModuleType:
    return chinese_mentions if is_chinese(text) else english_mentions
