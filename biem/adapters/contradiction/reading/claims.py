"""Splits a statement into claims: "Ann lives in Berlin and owns a cat" is two claims, and a move ends only one.

Claims are parts of the text: clauses, split again at conjunctions. A description (a time, a quality, a place within a
place) is no separate claim. Splitting too often is the safe error: the conflict then waits for a decision, and no
valid memory is superseded.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from biem.adapters.analyzers.chinese_words import knowing
from biem.adapters.contradiction.reading.reader import Reading

_JOINED = re.compile(
    r"\s*[,;]?\s+(?:and|but|while|whereas|plus|as well as)\s+(?:also\s+|then\s+)?"
    r"|;\s*"
    r"|,\s+(?=`?[a-z])(?!(?:in|at|on|for|with|since|from|by|near|to|until|because|so|as|which|who|where|when"
    r"|up|down|over|under|above|below|behind|beside|inside|outside|next|close|right|just|no|not"
    r"|first|second|third|fourth|fifth|top|ground)\b)"
)
"""No split at a comma before a name or description: Berlin, Germany is one place, and so is Berlin, up on the hill."""
_JOINED_ZH = frozenset(("、", "；", "并且", "而且", "同时", "以及", "并", "和", "与", "跟", "还", "也", "又"))
_BOTH = frozenset(("并非", "并不", "并列", "并肩", "并排", "并购", "并存"))
_SUBJECT = re.compile(
    r"^(?:(?i:my|his|her|our|their|the)\s\w+|[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?|I|(?i:we|he|she|they|you|it))(?=\s)"
)
_VERB = re.compile("[a-z]+")
_OF_ADDRESSES = tuple("号楼室层栋单弄")
"""After a number of an address."""
_ADVERB = re.compile(r"[a-z]+ly|still|also|always|never|often|sometimes|just|now|then", re.IGNORECASE)


class Claims:
    """`empty`: stems without content."""

    def __init__(self, empty: frozenset[str]) -> None:
        self._empty = empty

    def of(self, reading: Reading) -> tuple[str, ...]:
        """The claims of a statement with several; subjects are copied from the first. Empty for a single claim."""
        found = [
            f"我{claim}" if clause.implied else claim
            for clause in reading.clauses
            if clause.asserts
            for claim in _parts(clause.text)
        ]
        return tuple(found) if len(found) > 1 else ()

    def adds(self, claim: Reading, newer: Reading) -> bool:
        """Whether a claim has content that is not in `newer`."""
        return any(not word[0].isdigit() for word in claim.content() - newer.content() - self._empty)


def _parts(text: str) -> Iterator[str]:
    if any(c > "\u2e7f" for c in text):
        yield from _chinese(text)
        return
    subject, verb = "", None
    for place, part in enumerate(part for part in _JOINED.split(text) if part.strip()):
        named = _SUBJECT.match(part)
        if place == 0:
            subject = named[0] if named else ""
            verb = _VERB.match(part, len(subject) + 1)
        first, *second = part.split(maxsplit=2)[:2]
        repeats = verb is not None and verb[0] in second and not _ADVERB.fullmatch(first)  # "web uses 20, api uses 22"
        yield f"{subject} {part}" if place and subject and not (named or repeats) else part


def _chinese(text: str) -> Iterator[str]:
    """Parts without a verb are no claims unless joined with one: 北京，朝阳区 is one place. 停车位300 omits a verb."""
    parts, verb, before = [""], False, ""
    tagged = [*knowing().tag(text), ("", "")]
    for (word, tag), (following, _) in pairwise(tagged):
        if word in _JOINED_ZH:
            parts.append("")
        elif word[0] == "并" and word not in _BOTH:  # 并养: one word to the segmenter
            parts.append(word[1:])
            verb = True
        else:
            parts[-1] += word
            verb = (
                verb
                or tag.startswith("v")
                or (before.startswith("n") and word.isdecimal() and following[:1] not in _OF_ADDRESSES)
            )
        before = tag
    said = [part for part in parts if part.strip()]
    if verb or len(said) > 1:
        yield from said
