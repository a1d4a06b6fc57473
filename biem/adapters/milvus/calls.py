"""Calls to one Milvus server: connects when called, reconnects after outages, gives its errors our names."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import grpc

from biem.adapters.fork_safety import CALLS
from biem.adapters.milvus.collection import LOAD_TIMEOUT_S, connected
from biem.adapters.milvus.light_import import MilvusClient, MilvusException
from biem.errors import CallRefused, StoreFull, StoreUnavailable

T = TypeVar("T")
Key = TypeVar("Key", str, int)

_NOT_LOADED = (101, 106, 503)
"""Milvus' codes for an existing collection that is not in memory, as after a restart."""
_MISSING = (100, 4)
_REFUSED = (*range(1100, 1200), *range(2000, 2100))
"""Milvus' codes for invalid parameters or expressions, and failed evaluations: the server is up."""
_LITE_TICK_S = 0.001
"""Milvus Lite shows a write to every search that comes this much later."""


class MilvusCalls(ABC):
    """A client whose collections `_open` creates and loads. Thread-safe."""

    def __init__(self, uri: str, *, token: str, ca: str, timeout_s: float) -> None:
        self._uri = uri
        self._token = token
        self._tls = {"server_pem_path": ca} if ca else {}
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: MilvusClient | None = None
        self._opened = False
        self._answered = False

    def open(self) -> None:
        """Connect, and open the collections. Idempotent."""
        with self._errors():
            self._ready()

    def close(self) -> None:
        """Release the connection; a second call does nothing."""
        client, self._client, self._opened = self._client, None, False
        if client is not None:
            with CALLS.one():
                client.close()

    @abstractmethod
    def _open(self, client: MilvusClient) -> None:
        """Create what is missing, load it, and set `_opened`; as soon as the server has answered, `_answered`."""

    def _call(self, work: Callable[[MilvusClient], T]) -> T:
        """Run `work`, again if the server has restarted and must load or create the collection first."""
        with self._errors():
            client = self._ready()
            try:
                return work(client)
            except MilvusException as error:
                if error.code not in _NOT_LOADED + _MISSING and "not load" not in str(error).lower():
                    raise
            self._opened = False
            return work(self._ready())

    def _ready(self) -> MilvusClient:
        """The client with its collection open; waits for another thread that opens it no longer than for an answer, or
        while a server that has answered creates and loads it.
        """
        client = self._client
        if client is not None and self._opened:
            return client
        acquired = self._lock.acquire(timeout=self._timeout_s)
        if not acquired and not (self._answered and self._lock.acquire(timeout=LOAD_TIMEOUT_S)):
            raise StoreUnavailable("still connecting to Milvus; check that it runs and BIEM_MILVUS_URI")
        try:
            client = self._connect()
            self._open(client)
            return client
        finally:
            self._answered = False
            self._lock.release()

    def _connect(self) -> MilvusClient:
        if self._client is None:
            self._client = connected(self._uri, timeout_s=self._timeout_s, token=self._token, **self._tls)
        return self._client

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with CALLS.one():
                yield
        except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError) as error:
            if isinstance(error, ValueError) and "closed channel" not in str(error):
                raise
            text = " ".join(str(error).split())[:300]
            if "no space left" in text.lower() or "disk quota" in text.lower():
                raise StoreFull(f"Milvus' disk is full ({text}); free some space, then repeat") from error
            if isinstance(error, MilvusException) and error.code in _REFUSED:
                raise CallRefused(f"Milvus refused a call ({text}); request fewer rows at once") from error
            self._opened = False
            raise StoreUnavailable(f"Milvus did not answer ({text}); check that it runs and BIEM_MILVUS_URI") from error


def wait_until_visible(*, lite: bool, ask: Callable[[], object]) -> None:
    """Return when searches with bounded staleness see what was written.

    Such searches do not wait for the server's next time tick (0.2 s), so the writer waits for it, once: `ask`, a query
    with strong consistency, ends after it.
    """
    if lite:
        time.sleep(_LITE_TICK_S)
    else:
        ask()


def delete_rows(client: MilvusClient, collection: str, ids: Collection[str] | Collection[int]) -> None:
    """Delete rows by their keys."""
    client.delete(collection, ids=sorted(ids), timeout=LOAD_TIMEOUT_S)


def present_keys(
    client: MilvusClient, collection: str, ids: Sequence[Key], *, is_loaded: bool, timeout_s: float
) -> set[Key]:
    """Which of the keys have a row, including rows that searches do not see yet."""
    if not is_loaded:
        client.load_collection(collection, timeout=LOAD_TIMEOUT_S)
    rows = client.query(collection, ids=list(ids), output_fields=["id"], consistency_level="Strong", timeout=timeout_s)
    return {each["id"] for each in rows}


def count_rows(client: MilvusClient, collection: str, expression: str, timeout_s: float) -> int:
    """The number of rows that meet a filter expression; an empty one counts all."""
    rows = client.query(
        collection, filter=expression, output_fields=["count(*)"], consistency_level="Strong", timeout=timeout_s
    )
    return int(rows[0]["count(*)"])
