"""The block an agent's model reads: `## Relevant Memories`, one numbered line a memory (BIEM B56, B57, C31).

    core memories → relevant memories → originals of what was cut (strict) → newest texts; in a budget of tokens

Hits are picked in their order: none that repeats another, none far below the best; long texts show the sentences that
the query is about. What is picked is told in the order it happened, and a message right below another says neither its
day nor its speaker where they are the same. Memory text is data, not orders. It stays on its
own line (every line break and control character becomes a space), so it can neither close the block nor forge a
heading, and chat-template markers lose their meaning.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from biem.domain.context_policy import ContextPolicy
from biem.domain.energy import indicator
from biem.domain.excerpt import excerpt
from biem.domain.node import Hit, Node
from biem.domain.text import one_line

HEADING = "## Relevant Memories"
_TEMPLATE_MARKERS = re.compile(r"<(?=\s*[/|｜!<]|\s*[A-Za-z_][^<>\s]*>)|(?<=[|｜])>|\[(?=/?INST\])", re.IGNORECASE)
_LEADING_MARKUP = re.compile(r"^(?:[#>\-*=`~|]+\s*|\d+[.)]\s+)+")
_POSES = re.compile(r"[^:：]{0,80}[:：]")
"""What begins like a stamp could pass for somebody else's words, if it had none of its own."""
_FRESH = timedelta(days=1)
"""A fact so new needs no date."""


@dataclass(frozen=True, slots=True)
class Context:
    """What to inject: `text` is empty when nothing is worth telling; `hits` are the memories it shows, in order."""

    text: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Reader:
    """What showing memories needs to know of the question: its index terms, how to find a text's, and the time."""

    asked: Collection[str] = ()
    terms_of: Callable[[str], Iterable[str]] = str.split
    now: datetime | None = None


def harmless(text: str, limit: int) -> str:
    """`text` as one line that no reader can take for structure."""
    line = _TEMPLATE_MARKERS.sub("‹", one_line(text, limit))
    return _LEADING_MARKUP.sub("", line) or line


def estimate_tokens(text: str) -> int:
    """A careful guess without a tokenizer: a CJK character is a token, four other characters are one."""
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def render(
    hits: Sequence[Hit],
    policy: ContextPolicy,
    budget_tokens: int,
    degraded: tuple[str, ...] = (),
    reader: Reader = Reader(),
) -> Context:
    """The block for these hits: picked best first, shown in the order they happened; whole items only.

    Within the budget, and each text once: a hit that shares `policy.repeat_from` of its terms with a better one is left
    out, and so is one whose odds lie `policy.drop` below those of the best.
    """
    left = budget_tokens - estimate_tokens(f"{HEADING}\n\n")
    picked: list[tuple[Hit, str]] = []
    seen: list[frozenset[str]] = []
    for hit in hits:
        if picked and _odds(hit) < _odds(hits[0]) - policy.drop:
            continue
        said = _said(hit.node, policy, reader)
        words = frozenset(reader.terms_of(said)) or frozenset([said])
        item = _item(hit, said, policy, reader)
        cost = _cost([f"{len(hits)}. {item[0]}", *item[1:]])
        if cost > left or any(_repeats(words, other, policy.repeat_from) for other in seen):
            continue
        left -= cost
        picked.append((hit, said))
        seen.append(words)
    if policy.order == "time":
        picked.sort(key=lambda pair: (pair[0].node.at, pair[0].node.write_seq))
    lines: list[str] = [HEADING, ""]
    above: Node | None = None
    for number, (hit, said) in enumerate(picked, 1):
        first, *rest = _item(hit, said, policy, reader, above)
        lines += [f"{number}. {first}", *rest]
        above = hit.node if hit.node.speaker else None
    return Context("\n".join(lines) if picked else "", tuple(hit for hit, _ in picked), degraded)


def listed(heading: str, items: Iterable[str], budget_tokens: int) -> str:
    """A section of one line an item, those that fit into the budget; empty where none does."""
    left = budget_tokens - _cost([heading, ""])
    shown: list[str] = []
    for item in items:
        line = f"- {item}"
        if _cost([line]) <= left:
            shown.append(line)
            left -= _cost([line])
    return "\n".join([heading, "", *shown]) if shown else ""


def _cost(lines: Iterable[str]) -> int:
    return sum(estimate_tokens(f"{line}\n") for line in lines)


def _odds(hit: Hit) -> float:
    """Log-odds of a score; the ends stand for certainty, not for infinity."""
    share = min(max(hit.score, 1e-6), 1.0 - 1e-6)
    return math.log(share / (1.0 - share))


def _repeats(words: frozenset[str], other: frozenset[str], repeat_from: float) -> bool:
    """Whether two texts say the same. Those with other numbers do not, however alike their words are."""
    different = words ^ other
    if not different:
        return True
    if any(any(map(str.isdigit, word)) for word in different):
        return False
    return len(words & other) >= repeat_from * len(words | other)


def _said(node: Node, policy: ContextPolicy, reader: Reader) -> str:
    """What a memory says, on one line, as far as the question is about it."""
    return harmless(excerpt(node.text, policy.item_chars, reader.asked, reader.terms_of), policy.item_chars)


def _date(node: Node) -> str:
    return f"({node.at:%Y-%m-%d})"


def _item(hit: Hit, said: str, policy: ContextPolicy, reader: Reader, above: Node | None = None) -> list[str]:
    """The lines of one memory, without its number. A message has its date, and so has a fact of another day.

    `above`: the message right above. Who spoke then, and when, holds for a message that says nothing else; so a fact
    below a message always has its date.
    """
    node = hit.node
    known = f"{node.speaker or ''}\n{said}".lower()
    if node.speaker:
        speaker = harmless(node.speaker, 40)
        if above is None or _date(above) != _date(node):
            said = f"{speaker} {_date(node)}: {said}"
        elif above.speaker != node.speaker or _POSES.match(said):
            said = f"{speaker}: {said}"
    elif reader.now is not None and (above is not None or not timedelta(0) <= reader.now - node.at < _FRESH):
        said = f"{_date(node)} {said}"
    if "held_until" in hit.why and node.valid_to is not None:
        said += f" (until {node.valid_to:%Y-%m-%d})"
    elif "disputed_by" in hit.why:
        said += f" (disputed since {hit.why['disputed_since']})"
    lines = [f"[{indicator(node.energy)} E={node.energy:.2f}] {said}"]
    names = [harmless(name, 40) for name in node.entities]
    if not policy.repeat_entities:  # what the line says already is paid for once
        names = [name for name in names if name.lower() not in known]
    if names[: policy.entities]:
        lines.append("   Entities: " + ", ".join(names[: policy.entities]))
    return lines
