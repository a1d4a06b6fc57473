"""The block an agent's model reads: `## Relevant Memories`, one numbered line a memory (BIEM B56, B57, C31).

    core memories → relevant memories → originals of what was cut (strict) → newest texts; in a budget of tokens

Hits are taken in their order (`biem.engine.context.picking`), none that repeats another; long texts show the sentences
that the query is about. They are told best first, or in the order they happened.
How a memory becomes a line that its text
cannot leave is in `biem.engine.context.lines`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from biem.domain.excerpt import excerpt
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.lines import harmless, item

HEADING = "## Relevant Memories"


@dataclass(frozen=True, slots=True)
class Context:
    """What to inject: `text` is empty when nothing is worth telling; `hits` are the memories it shows, in order."""

    text: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    indexing: int = 0
    """Memories that are not indexed yet, and were asked by their words only."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class BlockReader:
    """What showing memories needs to know of the question: its index terms, and how to find those of a text."""

    asked: Collection[str] = ()
    terms_of: Callable[[str], Iterable[str]] = str.split


def estimate_tokens(text: str) -> int:
    """A careful guess without a tokenizer: a CJK character is a token, four other characters are one."""
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def render(
    hits: Sequence[Hit],
    policy: ContextPolicy,
    budget_tokens: int,
    degraded: tuple[str, ...] = (),
    reader: BlockReader = BlockReader(),
    most: int | None = None,
) -> Context:
    """The block for these hits, at most `most`: taken best first, shown in the order of the policy; whole items only.

    Within the budget, and each text once: a hit that shares `policy.repeat_from` of its terms with a better one is left
    out.
    """
    left = budget_tokens - estimate_tokens(f"{HEADING}\n\n")
    picked: list[tuple[Hit, list[str]]] = []
    seen: list[frozenset[str]] = []
    for hit in hits:
        if len(picked) == most:
            break
        said = excerpt(hit.node.text, policy.item_chars, reader.asked, reader.terms_of)
        shown = harmless(said, policy.item_chars)
        words = frozenset(reader.terms_of(shown)) or frozenset([shown])
        lines = item(hit, said, policy)
        cost = _cost([f"{len(hits)}. {lines[0]}", *lines[1:]])
        if cost > left or any(_repeats(words, other, policy.repeat_from) for other in seen):
            continue
        left -= cost
        picked.append((hit, lines))
        seen.append(words)
    if policy.order == "time":
        picked.sort(key=lambda pair: (pair[0].node.at, pair[0].node.write_seq))
    block = [HEADING, ""]
    for number, (_, (first, *rest)) in enumerate(picked, 1):
        block += [f"{number}. {first}", *rest]
    return Context("\n".join(block) if picked else "", tuple(hit for hit, _ in picked), degraded)


def listed(heading: str, items: Iterable[str], budget_tokens: int) -> str:
    """A section of one line an item, those that fit into the budget; empty where none does."""
    left = budget_tokens - _cost([heading, ""])
    shown: list[str] = []
    for one in items:
        line = f"- {one}"
        if _cost([line]) <= left:
            shown.append(line)
            left -= _cost([line])
    return "\n".join([heading, "", *shown]) if shown else ""


def _cost(lines: Iterable[str]) -> int:
    return sum(estimate_tokens(f"{line}\n") for line in lines)


def _repeats(words: frozenset[str], other: frozenset[str], repeat_from: float) -> bool:
    """Whether two texts say the same. Those with other numbers do not, however alike their words are."""
    different = words ^ other
    if not different:
        return True
    if any(any(map(str.isdigit, word)) for word in different):
        return False
    return len(words & other) >= repeat_from * len(words | other)
