"""Prefetched candidates for the next question of a session, since a follow-up is mostly about the last answer.

    prefetched = the last hits + the turns around them + the conversations that most of them are from
                 + their neighbours in the graph + the canvas + running memory + the newest memories,
                 or the whole scope where it is small

They are read in the background after an answer and cached in this process with all that ranking needs: words, vectors,
positions in conversations. Every question adds the memories written or revised since, from the records, and hits are
read from the records again. So a cached copy may be stale, but is never returned.
"""

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from biem.domain.conflict import Dispute
from biem.domain.policies.orbit import OrbitPolicy
from biem.domain.scope import Scope
from biem.engine.recall.rank.confidence import most
from biem.engine.recall.rank.prepared_pool import PreparedPool
from biem.engine.recall.rank.ranker import Answer, ParsedQuery
from biem.engine.recall.unverified import parted
from biem.errors import BiemError
from biem.ports import Clock, Vector
from biem.ports.readers import OrbitReader, Turn, Turns, Vicinity
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.recall")

OpenConflicts = Callable[[Scope, Sequence[str]], Mapping[str, Sequence[Dispute]]]
"""Returns which of these memories are in an open conflict."""
Prepared = Callable[[Turns], PreparedPool]
"""Precomputes a pool of turns that can answer many questions."""
Supply = Callable[[Scope, str], Sequence[str]]
"""Ids of additional memories to prefetch for a session of a scope."""


_BEST = 5


@dataclass(frozen=True, slots=True)
class Orbit:
    """Prefetched candidates of one session; `chosen` are its last hits, best first."""

    vicinity: Vicinity
    chosen: Sequence[str]
    conflicts: Mapping[str, Sequence[Dispute]]
    """Open conflicts at the time of the prefetch: they only affect the order."""
    since: datetime
    ready: PreparedPool
    untrusted: Mapping[str, Turn] = field(default_factory=dict)
    """Prefetched, too, and ranked apart."""

    def candidates(self, turns: Turns, vector: Vector | None, lexemes: Sequence[str], limit: int) -> Turns:
        """Candidates among prefetched and newer turns, as many as a search finds."""
        return self.ready.candidates(turns, vector, lexemes, limit)

    def may_answer(self, turns: Turns, least_talk: float) -> bool:
        """Whether ranking these turns may give a follow-up at all: False if too few are from the last conversation."""
        if self.vicinity.complete or least_talk <= 0:
            return True
        talk = self._talk()
        of_it = sum((turn.ns, turn.conversation) == talk for turn in turns.by_id.values())
        return of_it >= least_talk * min(_BEST, len(turns.by_id))

    def _told(self) -> list[Turn]:
        turns = self.vicinity.turns.by_id
        return [turns[key] for key in self.chosen if key in turns]

    def _talk(self) -> tuple[str, str] | None:
        """The conversation that most of the last hits are from; None if none is from any."""
        talks = Counter((turn.ns, turn.conversation) for turn in self._told() if turn.conversation)
        return max(talks, key=talks.__getitem__, default=None)

    def grounds(self, answer: Answer, asked: ParsedQuery) -> dict[str, float]:
        """Features of a follow-up, in addition to those of confidence; see `OrbitWeights`."""
        told, talk = self._told(), self._talk()
        best = [answer.turns[answer.ordering.candidates[place].id] for place in answer.ranked.order[:_BEST]]
        words = set(asked.lexemes)
        said = words.intersection(word for turn in told[:_BEST] for word in turn.lexemes)
        return {
            **answer.grounds,
            "best": float(answer.ranked.scores.max()) / most(answer.ranked),
            "talk": sum((turn.ns, turn.conversation) == talk for turn in best) / max(1, len(best)),
            "echo": len(said) / max(1, len(words)),
        }


class Orbits:
    """The orbits of this process, by scope and session, evicted least recently used first. Thread-safe."""

    def __init__(
        self,
        *,
        reader: OrbitReader,
        supplies: Sequence[Supply] = (),
        clock: Clock,
        policy: OrbitPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._reader = reader
        self._supplies = supplies
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._orbits: OrderedDict[tuple[Scope, str], Orbit] = OrderedDict()
        self._lock = threading.Lock()
        self._drops = 0

    def of(self, scope: Scope, session: str) -> Orbit | None:
        """The prefetched candidates of a session; None at its first question, or after a long pause."""
        if not self._policy.enabled or not session:
            return None
        with self._lock:
            orbit = self._orbits.get((scope, session))
            if orbit is None:
                return None
            if self._clock.now() - orbit.since > timedelta(seconds=self._policy.max_age_s):
                del self._orbits[scope, session]
                return None
            self._orbits.move_to_end((scope, session))
            return orbit

    def with_news(self, scope: Scope, orbit: Orbit) -> Turns | None:
        """Prefetched turns and those written since; None when these are too many, or the records cannot be read."""
        known = orbit.vicinity
        try:
            news = self._reader.since(scope.readable, known.written, self._policy.news)
        except BiemError as error:
            logger.warning("recall cannot read new memories of this session: %s", error)
            return None
        if news is None:
            return None
        if not news.turns.by_id:
            return known.turns
        return Turns({**known.turns.by_id, **news.turns.by_id}, known.turns.stretches, known.turns.openings)

    def gather(
        self,
        scope: Scope,
        session: str,
        chosen: Sequence[str],
        linked: Sequence[str],
        open_conflicts: OpenConflicts,
        prepared: Prepared,
    ) -> None:
        """Prefetch the surroundings of new hits, best first. Never raises: after a failure the next question searches.

        `linked`: neighbours in the graph.
        """
        if not self._policy.enabled or not session or not chosen:
            return
        with self._telemetry.span("biem.recall.gather") as span:
            with self._lock:
                drops = self._drops
            others = list(linked[: self._policy.links])
            try:
                for supply in self._supplies:
                    others += supply(scope, session)
                vicinity = self._reader.gather(scope.readable, chosen, others, self._policy.whole)
                parts = parted(vicinity.turns)
                vicinity = replace(vicinity, turns=parts.believed)
                ready = prepared(vicinity.turns)
                conflicts = open_conflicts(scope, list(vicinity.turns.by_id))
            except BiemError as error:
                logger.warning("no prefetch for this session: %s", error)
                self._forget(scope, session)
                return
            span.add(turns=len(vicinity.turns.by_id))
            with self._lock:
                if drops != self._drops:  # an erasure happened during the read
                    return
                apart = parts.untrusted.by_id
                self._orbits[scope, session] = Orbit(vicinity, chosen, conflicts, self._clock.now(), ready, apart)
                self._orbits.move_to_end((scope, session))
                while len(self._orbits) > self._policy.sessions:
                    self._orbits.popitem(last=False)

    def drop(self, scope: Scope) -> None:
        """Drop all orbits that hold memories of exactly this scope, for example after an erasure."""
        with self._lock:
            self._drops += 1
            for key in [key for key in self._orbits if scope in key[0].readable]:
                del self._orbits[key]

    def _forget(self, scope: Scope, session: str) -> None:
        with self._lock:
            self._orbits.pop((scope, session), None)
