"""The facade: every use case of one memory, in one scope, and no logic of its own."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from biem.domain.activation import Running
from biem.domain.concept import Recollection
from biem.domain.conflict import Conflict
from biem.domain.link import Link
from biem.domain.node import KINDS, Hits, Node, Receipt, parse_id, require_time
from biem.domain.policy import Policies
from biem.domain.scope import Scope
from biem.engine.activation import Activator
from biem.engine.association import Associations
from biem.engine.context import Context, render
from biem.engine.encode import Encoder
from biem.engine.erase import Eraser
from biem.engine.feedback import Feedback, Lesson
from biem.engine.lifecycle import Lifecycle
from biem.engine.recall import Recaller
from biem.engine.reindex import Reindexer
from biem.engine.related import Reminder
from biem.engine.remember import Writer
from biem.engine.resolution import Resolver
from biem.engine.sleep import Sleeper, SleepReport, Upkeep
from biem.errors import BiemError, InvalidInput, NotFound
from biem.ports import Clock, DeadLetter, EmbedderInfo, Filter, JobQueue, Records
from biem.ports.consolidation import Consolidations, CrystalFact
from biem.telemetry import Telemetry

_FAR_FUTURE_DAYS = 3_000_000
_POLL_S = 0.01


@dataclass(slots=True)
class Parts:
    """The object graph that all scopes of one `connect` share. Only bootstrap builds it."""

    records: Records
    queue: JobQueue
    writer: Writer
    recaller: Recaller
    eraser: Eraser
    reindexer: Reindexer
    lifecycle: Lifecycle
    associations: Associations
    feedback: Feedback
    resolver: Resolver
    reminder: Reminder
    activator: Activator
    consolidations: Consolidations
    sleeper: Sleeper
    encoder: Encoder
    upkeep: Upkeep
    keeper: JobQueue
    """Runs the background jobs that are due."""
    clock: Clock
    policies: Policies
    telemetry: Telemetry
    embedder: EmbedderInfo
    collection: str
    close_timeout_s: float
    release: Callable[[], None]
    """Closes connections and leaves the embedded servers; called once, last."""
    wrote: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin background work, as far as this process does any."""
        self.queue.start(self.encoder)
        self.keeper.start(self.upkeep.tick)


