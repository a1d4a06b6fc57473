"""The sentences of a long text that are relevant to another text, for the detection of conflicts.

A document makes many statements. The rules compare statements, so of a long text they get the few sentences that share
the most distinctive words with the other text; a word is the more distinctive, the fewer sentences contain it. Their
verdicts dispute a sentence and never the document: no verdict on a long text lets a rule act alone.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from biem.domain.conflict import Statement, Verdict
from biem.ports.contradiction import ContradictionRules

_MOST = 5
"""Sentences of a text that are compared."""
_SENTENCE = re.compile(r"(?:[^?!。？！；;\n.]|\.(?!\s)){1,400}[?!。？！；;.]?")
"""Text without full stops is cut."""
_WORD = re.compile("[a-z0-9]{2,}|[^\\W_a-z0-9]")
_LETTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def compare(
    rules: ContradictionRules,
    older: Statement,
    newer: Statement,
    similarity: float | None,
    *,
    longest: int,
    least: float = 0.0,
) -> Verdict | None:
    """The verdict of the rules on two texts; of those longer than `longest` characters, on their sentences.

    For long texts it is the most confident verdict, `partial`, and no duplicate: a document that contains a sentence of
    another text is not equal to it. A long text that repeats a sentence a million times costs no more than its length.
    """
    if max(len(older.text), len(newer.text)) <= longest:
        return rules.compare(older, newer, similarity, least=least)
    found: Verdict | None = None
    for said in passages(newer.text, older.text) if len(newer.text) > longest else [newer.text]:
        for known in passages(older.text, said) if len(older.text) > longest else [older.text]:
            verdict = rules.compare(replace(older, text=known), replace(newer, text=said), None, least=least)
            if verdict is None or verdict.kind == "duplicate":
                continue
            if found is None or verdict.confidence > found.confidence:
                claim = verdict.claim or (known if len(older.text) > longest else "")
                found = replace(verdict, partial=True, claim=claim)
    return found


def passages(text: str, other: str) -> list[str]:
    """At most five sentences of `text` that share words with `other`, the most similar first."""
    wanted = {term for sentence in _sentences(other) for term in _terms(sentence)}  # in pieces: others may run
    shared = [(sentence, wanted.intersection(_terms(sentence))) for sentence in _sentences(text)]
    holders = Counter(term for _, terms in shared for term in terms)
    scores = [sum(math.log1p(len(shared) / holders[term]) for term in terms) for _, terms in shared]
    best = sorted(range(len(shared)), key=lambda place: -scores[place])[:_MOST]
    return [shared[place][0] for place in best if scores[place] > 0]


def _sentences(text: str) -> list[str]:
    """One at a time, so that other threads can run."""
    return [piece for found in _SENTENCE.finditer(text) if (piece := found.group().strip())]


def _terms(text: str) -> Sequence[str]:
    """Words, and for scripts without spaces the pairs of characters."""
    found = _WORD.findall(text.lower())
    pairs = [one + two for one, two in pairwise(found) if _LETTERS.match(one) and _LETTERS.match(two)]
    return [word for word in found if not _LETTERS.match(word)] + pairs
