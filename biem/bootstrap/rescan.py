"""A hook in the beat table: a user's function that imports external changes, such as notes in files.

    BIEM_RESCAN=my_notes.sync:rescan        called every BIEM_RESCAN_S seconds, by one worker at a time

The function takes an open `Memory` and returns what it changed, as counts by kind. It should give each note a `ref`:
then repeated calls, also after a crash, store every note once.
"""

from collections.abc import Callable, Mapping
from importlib import import_module

from biem.adapters.postgres.locks import PostgresExclusive
from biem.bootstrap import connect_late
from biem.bootstrap.servers import servers
from biem.config import Settings
from biem.domain.scope import Scope
from biem.errors import ConfigError
from biem.memory import Memory

Rescan = Callable[[Memory], Mapping[str, int]]
_ALONE = {"queue": "none", "close_timeout_s": 0.0}


def rescan(settings: Settings) -> Mapping[str, int]:
    """Call the configured function, unless it runs already; returns its changes, empty if none is configured.

    Raises `ConfigError` when there is no such function; the function's own exceptions pass through.
    """
    if not settings.rescan:
        return {}
    function = _named(settings.rescan)
    with servers(settings) as where:
        alone = PostgresExclusive(where.postgres_dsn)
        try:
            with alone.hold(None, "rescan") as granted:
                return _called(function, settings) if granted else {}
        finally:
            alone.close()


def _called(function: Rescan, settings: Settings) -> Mapping[str, int]:
    scope = Scope(settings.tenant, settings.user, settings.project)
    with connect_late(settings.model_copy(update=_ALONE), scope) as memory:
        return {str(kind): int(count) for kind, count in function(memory).items()}


def _named(name: str) -> Rescan:
    module, _, attribute = name.partition(":")
    try:
        function: Rescan = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"BIEM_RESCAN={name} names no function: {error}") from error
    return function
