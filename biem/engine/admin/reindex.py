"""Rebuilding all data derived from the texts: their analyses, their vectors, and the vector index.

Cached vectors are reused, and unchanged rows are not rewritten.
"""

from collections.abc import Callable

from biem.domain.policies.writing import WritePolicy
from biem.domain.text import cut_lexemes
from biem.engine.encode.worker import EncodeWorker, entry_of
from biem.ports import Analyzer, Embedder, Records, VectorIndex
from biem.ports.reindexing import Analyses, Described
from biem.telemetry import Telemetry

_PAGE = 256


class Reindexer:
    """Rebuilds analyses and index. Recall works meanwhile and finds what is indexed already."""

    def __init__(
        self,
        *,
        records: Records,
        analyses: Analyses,
        index: VectorIndex,
        embedder: Embedder,
        encoder: EncodeWorker,
        analyzer: Analyzer,
        policy: WritePolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._analyses = analyses
        self._index = index
        self._embedder = embedder
        self._encoder = encoder
        self._analyzer = analyzer
        self._policy = policy
        self._telemetry = telemetry

    def reindex(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Analyse every memory, drop the model's collection and fill it from Records; returns how many were indexed.

        Safe to interrupt: the next run starts over. Memories written meanwhile are indexed by the workers as always.
        `on_progress` is called with the number indexed so far: 0 while memories are analysed.
        """
        done = 0
        with self._telemetry.span("biem.reindex") as span:
            span.add(described=self._describe(on_progress))
            self._index.open()
            self._index.drop()
            self._index.open()
            for page in self._records.active(self._embedder.info.id):
                missing = [node.indexed_text for node, _, vector in page if vector is None]
                computed = iter(self._encoder.vectors_taken(missing) if missing else ())
                vectors = [next(computed) if vector is None else vector for _, _, vector in page]
                self._encoder.divide(node.indexed_text for node, _, _ in page)
                entries = [
                    entry_of(node, lexemes, vector)
                    for (node, lexemes, _), vector in zip(page, vectors, strict=True)
                    if vector is not None
                ]
                self._index.insert(entries, again=True)
                self._records.mark_indexed([entry.id for entry in entries])
                self._encoder.outdated([node for node, _, _ in page])
                done += len(entries)
                if on_progress:
                    on_progress(done)
            self._encoder.renew_former()
        return done

    def _describe(self, on_progress: Callable[[int], None] | None) -> int:
        """Analyse every memory with this version's analyzer; returns for how many the result changed."""
        after, changed = "", 0
        while page := self._analyses.page(after, _PAGE):
            described = [
                Described(node.id, self._analyzer.analyze(node.indexed_text), self._lexemes(node.indexed_text))
                for node in page
            ]
            changed += self._analyses.describe(described)
            after = page[-1].id
            if on_progress:
                on_progress(0)
        return changed

    def _lexemes(self, text: str) -> str:
        return cut_lexemes(" ".join(self._analyzer.lexemes(text)), self._policy.max_lexeme_bytes)
