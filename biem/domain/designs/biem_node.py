"""A memory as BIEM defines it: its record, vector and links in one value, under the design's names.

A snapshot: `touch` and `add_link` return new values. The stored memory is changed by recall, which counts accesses, and
by encoding and feedback, which create links.
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
    """Unit length, by the embedder in use; empty until the memory is indexed."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    energy: float
    """In [0, 1]."""
    initial_energy: float
    """In [0, 1]: the energy it was written with."""
    last_accessed: datetime | None = None
    """When a recall last returned it."""
    created_at: datetime
    tier: str = "L2"
    links: tuple[Link, ...] = ()
    """Closest first."""

    def touch(self, at: datetime, boost: float = 0.1) -> Self:
        """A copy after an access: `boost` more energy, at most 1."""
        return replace(self, energy=min(1.0, self.energy + boost), last_accessed=at)

    def add_link(self, link: Link) -> Self:
        """A copy with one more link; an existing link never becomes weaker."""
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
        """Values that `json` can serialise, if the metadata can be."""
        shown = asdict(self)
        for holder in (shown, *shown["links"]):
            holder.update({name: value.isoformat() for name, value in holder.items() if isinstance(value, datetime)})
        return {**shown, "vector": list(self.vector), "links": list(shown["links"]), "metadata": dict(self.metadata)}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        links = tuple(Link(**{**link, **_times(link, "created_at", "touched_at")}) for link in saved["links"])
        times = _times(saved, "last_accessed", "created_at")
        return cls(**{**saved, **times, "vector": tuple(saved["vector"]), "links": links})


def _times(saved: Mapping[str, Any], *names: str) -> dict[str, datetime | None]:
    return {name: None if saved[name] is None else datetime.fromisoformat(saved[name]) for name in names}
