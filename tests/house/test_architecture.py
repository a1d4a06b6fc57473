"""The house keeps its size; import contracts are checked by `make contracts`."""

import ast
from pathlib import Path

import biem

ROOT = Path(biem.__file__).parent
LONGEST = 450
"""Lines. A file is divided by idea, not by its length; above this it hardly is one idea."""


def test_no_file_is_so_long_that_it_holds_several_ideas() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.rglob("*.py")
    }
    assert [name for name, length in lengths.items() if length > LONGEST] == []


def test_the_public_names_are_few_and_all_there() -> None:
    assert len(biem.__all__) <= 13
    assert all(getattr(biem, name) is not None for name in biem.__all__)


def test_rows_of_postgres_are_read_by_name() -> None:
    """A column added to a statement must not move another one: no `row[3]`, `row[:3]` or `fetch(…)[0][0]`."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "adapters" / "postgres").glob("*.py"))
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
