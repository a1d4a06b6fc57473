"""What notes cost: scans, edits, moves, renamed tags, watching, reading, and recalls with and without them.

Generates a vault of `--files` files in both languages, indexes it on servers of its own with an embedder that costs
nothing, and counts what each later step does: texts embedded, rows written to Milvus, calls that write to PostgreSQL.
"""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from benchmarks._settled import settled
from biem.adapters.analyzers import RuleAnalyzer
from biem.bootstrap.notes import LateReader
from biem.config import load_settings
from biem.domain.note import FileStat
from biem.domain.policies.jobs import SleepPolicy
from biem.domain.policies.notes import NotePolicy
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import Role, Vectors
from biem.ports.files import FileContent

_COLUMNS = ("what", "value", "unit", "must", "ok")
_WRITES = frozenset(
    [
        *("put", "touch", "skip", "delete", "scanned", "set_library", "renew", "save_vectors", "complete", "finish"),
        *("release", "fail", "rename_tag"),
    ]
)
_SAID = tuple(
    f"The {instrument} was tuned yesterday."
    for instrument in ("xylophone", "glockenspiel", "harpsichord", "clavichord", "marimba")
)
"""Edits that are timed: a full garbage collection falls into some."""
_SAID_LATER = "The theremin was mended at noon."
_FOUND_S = 60.0
_TOPICS = (
    *("harbour", "lantern", "bridge", "orchard", "kiln", "loom", "windmill", "quarry", "ferry", "beehive"),
    *("港口", "灯塔", "石桥", "果园", "窑炉", "织机", "风车", "采石场", "渡船", "蜂箱"),
)
_FACTS = (
    "The {topic} of district {n} was repaired in spring and opens at {m} in the morning.",
    "Its keeper counts {n} visitors a week, and pays {m} coins for oil.",
    "“{topic} {n}” has {m} steps; **material**: granite from the hills.",
    "第{n}区的{topic}在春天修好，每天早上{m}点开放，管理员每周记录访客人数。",
    "《{topic}志》写道：**材料**是花岗岩，一共有{m}级台阶，编号{n}。",
)


class Counting:
    """Records, index and embedder of notes, whose calls are counted."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def over(self, inner: Any, name: str) -> Any:
        """The same object; each call counts."""
        calls = self.calls

        class Counted:
            def __getattr__(self, method: str) -> Any:
                value = getattr(inner, method)
                if not callable(value):
                    return value

                def call(*arguments: Any, **named: Any) -> Any:
                    calls[f"{name}.{method}"] += method != "touch" or bool(arguments[1])  # of no file: no write
                    if method in ("insert", "insert_tags"):
                        calls[f"rows.{method}"] += len(arguments[0])
                    return value(*arguments, **named)

                return call

        return Counted()

    @property
    def writes(self) -> int:
        """Calls that write to PostgreSQL, and rows of Milvus."""
        written = sum(count for name, count in self.calls.items() if name.removeprefix("records.") in _WRITES)
        return written + self.calls["rows.insert"] + self.calls["rows.insert_tags"] + self.calls["index.purge"]


class CountingEmbedder(SyntheticEmbedder):
    """Counts the passages that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.passages = 0

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """As the port says."""
        if role == "passage":
            self.passages += len(texts)
        return super().embed(texts, role)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.note_costs", description=__doc__)
    parser.add_argument("--files", type=positive, default=10_000, metavar="N", help="of the vault (default: 10,000)")
    parser.add_argument("--idle-s", type=float, default=60.0, metavar="S", help="time of watching (default: 60)")
    parser.add_argument("--memories", type=positive, default=2_000, metavar="N", help="beside the notes")
    parser.add_argument("--questions", type=positive, default=100, metavar="N", help="of each kind of recall")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    for row in _rows(options):
        rows.append(row)
        print(f"{row['what']}: {row['value']} {row['unit']}", file=sys.stderr)
    if options.json:
        line = _report.command("benchmarks.note_costs", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows)
    _report.print_table("Costs of notes", _COLUMNS, rows)
    return 0


