"""What does a message of a session cost, from the first to the ten thousandth, and what does trimming?

Appends `--messages` messages through the public API, half from the user, half from the assistant, each with its memory,
to one session that is never trimmed; `remember` stores such texts without a session, in turns with them. `wal_bytes`:
bytes of PostgreSQL's write-ahead log per message, with nothing else writing. `vs_first`: the median of a stretch over
that of the first. Then a session of 128,000 tokens is trimmed without a model, alone and while another one is appended
to; and windows of 128,000 tokens are read. Indexing is off: it is measured elsewhere.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._synthetic import Texts
from benchmarks.metrics import percentiles
from biem.bootstrap import open_worker, servers
from biem.config import Settings, load_settings
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.scope import Scope

_COLUMNS = ("what", "n", "p50_ms", "p95_ms", "vs_first", "remember_p50_ms", "wal_bytes", "remember_wal")
_TOKENS = 128_000
_ROUND_TOKENS = 200
_STRETCH = 1_000
_WINDOWS = 20


def measured(call: Callable[[int], object], numbers: Sequence[int]) -> list[float]:
    """Milliseconds of each call."""
    times = []
    for number in numbers:
        start = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - start) * 1e3)
    return times


def row(what: str, times: Sequence[float], **more: Any) -> dict[str, Any]:
    """One line of the table."""
    found = {name: round(value, 2) for name, value in percentiles(times, 50, 95).items()}
    return {"what": what, "n": len(times), **found, **more}


def median(times: Sequence[float]) -> float:
    """The middle one."""
    return percentiles(times, 50)["p50_ms"]


def role(number: int) -> str:
    """Questions and answers in turns."""
    return "assistant" if number % 2 else "user"


def appends(memory: biem.Memory, dsn: str, texts: Texts, messages: int) -> Iterator[dict[str, Any]]:
    """Append and remember in turns, a stretch of each at a time."""
    chat, first = memory.sessions.open("long"), 0.0
    with psycopg.connect(dsn, autocommit=True) as connection:
        for start in range(0, messages, _STRETCH):
            numbers = range(start, min(messages, start + _STRETCH))
            few = numbers[: max(1, len(numbers) // 5)]
            at = [written(connection)]
            times = measured(lambda n: memory.sessions.append(chat.id, role(n), texts.text(), tokens=1), numbers)
            at.append(written(connection))
            plain = measured(lambda n: memory.remember(texts.text(), source=role(n)), few)
            at.append(written(connection))
            first = first or median(times)
            yield row(
                f"append {start + 1:,} to {numbers[-1] + 1:,}",
                times,
                vs_first=round(median(times) / first, 2),
                remember_p50_ms=round(median(plain), 2),
                wal_bytes=(at[1] - at[0]) // len(numbers),
                remember_wal=(at[2] - at[1]) // len(few),
            )


def written(connection: psycopg.Connection) -> int:
    """Bytes of the write-ahead log so far."""
    found = connection.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
    assert found is not None
    return int(found[0])


def filled(memory: biem.Memory, texts: Texts, name: str) -> str:
    """A session just full; its id."""
    chat = memory.sessions.open(name)
    for number in range(2 * _TOKENS // _ROUND_TOKENS):
        memory.sessions.append(chat.id, role(number), texts.text(), tokens=_ROUND_TOKENS // 2)
    return chat.id


def work(settings: Settings) -> None:
    """In a worker process: the job that trims."""
    worker = open_worker(settings, embedder=SyntheticEmbedder())
    with worker.paced():
        worker.run("sessions")
    worker.close()


def trimming(memory: biem.Memory, texts: Texts, settings: Settings) -> Iterator[dict[str, Any]]:
    """Trim a full session, then another one in a worker process while a third is appended to."""
    full = filled(memory, texts, "full")
    start = time.perf_counter()
    slices = memory.sessions.trim(full)
    yield row(f"trim of {_TOKENS:,} tokens, {slices} slices", [(time.perf_counter() - start) * 1e3])
    windows = measured(lambda _: memory.sessions.window(full), range(_WINDOWS))
    yield row("window after it", windows)
    again = filled(memory, texts, "full again")
    yield row("window of a full session", measured(lambda _: memory.sessions.window(again), range(_WINDOWS)))
    chat = memory.sessions.open("meanwhile")
    quiet = measured(lambda n: memory.sessions.append(chat.id, role(n), texts.text(), tokens=1), range(_STRETCH // 2))
    yield row("append, nothing trimmed", quiet)
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(settings,))
    worker.start()
    busy: list[float] = []
    while worker.is_alive():
        times = measured(lambda n: memory.sessions.append(chat.id, role(n), texts.text(), tokens=1), [len(busy)])
        busy += times if memory.sessions.get(again).head_seq > 1 else []
    if worker.exitcode:
        raise SystemExit("the worker failed")
    ratio = median(busy) / median(quiet)
    yield row("append while a session is trimmed", busy, vs_first=round(ratio, 2))


@contextmanager
def opened(settings: Settings) -> Iterator[tuple[biem.Memory, str]]:
    """A memory in a scope of its own, and the address of its PostgreSQL."""
    used = settings.model_copy(update={"queue": "none", "session": SessionPolicy(max_tokens=_TOKENS)})
    with (
        servers(used) as where,
        biem.connect(used, scope=Scope(user=f"sessions-{uuid.uuid4().hex}"), embedder=SyntheticEmbedder()) as memory,
    ):
        yield memory, where.postgres_dsn


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sessions", description=__doc__)
    parser.add_argument("--messages", type=positive, default=10_000, metavar="N", help="of the long session")
    parser.add_argument(
        "--env-file", type=Path, metavar="FILE", help="settings (default: embedded servers, thrown away)"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(options.env_file) if options.env_file else Settings(home=Path(folder) / "biem")
        with opened(settings) as (memory, dsn):
            texts = Texts()
            rows = [*appends(memory, dsn, texts, options.messages), *trimming(memory, texts, settings)]
    _report.print_table("Sessions", _COLUMNS, rows)
    if options.json:
        given = sys.argv[1:] if arguments is None else arguments
        _report.write_json(options.json, _report.command("benchmarks.sessions", given), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
