"""Which test proves which requirement: `python -m tests.requirements` writes docs/requirements.md from the markers.

A test names what it proves with `@pytest.mark.req("A10", "X27")`, or `@pytest.mark.req("B14", partly="time and kind")`
when only a part. A requirement is met only when every test that claims it whole passes in `make test`:

    (nothing)     writes the page as a `make test` makes it in which everything passes
    --check       fails when the page is another (fast, runs no test)
    --ran FOLDER  makes the page from the report of a run and fails when it differs; the last step of `make test`
"""

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.report import outcomes

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "requirements.md"
LIST = ROOT / "docs" / "requirements.tsv"
FAMILIES = {
    "A": "AIM-Memory",
    "G": "Angel Memory",
    "H": "Hippocampus",
    "B": "BIEM",
    "M": "AIMate",
    "C": "Conflicts between the designs, reconciled",
    "X": "Failures of other implementations",
    "D": "Decisions of the architecture",
}
ELSEWHERE = {
    "bge": "test-bge",
    "compose": "test-compose",
    "milvus_server": "test-milvus-server",
    "names": "test-names",
    "page": "test-page",
    "rabbitmq": "test-rabbitmq",
}
"""Folders of tests that `make test` does not run, and the target that does."""

LONG = "test-long"
"""The target that runs the tests with the marker `long`."""

Missing = Callable[[str], str]
"""Of a test: why it proves nothing whole, or nothing ("") when it passed in `make test`."""


@dataclass(frozen=True)
class Claim:
    """One marker: a test says that it proves a requirement, wholly or as far as `partly` says."""

    requirement: str
    test: str
    """Id of a test, or of a class or file of them, below tests/."""
    partly: str


@cache
def _markers() -> tuple[tuple[Claim, ...], frozenset[str]]:
    """Every claim below tests/, and the tests with the marker `long`, read from the source without running it.

    The trees are not kept: the garbage collector would look through a million objects again and again.
    """
    claimed: list[Claim] = []
    long: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name, body = path.relative_to(ROOT / "tests").as_posix(), ast.parse(path.read_text(encoding="utf-8")).body
        claimed.extend(_in(body, name))
        long |= {test for test, mark in _marked(body, name) if isinstance(mark, ast.Attribute) and mark.attr == "long"}
    return tuple(claimed), frozenset(long)


def claims() -> tuple[Claim, ...]:
    """Every marker that names a requirement."""
    return _markers()[0]


def left_to_long() -> frozenset[str]:
    """The tests with the marker `long`, by their ids below tests/."""
    return _markers()[1]


def _marked(body: list[ast.stmt], name: str) -> Iterator[tuple[str, ast.expr]]:
    """Every decorator of a test or a class of tests, with its id."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for mark in node.decorator_list:
                yield f"{name}::{node.name}", mark
            if isinstance(node, ast.ClassDef):
                yield from _marked(node.body, f"{name}::{node.name}")


def _in(body: list[ast.stmt], name: str) -> Iterator[Claim]:
    for test, mark in _marked(body, name):
        yield from _of_marker(mark, test)
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _in([each for each in node.body if isinstance(each, ast.Assign)], f"{name}::{node.name}")
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
        ):
            marks = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            for mark in marks:
                yield from _of_marker(mark, name)


def _of_marker(mark: ast.expr, test: str) -> Iterator[Claim]:
    if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "req":
        words = {word.arg: ast.literal_eval(word.value) for word in mark.keywords}
        for argument in mark.args:
            yield Claim(ast.literal_eval(argument), test, words.get("partly", ""))


def by_folder(test: str) -> str:
    """What a `make test` in which everything passes leaves unproven: tests that only another target runs."""
    target = LONG if test in left_to_long() else ELSEWHERE.get(test.partition("/")[0])
    return f"runs in `make {target}` only" if target else ""


def by_report(ran: Mapping[str, str]) -> Missing:
    """What a run left unproven: `ran` has the outcome of each test that was run. Every case of a test must pass."""
    of_test: dict[str, set[str]] = {}
    for test, outcome in ran.items():
        parts = test.partition("[")[0].split("::")
        for length in range(1, len(parts) + 1):
            of_test.setdefault("::".join(parts[:length]), set()).add(outcome)

    def missing(test: str) -> str:
        if elsewhere := by_folder(test):
            return elsewhere
        found = of_test.get(test)
        return ", ".join(sorted(found - {"passed"})) if found else "was not run"

    return missing


def page(missing: Missing) -> str:
    """The text of docs/requirements.md. Raises SystemExit for a marker that names no requirement."""
    wanted = dict(line.split("\t", 1) for line in LIST.read_text(encoding="utf-8").splitlines())
    by_requirement: dict[str, list[Claim]] = {}
    for claim in claims():
        if claim.requirement not in wanted:
            raise SystemExit(f"{claim.test} names {claim.requirement}, which is no requirement")
        by_requirement.setdefault(claim.requirement, []).append(claim)
    status = {key: status_of(by_requirement.get(key, []), missing) for key in wanted}
    count = Counter(status.values())
    lines = [
        "# Requirements",
        "",
        "Generated by `make requirements` from the markers of the tests; do not edit.",
        "A requirement is *met* when every test that claims it whole passes in `make test`, and there is one. It is",
        "*partly* met when tests prove a part of it or run elsewhere, else *open*. The last step of `make test` makes",
        "this page from the report of its own run and fails when it differs: then a test that claims something whole",
        "was skipped or not run.",
        "",
        f"**{count['met']} met, {count['partly']} partly met, {count['open']} open** of {len(wanted)}.",
    ]
    for letter, family in FAMILIES.items():
        lines += [
            "",
            f"## {letter}: {family}",
            "",
            "| ID | Requirement | Status | Proven by |",
            "| --- | --- | --- | --- |",
        ]
        for key, text in wanted.items():
            if key.startswith(letter):
                proof = _proof(by_requirement.get(key, []), missing)
                lines.append(f"| {key} | {text.replace('|', chr(92) + '|')} | {status[key]} | {proof} |")
    return "\n".join(lines) + "\n"


def status_of(found: list[Claim], missing: Missing) -> str:
    """met, partly or open."""
    whole = [claim for claim in found if not claim.partly]
    if whole and not any(missing(claim.test) for claim in whole):
        return "met"
    return "partly" if found else "open"


def _proof(found: list[Claim], missing: Missing) -> str:
    whole = [claim for claim in found if not claim.partly]
    unproven = [claim for claim in whole if missing(claim.test)]
    told = unproven or whole or found
    shown = []
    for claim in told[:3]:
        lacking = by_folder(claim.test) if claim.partly else missing(claim.test)
        why = "; ".join(part for part in (claim.partly, lacking) if part)
        shown.append(f"`{claim.test}`" + (f" ({why})" if why else ""))
    return ", ".join(shown) + (f" and {len(told) - 3} more" if len(told) > 3 else "")


def _compared(made: str, otherwise: str) -> None:
    kept = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    if made.splitlines() != kept:
        other = [line for line in made.splitlines() if line not in kept]
        raise SystemExit("\n".join([f"docs/requirements.md is not what {otherwise}, which would be:", *other]))


def main() -> None:
    """Write the page, or with `--check` or `--ran FOLDER` compare it."""
    match sys.argv[1:]:
        case ["--check"]:
            _compared(page(by_folder), "the tests' markers say (run: make requirements)")
        case ["--ran", folder]:
            _compared(page(by_report(outcomes(Path(folder)))), "the report of this run says")
        case []:
            PAGE.write_text(page(by_folder), encoding="utf-8")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
