"""The persons of a statement who have no name there, and Chinese names that stand where a person does."""

import re
from collections.abc import Iterator

_BEFORE_CLAUSE = frozenset("，。；：:,!！？")
_PETS = re.compile(r"\b(?:dog|cat|puppy|kitten)s?\b|[狗猫]", re.IGNORECASE)
_TOLD = frozenset(("you", "你"))
_TO_YOU = re.compile(
    r"\b(?:gave|give|told|tell|sent|promised|for|like|let|so) you(?:r)?\b|告诉你|跟你|[请给]你|你记", re.IGNORECASE
)
_PRONOUNS = frozenset(("he", "she", "they", "他", "她", "他们", "她们"))
_PEOPLE = re.compile(
    r"\bthey(?: have| had)?(?: just| now| also)? [a-z]+ (?:the|my|our|me|us|it)\b"
    r"|\bthey (?:just )?(?:called|rang|phoned|wrote|emailed|texted)\b|[他她]们(?:给我|把)",
    re.IGNORECASE,
)
"""They changed the code."""
VAGUE = re.compile(r"(?:he|she|they|you|[他她你]们?)(?:$|\.)")
NO_PERSON = re.compile(r"^(?:me|we|you|he|she|they|quoted|[他她你您]们?)(?:$|\.)")


def positions(text: str, name: str) -> Iterator[int]:
    """Where a name is in a text."""
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + 1)


def unnamed(persons: frozenset[str], kin: frozenset[str], text: str) -> frozenset[str]:
    """Persons without a name: relatives of the speaker, and pronouns that nothing in the text explains."""
    pronouns = frozenset(_PETS.sub("", one).rstrip(".") for one in persons if NO_PERSON.match(one))
    explained = {"me", "quoted"} | _anaphors(persons, text) | (_TOLD if _TO_YOU.search(text) else frozenset())
    return frozenset(f"me.{one}" for one in kin if not _PETS.fullmatch(one)) | pronouns - explained


def _anaphors(persons: frozenset[str], text: str) -> frozenset[str]:
    """Pronouns that refer to a person or thing named before, or to people in general."""
    named = any(not VAGUE.match(one) and one not in ("me", "quoted") for one in persons) or _PETS.search(text)
    return _PRONOUNS if named or _PEOPLE.search(text) else frozenset()


def leads(name: str, text: str) -> bool:
    """Whether a Chinese name is in the position of a subject or an owner."""
    return any(
        at == 0 or text[at - 1] in _BEFORE_CLAUSE or text[at - 1].isspace() or text.startswith("的", at + len(name))
        for at in positions(text, name)
    )