def _rows(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    yield _row("reading with tags", _reading(), "million characters/s", ">= 0.3")
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True)))
        embedder = CountingEmbedder()
        settings = load_settings().model_copy(update={"queue": "none", "sleep": SleepPolicy(off=("notes",))})
        filled = settled(home / "home", Scope("costs", "one"), options.memories, embedder, settings)
        memory = stack.enter_context(filled).memory
        counting = Counting()
        _count(memory, counting)
        yield from _files(memory, home / "vault", options, embedder, counting)
        yield from _recalls(memory, options)


def _count(memory: biem.Memory, counting: Counting) -> None:
    system = memory._system.notes
    system.records = counting.over(system.records, "records")
    for part in (system.scanner, system.encoder):
        part._records = counting.over(part._records, "records")
        part._index = counting.over(part._index, "index")


def _files(
    memory: biem.Memory, root: Path, options: argparse.Namespace, embedder: CountingEmbedder, counting: Counting
) -> Iterator[dict[str, object]]:
    notes, random_ = memory.notes, random.Random(1)
    _write(root, options.files, random_)
    large = root / "large.md"
    large.write_text(_large(random_), encoding="utf-8")
    notes.add(root, name="vault")
    took = _timed(notes.sync)
    yield _row(f"first sync of {options.files:,} files", took, "s", "")

    counting.calls.clear()
    embedder.passages = 0
    notes.sync()  # files written shortly before a scan are read once more
    counting.calls.clear()
    reports: list[Any] = []
    took = _timed(lambda: reports.append(notes.sync()))
    what = f"second sync of {options.files:,} unchanged files"
    yield _row(what, took, "s", "<= 2")
    yield _row(f"{what}: read", reports[0].libraries[0].read, "files", "<= 0")
    yield _row(f"{what}: embedded", embedder.passages, "texts", "<= 0")
    yield _row(f"{what}: written", counting.writes, "calls and rows", "<= 0")

    notes.search(_SAID[0])  # connects
    size = _edit(large, _SAID[0])
    counting.calls.clear()
    embedder.passages = 0
    edited = what = f"one paragraph of {size / 2**20:.1f} MiB changed"
    times = [_until_found(memory, _SAID[0])]
    notes.sync()
    yield _row(f"{what}: embedded", embedder.passages, "texts", "<= 2")
    yield _row(f"{what}: rows", counting.calls["rows.insert"], "rows of chunks", "<= 2")
    for said in _SAID[1:]:
        _edit(large, said)
        times.append(_until_found(memory, said))
        notes.sync()
    found = [each for each, _ in times if each is not None]
    yield _row(
        f"{what}: found by words", statistics.median(found) if len(found) == len(times) else None, "ms p50", "<= 300"
    )
    yield _row(f"{what}: found by words at the latest", max(found, default=None), "ms", "")
    yield _row(f"{what}: end of the scan", statistics.median(whole for _, whole in times), "ms p50", "")

    counting.calls.clear()
    embedder.passages = 0
    (root / "folder-0").rename(root / "renamed")
    moved = notes.sync().libraries[0].moved
    what = f"a folder of {moved:,} files moved"
    yield _row(f"{what}: contents embedded", counting.calls["rows.insert"], "texts", "<= 0")
    yield _row(f"{what}: rows", counting.calls["rows.insert"], "rows of chunks", "<= 0")
    yield _row(f"{what}: tags embedded", embedder.passages, "texts", "")

    counting.calls.clear()
    embedder.passages = 0
    most = max(notes.tags(), key=lambda tag: tag.uses)
    notes.rename_tag(most.shown, "entirely new name")
    what = f"a tag of {most.uses:,} chunks renamed"
    yield _row(f"{what}: embedded", embedder.passages, "texts", "<= 1")
    yield _row(f"{what}: rows", counting.calls["rows.insert_tags"] + counting.calls["rows.insert"], "rows", "<= 1")
    notes.rename_tag(most.shown, undo=True)

    with _watching(memory):
        time.sleep(min(10.0, options.idle_s))  # the first scan
        began, used = time.monotonic(), _cpu_s()
        time.sleep(options.idle_s)
        share = (_cpu_s() - used) / (time.monotonic() - began)
        watched = _until_watched(memory, large)
    yield _row(f"idle watcher on {options.files:,} files", share * 100, "% of a core", "<= 1")
    yield _row(f"{edited}, seen by the watcher: found by words", watched, "ms", "<= 300")


