"""The house keeps its shape; import contracts are checked by `make contracts`."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import biem

ROOT = Path(biem.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
MOST_MODULES = 24
"""In one folder, `__init__.py` not counted."""
CHANGES = [
    line.strip("| \n").split(" | ")
    for line in (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| .* \| `", line)
]


@pytest.mark.parametrize("root", [ROOT, ROOT.parent / "tests"], ids=["biem", "tests"])
def test_no_folder_holds_more_modules_than_a_reader_can_survey(root: Path) -> None:
    counts: defaultdict[str, int] = defaultdict(int)
    for path in root.rglob("*.py"):
        counts[str(path.parent.relative_to(root))] += path.name != "__init__.py"
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_a_class_name_is_defined_once() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_module_of_ours_is_imported_by_a_string() -> None:
    """Type checkers, import contracts and tools for renaming do not see such an import."""
    found = [
        path.name for path in MODULES if re.search(r'import_module\(\s*f?"biem\b', path.read_text(encoding="utf-8"))
    ]
    assert found == ["boot.py"]  # it starts one module of the package without loading the rest


def test_the_change_table_has_thirty_rows() -> None:
    assert len(CHANGES) >= 30


@pytest.mark.parametrize(("change", "files"), CHANGES, ids=[change for change, _ in CHANGES])
def test_every_file_of_the_change_table_is_there(change: str, files: str) -> None:
    named = re.findall(r"`([^`]+)`", files)
    assert named
    assert [name for name in named if not (ROOT.parent / name).exists()] == []


def test_every_file_that_contributing_names_is_there() -> None:
    text = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:biem|tests|docs|benchmarks)/[\w/.-]+)`", text))
    assert len(named) > 50
    assert [name for name in sorted(named) if not (ROOT.parent / name).exists()] == []


def test_the_public_names_are_few_and_all_there() -> None:
    assert len(biem.__all__) <= 14
    assert all(getattr(biem, name) is not None for name in biem.__all__)


def test_rows_of_postgres_are_read_by_name() -> None:
    """A column added to a statement must not move another one: no `row[3]`, `row[:3]` or `fetch(…)[0][0]`."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "adapters" / "postgres").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Subscript) and _is_place(node.slice) and _is_row(node.value)
    ]
    assert found == []


def _is_row(value: ast.expr) -> bool:
    """A variable `row`, or an element of something by its place: `rows[0]`."""
    if isinstance(value, ast.Subscript):
        return _is_place(value.slice)
    return isinstance(value, ast.Name) and value.id == "row"


def _is_place(index: ast.expr) -> bool:
    if isinstance(index, ast.Slice):
        return True
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


LONGEST_BUILDER = 60
MOST_PLACES = 4


def test_builders_are_short_and_take_their_arguments_by_name() -> None:
    """The object graph can be read from top to bottom."""
    odd = []
    for path in sorted((ROOT / "bootstrap").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                places = len([*node.args.posonlyargs, *node.args.args])
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_BUILDER:
                    odd.append(f"{path.name}: {node.name} has {lines} lines")
            elif isinstance(node, ast.Call):
                places = len(node.args)
            else:
                continue
            if places > MOST_PLACES:
                odd.append(f"{path.name}:{node.lineno} has {places} positional arguments")
    assert odd == []
