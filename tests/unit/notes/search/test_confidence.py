"""How sure notes are that they answer: likeness beyond that to any question, and shared words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.notes.library import Note, NoteHit, NotePassage
from biem.domain.scope import Scope
from biem.errors import EmbedderUnavailable
from biem.notes.search.confidence import NoteConfidence
from biem.notes.search.rank import PARTS, RankedChunk
from biem.ports import EmbedderInfo, Role, Vector, Vectors
from biem.ports.notes.records import PoolChunk

QUERY = "when does the harbour master open the gates"


def direction(*parts: float) -> Vector:
    """A unit vector along: what is asked, any question, anything else."""
    vector = np.array(parts, dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


@dataclass
class Blank:
    """An embedder for which every question that asks for nothing is the second axis."""

    info: EmbedderInfo = field(default_factory=lambda: EmbedderInfo("blank", 3, ("mul",), 512))
    down: bool = False
    calls: int = 0

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if self.down:
            raise EmbedderUnavailable("down")
        self.calls += 1
        return np.stack([direction(0, 1, 0)] * len(texts))

    def similarity(self, vector: Vector, others: Vectors) -> Vectors:
        return np.asarray(others @ vector, dtype=np.float32)

    def close(self) -> None:
        """Nothing to do."""


def one(
    name: str,
    body: str,
    content: float,
    vector: Vector | None,
    *,
    covered: float = 0.0,
    when: float = 0.0,
) -> tuple[NoteHit, RankedChunk]:
    """A hit, and the chunk of the pool that it is."""
    parts = {**dict.fromkeys(PARTS, 0.0), "content": content, "covered": covered, "when": when}
    passage = NotePassage(id=name, place=0, lines=(1, 2), headings=(), levels=(), body=body, tokens=9)
    note = Note(id=name, scope=Scope(), library="vault", root="/vault", path=f"{name}.md", title=name)
    chunk = PoolChunk(name, name, "lib", "ns", 0, None, (), (0,) * 5, (), (0,) * 5, b"", vector)
    return NoteHit(passage, note, 0.9, parts, f"{name}.md:1"), RankedChunk(chunk, 0.9, tuple(parts.values()))


FAR = one("far", "Bread needs flour.", 0.6, direction(0.6, 0.6, 0.5))


def confidence(
    *best: tuple[NoteHit, RankedChunk], query: str = QUERY, dated: Sequence[str] = (), embedder: Blank | None = None
) -> float:
    """Of these hits and a chunk that is far from the query."""
    judge = NoteConfidence(analyzer=RuleAnalyzer(), embedder=embedder or Blank())
    terms, order = RuleAnalyzer().lexemes(query), [*(chunk for _, chunk in best), FAR[1]]
    for hit, chunk in best:  # as the statement that reads the pool does
        there = RuleAnalyzer().lexemes(hit.chunk.body)
        chunk.chunk.asked = tuple(place for place, term in enumerate(terms) if term in there)
    return judge.of(query, [hit for hit, _ in best], order, terms=terms, dated=dated)


def test_without_hits_there_is_no_confidence() -> None:
    assert confidence() == 0.0


def test_a_chunk_near_to_any_question_makes_less_sure_than_one_that_is_near_to_this_one() -> None:
    # Given two chunks equally near to the query, of which one is as near to a question that asks for nothing
    this = one("this", "Opening hours are on the board.", 0.9, direction(0.9, 0.5, 0))
    other = one("any", "Opening hours are on the board.", 0.9, direction(0.9, 0.9, 0))
    # Then only the other one makes sure, though no keyword is shared
    assert confidence(this) > 0.5 > confidence(other)


@pytest.mark.parametrize("covered", [0.0, 1.0])
def test_terms_of_the_query_in_one_chunk_make_sure(covered: float) -> None:
    near = one("near", "Opening hours are on the board.", 0.8, direction(0.8, 0.65, 0), covered=covered)
    assert (confidence(near) > 0.5) == bool(covered)


def test_a_chunk_of_the_time_that_the_query_names_makes_surer() -> None:
    query = "what happened to Marie on 3 May 2024"
    dated = RuleAnalyzer().lexemes("3 May 2024")
    body, vector = "Rain, and a broken mast.", direction(0.8, 0.65, 0)
    without = confidence(one("near", body, 0.8, vector), query=query, dated=dated)
    assert confidence(one("near", body, 0.8, vector, when=1.0), query=query, dated=dated) > without + 0.1


def test_a_chinese_query_may_be_answered_in_english_without_shared_words() -> None:
    near = one("near", "Opening hours are on the board, every day of the week.", 0.8, direction(0.8, 0.6, 0))
    far = one("near", "告示板上写着每天的营业时间，周末也一样。", 0.8, direction(0.8, 0.6, 0))
    assert confidence(near, query="小船几点可以进来") > confidence(far, query="小船几点可以进来")


def test_without_vectors_the_keywords_decide() -> None:
    # Given no chunk that is embedded
    said = one("said", "The harbour master opens the gates at six.", 0.0, None)
    silent = one("silent", "Bread needs flour.", 0.0, None)
    embedder = Blank()
    # Then all keywords make sure, none does not, and nothing is embedded for it
    assert confidence(said, embedder=embedder) > 0.5 > confidence(silent, embedder=embedder)
    assert embedder.calls == 0


def test_questions_that_ask_for_nothing_are_embedded_once_and_again_after_an_outage() -> None:
    # Given an embedder that is down after the query was embedded
    embedder = Blank(down=True)
    judge = NoteConfidence(analyzer=RuleAnalyzer(), embedder=embedder)
    hit, chunk = one("this", "Opening hours are on the board.", 0.9, direction(0.9, 0.5, 0))
    assert judge.of(QUERY, [hit], [chunk, FAR[1]], terms=[]) < 0.5
    # When it is back / Then the same chunk makes sure, and later queries embed nothing
    embedder.down = False
    assert judge.of(QUERY, [hit], [chunk, FAR[1]], terms=[]) > 0.5
    assert judge.of(QUERY, [hit], [chunk, FAR[1]], terms=[]) > 0.5
    assert embedder.calls == 1
