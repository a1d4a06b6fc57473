"""What becomes of pairs: told to biem as messages, or shown to the rules alone."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np

import biem
from benchmarks import _report
from benchmarks._clock import HeldClock
from benchmarks._systems import settle
from benchmarks.lives.agent import lines_of
from benchmarks.lives.pairs import Pair
from benchmarks.lives.schedule import START
from biem.adapters import contradiction
from biem.adapters.embedders.directions import change_odds
from biem.config import Settings
from biem.domain.conflict import Statement
from biem.plugin import BIEMContextPlugin
from biem.ports import Embedder, Vector

COLUMNS = ("what", "n", "retired", "disputed", "displaced", "effect", "noticed", "shown")
_LATER = timedelta(days=60)
_RIGHT_AFTER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a pair."""

    pair: Pair
    retired: bool
    """The first holds no longer."""
    denied: bool
    """The second never held, or holds no longer."""
    disputed: bool
    """Neither, but they are recorded as contradicting each other."""
    why: str = ""
    """The rules that decided or recorded."""
    shown: bool = False
    """A block for the first shows the second, and the first only below it and with its date or as outdated."""


def by_rules(pairs: Sequence[Pair], embedder: Embedder | None, settings: Settings) -> list[Decided]:
    """The verdict of the rules alone, with the thresholds of the settings."""
    rules, policy, found = contradiction.build(), settings.conflicts, list[Decided]()
    for pair in pairs:
        similarity, (older, newer) = None, later_of(pair)
        if embedder is not None:
            known = with_vectors([older, newer], embedder)
            (older, one), (newer, other) = known[older.text], known[newer.text]
            similarity = float(embedder.similarity(one, np.stack([other]))[0])
        verdict = None
        if similarity is None or similarity >= policy.least_similarity:
            verdict = rules.compare(older, newer, similarity, least=policy.record_confidence)
        if verdict is None or verdict.kind == "duplicate" or verdict.confidence < policy.record_confidence:
            found.append(Decided(pair, retired=False, denied=False, disputed=False))
            continue
        sure = verdict.confidence >= policy.act_confidence and verdict.aligned and not verdict.partial
        acts = sure and pair.role == "user"
        why = f"{verdict.rule} {verdict.attribute} {verdict.confidence:.2f}{' partial' if verdict.partial else ''}"
        found.append(Decided(pair, retired=acts, denied=False, disputed=not acts, why=why))
    return found


def later_of(pair: Pair) -> tuple[Statement, Statement]:
    """The two messages as statements of one speaker."""
    follows = pair.apart < _RIGHT_AFTER
    return Statement(pair.older, "", START), Statement(pair.newer, "", START + pair.apart, follows=follows)


def with_vectors(statements: Sequence[Statement], embedder: Embedder) -> dict[str, tuple[Statement, Vector]]:
    """By its text, each statement with its log-odds of a change, and its vector."""
    said = {one.text: one for one in statements}
    vectors = embedder.embed(list(said), "passage")
    odds = change_odds(embedder.info.id)
    changed = odds(vectors).tolist() if odds is not None else [None] * len(said)
    return {
        text: (replace(one, changed=of), vector)
        for (text, one), of, vector in zip(said.items(), changed, vectors, strict=True)
    }


def by_memory(pairs: Sequence[Pair], embedder: Embedder, settings: Settings) -> list[Decided]:
    """Each pair is stated by one user in a separate scope; `settings` name the home of a separate store."""
    with ExitStack() as stack:
        clock = HeldClock(START)
        memory = stack.enter_context(biem.connect(settings, embedder=embedder, clock=clock))
        bar = stack.enter_context(_report.progress())
        task = bar.add_task("pairs", total=3 * len(pairs))
        scopes = [memory.scope(user=f"pair-{number}") for number in range(len(pairs))]
        ids: list[list[str]] = []
        for texts in ([pair.older for pair in pairs], [pair.newer for pair in pairs]):
            stored: list[str] = []
            for pair, scope, text in zip(pairs, scopes, texts, strict=True):
                second = bool(ids)
                plugin = BIEMContextPlugin(scope, conversation="later" if second and pair.apart.days else "first")
                by_assistant = second and pair.role == "assistant"
                record = plugin.record_assistant_message if by_assistant else plugin.record_user_message
                stored.append(record(text, at=START + (pair.apart if second else timedelta())) or "")
                if pair.answer and not second:
                    plugin.record_assistant_message(pair.answer, at=START + pair.apart / 2)
                bar.advance(task)
            for scope in scopes:
                settle(scope)
            ids.append(stored)
            clock.move_to(START + _LATER)
        found: list[Decided] = []
        for pair, scope, older, newer in zip(pairs, scopes, *ids, strict=True):
            found.append(_decided(pair, scope, older, newer))
            bar.advance(task)
    return found


