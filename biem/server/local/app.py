"""The ASGI application: `uvicorn biem.server.local.app:app --port 8765`, or `biem web`.

Importing it opens nothing; it opens the configured memory when a server starts it, and closes it at the end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from biem.bootstrap.check_settings import warn_of_misspelt
from biem.bootstrap.env_file import chosen
from biem.bootstrap.server import Backend, open_backend
from biem.config import Settings, load_settings
from biem.domain.access.key import ApiKey
from biem.domain.scope import Scope
from biem.server.app import build
from biem.server.local_access import LocalAccess


def access_of(settings: Settings, scope: Scope) -> LocalAccess:
    """Access to one scope, to read, write and erase; keys are made with `biem keys`."""
    key = ApiKey(
        id="local",
        tenant=scope.tenant,
        user=scope.user,
        project=scope.project,
        grants=("read", "write", "erase"),
        created_at=datetime.fromtimestamp(0, UTC),  # it is listed nowhere
    )
    return LocalAccess(key, settings.web_token.get_secret_value())


@contextmanager
def configured() -> Iterator[Backend]:
    """What the environment and its env file configure."""
    env_file = chosen()
    settings = load_settings(env_file)
    warn_of_misspelt(env_file)
    with open_backend(settings) as backend:
        yield backend


def _access() -> LocalAccess:
    settings = load_settings(chosen())
    return access_of(settings, Scope(settings.tenant, settings.user, settings.project))


app = build(configured, local=_access)
