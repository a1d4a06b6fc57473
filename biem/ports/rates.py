"""How fast one scope may write, over all processes: what the core needs of whoever counts."""

from typing import Protocol

from biem.domain.scope import Scope


class Rates(Protocol):
    """An allowance for each scope that fills evenly within a minute."""

    def take(self, scope: Scope, writes: int, per_minute: int) -> float:
        """Take `writes` out of the scope's allowance of `per_minute`, and return 0.0; or take nothing, and return the
        seconds until there is room again.

        Processes share the allowance. Who finds any of it left may take more than is left: it is owed, and the next
        one waits for that. So a large batch is never refused for ever, and the long-term rate holds.
        """
