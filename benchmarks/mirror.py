"""What does a sync of mirrored files cost, and does it lose anything while it is killed?

`--files` memories are mirrored into a folder under Git. Rows: the first sync, which writes them; the second, which must
write nothing; one after a hundredth of the files was edited, one after a hundredth of the memories was revised, one of
every file read (`--full`). `cpu_s` is that of
the process, without PostgreSQL and the disk. `git`: whether `git status` is clean after the second.

Then, for `--chaos-minutes`, a person edits, moves, adds, deletes and reverts files and a program changes memories while
processes that sync are killed and run two at a time. At the end files and memories must say the same, and every word
that was typed must stand in a memory or in its revisions.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._mirror_edits import MirrorEdits, differences, files, git
from benchmarks._options import positive
from biem.bootstrap import servers
from biem.config import load_settings
from biem.domain.policies.jobs import SleepPolicy

_COLUMNS = ("what", "files", "s", "cpu_s", "read", "written", "revised", "git")
_CHAOS = ("rounds", "changes", "kills", "files", "differences")
_BIEM = str(Path(sys.executable).with_name("biem"))
_LONGEST_S = 6.0
_FREEZES = 0.05
"""How often a process is stopped while a change is made, and goes on afterwards."""
_MOST_SYNCS = 20
"""After the chaos: far more than it takes until nothing changes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exits with 1 if anything differs or was lost."""
    parser = argparse.ArgumentParser("python -m benchmarks.mirror", description=__doc__)
    parser.add_argument("--files", type=positive, default=10_000, metavar="N", help="default: 10,000")
    parser.add_argument("--chaos-minutes", type=float, default=0.5, metavar="M", help="default: 0.5; 0: none")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(arguments)
    rows, chaos = run(count=options.files, minutes=options.chaos_minutes, seed=options.seed)
    _report.print_table("Syncs", _COLUMNS, rows)
    _report.print_table("Killed syncs", _CHAOS, [chaos] if chaos else [])
    if options.json:
        line = _report.command("benchmarks.mirror", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, [*rows, *([chaos] if chaos else [])])
    return 1 if chaos and chaos["differences"] else 0


def run(*, count: int, minutes: float, seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of the syncs, and that of the chaos, which is empty without minutes."""
    with ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        root, home = folder / "memory", folder / "home"
        alone = {"home": home, "queue": "none", "sleep": SleepPolicy(off=("notes", "mirror"))}
        settings = load_settings().model_copy(update=alone)
        stack.enter_context(servers(settings))
        opened = stack.enter_context(biem.connect(settings, embedder=SyntheticEmbedder()))
        memory = opened.scope(tenant="chaos", user="one")
        memory.remember_many([{"text": f"Fact {n} of the harbour.", "layer": "long_term"} for n in range(count)])
        memory.mirror.add(root)
        rows = list(timed(memory, root, random.Random(seed)))
        return rows, chaos(memory, root, home, minutes=minutes, seed=seed) if minutes else {}


def timed(memory: biem.Memory, root: Path, chance: random.Random) -> Iterator[dict[str, Any]]:
    """One row a sync."""
    yield synced(memory, "first")
    git(root, "init")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    row = synced(memory, "second")
    yield {**row, "git": "clean" if not git(root, "status", "--porcelain") else "changed"}
    every = files(root)
    part = max(1, len(every) // 100)
    for file in chance.sample(every, part):
        file.write_bytes(file.read_bytes() + b"A line by hand.\n")
    yield synced(memory, f"{part} files edited")
    for node in memory.list(limit=min(part, 500)).items:
        memory.revise(node.id, importance=5.0)
    yield synced(memory, f"{part} memories revised")
    yield synced(memory, "every file read", full=True)


def synced(memory: biem.Memory, what: str, *, full: bool = False) -> dict[str, Any]:
    """A sync with its time."""
    start, used = time.perf_counter(), time.process_time()
    [report] = memory.mirror.sync(full=full)
    took, cpu = time.perf_counter() - start, time.process_time() - used
    counts = {name: report.counts[name] for name in ("files", "read", "written", "revised")}
    return {"what": what, "s": round(took, 2), "cpu_s": round(cpu, 2), **counts}


def chaos(memory: biem.Memory, root: Path, home: Path, *, minutes: float, seed: int) -> dict[str, Any]:
    """Changes on both sides while processes sync and are killed; then what differs."""
    edits, dice = MirrorEdits(memory, root, seed), random.Random(seed)
    deadline = time.monotonic() + minutes * 60
    begun = changes = kills = 0
    while time.monotonic() < deadline:
        begun += 1
        running = [started(home, root, dice) for _ in range(dice.choice((1, 1, 2)))]
        until = time.monotonic() + dice.uniform(0.5, _LONGEST_S)
        while time.monotonic() < until and any(each.poll() is None for each in running):
            frozen = dice.choice(running) if dice.random() < _FREEZES else None
            if frozen:
                frozen.send_signal(signal.SIGSTOP)
            edits.step()
            if frozen:
                frozen.send_signal(signal.SIGCONT)
            changes += 1
        for process in running:
            if process.poll() is None and ("watch" in process.args or dice.random() < 0.7):
                process.kill()
                kills += 1
            process.wait()
        print(f"round {begun}: {changes} changes, {kills} kills", file=sys.stderr)
    for _ in range(_MOST_SYNCS):
        if not any(report.altered or report.busy for report in memory.mirror.sync(accept_deletions=True)):
            break
    else:
        print("each sync changes something again", file=sys.stderr)
    again = sum(report.altered for report in memory.mirror.sync(accept_deletions=True))
    found = [*edits.faults, *differences(memory, root, edits.typed)]
    if again:
        found.append("a sync changes what the one before left")
    for each in found[:20]:
        print(each, file=sys.stderr)
    return {
        "rounds": begun,
        "changes": changes,
        "kills": kills,
        "files": len(files(root)),
        "differences": len(found),
    }


def started(home: Path, root: Path, dice: random.Random) -> "subprocess.Popen[bytes]":
    """A process that syncs."""
    sync = ["sync", "--accept-deletions"]
    what = dice.choice((sync, sync, sync, [*sync, "--full"], ["watch"], ["adopt", str(root)]))
    command = [_BIEM, "--home", str(home), "--tenant", "chaos", "--user", "one", "mirror", *what]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
