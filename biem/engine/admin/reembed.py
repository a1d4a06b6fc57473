"""Moving all memories to another embedder, while other processes still use the old one.

    fill      the new collection from the records, by id, saving progress; includes memories written meanwhile
    mark      memories in the new collection as its own; missing ones are inserted first
    switch    one row: from now on every process uses the new embedder
    mark      once more, for memories that processes with the old embedder indexed meanwhile

An interrupted run is resumed by the next: after the saved id, with the vectors computed so far. Until the switch the
old collection is untouched, so recall is unaffected; the vectors of both models stay until `drop_others`.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from biem.engine.encode.worker import EncodeWorker, entry_of
from biem.ports import Embedder, Records, VectorIndex
from biem.ports.diagnosis import IndexInspection, RecordsInspection
from biem.ports.reindexing import EmbedderChoice, EmbedderRegistry, Unmoved
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.reembed")

_PAGE = 256
_VECTORS_AT_ONCE = 2_000
_ROUNDS = 5
"""How often stragglers are searched after the switch; later ones are handled by the job `integrity`."""


class Reembedder:
    """A move to the embedder of one object graph: `records`, `index` and `encoder` are the new embedder's."""

    def __init__(
        self,
        *,
        registry: EmbedderRegistry,
        records: Records,
        known: RecordsInspection,
        index: VectorIndex,
        inspection: IndexInspection,
        encoder: EncodeWorker,
        embedder: Embedder,
        collection: str,
        move_notes: Callable[[], int],
        drop_notes: Callable[[], int],
        telemetry: Telemetry,
    ) -> None:
        """`move_notes` indexes all notes with the new embedder; `drop_notes` drops all other collections of notes."""
        self._registry = registry
        self._records = records
        self._known = known
        self._index = index
        self._inspection = inspection
        self._encoder = encoder
        self._embedder = embedder
        self._info = embedder.info
        self._collection = collection
        self._move_notes = move_notes
        self._drop_notes = drop_notes
        self._telemetry = telemetry

    def move(self, settings: Mapping[str, Any], on_progress: Callable[[int], None] | None = None) -> int:
        """Move every memory; returns how many this run added to the new collection.

        `settings` identifies the embedder to other processes. Safe to interrupt at any point and to repeat.
        """
        done = 0
        with self._telemetry.span("biem.reembed") as span:
            self._index.open()
            choice = EmbedderChoice(self._info.id, self._info.dim, self._collection, settings)
            cursor = self._registry.begin(choice)
            if cursor and not self._index.count():  # the collection was dropped meanwhile
                cursor = ""
            full = True
            while full:  # memories written faster than pages are filled are left to the marking
                page = self._registry.unmoved(self._info.id, cursor, _PAGE)
                full = len(page) == _PAGE
                if page:
                    done += len(self._put(page))
                    cursor = page[-1].node.id
                    self._registry.advance(self._info, cursor)
                    if on_progress:
                        on_progress(done)
            done += self._mark()
            span.add(notes=self._move_notes())
            self._registry.switch(self._info)
            for _ in range(_ROUNDS):
                if not self._mark():
                    break
            self._move_notes()
            self._move_items()
            self._encoder.renew_former()
            span.add(moved=done)
        return done

    def drop_others(self) -> Mapping[str, int]:
        """Drop every other collection and every other model's vectors, once the move is complete."""
        dropped = {"collections": 0, "vectors": 0}
        for collection in self._inspection.collections():
            if collection.name != self._collection:
                self._inspection.drop(collection.name)
                dropped["collections"] += 1
        dropped["collections"] += self._drop_notes()
        others = [model for model in self._registry.stored_models() if model != self._info.id]
        for model in others:
            while count := self._registry.drop_vectors(model, _VECTORS_AT_ONCE):
                dropped["vectors"] += count
        self._registry.forget_others(self._info.id)
        return dropped

    def _put(self, page: Sequence[Unmoved]) -> list[str]:
        """Add rows of these memories to the new collection, except those destroyed or archived meanwhile; returns their
        ids.

        A text that the new embedder refuses is left out: the job `integrity` queues it for the workers, which move it
        to the dead letters with the reason.
        """
        texts = [unmoved.node.indexed_text for unmoved in page if unmoved.vector is None]
        computed = iter(self._encoder.vectors_taken(texts) if texts else ())
        vectors = [next(computed) if unmoved.vector is None else unmoved.vector for unmoved in page]
        entries = [
            entry_of(unmoved.node, unmoved.lexemes, vector)
            for unmoved, vector in zip(page, vectors, strict=True)
            if vector is not None
        ]
        self._index.insert(entries, again=True)
        known = self._known.known([entry.id for entry in entries])
        if gone := [entry.id for entry in entries if known[entry.id].status in ("gone", "archived")]:
            self._index.purge(gone)
        return [entry.id for entry in entries]

    def _mark(self) -> int:
        """Mark every memory in the new collection as its own; returns how many had to be inserted.

        Those that were ever revised are inserted again: their row may be of a former text.
        """
        put, after, full = 0, "", True
        while full:
            page = self._registry.unmoved(self._info.id, after, _PAGE)
            full = len(page) == _PAGE
            there = self._inspection.present(self._collection, [unmoved.node.id for unmoved in page])
            missing = [one for one in page if one.node.id not in there or one.node.revision > 1]
            if missing:
                fresh = self._put(missing)
                put += len(set(fresh) - set(there))
                there = {*there, *fresh}
            if page:
                self._records.mark_indexed([unmoved.node.id for unmoved in page if unmoved.node.id in there])
                after = page[-1].node.id
        return put

    def _move_items(self) -> None:
        """Items of concepts are compared by vector, too."""
        after = ""
        while items := self._registry.unmoved_items(self._info.id, after, _PAGE):
            vectors = self._embedder.embed([text for _, text in items], "passage")
            moved = {item: vector for (item, _), vector in zip(items, vectors, strict=True)}
            self._registry.move_items(self._info.id, moved)
            after = items[-1][0]
