"""One memory that holds the conversations of one or several files, a scope for each, asked through the public API."""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import biem
from benchmarks import _report
from benchmarks._data import Conversation, Question, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._options import on_conversations
from benchmarks._systems import conditions, item_of, settle
from benchmarks.metrics import new_gold, recall_at
from biem import bootstrap
from biem.config import load_settings
from biem.domain.node import Hits

_BATCH = 500


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of every benchmark of this kind."""
    on_conversations(parser)
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep the memory there and load what it does not have")


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation and the scope that remembers it."""

    conversation: Conversation
    memory: biem.Memory

    def options(self, question: Question) -> dict[str, Any]:
        """What `recall` is to respect for a question."""
        return conditions(self.conversation, question)


@contextmanager
def opened(options: argparse.Namespace, **settings: Any) -> Iterator[biem.Memory]:
    """A memory in a temporary home, or in the one of `--home`. Every query is embedded once a run."""
    with opened_beside(options, **settings) as (memory, _, _):
        yield memory


@contextmanager
def opened_beside(
    options: argparse.Namespace, **settings: Any
) -> Iterator[tuple[biem.Memory, bootstrap.Servers, PassageCache]]:
    """The same, with its servers and its embedder, for a system that is compared with it."""
    with ExitStack() as stack:
        home = options.home or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True)
        )
        chosen = load_settings().model_copy(update={"home": Path(home), **settings})
        cache = PassageCache(choose_embedder(options.embedder, chosen), options.cache, queries=True)
        embedder = stack.enter_context(closing(cache))
        where = stack.enter_context(bootstrap.servers(chosen))
        yield stack.enter_context(biem.connect(chosen, embedder=embedder)), where, embedder


def load(memory: biem.Memory, file: Path, options: argparse.Namespace) -> list[Told]:
    """Remember the conversations of a file, unless the home has them, and wait until all is indexed."""
    conversations = list(read_conversations(file, options.limit_conversations, options.limit_questions))
    tenant = data_name(file).removesuffix(".dev")
    told = [Told(one, memory.scope(tenant=tenant, user=one.id)) for one in conversations]
    with _report.progress() as bar:
        task = bar.add_task(f"load {tenant}", total=len(told))
        for one in told:
            if not one.memory.stats()["memories"]:
                items = [item_of(turn) for turn in one.conversation.turns if turn.text.strip()]
                for start in range(0, len(items), _BATCH):
                    one.memory.remember_many(items[start : start + _BATCH])
            settle(one.memory)
            bar.advance(task)
    return told


def drawn(told: Sequence[Told], most: int) -> list[tuple[int, Question]]:
    """All questions with the place of who is asked, or `most` of them, the same in every run."""
    pairs = [(place, question) for place, one in enumerate(told) for question in one.conversation.questions]
    if 0 < most < len(pairs):
        pairs = [pairs[number] for number in sorted(Random(7).sample(range(len(pairs)), most))]
    return pairs


def recall_10(hits: Hits, question: Question) -> float:
    """Share of a question's evidence among the best ten."""
    found = list(dict.fromkeys(hit.node.ref for hit in hits if hit.node.ref is not None))
    return recall_at(10, new_gold(found, question.groups), len(question.groups))


def mean(values: Sequence[float]) -> float:
    """0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of all columns, in the order they first appear."""
    return tuple(dict.fromkeys(name for row in rows for name in row))
