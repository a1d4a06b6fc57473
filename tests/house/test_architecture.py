"""The house keeps its size; import contracts are checked by `make contracts`."""

from pathlib import Path

import biem

ROOT = Path(biem.__file__).parent
LONGEST = 450
"""Lines. A file is divided by idea, not by its length; above this it hardly is one idea."""


def test_no_file_is_so_long_that_it_holds_several_ideas() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.rglob("*.py")
    }
    assert [name for name, length in lengths.items() if length > LONGEST] == []


def test_the_public_names_are_few_and_all_there() -> None:
    assert len(biem.__all__) <= 13
    assert all(getattr(biem, name) is not None for name in biem.__all__)
