"""Every number that the designs promise is on one page, with a test or a command that exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
PROMISED = (
    "A4", "A19", "A60", "A63", "A65", "B7", "C29", "G2", "G3", "G39", "G42", "G48", "G57", "G59", "G60", "G66", "H15",
    "H51", "M5", "M6", "M7", "M8", "M9", "M45", "M47", "X22",
    "X32",
)  # fmt: skip
STATES = ("kept", "not kept", "not built", "open")


def promises() -> list[list[str]]:
    """The rows of the tables: promise, limit, named test or command, data, measured, state."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:1] == "|"]
    return [row for row in rows if row[0] != "Promise" and not row[0].startswith("---")]


def names_in(path: Path) -> set[str]:
    """The names of a file's tests, those of classes as `Class::test`."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return names


@pytest.mark.req("C27")
def test_every_promised_number_has_a_limit_a_size_a_state_and_a_test_or_command_that_exists() -> None:
    found: set[str] = set()
    for promise, limit, named, data, measured, state in promises():
        found |= set(re.findall(r"\b[ABCGHMX]\d+\b", promise))
        assert limit, promise
        assert state.startswith(STATES), promise
        names = re.findall(r"`([^`]+)`", named)
        unbuilt = state.startswith("not built")
        assert bool(names and data and measured) is not unbuilt, promise
        for name in names:
            if name.startswith("python -m "):
                continue
            file, _, test = name.partition("::")
            assert (ROOT / "tests" / file).is_file(), name
            assert not test or test in names_in(ROOT / "tests" / file), name
    assert found == set(PROMISED)


def test_every_command_takes_the_options_that_the_page_gives_it() -> None:
    commands = {one for row in promises() for one in re.findall(r"`python -m ([^`]+)`", row[2])}
    assert len(commands) > 5
    for command in commands:
        module, *given = command.split()
        source = (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        for option in given:
            assert not option.startswith("--") or f'"{option}"' in source, command


@pytest.mark.req("A65", partly="that a single query adds less than a tenth is for benchmarks.promises to show")
def test_what_aim_memory_is_for_is_said_and_what_a_single_query_adds_is_promised() -> None:
    described = (ROOT / "docs" / "aim.md").read_text(encoding="utf-8")
    assert "dialogue systems, knowledge assistants and personal assistants" in described
    assert "For one-off questions" in described
    (row,) = (row for row in promises() if row[0].startswith("A65 "))
    assert row[1] == "10 %"
    assert "100,000" in row[3]
