"""One statement worth keeping: judgment, reason and tags."""

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import timedelta
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a sentence of a message states for later."""

    text: str
    """The sentence, as it was said."""
    judgment: str
    """What it states, without its reason."""
    reason: str
    """Why, in the speaker's words; empty where none was given, and then it is kept for a shorter time."""
    tags: tuple[str, ...] = ()
    category: str
    kind: str
    layer: str
    level: str
    """Whose it is: `user` or `project`."""
    rule: str
    """What recognised it: habit, order, like, persona, decision, project, task, note, skill, feeling, knowledge,
    `pattern:NAME`, or model.
    """
    confidence: float
    """0 to 1."""
    ttl_days: float | None = None
    memory_id: str | None = None
    """The memory made of it; None where it was not stored."""

    @property
    def details(self) -> dict[str, Any]:
        """The arguments of `Memory.remember`, in addition to the judgment. Repeating the call stores nothing twice."""
        same = " ".join(unicodedata.normalize("NFKC", self.judgment).split())
        named = {"ref": f"observed:{hashlib.sha256(same.encode()).hexdigest()[:32]}"} if self.kind == "event" else {}
        ends = {} if self.ttl_days is None else {"ttl": timedelta(days=self.ttl_days)}
        return {
            "kind": self.kind,
            "layer": self.layer,
            "reason": self.reason,
            "tags": self.tags,
            "metadata": {"category": self.category},
            **named,
            **ends,
        }
