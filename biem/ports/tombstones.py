"""What was erased a while ago: its ids, so that the projections can be looked through for it again."""

from collections.abc import Sequence
from typing import Protocol


class Tombstones(Protocol):
    """Ids of erased memories and the names of their scopes, never a word of what they said.

    An erasure leaves one for each memory, in its own transaction. Times are the database's.
    """

    def due(self, limit: int) -> list[tuple[str, str]]:
        """At most `limit` ids with their `ns`, of all scopes, longest due first: five minutes after the erasure.

        What is a memory again, because a backup was brought back, is not among them and is forgotten.
        """

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        """Nothing is left of these now: they are due again when the time since the erasure has doubled.

        Those erased more than `kept_s` ago are forgotten instead.
        """
