"""Docstrings have codes of requirements only in `Source:` lines of copied formulas; tests have them in markers."""

import re
from pathlib import Path

import biem
from tests.house.test_prose import prose

ROOT = Path(biem.__file__).parent
KNOWN = frozenset(
    re.findall(
        r"^\| ([A-Z]\d+) \|",
        (ROOT.parent / "docs" / "requirements.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


def codes_in(source: str) -> list[str]:
    """Codes of requirements in docstrings and comments, outside of `Source:` lines."""
    lines = [line for text in prose(source) for line in text.splitlines() if "Source:" not in line]
    return [code for line in lines for code in re.findall(r"(?<![\w.-])[A-Z]\d{1,3}\b", line) if code in KNOWN]


def test_docstrings_and_comments_have_no_codes_of_requirements() -> None:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        if codes := codes_in(path.read_text(encoding="utf-8")):
            found[str(path.relative_to(ROOT))] = codes
    assert found == {}


def test_the_check_finds_a_code_and_accepts_a_source() -> None:
    assert codes_in('"""Energy (B33), in [0, 1].\n\nSource: BIEM B34.\n"""\n') == ["B33"]
