"""The metrics, the data reader and the parts of the benchmarks that need no server."""

import gzip
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks._baselines import Bm25, Dense
from benchmarks._data import data_name, read_conversations
from benchmarks._embedders import PassageCache, SyntheticEmbedder
from benchmarks._report import command
from benchmarks._synthetic import Texts
from benchmarks.metrics import Score, mean, ndcg_at, new_gold, percentiles, recall_at, reciprocal_rank, score
from biem.errors import InvalidInput
from biem.ports import Role, Vectors

A, B, C = frozenset("a"), frozenset("b"), frozenset("c")


def _conversation(**changes: Any) -> dict[str, Any]:
    turns = [
        {"turn_id": "t1", "session": "s1", "timestamp": "2024-05-01T10:00:00", "speaker": "Ana", "text": "I love tea"},
        {"turn_id": "t2", "session": "s1", "timestamp": "2024-05-01T10:00:00", "speaker": "Ben", "text": "我喜欢花生"},
        {
            "turn_id": "t3",
            "session": "s2",
            "timestamp": None,
            "speaker": "Ana",
            "text": "Look",
            "caption": "a red kite",
        },
    ]
    questions = [{"qid": "q1", "question": "Who loves tea?", "category": "x", "evidence": ["t1"]}]
    return {"id": "c1", "lang": "en", "turns": turns, "questions": questions} | changes


def _file(folder: Path, *lines: str) -> Path:
    file = folder / "tiny.dev.jsonl"
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return file


def test_recall_is_the_share_of_gold_within_the_first_results() -> None:
    gains = new_gold(["x", "a", "y", "b", "z"], [A, B, C])
    assert gains == [0, 1, 0, 1, 0]
    assert recall_at(2, gains, 3) == pytest.approx(1 / 3)
    assert recall_at(5, gains, 3) == pytest.approx(2 / 3)


def test_ndcg_and_mrr_equal_values_computed_by_hand() -> None:
    gains = [0, 1, 0, 1, 0]
    by_hand = (1 / math.log2(3) + 1 / math.log2(5)) / (1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4))
    assert ndcg_at(10, gains, 3) == pytest.approx(by_hand)
    assert ndcg_at(10, [1, 1, 1], 3) == pytest.approx(1.0)
    assert reciprocal_rank(gains) == pytest.approx(0.5)


def test_the_ideal_ranking_has_no_more_places_than_are_judged() -> None:
    assert ndcg_at(2, [1, 1], 5) == pytest.approx(1.0)


def test_any_member_finds_its_group_and_only_the_first_one_counts() -> None:
    groups = [frozenset({"a", "a2"}), B]
    gains = new_gold(["a2", "a", "b"], groups)
    assert gains == [1, 0, 1]
    assert recall_at(5, gains, 2) == 1.0
    assert ndcg_at(10, gains, 2) == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))


def test_a_turn_in_two_groups_finds_both_without_exceeding_one() -> None:
    gains = new_gold(["a"], [A, frozenset({"a", "b"})])
    assert gains == [2]
    assert recall_at(1, gains, 2) == 1.0
    assert ndcg_at(10, gains, 2) == 1.0


def test_a_repeated_result_keeps_its_best_rank_and_takes_no_second_place() -> None:
    session_of = {"x": "s1", "a": "s2"}
    repeated = score(["x", "x", "x", "x", "x", "a"], [A], session_of, {"s2"})
    assert repeated == score(["x", "a"], [A], session_of, {"s2"})
    assert repeated.mrr == 0.5
    assert repeated.session_any_5 == 1.0


