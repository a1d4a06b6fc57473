"""The owner of a memory: `tenant/user/project`, an argument of every call and a part of every row, key and vector.

Names are free text. Queries, keys and filters use `ns`, a hash of the three names, so that no name can be read as
syntax. An empty project is the user's own (global) level, which that user's projects can read but not write.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from biem.domain.text import require_clean
from biem.errors import InvalidInput
from biem.lazy import lazy

MAX_NAME_CHARS = 256


@dataclass(frozen=True)
class Scope:
    """One isolated memory. Each name has 1–256 characters; only `project` may be empty."""

    tenant: str = "default"
    user: str = "default"
    project: str = ""

    def __post_init__(self) -> None:
        for part, name in (("tenant", self.tenant), ("user", self.user), ("project", self.project)):
            if not isinstance(name, str):
                raise InvalidInput(f"scope {part} must be a string, not {type(name).__name__}")
            require_clean(name, f"scope {part}")
            if len(name) > MAX_NAME_CHARS:
                raise InvalidInput(f"scope {part} has {len(name)} characters; at most {MAX_NAME_CHARS} are allowed")
            if part != "project" and not name.strip():
                raise InvalidInput(f"scope {part} is empty; give it a name or leave it out for 'default'")

    @lazy
    def ns(self) -> str:
        """32 lower-case hexadecimal digits that identify this scope in every store (128 bits of SHA-256)."""
        joined = "\0".join((self.tenant, self.user, self.project))
        return hashlib.sha256(joined.encode()).hexdigest()[:32]

    @lazy
    def readable(self) -> tuple["Scope", ...]:
        """The scopes that a recall from here may read: this one and, from inside a project, the user's own."""
        return (self, Scope(self.tenant, self.user)) if self.project else (self,)

    def __str__(self) -> str:
        return "/".join(part for part in (self.tenant, self.user, self.project) if part)


@dataclass(frozen=True, slots=True)
class ScopeSummary:
    """One scope: its number of memories, how many of them are not indexed yet, and its last write."""

    scope: Scope
    memories: int
    pending: int
    written_at: datetime | None
    """None when it is empty."""
