"""What a follow-up question leans on: the messages before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Gender = Literal["f", "m", ""]
"""Empty where unknown."""
SHORT = 80
"""Characters of a reply up to which its place or name is taken for the answer."""


class Person(NamedTuple):
    """A person, or an animal, as a message names it."""

    name: str
    gender: Gender = ""
    start: int = 0
    """Where the name stands in the message."""
    end: int = 0
    owner: str = ""
    """Whose teacher, boss or friend it is, where the message names one by the other: Tilda of "Tilda's teacher"."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A question in full."""

    text: str
    about: str = ""
    """The thing that was added, because the message named none."""
    sure: bool = True
    """False where a thing was put in, or a place: the memories may be told without it, as the message is."""
    pronoun: bool = False
    """A name was put in for a pronoun, with which the memories may be told: "His family is in Lagos"."""
    stands: bool = False
    """The message names a part and may stand on its own: this is what it means where nothing answers it as it is."""


@dataclass(frozen=True, slots=True)
class Round:
    """A message of the user, in full, and the reply to it."""

    said: str
    reply: str = ""
    about: str = ""


def of_gender(persons: Sequence[Person], gender: Gender) -> Person | None:
    """The first of this gender, else the first whose gender is unknown."""
    same = (one for one in persons if one.gender == gender)
    return next(same, None) or next((one for one in persons if not one.gender), None)
