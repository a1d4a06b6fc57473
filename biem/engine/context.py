"""The block an agent's model reads: `## Relevant Memories`, one numbered line a memory (BIEM B56, B57).

Memory text is data, not orders. It stays on its own line (every line break and control character becomes a space), so
it can neither close the block nor forge a heading, and chat-template markers lose their meaning.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from biem.domain.energy import indicator
from biem.domain.node import Hit
from biem.domain.policy import ContextPolicy
from biem.domain.text import one_line

HEADING = "## Relevant Memories"
_TEMPLATE_MARKERS = re.compile(r"<(?=\s*[/|｜!<]|\s*[A-Za-z_][^<>\s]*>)|(?<=[|｜])>|\[(?=/?INST\])", re.IGNORECASE)
_LEADING_MARKUP = re.compile(r"^(?:[#>\-*=`~|]+\s*|\d+[.)]\s+)+")


@dataclass(frozen=True, slots=True)
class Context:
    """What to inject: `text` is empty when nothing is worth telling; `hits` are the memories it shows, in order."""

    text: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def harmless(text: str, limit: int) -> str:
    """`text` as one line that no reader can take for structure."""
    line = _TEMPLATE_MARKERS.sub("‹", one_line(text, limit))
    return _LEADING_MARKUP.sub("", line) or line


def estimate_tokens(text: str) -> int:
    """A careful guess without a tokenizer: a CJK character is a token, four other characters are one."""
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def render(hits: Sequence[Hit], policy: ContextPolicy, budget_tokens: int, degraded: tuple[str, ...] = ()) -> Context:
    """The block for these hits, in their order; whole items only, within the budget, each text once."""
    lines = [HEADING, ""]
    left = budget_tokens - estimate_tokens(f"{HEADING}\n\n")
    shown: list[Hit] = []
    seen: set[str] = set()
    for hit in hits:
        item = _item(len(shown) + 1, hit, policy)
        said = harmless(hit.node.text, policy.item_chars)
        cost = sum(estimate_tokens(f"{line}\n") for line in item)
        if said in seen or cost > left:
            continue
        lines += item
        left -= cost
        shown.append(hit)
        seen.add(said)
    return Context("\n".join(lines) if shown else "", tuple(shown), degraded)


def _item(number: int, hit: Hit, policy: ContextPolicy) -> list[str]:
    node = hit.node
    said = harmless(node.text, policy.item_chars)
    if node.speaker:
        said = f"{harmless(node.speaker, 40)} ({node.at:%Y-%m-%d}): {said}"
    if "held_until" in hit.why and node.valid_to is not None:
        said += f" (until {node.valid_to:%Y-%m-%d})"
    lines = [f"{number}. [{indicator(node.energy)} E={node.energy:.2f}] {said}"]
    if node.entities:
        lines.append("   Entities: " + ", ".join(harmless(name, 40) for name in node.entities[: policy.entities]))
    return lines
