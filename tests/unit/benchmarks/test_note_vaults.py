"""Vaults of the benchmark of notes."""

import json
from pathlib import Path

from benchmarks._vaults import read_folder, read_questions

REPOSITORY = Path(__file__).parents[3]


def test_a_folder_is_cut_at_its_headings_and_questions_name_files_by_their_beginning(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "01-tea.md").write_text("# Tea\n\nGreen.\n\n## Water\n\nEighty degrees.\n", encoding="utf-8")
    (folder / "02-rice.md").write_text("# Rice\n\nRinse it.\n", encoding="utf-8")
    questions = tmp_path / "kitchen.txt"
    questions.write_text("# a comment\n01 How hot?\n02 要洗吗？\n", encoding="utf-8")
    vault = read_folder(questions, folder)
    assert [(one.id, one.line) for one in vault.sections] == [
        ("01-tea.md#0", 1),
        ("01-tea.md#1", 5),
        ("02-rice.md#0", 1),
    ]
    assert [(one.text, one.notes) for one in vault.questions] == [
        ("How hot?", ("01-tea.md",)),
        ("要洗吗？", ("02-rice.md",)),
    ]


def test_notes_of_subfolders_may_answer_together_and_tell_their_language(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "三月").mkdir(parents=True)
    (folder / "三月" / "01.md").write_text("# 周五\n\n上午修水泵，下午去镇上买菜。\n", encoding="utf-8")
    (folder / "三月" / "02.md").write_text("# 周六\n\n水泵又坏了，只好等师傅来。\n", encoding="utf-8")
    questions = tmp_path / "diary.txt"
    questions.write_text("三月/01,三月/02 水泵什么时候坏的？\n", encoding="utf-8")
    vault = read_folder(questions, folder)
    assert vault.lang == "zh"
    assert [one.notes for one in vault.questions] == [("三月/01.md", "三月/02.md")]


def test_foreign_questions_come_from_vaults_or_from_lines(tmp_path: Path) -> None:
    lines, vaults = tmp_path / "kitchen.txt", tmp_path / "kitchen.jsonl"
    lines.write_text("# a comment\n01 How hot?\n02 要洗吗？\n", encoding="utf-8")
    note = {"note_id": "a", "path": "a", "markdown": "# Tea\n\nGreen.\n"}
    asked = [{"question": f"Which tea, {number}?", "evidence": ["a"]} for number in range(3)]
    vaults.write_text(json.dumps({"id": "v", "notes": [note], "questions": asked}), encoding="utf-8")
    assert read_questions(lines, 5) == ["How hot?", "要洗吗？"]
    assert read_questions(lines, 1) == ["How hot?"]
    assert read_questions(vaults, 2) == ["Which tea, 0?", "Which tea, 1?"]


def test_each_question_about_the_decisions_has_one_answer() -> None:
    vault = read_folder(REPOSITORY / "benchmarks/collections/decisions.txt", REPOSITORY / "docs/adr")
    assert len(vault.questions) > 60
    assert {len(one.notes) for one in vault.questions} == {1}
