"""Whether a system can do its work now, as a probe asks."""

from collections.abc import Mapping
from dataclasses import dataclass

NEEDED = "postgres"
"""Without it nothing can be remembered or recalled; the others hold copies, and recall goes on without them."""


@dataclass(frozen=True, slots=True)
class Health:
    """What each server said: an empty text when it answers, else why it cannot be used."""

    servers: Mapping[str, str]
    schema: str = ""
    """Why the database's schema is not one that this version can use; empty when it is, or could not be looked at."""

    @property
    def ready(self) -> bool:
        """Whether memories can be written and recalled now."""
        return not self.servers[NEEDED] and not self.schema

    @property
    def degraded(self) -> tuple[str, ...]:
        """The servers that recall has to do without."""
        return tuple(name for name, why in self.servers.items() if why and name != NEEDED)
