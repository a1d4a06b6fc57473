"""Maps for routes, filled: exact ones in memory, and Milvus through the package's adapter."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path

from benchmarks import _report
from benchmarks._exact import ExactMap
from biem.adapters.milvus.index import MilvusIndex
from biem.bootstrap import servers
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.ports import EmbedderInfo, Entry, Vectors
from biem.ports.aim import MemoryMap

KINDS = ("exact", "milvus")
_BATCH = 1_000
"""Five thousand at once take Milvus Lite a minute, a thousand half a second."""
_ANSWER_S = 120.0
"""A server that compacts a million vectors on two busy cores answers late, and that is measured, not refused."""
_UNSET = {"postgres_dsn": None, "postgres_host": None, "redis_url": None, "milvus_uri": None, "milvus_host": None}


@contextmanager
def filled(
    kind: str, scope: Scope, keys: Sequence[str], vectors: Vectors, at: datetime, home: Path | None, uri: str | None
) -> Iterator[MemoryMap]:
    """A map with these rows and no others of their number.

    Milvus is the server at `uri`, else Milvus Lite in `home`, which keeps what it has: a load that was interrupted
    goes on where it was.
    """
    if kind == "exact":
        exact = ExactMap()
        exact.load(scope, keys, vectors)
        yield exact
        return
    with ExitStack() as stack:
        index = stack.enter_context(closing(_index(home, uri, vectors.shape, stack)))
        index.open()
        _insert(index, scope, keys, vectors, at)
        yield index


def _index(home: Path | None, uri: str | None, shape: tuple[int, ...], stack: ExitStack) -> MilvusIndex:
    count, dim = shape
    token = ""
    if uri is None:
        folder = home or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        )
        settings: Settings = load_settings().model_copy(update={"home": folder, **_UNSET})
        where = stack.enter_context(servers(settings))
        uri, token = where.milvus_uri, where.milvus_token
    info = EmbedderInfo(f"route-{dim}", dim, ("mul",), 512)
    return MilvusIndex(uri, token=token, prefix=f"route{count}", info=info, index_type="auto", timeout_s=_ANSWER_S)


def _insert(index: MilvusIndex, scope: Scope, keys: Sequence[str], vectors: Vectors, at: datetime) -> None:
    there = index.count() // _BATCH * _BATCH  # of the last batch not all may be there
    with _report.progress() as bar:
        task = bar.add_task("load", total=len(keys), completed=there)
        for start in range(there, len(keys), _BATCH):
            rows = [
                Entry(key, scope, f"note {key}", vector, "event", "", "", (), at)
                for key, vector in zip(keys[start : start + _BATCH], vectors[start : start + _BATCH], strict=True)
            ]
            index.insert(rows, again=start == there)
            bar.advance(task, len(rows))
