"""What a caller gets from each operation while one server is away: docs/outages.md shows it, the tests prove it."""

from collections.abc import Callable
from dataclasses import dataclass

import biem

FINE = "as ever"


@dataclass(frozen=True, slots=True)
class Operation:
    """One use of a memory; `do` says in a few words what came of it, or raises."""

    name: str
    do: Callable[[biem.Memory, list[str]], str]


def _remember(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if memory.remember("The lamp is green", speaker="Ann") else "nothing"


def _told(hits: biem.Hits) -> str:
    found = "found" if any("lantern" in hit.node.text for hit in hits) else "nothing"
    return f"{found}, `degraded`: {', '.join(hits.degraded)}" if hits.degraded else FINE if hits else found


def _recall(memory: biem.Memory, ids: list[str]) -> str:
    return _told(memory.recall("lantern"))


def _recall_typed(memory: biem.Memory, ids: list[str]) -> str:
    return _told(memory.recall_typed("lantern"))


def _context(memory: biem.Memory, ids: list[str]) -> str:
    block = memory.context("lantern")
    found = "found" if "lantern" in block.text else "nothing"
    return f"{found}, `degraded`: {', '.join(block.degraded)}" if block.degraded else FINE if block.text else found


def _answer(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if "lantern" in memory.answer("lantern").context else "nothing"


def _get(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if "lantern" in memory.get(ids[0]).text else "nothing"


def _links(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if isinstance(memory.links(ids[0]), list) else "nothing"


def _related(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if isinstance(memory.related("lantern"), list) else "nothing"


def _running(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if isinstance(memory.running("lantern", conversation="c"), tuple) else "nothing"


def _instant(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if isinstance(memory.instant("c"), list) else "nothing"


def _archive(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if memory.archive(ids[2]) and memory.restore(ids[2]) else "nothing"


def _feedback(memory: biem.Memory, ids: list[str]) -> str:
    memory.feedback(useful=ids[:1])
    return FINE


def _erase(memory: biem.Memory, ids: list[str]) -> str:
    receipt = memory.erase(ids[1])
    return FINE if receipt.complete else "erased; the receipt names the stores to be cleared later"


def _conflicts(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if isinstance(memory.conflicts(), list) else "nothing"


def _sleep(memory: biem.Memory, ids: list[str]) -> str:
    failed = memory.sleep().failed
    return "the report names the jobs that failed" if failed else FINE


def _reindex(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if memory.reindex() else "nothing"


def _stats(memory: biem.Memory, ids: list[str]) -> str:
    return FINE if memory.stats()["memories"] else "nothing"


OPERATIONS = (
    Operation("remember", _remember),
    Operation("recall", _recall),
    Operation("context", _context),
    Operation("recall_typed", _recall_typed),
    Operation("answer", _answer),
    Operation("get", _get),
    Operation("links", _links),
    Operation("related", _related),
    Operation("running", _running),
    Operation("instant", _instant),
    Operation("archive", _archive),
    Operation("feedback", _feedback),
    Operation("conflicts", _conflicts),
    Operation("stats", _stats),
    Operation("sleep", _sleep),
    Operation("erase", _erase),
    Operation("reindex", _reindex),
)
