"""What is embedded of a query, and how its parts reach the ranking."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from biem.adapters.analyzers import build
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.engine.query.question import Query
from biem.engine.recall.rank.pool import Candidate, Found
from biem.engine.recall.rank.ranker import ParsedQuery, Ranker
from biem.engine.recall.rank.score import Ranked
from biem.engine.recall.rank.term_matrix import Numbers
from biem.ports import Vector, Vectors
from biem.ports.embedding import Fitted
from biem.ports.readers import Turn, Turns

ANALYZER = build()
NOW = datetime(2024, 5, 1, tzinfo=UTC)
WHOLE, REST = (np.eye(2, dtype=np.float32)[row] for row in range(2))


def no_likeness(vector: Vector, others: Vectors) -> list[float]:
    return [0.0] * len(others)


def answerer(policy: RankPolicy | None = None) -> Ranker:
    return Ranker(ANALYZER, no_likeness, RecallPolicy(), policy or RankPolicy())


def asked(text: str) -> ParsedQuery:
    return answerer().asked(text)


@pytest.mark.parametrize(
    ("text", "matter"),
    [
        ("When did Beatrice move to the seaside town?", "When did move to the seaside town?"),
        ("What is Harriet's favourite painter?", "What is favourite painter?"),
        ("王海在一月去了哪家医院？", "在一月去了哪家医院？"),
    ],
)
def test_a_question_about_a_person_is_embedded_without_the_name_too(text: str, matter: str) -> None:
    # Given a question that names a user / When it is read / Then what it asks is embedded next to it
    assert asked(text).texts == [text, matter]


@pytest.mark.parametrize(
    "text", ["Where did I stay?", "Who is Beatrice?", "What did Beatrice cook?", "我的生日是哪天？"]
)
def test_a_question_that_names_no_one_or_hardly_asks_anything_else_is_embedded_once(text: str) -> None:
    assert asked(text).texts == [text]


def test_of_several_sentences_each_is_embedded_with_its_names() -> None:
    # Given two sentences with names / When they are read / Then they are embedded as they are: one text each is enough
    found = asked("Beatrice moved to Paris last summer. Where did Harriet find a hotel?")
    assert found.texts == [found.text, "Beatrice moved to Paris last summer.", "Where did Harriet find a hotel?"]


def test_a_pasted_document_is_embedded_once() -> None:
    assert len(asked("Beatrice said " + "and said it again " * 60).texts) == 1


def test_nothing_more_is_embedded_where_it_would_not_count() -> None:
    assert answerer(RankPolicy(nameless=0)).asked("Where does Beatrice live?").texts == ["Where does Beatrice live?"]


class Listener:
    """Puts a pool in the order it came and keeps the query."""

    query: Query

    def __call__(
        self,
        query: Query,
        candidates: Sequence[Candidate],
        names: object,
        policy: object,
        count: int = 20,
        *,
        adjust: Callable[[Numbers], Numbers] | None = None,
        pool: object = None,
    ) -> Ranked:
        self.query, self._adjust = query, adjust
        size = len(candidates)
        return Ranked(range(size), np.zeros(size), np.zeros((size, 20)), np.ones(20))

    def adjusted(self, newest_first: Sequence[float]) -> Sequence[float]:
        """What these scores of the candidates become."""
        assert self._adjust is not None
        return list(self._adjust(np.array(newest_first)))


@pytest.mark.parametrize(
    ("text", "parts", "matter", "sentences"),
    [
        ("Where does Beatrice live?", [REST], REST, [None]),
        ("Where does Beatrice live?", [], None, [None]),
        ("I moved to Paris last summer. Where did Beatrice find a hotel?", [WHOLE, REST], None, [WHOLE, REST]),
        ("I moved to Paris last summer. Where did Beatrice find a hotel?", [], None, [None, None]),
    ],
    ids=["matter", "matter, embedder down", "sentences", "sentences, embedder down"],
)
def test_the_ranking_hears_what_was_embedded(
    text: str, parts: Sequence[Vector], matter: Vector | None, sentences: Sequence[Vector | None]
) -> None:
    # Given what the searches found for a query, and one turn
    turn = Turn("a", "ns", ("pari",), WHOLE, "event", "Ana", "c", NOW, 1, False, True, None, None)
    heard = Listener()

    # When it is ranked / Then the query has the vector of its matter, or those of its sentences
    answerer().answer(
        asked(text), Turns({"a": turn}, [], frozenset()), Found(WHOLE, parts), {}, now=NOW, top_k=1, order=heard
    )
    assert heard.query.matter is matter
    assert [one.vector for one in heard.query.sentences] == list(sentences)


@pytest.mark.parametrize(
    ("text", "policy", "revised"),
    [
        ("Who owns staging?", RankPolicy(), True),
        ("Who owns staging?", RankPolicy(reported_change=0), False),
        ("Beatrice moved to Paris last summer. Who owns staging this summer?", RankPolicy(), False),
    ],
    ids=["one question", "switched off", "a turn of a talk"],
)
def test_what_changed_is_shown_first_to_who_asks_one_thing(text: str, policy: RankPolicy, revised: bool) -> None:
    # Given what was so, and what is now, which is a little less like the question
    def said(name: str, line: str, day: int) -> Turn:
        at = NOW.replace(day=day)
        return Turn(
            name, "ns", tuple(ANALYZER.lexemes(line)), WHOLE, "event", "Ana", "c", at, 1, False, True, None, None
        )

    turns = {"was": said("was", "Priya owns staging", 1), "is": said("is", "Jonas owns staging now", 2)}
    heard = Listener()

    # When it is asked
    alike = Ranker(ANALYZER, lambda vector, others: [1.0] * len(others), RecallPolicy(), policy)
    found = alike.answer(
        alike.asked(text), Turns(turns, [], frozenset()), Found(WHOLE), {}, now=NOW, top_k=1, order=heard
    )
    is_now, was = heard.adjusted(newest_first=[1.0, 2.0])

    # Then what is now comes first, but not in the middle of a talk or where that is switched off
    assert (is_now > was) == revised
    assert found.ordering.why("was").get("revised_by") == ("is" if revised else None)


def test_candidates_with_much_the_same_vector_are_paired() -> None:
    # Given three turns of which two are alike / When they are ranked / Then these two are named with their likeness
    vectors = {"a": WHOLE, "b": np.array([0.8, 0.6], dtype=np.float32), "c": -WHOLE, "d": None}
    turns = {
        key: Turn(key, "ns", (), vector, "event", "", "c", NOW, 1, False, True, None, None)
        for key, vector in vectors.items()
    }
    ranker = Ranker(ANALYZER, lambda one, rows: (rows @ one).tolist(), RecallPolicy(), RankPolicy())
    found, heard = Found(), Listener()
    answer = ranker.answer(
        asked("which turn?"), Turns(turns, [], frozenset()), found, {}, now=NOW, top_k=4, order=heard
    )
    alike = answer.alike(answer.vectors("abcd"))
    assert alike == {"a": {"b": pytest.approx(0.8)}, "b": {"a": pytest.approx(0.8)}}
    assert answer.alike(answer.vectors("a")) == {}


def answering(text: str, *speakers: str) -> Mapping[str, float]:
    """The odds of two turns, a without and b with a vector, by a form that gives the first part of query and turn."""
    vectors = {"a": None, "b": WHOLE}
    turns = {
        key: Turn(key, "ns", (), vector, "event", speaker, "c", NOW, 1, False, True, None, None)
        for (key, vector), speaker in zip(vectors.items(), speakers, strict=True)
    }
    fitted = Fitted(
        query_map=lambda queries: -queries, answer_odds=lambda query, mapped, rows: rows @ query - 0.5 * (rows @ mapped)
    )
    ranker = Ranker(ANALYZER, no_likeness, RecallPolicy(), RankPolicy(), fitted)
    parsed, found = ranker.asked(text), Found()
    found.embedded(np.stack([REST, *[REST, WHOLE][: len(parsed.texts) - 1]]), fitted.query_map)
    everything = Turns(turns, [], frozenset())
    answer = ranker.answer(parsed, everything, found, {}, now=NOW, top_k=4, order=Listener())
    return answer.answering(answer.vectors("ab"))


def test_the_odds_of_an_answer_are_those_of_the_plain_query_or_its_sentence_that_asks() -> None:
    # Given a query of one sentence, and one whose second sentence asks for what the turn has
    assert answering("Where is the flat?", "", "") == {"b": 0.0}
    assert answering("Beatrice moved to Paris last summer. Where did Harriet find a hotel?", "", "") == {"b": 1.5}


@pytest.mark.parametrize(
    ("text", "speakers"), [("Where is the flat?", ("Ana", "Ben")), ("The flat is in Leith.", ("", ""))]
)
def test_where_several_people_speak_or_nothing_is_asked_no_line_has_odds_of_an_answer(
    text: str, speakers: tuple[str, str]
) -> None:
    assert answering(text, *speakers) == {}
