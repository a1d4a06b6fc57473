"""Background behaviour for the end of the demo: a resolved conflict, associations, and background jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

import biem
from biem.cli.output import Output
from biem.domain.concept import Recollection
from biem.domain.conflict import Conflict
from biem.domain.text import one_line

if TYPE_CHECKING:
    from biem.engine.sleep.jobs import SleepReport

CHANGED = "Where does Daniel live?"
REMINDS = "What about dinner at Daniel's?"
_SHOWN_CHARS = 110


@dataclass(frozen=True, slots=True)
class DemoLife:
    """Results of this part."""

    now: str
    then: str
    """Best answer to `CHANGED` now, and just before a rule superseded a memory; empty for none."""
    conflict: Conflict | None
    """The conflict that the rule resolved."""
    night: "SleepReport"
    reminded: Sequence[Recollection]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "now": self.now,
            "then": self.then,
            "conflict": self.conflict,
            "related": self.reminded,
            "sleep": {job.name: job.changes for job in self.night.jobs},
        }


def live(memory: "biem.Memory") -> DemoLife:
    """Collect the results from a memory that holds the dialogue."""
    decided = [item for item in memory.conflicts(status="resolved", limit=1_000) if item.decided_by == "rule"]
    hits = memory.recall(CHANGED, top_k=1)
    now = hits[0].node if hits else None
    conflict = next((item for item in decided if now and item.newer_id == now.id), None)
    before = memory.recall(CHANGED, top_k=1, as_of=memory.get(conflict.older_id).at) if conflict else ()
    night = memory.sleep()
    return DemoLife(
        now.text if now else "",
        before[0].node.text if before else "",
        conflict,
        night,
        memory.related(REMINDS)[:2],
    )


def show(out: Output, life: DemoLife) -> None:
    """Print the results as text."""
    if life.conflict is not None:
        how = f"{life.conflict.kind}, {life.conflict.confidence:.0%} sure, decided by a {life.conflict.decided_by}"
        _pair(out, CHANGED, life.now)
        _pair(out, "  until then", life.then)
        _pair(out, "  how it was noticed", how)
    _pair(out, REMINDS, "; ".join(f"{item.topic} → {item.memory}" for item in life.reminded) or "nothing")
    done = (f"{count} {what}" for job in life.night.jobs for what, count in job.changes.items())
    _pair(out, "one night", ", ".join(done) or "nothing to do")


def _pair(out: Output, name: str, value: str) -> None:
    out.line(Text.assemble("   ", (name.ljust(31), "dim"), one_line(value, _SHOWN_CHARS)))
