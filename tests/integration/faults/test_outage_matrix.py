"""docs/outages.md: each server away × each operation. The table of the page is what these tests expect."""

import re
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

import biem
from biem.bootstrap import Servers
from biem.config import Settings
from biem.domain.policies.writing import EncodePolicy
from tests.support.databases import fresh_database
from tests.support.fakes import WordEmbedder, eventually
from tests.support.outage_table import FINE, OPERATIONS, Operation
from tests.support.workloads import Door, Doors

PAGE = Path(__file__).parents[3] / "docs" / "outages.md"
AWAY = "`StoreUnavailable`"
LATER = "erased; the receipt names the stores to be cleared later"
JOBS = "the report names the jobs that failed"

EXPECTED: dict[str, dict[str, str]] = {
    "postgres": {
        **dict.fromkeys((operation.name for operation in OPERATIONS), AWAY),
        "sleep": JOBS,
    },
    "redis": {
        **dict.fromkeys((operation.name for operation in OPERATIONS), FINE),
        "recall": "found, `degraded`: redis",
        "context": "found, `degraded`: redis",
        "erase": LATER,
    },
    "milvus": {
        **dict.fromkeys((operation.name for operation in OPERATIONS), FINE),
        "recall": "found, `degraded`: milvus",
        "context": "found, `degraded`: milvus",
        "recall_typed": "found, `degraded`: milvus",
        "sleep": JOBS,
        "erase": LATER,
        "reindex": AWAY,
    },
}
"""Whether the server refuses or hangs makes no difference to what comes back, only to when."""
SECONDS = {
    ("postgres", "refuses"): 10,
    ("postgres", "hangs"): 30,
    ("redis", "refuses"): 5,
    ("redis", "hangs"): 5,
    ("milvus", "refuses"): 5,
    ("milvus", "hangs"): 12,
}
"""No operation takes longer; the page says so."""


@pytest.fixture(scope="module")
def own_database(stack: Servers) -> Iterator[str]:
    """A database that holds nothing but what this file writes: `reindex` visits every memory."""
    with fresh_database(stack.postgres_dsn) as name:
        yield name


@pytest.fixture
def doors(stack: Servers, tmp_path: Path) -> Iterator[Doors]:
    """The same servers, each of which can be cut off or made to hang."""
    opened = Doors(tmp_path, stack)
    yield opened
    opened.shut()


@pytest.fixture
def memory(doors: Doors, own_database: str) -> Iterator[biem.Memory]:
    """A memory with two active texts, behind the doors, that does no work on its own."""
    settings = Settings(
        **doors.urls | {"postgres_dsn": make_conninfo(doors.urls["postgres_dsn"], dbname=own_database)},  # type: ignore[arg-type]
        queue="none",
        close_timeout_s=0.2,
        milvus_collection=own_database,
        encode=EncodePolicy(backoff_s=0.05, backoff_max_s=0.1, poll_s=0.1),
    )
    with biem.connect(settings, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder()) as opened:
        yield opened


def outcome(memory: biem.Memory, ids: list[str], operation: Operation) -> tuple[str, float]:
    """What came of it, as the page has it, and after how many seconds."""
    began = time.monotonic()
    try:
        said = operation.do(memory, ids)
    except biem.BiemError as error:
        helpful = "check" in str(error) or "server" in str(error)
        said = f"`{type(error).__name__}`" if helpful else f"an error that says not what to do: {error}"
    return said, time.monotonic() - began


def index_all(memory: biem.Memory) -> None:
    """What a worker would do."""
    while memory._system.encoder():
        pass


@pytest.mark.req("X31", partly="no call hangs, whatever server does")
@pytest.mark.parametrize("how", ["refuses", pytest.param("hangs", marks=pytest.mark.long)])
@pytest.mark.parametrize("server", list(EXPECTED))
def test_each_operation_ends_as_the_page_says_while_a_server_is_away(
    server: str, how: str, doors: Doors, memory: biem.Memory
) -> None:
    # Given a memory that works
    ids = memory.remember_many(
        [
            {"text": "The lantern hangs in the hall"},
            {"text": "A kettle sings on the stove"},
            {"text": "A violin hangs in the attic"},
        ]
    )
    index_all(memory)
    assert memory.recall("lantern").degraded == ()
    door: Door = getattr(doors, server)
    # When a server goes away / Then each operation answers in time, and as documented
    (door.shut if how == "refuses" else door.stall)()
    with ThreadPoolExecutor(len(OPERATIONS) if server == "postgres" else 1) as callers:
        found = dict(
            zip(
                (operation.name for operation in OPERATIONS),
                callers.map(lambda operation: outcome(memory, ids, operation), OPERATIONS),
                strict=True,
            )
        )
    assert {name: said for name, (said, _) in found.items()} == EXPECTED[server]
    assert {name: took for name, (_, took) in found.items() if took > SECONDS[server, how]} == {}
    # And when it is back, so is everything, and what was erased is gone
    door.open()
    eventually(lambda: not memory.sleep().failed)
    memory.reindex()
    index_all(memory)
    eventually(lambda: memory.recall("lantern").degraded == ())
    assert ids[0] in {hit.node.id for hit in memory.recall("lantern")}
    written = memory.remember("The lantern was lit again")
    assert written in {hit.node.id for hit in memory.recall("lantern")}
    if EXPECTED[server]["erase"] == LATER:
        assert memory.recall("kettle stove") == [] or ids[1] not in {hit.node.id for hit in memory.recall("kettle")}


def table() -> str:
    """The matrix as the page shows it."""
    names = {"postgres": "PostgreSQL", "redis": "Redis", "milvus": "Milvus"}
    lines = [f"| Operation | {' | '.join(f'without {names[server]}' for server in EXPECTED)} |"]
    lines.append("| --- |" + " --- |" * len(EXPECTED))
    lines += [
        f"| `{operation.name}` | {' | '.join(EXPECTED[server][operation.name] for server in EXPECTED)} |"
        for operation in OPERATIONS
    ]
    for how in ("refuses", "hangs"):
        limits = " | ".join(f"{SECONDS[server, how]} s" for server in EXPECTED)
        lines.append(f"| *ends within, when it {how}* | {limits} |")
    return "\n".join(lines)


def test_the_page_shows_this_very_table() -> None:
    found = re.search(r"^\| Operation \|.*?(?=\n\n)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    assert found[0] == table(), f"docs/outages.md should show:\n{table()}"
