"""The operator's verbs of the facade: what a memory tells of itself, what is mended or destroyed, how it is closed."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Self

from biem.domain.diagnosis import Depth, Diagnosis, StageTime
from biem.domain.node import Node, Receipt
from biem.domain.paging import GraphPart, Page
from biem.domain.scope import Scope, ScopeSummary
from biem.domain.text import MOST_LISTED, require_count
from biem.errors import BiemError, InvalidInput
from biem.ports import DeadLetter, EmbedderInfo, Records
from biem.system import Parts
from biem.telemetry import Telemetry

_POLL_S = 0.01


def counts(records: Records, scope: Scope) -> dict[str, int | str]:
    """What the records count: of a scope, and of the whole system (`all_…`)."""
    mine, everything = records.stats(scope), records.stats(None)
    return {
        "scope": str(scope),
        **{name: mine[name] for name in ("memories", "active", "pending", "archived", "dead_letters")},
        **{f"all_{name}": count for name, count in everything.items()},
        "backlog": records.backlog(),
    }


class Operations:
    """A memory system bound to one scope, as whoever runs it sees it."""

    def __init__(self, parts: Parts, scope: Scope, *, owner: bool = True) -> None:
        self._all = parts
        self._owner = owner
        self.bound_to = scope
        parts.views.add(self)

    def __repr__(self) -> str:
        state = "closed" if self._all.closed.is_set() else "open"
        return f"<{type(self).__name__} {self.bound_to} ({state}, {self._all.embedder.id})>"

    @property
    def _parts(self) -> Parts:
        if self._all.closed.is_set():
            raise BiemError("this memory is closed; call biem.connect() again")
        return self._all.here()

    @property
    def telemetry(self) -> Telemetry:
        """Where spans are reported: `memory.telemetry.attach(handler)`."""
        return self._all.telemetry

    @property
    def embedder(self) -> EmbedderInfo:
        """Which model embeds, its dimension and its languages."""
        return self._all.embedder

    @property
    def collection(self) -> str:
        """Name of this model's collection in Milvus."""
        return self._all.collection

    def now(self) -> datetime:
        """The current time of this memory's clock."""
        return self._all.clock.now()

    def erase(self, target: str | Scope | None = None, *, user: str | None = None) -> Receipt:
        """Destroy one memory of this scope by its id, everything of a scope, or a `user`; returns the proof.

        A user is erased with all projects, of this memory's tenant; `Receipt.scopes` counts them. What was broken off
        is finished by the same call. There is no way back: forgetting archives, only this destroys. Raises `NotFound`
        for an unknown id.
        """
        if (target is None) == (user is None):
            raise InvalidInput("say what to erase: either an id or a scope, or user=…")
        if user is not None:
            return self._parts.eraser.erase_user(self.bound_to.tenant, user)
        if isinstance(target, Scope):
            return self._parts.eraser.erase(target, None)
        return self._parts.eraser.erase(self.bound_to, target)

    def scopes(self) -> list[ScopeSummary]:
        """The user's own level and all projects of the user that this memory is bound to, as far as they hold anything.

        Never those of another user or tenant.
        """
        return self._parts.scopes.listed(self.bound_to.tenant, self.bound_to.user)

    def memories(
        self, *, tier: str | None = None, layer: str | None = None, limit: int = 50, after: str = ""
    ) -> Page[Node]:
        """A page of this scope's memories, archived ones among them, the newest first: to look through, not to recall.

        Counts no access. `after` is the `next` of the page before. A page of one tier or layer may be short, or empty,
        and yet have a `next`: each looks at some thousand memories.
        """
        return self._parts.look.memories(self.bound_to, limit, after, tier, layer)

    def whole_id(self, part: str, *, of: str = "memory") -> str:
        """The id of this scope's memory or conflict (`of`) that begins or ends with these digits, six or more.

        A whole id is given back as it is. Raises `NotFound`, and `InvalidInput` with the candidates where there are
        several. Reads all ids of the scope.
        """
        return self._parts.look.whole_id(self.bound_to, part, of)

    def graph(self, *, around: str | None = None, limit: int = 200, after: str = "") -> GraphPart:
        """A page of this scope's links, the one changed last first, or of those of one node, the heaviest first.

        With the memories and concepts they end in; `after` is the `next` of the page before.
        """
        return self._parts.look.graph(self.bound_to, limit, after, around)

    def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """Memories of this scope that could not be indexed, with the reason; they are still found by their words."""
        require_count(limit, "limit", MOST_LISTED)
        return self._parts.records.dead(self.bound_to, limit)

    def retry(self) -> int:
        """Give this scope's dead letters another chance; returns how many."""
        count = self._parts.records.retry_dead(self.bound_to)
        self._all.queue.wake()
        return count

    def reindex(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Rebuild what follows from the texts of all scopes, analyses and vector index; returns how many were indexed.

        `on_progress` hears that number so far: 0 while the texts are analysed.
        """
        return self._parts.reindexer.reindex(on_progress)

    def diagnose(
        self,
        *,
        fix: bool = False,
        full: bool = False,
        after: str = "",
        on_progress: Callable[[str, int], None] | None = None,
    ) -> Diagnosis:
        """Look for faults in every store, of all scopes; `fix` mends what can be mended safely, and nothing else does.

        Looks at a sample of the memories, or, `full`, at all (beginning after the id `after`); beside running programs.
        """
        depth = Depth(full, after, on_progress)
        with self._parts.diagnosis() as diagnoser:
            return diagnoser.mend(depth) if fix else diagnoser.look(depth)

    def perf(self) -> list[StageTime]:
        """How long each stage took lately in this process: percentiles of the newest thousand of each."""
        return self._parts.times.table()

    def stats(self) -> Mapping[str, int | str]:
        """Counts of this scope, of the whole system (`all_…`), and which embedder runs."""
        parts = self._parts
        info = parts.embedder
        return {
            **counts(parts.records, self.bound_to),
            "conflicts": parts.resolver.count(self.bound_to),
            "embedder": info.id,
            "dimension": info.dim,
            "languages": " ".join(info.languages),
            "collection": parts.collection,
        }

    def flush(self, timeout_s: float = 60.0, on_progress: Callable[[int], None] | None = None) -> bool:
        """Wait until nothing of this scope is pending; False after `timeout_s`. Hears the number still pending."""
        if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s >= 0:
            raise InvalidInput(f"timeout_s must be a number of seconds from 0 on, not {timeout_s!r}")
        records = self._parts.records

        def empty() -> bool:
            left = records.backlog(self.bound_to)
            if on_progress:
                on_progress(left)
            return left == 0

        self._all.queue.wake()
        return self._until(empty, timeout_s)

    def close(self) -> None:
        """Index what this process wrote, for at most `BIEM_CLOSE_TIMEOUT_S`, then let go of everything.

        What is not indexed by then stays safe in PostgreSQL and is indexed by the next process. Idempotent. What
        `scope` returned closes everything only when it is the last one in use: the memory that `connect` returned, and
        others made of it, go on until they are closed or dropped. A forked child closes its own connections only.
        """
        parts = self._all
        parts.views.discard(self)
        if parts.closed.is_set() or (parts.views and not self._owner):
            return
        if parts.inherited:
            parts.forsake()
            return
        try:
            if parts.wrote.is_set():
                with suppress(BiemError):  # a server is down: nothing that was acknowledged is lost
                    parts.queue.wake()
                    # What other processes hold is theirs to finish.
                    self._until(lambda: parts.records.backlog(due_only=True) == 0, parts.close_timeout_s)
        finally:
            parts.closed.set()
            parts.rest(parts.close_timeout_s)
            parts.recaller.close()
            parts.unobserve()
            parts.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() >= deadline or self._all.closed.wait(_POLL_S):
                return False
        return True
