"""The concept memory (Hippocampus): builds concepts from conversation, merges near-duplicates, lets idle ones fade.

    build        snippets of conversation by two-peak ages → topics with statements about them → links
    consolidate  near-duplicate items of a concept become the richer one
    forget       idle items fade, idle links weaken, concepts without either vanish

Each is bounded, and idempotent at every step: ids are content hashes, links accept the name of a call once, and a
snippet is marked as built last. So a process may die anywhere and the next one repeats the snippet.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import numpy as np

from biem.domain.concept import (
    Item,
    Peak,
    Snippet,
    duplicates,
    item_id,
    sample_instants,
    term_similarity,
)
from biem.domain.link import LinkType, NewLink, meeting_links, semantic_links
from biem.domain.policies.concepts import ConceptPolicy
from biem.domain.policies.graph import GraphPolicy
from biem.domain.scope import Scope
from biem.engine.concepts.topics import SnippetText, Topics
from biem.errors import BiemError
from biem.ports import Analyzer, Clock, Embedder
from biem.ports.concepts import Concepts, Fading, InstantMemory, Instants, Named
from biem.ports.links import Links
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

_MEETING: tuple[LinkType, ...] = ("cooccurrence",)


def fading(policy: ConceptPolicy) -> Fading:
    """How items fade under a policy."""
    return Fading(policy.forget_idle_h * 3600.0, policy.item_strength, policy.item_strength_max)


class ConceptJobs:
    """The background jobs; `engine.concepts.recollect` reads their results. `reasoner` and `embedder` may be None."""

    def __init__(
        self,
        *,
        concepts: Concepts,
        instants: Instants,
        links: Links,
        analyzer: Analyzer,
        clock: Clock,
        policy: ConceptPolicy,
        graph: GraphPolicy,
        random: Random,
        telemetry: Telemetry,
        embedder: Embedder | None = None,
        reasoner: Reasoner | None = None,
    ) -> None:
        self._concepts = concepts
        self._instants = instants
        self._links = links
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._graph = graph
        self._random = random
        self._telemetry = telemetry
        self._embedder = embedder
        self._reasoner = reasoner
        self._topics = Topics(analyzer=analyzer, policy=policy, reasoner=reasoner)
        self._fading = fading(policy)
        self._peaks = (
            Peak(policy.near_age_h, policy.near_spread_h, policy.near_weight),
            Peak(policy.far_age_h, policy.far_spread_h, 1.0 - policy.near_weight),
        )

    # -- build ------------------------------------------------------------------------------------------------------

    def build(self, scope: Scope, *, eager: bool = False) -> Mapping[str, int]:
        """Build a few snippets, and yesterday's instant memories. `eager` includes conversations that still go on.

        Each node keeps its strongest links only, which bounds the degree of very frequent topics.
        """
        policy = self._policy
        if not policy.enabled:
            return {}
        now = self._clock.now()
        with self._telemetry.span("biem.concepts.build") as span:
            self._concepts.collect(scope, length=policy.snippet_messages, pause_s=policy.pause_s, limit=policy.intake)
            quiet_since = now + timedelta(days=36_500) if eager else now - timedelta(seconds=policy.pause_s)
            seen: list[int] = []
            counts = {"snippets": 0, "items": 0, "links": 0}
            for at in sample_instants(now, self._peaks, policy.snippets, self._random):
                snippet = self._concepts.nearest(
                    scope, at, length=policy.snippet_messages, quiet_since=quiet_since, without=seen
                )
                if snippet is None:
                    break
                seen.append(snippet.first_seq)
                items, links = self._build(scope, snippet, now)
                counts["snippets"] += self._concepts.used(scope, snippet, policy.uses_per_message)
                counts["items"] += items
                counts["links"] += links
            counts["instant"], items, links = self._build_instants(scope, now)
            counts["items"] += items
            counts["links"] += links
            counts["pruned"] = self._links.prune(scope, self._graph.max_links, self._graph.tend_links, now)
            span.add(**counts)
        return counts

    def _build(self, scope: Scope, snippet: Snippet, now: datetime) -> tuple[int, int]:
        messages = self._concepts.messages(scope, snippet)
        if not messages:
            return 0, 0
        met = self._concepts.find([scope], sorted(self._topics.candidates(scope, messages)), now)
        known = {concept.id: concept.items for concept in met}
        passages = self._topics.of(scope, snippet, messages, known, self._concepts.built(scope))
        name = f"build:{snippet.first_seq}-{snippet.last_seq}:{snippet.times}"
        return self._keep(scope, passages, name, now)

    def _build_instants(self, scope: Scope, now: datetime) -> tuple[int, int, int]:
        """The number of notes built, and the items and links created from them."""
        before = now - timedelta(hours=self._policy.instant_age_h)
        due = self._instants.due(scope, before, self._policy.instant_rows)
        items = links = 0
        for note in due:
            added, linked = self._keep(scope, [self._of_note(scope, note)], f"instant:{note.id}", now)
            items += added
            links += linked
        if due:
            self._instants.done(scope, [note.id for note in due], now)
        return len(due), items, links

    def _of_note(self, scope: Scope, note: InstantMemory) -> list[SnippetText]:
        source = (note.memory_id,)
        return [
            SnippetText(self._topics.named(scope, word), note.text, source, source)
            for word in note.keywords[: self._policy.topics_per_snippet]
            if self._topics.allowed(word)
        ]

    def _keep(
        self, scope: Scope, passages: Sequence[Sequence[SnippetText]], name: str, now: datetime
    ) -> tuple[int, int]:
        everything = [said for passage in passages for said in passage]
        if not everything:
            return 0, 0
        topics = {said.topic.id: said.topic for said in everything}
        vectors = self._vectors([said.text for said in everything])
        items = [
            Item(item_id(said.topic.id, said.text), said.topic.id, said.text, said.sources, vector=vector)
            for said, vector in zip(everything, vectors, strict=True)
        ]
        added = self._concepts.add(scope, list(topics.values()), items, self._fading, now)
        linked = 0
        for passage in passages:  # separately: transactions stay short, and none counts twice
            links = meeting_links([said.topic.id for said in passage])
            found = (topics.pop(said.topic.id, None) for said in passage)  # each name is looked up once
            links += self._namesakes(scope, [topic for topic in found if topic is not None])
            links += [NewLink(memory, said.topic.id, "mention") for said in passage for memory in said.mentions]
            first = min((source for said in passage for source in said.sources), default="")
            linked += self._links.connect(scope, links, now, once=f"{name}/{first}" if len(passages) > 1 else name)
        return added, linked

    def _namesakes(self, scope: Scope, topics: Iterable[Named]) -> list[NewLink]:
        """Links of names with similar names, found through the terms they share.

        Includes known names, because a process may have died before it linked them; links are never lowered.
        """
        policy = self._policy
        links: list[NewLink] = []
        for topic in topics:
            near = self._concepts.similar(scope, topic.terms, postings=policy.term_postings, limit=policy.similar_names)
            similar = [
                (other.id, term_similarity(topic.terms, set(self._analyzer.lexemes(other.name)))) for other in near
            ]
            links += semantic_links(topic.id, similar, above=policy.similarity, inclusive=True)
        return links

    def _vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        """Packed vectors; none while the embedder is down, and then similarity is by words."""
        if self._embedder is None:
            return [None] * len(texts)
        try:
            return [vector.astype("<f4").tobytes() for vector in self._embedder.embed(texts, "passage")]
        except BiemError:
            return [None] * len(texts)

    # -- consolidate ------------------------------------------------------------------------------------------------

    def consolidate(self, scope: Scope) -> Mapping[str, int]:
        """Merge near-duplicate items of randomly picked concepts, with all their sources."""
        policy = self._policy
        if not policy.enabled:
            return {}
        now = self._clock.now()
        with self._telemetry.span("biem.concepts.consolidate") as span:
            point = str(uuid.UUID(int=self._random.getrandbits(128)))
            picked = self._concepts.pick(scope, point, policy.consolidate_concepts)
            merged = 0
            for items in self._concepts.items([scope], picked, policy.items_per_concept, self._fading, now).values():
                for kept, others in self._duplicates(items):
                    best = self._merged(scope, kept, others)
                    ids = [item.id for item in (kept, *others) if item.id != best.id]
                    merged += len(others) * self._concepts.replace(scope, best, ids, self._fading, now)
            span.add(concepts=len(picked), merged=merged)
        return {"merged": merged}

    def _duplicates(self, items: Sequence[Item]) -> list[tuple[Item, list[Item]]]:
        vectors = [item.vector for item in items if item.vector is not None]
        if self._embedder is not None and len(vectors) == len(items) > 1:
            rows = np.stack([np.frombuffer(vector, dtype="<f4") for vector in vectors])
            likeness = np.stack([self._embedder.similarity(row, rows) for row in rows])
            return duplicates(items, lambda a, b: bool(likeness[a, b] >= self._policy.similarity))
        terms = [self._analyzer.lexemes(item.text) for item in items]
        return duplicates(items, lambda a, b: term_similarity(terms[a], terms[b]) >= self._policy.similarity)

    def _merged(self, scope: Scope, kept: Item, others: Sequence[Item]) -> Item:
        """The model's merge, or else the richest item unchanged."""
        texts = [kept.text, *(item.text for item in others)]
        text = self._reasoner.merge(scope, texts) if self._reasoner is not None else None
        if not text or text in texts:
            return kept
        sources = tuple(sorted({source for item in (kept, *others) for source in item.sources}))
        return replace(
            kept, id=item_id(kept.concept, text), text=text, sources=sources, vector=self._vectors([text])[0]
        )

    # -- forget -----------------------------------------------------------------------------------------------------

    def forget(self, scope: Scope) -> Mapping[str, int]:
        """Remove items that have faded, weaken idle co-occurrence by 1, and remove concepts without items or links."""
        policy = self._policy
        if not policy.enabled:
            return {}
        now = self._clock.now()
        with self._telemetry.span("biem.concepts.forget") as span:
            items = self._concepts.fade(scope, policy.forget_rows, now)
            weakened = self._links.weaken(
                scope,
                now - timedelta(hours=policy.forget_idle_h),
                policy.forget_rows,
                now,
                types=_MEETING,
                share=policy.sample_ratio,
                salt=self._random.getrandbits(31),
            )
            vanishing = self._concepts.vanishing(scope, policy.forget_rows)
            if vanishing:
                self._links.remove_nodes(scope, vanishing, now)
            counts = {
                "items": items,
                "weakened": weakened.weakened,
                "links": weakened.removed,
                "concepts": self._concepts.vanish(scope, vanishing) if vanishing else 0,
                "instant": self._instants.forget(
                    scope, now - timedelta(hours=policy.instant_kept_h), policy.forget_rows
                ),
            }
            span.add(**counts)
        return counts
