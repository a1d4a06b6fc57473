"""The memories that are told without being asked for."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from biem.domain.node import Node
from biem.domain.scope import Scope


class CoreReader(Protocol):
    """Reads the layer `core`, and what was of use a moment ago."""

    def core(self, scopes: Sequence[Scope], limit: int) -> list[Node]:
        """Memories of the layer core that hold still, the most important first, then the newest.

        Archived, erased and other scopes' memories are never in the answer, nor superseded ones. The cost does not grow
        with the number of other memories.
        """

    def useful(self, scopes: Sequence[Scope], slots: Mapping[str, int]) -> list[Node]:
        """Of each kind the memories that feedback called useful last, at most `slots[kind]`; the last one first.

        What was called useless since is not among them, nor what `core` leaves out. The cost grows neither with the
        number of memories nor with how many were ever useful.
        """
