"""No passage of evaluation data stands in the repository: what looks for it is tried on made data here."""

import gzip
import json
import string
from pathlib import Path

import pytest

from tests import licences
from tests.licences import Fingerprint, passages, repository, statements, texts, tokens
from tests.secret_scan import ROOT

LINE = "the old lighthouse keeper counts seven grey seals before breakfast"
ZEILE = "灯塔看守人每天清晨数一数礁石上的海豹"


def data(folder: Path, *said: str) -> Path:
    """A folder as that of the evaluation data, with one conversation."""
    folder.mkdir()
    talk = {"id": "made", "source": "a " * 40, "turns": [{"text": text} for text in said]}
    with gzip.open(folder / "made.jsonl.gz", "wt", encoding="utf-8") as out:
        out.write(json.dumps(talk, ensure_ascii=False) + "\n")
    return folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three four five six seven", []),
        ("one two three four five six seven eight", [0]),
        ("One, two - three: four\nfive (six) seven; eight 'nine'", [0, 1]),
        ("一二三四五六七八九十百", []),
        ("一二三，四五六。七八九十百千", [0]),
        ("灯塔看守 counts seven 海豹 twice daily", [0]),
    ],
)
def test_eight_words_or_twelve_characters_are_a_passage(text: str, expected: list[int]) -> None:
    assert [start for start, _ in passages(tokens(text))] == expected


def test_a_whole_sentence_that_is_shorter_counts_and_a_phrase_does_not() -> None:
    assert list(statements("I see. The keeper never counts grey seals! 你好。礁石上的海豹睡了")) == [
        "the keeper never counts grey seals",
        "礁 石 上 的 海 豹 睡 了",
    ]


@pytest.mark.parametrize(
    "copied",
    [
        LINE,
        f'("{LINE.upper()}", 3),',
        '"the old lighthouse keeper "\n    "counts seven grey seals"',
        '"counts seven\\ngrey seals before breakfast the\\tend old lighthouse keeper counts seven grey seals before"',
        ZEILE,
        json.dumps(ZEILE),
        "# 看守人每天清晨，数一数礁石",
    ],
)
def test_a_copy_is_found_with_anything_between_its_words(tmp_path: Path, copied: str) -> None:
    # Given data, and a file with a passage of it on its third line, in quotes, other letters, several lines or escapes
    every = Fingerprint()
    every.add("page.md", f"# Own\n\n{copied}\n")

    # When they are compared / Then file and line are named
    found = every.copies(texts(data(tmp_path / "data", LINE, ZEILE)))
    assert {(one.file, one.line) for one in found} >= {("page.md", 3)}


@pytest.mark.parametrize(
    "own", ["the old lighthouse keeper counts eight white gulls", "看守人每天傍晚数一数沙滩上的螃蟹", "a " * 40]
)
def test_what_only_resembles_it_is_none_nor_what_the_data_say_of_themselves(tmp_path: Path, own: str) -> None:
    every = Fingerprint()
    every.add("page.md", own)
    assert every.copies(texts(data(tmp_path / "data", LINE, ZEILE))) == []


@pytest.mark.long
def test_the_whole_repository_is_read(tmp_path: Path) -> None:
    # Given data that happen to say what a page, a test, a list of words and a dialogue of this repository say

    names = ["README.md", "tests/unit/adapters/analyzers/test_fields.py", "biem/cli/demo_dialogue.jsonl",
             "biem/adapters/analyzers/words/not_names_zh.txt"]  # fmt: skip
    said = [(ROOT / name).read_text(encoding="utf-8") for name in names]

    # When the repository is compared with them / Then each of them is found, in its own place
    assert {one.file for one in repository().copies(texts(data(tmp_path / "data", *said)))} >= set(names)


def test_the_program_names_what_it_found_and_refuses_a_folder_without_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a repository with a copy / When the program looks / Then it says where, and fails
    every = Fingerprint()
    every.add("page.md", LINE)
    monkeypatch.setattr(licences, "repository", lambda: every)
    with pytest.raises(SystemExit, match="sentences of your own"):
        licences.main([str(data(tmp_path / "data", LINE))])
    assert "page.md:1: stands in the evaluation data: the old lighthouse" in capsys.readouterr().err

    # And of one without it says so
    licences.main([str(data(tmp_path / "other", string.ascii_letters))])
    assert "no passage" in capsys.readouterr().out

    # And a folder without data is no clean bill
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match="name the folder"):
        licences.main([str(tmp_path / "empty")])
