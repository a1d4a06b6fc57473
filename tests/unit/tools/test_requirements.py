"""A requirement is met only when every test that claims it whole passed in the run that the page is made from."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.report import outcomes, slowest
from tests.requirements import Claim, by_folder, by_report, claims, left_to_long, status_of

ROOT = Path(__file__).parents[3]
ONE = Claim("B1", "unit/test_a.py::test_one", "")
OTHER = Claim("B1", "contract/test_b.py::TestB::test_other", "")
PART = Claim("B1", "unit/test_a.py::test_part", "half of it")


@pytest.mark.parametrize(
    ("found", "ran", "status"),
    [
        ([], {}, "open"),
        ([PART], {PART.test: "passed"}, "partly"),
        ([ONE], {ONE.test: "passed"}, "met"),
        ([ONE, PART], {ONE.test: "passed"}, "met"),
        ([ONE], {}, "partly"),
        ([ONE], {ONE.test: "skipped"}, "partly"),
        ([ONE], {f"{ONE.test}[a]": "passed", f"{ONE.test}[b::c]": "skipped"}, "partly"),
        ([ONE], {f"{ONE.test}[a]": "passed", f"{ONE.test}[b::c]": "passed"}, "met"),
        ([ONE, OTHER], {ONE.test: "passed"}, "partly"),
        ([ONE, OTHER], {ONE.test: "passed", OTHER.test: "passed"}, "met"),
        ([ONE], {f"{ONE.test}_longer": "passed"}, "partly"),
        ([Claim("B1", "contract/test_b.py::TestB", "")], {OTHER.test: "passed"}, "met"),
        ([Claim("B1", "contract/test_b.py", "")], {OTHER.test: "failed"}, "partly"),
        ([Claim("B1", "bge/test_bge.py::test_one", "")], {"bge/test_bge.py::test_one": "passed"}, "partly"),
    ],
)
def test_met_is_what_every_whole_claim_passed(found: list[Claim], ran: Mapping[str, str], status: str) -> None:
    assert status_of(found, by_report(ran)) == status


def test_what_another_target_runs_is_not_met_without_a_run_either() -> None:
    assert by_folder("bge/test_bge.py::test_one") == "runs in `make test-bge` only"
    assert by_folder(ONE.test) == ""
    run_by_make_test = {"unit", "integration", "contract", "deploy", "house"}
    assert {claim.test.split("/")[0] for claim in claims() if not by_folder(claim.test)} <= run_by_make_test


def test_what_is_left_to_the_long_run_is_not_met_by_make_test() -> None:
    assert by_folder("integration/benchmarks/test_poison.py::test_attacks_from_the_web_do_no_harm") == (
        "runs in `make test-long` only"
    )
    for test in left_to_long():
        path, *_, name = test.split("::")
        assert re.search(
            rf"^ *(?:async )?def {name}\(", (ROOT / "tests" / path).read_text(encoding="utf-8"), re.MULTILINE
        )


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_run_reports_every_outcome_once_in_every_process(tmp_path: Path, processes: str) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests import report\n\ndef pytest_configure(config):\n    report.register(config)\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n@pytest.fixture\ndef broken():\n    yield\n    raise OSError\n\n"
        "class TestIt:\n    @pytest.mark.parametrize('n', [1, 2])\n    def test_good(self, n): pass\n\n"
        "def test_bad(): raise OSError\n\ndef test_left_out(): pytest.skip('no')\n\ndef test_late(broken): pass\n"
    )
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "xdist",
        "-n",
        processes,
        f"--rootdir={tmp_path}",
        str(tmp_path),
    ]
    environment = {
        "TEST_REPORT": str(tmp_path / "ran"),
        "PYTHONPATH": str(ROOT),
        "PATH": "/usr/bin:/bin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # each process would load those of all packages
    }
    subprocess.run(run, cwd=tmp_path, env=environment, check=False, capture_output=True, timeout=120)
    (tmp_path / "ran" / "another.json").write_text(json.dumps({"tests/unit/test_b.py::test_b": ("passed", 99)}))
    assert outcomes(tmp_path / "ran") == {
        "test_it.py::TestIt::test_good[1]": "passed",
        "test_it.py::TestIt::test_good[2]": "passed",
        "test_it.py::test_bad": "failed",
        "test_it.py::test_left_out": "skipped",
        "test_it.py::test_late": "failed",
        "unit/test_b.py::test_b": "passed",
    }
    assert slowest(tmp_path / "ran", 1) == ["tests/unit/test_b.py::test_b"]
    assert len(slowest(tmp_path / "ran", 50)) == 6
