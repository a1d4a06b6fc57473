"""Kills `biem notes sync` with SIGKILL while a folder changes at random, then compares the index with a fresh one.

Each round changes some files, starts the command in a process of its own, and kills it after a random time. At the end
one sync runs to its end; chunks, places, tags and rows of the index must be those of a first sync of the same folder.
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
from pathlib import Path

import psycopg

import biem
from benchmarks import _report
from benchmarks._options import positive
from benchmarks._vault_edits import VaultEdits
from biem.bootstrap import Servers, servers
from biem.config import load_settings
from biem.domain.policies.jobs import SleepPolicy
from biem.ports.notes.index import ANY_NOTE

_BIEM = str(Path(sys.executable).with_name("biem"))
_LONGEST_S = 6.0
"""A killed sync lived for at most this long."""
_MOST_ROWS = 10_000


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exits with 1 if the index differs from a fresh one."""
    parser = argparse.ArgumentParser("python -m benchmarks.note_chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, metavar="M", help="default: 30")
    parser.add_argument("--rounds", type=positive, metavar="N", help="end after so many rounds, too")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the row there, too")
    options = parser.parse_args(arguments)
    row = run(minutes=options.minutes, rounds=options.rounds, seed=options.seed)
    if options.json:
        line = _report.command("benchmarks.note_chaos", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, [row])
    _report.print_table("Killed syncs", row, [row])
    return 1 if row["differences"] else 0


def run(*, minutes: float, rounds: int | None, seed: int) -> dict[str, object]:
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
            for _ in range(chance.randrange(1, 8)):
                edits.step()
                changes += 1
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


def _killed(home: Path, after_s: float) -> bool:
    """Whether a sync was still running when it was killed."""
    command = [_BIEM, "--home", str(home), "--tenant", "chaos", "--user", "one"]
    process = subprocess.Popen(
        [*command, "notes", "sync", "lib", "--accept-deletions"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
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
    paths = sorted(file.relative_to(root).as_posix() for file in root.rglob("*.md"))
    for path in paths:
        old, new = (each.notes.get(path) for each in (memory, fresh))
        if (old.note.title, old.note.tags) != (new.note.title, new.note.tags):
            yield f"{path}: another title or other tags"
        ours, theirs = (
            [(each.place, each.lines, each.headings, each.body, each.tags) for each in page.chunks]
            for page in (old, new)
        )
        if ours != theirs:
            yield f"{path}: other chunks"
    counts = [{tag.shown.casefold(): tag.uses for tag in each.notes.tags(limit=10_000)} for each in (memory, fresh)]
    yield from (
        f"tag {name}: {counts[0].get(name)} and {uses} chunks"
        for name, uses in counts[1].items()
        if counts[0].get(name) != uses
    )
    vector = memory._system.notes.embedder.embed(["anything"], "query")[0]
    for each in (memory, fresh):
        rows = set(each._system.notes.index.dense([each.bound_to], vector, _MOST_ROWS, ANY_NOTE))
        chunks = {chunk.id for path in paths for chunk in each.notes.get(path).chunks}
        yield from (f"row {key} without a chunk" for key in rows - chunks)
        yield from (f"chunk {key} without a row" for key in chunks - rows)


if __name__ == "__main__":
    sys.exit(main())
