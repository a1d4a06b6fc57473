"""Recollection: keywords of a text → activation along the links → the most activated concepts → their most similar
items.

text → keywords (fast, or one call of the small model) → those that are concepts → subtractive spreading
     → at most 3 by a²/Σa² → at most 2 items of each, by similarity to the text or to the keywords → pairs
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from random import Random

import numpy as np

from biem.domain.concept import Concept, Item, Recollection, choose, term_similarity
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.running_memory import Running
from biem.domain.scope import Scope
from biem.domain.text import require_string
from biem.engine.concepts.build import fading
from biem.engine.concepts.topics import Topics
from biem.engine.graph.associations import Associations
from biem.errors import BiemError, StoreUnavailable
from biem.ports import Analyzer, Clock, Embedder
from biem.ports.concepts import Concepts
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.concepts")

_MOST_CHARS = 8_000
"""Maximum characters read of a text (longer ones are pasted documents)."""
_MOST_ACTIVE = 64
"""Activated concepts that are looked up: far more than are chosen, because some have no items."""
_MOST_CHOSEN = 4
"""Concepts whose items are read, for each one chosen: the same text may belong to many."""


class Reminder:
    """Finds recollections for a text or keywords. `random` is used only for the selection `squared_norm`."""

    def __init__(
        self,
        *,
        concepts: Concepts,
        associations: Associations,
        analyzer: Analyzer,
        clock: Clock,
        policy: ConceptPolicy,
        random: Random,
        telemetry: Telemetry,
        embedder: Embedder | None = None,
        reasoner: Reasoner | None = None,
    ) -> None:
        self._concepts = concepts
        self._associations = associations
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._random = random if policy.selection == "squared_norm" else None
        self._telemetry = telemetry
        self._embedder = embedder
        self._reasoner = reasoner
        self._topics = Topics(analyzer=analyzer, policy=policy)
        self._fading = fading(policy)

    def related(self, scope: Scope, text: str) -> list[Recollection]:
        """Recollections for a text: (topic, memory) pairs, best concept first; `[]` when it names no concept.

        With a language model and `keywords="precise"` it costs one model call, within its limit for replies.
        """
        require_string(text, "text")
        return self.drawn(scope, text, self._random)

    def drawn(self, scope: Scope, text: str, random: Random | None) -> list[Recollection]:
        """As `related`, with the concepts drawn by this `random`; None: the best ones, for any policy."""
        if not self._policy.enabled or not text.strip():
            return []
        said = text[:_MOST_CHARS]
        return self._recollect(scope, self.keywords(scope, said), said, random)

    def from_topics(self, scope: Scope, keywords: Sequence[str]) -> list[Recollection]:
        """As `related`, from keywords; the items most similar to them are chosen. Never calls a language model."""
        if not self._policy.enabled or not keywords:
            return []
        return self._recollect(scope, keywords, " ".join(keywords), self._random)

    def living(self, scope: Scope, running: Sequence[Running]) -> tuple[Running, ...]:
        """Those whose sources all exist and are not all archived: no copy shows an erased memory."""
        wanted = sorted({source for item in running for source in item.sources})
        known = self._concepts.sources(scope.readable, wanted) if wanted else {}
        return tuple(
            item
            for item in running
            if known.keys() >= set(item.sources) and any(known[source] for source in item.sources)
        )

    def keywords(self, scope: Scope, text: str) -> list[str]:
        """Key concepts of a text: from the model in precise mode, else or without its answer by segmentation."""
        if self._reasoner is not None and self._policy.keywords == "precise":
            found = self._reasoner.for_reply().concepts(scope, text, self._policy.topic_num)
            if found is not None:
                return found
        return self._analyzer.keywords(text, self._policy.fast_keywords)

    def _recollect(self, scope: Scope, keywords: Sequence[str], like: str, random: Random | None) -> list[Recollection]:
        policy, scopes, now = self._policy, scope.readable, self._clock.now()
        with self._telemetry.span("biem.concepts.related", keywords=len(keywords)) as span:
            wanted = {self._topics.named(owner, word).id for owner in scopes for word in keywords}
            seeds = {concept.id: 1.0 for concept in self._concepts.find(scopes, sorted(wanted), now)}
            if not seeds:
                return []
            active = self._spread(scope, seeds)
            nearest = sorted(active, key=lambda node: (-active[node], node))[:_MOST_ACTIVE]
            found = {concept.id: concept for concept in self._concepts.find(scopes, nearest, now) if concept.items}
            order = choose({key: active[key] for key in found}, _MOST_CHOSEN * policy.max_memory_num, random)
            items = self._concepts.items(scopes, order, policy.items_per_concept, self._fading, now)
            picked, recalled = self._pick(order, items, like)
            self._access(scopes, {*seeds, *(item.concept for item in picked)}, recalled)
            span.add(seeds=len(seeds), activated=len(active), memories=len(picked))
        return [self._recollection(found, item, active) for item in picked]

    def _spread(self, scope: Scope, seeds: Mapping[str, float]) -> dict[str, float]:
        with suppress(StoreUnavailable):  # the links loaded last suffice
            self._associations.refresh(scope)
        spread = self._associations.spread(scope, seeds, strategy="subtractive", max_depth=self._policy.max_depth)
        return {**seeds, **spread}

    def _pick(
        self, order: Sequence[str], items: Mapping[str, Sequence[Item]], like: str
    ) -> tuple[list[Item], list[str]]:
        """The items most similar to the text, each text once over all topics, and the ids of all that were recalled.

        A concept without a new text gives its place to the next. Items with repeated texts count as recalled, too.
        """
        everything = [item for concept in order for item in items[concept]]
        likeness = dict(zip((item.id for item in everything), self._similarities(everything, like), strict=True))
        length = self._policy.max_memory_length
        said: set[str] = set()
        picked: list[Item] = []
        recalled: list[str] = []
        speaking = 0
        for concept in order:
            if speaking == self._policy.max_memory_num:
                break
            ranked = sorted(items[concept], key=lambda item: (-likeness[item.id], item.id))
            new = [item for item in ranked if _content(item) not in said]
            new = list({_content(item): item for item in reversed(new)}.values())[::-1][:length]
            said.update(map(_content, new))
            picked += new
            recalled += {item.id: None for item in (*ranked[:length], *new)}
            speaking += bool(new)
        return picked, recalled

    def _similarities(self, items: Sequence[Item], like: str) -> list[float]:
        """By vector where every item has one of this embedder, else by words: the two scales are never mixed."""
        vectors = [item.vector for item in items if item.vector is not None]
        if self._embedder is not None and vectors and len(vectors) == len(items):
            try:
                query = self._embedder.embed([like], "query")[0]
            except BiemError:
                logger.info("the embedder is down: items of concepts are compared by words")
            else:
                return [float(np.frombuffer(vector, dtype="<f4") @ query) for vector in vectors]
        terms = self._analyzer.lexemes(like)
        return [term_similarity(terms, self._analyzer.lexemes(item.text)) for item in items]

    def _access(self, scopes: Sequence[Scope], concepts: Iterable[str], items: Sequence[str]) -> None:
        now, cooldown_s = self._clock.now(), self._policy.access_cooldown_s
        try:
            self._concepts.access(scopes, sorted(concepts), items, self._fading, now, cooldown_s=cooldown_s)
        except StoreUnavailable as error:  # the result matters more than the record of its access
            logger.info("access of concepts not recorded: %s", error)

    @staticmethod
    def _recollection(found: Mapping[str, Concept], item: Item, active: Mapping[str, float]) -> Recollection:
        return Recollection(found[item.concept].name, item.text, item.sources, active[item.concept])


def _content(item: Item) -> str:
    return " ".join(item.text.casefold().split())
