"""Does forgetting cost what matters? Evidence recall against store size, while noise is added and forgotten.

Conversations are remembered as they were held. Then weeks go by on a simulated clock: each brings memories of
importance 1 without questions, and ends with `sleep`. The same happens to a second store, whose memories have no
end. Both are asked the same questions every few weeks. `size` counts what recall may return, `stored` all there is.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import biem
from benchmarks import _report
from benchmarks._clock import HeldClock
from benchmarks._data import Conversation, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._options import on_conversations, positive
from benchmarks._synthetic import Texts
from benchmarks._systems import Biem
from benchmarks.metrics import Score, mean, score
from biem.bootstrap import servers
from biem.config import load_settings
from biem.domain.policies.life import RetentionPolicy
from biem.errors import BiemError, InvalidInput
from biem.ports import Embedder

_COLUMNS = ("data", "system", "day", "size", "stored", "n", "R@5", "R@10", "nDCG@10", "MRR")
_WEEK = timedelta(days=7)


_FOR_EVER = RetentionPolicy(noise_days=1e5, low_days=1e5, normal_days=1e5, high_days=1e5, long_term_days=1e5)
_SYSTEMS = {"biem": RetentionPolicy(), "forgets-nothing": _FOR_EVER}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0, else biem's exit codes."""
    options = _options(arguments)
    rows: list[dict[str, object]] = []
    try:
        for file in options.data:
            rows += _measure(file, options)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Forgetting", _COLUMNS, rows)
    if options.json:
        line = _report.command("benchmarks.forgetting", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, embedder=options.embedder)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.forgetting", description=__doc__)
    on_conversations(parser)
    parser.add_argument("--weeks", type=positive, default=12, metavar="N", help="simulated weeks (default: 12)")
    parser.add_argument("--ask-every", type=positive, default=4, metavar="N", help="weeks between questions")
    parser.add_argument("--noise", type=float, default=0.5, metavar="X", help="memories of noise a turn and week")
    return parser.parse_args(arguments)


def _measure(file: Path, options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Each system in a separate home: background work is done for all scopes of one."""
    conversations = list(read_conversations(file, options.limit_conversations, options.limit_questions))
    if not any(conversation.questions for conversation in conversations):
        raise InvalidInput(f"{file}: no question has evidence, nothing can be measured")
    with ExitStack() as stack:
        embedder = PassageCache(choose_embedder(options.embedder, load_settings()), options.cache)
        stack.enter_context(closing(embedder))
        for name, retention in _SYSTEMS.items():
            for day, system, memories in _weeks(name, retention, conversations, embedder, options):
                yield _row(data_name(file), name, system, memories, conversations, day)


def _weeks(
    name: str,
    retention: RetentionPolicy,
    conversations: Sequence[Conversation],
    embedder: Embedder,
    options: argparse.Namespace,
) -> Iterator[tuple[int, Biem, Sequence[biem.Memory]]]:
    """One store on the days on which it is asked: the system and its memories, one a conversation."""
    # The weeks follow the talk: a date without its year is the latest one, seen from the last message.
    start = max(turn.at for conversation in conversations for turn in conversation.turns) + timedelta(days=1)
    texts, tenant, clock = Texts(seed=3), "benchmark-forgetting", HeldClock(start)
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        unset = dict.fromkeys(("postgres_dsn", "postgres_host", "redis_url", "milvus_uri", "milvus_host"))
        settings = load_settings().model_copy(update={"home": Path(home), "retention": retention, **unset})
        where = stack.enter_context(servers(settings))
        memory = stack.enter_context(biem.connect(settings, embedder=embedder, clock=clock))
        system = Biem(where, memory, tenant)
        for conversation in conversations:
            system.load(conversation)
        system.ready()
        memories = [memory.scope(tenant=tenant, user=conversation.id) for conversation in conversations]
        bar = stack.enter_context(_report.progress())
        task = bar.add_task(name, total=options.weeks + 1)
        for week in range(options.weeks + 1):
            if week:
                clock.move_to(start + week * _WEEK)
                for conversation, scope in zip(conversations, memories, strict=True):
                    _noise(scope, texts, math.ceil(len(conversation.turns) * options.noise))
                system.ready()
                for scope in memories:
                    scope.sleep()
                system.ready()
            if week % options.ask_every == 0:
                yield 7 * week, system, memories
            bar.advance(task)


def _noise(memory: biem.Memory, texts: Texts, count: int) -> None:
    """Messages without questions, and that were marked as such."""
    memory.remember_many({**item, "importance": 1.0, "at": memory.now(), "ref": None} for item in texts.items(count))


def _row(
    data: str,
    name: str,
    system: Biem,
    memories: Sequence[biem.Memory],
    conversations: Sequence[Conversation],
    day: int,
) -> dict[str, object]:
    scores: list[Score] = []
    for conversation in conversations:
        session_of = {turn.id: turn.session for turn in conversation.turns}
        for question in conversation.questions:
            found = system.ask(conversation, question)
            scores.append(score(found, question.groups, session_of, question.sessions))
    stats = [memory.stats() for memory in memories]
    stored = sum(int(each["memories"]) for each in stats)
    return {
        "data": data,
        "system": name,
        "day": day,
        "size": stored - sum(int(each["archived"]) for each in stats),
        "stored": stored,
        "n": len(scores),
        **mean(scores).as_row(),
    }


if __name__ == "__main__":
    sys.exit(main())
