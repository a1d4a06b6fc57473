"""Renews the leases of claimed jobs while they run."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from biem.errors import BiemError
from biem.ports import Job, Records

logger = logging.getLogger("biem.encode")

_RENEWALS_PER_LEASE = 3
"""Two renewals may fail or be late before the lease expires."""
_MOST_RENEWALS = 90
"""Maximum renewals: a step that hangs for half an hour (at a lease of a minute) loses its jobs to others."""


@contextmanager
def kept(records: Records, jobs: Sequence[Job], lease_s: float) -> Iterator[None]:
    """Renew the leases of these jobs from a thread while the block runs; no renewal is in progress after it.

    A suspended process renews nothing, so others may claim its jobs when the lease expires. A failed renewal is
    retried; afterwards the caller must check whether the jobs are still held.
    """
    over = threading.Event()

    def renew() -> None:
        for _ in range(_MOST_RENEWALS):
            if over.wait(lease_s / _RENEWALS_PER_LEASE):
                return
            try:
                records.renew(jobs, lease_s)
            except BiemError as error:
                logger.info("the leases of %d jobs were not renewed: %s", len(jobs), error)

    thread = threading.Thread(target=renew, name="biem-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