class Memory:
    """What an agent remembers, in one scope. Thread-safe; use it as a context manager, or call `close`."""

    def __init__(self, parts: Parts, scope: Scope, *, owner: bool = True) -> None:
        self._all = parts
        self._owner = owner
        self.bound_to = scope

    @property
    def _parts(self) -> Parts:
        if self._all.closed.is_set():
            raise BiemError("this memory is closed; call biem.connect() again")
        return self._all

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

    def scope(self, *, tenant: str | None = None, user: str | None = None, project: str | None = None) -> "Memory":
        """The same memory system for another scope; names left out stay as they are. Closing it closes nothing."""
        bound = self.bound_to
        scope = Scope(
            bound.tenant if tenant is None else tenant,
            bound.user if user is None else user,
            bound.project if project is None else project,
        )
        return Memory(self._all, scope, owner=False)

    def remember(
        self,
        text: str,
        *,
        kind: str | None = None,
        tags: Sequence[str] = (),
        reason: str = "",
        importance: float = 3.0,
        source: str = "",
        speaker: str = "",
        conversation: str = "",
        at: datetime | None = None,
        ref: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        layer: str = "short_term",
        wait: bool = False,
    ) -> str:
        """Keep a text for good; returns the memory's id once it is durable, usually within a millisecond or two.

        From then on `recall` finds it, by its words at once and by meaning when a worker has indexed it (`wait=True`
        waits for that, at most a minute).

        `kind`: knowledge, skill, emotion, task, event; unset, a text with a speaker, conversation or chat source is an
        `event` (a message), any other is `knowledge` (a fact). A fact repeated in one scope is the same memory;
        messages never are, unless `ref`, your own id, says so. `importance`: 1–5. `at`: when it was said, default now.
        `layer`: core, session, short_term, long_term. Raises `InvalidInput`, `RefConflict` and `StoreUnavailable`;
        after the last the text may be stored or not: with a `ref`, repeating the call cannot store it twice.
        """
        memory_id = self._parts.writer.remember(
            self.bound_to,
            text,
            kind=kind,
            tags=tags,
            reason=reason,
            importance=importance,
            source=source,
            speaker=speaker,
            conversation=conversation,
            at=at,
            ref=ref,
            metadata=metadata,
            layer=layer,
        )
        self._all.wrote.set()
        if wait:
            self._until(lambda: self.get(memory_id).status != "pending", 60.0)
        return memory_id

    def remember_many(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        wait: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Keep many texts, each a mapping of `remember`'s arguments; returns their ids in order.

        Written some hundred a transaction; `on_progress` hears the number stored so far. A bad item raises
        `InvalidInput` with its position; what was stored before it stays.
        """
        ids = self._parts.writer.remember_many(self.bound_to, items, on_progress)
        self._all.wrote.set()
        if wait:
            self.flush()
        return ids

    def recall(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: str = "auto",
        kinds: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        speakers: Sequence[str] = (),
        conversations: Sequence[str] = (),
        tags: Sequence[str] = (),
        as_of: datetime | None = None,
    ) -> Hits:
        """The memories that matter for a query, best first: at most `top_k` (default 10).

        Reads this scope and, from a project, the user's own. `since` ≤ `at` < `until`; `tags` must all be there; of
        `kinds`, `speakers` and `conversations` any may match. `mode="strict"` adds the originals, `"auto"` does so when
        the query asks for them. `as_of` answers with what held at that instant; without it, facts that no longer hold
        are left out. `Hits.degraded` names what was down: the answer is then the best that was left.
        """
        parts = self._parts
        where = self._filter(kinds, since, until, speakers, conversations, tags, as_of)
        limit = parts.policies.recall.top_k if top_k is None else top_k
        return parts.recaller.recall(self.bound_to, query, top_k=limit, mode=mode, where=where)

    def context(self, query: str, *, top_k: int | None = None, budget_tokens: int | None = None) -> Context:
        """The block to put into a prompt for this query; its `text` is empty when there is nothing to tell."""
        policy = self._parts.policies.context
        hits = self.recall(query, top_k=policy.top_k if top_k is None else top_k)
        budget = policy.budget_tokens if budget_tokens is None else budget_tokens
        return render(hits, policy, budget, hits.degraded)

    def get(self, memory_id: str) -> Node:
        """One memory of exactly this scope, or `NotFound`."""
        node = self._parts.records.get(self.bound_to, parse_id(memory_id))
        if node is None:
            raise NotFound(f"no memory {memory_id} in scope {self.bound_to}")
        return node

    def feedback(
        self,
        useful: Sequence[str] = (),
        useless: Sequence[str] = (),
        *,
        new: Sequence[str] = (),
        turn: str | None = None,
    ) -> Lesson:
        """Tell which recalled memories were of use in a turn, and which were not.

        Useful ones gain energy, stay longer and are linked more closely with each other and with `new` ones of the
        turn; useless ones fade. `turn`, your name for the turn, makes a repeated call count once. Raises `NotFound`,
        with nothing changed, for unknown ids.
        """
        return self._parts.feedback.learn(self.bound_to, useful, useless, new=new, turn=turn)

    def related(self, text: str) -> list[Recollection]:
        """What a text reminds of: topics of past conversation and what was said of them, best first."""
        return self._parts.reminder.related(self.bound_to, text)

    def running(self, message: str, *, conversation: str, history: str = "") -> tuple[Running, ...]:
        """The memories on one's mind in this turn of a conversation: called up by the message or a turn or two ago."""
        return self._parts.activator.activate(self.bound_to, conversation, message, history)

    def links(self, memory_id: str) -> list[Link]:
        """What a memory of this scope is linked with, closest first."""
        parts = self._parts
        node = self.get(memory_id)
        parts.associations.refresh(self.bound_to)
        return parts.associations.neighbours(self.bound_to, node.id)

    def conflicts(self, *, status: str | None = "pending", limit: int = 100) -> list[Conflict]:
        """Memories of this scope that contradict, update or repeat each other, newest first; status None: all.

        A sure contradiction is decided at once, in favour of what was said later; the others wait for `resolve`.
        """
        return self._parts.resolver.find(self.bound_to, status=status, limit=limit)

    def resolve(self, conflict_id: str, resolution: str) -> Conflict:
        """Decide a conflict: keep_new, keep_old, merge, keep_both or ignore; `undo` takes it back."""
        return self._parts.resolver.resolve(self.bound_to, conflict_id, resolution)

    def undo(self, conflict_id: str) -> Conflict:
        """Take a decision about a conflict back, whoever made it: both memories are as they were before."""
        return self._parts.resolver.undo(self.bound_to, conflict_id)

    def facts(self, limit: int = 100) -> list[CrystalFact]:
        """What was distilled from memories of this scope that are used together."""
        return self._parts.consolidations.facts(self.bound_to, limit)

    def archive(self, memory_id: str, reason: str = "") -> bool:
        """Forget a memory: it is no answer any more, and `restore` brings it back. False if it was archived already."""
        return self._parts.lifecycle.archive(self.bound_to, memory_id, reason)

    def restore(self, memory_id: str) -> bool:
        """Bring an archived memory back; recall finds it at once. False if it was not archived."""
        done = self._parts.lifecycle.restore(self.bound_to, memory_id)
        self._all.wrote.set()
        return done

    def sleep(self) -> SleepReport:
        """Do all background work of this scope now, in order: build, consolidate, forget, mend. Never raises.

        It also happens by itself; a second sleep right after the first changes nothing.
        """
        report = self._parts.sleeper.sleep(self.bound_to)
        if report.changed:
            self._all.wrote.set()  # facts and merged memories are to be indexed before closing
        return report

    def erase(self, target: str | Scope) -> Receipt:
        """Destroy one memory of this scope by its id, or everything of a scope, in every store; returns the proof.

        There is no way back: forgetting archives, only this destroys. Raises `NotFound` for an unknown id.
        """
        if isinstance(target, Scope):
            return self._parts.eraser.erase(target, None)
        return self._parts.eraser.erase(self.bound_to, target)

    def dead_letters(self, limit: int = 100) -> list[DeadLetter]:
        """Memories of this scope that could not be indexed, with the reason; they are still found by their words."""
        return self._parts.records.dead(self.bound_to, limit)

    def retry(self) -> int:
        """Give this scope's dead letters another chance; returns how many."""
        count = self._parts.records.retry_dead(self.bound_to)
        self._all.queue.wake()
        return count

    def reindex(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Rebuild the vector index of all scopes from PostgreSQL; returns the number of memories indexed."""
        return self._parts.reindexer.reindex(on_progress)

    def stats(self) -> Mapping[str, int | str]:
        """Counts of this scope, of the whole system (`all_…`), and which embedder runs."""
        parts = self._parts
        mine = parts.records.stats(self.bound_to)
        everything = parts.records.stats(None)
        info = parts.embedder
        return {
            "scope": str(self.bound_to),
            **{name: mine[name] for name in ("memories", "active", "pending", "archived", "dead_letters")},
            **{f"all_{name}": count for name, count in everything.items()},
            "backlog": parts.records.backlog(),
            "conflicts": parts.resolver.count(self.bound_to),
            "embedder": info.id,
            "dimension": info.dim,
            "languages": " ".join(info.languages),
            "collection": parts.collection,
        }

    def flush(self, timeout_s: float = 60.0, on_progress: Callable[[int], None] | None = None) -> bool:
        """Wait until nothing of this scope is pending; False after `timeout_s`. Hears the number still pending."""
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

        What is not indexed by then stays safe in PostgreSQL and is indexed by the next process. Idempotent.
        """
        parts = self._all
        if not self._owner or parts.closed.is_set():
            return
        try:
            if parts.wrote.is_set():  # what other processes hold is theirs to finish
                parts.queue.wake()
                self._until(lambda: parts.records.backlog(due_only=True) == 0, parts.close_timeout_s)
        except BiemError:
            pass  # a server is down: nothing that was acknowledged is lost
        finally:
            parts.closed.set()
            parts.keeper.stop(parts.close_timeout_s)
            parts.queue.stop(parts.close_timeout_s)
            parts.recaller.close()
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

    def _filter(
        self,
        kinds: Sequence[str],
        since: datetime | None,
        until: datetime | None,
        speakers: Sequence[str],
        conversations: Sequence[str],
        tags: Sequence[str],
        as_of: datetime | None,
    ) -> Filter:
        for kind in kinds:
            if kind not in KINDS:
                raise InvalidInput(f"kind {kind!r} is unknown; choose one of {', '.join(KINDS)}")
        now = self._parts.clock.now()
        return Filter(
            tuple(kinds),
            tuple(speakers),
            tuple(conversations),
            tuple(tags),
            None if since is None else require_time(since, "since", now, _FAR_FUTURE_DAYS),
            None if until is None else require_time(until, "until", now, _FAR_FUTURE_DAYS),
            None if as_of is None else require_time(as_of, "as_of", now, _FAR_FUTURE_DAYS),
        )
