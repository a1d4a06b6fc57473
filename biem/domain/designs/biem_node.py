"""A memory as BIEM describes it (B30): its record, its vector and its links in one value, under the design's names.

A picture of an instant: what it becomes by `touch` and `add_link` are other values. What happens to the memory itself
is done by recall, which counts accesses, and by encoding and feedback, which link.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from biem.domain.link import Link, NewLink, grown
from biem.domain.text import one_line

_SUMMARY_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class BiemMemoryNode:
    """One memory; `energy` is that of the instant it was read."""

    id: str
    content: str
    vector: tuple[float, ...] = ()
    """Of length 1, by the embedder in use; empty until the memory is indexed."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    energy: float
    """In [0, 1]."""
    initial_energy: float
    """In [0, 1]: with what it began."""
    last_accessed: datetime | None = None
    """When a recall last told it."""
    created_at: datetime
    tier: str = "L2"
    links: tuple[Link, ...] = ()
    """Closest first."""

    def touch(self, at: datetime, boost: float = 0.1) -> Self:
        """As it is after an access: `boost` more energy, at most 1 (B34)."""
        return replace(self, energy=min(1.0, self.energy + boost), last_accessed=at)

    def add_link(self, link: Link) -> Self:
        """With one link more; the same link found again never becomes weaker (C4)."""
        known = {one.key: one for one in self.links}
        old = known.get(link.key)
        before = None if old is None else (old.weight, old.strength)
        weight, strength = grown(before, NewLink(*link.key, link.weight, link.strength))
        known[link.key] = replace(link, weight=weight, strength=strength)
        return replace(self, links=tuple(sorted(known.values(), key=lambda one: (-one.weight, -one.strength, one.key))))

    def summarize(self, limit: int = _SUMMARY_CHARS) -> str:
        """The content on one line of at most `limit` characters."""
        return one_line(self.content, limit)

    def to_dict(self) -> dict[str, Any]:
        """Values that `json` can write, if the metadata are."""
        shown = asdict(self)
        for holder in (shown, *shown["links"]):
            holder.update({name: value.isoformat() for name, value in holder.items() if isinstance(value, datetime)})
        return {**shown, "vector": list(self.vector), "links": list(shown["links"]), "metadata": dict(self.metadata)}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """The node that `to_dict` showed."""
        links = tuple(Link(**{**link, **_times(link, "created_at", "touched_at")}) for link in saved["links"])
        times = _times(saved, "last_accessed", "created_at")
        return cls(**{**saved, **times, "vector": tuple(saved["vector"]), "links": links})


def _times(saved: Mapping[str, Any], *names: str) -> dict[str, datetime | None]:
    return {name: None if saved[name] is None else datetime.fromisoformat(saved[name]) for name in names}
