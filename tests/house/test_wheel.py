"""What `pip install biem` puts into an environment that belongs to an application."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.wheels import PYTHON, built, installed

ROOT = Path(__file__).parents[2]
INSIDE = ROOT / "biem"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel of this checkout."""
    with zipfile.ZipFile(built(tmp_path_factory.mktemp("wheel"))) as opened:
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
    # Given the wheel unpacked, in an environment whose application has its own package `workers`
    wheel.extractall(tmp_path)
    (tmp_path / "workers.py").write_text("MINE = True\n", encoding="utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import biem.workers.configuration, biem.workers.health, biem.workers.tasks, workers\n"
        f"assert workers.MINE and biem.workers.__file__.startswith({str(tmp_path)!r})"
    )
    # When both are imported / Then each is its own
    done = subprocess.run([PYTHON, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_program_that_uses_the_wheel_is_checked_strictly(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    # Given an environment with the wheel alone, and a program that uses it
    python = installed(Path(str(wheel.filename)), tmp_path / "venv")
    program = tmp_path / "program.py"
    program.write_text(
        "import biem\n\n\n"
        "def texts(memory: biem.Memory, question: str) -> list[str]:\n"
        "    return [hit.node.text for hit in memory.recall(question, top_k=3)]\n\n\n"
        "def main() -> str:\n"
        "    with biem.connect() as memory:\n"
        '        plugin = biem.BIEMContextPlugin(memory, conversation="c")\n'
        '        plugin.record_user_message("hello")\n'
        '        return memory.remember("I moved to Graz", importance=4) + "".join(texts(memory, "where?"))\n',
        encoding="utf-8",
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import biem\n\nnumber: int = biem.connect().remember("text")\n', encoding="utf-8")

    # When mypy reads it strictly / Then it finds nothing, and finds a wrong type where there is one
    words = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python)]
    words += ["--cache-dir", str(tmp_path / "cache"), "--config-file", ""]
    done = [
        subprocess.run([*words, str(path)], capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
        for path in (program, wrong)
    ]
    assert done[0].returncode == 0, done[0].stdout
    assert 'expression has type "str", variable has type "int"' in done[1].stdout
