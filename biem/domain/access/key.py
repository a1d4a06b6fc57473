"""API keys: `biem_<id>_<secret>`. A key is bound to a part of the scopes, and to what it may do there."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from biem.domain.scope import Scope
from biem.errors import AccessDenied, InvalidInput

Grant = Literal["read", "write", "erase", "admin"]
"""*read*: recall and read. *write*: store and change. *erase*: destroy. *admin*: manage keys of the same binding."""
GRANTS: tuple[str, ...] = get_args(Grant)
_ID_CHARS = "abcdefghijkmnpqrstuvwxyz23456789"
_ID_LENGTH = 12
_SECRET_BYTES = 32
_FORM = re.compile(rf"biem_([a-z0-9]{{{_ID_LENGTH}}})_([A-Za-z0-9_-]{{43}})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """One key, without its secret."""

    id: str
    name: str = ""
    """For people."""
    tenant: str
    user: str | None
    """None: every user of the tenant; the caller names one."""
    project: str | None
    """None: every project of the user; empty: the user's own level alone."""
    grants: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    """To the minute."""
    revoked_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        """Whether it opens anything now."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def scope(self, user: str | None = None, project: str | None = None) -> Scope:
        """The scope of a call that names these; raises `AccessDenied` for one outside the binding.

        A user must be named where the key is bound to none; a project that is not named is the user's own level.
        """
        if self.user is None and user is None:
            raise InvalidInput("this key is bound to no user: name one by scope(user=…), or in the header Biem-User")
        for bound, named, what in ((self.user, user, "user"), (self.project, project, "project")):
            if bound is not None and named is not None and named != bound:
                raise AccessDenied(f"this key is bound to another {what}")
        whose = user if self.user is None else self.user
        where = project if self.project is None else self.project
        return Scope(self.tenant, whose or "", where or "")

    def admits(self, scope: Scope) -> bool:
        """Whether a scope lies within the binding."""
        return scope.tenant == self.tenant and self.user in (None, scope.user) and self.project in (None, scope.project)

    def covers(self, other: "ApiKey") -> bool:
        """Whether another key is bound to no more than this one, and granted no more."""
        bound = self.user in (None, other.user) and self.project in (None, other.project)
        return other.tenant == self.tenant and bound and set(other.grants) <= set(self.grants)

    def require(self, grant: str) -> None:
        """Raise `AccessDenied` unless this is granted."""
        if grant not in self.grants:
            raise AccessDenied(f"this key is not granted {grant!r}")


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its token, which is shown once and stored nowhere."""

    key: ApiKey
    token: str

    def __repr__(self) -> str:
        return f"IssuedKey({self.key!r})"


def new_key_id() -> str:
    """Sixty random bits, in lower-case letters and digits that are not confused."""
    return "".join(secrets.choice(_ID_CHARS) for _ in range(_ID_LENGTH))


def new_secret() -> str:
    """256 random bits, as 43 characters."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def token_of(key_id: str, secret: str) -> str:
    """What a caller sends."""
    return f"biem_{key_id}_{secret}"


def parse_token(token: str) -> tuple[str, bytes] | None:
    """The id, and the hash of the secret; None for anything else than a token."""
    found = _FORM.fullmatch(token)
    return None if found is None else (found[1], secret_hash(found[2]))


def secret_hash(secret: str) -> bytes:
    """SHA-256: a secret of 256 random bits needs no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


def require_grants(grants: object) -> tuple[str, ...]:
    """The grants in their order, each once; raises `InvalidInput` for none or an unknown one."""
    if isinstance(grants, str) or not isinstance(grants, tuple | list | set | frozenset) or not grants:
        raise InvalidInput(f"grants must be some of {', '.join(GRANTS)}")
    if unknown := [grant for grant in grants if grant not in GRANTS]:
        raise InvalidInput(f"grant {unknown[0]!r:.60} is unknown; choose some of {', '.join(GRANTS)}")
    return tuple(grant for grant in GRANTS if grant in grants)
