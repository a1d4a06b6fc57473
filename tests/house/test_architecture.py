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


def test_no_folder_holds_more_modules_than_a_reader_can_survey() -> None:
    counts: defaultdict[str, int] = defaultdict(int)
    for path in MODULES:
        counts[str(path.parent.relative_to(ROOT))] += path.name != "__init__.py"
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
    assert len(biem.__all__) <= 13
    assert all(getattr(biem, name) is not None for name in biem.__all__)