def _decided(pair: Pair, scope: biem.Memory, older: str, newer: str) -> Decided:
    first, second = scope.get(older), scope.get(newer)
    conflicts = [one for one in scope.conflicts(status=None) if one.kind != "duplicate" and not one.suspected]
    retired, denied = (
        node.valid_to is not None or node.superseded_by is not None or node.status == "archived"
        for node in (first, second)
    )
    return Decided(
        pair,
        retired,
        denied,
        disputed=any(one.status == "pending" for one in conflicts) and not (retired or denied),
        why=", ".join(f"{one.rule} {one.attribute} {one.confidence:.2f} {one.status}" for one in conflicts),
        shown=_shown(pair, scope, older, newer),
    )


def _shown(pair: Pair, scope: biem.Memory, older: str, newer: str) -> bool:
    block = scope.context(pair.older)
    lines = list(lines_of(block, lambda node: frozenset([node.id])))
    place = {key: n for n, line in enumerate(lines) for key in line.turns}
    if newer not in place or older not in place:
        return newer in place
    told = lines[place[older]]
    return place[newer] < place[older] and (told.marked or told.dated)


def decided(pairs: Sequence[Pair], embedder: Embedder | None, settings: Settings, *, rules_only: bool) -> list[Decided]:
    """What becomes of pairs: in a separate store, or by the rules alone."""
    if rules_only or embedder is None:
        return by_rules(pairs, embedder, settings)
    with tempfile.TemporaryDirectory(prefix="biem-bench-", ignore_cleanup_errors=True) as home:
        return by_memory(pairs, embedder, settings.model_copy(update={"home": Path(home)}))


def rows(found: Sequence[Decided]) -> list[dict[str, object]]:
    """All innocent pairs, all updates, then each sort."""
    groups: dict[str, list[Decided]] = defaultdict(list)
    for one in found:
        groups[f"all {one.pair.label} pairs"].append(one)
    for one in sorted(found, key=lambda one: (one.pair.label, one.pair.sort)):
        groups[f"{one.pair.label}: {one.pair.sort}"].append(one)
    return [_row(name, group) for name, group in groups.items()]


def _row(name: str, group: Sequence[Decided]) -> dict[str, object]:
    count, row = len(group), dict[str, object](what=name, n=len(group))
    if group[0].pair.label == "innocent":
        row["retired"] = 1_000 * sum(one.retired or one.denied for one in group) / count
        row["disputed"] = 1_000 * sum(one.disputed for one in group) / count
        row["displaced"] = 1_000 * sum(one.shown for one in group) / count
    else:
        row["effect"] = sum(one.retired and not one.denied for one in group) / count
        row["noticed"] = sum(one.retired or one.disputed for one in group) / count
        row["shown"] = sum((one.retired and not one.denied) or one.shown for one in group) / count
    return row


def wrong(found: Sequence[Decided]) -> dict[str, list[Decided]]:
    """What went wrong, by sort: innocent pairs of which one was retired or disputed, updates without effect."""
    failed: dict[str, list[Decided]] = defaultdict(list)
    for one in found:
        name = f"{one.pair.label}: {one.pair.sort}"
        if one.pair.label == "innocent" and (one.retired or one.denied):
            failed[f"{name}, retired"].append(one)
        elif one.pair.label == "innocent" and one.disputed:
            failed[f"{name}, disputed"].append(one)
        elif one.pair.label == "update" and (not one.retired or one.denied):
            failed[f"{name}, without effect"].append(one)
    return failed
