"""All exceptions of the public API, and their codes for CLI and HTTP.

The message tells what happened and what to do next; `retryable` tells whether the same call may succeed later.
"""

from collections.abc import Sequence
from typing import ClassVar

from biem.redaction import hidden


class BiemError(Exception):
    """Root of all errors that biem raises deliberately. No message contains a secret that this process knows."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, *said: object) -> None:
        super().__init__(*(hidden(word) if isinstance(word, str) else word for word in said))


class InvalidInput(BiemError):
    """The caller's data is invalid; nothing was written."""

    exit_code = 2
    http_status = 422


class NotFound(BiemError):
    """No such memory in this scope."""

    exit_code = 3
    http_status = 404


class AccessDenied(BiemError):
    """The key does not allow this call."""

    exit_code = 12
    http_status = 403


class KeyInvalid(AccessDenied):
    """There is no key, or it is unknown, expired or revoked."""

    http_status = 401


class RefConflict(InvalidInput):
    """The caller's `ref` already names a memory with another text; nothing was written."""

    exit_code = 4
    http_status = 409


class RevisionConflict(InvalidInput):
    """The memory is at another revision than the caller expected; nothing was changed."""

    exit_code = 4
    http_status = 409


class ImportConflict(InvalidInput):
    """A line of a file contradicts what the scope holds, or itself. What stood before it is stored."""

    exit_code = 4
    http_status = 409


class AlreadyDecided(InvalidInput):
    """The conflict was resolved or ignored before; undo that first. Nothing was changed."""

    exit_code = 4
    http_status = 409


class ConfigError(BiemError):
    """The settings are invalid; the message names the setting."""

    exit_code = 5


class SchemaOutdated(ConfigError):
    """The database's schema is not the one this version needs; run `biem migrate`."""


class StoreUnavailable(BiemError):
    """A server cannot be reached or refuses work; no acknowledged memory is lost."""

    exit_code = 6
    http_status = 503
    retryable = True


class CallRefused(StoreUnavailable):
    """A server is up and refused this one call, while others may succeed: no outage."""


class StoreFull(StoreUnavailable):
    """The disk or the memory of a server is exhausted; nothing was partially written."""

    exit_code = 7
    http_status = 507


class NotIndexed(BiemError):
    """Indexing did not finish in time. The memories are stored, and found by their words: do not repeat the call."""

    exit_code = 11
    http_status = 504

    def __init__(self, message: str, ids: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.ids = tuple(ids)
        """All memories that the call stored or found, indexed or not, in order."""


class EmbedderUnavailable(BiemError):
    """The embedder cannot be reached or is overloaded; memories wait as `pending` and stay findable by text."""

    exit_code = 8
    http_status = 503
    retryable = True


class EmbedderMismatch(ConfigError):
    """The embedder returns another dimension than before; its vectors are never stored."""

    exit_code = 9


class RerankerUnavailable(BiemError):
    """The reranker cannot be reached, is too slow or returns invalid scores; `recall` keeps its own order."""

    exit_code = 8
    http_status = 503
    retryable = True

    def __init__(self, message: str, pause_s: float | None = None) -> None:
        super().__init__(message)
        self.pause_s = pause_s
        """The pause that the server requested, in seconds."""


class RateLimited(BiemError):
    """The scope wrote more than `BIEM_WRITE__MAX_PER_MINUTE` allows; this call's memories are not stored."""

    exit_code = 10
    http_status = 429
    retryable = True

    def __init__(self, message: str, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s
        """Seconds until there is room again."""


class MissingExtra(ConfigError):
    """An optional dependency is needed; the message names the extra to install."""
