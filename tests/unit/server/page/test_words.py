"""The dictionaries of the page."""

import json
import re
from pathlib import Path

import pytest

from biem.domain import conflict
from biem.server import page

FILES = Path(page.__file__).parent / "files"
WORDS = {name: json.loads((FILES / "words" / f"{name}.json").read_text("utf-8")) for name in ("en", "zh")}


def test_both_languages_have_the_same_texts_with_the_same_values() -> None:
    assert list(WORDS["en"]) == list(WORDS["zh"])
    for name, text in WORDS["en"].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", WORDS["zh"][name])), name


def test_every_attribute_that_can_be_in_dispute_has_a_word() -> None:
    for english, chinese in conflict._ATTRIBUTES:
        assert WORDS["en"][f"attribute_{english}"] == english
        assert WORDS["zh"][f"attribute_{english}"] == chinese


@pytest.mark.parametrize("script", sorted(FILES.rglob("*.js")), ids=lambda path: path.name)
def test_no_text_that_a_script_names_is_missing(script: Path) -> None:
    if "vendor" not in script.parts:
        named = re.findall(r"(?<![\w.])t\(\"(\w+)\"", script.read_text("utf-8"))
        assert [name for name in named if name not in WORDS["en"]] == []