def test_results_beyond_the_twentieth_are_not_judged() -> None:
    ranked = [f"x{i}" for i in range(20)] + ["a"]
    assert score(ranked, [A], {"a": "s"}, {"s"}) == Score(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_nothing_found_nothing_asked_and_nothing_timed_are_zero() -> None:
    assert score([], [A], {}, {"s"}) == Score(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert recall_at(5, [], 0) == 0.0
    assert ndcg_at(5, [], 0) == 0.0
    assert mean([]).recall_5 == 0.0
    assert percentiles([], 50, 95) == {}


def test_averages_and_percentiles() -> None:
    both = mean([Score(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), Score(0.0, 0.5, 1.0, 0.0, 0.25, 0.0)])
    assert both == Score(0.5, 0.75, 1.0, 0.5, 0.625, 0.5)
    assert percentiles([1.0, 2.0, 3.0, 4.0], 50, 100) == {"p50_ms": 2.5, "p100_ms": 4.0}


def test_times_strictly_increase_and_captions_belong_to_the_text(tmp_path: Path) -> None:
    (conversation,) = read_conversations(_file(tmp_path, json.dumps(_conversation())))
    times = [turn.at for turn in conversation.turns]
    assert times == [datetime(2024, 5, 1, 10, 0, second, tzinfo=UTC) for second in (0, 1, 2)]
    assert conversation.turns[2].indexed_text == "Ana: Look\na red kite"


def test_questions_without_evidence_are_counted_and_unknown_gold_stays_gold(tmp_path: Path) -> None:
    questions = [
        {"question": "nothing", "category": None, "evidence": []},
        {"question": "missing key"},
        {"question": "half", "evidence": ["t2", "gone", "t2"], "before_turn": 2},
    ]
    (conversation,) = read_conversations(_file(tmp_path, json.dumps(_conversation(questions=questions))))
    (question,) = conversation.questions
    assert (conversation.without_evidence, conversation.unresolved) == (2, 1)
    assert question.groups == (frozenset({"t2"}), frozenset({"gone"}))
    assert question.sessions == {"s1"}
    assert question.before == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", "line 2: this is not JSON"),
        ("[1, 2]", "line 2: this is not a conversation"),
        (json.dumps({"id": "c", "questions": []}), "line 2: the key 'turns' is missing"),
        (json.dumps(_conversation(turns=[{"turn_id": "t", "text": "x"}])), "line 2: the key 'session' is missing"),
        (json.dumps(_conversation(turns=_conversation()["turns"] * 2)), "two turns have the same turn_id"),
    ],
)
def test_a_broken_line_is_named_with_its_file(tmp_path: Path, line: str, message: str) -> None:
    file = _file(tmp_path, json.dumps(_conversation()), line)
    with pytest.raises(InvalidInput, match=message) as caught:
        list(read_conversations(file))
    assert str(file) in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(_conversation()).encode() * 50)[:-30])
    no_gzip = tmp_path / "plain.jsonl.gz"
    no_gzip.write_text("{}")
    for file in (cut, no_gzip, tmp_path / "absent.jsonl"):
        with pytest.raises(InvalidInput, match="cannot be read"):
            list(read_conversations(file))
    with pytest.raises(InvalidInput, match="holds no conversation"):
        list(read_conversations(_file(tmp_path, "", "  ")))


def test_limits_stop_before_later_lines_are_parsed(tmp_path: Path) -> None:
    file = _file(tmp_path, json.dumps(_conversation()), "{broken")
    assert [one.id for one in read_conversations(file, limit=1)] == ["c1"]


def test_bm25_finds_stemmed_english_and_chinese_pairs(tmp_path: Path) -> None:
    (conversation,) = read_conversations(_file(tmp_path, json.dumps(_conversation())))
    system = Bm25()
    system.load(conversation)
    assert system.ask(conversation, conversation.questions[0]) == ["t1"]
    assert system.tokens("The runners were running: 我喜欢花生!") == ["runner", "run", "我喜", "喜欢", "欢花", "花生"]


@pytest.mark.parametrize("before", [0, 1, 3])
def test_baselines_search_only_turns_before_the_question(tmp_path: Path, before: int) -> None:
    question = {"question": "Ana loves 花生 and a red kite", "evidence": ["t1"], "before_turn": before}
    (conversation,) = read_conversations(_file(tmp_path, json.dumps(_conversation(questions=[question]))))
    for system in (Bm25(), Dense(SyntheticEmbedder())):
        system.load(conversation)
        found = system.ask(conversation, conversation.questions[0])
        assert set(found) <= {f"t{i + 1}" for i in range(before)}
        assert len(found) == before


def test_synthetic_vectors_are_unit_repeatable_and_near_for_shared_words() -> None:
    texts = ["kalobora venzita morel", "morel venzita gamabe", "pelsora dinoka tarim", "", "\0\ud800"]
    vectors = SyntheticEmbedder().embed(texts, "passage")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(SyntheticEmbedder().embed(texts[1:2], "query")[0], vectors[1])
    assert vectors[0] @ vectors[1] > 0.5 > 0.3 > vectors[0] @ vectors[2]
    assert SyntheticEmbedder().embed([], "query").shape == (0, 384)


def test_synthetic_texts_depend_on_the_seed_alone() -> None:
    assert [item["text"] for item in Texts(1).items(5)] == [item["text"] for item in Texts(1).items(5)]
    assert Texts(1).text() != Texts(2).text()


class _Counting(SyntheticEmbedder):
    asked = 0

    def embed(self, texts: Any, role: Role) -> Vectors:
        self.asked += len(texts)
        return super().embed(texts, role)


def test_passages_are_embedded_once_and_kept_for_the_next_run(tmp_path: Path) -> None:
    first = _Counting()
    cache = PassageCache(first, tmp_path)
    cold = cache.embed(["one", "two", "one"], "passage")
    cache.embed(["one"], "passage")
    cache.embed(["one"], "query")
    cache.close()
    assert first.asked == 3

    second = _Counting()
    warm = PassageCache(second, tmp_path).embed(["two", "one"], "passage")
    assert second.asked == 0
    assert np.array_equal(warm, cold[[1, 0]])


def test_reports_name_files_without_folders() -> None:
    assert data_name(Path("/some/where/tiny_en.dev.jsonl.gz")) == "tiny_en.dev"
    assert command("benchmarks.x", ["--data", "/some/where/a.gz"]) == "python -m benchmarks.x --data a.gz"
