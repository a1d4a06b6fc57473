"""Work on notes that dies at a chosen call of a store."""

from collections.abc import Callable
from typing import Any

import biem


class Death(BaseException):
    """What no code of ours expects."""


class Fate:
    """Ends the work at the `end`-th call of a store."""

    def __init__(self, end: int) -> None:
        self.left = end

    def over(self, inner: Any) -> Any:
        """The same store, whose calls may be the last."""
        fate = self

        class Mortal:
            def __getattr__(self, name: str) -> Any:
                value = getattr(inner, name)
                if not callable(value):
                    return value

                def call(*arguments: Any, **named: Any) -> Any:
                    fate.left -= 1
                    if fate.left == 0:
                        raise Death
                    return value(*arguments, **named)

                return call

        return Mortal()


def dying(memory: biem.Memory, end: int, work: Callable[[], object]) -> bool:
    """Whether `work` died at this step."""
    system, fate = memory._system.notes, Fate(end)
    parts: list[Any] = [system.scanner, system.encoder]
    usual = [(part._records, part._index) for part in parts]
    for part in parts:
        part._records, part._index = fate.over(part._records), fate.over(part._index)
    try:
        work()
    except Death:
        return True
    finally:
        for part, (records, index) in zip(parts, usual, strict=True):
            part._records, part._index = records, index
    return False