def _edit(large: Path, said: str) -> int:
    """Replace the paragraph in the middle of a file. The size of the file before, in bytes."""
    text = large.read_text(encoding="utf-8")
    middle = text.index("\n\n", len(text) // 2) + 2
    stop = text.index("\n\n", middle)
    large.write_text(f"{text[:middle]}{said}{text[stop:]}", encoding="utf-8")
    return len(text.encode())


def _until_watched(memory: biem.Memory, large: Path) -> float | None:
    """Milliseconds from an edit until a running watcher has stored it and a search finds it; nothing after a minute."""
    scanner = memory._system.notes.scanner
    usual, stored = scanner._stored, threading.Event()

    def notified() -> None:
        usual()
        stored.set()

    scanner._stored = notified
    try:
        _edit(large, _SAID_LATER)
        began = time.perf_counter()
        while stored.wait(max(0.0, began + _FOUND_S - time.perf_counter())):
            stored.clear()  # before the search: what is stored during it is searched again
            if any(_SAID_LATER in hit.chunk.body for hit in memory.notes.search(_SAID_LATER, top_k=1)):
                return (time.perf_counter() - began) * 1_000
        return None
    finally:
        scanner._stored = usual


def _until_found(memory: biem.Memory, said: str) -> tuple[float | None, float]:
    """Milliseconds from the start of a scan until a sentence was in the first hit, which is asked once as soon as what
    changed is stored, and to the end of the scan.
    """
    scanner = memory._system.notes.scanner
    usual, found = scanner._stored, list[float]()

    def stored() -> None:
        usual()
        if any(said in hit.chunk.body for hit in memory.notes.search(said, top_k=1)):
            found.append((time.perf_counter() - began) * 1_000)

    scanner._stored = stored
    began = time.perf_counter()
    whole = _timed(lambda: memory.notes.sync(wait=False)) * 1_000
    scanner._stored = usual
    return (found[0] if found else None), whole


def _recalls(memory: biem.Memory, options: argparse.Namespace) -> Iterator[dict[str, object]]:
    random_ = random.Random(2)
    other = memory.scope(user="two")
    questions = [_fact(random_, number) for number in range(options.questions)]
    plain, noted = [], []
    for text in questions:
        plain.append(_timed(lambda text=text: memory.recall(text, sources=("memories",))) * 1_000)  # type: ignore[misc]
        noted.append(_timed(lambda text=text: memory.recall(text)) * 1_000)  # type: ignore[misc]
    more = statistics.median(noted) - statistics.median(plain)
    without = f"a recall beside {options.memories:,} memories"
    yield _row(f"{without}, without notes", statistics.median(plain), "ms p50", "")
    yield _row(f"{without}: notes add", more, "ms p50", "<= 10")
    system = memory._system.notes
    paused = []
    for text in questions:
        system.searcher._used.clear()  # as after some seconds without a recall
        system.searcher._sizes.clear()
        paused.append(_timed(lambda text=text: memory.recall(text)) * 1_000)  # type: ignore[misc]
    more = statistics.median(paused) - statistics.median(plain)
    yield _row(f"{without}, each after a pause: notes add", more, "ms p50", "")
    costs = []
    for text in questions:
        began = time.perf_counter()
        system.begin(other.bound_to, text, top_k=5, tags=(), since=None, until=None)(())
        costs.append((time.perf_counter() - began) * 1_000)
    yield _row("a recall of a scope without notes: notes add", statistics.mean(costs), "ms mean", "<= 0.2")
    yield from _given_up(memory, questions, random_)
    folder = Path(memory.notes.libraries()[0].root) / "while-busy"
    idle = list(_remembered(memory, random_, iter(range(600))))
    _write(folder, 1_000, random_)
    thread = threading.Thread(target=memory.notes.sync)
    thread.start()
    busy = list(_remembered(memory, random_, iter(thread.is_alive, False)))
    calm, hurried = _p95(idle), _p95(busy)
    what = "remember while 1,000 files are indexed"
    yield _row("remember while nothing is indexed", calm, "ms p95", "")
    yield _row(f"{what}: {len(busy):,} calls", hurried, "ms p95", "")
    ratio = hurried / calm if hurried is not None and calm else None
    yield _row(what, ratio, "x p95 of idle", "<= 1.2")


def _remembered(memory: biem.Memory, random_: random.Random, turns: Iterator[object]) -> Iterator[float]:
    """Milliseconds of a call each turn, some apart, as much in an idle program as in a busy one."""
    for number, _ in enumerate(turns):
        yield _timed(lambda number=number: memory.remember(_fact(random_, number))) * 1_000  # type: ignore[misc]
        time.sleep(0.01)


def _p95(times: Sequence[float]) -> float | None:
    return statistics.quantiles(times, n=20)[-1] if len(times) > 20 else None


def _given_up(memory: biem.Memory, questions: Sequence[str], random_: random.Random) -> Iterator[dict[str, object]]:
    """What a search takes to look without the index for words: it lacks a note that was given up."""
    folder = Path(memory.notes.libraries()[0].root) / "given-up"
    _write(folder, 1, random_)
    memory.notes.sync(wait=False)
    searcher = memory._system.notes.searcher
    records: Any = searcher._records
    claimed = records.claim(1, 60.0, retried=False)
    if not claimed:
        raise BiemError("the note was indexed before it could be given up; run the benchmark again")
    records.fail(claimed, "a trial")
    searcher.changed()
    usual, took = records.matching, list[float]()

    def matching(*arguments: Any, **named: Any) -> Any:
        began = time.perf_counter()
        found = usual(*arguments, **named)
        took.append((time.perf_counter() - began) * 1_000)
        return found

    records.matching = matching
    try:
        for text in questions:
            memory.notes.search(text)
    finally:
        records.matching = usual
        shutil.rmtree(folder)
        memory.notes.sync()
    what = "a search while one note was given up: words without the index"
    yield _row(what, statistics.median(took) if took else None, "ms p50", "<= 10")


def _row(what: str, value: float | None, unit: str, must: str) -> dict[str, object]:
    ok = ""
    if must:
        sign, limit = must.split()
        held = value is not None and (value <= float(limit) if sign == "<=" else value >= float(limit))
        ok = "yes" if held else "NO"
    return {"what": what, "value": None if value is None else round(value, 3), "unit": unit, "must": must, "ok": ok}


def _reading() -> float:
    """Millions of characters a second from bytes to chunks with tags, without storing them."""
    reader, text = LateReader(RuleAnalyzer(), NotePolicy(), most_bytes=4 << 20, most_tokens=512), ""
    contents = []
    for number in range(60):
        text = _note(random.Random(number), number, sections=30)
        data = text.encode()
        contents.append(FileContent(FileStat(f"folder/{number}.md", len(data), 0, 0), data))
    reader.parse(contents[0])
    characters = sum(len(content.data.decode()) for content in contents)
    return characters / _timed(lambda: [reader.parse(content) for content in contents]) / 1e6


def _write(root: Path, files: int, random_: random.Random) -> None:
    for number in range(files):
        path = root / f"folder-{number // 1_000}" / f"{random_.choice(_TOPICS)}-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_note(random_, number, sections=1 + number % 3), encoding="utf-8")


def _note(random_: random.Random, number: int, *, sections: int) -> str:
    parts = [f"# {random_.choice(_TOPICS)} {number}"]
    for section in range(sections):
        parts += [f"## {random_.choice(_TOPICS)} {section}", *(_fact(random_, number) for _ in range(4))]
    return "\n\n".join(parts) + "\n"


def _large(random_: random.Random) -> str:
    parts = ["# All districts"]
    size = 0
    while size < 1 << 20:
        parts.append(f"## District {len(parts)}")
        parts += [_fact(random_, len(parts)) for _ in range(5)]
        size += sum(len(part.encode()) + 2 for part in parts[-6:])
    return "\n\n".join(parts) + "\n"


def _fact(random_: random.Random, number: int) -> str:
    return random_.choice(_FACTS).format(topic=random_.choice(_TOPICS), n=number, m=random_.randint(5, 99))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _cpu_s() -> float:
    used = os.times()
    return used.user + used.system


@contextmanager
def _watching(memory: biem.Memory) -> Iterator[None]:
    stopped = threading.Event()
    thread = threading.Thread(target=memory.notes.watch, args=(stopped,))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
