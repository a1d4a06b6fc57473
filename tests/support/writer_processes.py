"""Writers in their own processes, which begin at one moment."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any, TypeVar

from biem.adapters.postgres.migrations import migrate
from biem.domain.scope import Scope
from tests.contract.conftest import build_records, write

_Told = TypeVar("_Told")
_TOGETHER: list[Barrier] = []


def in_processes(work: Callable[..., _Told], count: int, *arguments: Any) -> list[_Told]:
    """What `work(number, *arguments)` returns in each of `count` fresh processes."""
    context = multiprocessing.get_context("spawn")  # a fork would share the connections of this process
    together = context.Barrier(count)
    with ProcessPoolExecutor(count, context, _begin, (together,)) as pool:
        return list(pool.map(work, range(count), *([argument] * count for argument in arguments)))


def _begin(together: Barrier) -> None:
    _TOGETHER.append(together)


def write_in_turns(number: int, dsn: str, scope: Scope) -> tuple[int, int]:
    """Ten turns of its own and of common texts; this process, and how many memories it made."""
    records, created = build_records(dsn, pool_size=2), 0
    _TOGETHER[0].wait()
    for turn in range(10):
        batches = (
            [write(f"{number}-{turn}"), write(f"both {turn}", fact=True)],
            [write(f"ref {turn}", ref=f"ref-{turn}")],
            [write(f"message {number}-{turn}")],  # takes no lock beforehand
        )
        created += sum(written.created for batch in batches for written in records.remember(scope, batch))
    records.close()
    return os.getpid(), created


def write_the_same(_: int, dsn: str, scope: Scope, ids: Sequence[str]) -> tuple[int, list[bool]]:
    """One message for each id; this process, and which it made."""
    records = build_records(dsn, pool_size=2)
    _TOGETHER[0].wait()
    created = [records.remember(scope, [write(f"message {key}", memory_id=key)])[0].created for key in ids]
    records.close()
    return os.getpid(), created


def write_first(_: int, dsn: str, scope: Scope) -> tuple[int, list[bool]]:
    """A fact and a ref; this process, and which of them it made."""
    records = build_records(dsn, pool_size=2)
    _TOGETHER[0].wait()
    written = records.remember(scope, [write("f", fact=True), write("r", ref="r")])
    records.close()
    return os.getpid(), [one.created for one in written]


def migrate_at_once(_: int, dsn: str) -> tuple[int, list[str]]:
    """This process, and the migrations that it applied."""
    _TOGETHER[0].wait()
    return os.getpid(), migrate(dsn)
