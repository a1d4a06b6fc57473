"""The memories that are always told."""

from collections.abc import Sequence
from typing import Protocol

from biem.domain.node import Node
from biem.domain.scope import Scope


class CoreReader(Protocol):
    """Reads the layer `core`."""

    def core(self, scopes: Sequence[Scope], limit: int) -> list[Node]:
        """Memories of the layer core that hold still, the most important first, then the newest.

        Archived, erased and other scopes' memories are never in the answer, nor superseded ones. The cost does not grow
        with the number of other memories.
        """
