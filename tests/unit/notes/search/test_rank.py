"""The formula of notes: what each part adds, and that every chunk of the pool has its own."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from biem.domain.policies.notes import NoteRankPolicy
from biem.notes.search.rank import (
    NoteQuestion,
    TagVectors,
    few_of_each,
    guided,
    ranked,
    rareness,
    scaled,
    tag_key,
    weighted,
)
from biem.ports import Vector
from biem.ports.notes.records import PoolChunk, TagInfo

WEIGHTS = (1.0, 0.8, 0.6, 0.4, 0.2)
POLICY = NoteRankPolicy().as_designed


def axis(number: int, *others: int) -> Vector:
    """A unit vector along these axes."""
    vector = np.zeros(4, dtype=np.float32)
    vector[[number, *others]] = 1.0
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def chunk(
    name: str,
    *,
    note: str = "",
    vector: Vector | None = None,
    tags: tuple[int, ...] = (),
    note_tags: tuple[int, ...] = (),
    at: datetime | None = None,
) -> PoolChunk:
    """A chunk whose tags are headings, and those of its note in its path."""
    counts, inherited = (0, len(tags), 0, 0, 0), (len(note_tags), 0, 0, 0, 0)
    return PoolChunk(name, note or name, "lib", "ns", 0, at, tags, counts, note_tags, inherited, b"", vector)


def tag(number: int, *, uses: int = 1, root: int | None = None, idle: bool = False) -> TagInfo:
    """A tag that may stand for another one."""
    stands = number if root is None else root
    return TagInfo(number, "ns", f"tag {number}", stands, f"tag {stands}", b"", idle, uses)


def known(*tags: TagInfo, vectors: dict[int, Vector] | None = None, size: int = 10) -> TagVectors:
    """What is known of tags; by default each has the axis of its number."""
    return TagVectors(
        {one.id: one for one in tags},
        {one.root: axis(one.root) for one in tags} if vectors is None else vectors,
        {"ns": size},
    )


@pytest.mark.req("G46")
def test_the_score_is_the_weighted_sum_of_scaled_parts() -> None:
    pool = [
        chunk("words", vector=axis(1), tags=(1,)),
        chunk("content", vector=axis(0), tags=(1,)),
        chunk("tags", vector=axis(1), tags=(0,)),
    ]
    question = NoteQuestion(axis(0), {"words": 8.0, "content": 2.0})
    order = ranked(pool, question, known(tag(0), tag(1)), WEIGHTS, POLICY)
    # BM25 is scaled from 0, so that no credit is given for none; the others from their minimum
    assert {one.chunk.id: round(one.score, 6) for one in order} == {
        "content": round(0.3 * 0.25 + 0.4, 6),
        "words": 0.3,
        "tags": 0.3,
    }
    assert [one.chunk.id for one in order] == ["content", "tags", "words"]
    # And other weights give another order
    by_words = ranked(pool, question, known(tag(0), tag(1)), WEIGHTS, NoteRankPolicy(alpha=0.8, beta=0.1, gamma=0.1))
    assert by_words[0].chunk.id == "words"


@pytest.mark.req("G46", partly="the weights sum to 1")
@pytest.mark.parametrize(("alpha", "beta", "gamma"), [(0.5, 0.4, 0.3), (-0.1, 0.8, 0.3)])
def test_weights_that_do_not_sum_to_one_are_refused(alpha: float, beta: float, gamma: float) -> None:
    with pytest.raises(ValueError, match="sum is 1"):
        NoteRankPolicy(alpha=alpha, beta=beta, gamma=gamma)


@pytest.mark.req("G31")
def test_a_tag_counts_more_than_a_text_that_only_speaks_of_the_subject() -> None:
    # Given a chunk about Newton that does not name him, tagged with his name, and a textbook that quotes him often
    pool = [chunk("autobiography", vector=axis(1), tags=(0,)), chunk("textbook", vector=axis(1, 0), tags=(2,))]
    order = ranked(pool, NoteQuestion(axis(0), {}), known(tag(0), tag(2)), WEIGHTS, NoteRankPolicy(0.2, 0.3, 0.5))
    assert order[0].chunk.id == "autobiography"


@pytest.mark.req("X48")
def test_every_chunk_of_a_large_pool_has_its_own_score_of_tags() -> None:
    pool = [chunk(f"{number:03}", vector=axis(1), tags=(number % 4,)) for number in range(100)]
    order = ranked(pool, NoteQuestion(axis(0), {}), known(*(tag(number) for number in range(4))), WEIGHTS, POLICY)
    assert sum(one.why["tags"] == pytest.approx(1.0) for one in order) == 25
    assert {one.chunk.id for one in order[:25]} == {f"{number:03}" for number in range(0, 100, 4)}


def test_a_tag_that_all_chunks_have_says_nothing_next_to_a_rare_one() -> None:
    both = chunk("both", vector=axis(1), tags=(0, 2))
    common = known(tag(0, uses=1), tag(2, uses=100), size=100)
    rare = known(tag(0, uses=100), tag(2, uses=1), size=100)
    [one] = ranked([both], NoteQuestion(axis(0), {}), common, WEIGHTS, POLICY)
    [other] = ranked([both], NoteQuestion(axis(0), {}), rare, WEIGHTS, POLICY)
    assert one.why["tags"] > 0.95
    assert other.why["tags"] < 0.3
    assert rareness(1, 100) == pytest.approx(1.0)
    assert rareness(100, 100) == pytest.approx(math.log(2) / math.log(101))


@pytest.mark.req("G43", "C35")
def test_a_renamed_tag_counts_as_the_one_it_stands_for() -> None:
    pool = [chunk("renamed", vector=axis(1), tags=(3,)), chunk("other", vector=axis(1), tags=(2,))]
    tags = known(tag(3, root=0), tag(2), vectors={0: axis(0), 2: axis(2)})
    order = ranked(pool, NoteQuestion(axis(0), {}), tags, WEIGHTS, POLICY)
    assert order[0].chunk.id == "renamed"
    assert order[0].why["tags"] == pytest.approx(1.0)


def test_idle_tags_and_tags_without_a_vector_are_left_out() -> None:
    tags = known(tag(0, idle=True), tag(1), vectors={0: axis(0)})
    [one] = ranked([chunk("a", tags=(0, 1))], NoteQuestion(axis(0), {}), tags, WEIGHTS, POLICY)
    assert one.why["tags"] == 0.0


def test_the_tags_of_a_chunk_are_computed_once_and_are_complete_when_each_has_a_vector() -> None:
    tags = known(tag(0), tag(1), vectors={0: axis(0)})
    one, other = chunk("a", tags=(0,)), chunk("b", tags=(0, 1))
    assert tags.of(one, WEIGHTS).complete
    assert not tags.of(other, WEIGHTS).complete
    assert set(tags.of(other, WEIGHTS).roots) == {0, 1}
    assert tags.of(chunk("same tags", tags=(0,)), WEIGHTS) is tags.of(one, WEIGHTS)
    # Those that are known are not computed again
    met = TagVectors({}, {}, {}, {tag_key(one): tags.of(one, WEIGHTS)})
    assert met.of(one, WEIGHTS) is tags.of(one, WEIGHTS)


def test_without_a_vector_of_the_query_words_decide_alone() -> None:
    pool = [chunk("a", vector=axis(0), tags=(0,)), chunk("b", vector=axis(0), tags=(0,))]
    order = ranked(pool, NoteQuestion(None, {"b": 1.0}), known(tag(0)), WEIGHTS, POLICY)
    assert [(one.chunk.id, one.score) for one in order] == [("b", pytest.approx(0.3)), ("a", 0.0)]


def test_a_chunk_that_is_not_embedded_yet_is_ranked_by_its_words() -> None:
    pool = [chunk("new"), chunk("near", vector=axis(0)), chunk("far", vector=axis(1)), chunk("silent")]
    order = ranked(pool, NoteQuestion(axis(0), {"new": 9.0}), known(), WEIGHTS, NoteRankPolicy())
    assert [one.chunk.id for one in order[:2]] == ["new", "near"]
    assert order[-1].chunk.id in ("far", "silent")


def test_a_time_that_the_query_names_and_guides_raise_a_score() -> None:
    day, policy = datetime(2025, 5, 4, tzinfo=UTC), NoteRankPolicy(when=0.5, guided=0.5)
    pool = [
        chunk("then", vector=axis(0), at=day),
        chunk("tagged", vector=axis(0), tags=(1,)),
        chunk("plain", vector=axis(0)),
        chunk("far", vector=axis(1)),
    ]
    window = (datetime(2025, 5, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
    found = ranked(pool, NoteQuestion(axis(0), {}, [window]), known(tag(1)), WEIGHTS, policy)
    order = {one.chunk.id: one for one in guided(found, {1}, policy)}
    assert order["then"].why["when"] == 1.0
    assert order["tagged"].why["guided"] == 1.0
    assert min(order["then"].score, order["tagged"].score) > order["plain"].score > order["far"].score


def test_the_tags_of_note_and_chunk_have_the_weights_of_their_sources() -> None:
    mixed = PoolChunk("a", "a", "l", "ns", 0, None, (5, 6, 7), (0, 1, 0, 1, 1), (1, 2), (2, 0, 0, 0, 0), b"")
    assert list(weighted(mixed, WEIGHTS)) == [(1, 1.0), (2, 1.0), (5, 0.8), (6, 0.4), (7, 0.2)]


def test_of_one_note_only_a_few_are_taken() -> None:
    pool = [chunk(str(number), note="long" if number < 5 else "short", vector=axis(0)) for number in range(7)]
    order = ranked(pool, NoteQuestion(axis(0), {}), known(), WEIGHTS, POLICY)
    assert [one.chunk.note_id for one in few_of_each(order, 3, 10)] == ["long"] * 3 + ["short"] * 2 + ["long"] * 2
    assert [one.chunk.note_id for one in few_of_each(order[:5], 3, 10)] == ["long"] * 3
    assert len(few_of_each(order, 3, 2)) == 2


def test_of_many_hits_all_but_two_may_be_of_one_note() -> None:
    # Given a note whose twelve chunks are better than those of all others
    pool = [
        chunk(f"{number:02}", note="long" if number < 12 else str(number), vector=axis(0) if number < 12 else axis(1))
        for number in range(30)
    ]
    order = ranked(pool, NoteQuestion(axis(0), {}), known(), WEIGHTS, POLICY)
    # When twenty are taken / Then it has three of the first five, six of eight, and all when two others were given
    kept = [one.chunk for one in few_of_each(order, 3, 20)]
    assert [sum(each.note_id == "long" for each in kept[:first]) for first in (5, 8, 20)] == [3, 6, 12]
    assert [each.id for each in kept if each.note_id == "long"] == [f"{number:02}" for number in range(12)]


def test_equal_values_are_scaled_to_nothing() -> None:
    assert scaled(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert scaled(np.array([1.0, 3.0])).tolist() == [0.0, 1.0]
    assert scaled(np.array([0.80, 0.81]), noise=0.05).tolist() == pytest.approx([0.0, 0.2])
    assert scaled(np.array([1.0, 4.0]), least=0.0).tolist() == [0.25, 1.0]


def test_of_equal_chunks_that_of_the_note_with_more_chunks_found_by_words_comes_first() -> None:
    pool = [chunk("a"), chunk("b", note="note"), chunk("c", note="note")]
    question = NoteQuestion(None, {"a": 4.0, "b": 4.0, "c": 2.0})
    order = ranked(pool, question, known(), WEIGHTS, NoteRankPolicy())
    assert [one.chunk.id for one in order] == ["b", "a", "c"]
    assert {one.chunk.id: one.why["together"] for one in order} == {"a": 4.0, "b": 5.0, "c": 5.0}
    assert [one.chunk.id for one in ranked(pool, question, known(), WEIGHTS, POLICY)] == ["a", "b", "c"]


def test_of_equal_chunks_that_of_the_note_with_more_chunks_of_near_content_comes_first() -> None:
    pool = [
        chunk("a", vector=axis(0)),
        chunk("b", note="note", vector=axis(0)),
        chunk("c", note="note", vector=axis(0, 1)),
    ]
    pool += [chunk("far", vector=axis(2)), chunk("pending", note="note")]
    question = NoteQuestion(axis(0), {})
    order = ranked(pool, question, known(), WEIGHTS, NoteRankPolicy())
    assert [one.chunk.id for one in order][:2] == ["b", "a"]
    nearest = {one.chunk.id: one.why["near_note"] for one in order}
    assert nearest["b"] == nearest["c"] == pytest.approx(math.sqrt(0.5) / 2)
    assert nearest["a"] == nearest["far"] == 0.0
    assert [one.chunk.id for one in ranked(pool, question, known(), WEIGHTS, POLICY)][:2] == ["a", "b"]
    # And without the embedder it says nothing
    unknown = ranked(pool, NoteQuestion(None, {}), known(), WEIGHTS, NoteRankPolicy())
    assert {one.why["near_note"] for one in unknown} == {0.0}


def test_of_equal_chunks_the_one_whose_tags_the_query_names_comes_first() -> None:
    # Given homonyms in two folders, 1 and 2, under a third folder, and a tag that no chunk has
    pool = [chunk("a", note_tags=(1, 3)), chunk("b", note_tags=(2, 3))]
    tags = known(tag(1), tag(2), tag(3, uses=2), tag(0), size=100)
    order = ranked(pool, NoteQuestion(None, {}, named=frozenset({2, 3, 0})), tags, WEIGHTS, NoteRankPolicy())
    assert [one.chunk.id for one in order] == ["b", "a"]
    assert order[0].why["named"] == pytest.approx(1.0)
    assert 0 < order[1].why["named"] < 0.5
    # And a tag of a heavier source counts more: a folder is about its name, a text has many keywords
    keyword = replace(chunk("a"), tag_ids=(2,), tag_counts=(0, 0, 0, 0, 1))
    sources = ranked([keyword, pool[1]], NoteQuestion(None, {}, named=frozenset({2})), tags, WEIGHTS, NoteRankPolicy())
    assert [one.why["named"] for one in sources] == pytest.approx([1.0, 0.2])


def test_of_equal_chunks_the_one_with_more_of_the_rare_words_comes_first() -> None:
    # Given three chunks with the same BM25, and two terms, of which all have the first and one the second
    pool = [chunk("a"), chunk("b"), chunk("c")]
    pool = [replace(each, asked=(0, 1) if each.id == "b" else (0,)) for each in pool]
    question = NoteQuestion(None, dict.fromkeys("abc", 4.0))
    order = ranked(pool, question, known(), WEIGHTS, NoteRankPolicy())
    assert order[0].chunk.id == "b"
    covered = {one.chunk.id: one.why["covered"] for one in order}
    assert covered["b"] == pytest.approx(1.0)
    assert covered["a"] == covered["c"] < 0.5
    assert [one.chunk.id for one in ranked(pool, question, known(), WEIGHTS, POLICY)] == ["a", "b", "c"]


def test_words_of_a_query_that_no_chunk_has_count_among_its_words() -> None:
    # Given one chunk with one of a query's four words, and a nearer one without any
    pool = [replace(chunk("everyday", vector=axis(0, 1)), asked=(2,)), chunk("near", vector=axis(0)), chunk("c")]
    words = {"everyday": 2.0}
    tags, policy = known(), NoteRankPolicy()
    both = [ranked(pool, NoteQuestion(axis(0), words, own_terms=own), tags, WEIGHTS, policy) for own in (0, 4)]
    shares = [{one.chunk.id: one.why["covered"] for one in order}["everyday"] for order in both]
    assert shares[0] == pytest.approx(1.0)
    assert 0 < shares[1] < 0.25
    # But a term that stands for one of them fills its place, as a translation does
    pool[2] = replace(pool[2], asked=(4,))
    order = ranked(pool, NoteQuestion(axis(0), words, own_terms=4), tags, WEIGHTS, policy)
    assert shares[1] < {one.chunk.id: one.why["covered"] for one in order}["everyday"] < 0.5


def test_all_parts_together_are_at_most_one() -> None:
    window = (datetime(2025, 5, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
    best = replace(chunk("a", vector=axis(0), note_tags=(0,), at=window[0]), asked=(0,))
    question = NoteQuestion(axis(0), {"a": 5.0}, [window], frozenset({0}))
    policy = NoteRankPolicy(guided=0.2)
    others = [chunk("b", vector=axis(1), tags=(1,)), *(chunk(name, note="a", vector=axis(0)) for name in ("c", "d"))]
    found = ranked([best, *others], question, known(tag(0), tag(1)), WEIGHTS, policy)
    [first, *_] = guided(found, {0}, policy)
    assert first.score == pytest.approx(1.0)


def test_a_question_of_a_time_only_is_answered_by_what_is_of_that_time_and_not_by_what_looks_like_it() -> None:
    day = datetime(2026, 3, 14, tzinfo=UTC)
    pool = [
        chunk("of the day", vector=axis(1), at=day),
        chunk("alike", vector=axis(0)),
        chunk("far", vector=axis(1, 2)),
    ]
    times = [(day, day.replace(day=15))]
    words = {"of the day": 3.0, "alike": 3.0}
    question = NoteQuestion(axis(0), words, times, times_only=True)
    assert ranked(pool, question, known(), WEIGHTS, NoteRankPolicy())[0].chunk.id == "of the day"
    # Where it says something else, too, and where nothing is of that time, content counts
    for other in (
        replace(question, times_only=False),
        replace(question, times=[(day.replace(day=15), day.replace(day=16))]),
    ):
        found = ranked(pool, other, known(), WEIGHTS, NoteRankPolicy(when=0.1))
        assert found[0].chunk.id == "alike"
