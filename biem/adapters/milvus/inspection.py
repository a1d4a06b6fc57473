"""Read-only inspection of Milvus, with a separate client."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc

from biem.adapters.milvus.collection import LOAD_TIMEOUT_S, connected, is_ours, server_version
from biem.adapters.milvus.light_import import MilvusClient, MilvusException
from biem.errors import StoreUnavailable
from biem.ports.diagnosis import Collection

T = TypeVar("T")

_MOST = 16_384
"""Maximum rows of one answer."""


class MilvusInspection:
    """The port `IndexInspection`. `prefix` is that of our collections' names. Connects when called."""

    def __init__(self, uri: str, *, token: str, prefix: str, ca: str = "", timeout_s: float = 5.0) -> None:
        self._uri = uri
        self._secrets = {"token": token} | ({"server_pem_path": ca} if ca else {})
        self._prefix = prefix
        self._timeout_s = timeout_s
        self._client: MilvusClient | None = None
        self._loaded: set[str] = set()

    def version(self) -> tuple[int, ...] | None:
        return self._call(lambda client: server_version(client, self._timeout_s))

    def names(self) -> list[str]:
        """Our collections."""
        names: list[str] = self._call(lambda client: client.list_collections(timeout=self._timeout_s))
        return sorted(name for name in names if is_ours(name, self._prefix))

    def collections(self) -> list[Collection]:
        return [self._describe(name) for name in self.names()]

    def _describe(self, name: str) -> Collection:
        described: Mapping[str, Any] = self._call(
            lambda client: client.describe_collection(name, timeout=self._timeout_s)
        )
        fields = {field["name"]: field for field in described["fields"]}
        dim = int(fields["dense"]["params"]["dim"]) if "dense" in fields else 0
        try:
            rows: int | None = self._count(name)
        except StoreUnavailable:
            rows = None
        return Collection(name, dim, "sparse" in fields, rows)

    def _count(self, name: str) -> int:
        return int(self._query(name, "", ["count(*)"])[0]["count(*)"])

    def between(self, collection: str, after: str, until: str, limit: int) -> dict[str, str]:
        condition = f'id > "{_checked(after)}"' + (f' and id <= "{_checked(until)}"' if until else "")
        rows = self._query(collection, condition, ["id", "ns"], limit=min(limit, _MOST))
        return {row["id"]: row["ns"] for row in rows}

    def present(self, collection: str, ids: Sequence[str]) -> set[str]:
        if not ids:
            return set()
        return {row["id"] for row in self._query(collection, None, ["id"], ids=list(ids))}

    def drop(self, collection: str) -> None:
        self._call(lambda client: client.drop_collection(collection, timeout=LOAD_TIMEOUT_S))
        self._loaded.discard(collection)

    def _query(self, collection: str, condition: str | None, fields: list[str], **more: Any) -> list[Any]:
        def attempt(client: MilvusClient) -> list[Any]:
            if collection not in self._loaded:
                client.load_collection(collection, timeout=LOAD_TIMEOUT_S)
                self._loaded.add(collection)
            if condition is not None:
                more["filter"] = condition
            return list(
                client.query(
                    collection,
                    output_fields=fields,
                    consistency_level="Strong",
                    timeout=self._timeout_s * 10,
                    **more,
                )
            )

        return self._call(attempt)

    def close(self) -> None:
        """Release the connection; a second call does nothing."""
        client, self._client = self._client, None
        self._loaded.clear()
        if client is not None:
            client.close()

    def _call(self, work: Callable[[MilvusClient], T]) -> T:
        with self._errors():
            if self._client is None:
                self._client = connected(self._uri, timeout_s=self._timeout_s, **self._secrets)
            return work(self._client)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError) as error:
            self._loaded.clear()
            text = " ".join(str(error).split())[:300]
            raise StoreUnavailable(f"it does not answer ({text})") from error


def _checked(text: str) -> str:
    """One of our ids, which cannot contain filter syntax."""
    if text and not all(c in "0123456789abcdefABCDEF-" for c in text):
        raise ValueError("not an id")
    return text
