"""The section of notes in a context block: quoted lines, each under a bracket that says where it stands.

    - [武器/法器/乌髓孑灯.md:41 › 武器故事]
      > 片段……

Every line of a note begins with `> ` and loses markup of chat templates, so that no note can open a heading or give
orders.
"""

import re
from collections.abc import Sequence

from biem.domain.notes.library import NoteHit
from biem.domain.policies.context import ContextPolicy
from biem.domain.prompt.lines import harmless_line
from biem.domain.speech.excerpt import excerpt
from biem.engine.context.block import BlockReader

HEADING = "## Notes"
_QUOTE = "  > "
_MOST_LINES = 40
_CITATION_CHARS = 240
_PADDING = re.compile(r"(?<=\S) {2,}")
_RULE = re.compile(r"-{4,}")
"""What makes the columns of a table equally wide: no room of a block is spent on it."""


def near_best(hits: Sequence[NoteHit], policy: ContextPolicy) -> list[NoteHit]:
    """The hits, best first, without those far below the best: they hardly ever answer."""
    return [hit for hit in hits if hit.score >= policy.notes_drop * hits[0].score]


def noted(
    hits: Sequence[NoteHit], policy: ContextPolicy, reader: BlockReader, budget_tokens: int
) -> tuple[str, tuple[NoteHit, ...]]:
    """The section of those hits that fit, best first, whole items only, and the hits it shows; empty for none.

    Neighbouring hits of one note share a bracket.
    """
    left = budget_tokens - reader.count(f"{HEADING}\n\n\n")
    shown: list[NoteHit] = []
    lines: list[str] = []
    for hit in hits:
        joins = bool(shown) and shown[-1].note.id == hit.note.id and hit.chunk.place == shown[-1].chunk.place + 1
        item = ([_QUOTE.rstrip()] if joins else [f"- [{_bracket(hit)}]"]) + _quoted(hit, policy, reader)
        cost = reader.count("\n".join(item) + "\n")
        if cost > left:
            continue
        left -= cost
        lines += item
        shown.append(hit)
    return ("\n".join([HEADING, "", *lines]), tuple(shown)) if shown else ("", ())


def _bracket(hit: NoteHit) -> str:
    line = harmless_line(hit.citation, _CITATION_CHARS)
    return line.replace("[", "(").replace("]", ")")


def _quoted(hit: NoteHit, policy: ContextPolicy, reader: BlockReader) -> list[str]:
    body = _RULE.sub("---", _PADDING.sub(" ", hit.chunk.body))
    said = excerpt(body, policy.note_chars, reader.asked, reader.terms_of)
    if len(said) > policy.note_chars:
        said = said[: policy.note_chars - 3].rstrip() + "..."
    kept = [harmless_line(line, policy.note_chars) for line in said.split("\n")]
    return [f"{_QUOTE}{line}" for line in kept if line][:_MOST_LINES]
