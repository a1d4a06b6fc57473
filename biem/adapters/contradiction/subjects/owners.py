"""Whose or which of several a thing is, where both statements say it: the cellar's window, Anna from the office."""

import re

_OF = re.compile(
    r"\b(?P<of>[A-Za-z]+)['’]s (?:new |old )?(?P<thing>[a-z]+)"
    r"|\b(?P<name>[A-Z][a-z]+) from (?:(?:my|our|the) )?(?P<where>(?!now\b|then\b|today\b)[a-z]+)"
    r"|(?:^|(?<=[，。！？；：,.!?;:\s]))(?:我们?)?(?:家的)?(?P<han_of>(?!现在|以前|之前|原来|目前|今年|去年|上次|这次|最近)"
    r"(?:(?![我你他她它们这那的是在把给])[\u4e00-\u9fff]){2,4})的[新旧]?(?P<han>[\u4e00-\u9fff])"
)
"""A thing and what or whom it belongs to, or a person and where the speaker knows him from."""
_GROUPS = (("thing", "of"), ("name", "where"), ("han", "han_of"))
_MOST_CHARS = 240


def have_different_owners(older: str, newer: str, kin: frozenset[str]) -> bool:
    """Whether both say of what a thing is, or which of two namesakes is meant, and differ.

    `kin`: words for relatives, which have synonyms and are compared elsewhere.
    """
    one, other = _owners(older[:_MOST_CHARS], kin), _owners(newer[:_MOST_CHARS], kin)
    return any(
        one[thing] != other[thing] and one[thing] not in newer.lower() and other[thing] not in older.lower()
        for thing in one.keys() & other.keys()
    )


def _owners(text: str, kin: frozenset[str]) -> dict[str, str]:
    found = {}
    for match in _OF.finditer(text):
        thing, of = next((match[one], match[two]) for one, two in _GROUPS if match[one])
        if of.lower() not in kin:
            found[thing.lower()] = of.lower()
    return found
