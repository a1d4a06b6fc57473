"""The benchmarks end to end on the embedded servers, with data small enough to know the answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import latency, retrieval
from benchmarks._baselines import Bm25

_TURNS = [
    ("Ana", "I started to learn the violin in March"),
    ("Ben", "My sister moved to Lisbon last week"),
    ("Ana", "我对花生过敏，吃了会起疹子"),
    ("Ben", "The meeting about the budget is on Friday"),
    ("Ana", "Our dog Rex broke his leg"),
    ("Ben", "我周末去北京看了一场话剧"),
]
_QUESTIONS: list[dict[str, Any]] = [
    {"question": "Who learned the violin?", "evidence": ["t0"], "category": "music"},
    {"question": "花生过敏", "evidence": ["t2"], "category": "health"},
    {"question": "Rex broke his leg", "evidence": ["t4"], "before_turn": 4, "category": "health"},
    {"question": "nothing is known", "evidence": []},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "tiny_en.dev.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for number in range(2):
            turns = [
                {
                    "turn_id": f"t{position}",
                    "session": f"s{position // 3}",
                    "timestamp": None if number else "2024-03-01T09:00:00",
                    "speaker": speaker,
                    "text": f"{text} ({number})",
                }
                for position, (speaker, text) in enumerate(_TURNS)
            ]
            conversation = {"id": f"c{number}", "lang": "en", "turns": turns, "questions": _QUESTIONS}
            lines.write(json.dumps(conversation, ensure_ascii=False) + "\n")
    return file


@pytest.mark.long
def test_all_systems_answer_the_same_questions(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"

    code = retrieval.main(["--data", str(data), "--json", str(out), "--embedder", "synthetic"])

    assert code == 0
    report = json.loads(out.read_text())
    overall = {row["system"]: row for row in report["rows"] if row["category"] is None}
    assert list(overall) == ["bm25", "dense", "hybrid", "biem"]
    for row in overall.values():
        # Two of three questions a conversation can be answered: the third one's turn comes after the question.
        assert row["n"] == 6
        assert row["R@5"] == pytest.approx(2 / 3), row
        assert row["MRR"] <= 2 / 3
        assert row["p50_ms"] <= row["p95_ms"]
    assert {row["category"] for row in report["rows"]} == {None, "music", "health"}
    assert str(tmp_path) not in out.read_text()
    shown = capsys.readouterr()
    assert "tiny_en.dev" in shown.out
    assert "2 questions without evidence are left out" in shown.err


@pytest.mark.long
def test_latency_measures_writes_and_searches_and_those_of_the_bare_servers(tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    code = latency.main(
        ["--size", "300", "--queries", "6", "--acks", "15", "--fsync-baseline", "--json", str(out)],
    )

    assert code == 0
    report = json.loads(out.read_text())
    rows = {row["system"]: row for row in report["rows"]}
    assert rows["ack"]["n"] == 15
    assert rows["ack-after-search"]["n"] == 6
    assert rows["postgres-3-statements"]["n"] == rows["disk"]["n"] == 15
    assert rows["postgres-after-search"]["n"] == 6
    assert rows["recall"]["n"] == rows["milvus-hybrid"]["n"] == rows["milvus-two-searches"]["n"] == 6
    assert {"biem.recall.search", "biem.recall.live", "biem.recall.rank", "biem.recall.read"} <= rows.keys()
    assert report["ratios"]["recall/milvus-hybrid p50"] > 0
    assert report["filling_s"] > 0
    assert report["degraded"] == 0
    assert report["overlap"] > 0.5, "recall and the bare search must look at the same collection"


def test_an_interrupted_run_reports_what_it_measured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    ask = Bm25.ask

    def interrupted(self: Any, conversation: Any, question: Any) -> list[str]:
        nonlocal asked
        asked += 1
        if asked == 4:
            raise KeyboardInterrupt
        return ask(self, conversation, question)

    monkeypatch.setattr(Bm25, "ask", interrupted)
    out = tmp_path / "out.json"

    code = retrieval.main(["--data", str(data), "--json", str(out), "--systems", "bm25"])

    assert code == 130
    report = json.loads(out.read_text())
    assert report["interrupted"] is True
    assert report["rows"][0]["n"] == 2


def test_the_command_line_refuses_what_it_cannot_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{broken", encoding="utf-8")
    for arguments, code, message in (
        (["--data", str(broken), "--systems", "bm25"], 2, "line 1: this is not JSON"),
        (["--data", str(broken), "--systems", "bm25,nobody"], 2, "nobody: there are only"),
        (["--data", str(broken), "--limit-questions", "0"], 2, "not a positive number"),
    ):
        try:
            ended = retrieval.main(arguments)
        except SystemExit as refused:
            ended = int(refused.code or 0)
        assert ended == code
        assert message in capsys.readouterr().err
