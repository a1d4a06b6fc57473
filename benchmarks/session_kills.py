"""Is a message of a session lost, doubled or summarised twice when processes are killed?

Two processes append `--messages` messages to one session, each under a ref, and note what was acknowledged; a third one
trims the session again and again, a fourth one closes and resumes it. One of them is killed after 0.2 to `--longest`
seconds of work, and a new one goes on; or it is stopped for so long, and then goes on itself. At the end every message
must be there once, those of each process in order, with the memory that was acknowledged; and the summaries, without a
model, must tell of slices that follow one another without a gap, up to where the window begins.
"""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import biem
from benchmarks import _report
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._options import positive
from biem.bootstrap import servers
from biem.config import Settings
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.scope import Scope
from biem.errors import InvalidInput

_COLUMNS = (
    "messages",
    "kills",
    "stops",
    "slices",
    "lost",
    "doubled",
    "out_of_order",
    "unlike_acknowledged",
    "gaps",
    "s",
)
_TOKENS = 25
_SMALL = SessionPolicy(max_tokens=4_000, protected_rounds=2)
_SCOPE = Scope("chaos", "talker")
_NAME = "loop"
_STUCK_S = 600.0
_WRITERS = 2
_STOPPED = 0.3
"""How often a process is stopped for a while instead of killed."""
_OPEN_S = 0.2


def text(number: int) -> str:
    """The content of a message."""
    return f"On step {number} of the walk we met farmer {number * 37 % 991} near lake {number * 7919 % 9973}."


def appending(home: str, note: Path, chat: str, messages: int, first: int) -> None:
    """In a process: append every second message from what is noted on."""
    noted = len(note.read_bytes().splitlines())
    with connected(home) as memory, note.open("a", encoding="utf-8") as told:
        for number in range(first + _WRITERS * max(0, noted - 1), messages, _WRITERS):
            role = "assistant" if number // _WRITERS % 2 else "user"
            done = None
            while done is None:
                with suppress(InvalidInput):  # closed, until it is resumed
                    done = memory.sessions.append(chat, role, text(number), ref=f"r{number}", tokens=_TOKENS)
            told.write(f"{number} {done.memory_id}\n")
            told.flush()


def trimming(home: str, note: Path, chat: str, messages: int, first: int) -> None:  # noqa: ARG001  all start alike
    """In a process: trim without end."""
    with connected(home) as memory:
        while True:
            if not memory.sessions.trim(chat):
                time.sleep(0.02)


def closing(home: str, note: Path, chat: str, messages: int, first: int) -> None:  # noqa: ARG001
    """In a process: close the session and resume it, without end."""
    with connected(home) as memory:
        while True:
            memory.sessions.close(chat)
            memory.sessions.resume(chat)
            time.sleep(_OPEN_S)


def connected(home: str) -> biem.Memory:
    """A memory on the servers of the folder, which does no work in the background."""
    settings = Settings(home=Path(home), queue="none", session=_SMALL)
    return biem.connect(settings, scope=_SCOPE, embedder=SyntheticEmbedder())


def killed(
    home: str, notes: Path, chat: str, messages: int, chance: random.Random, longest_s: float
) -> tuple[int, int]:
    """Start, kill, stop and replace the processes until all is said; returns the numbers of kills and of stops."""
    context = multiprocessing.get_context("spawn")
    works = {f"append {number}": appending for number in range(_WRITERS)} | {"trim": trimming, "close": closing}

    def started(name: str) -> BaseProcess:
        first = int(name.split()[-1]) if works[name] is appending else 0
        given = (home, noted_by(notes, first), chat, messages, first)
        process = context.Process(target=works[name], args=given, daemon=True)
        process.start()
        return process

    def said() -> int:
        return sum(len(noted_by(notes, number).read_bytes().splitlines()) for number in range(_WRITERS))

    def unfinished() -> list[str]:
        return [name for name in running if works[name] is appending and running[name].exitcode != 0]

    running = {name: started(name) for name in works}
    kills, stops, before, deadline = 0, 0, -1, time.monotonic() + _STUCK_S
    while unfinished():
        if (now := said()) != before:  # it works: what is killed while it starts proves nothing
            time.sleep(chance.uniform(0.2, longest_s))
            name = chance.choice(list(works))
            process = running[name]
            if process.exitcode is None and chance.random() < _STOPPED:
                os.kill(process.pid or 0, signal.SIGSTOP)
                time.sleep(chance.uniform(0.2, longest_s))
                os.kill(process.pid or 0, signal.SIGCONT)
                stops += 1
            elif process.exitcode is None:
                process.kill()
                process.join()
                running[name] = started(name)
                kills += 1
            before, deadline = now, time.monotonic() + _STUCK_S
        elif time.monotonic() > deadline or any(running[name].exitcode for name in unfinished()):
            raise SystemExit(f"appending ended after {now} acknowledged messages")
        time.sleep(0.05)
    for name in ("trim", "close"):
        running[name].kill()
        running[name].join()
    return kills, stops


def noted_by(notes: Path, number: int) -> Path:
    """The file of what one process had acknowledged."""
    return notes / f"acknowledged {number}"


def judged(memory: biem.Memory, notes: Path, key: str, messages: int) -> dict[str, int]:
    """What is not as it must be."""
    memory.sessions.resume(key)
    memory.sessions.trim(key)
    chat = memory.sessions.get(key)
    said = memory.sessions.messages(chat.id)
    contents = Counter(one.content for one in said)
    expected = [text(number) for number in range(messages)]
    stored = {one.content: one.memory_id for one in said}
    files = [noted_by(notes, number).read_text(encoding="utf-8") for number in range(_WRITERS)]
    lines = [line.split() for line in "".join(files).splitlines() if line.count(" ") == 1]
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
        "out_of_order": sum(
            [one.content for one in said if one.content in own] != list(own)
            for own in (dict.fromkeys(expected[number::_WRITERS]) for number in range(_WRITERS))
        ),
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
        home, notes = str(Path(folder) / "home"), Path(folder)
        for number in range(_WRITERS):
            noted_by(notes, number).touch()
        began = time.monotonic()
        with servers(Settings(home=Path(home), queue="none")), connected(home) as memory:
            chat = memory.sessions.open(_NAME).id
            chance = random.Random(options.seed)
            kills, stops = killed(home, notes, chat, options.messages, chance, options.longest)
            took = round(time.monotonic() - began)
            row: dict[str, Any] = {"messages": options.messages, "kills": kills, "stops": stops, "s": took}
            row |= judged(memory, notes, chat, options.messages)
    _report.print_table("Sessions while processes are killed", _COLUMNS, [row])
    if options.json:
        line = _report.command("benchmarks.session_kills", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, [row])
    wrong = ("lost", "doubled", "out_of_order", "unlike_acknowledged", "gaps")
    return 1 if any(row[name] for name in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
