"""How well biem finds earlier turns, compared with BM25, the bare embedder, a plain Milvus hybrid search and mem0.

All systems answer the same questions in turns, question by question, so that a slow moment of the machine hits all of
them. `p50_ms` and `p95_ms` are the time of one search including the embedding of the question, `add_p50_ms` and
`add_p95_ms` that of adding one message, where a system takes them singly: its vector comes from a cache that all share.

With `--json OUT` every file's rows are written as soon as they are known; the same command given again goes on after
the last file that was finished (`--fresh` measures all again).
"""

import argparse
import itertools
import json
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import biem
from benchmarks import _report
from benchmarks._baselines import Bm25, Dense, System
from benchmarks._data import Conversation, Question, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._hybrid import MilvusHybrid
from benchmarks._mem0 import Mem0
from benchmarks._options import on_conversations
from benchmarks._systems import Biem
from benchmarks.metrics import Score, mean, percentiles, score
from biem.bootstrap import servers
from biem.config import load_settings
from biem.errors import BiemError, InvalidInput

SYSTEMS = ("bm25", "dense", "hybrid", "biem", "mem0")
DEFAULT = SYSTEMS[:-1]
"""mem0 needs a separate environment: `make bench-mem0`."""
_COLUMNS = (
    *("data", "system", "n", "R@5", "R@10", "R@20", "nDCG@10", "MRR", "session_any@5"),
    *("p50_ms", "p95_ms", "add_p50_ms", "add_p95_ms"),
)
_WARM_UP = Question("", "warm up 热身", "", (), frozenset(), None)


