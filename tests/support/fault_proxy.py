"""A memory whose servers can be cut off, one by one."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import biem
from biem.config import Settings
from biem.domain.policies.writing import EncodePolicy
from tests.support.fakes import WordEmbedder
from tests.support.workloads import Doors

IMPATIENT = EncodePolicy(backoff_s=0.05, backoff_max_s=0.1, poll_s=0.1, lease_s=5.0)
"""A claim whose answer was lost with the connection is made again when its lease is over."""


@contextmanager
def through(doors: Doors, *, worker: bool = True, embedder: WordEmbedder | None = None) -> Iterator[biem.Memory]:
    """A memory behind the doors, in its own scope, that tries again soon."""
    settings = Settings(**doors.urls, queue="thread" if worker else "none", close_timeout_s=0.2, encode=IMPATIENT)  # type: ignore[arg-type]
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings, scope=scope, embedder=embedder or WordEmbedder()) as memory:
        yield memory
