"""The read path: collects candidates from all stores, ranks them and returns the best as hits.

    pool  = search results + linked memories + neighbouring turns in conversations + memories that superseded them
    score = Σ weight · signal (rank.signals) + w_a · activation − w_c · conflict − w_s · superseded

One round trip reads the candidates of the text search during the vector search, a second one the rest of the pool, and
a third one the current state of the best. A superseded memory passes its score to its successor. A superseded fact is
left out; a superseded message is still returned, at a lower rank. A question with a session is first ranked over
prefetched candidates (recall.orbit); if that is confident, no search runs. Untrusted memories are ranked apart
(recall.unverified).
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from biem.domain.conflict import Dispute
from biem.domain.node import Hit, Hits, as_written
from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.orbit import OrbitPolicy
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.prompt.contents import NOTHING, Known
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_courtesy
from biem.domain.trust import UNTRUSTED
from biem.engine.life.tiers import Tiers
from biem.engine.priority import Calling
from biem.engine.query.request import Request, checked, excluding
from biem.engine.recall.candidates import Prefetch, joined, missing
from biem.engine.recall.hits import hydrate
from biem.engine.recall.orbit import Orbit, Orbits
from biem.engine.recall.profiles import ProfileRecaller
from biem.engine.recall.rank.anchors import Anchoring, Anchors
from biem.engine.recall.rank.confidence import confidence
from biem.engine.recall.rank.disputes import open_conflicts
from biem.engine.recall.rank.pool import Found
from biem.engine.recall.rank.ranker import Answer, ParsedQuery, Ranker
from biem.engine.recall.rank.score import Order, rank
from biem.engine.recall.rerank import HYBRID, Choice, Chooser
from biem.engine.recall.search import Searcher
from biem.engine.recall.unverified import Parted, believed_first, followed_by, near, parted, without_copies
from biem.errors import BiemError
from biem.ports import Analyzer, Clock, Embedder, Filter, Records
from biem.ports.conflicts import Conflicts
from biem.ports.contradiction import ContradictionRules
from biem.ports.embedding import Fitted
from biem.ports.readers import TurnReader, Turns
from biem.telemetry import Telemetry

T = TypeVar("T")

_TOLD = 10
"""Minimum number of best hits used for the prefetch, even if fewer were requested."""
_AT_HAND = 3
"""Minimum prefetched candidates per requested hit; with fewer a search runs."""


@dataclass(frozen=True, slots=True)
class _Searched:
    found: Found
    parts: Parted
    disputes: Mapping[str, Sequence[Dispute]]
    led_to: Sequence[str]
    """Linked memories, the most active first."""


@dataclass(frozen=True, slots=True)
class _Told:
    searched: _Searched
    answer: Answer
    sure: float
    hits: Sequence[Hit]
    changed: bool
    """Whether a hit is gone, or valid for another time, since it was ranked."""


class Recaller:
    """Answers queries. Thread-safe; `close` waits until pending accesses are counted."""

    def __init__(
        self,
        *,
        records: Records,
        turns: TurnReader,
        conflicts: Conflicts,
        anchors: Anchors,
        rules: ContradictionRules,
        searcher: Searcher,
        orbits: Orbits,
        tiers: Tiers,
        analyzer: Analyzer,
        embedder: Embedder,
        clock: Clock,
        policy: RecallPolicy,
        ranking: RankPolicy,
        weights: ConfidenceWeights,
        orbit: OrbitPolicy,
        profiles: ProfileRecaller,
        chooser: Chooser,
        telemetry: Telemetry,
        calling: Calling = nullcontext,
        fitted: Fitted | None = None,
    ) -> None:
        self._records = records
        self.turns = turns
        """Reads the pool; benchmarks may wrap it."""
        self.order: Order = rank
        """Orders a pool; benchmarks may wrap it."""
        self._open_conflicts = partial(open_conflicts, conflicts)
        self._anchors = anchors
        self._rules = rules
        self._searcher = searcher
        self._orbits = orbits
        self._tiers = tiers
        self._answerer = Ranker(analyzer, embedder.similarity, policy, ranking, fitted)
        self._embedder = embedder
        self._query_map = None if fitted is None else fitted.query_map
        self._clock = clock
        self._policy = policy
        self._weights = weights
        self._orbit = orbit
        self._profiles = profiles
        self._chooser = chooser
        self._telemetry = telemetry
        self._calling = calling

    def recall(
        self,
        scope: Scope,
        query: str,
        *,
        top_k: int,
        mode: str,
        where: Filter,
        session: str = "",
        min_confidence: float = 0.0,
        choice: Choice = HYBRID,
        known: Known = NOTHING,
        more: int = 0,
        count: bool = True,
        as_read: bool = False,
    ) -> Hits:
        """The best `top_k` memories for a query, best first; see `Hits`.

        No hits below `min_confidence`, which is measured the same way under every profile; a courtesy gets no hits.
        With `session`, its prefetched candidates may answer instead of a search. `known` memories are left out.
        Under the default ranking up to `more` further hits are added; `count=False` counts no access;
        `as_read` leaves the texts in simplified characters, as rules read them.
        """
        request = checked(
            scope,
            query,
            top_k=top_k,
            mode=mode,
            where=excluding(where, known),
            session=session,
            min_confidence=min_confidence,
            policy=self._policy,
            known=known,
            more=0 if choice.draws else more,
        )
        with self._telemetry.span("biem.recall", top_k=top_k) as span, self._calling():
            indexing = self._searcher.unindexed(scope)
            if request.least > 0 and is_courtesy(request.text):
                hits = Hits(mode=request.mode)
            elif choice.profile != HYBRID.profile:
                hits = self._by_profile(request, choice)
            else:
                hits, untrusted = self._by_hybrid(request.of(self._chooser.wanted(choice, top_k)))
                hits = self._chooser.choose(request.text, hits, choice, top_k + request.more)
                surer = bool(untrusted) and _sureness(untrusted[0]) > hits.confidence
                hits[:] = followed_by(hits, untrusted, top_k, more=request.more, surer=surer)
                if hits and hits[0].node.trust == UNTRUSTED:  # unless it became so only after it was ranked
                    hits.confidence = float(hits[0].why.get("confidence", hits.confidence))
            hits.indexing = indexing.result()
            if not as_read:
                hits[:] = as_written(hits)
            span.add(hits=len(hits), degraded=",".join(hits.degraded), way=hits.way, confidence=hits.confidence)
        if count:
            self.accessed(scope, [hit.node.id for hit in hits])
        return hits

    def accessed(self, scope: Scope, ids: Sequence[str]) -> None:
        """Count an access of each, in the background."""
        if ids:
            self._searcher.submit(self._tiers.count, scope, ids)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run a function on a search thread, while this one recalls."""
        return self._searcher.submit(work)

    def close(self) -> None:
        """Finish counting accesses; a second call does nothing."""
        self._searcher.close()

    def _by_profile(self, request: Request, choice: Choice) -> Hits:
        """A source design's ranking. Its scores are no confidence; if one is required, it is measured first."""
        sure, measured = 0.0, Hits()
        if request.least > 0:
            found, answer, _ = self._answered(request, self._answerer.asked(request.text))
            sure = confidence(answer.grounds, self._weights)
            degraded = tuple(found.found.degraded)
            measured = Hits(degraded=degraded, mode=request.mode, confidence=sure, grounds=answer.grounds)
        if sure < request.least:
            return measured
        wanted = request.top_k + request.known.spare
        ranked = partial(
            self._profiles.recall,
            request.scope,
            request.text,
            top_k=wanted,
            strict=request.strict,
            session=request.session,
        )
        hits = ranked(choice, where=request.where)
        if any(hit.node.trust == UNTRUSTED for hit in hits):
            believed = ranked(replace(choice, seed=hits.seed), where=_believed(request.where))
            believed[:] = believed_first(hits, believed, wanted)
            hits = believed
        hits[:] = [hit for hit in hits if not request.known.has(hit.node)][: request.top_k]
        if request.least > 0:
            hits.confidence, hits.grounds = sure, measured.grounds
        return hits

    def _by_hybrid(self, request: Request) -> tuple[Hits, Sequence[Hit]]:
        """The default ranking: of prefetched candidates if confident, else of search results. Untrusted hits apart."""
        orbit = self._orbits.of(request.scope, request.session) if request.follows else None
        news = None if orbit is None else self._searcher.submit(self._orbits.with_news, request.scope, orbit)
        asked = self._answerer.asked(request.text)
        hits = None if orbit is None or news is None else self._from_orbit(request, asked, orbit, news)
        return self._from_search(request, asked) if hits is None else hits

    def _untrusted(self, request: Request, asked: ParsedQuery, found: Found, parts: Parted, way: str) -> Sequence[Hit]:
        """The best untrusted hits, by their own confidence, which is in `Hit.why`; none below the one required."""
        turns = near(parts.untrusted, found.vector, self._limit(request))
        if not turns.by_id:
            return ()
        now, top_k = request.where.as_of or self._clock.now(), request.top_k
        answer = self._answerer.answer(asked, turns, found, {}, now=now, top_k=top_k, order=self.order)
        sure = confidence(answer.grounds, self._weights)
        if sure < request.least:
            return ()
        hits, _ = hydrate(self._records, self._rules, request, without_copies(answer), way)
        return [replace(hit, why={**hit.why, "confidence": sure}) for hit in hits]

    # -- searching --------------------------------------------------------------------------------------------------

    def _from_search(self, request: Request, asked: ParsedQuery) -> tuple[Hits, Sequence[Hit]]:
        scope, top_k = request.scope, request.top_k
        told = self._told(request, asked)
        if told.changed:  # by a merge, say, whose result the search was too early to find
            told = self._told(request, asked)
        searched, answer, found = told.searched, told.answer, told.searched.found
        with self._telemetry.span("biem.recall.read"):
            untrusted = self._untrusted(request, asked, found, searched.parts, "search")
        if told.hits and request.follows:
            first = [answer.ordering.candidates[place].id for place in answer.places(top_k)]
            self._searcher.submit(
                self._orbits.gather,
                scope,
                request.session,
                first[: max(_TOLD, top_k)],
                searched.led_to,
                self._open_conflicts,
                partial(self._answerer.at_hand, dimension=self._embedder.info.dim),
            )
        degraded, grounds = tuple(found.degraded), answer.grounds
        return Hits(told.hits, degraded=degraded, mode=request.mode, confidence=told.sure, grounds=grounds), untrusted

    def _told(self, request: Request, asked: ParsedQuery) -> _Told:
        """Search, rank and read the best; no hits if the confidence is below the one required."""
        searched, answer, sure = self._answered(request, asked)
        if sure < request.least:
            return _Told(searched, answer, sure, [], changed=False)
        with self._telemetry.span("biem.recall.read"):
            hits, changed = hydrate(self._records, self._rules, request, answer, "search")
        return _Told(searched, answer, sure, hits, changed)

    def _answered(self, request: Request, asked: ParsedQuery) -> tuple[_Searched, Answer, float]:
        """Search results, the trusted ones ranked, and their confidence."""
        where = request.where
        searched = self._searched(request, asked, where)
        if where.session is not None and _displaced(searched):
            where = replace(where, apart=True)
            searched = self._searched(request, asked, where)
        if searched.parts.untrusted.by_id:  # they took places of the search, and so others may be missing
            untrusted = searched.parts.untrusted
            searched = self._searched(request, asked, _believed(where))
            searched = replace(searched, parts=Parted(searched.parts.believed, untrusted))
        turns = searched.parts.believed
        with self._telemetry.span("biem.recall.rank", pool=len(turns.by_id)):
            answer = self._answerer.answer(
                asked,
                turns,
                searched.found,
                searched.disputes,
                now=request.where.as_of or self._clock.now(),
                top_k=request.top_k,
                order=self.order,
                anchors=self._anchored(request.scope, asked, turns),
            )
        return searched, answer, confidence(answer.grounds, self._weights)

    def _searched(self, request: Request, asked: ParsedQuery, where: Filter) -> _Searched:
        """Search results and linked memories."""
        scope, limit = request.scope, self._limit(request)
        around = partial(self.turns.around, scope.readable, lexemes=(), where=where, pending_limit=0)
        early = Prefetch(self._searcher.submit, around)
        with self._telemetry.span("biem.recall.search"):
            found = self._searcher.search(
                scope, asked.text, asked.texts[1:], asked.lexemes, limit, where, early.begin, self._query_map
            )
        led_to = sorted(found.activation, key=lambda key: (-found.activation[key], key))
        with self._telemetry.span("biem.recall.live"):
            activated = led_to[: self._policy.activated]
            turns, disputes = self._around(scope, asked.lexemes, found, activated, where, early)
        return _Searched(found, parted(turns), disputes, led_to)

    def _limit(self, request: Request) -> int:
        """Number of rows of each search."""
        policy = self._policy
        return max(policy.min_candidates, policy.candidates_per_result * request.top_k) + request.known.spare

    def _around(
        self,
        scope: Scope,
        lexemes: Sequence[str],
        found: Found,
        led_to: Sequence[str],
        where: Filter,
        early: Prefetch,
    ) -> tuple[Turns, Mapping[str, Sequence[Dispute]]]:
        """Search results with their neighbouring turns, and which of them are in an open conflict."""
        asked = set(lexemes)
        shared = {entry.id: len(asked.intersection(entry.lexemes.split())) for entry in found.hot}
        hot = sorted((key for key in shared if shared[key]), key=lambda key: (-shared[key], key))
        hot = hot[: self._policy.hot_matches]
        ids = list(dict.fromkeys([*found.dense, *found.words, *found.text, *led_to, *hot]))
        conflicts = self._searcher.submit(self._open_conflicts, scope, ids)
        left, most = early.left(ids), self._policy.pending_scan
        turns = early.with_others(self.turns.around(scope.readable, left, lexemes, where, pending_limit=most))
        disputes = conflicts.result()
        if unfound := missing(found, turns, disputes):
            more = self.turns.around(scope.readable, unfound, (), where, pending_limit=0)
            turns = joined(turns, more)
        return turns, disputes

    def _anchored(self, scope: Scope, asked: ParsedQuery, turns: Turns) -> Anchoring:
        """Effect of the query's anchors on the candidates; invalid facts are ignored, and former texts."""
        ids = [key for key, turn in turns.by_id.items() if turn.matches and turn.valid_to is None and not turn.former]
        return self._anchors.of(scope, asked.text, ids, turns)

    # -- prefetched candidates ---------------------------------------------------------------------------------------

    def _from_orbit(
        self, request: Request, asked: ParsedQuery, orbit: Orbit, news: "Future[Turns | None]"
    ) -> tuple[Hits, Sequence[Hit]] | None:
        """Hits from prefetched and newer memories; None if a search is needed."""
        scope, top_k = request.scope, request.top_k
        with self._telemetry.span("biem.recall.orbit") as span:
            found = self._embedded(asked)
            turns = news.result()
            if found is None or turns is None or len(turns.by_id) < _AT_HAND * top_k:
                return None
            parts = parted(turns, orbit.untrusted)
            if not orbit.may_answer(parts.believed, self._orbit.least_talk):
                return None
            turns = orbit.candidates(parts.believed, found.vector, asked.lexemes, self._limit(request))
            answer = self._answerer.answer(
                asked,
                turns,
                found,
                orbit.conflicts,
                now=self._clock.now(),
                top_k=top_k,
                order=self.order,
                anchors=self._anchored(scope, asked, turns),
                ready=orbit.ready,
            )
            grounds, sure = orbit.grounds(answer, asked), confidence(answer.grounds, self._weights)
            enough = confidence(grounds, self._orbit.weights)
            span.add(pool=len(turns.by_id), enough=enough)
            suffices = grounds["talk"] >= self._orbit.least_talk and enough >= self._orbit.min_confidence
            if not (suffices or orbit.vicinity.complete) or sure < request.least:
                return None
            hits, changed = hydrate(self._records, self._rules, request, answer, "orbit")
            if changed or len(hits) < top_k:
                return None
            untrusted = self._untrusted(request, asked, found, parts, "orbit")
        return Hits(hits, confidence=sure, grounds=grounds, way="orbit"), untrusted

    def _embedded(self, asked: ParsedQuery) -> Found | None:
        """Vectors of a query; None while the embedder is down; the search detects and reports that."""
        with self._telemetry.span("biem.recall.embed"), suppress(BiemError):
            vectors = self._embedder.embed(asked.texts, "query")
            found = Found()
            found.embedded(vectors, self._query_map)
            return found
        return None


def _sureness(hit: Hit) -> float:
    """The confidence of the answer that an untrusted hit is of."""
    return float(hit.why.get("confidence", 0.0))


def _displaced(searched: _Searched) -> bool:
    """Whether most of what a search found may not be told, so that others may be missing."""
    found = {*searched.found.dense, *searched.found.words, *searched.found.text}
    told = sum(key in searched.parts.believed.by_id or key in searched.parts.untrusted.by_id for key in found)
    return told < len(found) / 2


def _believed(where: Filter) -> Filter:
    return replace(where, min_trust=max(1, where.min_trust))