@dataclass
class Answers:
    """What one system did: a score, a category and a time for each question."""

    scores: list[Score] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    adds: list[float] = field(default_factory=list)

    def row(self, data: str, system: str, category: str | None) -> dict[str, object]:
        """The averages, over one category or all questions."""
        chosen = [i for i, name in enumerate(self.categories) if category in (None, name)]
        times = [self.milliseconds[i] for i in chosen]
        return {
            "data": data,
            "system": system,
            "category": category,
            "n": len(chosen),
            **mean([self.scores[i] for i in chosen]).as_row(),
            **percentiles(times, 50, 95),
            **{f"add_{name}": value for name, value in percentiles(self.adds, 50, 95).items() if category is None},
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0: all measured; 130: interrupted, measurements so far are reported; else biem's exit codes."""
    options = _options(arguments)
    line = _report.command("benchmarks.retrieval", sys.argv[1:] if arguments is None else arguments)
    rows = _finished(options, line)
    done = {row["data"] for row in rows}
    interrupted = False
    try:
        for file in options.data:
            if data_name(file) in done:
                continue
            measured, interrupted = measure(file, options)
            rows += measured
            _write(options, line, rows, list(done), interrupted=interrupted)
            if interrupted:
                break
            done.add(data_name(file))
            _write(options, line, rows, list(done), interrupted=False)
    except KeyboardInterrupt:
        interrupted = True
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _show(rows, options.systems)
    return 130 if interrupted else 0


def _write(
    options: argparse.Namespace, line: str, rows: Sequence[dict[str, object]], done: Sequence[object], **more: object
) -> None:
    if options.json:
        _report.write_json(options.json, line, rows, embedder=options.embedder, finished=sorted(map(str, done)), **more)


def _finished(options: argparse.Namespace, line: str) -> list[dict[str, object]]:
    """The rows of files that the same command has finished before."""
    if options.fresh or not options.json or not options.json.exists():
        return []
    try:
        report = json.loads(options.json.read_text(encoding="utf-8"))
        if report["command"] != line:
            return []
        rows = [row for row in report["rows"] if row["data"] in report["finished"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # this file is no report of ours
    if rows:
        print(f"{options.json.name}: going on after {', '.join(report['finished'])}", file=sys.stderr)
    return rows


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.retrieval", description=__doc__)
    on_conversations(parser)
    parser.add_argument(
        "--systems",
        nargs="+",
        type=_systems,
        default=[DEFAULT],
        metavar="NAME",
        help=f"any of {' '.join(SYSTEMS)}; default: {' '.join(DEFAULT)}",
    )
    parser.add_argument(
        "--one-chat", action="store_true", help="name all sessions of a file's conversations alike, as chat bots do"
    )
    parser.add_argument("--fresh", action="store_true", help="measure again what OUT has already")
    options = parser.parse_args(arguments)
    options.systems = tuple(dict.fromkeys(itertools.chain.from_iterable(options.systems)))
    return options


def _systems(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    unknown = set(names) - set(SYSTEMS)
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are only {', '.join(SYSTEMS)}")
    return names


def measure(file: Path, options: argparse.Namespace) -> tuple[list[dict[str, object]], bool]:
    """The rows of one file, and whether the user stopped it."""
    conversations = list(read_conversations(file, options.limit_conversations, options.limit_questions))
    _warn(file, conversations)
    answers: dict[str, Answers] = {name: Answers() for name in options.systems}
    interrupted = False
    with _built(options, conversations[0].lang) as systems:
        try:
            _load(systems, conversations)
            for system in systems:
                answers[system.name].adds = system.adds
            _ask(systems, conversations, answers)
        except KeyboardInterrupt:
            interrupted = True
    return list(_rows(data_name(file), answers)), interrupted


def _warn(file: Path, conversations: Sequence[Conversation]) -> None:
    if not any(conversation.questions for conversation in conversations):
        raise InvalidInput(f"{file}: no question has evidence, nothing can be measured")
    for what, count in (
        ("questions without evidence are left out", sum(one.without_evidence for one in conversations)),
        ("evidence ids name no turn and count as never found", sum(one.unresolved for one in conversations)),
    ):
        if count:
            print(f"{file.name}: {count} {what}", file=sys.stderr)


@contextmanager
def _built(options: argparse.Namespace, lang: str) -> Iterator[list[System]]:
    """The systems, in a fresh temporary home unless the settings name servers."""
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = load_settings().model_copy(update={"home": Path(home)})
        systems: list[System] = []
        if set(options.systems) - {"bm25"}:
            embedder = PassageCache(choose_embedder(options.embedder, settings), options.cache)
            stack.enter_context(closing(embedder))
        if set(options.systems) & {"hybrid", "biem"}:
            where = stack.enter_context(servers(settings))
            memory = stack.enter_context(biem.connect(settings, embedder=embedder))
        for name in options.systems:
            if name == "bm25":
                systems.append(Bm25())
            elif name == "dense":
                systems.append(Dense(embedder))
            elif name == "mem0":
                systems.append(stack.enter_context(closing(Mem0(embedder))))
            elif name == "hybrid":
                collection = f"benchmark_hybrid_{uuid.uuid4().hex[:12]}"
                systems.append(stack.enter_context(closing(MilvusHybrid(where, embedder, lang, collection))))
            else:
                tenant = f"benchmark-{uuid.uuid4().hex[:12]}"
                system = Biem(where, memory, tenant, chat="chat" if options.one_chat else "")
                systems.append(stack.enter_context(closing(system)))
        yield systems


def _load(systems: Sequence[System], conversations: Sequence[Conversation]) -> None:
    turns = sum(len(conversation.turns) for conversation in conversations)
    with _report.progress() as bar:
        for system in systems:
            task = bar.add_task(f"load {system.name}", total=turns)
            for conversation in conversations:
                system.load(conversation)
                bar.advance(task, len(conversation.turns))
            system.ready()
            system.ask(conversations[0], _WARM_UP)


def _ask(systems: Sequence[System], conversations: Sequence[Conversation], answers: dict[str, Answers]) -> None:
    order = itertools.cycle(range(len(systems)))
    with _report.progress() as bar:
        task = bar.add_task("ask", total=sum(len(conversation.questions) for conversation in conversations))
        for conversation in conversations:
            session_of = {turn.id: turn.session for turn in conversation.turns}
            for question in conversation.questions:
                first = next(order)
                ranked: dict[str, tuple[list[str], float]] = {}
                for system in (*systems[first:], *systems[:first]):
                    began = time.perf_counter()
                    found = system.ask(conversation, question)
                    ranked[system.name] = found, (time.perf_counter() - began) * 1_000
                for name, (found, elapsed) in ranked.items():
                    answers[name].scores.append(score(found, question.groups, session_of, question.sessions))
                    answers[name].categories.append(question.category)
                    answers[name].milliseconds.append(elapsed)
                bar.advance(task)


def _rows(data: str, answers: dict[str, Answers]) -> Iterator[dict[str, object]]:
    asked = {name: given for name, given in answers.items() if given.scores}
    for name, given in asked.items():
        yield given.row(data, name, None)
    for name, given in asked.items():
        for category in sorted(set(given.categories)):
            yield given.row(data, name, category)


def _show(rows: Sequence[dict[str, object]], systems: Sequence[str]) -> None:
    _report.print_table("Retrieval", _COLUMNS, (row for row in rows if row["category"] is None))
    by_category: dict[tuple[object, object], dict[str, object]] = defaultdict(dict)
    for row in rows:
        if row["category"]:
            line = by_category[row["data"], row["category"]]
            line |= {"data": row["data"], "category": row["category"], "n": row["n"], str(row["system"]): row["R@10"]}
    _report.print_table("R@10 by category", ("data", "category", "n", *systems), by_category.values())


if __name__ == "__main__":
    sys.exit(main())
