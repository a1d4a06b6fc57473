"""The context block of a prompt: `## Relevant Memories`, one numbered line per memory.

    core memories → relevant memories → originals of cut texts (strict) → newest texts; within a token budget

Hits are taken in order (`biem.engine.context.picking`) without repetitions; long texts are reduced to the sentences
relevant to the query. They are shown best first, or in chronological order. `biem.domain.prompt.lines` formats a
memory as a line so that its text cannot escape from it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from biem.domain.node import Hit, Node
from biem.domain.notes.library import NoteHit
from biem.domain.policies.context import ContextPolicy
from biem.domain.prompt.lines import REASON_CHARS, harmless, item
from biem.domain.retention import ASSISTANT
from biem.domain.speech.excerpt import excerpt
from biem.domain.text import is_han
from biem.domain.tokens import estimate_tokens
from biem.engine.context.echoes import is_echo
from biem.ports.layers.sessions import TokenCounter

HEADING = "## Relevant Memories"
UNCERTAIN = {True: "以下内容未必能回答这个问题。", False: "These lines may not answer the question."}
"""Below the heading of a block that may not answer, by whether the question is Chinese."""
Omission = Literal["unsure", "weaker", "asks", "repeats", "budget", "places", "untrusted"]
"""Why a hit is not in a block: no hit is certain enough · it is probably about something else, or far below the best ·
it only asks itself · it repeats a better one · the budget is spent · better ones took all places · its source is not
trusted."""
_MOST_BEFORE = 100
"""Memories in front of the block that are compared with it: two milliseconds."""


@dataclass(frozen=True, slots=True)
class Context:
    """The text to inject: `text` is empty without relevant memories; `hits` are the memories it shows, in order."""

    text: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    indexing: int = 0
    """Memories that are not indexed yet, and were searched only by words."""
    notes: tuple[NoteHit, ...] = ()
    """The chunks of notes that it shows, in order."""
    left_out: int = 0
    """Memories and chunks that would be shown if the budget were larger."""
    omitted: Mapping[str, Omission] = field(default_factory=dict)
    """Hits that were considered and are not shown, by id, and why."""
    confidence: float | None = None
    """The probability, 0 to 1, that one of the hits found answers; None if it was not measured."""
    asked: str = ""
    """The question in full, of a message that leans on those before it; empty where the message itself was searched."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class BlockReader:
    """What is needed to show memories: the index terms of the question, a function for those of a text, a counter."""

    asked: Collection[str] = ()
    terms_of: Callable[[str], Iterable[str]] = str.split
    count: TokenCounter = estimate_tokens

    def cost(self, lines: Iterable[str]) -> int:
        """Tokens of some lines, each with its line break."""
        return sum(self.count(f"{line}\n") for line in lines)


def render(
    hits: Sequence[Hit],
    policy: ContextPolicy,
    budget_tokens: int,
    degraded: tuple[str, ...] = (),
    reader: BlockReader = BlockReader(),
    most: int | None = None,
    before: Iterable[Node] = (),
    note: str = "",
) -> Context:
    """The block for at most `most` of these hits: taken best first, shown in the policy's order; whole items only.

    Stays within the budget and omits repetitions: hits that share `policy.repeat_from` of their terms with a better
    one, or with a memory that stands `before` the block, and acknowledgements that only say another hit again.
    `note`: a sentence below the heading.
    """
    heading = [HEADING, "", *([note, ""] if note else [])]
    left = budget_tokens - reader.count("\n".join([*heading, ""]))
    picked: list[tuple[Hit, list[str]]] = []
    told = islice(before, _MOST_BEFORE) if hits else ()
    seen = [frozenset(reader.terms_of(_shown(node, node.text, policy))) for node in told]
    omitted: dict[str, Omission] = {}
    people = [frozenset(reader.terms_of(hit.node.text)) for hit in hits if hit.node.source != ASSISTANT]
    for hit in hits:
        if len(picked) == most:
            omitted[hit.node.id] = "places"
            continue
        said = excerpt(hit.node.text, policy.item_chars, reader.asked, reader.terms_of, hit.told)
        shown = _shown(hit.node, said if hit.answers is None else f"{hit.answers.text} {said}", policy)
        words = frozenset(reader.terms_of(shown)) or frozenset([shown])
        lines = item(hit, said, policy)
        cost = reader.cost([f"{len(hits)}. {lines[0]}", *lines[1:]])
        echo = is_echo(hit.node, words, people, reader.terms_of)
        if echo or any(repeats(words, other, policy.repeat_from) for other in seen):
            omitted[hit.node.id] = "repeats"
            continue
        if cost > left:
            omitted[hit.node.id] = "budget"
            continue
        left -= cost
        picked.append((hit, lines))
        seen.append(words)
    if policy.order == "time":
        picked.sort(key=lambda pair: (pair[0].node.at, pair[0].node.write_seq))
    block = heading
    for number, (_, (first, *rest)) in enumerate(picked, 1):
        block += [f"{number}. {first}", *rest]
    listed_hits = tuple(hit for hit, _ in picked)
    left_out = sum(why == "budget" for why in omitted.values())
    text = "\n".join(block) if picked else ""
    return Context(text, listed_hits, degraded, left_out=left_out, omitted=omitted)


def note_of_doubt(confidence: float | None, question: str, policy: ContextPolicy) -> str:
    """Says that the lines may not answer, in the language of the question; empty from `policy.sure_from`."""
    if confidence is None or confidence >= policy.sure_from or policy.layout == "bare":
        return ""
    return UNCERTAIN[is_han(question)]


def _shown(node: Node, said: str, policy: ContextPolicy) -> str:
    """What a line tells, to be compared with others."""
    return harmless(f"{said} {node.reason}", policy.item_chars + REASON_CHARS)


def listed(heading: str, items: Iterable[str], budget_tokens: int, reader: BlockReader = BlockReader()) -> str:
    """A section with one line per item, for items that fit into the budget; empty if none does."""
    left = budget_tokens - reader.cost([heading, ""])
    shown: list[str] = []
    for one in items:
        line = f"- {one}"
        if (cost := reader.cost([line])) <= left:
            shown.append(line)
            left -= cost
    return "\n".join([heading, "", *shown]) if shown else ""


def repeats(words: frozenset[str], other: frozenset[str], repeat_from: float) -> bool:
    """Whether two texts say the same. Texts with different numbers never do."""
    different = words ^ other
    if not different:
        return True
    if any(any(map(str.isdigit, word)) for word in different):
        return False
    return len(words & other) >= repeat_from * len(words | other)
