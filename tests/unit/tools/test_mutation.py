"""`make mutants`: which faults it puts in, which it draws, and that it leaves nothing behind."""

import ast
from pathlib import Path

import pytest

from tests.mutation.__main__ import Outcome, _told, drawn
from tests.mutation.operators import mutants, mutated
from tests.mutation.targets import EQUIVALENT, TARGETS, Target

ROOT = Path(__file__).parents[3]
MODULE = '''
class Policy:
    promote: float = 0.7
    lease_s: float = 60.0
    most: int = 3


def pick(items, at):
    """The first of a few."""
    if not items or at < 0:
        raise ValueError(f"{len(items)} items at {at:.1f}")
    logger.warning("picking", extra=dict(at=at))
    store.forget(items, wait_s=2, all=True)
    return [item for item in items if item is not None][at]
'''


def test_each_operator_puts_in_its_fault_and_what_only_tells_or_waits_is_left_out() -> None:
    faults = [(one.before.splitlines()[0], one.after.splitlines()[0]) for one in mutants(MODULE)]
    assert faults == [
        ("0.7", "0.714"),
        ("3", "4"),
        ("if not items or at < 0:", "if not (not items or at < 0):"),
        ("not items or at < 0", "not items and at < 0"),
        ("at < 0", "at <= 0"),
        ("0", "1"),
        ("store.forget(items, wait_s=2, all=True)", "None"),
        ("store.forget(items, wait_s=2, all=True)", "store.forget(items, wait_s=2)"),
        ("return [item for item in items if item is not None][at]", "return None"),
        (" for item in items if item is not None", " for item in items"),
        ("item is not None", "item is None"),
    ]


def test_each_mutant_is_the_module_with_one_change_and_the_next_begins_again() -> None:
    # Given the module as it is / When each mutant is compared with it, line by line
    sound = ast.unparse(ast.parse(MODULE)).splitlines()
    for one in mutants(MODULE):
        changed = mutated(MODULE, one.number).splitlines()

        # Then one line differs
        assert len(changed) == len(sound)
        assert sum(left != right for left, right in zip(sound, changed, strict=True)) == 1


def test_the_seed_draws_the_same_faults_each_time_and_some_from_each_module() -> None:
    first, again, other = drawn(1, 45, TARGETS), drawn(1, 45, TARGETS), drawn(2, 45, TARGETS)
    assert first == again != other
    assert len(first) == 45
    assert {target for target, _ in first} == set(TARGETS)


def test_what_is_said_to_change_nothing_is_still_there_to_be_said() -> None:
    for (module, sound, faulty), why in EQUIVALENT.items():
        every = mutants((ROOT / "biem" / f"{module}.py").read_text(encoding="utf-8"))
        assert [(one.sound, one.faulty) for one in every].count((sound, faulty)) == 1, (module, sound)
        assert why


def test_each_fault_is_known_by_its_line_so_that_what_is_said_of_one_hides_no_other() -> None:
    # Given the same number in two lines / When it changes in each / Then the faults are equal but for their lines
    first, second = mutants("def f(a):\n    b = a + 1.0\n    return g(1.0) if b else None\n")[0::3]
    assert (first.before, first.after) == (second.before, second.after) == ("1.0", "1.02")
    assert (first.sound, first.faulty) == ("b = a + 1.0", "b = a + 1.02")
    assert (second.sound, second.faulty) == ("return g(1.0) if b else None", "return g(1.02) if b else None")


def test_every_target_is_a_module_and_its_runs_are_there() -> None:
    for target in TARGETS:
        assert (ROOT / "biem" / f"{target.module}.py").is_file()
        assert all((ROOT / name).exists() for run in target.runs for name in run.split() if not name.startswith("-"))
        assert target.runs


@pytest.mark.parametrize(("by", "code", "said"), [("tests/unit/test_x.py", 0, "survivors: none"), ("", 1, "SURVIVED")])
def test_a_survivor_is_named_and_fails_the_command(
    capsys: pytest.CaptureFixture[str], by: str, code: int, said: str
) -> None:
    target, (mutant, *_) = Target("engine/erase", ("tests/unit/engine/life/test_erase.py",)), mutants(MODULE)
    assert _told([Outcome(target, mutant, by, 1.0)], [target]) == code
    assert said in capsys.readouterr().out
