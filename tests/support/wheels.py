"""The wheel of this checkout, and environments that have it instead of the checkout."""

import os
import site
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("BIEM_TEST_PYTHON", sys.executable)
"""The interpreter of these environments: `make test-python` names another version, with the dependencies."""


def built(folder: Path) -> Path:
    """The wheel, built with the tools of this environment and no index."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (path,) = folder.glob("*.whl")
    return path


def installed(wheel: Path, folder: Path, *, dependencies: bool = False) -> Path:
    """The Python of a new environment in `folder` that has the wheel and, where asked for, what it depends on.

    Dependencies are those of `PYTHON`. Its `.pth` files are not read, so the checkout is not importable there.
    """
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(packages)
    if dependencies:
        (packages / "dependencies.pth").write_text("\n".join(_site_packages()), encoding="utf-8")
    return folder / "bin" / "python"


def _site_packages() -> list[str]:
    if sys.executable == PYTHON:
        return site.getsitepackages()
    script = "import site; print(*site.getsitepackages(), sep='\\n')"
    done = subprocess.run([PYTHON, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.split()
