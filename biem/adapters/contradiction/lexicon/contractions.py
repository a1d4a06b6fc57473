"""Normalises spellings: expands contractions, and replaces forms of denial by a plain "no"."""

import re

from biem.adapters.analyzers.characters import normal

LONGEST = 600
"""Maximum characters of a statement that are read: rules do not find conflicts between documents."""

_BLANKS = re.compile(r"\s{2,}")
"""Runs of blanks are read as one, so that they cannot slow a rule."""
_PAIRS = (
    (r"\bwon't\b", "will not"),
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bshan't\b", "shall not"),
    (r"n't\b", " not"),
    (r"\b([Ii])'m\b", r"\1 am"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"\b(it|he|she|that|there|what|who)'s\b", r"\1 is"),
    (r"\bcan not (?:stand|bear)\b", "hate"),
    (r"\b(?:am|is|are) not (?:really )?(?:a |an )?(?:big |huge )?fans? of\b", "dislike"),
    (r"\b(?:quit|(?:have |has )?stopped|gave up|(?:have|has) given up) (?=[a-z]+ing\b)", "not anymore "),
    (r"戒掉?了?烟", "不再抽烟"),
    (r"戒掉?了?酒", "不再喝酒"),
    (r"\bno longer\b", "not anymore"),
    (
        r"\bnot (?:all|every|always|necessarily|only|just|entirely|completely)\b"
        r"|不(?:一定|都是|全是|总是|完全是|只是|仅仅是)|不是(?:所有|全部|每个)",
        " some ",
    ),
    (r"\bany more\b(?!\s+\w)", "anymore"),
    (r"没有(?:一个|任何)?人(?=[\u4e00-\u9fff])|没人(?=[\u4e00-\u9fff])", "大家都不"),
    (r"谁[都也](?=[不没])", "大家都"),
)
_EXPANSIONS = tuple((re.compile(pattern, re.IGNORECASE), to) for pattern, to in _PAIRS)
_EXPANDABLE = re.compile("|".join(f"(?:{pattern})" for pattern, _ in _PAIRS), re.IGNORECASE)


def _blank(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def expanded(text: str) -> str:
    """The normalised text that is read."""
    clean = _BLANKS.sub(_blank, normal(text[:LONGEST])[:LONGEST]).strip()
    if _EXPANDABLE.search(clean):
        for pattern, to in _EXPANSIONS:
            clean = pattern.sub(to, clean)
    return clean
