"""What became of each test of a run: a file of JSON in the folder that TEST_REPORT names, one for each pytest call.

`make test` sets it, and `tests.requirements --ran` reads it. With xdist the process that hands the tests out writes.
"""

import json
import os
from pathlib import Path

import pytest

VARIABLE = "TEST_REPORT"


class Outcomes:
    """A pytest plugin: the outcome of each test by its id; a test with a failed setup or teardown has failed."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"{os.getpid()}.json"
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of setup, call and teardown."""
        tells = report.outcome != "passed" or report.when == "call"
        if tells and self._outcomes.get(report.nodeid) != "failed":
            self._outcomes[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._outcomes, indent=0), encoding="utf-8")


def register(config: pytest.Config) -> None:
    """Report this session, if that is asked for. What a test starts does not report, nor do the workers of xdist."""
    folder = os.environ.pop(VARIABLE, "")
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(Path(folder)), "outcomes")


def outcomes(folder: Path) -> dict[str, str]:
    """What became of each test, by its id below tests/, over all pytest calls of a run."""
    found: dict[str, str] = {}
    for file in sorted(folder.glob("*.json")):
        found |= json.loads(file.read_text(encoding="utf-8"))
    return {test.removeprefix("tests/"): outcome for test, outcome in found.items()}
