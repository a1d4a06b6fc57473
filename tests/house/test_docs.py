"""The documentation names everything there is: settings, commands, errors, spans; and its links lead somewhere."""

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel, SecretStr

import biem
from biem import errors
from biem.cli.app import application
from biem.config import Settings
from biem.config.operator import OPERATOR

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def settings() -> Iterator[tuple[str, str, str]]:
    """Each setting: variable, default as the reference shows it, description where the code has one."""
    for name, field in Settings.model_fields.items():
        yield from within(f"BIEM_{name}".upper(), field.default, field.description or "")


def within(name: str, default: object, description: str) -> Iterator[tuple[str, str, str]]:
    """A setting, or those of a group of settings."""
    if isinstance(default, BaseModel):
        for inner, field in type(default).model_fields.items():
            yield from within(f"{name}__{inner}".upper(), field.default, field.description or "")
    elif dataclasses.is_dataclass(default):
        for part in dataclasses.fields(default):
            if part.name in OPERATOR[name.removeprefix("BIEM_").lower()]:
                yield from within(f"{name}__{part.name}".upper(), getattr(default, part.name), "")
    else:
        yield name, shown(default), description


def shown(default: object) -> str:
    """A default as the table of the reference has it."""
    value = default.get_secret_value() if isinstance(default, SecretStr) else default
    if value is None:
        return "unset"
    if value == "":
        return "empty"
    if isinstance(value, tuple):
        return " ".join(f"`{word}`" for word in value) or "empty"
    if isinstance(value, dict):
        return f"`{json.dumps(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def rows(page: str) -> list[list[str]]:
    """The cells of every table row of a page."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]


def commands(group: Any, prefix: str = "biem") -> Iterator[tuple[str, Any]]:
    """Every command of a click group with its full name; typer brings its own click."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def test_the_reference_has_every_setting_with_its_default_and_no_other() -> None:
    documented = {row[0].strip("`"): row[1] for row in rows(REFERENCE) if row[0].startswith("`BIEM_")}
    assert documented == {name: default for name, default, _ in settings()}


def test_the_reference_has_every_command_with_its_options_and_no_other() -> None:
    documented: dict[str, str] = {}
    for row in rows(REFERENCE):
        if len(row) == 2 and row[0].startswith("`biem "):
            name = " ".join(word for word in row[0].strip("`").split() if re.fullmatch("[a-z]+(?:-[a-z]+)*", word))
            documented[name] = f"{documented.get(name, '')} {row[0]} {row[1]}"
    known = dict(commands(typer.main.get_command(application())))
    assert set(documented) == set(known)
    for name, command in known.items():
        assert command.help, f"{name} has no help"
        for parameter in command.params:
            spellings = [*parameter.opts, *parameter.secondary_opts]
            if parameter.param_type_name == "option" and "--help" not in spellings:
                assert any(f"{spelling}`" in documented[name] for spelling in spellings), (
                    f"{name} {spellings[0]} is not in the reference"
                )


def test_the_reference_has_every_error_with_its_numbers() -> None:
    documented = {row[0].strip("`"): row[1:4] for row in rows(REFERENCE) if len(row) == 5}
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.BiemError):
            assert documented[name] == [str(kind.exit_code), str(kind.http_status), "yes" if kind.retryable else "no"]


def test_the_reference_has_every_span_of_the_source_and_no_other() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "biem").rglob("*.py"))
    spans = set(re.findall(r'\.span\(\s*"(biem\.[a-z_.]+)"', source))
    documented = {row[0].strip("`") for row in rows(REFERENCE) if re.fullmatch(r"`biem\.[a-z_.]+`", row[0])}
    assert spans
    assert documented == spans


def test_the_reference_has_every_public_name_and_method() -> None:
    for name in biem.__all__:
        assert f"`{name}" in REFERENCE, f"{name} is public and not in the reference"
    for kind in (biem.Memory, biem.BIEMContextPlugin):
        for method in dir(kind):
            if not method.startswith("_"):
                assert re.search(rf"\b{method}\b", REFERENCE), f"{kind.__name__}.{method} is not in the reference"
    for value in (biem.Node, biem.Hit, biem.Receipt):
        for part in dataclasses.fields(value):
            assert f"`{part.name}`" in REFERENCE, f"{value.__name__}.{part.name} is not in the reference"


def anchors(page: Path) -> set[str]:
    """The fragments that headings of a page can be reached by."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {link}"
        if fragment:
            assert fragment in anchors(target), f"{page.name} links to {link}, a heading that is not there"


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"(docs/{page.name})" not in readme] == []


def test_the_index_of_the_benchmarks_leads_to_every_page_and_each_begins_with_its_conclusion() -> None:
    folder = ROOT / "docs" / "benchmarks"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for page in sorted(set(folder.glob("*.md")) - {folder / "README.md"}):
        title, _, conclusion, *_ = page.read_text(encoding="utf-8").split("\n")
        assert f"({page.name})" in index, page.name
        assert re.fullmatch(r"# .*\?", title), title
        assert conclusion[:1].isalnum(), f"{page.name} begins with {conclusion!r}"


def test_the_readme_fits_on_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_every_decision_has_a_record_and_a_place_in_the_index() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text(encoding="utf-8")
    records = sorted(path for path in (ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert [path.name[:4] for path in records][:13] == [f"{number:04}" for number in range(1, 14)]
    for path in records:
        text = path.read_text(encoding="utf-8")
        assert f"({path.name})" in index, f"{path.name} is not in the index"
        for part in ("Status", "Context", "Decision", "Consequences"):
            assert re.search(rf"^(## {part}|{part}:|\*\*{part})", text, re.MULTILINE), f"{path.name} lacks {part}"
