"""biem on real servers with its insides in reach: the memory that `biem.connect` opens, and variants of it."""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import _pools, _report
from benchmarks._data import Conversation, Question, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._pools import Case, Recorder
from benchmarks._systems import conditions, item_of, settle, spoken
from benchmarks.metrics import DEPTH, Score, mean, percentiles, score
from biem.adapters.clock import SystemClock
from biem.bootstrap import Servers, servers
from biem.config import Settings, load_settings
from biem.domain.policies.ranking import RankPolicy
from biem.domain.scope import Scope
from biem.engine.recall.rank.term_matrix import Numbers
from biem.errors import InvalidInput
from biem.memory import Memory
from biem.ports import Embedder, Filter
from biem.ports.readers import TurnReader, Turns
from biem.system import System
from biem.telemetry import Span

VARIANTS = ("activation", "conflict", "neighbours", "nameless", "revision")
"""What only another search can switch off: it changes the candidates, or the terms added to their scores."""
_UNSET = {"postgres_dsn": None, "postgres_host": None, "redis_url": None, "milvus_uri": None, "milvus_host": None}
_STAGES = "biem.recall"
_SAMPLE = 200
"""Questions of a file that are searched again for each variant, at most twice as many."""

_Note = Callable[[Conversation, Question, int], None]


class NoNeighbours:
    """A reader of turns that leaves out mere neighbours of a hit."""

    def __init__(self, inner: TurnReader) -> None:
        self._inner = inner

    def around(
        self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: Sequence[str], where: Filter, *, pending_limit: int
    ) -> Turns:
        """As the port says, without the turns around."""
        turns = self._inner.around(scopes, ids, lexemes, where, pending_limit=pending_limit)
        found = set(ids)
        return Turns({key: turn for key, turn in turns.by_id.items() if key in found}, [], turns.openings & found)


class Recording:
    """The pools of one file, and the measurements made while they were recorded."""

    def __init__(self, cases: Sequence[Case], measured: Mapping[str, Any]) -> None:
        self.cases = cases
        self.live: Mapping[str, float] = measured["live"]
        """R@10 through the public API: "all on"; of a sample of `n` questions: "sampled", and without `VARIANTS`."""
        self.stages: Mapping[str, Mapping[str, float]] = measured["stages"]
        """Percentiles of each step of recall, in milliseconds."""

    def mean(self, weights: Numbers, policy: RankPolicy) -> Score:
        """The average over all questions under these weights."""
        return mean([case.judged(weights, policy) for case in self.cases])


def recording(
    file: Path, embedder: str, cache: Path | None, limits: tuple[int | None, int | None], *, variants: bool
) -> Recording:
    """The pools of a file: those of the cache if it has them, else recorded now.

    `limits`: at most this many conversations, and questions of each. Without `variants` only the pools are measured.
    Raises `InvalidInput` for a file without a question that has evidence.
    """
    conversations = list(read_conversations(file, *limits))
    if not any(one.questions for one in conversations):
        raise InvalidInput(f"{file}: no question has evidence, nothing can be measured")
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True))
        settings = load_settings().model_copy(update={"home": Path(home), **_UNSET})
        inner = choose_embedder(embedder, settings)
        model = stack.enter_context(closing(PassageCache(inner, cache, queries=True)))
        held = cache / f"pools-{_pools.key_of(file, model.info.id, limits, settings.ranking)}.npz" if cache else None
        if held is not None and held.exists():
            cases, measured = _pools.load(held, conversations)
            if not variants or set(VARIANTS) <= measured["live"].keys():
                return Recording(cases, measured)
        where = stack.enter_context(servers(settings))
        cases, measured = _record(data_name(file), conversations, settings, where, model, stack, variants=variants)
        if held is not None:
            _pools.save(held, cases, measured)
    return Recording(cases, measured)


