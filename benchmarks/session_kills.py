"""Is a message of a session lost, doubled or summarised twice when processes are killed?

One process appends `--messages` messages to one session, each under a ref, and notes what was acknowledged; another one
trims the session again and again. One or the other is killed after 0.2 to `--longest` seconds of work, and a new one
goes on. At the end every message must be there once, in order, with the memory that was acknowledged; and the
summaries, without a model, must tell of slices that follow one another without a gap, up to where the window begins.
"""

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from biem.bootstrap import servers
from biem.config import Settings
from biem.domain.policies.context import SessionPolicy
from biem.domain.scope import Scope

_COLUMNS = ("messages", "kills", "slices", "lost", "doubled", "out_of_order", "unlike_acknowledged", "gaps", "s")
_TOKENS = 25
_SMALL = SessionPolicy(max_tokens=4_000, protected_rounds=2)
_SCOPE = Scope("chaos", "talker")
_NAME = "loop"
_STUCK_S = 600.0


def text(number: int) -> str:
    """The content of a message."""
    return f"On step {number} of the walk we met farmer {number * 37 % 991} near lake {number * 7919 % 9973}."


def appending(home: str, note: str, messages: int) -> None:
    """In a process: go on until there are so many messages."""
    with connected(home) as memory, Path(note).open("a", encoding="utf-8") as told:
        chat = memory.sessions.open(_NAME)
        for number in range(chat.messages, messages):
            role = "assistant" if number % 2 else "user"
            done = memory.sessions.append(chat.id, role, text(number), ref=f"r{number}", tokens=_TOKENS)
            told.write(f"{number} {done.memory_id}\n")
            told.flush()


def trimming(home: str, note: str, messages: int) -> None:  # noqa: ARG001  both are started alike
    """In a process: trim without end."""
    with connected(home) as memory:
        chat = memory.sessions.open(_NAME)
        while True:
            if not memory.sessions.trim(chat.id):
                time.sleep(0.02)


def connected(home: str) -> biem.Memory:
    """A memory on the servers of the folder, which does no work in the background."""
    settings = Settings(home=Path(home), queue="none", session=_SMALL)
    return biem.connect(settings, scope=_SCOPE, embedder=SyntheticEmbedder())


def killed(home: str, note: str, messages: int, chance: random.Random, longest_s: float) -> int:
    """Start, kill and replace both processes until all is said; returns the number of kills."""
    context = multiprocessing.get_context("spawn")
    works = {"append": appending, "trim": trimming}

    def started(name: str) -> BaseProcess:
        process = context.Process(target=works[name], args=(home, note, messages), daemon=True)
        process.start()
        return process

    running = {name: started(name) for name in works}
    kills, before, deadline = 0, -1, time.monotonic() + _STUCK_S
    while running["append"].exitcode != 0:
        said = len(Path(note).read_bytes().splitlines())
        if said != before:  # it works: what is killed while it starts proves nothing
            time.sleep(chance.uniform(0.2, longest_s))
            name = chance.choice(list(works))
            if running["append"].exitcode is None:
                running[name].kill()
                running[name].join()
                running[name] = started(name)
                kills += 1
            before, deadline = said, time.monotonic() + _STUCK_S
        elif running["append"].exitcode is not None or time.monotonic() > deadline:
            raise SystemExit(f"appending ended with {running['append'].exitcode} after {said} acknowledged messages")
        time.sleep(0.05)
    running["trim"].kill()
    running["trim"].join()
    return kills


def judged(memory: biem.Memory, note: Path, messages: int) -> dict[str, int]:
    """What is not as it must be."""
    chat = memory.sessions.open(_NAME)
    memory.sessions.trim(chat.id)
    chat = memory.sessions.get(chat.id)
    said = memory.sessions.messages(chat.id)
    contents = Counter(one.content for one in said)
    expected = [text(number) for number in range(messages)]
    stored = {one.content: one.memory_id for one in said}
    lines = [line.split() for line in note.read_text(encoding="utf-8").splitlines() if line.count(" ") == 1]
    acknowledged = {text(int(number)): key for number, key in lines}
    memories = Counter[str]()
    slices: list[tuple[int, int]] = []
    after = ""
    while True:
        page = memory.list(limit=500, after=after, status="all")
        for node in page.items:
            if node.metadata.get("category") == "context":
                slices.append((node.metadata["from"], node.metadata["to"]))
            else:
                memories[node.text] += 1
        if not (after := page.next):
            break
    slices.sort()
    ends = [1, *(last + 1 for _, last in slices)]
    starts = [*(first for first, _ in slices), chat.head_seq]
    return {
        "slices": len(slices),
        "lost": sum(contents[one] == 0 for one in expected) + sum(memories[one] == 0 for one in expected),
        "doubled": sum(count > 1 for count in (*contents.values(), *memories.values())),
        "out_of_order": int([one.content for one in said] != expected),
        "unlike_acknowledged": sum(stored.get(one) != key for one, key in acknowledged.items()),
        "gaps": sum(end != start for end, start in zip(ends, starts, strict=True)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exits with 1 if anything was lost, doubled or summarised twice."""
    parser = argparse.ArgumentParser("python -m benchmarks.session_kills", description=__doc__)
    parser.add_argument("--messages", type=positive, default=10_000, metavar="N", help="default: 10,000")
    parser.add_argument("--longest", type=float, default=4.0, metavar="S", help="of a process's work; default: 4")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the row there, too")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True) as folder:
        home, note = str(Path(folder) / "home"), Path(folder) / "acknowledged"
        note.touch()
        began = time.monotonic()
        with servers(Settings(home=Path(home), queue="none")), connected(home) as memory:
            memory.sessions.open(_NAME)
            kills = killed(home, str(note), options.messages, random.Random(options.seed), options.longest)
            took = round(time.monotonic() - began)
            row: dict[str, Any] = {"messages": options.messages, "kills": kills, "s": took}
            row |= judged(memory, note, options.messages)
    _report.print_table("Sessions while processes are killed", _COLUMNS, [row])
    if options.json:
        line = _report.command("benchmarks.session_kills", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, [row])
    wrong = ("lost", "doubled", "out_of_order", "unlike_acknowledged", "gaps")
    return 1 if any(row[name] for name in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
