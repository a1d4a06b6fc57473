"""The indexer of `biem local up`: worker threads in a process that runs as long as the kept servers.

`python -m biem.bootstrap.indexer HOME LOCK_FD`, started by `start` with its settings on stdin.
"""

import logging
import pickle
import signal
import sys
import threading
from pathlib import Path

from biem.adapters.embedded import indexer
from biem.bootstrap import connect
from biem.bootstrap.garbage_collection import pass_over_what_is_loaded
from biem.bootstrap.servers import home_of
from biem.config import Settings
from biem.errors import ConfigError, StoreUnavailable

logger = logging.getLogger("biem")

_PAUSE_S = 5.0
"""Pause after a failed start because a server or a model did not answer."""
_OWN = {
    "queue": "thread", "close_timeout_s": 0.0, "metrics_port": None,
    # Always the embedded servers, also if the settings name others.
    "postgres_dsn": None, "postgres_host": None, "redis_url": None, "milvus_uri": None, "milvus_host": None,
}  # fmt: skip


def start(settings: Settings) -> None:
    """Start it, unless it runs, or the settings use other workers."""
    if settings.queue != "thread":
        return
    home = home_of(settings)
    own = settings.model_copy(update={**_OWN, "home": home})
    indexer.start(home, "biem.bootstrap.indexer", pickle.dumps(own))


def main(arguments: list[str]) -> None:
    """Index new memories until a stop is requested or the servers are no longer kept."""
    home, lock = Path(arguments[0]), int(arguments[1])
    settings: Settings = pickle.loads(sys.stdin.buffer.read())  # from our own parent
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: told.set())
    wanted = indexer.claim(home, lock)
    while wanted() and not told.is_set():
        try:
            with connect(settings):
                pass_over_what_is_loaded()
                indexer.wait(wanted, told.wait)
        except StoreUnavailable as error:
            logger.warning("the indexer starts again: %s", error)
            told.wait(_PAUSE_S)
        except ConfigError as error:
            logger.error("the indexer cannot start: %s", error)  # noqa: TRY400  the message has the solution
            return


if __name__ == "__main__":
    main(sys.argv[1:])
