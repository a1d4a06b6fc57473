"""What `pip install biem` puts into an environment that belongs to an application."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSIDE = ROOT / "biem"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel of this checkout, built with the tools of this environment and no index."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_the_wheel_takes_one_name_of_the_environment(wheel: zipfile.ZipFile) -> None:
    # Given the wheel / When its top level is listed / Then only `biem` is there: an application has a `workers` itself
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"biem"}
    assert {"biem/workers/app.py", "biem/workers/health.py"} <= set(wheel.namelist())


def test_the_wheel_has_types_and_every_file_that_the_code_reads(wheel: zipfile.ZipFile) -> None:
    # Given the files of the package here / When they are looked for in the wheel / Then none is missing
    there = {path for path in INSIDE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {str(path.relative_to(ROOT)) for path in there} <= set(wheel.namelist())
    assert "biem/py.typed" in wheel.namelist()
    assert {".sql", ".lua", ".txt", ".json", ".html"} <= {path.suffix for path in there}


def test_the_workers_run_from_the_wheel_alone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    # Given the wheel unpacked, in an environment whose application has a `workers` of its own
    wheel.extractall(tmp_path)
    (tmp_path / "workers.py").write_text("MINE = True\n", encoding="utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import biem.workers.configuration, biem.workers.health, biem.workers.tasks, workers\n"
        f"assert workers.MINE and biem.workers.__file__.startswith({str(tmp_path)!r})"
    )
    # When both are imported / Then each is its own
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
