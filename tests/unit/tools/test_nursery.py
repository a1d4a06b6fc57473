"""The process in which `make mutants` runs tests: what it answers, and that nothing it started outlives its input."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation.nursery import OVERDUE
from tests.support.fakes import eventually

PROGRAM = Path(__file__).parents[2] / "mutation" / "nursery.py"


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-P", str(PROGRAM)]
    # The repository's configuration, which is not here, leaves out plugins of packages that it has for other reasons.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def ask(process: "subprocess.Popen[str]", folder: Path, limit_s: float) -> None:
    assert process.stdin
    process.stdin.write(json.dumps([str(folder), ["-q", "-p", "no:cacheprovider", "test_one.py"], limit_s]) + "\n")
    process.stdin.flush()


def answer(process: "subprocess.Popen[str]") -> int:
    assert process.stdout
    return int(process.stdout.readline())


def stuck(folder: Path) -> str:
    """A test that says which processes it is and starts, and does not end."""
    os.mkfifo(folder / "ids")
    return (
        "import os, subprocess, threading\n"
        "def test_it():\n"
        "    child = subprocess.Popen(['sleep', '600'])\n"
        f"    with open({str(folder / 'ids')!r}, 'w') as told:\n"
        "        told.write(f'{os.getpid()} {child.pid}')\n"
        "    threading.Event().wait()\n"
    )


def gone(pid: int) -> bool:
    """Whether there is no such process any more, or only its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_each_run_loads_the_repository_of_its_folder_again(nursery: "subprocess.Popen[str]", tmp_path: Path) -> None:
    # Given one test, and a module that it imports / When the module changes between runs / Then so does the answer
    (tmp_path / "test_one.py").write_text("import one\ndef test_it():\n    assert one.VALUE == 1\n", encoding="utf-8")
    for value, code in ((1, 0), (22, 1), (1, 0)):
        (tmp_path / "one.py").write_text(f"VALUE = {value}\n", encoding="utf-8")
        ask(nursery, tmp_path, 60.0)
        assert answer(nursery) == code


def test_a_run_that_hangs_is_ended_with_what_it_started(nursery: "subprocess.Popen[str]", tmp_path: Path) -> None:
    # Given a run that hangs / When its time is over / Then the answer says so, and its processes are gone
    (tmp_path / "test_one.py").write_text(stuck(tmp_path), encoding="utf-8")
    ask(nursery, tmp_path, 20.0)
    with (tmp_path / "ids").open(encoding="utf-8") as told:
        ids = [int(one) for one in told.read().split()]
    assert answer(nursery) == OVERDUE
    eventually(lambda: all(map(gone, ids)))  # a killed process ends a little later


def test_the_end_of_the_input_ends_the_run(nursery: "subprocess.Popen[str]", tmp_path: Path) -> None:
    # Given a run that hangs / When the program that asked is gone / Then so are the run and what it started
    (tmp_path / "test_one.py").write_text(stuck(tmp_path), encoding="utf-8")
    ask(nursery, tmp_path, 600.0)
    with (tmp_path / "ids").open(encoding="utf-8") as told:
        ids = [int(one) for one in told.read().split()]
    assert nursery.stdin
    nursery.stdin.close()
    nursery.wait(60)
    eventually(lambda: all(map(gone, ids)))  # a killed process ends a little later
