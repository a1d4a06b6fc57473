"""Whether a move of all memories to another embedder is unfinished."""

from collections import Counter
from collections.abc import Iterator

from biem.domain.diagnosis import Depth, Finding
from biem.ports.diagnosis import MoveInspection


class MoveCheck:
    """An abandoned move leaves two collections, and the old embedder in use."""

    needs = frozenset({"postgres"})

    def __init__(self, moves: MoveInspection) -> None:
        self._moves = moves

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002 - its port
        """A finding for each such move: under way, or interrupted."""
        for move in self._moves.moves():
            reached = f"memories up to {move.cursor} are in its collection" if move.cursor else "nothing is moved yet"
            if move.running:
                yield Finding(
                    "reembed_running",
                    "note",
                    f"`biem reembed` moves all memories to the embedder {move.model}: {reached}",
                    "nothing: programs switch when it is done",
                )
            else:
                yield Finding(
                    "reembed_interrupted",
                    "warning",
                    f"`biem reembed` to the embedder {move.model} was interrupted: {reached}, and all programs still "
                    "use the previous embedder",
                    f"run the same `biem reembed` again, which resumes there; or, to keep the previous embedder, "
                    f"`biem reembed --drop-old` with its settings, which drops {move.collection}",
                    samples=(move.collection,),
                )
