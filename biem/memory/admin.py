"""Running the system: background jobs, the index, health, counts."""

from collections.abc import Callable, Mapping

from biem.domain.diagnosis import Depth, Diagnosis, StageTime
from biem.domain.text import MOST_LISTED, require_count
from biem.engine.admin.counts import counts
from biem.engine.sleep.jobs import SleepReport
from biem.errors import InvalidInput
from biem.memory.bound import BoundMemory
from biem.ports import DeadLetter


class AdminMethods(BoundMemory):
    """Jobs, queue, index and measures."""

    def sleep(self) -> SleepReport:
        """Run all background jobs of this scope now, in order: build, consolidate, forget, repair. Never raises.

        They also run automatically; a second sleep right after the first changes nothing.
        """
        report = self._system.job_runner.sleep(self.bound_to)
        if report.changed:
            self._shared.wrote.set()  # facts and merged memories are to be indexed before closing
        return report

    def flush(self, timeout_s: float = 60.0, on_progress: Callable[[int], None] | None = None) -> bool:
        """Wait until nothing of this scope is pending; False after `timeout_s`. `on_progress` gets the number still
        pending.
        """
        if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s >= 0:
            raise InvalidInput(f"timeout_s must be a number of seconds from 0 on, not {timeout_s!r}")
        records = self._system.records

        def empty() -> bool:
            left = records.backlog(self.bound_to)
            if on_progress:
                on_progress(left)
            return left == 0

        self._shared.queue.wake()
        return self._until(empty, timeout_s)

    def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """Memories of this scope that could not be indexed, with the reason; they are still found by their words."""
        require_count(limit, "limit", MOST_LISTED)
        return self._system.records.dead(self.bound_to, limit)

    def retry(self) -> int:
        """Requeue this scope's dead letters; returns how many."""
        count = self._system.records.retry_dead(self.bound_to)
        self._shared.queue.wake()
        return count

    def reindex(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Rebuild the data derived from the texts of all scopes, analyses and vector index; returns how many were
        indexed.

        `on_progress` is called with that number: 0 while the texts are analysed.
        """
        count = self._system.reindexer.reindex(on_progress)
        self._system.notes.rebuild()
        return count

    def diagnose(
        self,
        *,
        fix: bool = False,
        full: bool = False,
        after: str = "",
        on_progress: Callable[[str, int], None] | None = None,
    ) -> Diagnosis:
        """Find faults in every store, of all scopes; `fix` repairs those that can be repaired safely, and nothing else
        does.

        Examines a sample of the memories or, with `full`, all (beginning after the id `after`); safe while other
        programs run.
        """
        depth = Depth(full, after, on_progress)
        with self._system.diagnosis() as diagnoser:
            return diagnoser.mend(depth) if fix else diagnoser.look(depth)

    def perf(self) -> list[StageTime]:
        """Recent durations of each stage in this process: percentiles of the newest thousand of each."""
        return self._system.times.table()

    def stats(self) -> Mapping[str, int | str]:
        """Counts of this scope, of the whole system (`all_…`), and the embedder in use."""
        system = self._system
        info = system.embedder
        return {
            **counts(system.records, self.bound_to),
            "conflicts": system.resolver.count(self.bound_to),
            "embedder": info.id,
            "dimension": info.dim,
            "languages": " ".join(info.languages),
            "collection": system.collection,
            **self._usage(),
        }

    def _usage(self) -> dict[str, int | str]:
        """Calls of the embedding server by all processes, and how long its quota lasts; nothing without a server."""
        system = self._system
        calls, a_day = system.embedders.used_calls()
        if not calls:
            return {}
        used: dict[str, int | str] = {"embedder_calls": calls}
        if quota := system.policies.encode.quota_calls:
            left = max(0, quota - calls)
            used |= {"embedder_calls_left": left, "embedder_days_left": int(left / a_day) if a_day else ""}
        return used
