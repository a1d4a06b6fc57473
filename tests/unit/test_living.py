"""What every mechanism of the life of memories owes: ids that are the same everywhere, no global state, a switch."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.config import load_settings
from biem.domain.concept import concept_id, item_id
from biem.domain.crystal import derived_id, sources_hash
from biem.domain.night_policy import SleepPolicy
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.errors import ConfigError

PACKAGE = Path(__file__).parents[2] / "biem"
IDENTITIES = """
import json
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.concept import concept_id, item_id
from biem.domain.crystal import derived_id, sources_hash
from biem.domain.scope import Scope
from biem.domain.text import sha256
scope, text = Scope("t", "u", "p"), "李明 lives in Lisbon"
concept = concept_id(scope.ns, RuleAnalyzer().lexemes(text))
print(json.dumps([
    scope.ns, sha256(text).hex(), concept, item_id(concept, text), sources_hash(["b", "a"]), derived_id("n", "f", "d"),
    RuleAnalyzer().keywords(text, 9),
]))
"""


@pytest.mark.req("X9", partly="that a second sync writes nothing is tested with the concepts")
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
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
            if alias.name in ("random", "numpy")
        }
        globals_ = tuple(f"{name}." if name == "random" else f"{name}.random." for name in modules)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called == "print" or (globals_ and called.startswith(globals_)):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {called}")

    # When its calls are read / Then randomness comes only from generators of one's own
    own = ("random.Random", "random.SystemRandom", "np.random.default_rng")
    assert [place for place in wrong if not place.endswith(own)] == []


@pytest.mark.req("C15", partly="a switch for each job; the beat table and the lock are tested elsewhere")
def test_each_job_has_a_switch_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the jobs of a night, each of which is due now and then
    every = SleepPolicy().periods()
    assert min(every.values()) > 0

    # When one is switched off / Then it alone is never due
    for name in every:
        monkeypatch.setenv("BIEM_SLEEP__OFF", f'["{name}"]')
        switched = load_settings().policies.sleep
        assert switched.off == (name,)
        assert {job for job, period_s in switched.periods().items() if period_s == 0.0} == {name}

    # And a job that does not exist is refused
    monkeypatch.setenv("BIEM_SLEEP__OFF", '["dreaming"]')
    with pytest.raises(ConfigError, match="dreaming"):
        load_settings()
