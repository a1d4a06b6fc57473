"""What is near to a selection of memories, read at once, so that the next questions need no search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from biem.domain.scope import Scope
from biem.ports.turns import Turns


@dataclass(frozen=True, slots=True)
class Vicinity:
    """Memories with their places in conversation, and each scope's write sequence when they were read, by ns."""

    turns: Turns
    written: Mapping[str, int]
    complete: bool = False
    """It is all there is: every memory of these scopes up to these numbers, each with its vector."""


class OrbitReader(Protocol):
    """Reads what is near, and what came since."""

    def gather(self, scopes: Sequence[Scope], chosen: Sequence[str], others: Sequence[str], whole: int) -> Vicinity:
        """The memories of both; what was said around each of `chosen`, best first; what was written last.

        Where all these scopes together never held more than `whole`, everything is there, with whole conversations. It
        is `complete` unless something has no vector yet, or is archived and could come back.

        Around: up to six turns before and after in its conversation, and up to twenty around the best chosen one of
        each of the three conversations with most of them. Written last: sixteen memories of each scope. What superseded
        any of these is there, too. Archived, erased and other scopes' memories are never in the answer, and whatever is
        written while this reads has a higher number than `written` or is in the answer.
        """

    def since(self, scopes: Sequence[Scope], written: Mapping[str, int], limit: int) -> Vicinity | None:
        """What was written after these numbers, and the numbers now, in one round trip.

        None where that is more than `limit` memories of a scope, or where a scope was erased: then it must be gathered
        anew.
        """
