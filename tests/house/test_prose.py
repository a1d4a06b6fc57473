"""Comments and docstrings use the field's terms and common words."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from tests.house.statements import statements

ROOT = Path(biem.__file__).parent
PER_THOUSAND = 2.0
PRIVATE = re.compile(
    r"\b(?:whoever|whomever|whosoever|nobody|somebody|everybody|whatever|whichever|beside|at hand|so many|is told"
    r"|are told|was told|were told|told by|at its night|of its own|of their own|by itself|by themselves|what is"
    r"|what was|who waits|anew)\b",
    re.IGNORECASE,
)
"""Words that stood in this code's own dialect where a plainer one exists."""


FOLDERS = [*sorted(path for path in ROOT.iterdir() if any(path.glob("*.py"))), ROOT.parent / "benchmarks"]


STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|'{3}(?:\\.|[^\\])*?'{3}|'(?:\\.|[^'\\\n])*'|(#[^\n]*)''', re.DOTALL
)
"""The group is a comment. `tokenize` finds the same in this tree and takes ten times as long."""


def prose(source: str) -> Iterator[str]:
    """Docstrings, strings that document an attribute, and comments."""
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    yield from filter(None, STRING_OR_COMMENT.findall(source))


def measured(paths: list[Path], words_of: re.Pattern[str] = PRIVATE) -> tuple[float, Counter[str]]:
    """Private words in a thousand, and how often each file has one."""
    words, found = 0, Counter[str]()
    for path in paths:
        for text in prose(path.read_text(encoding="utf-8")):
            words += len(text.split())
            found[str(path.relative_to(ROOT.parent))] += len(words_of.findall(text))
    return 1_000 * sum(found.values()) / max(words, 1), found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_comments_and_docstrings_use_common_words(folder: Path) -> None:
    rate, found = measured(sorted(folder.rglob("*.py")))
    assert rate <= PER_THOUSAND, f"{rate:.1f} in a thousand words; most in {found.most_common(8)}"


NO_SUBJECT = re.compile(PRIVATE.pattern.replace("|what is", "").replace("|what was", ""), re.IGNORECASE)
"""In tests "what is archived" names the subject of a step, where code could name the object itself."""


@pytest.mark.parametrize(
    "folder",
    sorted(path for path in (ROOT.parent / "tests").iterdir() if any(path.rglob("*.py"))),
    ids=lambda folder: folder.name,
)
def test_comments_and_docstrings_of_tests_use_common_words(folder: Path) -> None:
    paths = [path for path in sorted(folder.rglob("*.py")) if path.resolve() != Path(__file__).resolve()]
    rate, found = measured(paths, NO_SUBJECT)
    assert rate <= PER_THOUSAND, f"{rate:.1f} in a thousand words; most in {found.most_common(8)}"


PAGES = sorted(
    {*ROOT.parent.glob("*.md"), *(ROOT.parent / "docs").rglob("*.md")}
    - {ROOT.parent / "CHANGELOG.md", ROOT.parent / "docs" / "requirements.md"}
)
"""What people read: not the history, and not the page that tests write."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT.parent)))
def test_a_page_uses_common_words(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = PRIVATE.findall(text)
    assert len(found) <= max(1, PER_THOUSAND * len(text.split()) / 1_000), found


def test_names_of_tests_use_common_words() -> None:
    names = [
        node.name.replace("_", " ")
        for path in sorted((ROOT.parent / "tests").rglob("*.py"))
        for node in statements(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    found = [name for name in names if NO_SUBJECT.search(name)]
    assert len(names) > 3_000
    assert len(found) <= PER_THOUSAND * sum(len(name.split()) for name in names) / 1_000, found


def test_the_measure_sees_private_words_in_docstrings_and_comments() -> None:
    source = '"""Whoever asks."""\n\nx = "nobody # anew", f\'"# anew\'  # beside it\n'
    assert PRIVATE.findall(" ".join(prose(source))) == ["Whoever", "beside"]
