"""The facade: every use case of one memory, in one scope, without logic."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Any, Self, Unpack

from biem.domain.concept import Recollection
from biem.domain.conflict import Conflict
from biem.domain.designs.aim import GateDecision
from biem.domain.designs.biem_node import BiemMemoryNode
from biem.domain.diagnosis import Depth, Diagnosis, StageTime
from biem.domain.link import Link
from biem.domain.node import Hit, Hits, Node, Receipt, parse_id
from biem.domain.paging import GraphPart, Page
from biem.domain.prompt_contents import Excluded, known
from biem.domain.running_memory import Running
from biem.domain.scope import Scope, ScopeSummary
from biem.domain.text import MOST_LISTED, require_count
from biem.engine.admin.browse import portrait
from biem.engine.admin.counts import counts
from biem.engine.aim.conversation import Generate, Reply
from biem.engine.aim.system import AimSystem
from biem.engine.context.block import Context
from biem.engine.context.picking import LOOKED_AT
from biem.engine.life.feedback import Lesson
from biem.engine.query.request import Conditions, conditions
from biem.engine.recall.rerank import HYBRID, Choice
from biem.engine.remember.await_indexed import await_indexed
from biem.engine.sleep.jobs import SleepReport
from biem.errors import BiemError, InvalidInput, NotFound
from biem.ports import DeadLetter, EmbedderInfo
from biem.ports.aim import Refusal
from biem.ports.concepts import InstantMemory
from biem.ports.consolidation import CrystalFact
from biem.system import System
from biem.telemetry import Telemetry

_POLL_S = 0.01
_ANY = 1e-9
"""Below any confidence: the lines decide what is shown, and a courtesy is not searched."""


class Memory:
    """An agent's memory in one scope. Thread-safe; use it as a context manager, or call `close`."""

    def __init__(self, system: System, scope: Scope, *, owner: bool = True) -> None:
        self._shared = system
        self._owner = owner
        self.bound_to = scope
        system.views.add(self)

    def __repr__(self) -> str:
        state = "closed" if self._shared.closed.is_set() else "open"
        return f"<{type(self).__name__} {self.bound_to} ({state}, {self._shared.embedder.id})>"

    @property
    def _system(self) -> System:
        if self._shared.closed.is_set():
            raise BiemError("this memory is closed; call biem.connect() again")
        return self._shared.here()

    @property
    def telemetry(self) -> Telemetry:
        """Where spans are reported: `memory.telemetry.attach(handler)`."""
        return self._shared.telemetry

    @property
    def embedder(self) -> EmbedderInfo:
        """The embedding model, its dimension and its languages."""
        return self._shared.embedder

    @property
    def collection(self) -> str:
        """Name of this model's collection in Milvus."""
        return self._shared.collection

    def scope(self, *, tenant: str | None = None, user: str | None = None, project: str | None = None) -> "Memory":
        """The same memory system for another scope; omitted names stay as they are.

        Closing it closes the whole system only if no other object of it is in use, see `close`.
        """
        bound = self.bound_to
        scope = Scope(
            bound.tenant if tenant is None else tenant,
            bound.user if user is None else user,
            bound.project if project is None else project,
        )
        return Memory(self._shared, scope, owner=False)

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
        """Store a text; returns the memory's id once it is durable, usually within a millisecond or two.

        From then on `recall` finds it, by its words at once and by meaning when a worker has indexed it (`wait=True`
        waits for that; `NotIndexed` tells why it did not happen within a minute).

        `kind`: knowledge, skill, emotion, task, event; by default a text with a speaker, conversation or chat source is
        an `event` (a message), any other is `knowledge` (a fact). A fact repeated in one scope is the same memory;
        messages never are, unless they have the same `ref`, your own id. `importance`: 1–5. `at`: when it was said,
        default now. `layer`: core, session, short_term, long_term. Raises `InvalidInput`, `RefConflict` and
        `StoreUnavailable`; after the last the text may be stored or not: with a `ref`, repeating the call cannot store
        it twice.
        """
        memory_id = self._system.writer.remember(
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
        self._shared.wrote.set()
        if wait:
            await_indexed(self._system.records, [memory_id], self._shared.closed)
        return memory_id

    def remember_many(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        wait: bool = False,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Store many texts, each a mapping of `remember`'s arguments; returns their ids in order.

        Several hundred are written per transaction; `on_progress` is called with the number stored so far. An invalid
        item raises `InvalidInput` with its position; items stored before it stay. `wait` raises `NotIndexed` when none
        of them was indexed for a minute.
        """
        ids = self._system.writer.remember_many(self.bound_to, items, on_progress)
        self._shared.wrote.set()
        if wait:
            await_indexed(self._system.records, ids, self._shared.closed)
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
        min_energy: float = 0.0,
        sentiment: tuple[float, float] | None = None,
        session: str = "",
        exclude_conversation: str | Sequence[str] = (),
        exclude: Sequence[Excluded] = (),
        min_confidence: float = 0.0,
        profile: str | None = None,
        selection: str | None = None,
        seed: int | None = None,
    ) -> Hits:
        """The most relevant memories for a query, best first: at most `top_k` (default 10).

        Reads this scope and, from a project, the user's own. `since` ≤ `at` < `until`; all `tags` must match; of
        `kinds`, `speakers` and `conversations` any. `mode="strict"` adds the originals, `"auto"` does so when the query
        asks for them. `as_of` answers as of that instant; without it, facts that are no longer valid are left out.
        `min_energy` excludes memories with less energy now, `sentiment` those outside (minimum, maximum) in -1 to 1.
        `Hits.degraded` names unavailable servers: the result is then the best of the others.

        A recall returns the best candidates, however unlikely: `Hits.confidence` estimates whether this memory has the
        answer at all, and with `min_confidence` nothing is returned below. With `session`, your name for the
        conversation in which you ask, follow-up questions can be answered from prefetched candidates (`Hits.way` is
        then "orbit").

        Content of your prompt is left out, and does not count for `top_k`: `exclude_conversation` excludes whole
        conversations, `exclude` single memories: ids, your own `ref`s, texts, or chat messages with `role` and
        `content` (the same text from the other role stays). Texts must be equal except for blanks and compatible
        characters.

        `profile` ranks as one of the source designs does: aim, biem, notes, hippocampus, angel, aimate; the default is
        hybrid. `selection` draws the hits from more candidates: weighted_random or squared_norm instead of top_k; the
        same `seed` draws the same, and `Hits.seed` returns it.
        """
        system = self._system
        asked = (kinds, since, until, speakers, conversations, tags, as_of, min_energy, sentiment)
        where = conditions(system.clock.now(), *asked)
        limit = system.policies.recall.top_k if top_k is None else top_k
        return system.recaller.recall(
            self.bound_to,
            query,
            top_k=limit,
            mode=mode,
            where=where,
            session=session,
            min_confidence=min_confidence,
            choice=self._choice(profile, selection, seed),
            known=known(exclude_conversation, exclude),
        )

    def recall_typed(
        self,
        query: str,
        *,
        per_kind: int | None = None,
        top_k: int | None = None,
        kinds: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        speakers: Sequence[str] = (),
        conversations: Sequence[str] = (),
        tags: Sequence[str] = (),
        as_of: datetime | None = None,
        selection: str | None = None,
        seed: int | None = None,
    ) -> Hits:
        """Memories of several kinds: the best of each and their linked memories, drawn by weight (Angel).

        Each kind has a channel with `per_kind` (default 7) candidates, `Hits.channels`; associations extend these. A
        memory's weight is the number of channels and links that led to it × its uses; `top_k` (default 7) are drawn by
        it without repeats, of at least three kinds if as many have candidates. The other arguments are those of
        `recall`; `selection` defaults to weighted_random.
        """
        system = self._system
        each = system.policies.typed.per_kind if per_kind is None else per_kind
        require_count(each, "per_kind", system.policies.recall.max_top_k)
        return system.recaller.recall(
            self.bound_to,
            query,
            top_k=system.policies.typed.per_kind if top_k is None else top_k,
            mode="auto",
            where=conditions(system.clock.now(), kinds, since, until, speakers, conversations, tags, as_of),
            choice=Choice("angel", selection, seed, each),
        )

    def _choice(self, profile: str | None, selection: str | None, seed: int | None) -> Choice:
        policy = self._system.policies.recall
        chosen = policy.profile if profile is None else profile
        if selection is None and chosen != "angel":
            selection = policy.selection
        return Choice(chosen, selection, seed)

    def context(
        self,
        query: str,
        *,
        top_k: int | None = None,
        budget_tokens: int | None = None,
        session: str = "",
        exclude_conversation: str | Sequence[str] = (),
        exclude: Sequence[Excluded] = (),
        **where: Unpack[Conditions],
    ) -> Context:
        """The block for a prompt with this query; its `text` is empty when nothing is relevant.

        Nothing is returned below `BIEM_CONTEXT__MIN_CONFIDENCE` (a profile of a source design has no threshold and
        returns its best). `session`, `exclude_conversation`, `exclude` and the conditions (`kinds`, `since`, `until`,
        `speakers`, `conversations`, `tags`, `as_of`, `min_energy`, `sentiment`) are those of `recall`; they apply to
        every section of the block.
        """
        policy = self._system.policies.context
        limit, relevance = policy.top_k if top_k is None else top_k, self._system.relevance_filter
        own = self._system.policies.recall.profile == HYBRID.profile
        least = _ANY if own and policy.min_confidence else 0.0
        held, terms = known(exclude_conversation, exclude), conditions(self._system.clock.now(), **where)
        hits = self._system.recaller.recall(
            self.bound_to,
            query,
            top_k=relevance.wanted(limit),
            mode="auto",
            where=terms,
            session=session,
            min_confidence=least,
            choice=self._choice(None, None, None),
            known=held,
            more=max(0, LOOKED_AT - limit) if isinstance(limit, int) else 0,
            count=False,
        )
        hits = relevance.keep(self.bound_to, query, hits, limit)
        budget = policy.budget_tokens if budget_tokens is None else budget_tokens
        block = self._system.context_builder.brief(
            self.bound_to, query, hits, budget_tokens=budget, where=terms, known=held, top_k=limit
        )
        found = {hit.node.id for hit in hits}
        self._system.recaller.accessed(self.bound_to, [hit.node.id for hit in block.hits if hit.node.id in found])
        return block

    def get(self, memory_id: str) -> Node:
        """One memory of exactly this scope; raises `NotFound`."""
        node = self._system.records.get(self.bound_to, parse_id(memory_id))
        if node is None:
            raise NotFound(f"no memory {memory_id} in scope {self.bound_to}")
        return node

    def node(self, memory_id: str) -> BiemMemoryNode:
        """One memory of exactly this scope as BIEM defines it, with its vector and its links; raises `NotFound`."""
        system = self._system
        model = system.embedder.id
        return portrait(self.get(memory_id), records=system.records, associations=system.associations, model=model)

    def feedback(
        self,
        useful: Sequence[str] = (),
        useless: Sequence[str] = (),
        *,
        new: Sequence[str] = (),
        turn: str | None = None,
    ) -> Lesson:
        """Report which recalled memories were useful in a turn, and which were not.

        Useful ones gain energy, are kept longer and are linked more strongly with each other and with `new` ones of the
        turn; useless ones fade. `turn`, your name for the turn, makes a repeated call count once. Raises `NotFound`,
        with nothing changed, for unknown ids.
        """
        return self._system.feedback.learn(self.bound_to, useful, useless, new=new, turn=turn)

    def related(self, text: str) -> list[Recollection]:
        """Topics of past conversation related to a text, with statements about them, best first."""
        return self._system.reminder.related(self.bound_to, text)

    def running(self, message: str, *, conversation: str, history: str = "") -> tuple[Running, ...]:
        """The running memory of a conversation in this turn: memories evoked by this message or recent turns."""
        return self._system.activator.activate(self.bound_to, conversation, message, history)

    def instant(self, conversation: str, *, limit: int = 5) -> list[InstantMemory]:
        """Notes taken in a conversation while it went on: at most `limit` (1–500), newest first.

        A worker notes a noteworthy message right after it was remembered. Reading counts as a view of each note.
        """
        return self._system.instants.recent(self.bound_to, conversation, limit)

    def links(self, memory_id: str) -> list[Link]:
        """The links of a memory of this scope, closest first."""
        system = self._system
        node = self.get(memory_id)
        system.associations.refresh(self.bound_to)
        return system.associations.neighbours(self.bound_to, node.id)

    def conflicts(self, *, status: str | None = "pending", limit: int = 100, after: str = "") -> list[Conflict]:
        """Memories of this scope that contradict, update or repeat each other, newest first; status None: all.

        A confident contradiction is decided at once, in favour of what was said later; the others wait for `resolve`.
        `after`: the id of the last one of the previous page.
        """
        return self._system.resolver.find(self.bound_to, status=status, limit=limit, after=after)

    def resolve(self, conflict_id: str, resolution: str) -> Conflict:
        """Decide a conflict: keep_new, keep_old, merge, keep_both or ignore; `undo` reverts it."""
        return self._system.resolver.resolve(self.bound_to, conflict_id, resolution)

    def undo(self, conflict_id: str) -> Conflict:
        """Revert a decision about a conflict, made by anyone: both memories are as before."""
        return self._system.resolver.undo(self.bound_to, conflict_id)

    def facts(self, limit: int = 100, *, after: str = "") -> list[CrystalFact]:
        """Facts distilled from memories of this scope that are used together, oldest first.

        `after`: the id of the last one of the previous page.
        """
        require_count(limit, "limit", MOST_LISTED)
        return self._system.consolidations.facts(self.bound_to, limit, after=parse_id(after) if after else "")

    @property
    def layout(self) -> str:
        """The layout of memories in a prompt, `quoted` or `bare`: `BIEM_CONTEXT__LAYOUT`."""
        return self._system.policies.context.layout

    @property
    def aim(self) -> AimSystem:
        """The operations of AIM-Memory; `biem.aim.AimMemory` has them under the design's names."""
        return self._system.aim

    def refusals(self, limit: int = 100) -> list[Refusal]:
        """Messages of this scope that the write gate refused, newest first, with their scores.

        They are found like all others, but have no energy, links or layer and are never distilled into facts.
        """
        return list(self._system.aim.replayer.refusals(self.bound_to, limit))

    def replay(self, memory_id: str, *, force: bool = False) -> GateDecision:
        """Judge a refused message again, by today's memory and settings; if it passes, or with `force`, it is
        formed.
        """
        return self._system.aim.replayer.replay(self.bound_to, parse_id(memory_id), force=force)

    def answer(
        self,
        query: str,
        generate: Generate | None = None,
        mode: str = "fast",
        *,
        auto_mode: bool = True,
        conversation: str = "",
        top_k: int | None = None,
        profile: str | None = None,
    ) -> Reply:
        """Answer with your model, from memory: `generate` gets the prompt and returns the reply.

        The prompt is a context of four labelled parts (newest messages, memories, their anchors and, in `strict` mode,
        the originals), then the question; afterwards both turns are remembered. `auto_mode` turns strict when the query
        asks for originals. `profile`: as for `recall`. Without a model nothing is remembered.
        """
        aim = self._system.aim
        strict = aim.router.is_strict(query, mode, auto_mode=auto_mode)

        def recall() -> tuple[list[Hit], float]:
            told = "strict" if strict else "fast"
            hits = self.recall(query, top_k=top_k or aim.policy.top_n, mode=told, profile=profile)
            ids = [hit.node.id for hit in hits]
            return list(hits), aim.router.follow(self.bound_to, query, ids, conversation)

        reply = aim.conversant.answer(
            self.bound_to, query, generate, strict=strict, conversation=conversation, recall=recall
        )
        self._shared.wrote.set()
        return reply

    def archive(self, memory_id: str, reason: str = "") -> bool:
        """Forget a memory: recall no longer returns it, and `restore` reverts this. False if it was archived
        already.
        """
        return self._system.lifecycle.archive(self.bound_to, memory_id, reason)

    def restore(self, memory_id: str) -> bool:
        """Restore an archived memory; recall finds it at once. False if it was not archived."""
        done = self._system.lifecycle.restore(self.bound_to, memory_id)
        self._shared.wrote.set()
        return done

    def sleep(self) -> SleepReport:
        """Run all background jobs of this scope now, in order: build, consolidate, forget, repair. Never raises.

        They also run automatically; a second sleep right after the first changes nothing.
        """
        report = self._system.job_runner.sleep(self.bound_to)
        if report.changed:
            self._shared.wrote.set()  # facts and merged memories are to be indexed before closing
        return report

    def now(self) -> datetime:
        """The current time of this memory's clock."""
        return self._shared.clock.now()

    def erase(self, target: str | Scope | None = None, *, user: str | None = None) -> Receipt:
        """Destroy one memory of this scope by its id, everything of a scope, or a `user`; returns the proof.

        A user is erased with all projects, of this memory's tenant; `Receipt.scopes` counts them. The same call
        completes an interrupted erasure. It cannot be undone: forgetting archives, only this destroys. Raises
        `NotFound` for an unknown id.
        """
        if (target is None) == (user is None):
            raise InvalidInput("pass what to erase: either an id or a scope, or user=…")
        if user is not None:
            return self._system.eraser.erase_user(self.bound_to.tenant, user)
        if isinstance(target, Scope):
            return self._system.eraser.erase(target, None)
        return self._system.eraser.erase(self.bound_to, target)

    def scopes(self) -> list[ScopeSummary]:
        """The user's own level and all projects of the user that this memory is bound to, if they are not empty.

        Never those of another user or tenant.
        """
        return self._system.scopes.listed(self.bound_to.tenant, self.bound_to.user)

    def memories(
        self, *, tier: str | None = None, layer: str | None = None, limit: int = 50, after: str = ""
    ) -> Page[Node]:
        """A page of this scope's memories for display, including archived ones, newest first.

        Counts no access. `after` is the `next` of the previous page. A page of one tier or layer may be short, or
        empty, and yet have a `next`: each examines several thousand memories.
        """
        return self._system.browser.memories(self.bound_to, limit, after, tier, layer)

    def whole_id(self, part: str, *, of: str = "memory") -> str:
        """The id of this scope's memory or conflict (`of`) that begins or ends with these digits, six or more.

        A whole id is returned unchanged. Raises `NotFound`, and `InvalidInput` with the candidates if there are
        several. Reads all ids of the scope.
        """
        return self._system.browser.whole_id(self.bound_to, part, of)

    def graph(self, *, around: str | None = None, limit: int = 200, after: str = "") -> GraphPart:
        """A page of this scope's links, last changed first, or of those of one node, heaviest first.

        With the memories and concepts at their ends; `after` is the `next` of the previous page.
        """
        return self._system.browser.graph(self.bound_to, limit, after, around)

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
        return self._system.reindexer.reindex(on_progress)

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
        }

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

    def close(self) -> None:
        """Index what this process wrote, for at most `BIEM_CLOSE_TIMEOUT_S`, then release all resources.

        Memories not indexed by then are safe in PostgreSQL and are indexed by the next process. Idempotent. The object
        that `scope` returned closes everything only when it is the last one in use: the memory that `connect` returned,
        and others made of it, work until they are closed or dropped. A forked child closes its own connections only.
        """
        system = self._shared
        system.views.discard(self)
        if system.closed.is_set() or (system.views and not self._owner):
            return
        if system.inherited:
            system.forsake()
            return
        try:
            if system.wrote.is_set():
                with suppress(BiemError):  # a server is down: no acknowledged memory is lost
                    system.queue.wake()
                    # Jobs held by other processes are left to them.
                    self._until(lambda: system.records.backlog(due_only=True) == 0, system.close_timeout_s)
        finally:
            system.closed.set()
            system.rest(system.close_timeout_s)
            system.recaller.close()
            system.unobserve()
            system.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() >= deadline or self._shared.closed.wait(_POLL_S):
                return False
        return True
