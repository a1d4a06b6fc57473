"""What every mechanism of the life of memories owes: ids that are the same everywhere, and no global state."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.concept import concept_id, item_id
from biem.domain.merging import derived_id, sources_hash
from biem.domain.scope import Scope
from biem.domain.text import sha256
from tests.house.statements import statements

PACKAGE = Path(__file__).parents[2] / "biem"
IDENTITIES = """
import json
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.concept import concept_id, item_id
from biem.domain.merging import derived_id, sources_hash
from biem.domain.scope import Scope
from biem.domain.text import sha256
scope, text = Scope("t", "u", "p"), "李明 lives in Lisbon"
concept = concept_id(scope.ns, RuleAnalyzer().lexemes(text))
print(json.dumps([
    scope.ns, sha256(text).hex(), concept, item_id(concept, text), sources_hash(["b", "a"]), derived_id("n", "f", "d"),
    RuleAnalyzer().keywords(text, 9),
]))
"""


@pytest.mark.req("X9", partly="that a second sync writes nothing is tested with the hippocampus")
def test_what_identifies_is_the_same_in_two_processes() -> None:
    # Given two processes whose built-in hashes differ / When both compute every identity of the life of memories
    told = subprocess.run(
        [sys.executable, "-c", IDENTITIES],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    ).stdout

    # Then they are those of this one
    scope, text = Scope("t", "u", "p"), "李明 lives in Lisbon"
    concept = concept_id(scope.ns, RuleAnalyzer().lexemes(text))
    own = [
        scope.ns,
        sha256(text).hex(),
        concept,
        item_id(concept, text),
        sources_hash(["a", "b"]),
        derived_id("n", "f", "d"),
        RuleAnalyzer().keywords(text, 9),
    ]
    assert json.loads(told) == own


@pytest.mark.req("X31", partly="the static rule; that the event loop stays free is tested with the plugin")
def test_the_library_prints_nothing_and_touches_no_global_randomness() -> None:
    # Given every module of the library but the commands, whose trade is to print
    wrong: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if "cli" in path.relative_to(PACKAGE).parts:
            continue
        tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        modules = {
            alias.asname or alias.name
            for node in tree
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name in ("random", "numpy")
        }
        globals_ = tuple(f"{name}." if name == "random" else f"{name}.random." for name in modules)
        for node in tree:
            if not isinstance(node, ast.Call) or not (globals_ or isinstance(node.func, ast.Name)):
                continue
            called = ast.unparse(node.func)
            if called == "print" or (globals_ and called.startswith(globals_)):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {called}")

    # When its calls are read / Then randomness comes only from generators of one's own
    own = ("random.Random", "random.SystemRandom", "np.random.default_rng")
    assert [place for place in wrong if not place.endswith(own)] == []


_CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}


_KEEPS_STATE = {
    "redaction.py": "which secrets a process must not show: one set, as logging has one record factory",
    "plugin.py": "open plugins, whose locks a forked child renews",
    "reopen_after_fork.py": "open memories, which a forked child opens again",
    "kept_open.py": "connections between two memories of a process, which a forked child does not take",
    "e5.py": "open models, which a forked child loads anew",
    "flag_embedding.py": "which process loaded torch: its threads are not in forked children",
}


@pytest.mark.req("X31", partly="the static rule; that the event loop goes on is tested with the event loop")
def test_no_module_keeps_state_and_only_what_serves_an_event_loop_is_asynchronous() -> None:
    # Given every module of the library / When what its functions do to names of the module is read
    wrong: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        serves_a_loop = (
            path.relative_to(PACKAGE).parts[0] in ("plugin.py", "server", "integrations")
            or path.name == "asynchronous.py"
        )
        own = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for function in statements(tree):
            if isinstance(function, ast.AsyncFunctionDef) and not serves_a_loop:
                wrong.append(f"{path.name}: async def {function.name}")
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                wrong += [f"{path.name}: {found}" for found in _changed(function, own)]

    # Then none is rebound or changed, and no one else could block its own event loop
    assert {place.partition(":")[0] for place in wrong} == set(_KEEPS_STATE)


def _changed(function: ast.FunctionDef | ast.AsyncFunctionDef, own: set[str]) -> list[str]:
    """Names of the module that a function changes; one that it binds itself is its own."""
    inside = list(ast.walk(function))
    local = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    shared = own - local - {argument.arg for argument in inside if isinstance(argument, ast.arg)}
    found = [f"global {node.names}" for node in inside if isinstance(node, ast.Global)]
    for node in inside:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            changed = node.func.value
        else:
            continue
        if isinstance(changed, ast.Name) and changed.id in shared:
            found.append(ast.unparse(node))
    return found
