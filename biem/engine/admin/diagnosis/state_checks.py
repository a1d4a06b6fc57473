"""Checks of jobs, canvases, links, and of the models that indexed the memories."""

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import TypeVar

from biem.domain.diagnosis import Depth, Finding, Limits, Tally
from biem.domain.scope import Scope
from biem.domain.text import counted
from biem.errors import StoreUnavailable
from biem.ports import Clock, Records
from biem.ports.diagnosis import RecordsInspection, Repairs, ScopeState, Workers
from biem.ports.hot import Canvas
from biem.ports.life import LifeRecords
from biem.ports.links import Links

T = TypeVar("T")

_DANGLING = 100
"""Dangling ends searched in a scope."""
_PAGE = 200


class OutboxCheck:
    """Whether jobs are processed, and which failed for good."""

    needs = frozenset({"postgres"})

    def __init__(
        self,
        inspection: RecordsInspection,
        repairs: Repairs,
        records: Records | None,
        workers: Workers,
        limits: Limits,
    ) -> None:
        """`records` requeues dead letters; None in a read-only diagnosis."""
        self._inspection = inspection
        self._repairs = repairs
        self._records = records
        self._workers = workers
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:  # noqa: ARG002
        """Findings about dead letters, refused memories, waiting jobs and missing workers."""
        state = self._inspection.outbox(self._limits.samples)
        seen["jobs"] += state.due + state.leased + state.dead
        if state.dead:
            retried = self._records.retry_dead(None) if mend and self._records is not None else 0
            yield Finding(
                "dead_letters",
                "error",
                f"{counted(state.dead, 'memory')} could not be indexed in several attempts: found by words only",
                "`biem dead` shows why; repair that, then `biem retry`",
                state.dead,
                state.dead_ids,
                f"{retried} retried" if retried else "",
            )
        if state.refused:
            hurried = self._repairs.hurry() if mend else 0
            yield Finding(
                "memory_refused",
                "warning",
                f"{counted(state.refused, 'memory')} not indexed in several attempts although the servers answer: "
                f"found by words only, and tried again and again: {state.refused_for}",
                "repair what the message reports, then `biem diagnose --fix` tries them at once; or `biem erase` them",
                state.refused,
                state.refused_ids,
                f"{hurried} retried" if hurried else "",
            )
        cut_off = False
        try:
            alive = self._workers.alive()
        except StoreUnavailable as error:
            alive, cut_off = None, True  # they may be waiting for the broker, too
            yield Finding("broker_unreachable", "error", f"workers cannot be woken: {error}", "start the broker")
        late = state.due_for_s > self._limits.lag_s
        if (alive is not None and not alive) or (alive is None and not cut_off and late and not state.leased):
            yield Finding(
                "worker_missing",
                "error",
                f"no worker {'answers' if alive is not None else 'holds any job'}; due: {counted(state.due, 'job')}",
                "start a program with BIEM_QUEUE=thread, or `celery -A biem.workers.app worker -Q encode,maintain`",
                max(1, state.due),
                mended="processed here, once" if mend and alive is None else "",
            )
        elif late:
            yield Finding(
                "outbox_lags",
                "warning",
                f"{counted(state.due, 'job')} due, oldest: {state.due_for_s:.0f} s; new memories are found by words",
                "start the broker" if cut_off else "start more workers; `biem perf` shows which stage takes long",
                state.due,
                mended="processed here, once" if mend else "",
            )


class CanvasCheck:
    """Whether canvases match the tiers in the records; a recall or the next sweep repairs it, too."""

    needs = frozenset({"postgres", "redis"})

    def __init__(
        self,
        inspection: RecordsInspection,
        life: LifeRecords,
        canvas: Canvas,
        spoilt: Callable[[str], str],
        *,
        sweep: Callable[[], object] | None,
        pause: Callable[[float], object],
        random: Random,
        limits: Limits,
    ) -> None:
        """`spoilt`: of `Projection`; unreadable values are another check's, and reading their ids would drop them.

        `sweep` aligns all canvases with the records; `pause` waits for a number of seconds.
        """
        self._inspection = inspection
        self._pause = pause
        self._life = life
        self._canvas = canvas
        self._spoilt = spoilt
        self._sweep = sweep
        self._random = random
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        """At most one finding."""
        stale = Tally(self._limits.samples)
        suspects: dict[str, set[str]] = {}
        for ns in self._scopes(depth):
            seen["canvases"] += 1
            if differing := self._differing(ns):
                suspects[ns] = differing
        if suspects:  # a change during the check is no fault
            self._pause(self._limits.settle_s)
        for ns, differing in suspects.items():
            stale.add(sorted(self._settled(differing & self._differing(ns))))
        if stale.count:
            if mend and self._sweep is not None:
                self._sweep()
            yield Finding(
                "canvas_stale",
                "warning",
                f"{counted(stale.count, 'memory')} hot in the records and not in the canvas, or the reverse",
                "`biem diagnose --fix`, or wait for the next sweep",
                stale.count,
                tuple(stale.samples),
                "all canvases swept" if mend and self._sweep is not None else "",
            )

    def _settled(self, ids: set[str]) -> set[str]:
        """Without those that have a job: it will remove them."""
        known = self._inspection.known(sorted(ids)) if ids else {}
        return {memory_id for memory_id in ids if not known[memory_id].queued}

    def _differing(self, ns: str) -> set[str]:
        held = None if self._spoilt(ns) else self._canvas.ids(ns)
        if held is None:  # lost as a whole, as after a restart: the next recall rebuilds it
            return set()
        return self._life.hot_ids(ns) ^ held

    def _scopes(self, depth: Depth) -> Iterator[str]:
        start = "" if depth.full else f"{self._random.getrandbits(32):08x}"
        return around(self._life.hot_scopes, str, start, None if depth.full else self._limits.scopes)


