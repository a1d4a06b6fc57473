"""What became of each test of a run: a file of JSON in the folder that TEST_REPORT names, one for each pytest call.

`make test` sets it, and `tests.requirements --ran` reads it. With xdist the process that hands the tests out writes.
`python -m tests.report FOLDER [COUNT]` prints the slowest tests, one id a line: `make test-slowest` runs them again.
"""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest

VARIABLE = "TEST_REPORT"


class Outcomes:
    """A pytest plugin: the outcome of each test by its id; a test with a failed setup or teardown has failed.

    Also the seconds that each took with setup and teardown; a shared fixture counts for the first test that uses it.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"{os.getpid()}.json"
        self._outcomes: dict[str, str] = {}
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of setup, call and teardown, and their time."""
        self._seconds[report.nodeid] += report.duration
        tells = report.outcome != "passed" or report.when == "call"
        if tells and self._outcomes.get(report.nodeid) != "failed":
            self._outcomes[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        ran = {test: (outcome, round(self._seconds[test], 2)) for test, outcome in self._outcomes.items()}
        self._file.write_text(json.dumps(ran, indent=0), encoding="utf-8")


def register(config: pytest.Config) -> None:
    """Report this session, if that is asked for. What a test starts does not report, nor do the workers of xdist."""
    folder = os.environ.pop(VARIABLE, "")
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(Path(folder)), "outcomes")


def _read(folder: Path) -> dict[str, tuple[str, float]]:
    """Outcome and seconds of each test, by its id, over all pytest calls of a run."""
    ran: dict[str, tuple[str, float]] = {}
    for file in sorted(folder.glob("*.json")):
        ran |= json.loads(file.read_text(encoding="utf-8"))
    return ran


def outcomes(folder: Path) -> dict[str, str]:
    """What became of each test, by its id below tests/, over all pytest calls of a run."""
    return {test.removeprefix("tests/"): outcome for test, (outcome, _) in _read(folder).items()}


def slowest(folder: Path, count: int) -> list[str]:
    """The ids of the tests that took longest, slowest first."""
    ran = _read(folder)
    return sorted(ran, key=lambda test: ran[test][1], reverse=True)[:count]


if __name__ == "__main__":
    sys.stdout.write("\n".join(slowest(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50)) + "\n")
