"""The suites can be run one by one, and the four software layers of AIMate's design depend downwards only."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import biem
from tests.house.statements import statements

ROOT = Path(biem.__file__).parent
MAKEFILE = (ROOT.parent / "Makefile").read_text(encoding="utf-8")


def recipe(target: str) -> str:
    """The commands of a target, with those of the targets that it names."""
    found = re.search(rf"^{target}(?: [\w-]+)*:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found, target
    return found[1]


@pytest.mark.req("M71")
def test_unit_integration_and_end_to_end_suites_have_a_command_each() -> None:
    # Given the commands of the suites / When they are read / Then each runs its folder, and no other suite's
    assert "find tests/unit " in recipe("unit-odd")
    assert "unit-odd unit-even" in recipe("unit")
    assert recipe("integration").split()[-1] == "tests/integration"
    assert recipe("contract").split()[-1] == "tests/contract"
    # And the end-to-end tests are files that are there
    files = re.findall(r"tests/\S+\.py", recipe("e2e"))
    assert len(files) >= 4
    assert [file for file in files if not (ROOT.parent / file).is_file()] == []


def floors() -> list[set[str]]:
    """The floors of the package, from the top."""
    text = (ROOT.parent / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    [layers] = [one["layers"] for one in contracts if one["name"] == "The house has its floors"]
    return [set(floor.split(" | ")) for floor in layers]


def imports(path: Path) -> set[str]:
    """The parts of the package that a module imports, those of its functions included."""
    found: set[str] = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
        found.update(name.split(".")[1] for name in names if name.startswith("biem."))
    return found


@pytest.mark.req("M17")
def test_the_application_managers_helpers_and_storage_depend_downwards_only() -> None:
    # Given the floors: application above managers above helpers and storage, and values below
    order = {name: place for place, floor in enumerate(floors()) for name in floor}
    places = [order[name] for name in ("cli", "aimate", "memory", "layers", "engine", "ports", "domain")]
    assert places == sorted(places)
    assert len(set(places)) == len(places)
    assert order["engine"] == order["adapters"]
    # When every import is looked at / Then none goes up, or to a neighbour, but to the one that builds all
    wrong = [
        f"{path.relative_to(ROOT)} -> {name}"
        for path in ROOT.rglob("*.py")
        for name in imports(path)
        if (own := path.relative_to(ROOT).parts[0].removesuffix(".py")) != name
        if own in order and name in order and order[name] <= order[own]
    ]
    assert wrong == []
