"""No test passes because it asserts nothing, or by printing or warning (X46)."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.statements import statements

TESTS = Path(__file__).parents[1]
ACCEPTING = {
    "test_a_closed_adapter_closes_again",
    "test_any_text_gets_an_answer",
    "test_closing_twice_is_closing",
    "test_closing_twice_is_closing_once",
    "test_inserting_nothing_is_nothing",
    "test_stopping_what_never_started_does_nothing",
    "test_text_that_a_database_can_hold_is_accepted",
}
"""Tests whose claim is that what they call does not raise."""
KNOWN = frozenset({"raises", "fail", "run_state_machine_as_test"})
"""Functions of pytest and hypothesis that fail a test."""


@dataclass(frozen=True)
class Function:
    """One function of the tests: what it calls, by the last name, and whether it asserts or raises."""

    name: str
    calls: frozenset[str]
    fails: bool


def functions(path: Path) -> list[Function]:
    found = []
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = list(ast.walk(node))
            calls = [one.func for one in inside if isinstance(one, ast.Call)]
            names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls}
            fails = any(isinstance(one, ast.Assert | ast.Raise) for one in inside)
            fails = fails or any(name.startswith("assert_") for name in names)
            found.append(Function(node.name, frozenset(names), fails))
    return found


def can_fail(every: Iterable[Function], known: frozenset[str]) -> frozenset[str]:
    """Names of functions that assert or raise, on their own or in what they call."""
    every = list(every)
    found = known | {one.name for one in every if one.fails}
    while more := {one.name for one in every if one.name not in found and one.calls & found}:
        found |= more
    return found


@pytest.mark.req("X46", partly="the rule; mutants of four stages; not every test runs with the default configuration")
def test_every_test_asserts_and_none_prints_or_warns_instead() -> None:
    # Given the tests, and what can fail: their own assertion, or of what their file or the shared ones define
    files = {path: functions(path) for path in sorted(TESTS.rglob("*.py"))}
    shared = can_fail([one for path, found in files.items() if path.stem[:5] != "test_" for one in found], KNOWN)
    suites = [found for path, found in files.items() if path.stem[:5] == "test_"]
    assert sum(one.name[:5] == "test_" for found in suites for one in found) > 1_000

    # When they are looked at / Then each can fail, but the few that claim just that something is taken
    idle: set[str] = set()
    for found in suites:
        idle |= {one.name for one in found if one.name[:5] == "test_"} - can_fail(found, shared)
    assert idle == ACCEPTING

    # And none speaks where it should assert; children of a fork tell their parent what they saw
    speaking = [one for found in suites for one in found if one.name[:5] == "test_" and one.calls & {"print", "warn"}]
    assert [one.name for one in speaking if "_exit" not in one.calls] == []
