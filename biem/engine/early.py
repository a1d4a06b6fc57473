"""Reading what stands around the hits by words while the search by meaning, the longest step, is still under way."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from biem.engine.disputes import joined
from biem.ports.turns import Turns


class Early:
    """What one recall reads ahead. Begun by a thread of the searches, ended by the caller's."""

    def __init__(self, submit: Callable[..., Future[Turns]], read: Callable[[Sequence[str]], Turns]) -> None:
        """`submit` runs something on another thread; `read` reads memories by id, with their surroundings."""
        self._submit = submit
        self._read = read
        self._begun: dict[str, None] = {}
        self._reading: list[Future[Turns]] = []

    def begin(self, ids: Sequence[str]) -> None:
        """Read these."""
        self._reading.append(self._submit(self._read, ids))
        self._begun |= dict.fromkeys(ids)

    def left(self, ids: Sequence[str]) -> list[str]:
        """Those that are not being read."""
        return [key for key in ids if key not in self._begun]

    def with_others(self, turns: Turns) -> Turns:
        """What was read ahead, and `turns`."""
        for reading in self._reading:
            turns = joined(turns, reading.result())
        return turns
