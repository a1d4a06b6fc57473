"""The house keeps its size; import contracts are checked by `make contracts`."""

from pathlib import Path

import biem

ROOT = Path(biem.__file__).parent
LONGER = {
    "memory.py": "the facade: signatures and docstrings of every use case of an agent",
}


def test_files_stay_below_300_lines_unless_they_say_why() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.rglob("*.py")
    }
    assert {name for name, length in lengths.items() if length > 300} == set(LONGER)
    assert max(lengths.values()) <= 400


def test_the_public_names_are_few_and_all_there() -> None:
    assert len(biem.__all__) <= 12
    assert all(getattr(biem, name) is not None for name in biem.__all__)
