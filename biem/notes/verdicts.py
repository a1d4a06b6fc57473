"""What notes say of facts: a sentence that contradicts a fact, or confirms it, is recorded until a user decides.

fact ─► its nearest chunks ─► their sentences that share words with it ─► the rules of contradiction ─► verdicts

A fact is compared with everything once, and afterwards with new chunks only. No note changes a memory: a
contradiction is shown and listed, a confirmation counts once as useful.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from biem.domain.conflict import Statement, Verdict
from biem.domain.node import parse_id
from biem.domain.notes.library import BELIEVED, NotePassage, NoteVerdict, NoteVerdictKind, NoteVerdictStatus
from biem.domain.policies.notes import VerdictPolicy
from biem.domain.scope import Scope
from biem.domain.text import one_line
from biem.errors import BiemError, InvalidInput, NotFound
from biem.notes.indexed_text import indexed_text
from biem.ports import Embedder, Vectors
from biem.ports.contradiction import ContradictionRules
from biem.ports.notes.index import ANY_NOTE, NoteIndex
from biem.ports.notes.records import NoteRecords
from biem.ports.notes.verdicts import DueFact, FoundVerdict, NoteVerdicts
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.notes")

_MARKUP = re.compile(r"^[ \t]*(?:[-*+>] +|\d+[.)] +|#{1,6} +)+|[*_`]+|!?\[([^\[\]\n]*)\]\([^()\n]*\)", re.MULTILINE)
_SENTENCE_CHARS = 400


class FactCheck:
    """Compares facts with notes, and keeps what a reader decides. Thread-safe.

    `praise(scope, memory, turn)` counts a memory as useful, once for each `turn`; `archive(scope, memory, reason)`
    archives it. `sentences(text, other)` are those of `text` that are about `other`.
    """

    def __init__(
        self,
        *,
        verdicts: NoteVerdicts,
        records: NoteRecords,
        index: NoteIndex,
        rules: ContradictionRules,
        sentences: Callable[[str, str], Sequence[str]],
        embedder: Embedder,
        policy: VerdictPolicy,
        telemetry: Telemetry,
        praise: Callable[[Scope, str, str], object],
        archive: Callable[[Scope, str, str], object],
    ) -> None:
        self._verdicts = verdicts
        self._records = records
        self._index = index
        self._rules = rules
        self._sentences = sentences
        self._embedder = embedder
        self._policy = policy
        self._telemetry = telemetry
        self._praise = praise
        self._archive = archive

    def run(self, scope: Scope) -> Mapping[str, int]:
        """The job `note_verdicts`: compare facts of a scope that were not compared with the notes as they are."""
        with self._telemetry.span("biem.notes.verdicts") as span:
            facts = self._verdicts.due_facts(scope, self._policy.facts)
            found = [one for fact in facts for one in self._of(scope, fact)]
            if facts:
                self._verdicts.compared(scope, facts, found)
            for one in found:
                if one.kind == "confirms":
                    self._confirm(scope, one)
            counts = {kind: sum(one.kind == kind for one in found) for kind in ("contradicts", "confirms")}
            span.add(facts=len(facts), **counts)
        return {"compared": len(facts), **counts}

    def run_all(self) -> Mapping[str, int]:
        """The same for every scope that has notes."""
        total = {"compared": 0, "contradicts": 0, "confirms": 0}
        for scope in dict.fromkeys(library.scope for library in self._records.libraries(None)):
            for name, count in self.run(scope).items():
                total[name] += count
        return total

    def list(
        self, scope: Scope, *, status: NoteVerdictStatus | None = "open", limit: int = 100
    ) -> Sequence[NoteVerdict]:
        """What notes say of the facts of this scope, surest first; status None: decided ones, too."""
        return self._verdicts.verdicts([scope], status=status, limit=limit)

    def decide(self, scope: Scope, verdict: str, believed: str) -> NoteVerdict:
        """Believe the note, which archives the memory, or the memory. Raises `NotFound` and `InvalidInput`."""
        if believed not in BELIEVED:
            raise InvalidInput(f"{believed!r} cannot be believed; choose note or memory")
        found = self._verdicts.verdicts([scope], status=None, verdict=parse_id(verdict))
        if not found:
            raise NotFound(f"no verdict {verdict} in {scope}; `biem notes conflicts` lists them")
        [known] = found
        if believed == "note":
            self._archive(scope, known.memory_id, f"a note disagrees: {known.place}"[:200])
        self._verdicts.decide(scope, known.id, "kept" if believed == "note" else "dismissed")
        return known

    def contradicted(self, scopes: Sequence[Scope], memories: Sequence[str]) -> dict[str, str]:
        """Those of these memories that a note contradicts, each with path and line of the surest note."""
        found = self._verdicts.verdicts(scopes, kind="contradicts", memories=memories) if memories else []
        return {one.memory_id: one.place for one in reversed(found)}

    def any_contradicted(self, scopes: Sequence[Scope]) -> bool:
        """Whether a note contradicts any fact of these scopes."""
        return self._verdicts.contradicted(scopes)

    def _confirm(self, scope: Scope, found: FoundVerdict) -> None:
        try:
            self._praise(scope, found.memory_id, f"note:{found.chunk_id}:{found.memory_id}")
        except BiemError as error:  # it was erased meanwhile, or the store is down: it is only an encouragement
            logger.debug("a confirmed memory was not rewarded: %s", error)

    def _of(self, scope: Scope, fact: DueFact) -> Iterator[FoundVerdict]:
        """What the nearest chunks say of a fact: the surest verdict of each."""
        near = self._index.dense(scope.readable, fact.vector, self._policy.chunks, ANY_NOTE)
        fresh = sorted((key for key in near if key > fact.after), key=lambda key: (-near[key], key))
        known = self._records.passages(scope.readable, fresh)
        for key in fresh:
            if key in known and (found := self._surest(fact, known[key].chunk)) is not None:
                kind, confidence, sentence = found
                yield FoundVerdict(fact.id, key, kind, confidence, sentence[:_SENTENCE_CHARS])

    def _surest(self, fact: DueFact, chunk: NotePassage) -> tuple[NoteVerdictKind, float, str] | None:
        text = _MARKUP.sub(lambda mark: mark[1] or "", indexed_text((), chunk.body))
        sentences = self._sentences(text, fact.text)
        if not sentences:
            return None
        vectors: Vectors = self._embedder.embed(sentences, "passage")
        likeness = self._embedder.similarity(fact.vector, vectors)
        best: tuple[float, Verdict, str] | None = None
        for sentence, like in zip(sentences, likeness.tolist(), strict=True):
            if like < self._policy.least_similarity:
                continue
            verdict = self._rules.compare(
                Statement(fact.text, fact.speaker), Statement(sentence), like, least=self._policy.least_confidence
            )
            if verdict and verdict.confidence >= self._policy.least_confidence:
                best = max(
                    best or (0.0, verdict, sentence), (verdict.confidence, verdict, sentence), key=lambda b: b[0]
                )
        if best is None:
            return None
        confidence, verdict, sentence = best
        return ("confirms" if verdict.kind == "duplicate" else "contradicts", confidence, one_line(sentence, 400))
