"""Access to `biem web`: a token or, without one, requests from this machine only.

Without a token, a request must come from this machine and name it in its Host header, which prevents DNS rebinding.
"""

import ipaddress
import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import Scope

from biem.domain.access.key import ApiKey
from biem.errors import AccessDenied, KeyInvalid


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """What every admitted request may do: as with `key`, which is in no database."""

    key: ApiKey
    token: str = field(default="", repr=False)
    """Required of requests for memories; empty: every request must come from this machine."""

    def require(self, scope: Scope, *, free: bool) -> None:
        """Raise `AccessDenied` or `KeyInvalid` unless a request may pass; `free`: what it asks for has no memory."""
        headers = Headers(scope=scope)
        if not self.token:
            client = scope.get("client")
            if not (client and is_loopback(client[0]) and names_this_machine(headers.get("host", ""))):
                raise AccessDenied(
                    "without a token this server accepts requests from its own machine only; set BIEM_WEB_TOKEN"
                )
            return
        given = headers.get("authorization", "")
        if not free and not secrets.compare_digest(given.encode("latin-1"), f"Bearer {self.token}".encode()):
            raise KeyInvalid("a token is needed; send it as Authorization: Bearer …")


def is_loopback(host: str) -> bool:
    """Whether an address or name is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def names_this_machine(host: str) -> bool:
    """Whether a Host header is localhost or a loopback address, with any port."""
    return is_loopback(name_of(host))


def name_of(host: str) -> str:
    """The name in a Host header, without the port and in lower case."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower()
