"""Who calls: a key, and the scope that it opens for this request."""

from dataclasses import dataclass

from starlette.requests import Request

from biem.domain.access.key import ApiKey
from biem.domain.scope import Scope
from biem.memory import Memory
from biem.server.backend import ServerBackend


@dataclass(frozen=True, slots=True)
class Caller:
    """A request's key, and its scope: bound by the key or, where the key is open, named by headers of the request."""

    key: ApiKey
    scope: Scope
    backend: ServerBackend

    def memory(self, grant: str = "read", *, scope: Scope | None = None) -> Memory:
        """The memory of the scope, or of another one within the key's binding, if the key grants this.

        Raises `AccessDenied`.
        """
        self.key.require(grant)
        wanted = self.scope if scope is None else scope
        if not self.key.admits(wanted):
            self.key.scope(wanted.user, wanted.project)
        return self.backend.memory.scope(tenant=wanted.tenant, user=wanted.user, project=wanted.project)


def caller_of(request: Request) -> Caller:
    """The caller, whom the gate has let in."""
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller
