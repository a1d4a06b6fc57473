"""Kills `biem notes sync` with SIGKILL while a folder changes at random, then compares the index with a fresh one.

Each round changes some files, starts the command in a process of its own, and kills it after a random time. At the end
one sync runs to its end; chunks, places, tags and rows of the index must be those of a first sync of the same folder.
`--watch`: the command is `biem notes watch`, and the files are changed while it runs.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

import psycopg

import biem
from benchmarks import _report
from benchmarks._options import positive
from benchmarks._vault_edits import VaultEdits
from biem.adapters.files.tree import FolderFiles
from biem.bootstrap import Servers, servers
from biem.config import load_settings
from biem.domain.notes.library import NotePage
from biem.domain.policies.jobs import SleepPolicy
from biem.errors import NotFound
from biem.ports.notes.index import ANY_NOTE

_BIEM = str(Path(sys.executable).with_name("biem"))
_LONGEST_S = 6.0
"""A killed sync lived for at most this long."""
_BETWEEN_EDITS_S, _AFTER_EDITS_S = 2.0, 3.0
"""Longest pause before each change beside a watcher, and until that is killed."""
_MOST_ROWS = 10_000


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exits with 1 if the index differs from a fresh one."""
    parser = argparse.ArgumentParser("python -m benchmarks.note_chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, metavar="M", help="default: 30")
    parser.add_argument("--rounds", type=positive, metavar="N", help="end after so many rounds, too")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--watch", action="store_true", help="kill a watcher, and change files while it runs")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the row there, too")
    options = parser.parse_args(arguments)
    row = run(minutes=options.minutes, rounds=options.rounds, seed=options.seed, watch=options.watch)
    if options.json:
        line = _report.command("benchmarks.note_chaos", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, [row])
    _report.print_table("Killed watchers" if options.watch else "Killed syncs", row, [row])
    return 1 if row["differences"] else 0


def run(*, minutes: float, rounds: int | None, seed: int, watch: bool = False) -> dict[str, object]:
    """One row: changes, kills, files and chunks at the end, and how many differences from a fresh index there are."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        )
        root, home = folder / "vault", folder / "home"
        root.mkdir()
        alone = {"home": home, "queue": "none", "sleep": SleepPolicy(off=("notes",))}
        settings = load_settings().model_copy(update=alone)
        where = stack.enter_context(servers(settings))
        memory = stack.enter_context(biem.connect(settings)).scope(tenant="chaos", user="one")
        memory.notes.add(root, name="lib")
        edits, chance = VaultEdits(root, seed), random.Random(seed)
        deadline, changes, begun, kills = time.monotonic() + minutes * 60, 0, 0, 0
        while time.monotonic() < deadline and (rounds is None or begun < rounds):
            begun += 1
            count = chance.randrange(1, 8)
            changes += count
            if watch:
                kills += _killed_watching(home, edits, count, chance)
            else:
                for _ in range(count):
                    edits.step()
                kills += _killed(home, chance.uniform(0.2, _LONGEST_S))
            print(f"round {begun}: {changes} changes, {kills} kills", file=sys.stderr)
        settle(memory, where)
        fresh = memory.scope(user=f"fresh-{uuid.uuid4().hex[:8]}")
        fresh.notes.add(root, name="lib")
        fresh.notes.sync()
        found = list(differences(memory, fresh, root))
        for each in found[:20]:
            print(each, file=sys.stderr)
        stats = memory.notes.stats()[0]
        return {
            "rounds": begun,
            "changes": changes,
            "kills": kills,
            "files": sum(stats.files.values()),
            "chunks": stats.chunks,
            "differences": len(found),
        }


def _started(home: Path, *command: str) -> subprocess.Popen[bytes]:
    scope = ("--home", str(home), "--tenant", "chaos", "--user", "one")
    return subprocess.Popen([_BIEM, *scope, "notes", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _killed_watching(home: Path, edits: VaultEdits, count: int, chance: random.Random) -> bool:
    """Whether a watcher was still running when it was killed. Files change from when it names the folder."""
    process = _started(home, "watch")
    assert process.stderr is not None
    process.stderr.readline()
    for _ in range(count):
        time.sleep(chance.uniform(0.0, _BETWEEN_EDITS_S))
        edits.step()
    return _ended(process, chance.uniform(0.0, _AFTER_EDITS_S))


def _killed(home: Path, after_s: float) -> bool:
    """Whether a sync was still running when it was killed."""
    return _ended(_started(home, "sync", "lib", "--accept-deletions"), after_s)


def _ended(process: subprocess.Popen[bytes], after_s: float) -> bool:
    """Whether it had to be killed after this time."""
    with process:
        try:
            process.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def settle(memory: biem.Memory, where: Servers) -> None:
    """Sync until nothing is pending, and remove rows of erased chunks, as time would."""
    with psycopg.connect(where.postgres_dsn, autocommit=True) as connection:
        connection.execute("UPDATE notes SET due_at = clock_timestamp()")
        while memory.notes.sync(accept_deletions=True).pending:
            pass
        connection.execute("UPDATE tombstones SET look_at = clock_timestamp()")
    memory._system.job_runner.run_everywhere("sweep")


def differences(memory: biem.Memory, fresh: biem.Memory, root: Path) -> Iterator[str]:
    """What two scopes know differently of one folder, and rows of the index that are no chunk's."""
    walk = FolderFiles().walk(str(root))
    paths = [file.path for file in walk.files]
    kept = [sum(each.notes.stats()[0].files.values()) for each in (memory, fresh)]
    if kept[0] != kept[1]:
        yield f"{kept[0]} files are known, and {kept[1]} to a fresh index"
    for path in paths:
        old, new = (_page(each, path) for each in (memory, fresh))
        if old is None or new is None:
            if old is not new:
                yield f"{path}: known to one of them only"
            continue
        ours, theirs = (_told(page) for page in (old, new))
        yield from (f"{path}: {one} and {other}" for one, other in zip_longest(ours, theirs) if one != other)
    counts = [{tag.shown.casefold(): tag.uses for tag in each.notes.tags(limit=10_000)} for each in (memory, fresh)]
    yield from (
        f"tag {name}: {counts[0].get(name)} and {uses} chunks"
        for name, uses in counts[1].items()
        if counts[0].get(name) != uses
    )
    vector = memory._system.notes.embedder.embed(["anything"], "query")[0]
    for each in (memory, fresh):
        rows = set(each._system.notes.index.dense([each.bound_to], vector, _MOST_ROWS, ANY_NOTE))
        pages = [page for path in paths if (page := _page(each, path)) is not None]
        chunks = {chunk.id for page in pages for chunk in page.chunks}
        yield from (f"row {key} without a chunk" for key in rows - chunks)
        yield from (f"chunk {key} without a row" for key in chunks - rows)


def _told(page: NotePage) -> list[tuple[object, ...]]:
    """All that is known of a note and its chunks. A tag is shown as the scope wrote it first: its case may differ."""
    chunks = [(each.place, each.lines, *map(_folded, (each.headings, each.tags)), each.body) for each in page.chunks]
    return [(page.note.title, page.note.at, _folded(page.note.tags)), *chunks]


def _folded(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in names)


def _page(memory: biem.Memory, path: str) -> NotePage | None:
    """A note with its chunks; None where the file was skipped."""
    try:
        return memory.notes.get(path)
    except NotFound:
        return None


if __name__ == "__main__":
    sys.exit(main())
