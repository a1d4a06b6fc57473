"""Whether a move of memories to another embedder, or to another scope, is unfinished."""

from collections import Counter
from collections.abc import Iterator

from biem.domain.diagnosis import Depth, Finding
from biem.domain.text import counted
from biem.ports.diagnosis import MoveInspection

_MOST_TOLD = 20


class MoveCheck:
    """An abandoned move leaves two collections, and the old embedder in use, or a part of the memories where it was."""

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
        for one in self._moves.scope_moves(_MOST_TOLD):
            yield Finding(
                "move_unfinished",
                "note",
                f"{counted(one.left, 'memory')} still to be moved from {one.source} to {one.target}: a program "
                "does it, or was interrupted; each is in one of the two, and found there",
                "if no program does, the same `biem move` again, which goes on there",
                one.left,
            )