class GraphCheck:
    """Whether each scope's links are visible and have both ends, and which memories another model indexed."""

    needs = frozenset({"postgres"})

    def __init__(
        self,
        inspection: RecordsInspection,
        repairs: Repairs,
        links: Links,
        *,
        model: str,
        clock: Clock,
        random: Random,
        limits: Limits,
    ) -> None:
        self._inspection = inspection
        self._repairs = repairs
        self._links = links
        self._model = model
        self._clock = clock
        self._random = random
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        """At most three findings."""
        behind, dangling = Tally(self._limits.samples), Tally(self._limits.samples)
        foreign: Counter[str] = Counter()
        for state in self._scopes(depth):
            seen["scopes"] += 1
            foreign.update(state.foreign)
            if state.unseen_links:
                behind.count += state.unseen_links
                behind.samples.append(str(state.scope))
                if mend:
                    self._repairs.renumber(state.scope.ns)
            if ends := self._dangling(state.scope, every=depth.full):
                dangling.add(ends)
                if mend:
                    self._links.park(state.scope, ends, self._clock.now())
        if behind.count:
            yield Finding(
                "graph_behind",
                "error",
                f"{counted(behind.count, 'link')} newer than the version of the scope: no process loads that",
                "`biem diagnose --fix` renumbers them",
                behind.count,
                tuple(behind.samples[: self._limits.samples]),
                "renumbered; every process reloads these graphs" if mend else "",
            )
        if dangling.count:
            yield Finding(
                "links_dangle",
                "warning",
                f"ends of links that are no memory or concept: {dangling.count}",
                "`biem diagnose --fix`, or wait for the job `integrity`",
                dangling.count,
                tuple(dangling.samples),
                "parked until their ends exist again" if mend else "",
            )
        if foreign:
            told = ", ".join(f"{count} with {model or 'no model'}" for model, count in sorted(foreign.items()))
            yield Finding(
                "other_model",
                "warning",
                f"{counted(sum(foreign.values()), 'active memory')} not indexed by {self._model} ({told}), "
                "found by this process by words only",
                "`biem reembed` moves all memories to one model; give all programs the same BIEM_EMBEDDER__*",
                sum(foreign.values()),
            )

    def _dangling(self, scope: Scope, *, every: bool) -> list[str]:
        """Missing ends without a job: links of a memory archived a moment ago are parked by its job."""
        ends = list(self._links.dangling(scope, _DANGLING, every=every))
        if not ends:
            return []
        known = self._inspection.known(ends)
        left = {end for end in ends if known[end].status in ("archived", "gone") and not known[end].queued}
        return sorted(left.intersection(self._links.dangling(scope, _DANGLING, every=every)))

    def _scopes(self, depth: Depth) -> Iterator[ScopeState]:
        start = "" if depth.full else f"{self._random.getrandbits(32):08x}"

        def fetch(after: str, limit: int) -> list[ScopeState]:
            return self._inspection.scopes(after, limit, self._model)

        return around(fetch, lambda state: state.scope.ns, start, None if depth.full else self._limits.scopes)


def around(fetch: Callable[[str, int], list[T]], key: Callable[[T], str], start: str, most: int | None) -> Iterator[T]:
    """At most `most` of all items in the order of their keys: those after `start`, then those up to it."""
    count = 0
    for after, end in ((start, ""), ("", start)) if start else (("", ""),):
        while page := fetch(after, _PAGE):
            for item in page:
                if count == most or (end and key(item) > end):
                    return
                count += 1
                yield item
            after = key(page[-1])