def _record(
    name: str,
    conversations: Sequence[Conversation],
    settings: Settings,
    where: Servers,
    embedder: Embedder,
    stack: ExitStack,
    *,
    variants: bool,
) -> tuple[list[Case], dict[str, Any]]:
    import_module("biem.adapters.postgres.migrations").migrate(where.postgres_dsn)
    system = _assembled(settings, where, embedder, stack)
    position = _load(name, conversations, system)
    recorder = Recorder(system.recaller.order)
    system.recaller.order = recorder
    stages: defaultdict[str, list[float]] = defaultdict(list)

    def keep(span: Span) -> None:
        if span.name.startswith(_STAGES):
            stages[span.name].append(span.duration_ms)

    cases: list[Case] = []

    def note(conversation: Conversation, question: Question, number: int) -> None:
        case = recorder.case(conversation, question, number, position)
        if case is not None:
            cases.append(case)

    system.telemetry.attach(keep)
    scores = _ask(f"{name}: record", conversations, system, 1, note)
    system.telemetry.detach(keep)
    every = max(1, len(scores) // _SAMPLE)
    live = {"all on": mean(scores).recall_10, "sampled": mean(scores[::every]).recall_10, "n": len(scores[::every])}
    for variant in VARIANTS if variants else ():
        other = _assembled(_without(variant, settings), where, embedder, stack)
        if variant == "neighbours":
            other.recaller.turns = NoNeighbours(other.recaller.turns)
        live[variant] = mean(_ask(f"{name}: without {variant}", conversations, other, every)).recall_10
    return cases, {"live": live, "stages": {step: percentiles(times, 50, 95) for step, times in stages.items()}}


def _assembled(settings: Settings, where: Servers, embedder: Embedder, stack: ExitStack) -> System:
    """One object graph, without threads; closed with `stack`."""
    assemble = import_module("biem.bootstrap.system").assemble  # clients of servers: not for those who only reckon
    system: System = assemble(
        settings=settings.model_copy(update={"queue": "none"}),
        where=where,
        embedder=embedder,
        clock=SystemClock(),
        stack=ExitStack(),
        serve=False,
    )
    stack.callback(Memory(system, Scope()).close)
    return system


def _without(variant: str, settings: Settings) -> Settings:
    recall = settings.recall
    if variant == "activation":
        recall = replace(recall, activation_weight=0.0)
    elif variant == "conflict":
        recall = replace(recall, conflict_penalty=0.0, superseded_penalty=0.0)
    elif variant == "nameless":
        settings = settings.model_copy(update={"ranking": replace(settings.ranking, nameless=0.0)})
    elif variant == "revision":
        settings = settings.model_copy(update={"ranking": replace(settings.ranking, reported_change=0.0)})
    return settings.model_copy(update={"recall": recall})


def _load(name: str, conversations: Sequence[Conversation], system: System) -> dict[str, int]:
    """Remember and index every turn; returns the position of each memory in its conversation."""
    position: dict[str, int] = {}
    with _report.progress() as bar:
        task = bar.add_task(f"{name}: load", total=sum(len(one.turns) for one in conversations))
        for conversation in conversations:
            ids = _scope_of(system, conversation).remember_many(map(item_of, spoken(conversation)))
            place = {turn.id: place for place, turn in enumerate(conversation.turns)}
            position |= {key: place[turn.id] for key, turn in zip(ids, spoken(conversation), strict=True)}
            while system.encoder():
                pass
            settle(_scope_of(system, conversation))
            bar.advance(task, len(conversation.turns))
    return position


def _scope_of(system: System, conversation: Conversation) -> Memory:
    return Memory(system, Scope("benchmark", conversation.id), owner=False)


def _ask(
    title: str, conversations: Sequence[Conversation], system: System, every: int, note: _Note | None = None
) -> list[Score]:
    """The scores of every n-th question through the public API; `note` hears each one after it was answered."""
    asked = [(number, one, question) for number, one in enumerate(conversations) for question in one.questions]
    scores: list[Score] = []
    with _report.progress() as bar:
        for number, conversation, question in bar.track(asked[::every], description=title):
            hits = _scope_of(system, conversation).recall(
                question.text, top_k=DEPTH, **conditions(conversation, question)
            )
            if hits.degraded:
                print(f"biem answered degraded: {', '.join(hits.degraded)}", file=sys.stderr)
            found = [hit.node.ref for hit in hits if hit.node.ref is not None]
            session_of = {turn.id: turn.session for turn in conversation.turns}
            scores.append(score(found, question.groups, session_of, question.sessions))
            if note is not None:
                note(conversation, question, number)
    return scores
