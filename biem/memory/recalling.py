"""Finding memories for a question, as hits or as a block for a prompt."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from biem.domain.concept import Recollection
from biem.domain.node import Hit, Hits
from biem.domain.notes.library import NoteHits
from biem.domain.prompt.contents import Excluded, Known, known, messages_in
from biem.domain.running_memory import Running
from biem.domain.speech.acts import asks_for_text, is_courtesy
from biem.domain.speech.follow_up import as_meant
from biem.domain.speech.overview import questions_about_user
from biem.domain.speech.plain_question import plain_question
from biem.domain.speech.several_questions import pieces_of, questions_in
from biem.domain.text import require_count, simplified
from biem.engine.context.block import Context
from biem.engine.context.follow_up import answer
from biem.engine.context.picking import LOOKED_AT, MOST_OF_A_LIST, OF_A_LIST
from biem.engine.life.feedback import Lesson
from biem.engine.query.request import (
    MEMORIES,
    NOTES,
    SOURCES,
    Conditions,
    conditions,
    require_question,
    require_sources,
)
from biem.engine.recall.rerank import HYBRID, Choice
from biem.memory.bound import BoundMemory
from biem.ports import Filter
from biem.ports.concepts import InstantMemory

if TYPE_CHECKING:
    from biem.domain.times.asked import AskedTime
    from biem.engine.context.calendar import TimedHits

_MOST_TOKENS = 1 << 30
_LISTED = 10
"""Lines of a block on all that is known of the user, or on a time, if the caller gives no number."""
_ONE_LIST = 1.0
"""Log-odds from which a message asks for one list, though it has several questions: "every case, and how it ended"."""
_ANY = 1e-9
"""Below any confidence: the lines decide (`engine.context.silence`), and a courtesy is not searched."""


class RecallMethods(BoundMemory):
    """`recall`, `recall_typed` and `context`; topics and notes of a conversation; feedback on hits."""

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
        where: Mapping[str, Any] | None = None,
        min_trust: str | None = None,
        session: str = "",
        exclude_conversation: str | Sequence[str] = (),
        exclude: Sequence[Excluded] = (),
        min_confidence: float = 0.0,
        profile: str | None = None,
        selection: str | None = None,
        seed: int | None = None,
        sources: Sequence[str] = SOURCES,
    ) -> Hits:
        """The most relevant memories for a query, best first: at most `top_k` (default 10).

        Reads this scope and, from a project, the user's own. `since` ≤ `at` < `until`; all `tags` must match; of
        `kinds`, `speakers` and `conversations` any. `mode="strict"` adds the originals, `"auto"` does so when the query
        asks for them. `as_of` answers as of that instant; without it, facts that are no longer valid are left out.
        `min_energy` excludes memories with less energy now, `sentiment` those outside (minimum, maximum) in -1 to 1.
        `where` are conditions on metadata, such as `{"project": "x", "score": {"$gte": 3}}` (`$eq $ne $gt $gte $lt $lte
        $in $nin $exists`); `min_trust` excludes memories of a lower trust level.
        `Hits.degraded` names unavailable servers: the result is then the best of the others.

        A recall returns the best candidates, however unlikely: `Hits.confidence` estimates whether this memory has the
        answer at all, and with `min_confidence` nothing is returned below. With `session`, your name for the
        conversation in which you ask, follow-up questions can be answered from prefetched candidates (`Hits.way` is
        then "orbit").

        Content of your prompt is left out, and does not count for `top_k`: `exclude_conversation` excludes whole
        conversations, `exclude` single memories: ids, your own `ref`s, texts, or chat messages with `role` and
        `content` (the same text from the other role stays). Texts must be equal except for blanks and compatible
        characters. A message with an id whose memory was revised since does not exclude it: its text is another now.

        `profile` ranks as one of the source designs does: aim, biem, notes, hippocampus, angel, aimate; the default is
        hybrid. `selection` draws the hits from more candidates: weighted_random or squared_norm instead of top_k; the
        same `seed` draws the same, and `Hits.seed` returns it.

        `Hits.notes` are the best chunks of notes (`Memory.notes`) for the same query, of which `since`, `until`, `tags`
        and `min_confidence` hold as well; the other conditions concern memories only. `sources` chooses: memories,
        notes, or both.
        """
        system = self._system
        asked = (kinds, since, until, speakers, conversations, tags, as_of, min_energy, sentiment, where, min_trust)
        met = conditions(system.clock.now(), *asked)
        limit = system.policies.recall.top_k if top_k is None else top_k
        wanted = require_sources(sources)
        require_question(query, "the query")
        require_count(limit, "top_k", system.policies.recall.max_top_k)
        noted = self._begin_notes(query, met, top_k=limit) if NOTES in wanted else None
        hits = Hits()
        if MEMORIES in wanted:
            hits = system.recaller.recall(
                self.bound_to,
                query,
                top_k=limit,
                mode=mode,
                where=met,
                session=session,
                min_confidence=min_confidence,
                choice=self._choice(profile, selection, seed),
                known=self._held(exclude_conversation, exclude),
            )
        if noted is not None:
            hits.notes = noted(hits).if_sure(min_confidence)
            system.notes.mark(self.bound_to, hits)
        return hits

    def _begin_notes(self, query: str, where: Filter, *, top_k: int) -> Callable[[Sequence[Hit]], NoteHits]:
        """Begin to search the notes for a query; the function returned waits for them, given its memories."""
        return self._system.notes.begin(
            self.bound_to, simplified(query), top_k=top_k, tags=where.tags, since=where.since, until=where.until
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
        where: Mapping[str, Any] | None = None,
        min_trust: str | None = None,
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
        asked = (kinds, since, until, speakers, conversations, tags, as_of)
        return system.recaller.recall(
            self.bound_to,
            query,
            top_k=system.policies.typed.per_kind if top_k is None else top_k,
            mode="auto",
            where=conditions(system.clock.now(), *asked, where=where, min_trust=min_trust),
            choice=Choice("angel", selection, seed, each),
        )

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
        `speakers`, `conversations`, `tags`, `as_of`, `min_energy`, `sentiment`, `where`,
        `min_trust`) are those of `recall`; they apply to every section of the block.

        A question that leans on the chat messages in `exclude` is searched in full: "Where does she live?" after "When
        is my sister's birthday?" asks where my sister lives. `Context.asked` says so. `recall` takes its
        query literally. Each question of a message that asks several is searched and answered by its own lines; so are
        those that people mean by "What do you know about me?", with up to ten lines. With the packaged embedder a
        question for all things of a kind ("Which books have I read?") gets up to eight, each about one of them.
        """
        policy = self._system.policies.context
        if budget_tokens is not None:
            require_count(budget_tokens, "budget_tokens", _MOST_TOKENS)
        budget = policy.budget_tokens if budget_tokens is None else budget_tokens
        held, terms = self._held(exclude_conversation, exclude), conditions(self._system.clock.now(), **where)
        require_question(query, "the query")
        before, query = messages_in(exclude, query), plain_question(simplified(query))
        time = self._time_of(query)
        lists = questions_about_user(query) or (time is not None and time.only)
        limit = top_k if top_k is not None else max(policy.top_k, _LISTED if lists else 0)
        asked = as_meant(query, before)
        ask = partial(
            self._block, where=terms, limit=limit, fixed=top_k is not None, budget=budget, session=session, held=held
        )
        block, hits = answer(ask, query, asked)
        found = {hit.node.id for hit in hits}
        self._system.recaller.accessed(self.bound_to, [hit.node.id for hit in block.hits if hit.node.id in found])
        return block

    def _block(
        self, query: str, *, where: Filter, limit: int, fixed: bool, budget: int, session: str, held: Known
    ) -> tuple[Context, Hits]:
        """The block for a question, and the hits of its search. A `fixed` limit holds for a list of things, too."""
        policy, relevance = self._system.policies.context, self._system.relevance_filter
        own = self._system.policies.recall.profile == HYBRID.profile
        least = _ANY if own and policy.min_confidence else 0.0
        noted = None
        if policy.notes_share and not is_courtesy(query):
            noted = self._begin_notes(query, where, top_k=self._system.notes.ranking.top_k)
        recalled = partial(
            self._system.recaller.recall,
            self.bound_to,
            top_k=relevance.wanted(limit),
            mode="auto",
            where=where,
            session=session,
            min_confidence=least,
            choice=self._choice(None, None, None),
            known=held,
            more=max(0, LOOKED_AT - limit) if isinstance(limit, int) else 0,
            count=False,
            as_read=True,
        )
        found, several, timed = self._searched(query, where, held, recalled) if own else (recalled(query), (), None)
        if own and not (several or timed or fixed) and found.grounds.get("lists", 0.0) > 0:
            limit = max(limit, MOST_OF_A_LIST)
        hits = relevance.keep(self.bound_to, query, found, limit)
        parts = pieces_of(query) if own and not several else ()
        each, pieces = (
            [(one, relevance.keep(self.bound_to, one, recalled(one), limit)) for one in asked]
            for asked in (several, parts)
        )
        orders = self._orders(query, recalled) if own and not several else ()
        if noted is not None:
            hits.notes = self._system.context_builder.sure_notes(query, noted(hits))
            self._system.notes.mark(self.bound_to, hits)
        block = self._system.context_builder.brief(
            self.bound_to,
            query,
            hits,
            each=each,
            pieces=pieces,
            timed=timed,
            orders=orders,
            budget_tokens=budget,
            where=where,
            known=held,
            top_k=limit,
        )
        known = {hit.node.id for hit in hits}
        if timed is not None:
            hits += [hit for hit in timed.hits if hit.node.id not in known]
            known |= {hit.node.id for hit in timed.hits}
        found_too = [*(hit for _, found in [*each, *pieces] for hit in found), *orders]
        more = {hit.node.id: hit for hit in found_too if hit.node.id not in known}
        hits += more.values()
        return block, hits

    def _orders(self, query: str, recalled: Callable[[str], Hits]) -> Sequence[Hit]:
        """Those about the form of all answers, for a message whose answer is written."""
        if not asks_for_text(query):
            return ()
        from biem.engine.context import standing_orders  # noqa: PLC0415  its rules are compiled in 100 ms

        return standing_orders.orders_among(recalled(standing_orders.question_about_answers(query)))

    def _searched(
        self, query: str, where: Filter, held: Known, recalled: Callable[..., Hits]
    ) -> tuple[Hits, Sequence[str], "TimedHits | None"]:
        """The hits for a message, the questions that it asks if these are several, and what was told of its time."""
        hits = recalled(query)
        lists = hits.grounds.get("lists", 0.0)
        several = questions_about_user(query) or (_in_full(questions_in(query)) if lists < _ONE_LIST else ())
        if several:
            return hits, several, None
        time = None if where.as_of is not None else self._time_of(query)
        timed = None if time is None else self._timed(time, where, held, recalled)
        if lists <= 0 or (timed is not None and timed.asked.only):
            return hits, (), timed
        hits = recalled(query, more=OF_A_LIST)
        if time is not None:
            from biem.engine.context.calendar import told_within  # noqa: PLC0415  as in `_timed`

            hits = told_within(hits, time, self._system.clock.now())
        return hits, (), None

    def _time_of(self, query: str) -> "AskedTime | None":
        from biem.domain.times.asked import asked_time  # noqa: PLC0415  a recall reads no times of events

        return asked_time(query, self._system.clock.now())

    def _timed(
        self, asked: "AskedTime", where: Filter, held: Known, recalled: Callable[..., Hits]
    ) -> "TimedHits | None":
        """The events of the time that a question asks for; None where only an ordinary search can answer."""
        from biem.engine.context.calendar import timed_hits  # noqa: PLC0415  a recall reads no times of events

        return timed_hits(
            asked, records=self._system.records, scope=self.bound_to, where=where, known=held, recalled=recalled
        )

    def _held(self, conversations: str | Sequence[str], excluded: Sequence[Excluded]) -> Known:
        """The content of the prompt: not the memories of messages that were revised after these were written."""
        held = known(conversations, excluded)
        if not held.written:
            return held
        return held.updated(self._system.records.revised(self.bound_to.readable, list(held.written)))

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

    @property
    def layout(self) -> str:
        """The layout of memories in a prompt, `quoted` or `bare`: `BIEM_CONTEXT__LAYOUT`."""
        return self._system.policies.context.layout

    def _choice(self, profile: str | None, selection: str | None, seed: int | None) -> Choice:
        policy = self._system.policies.recall
        chosen = policy.profile if profile is None else profile
        if selection is None and chosen != "angel":
            selection = policy.selection
        return Choice(chosen, selection, seed)


def _in_full(questions: Sequence[str]) -> Sequence[str]:
    """Each of these questions in full, where it surely leans on those before it: "What is her number?"."""
    said = list[tuple[str, str]]()
    for one in questions:
        meant = as_meant(one, said)
        said.append(("user", meant.text if meant.sure else one))
    return [text for _, text in said]
