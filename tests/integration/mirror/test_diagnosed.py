"""Files that wait for a person are findings of `diagnose`, and none once they were corrected."""

import shutil
from pathlib import Path

import pytest

import biem


def findings(memory: biem.Memory, folder: Path) -> dict[str, tuple[str, ...]]:
    """What a diagnosis says of the mirror, with the files below a folder that it names: other tests have others."""
    found: dict[str, tuple[str, ...]] = {}
    for one in memory.diagnose().findings:
        named = [path for path in one.samples if path.startswith(str(folder))]
        if one.id.startswith("mirror") and named:
            found[one.id] = (one.what, *named)
    return found


@pytest.mark.long
def test_a_diagnosis_names_files_that_wait_and_folders_that_cannot_be_synced(
    memory: biem.Memory, tmp_path: Path
) -> None:
    # Given a file whose front matter cannot be read, and one that says what another memory says
    root = tmp_path / "m"
    memory.remember("The harbour opens at six.", layer="core")
    memory.remember("The ferry is late.", layer="core")
    memory.remember("The buoy is green.", layer="core")
    memory.mirror.add(root)
    memory.mirror.sync()
    assert findings(memory, tmp_path) == {}
    harbour, ferry = (next(root.rglob(f"*{name}*.md")) for name in ("harbour", "ferry"))
    was = {file: file.read_text() for file in (harbour, ferry)}
    harbour.write_text(was[harbour].replace('title: "The', 'title: "The" "'))
    ferry.write_text(was[ferry].replace("The ferry is late.", "The buoy is green."))
    memory.mirror.sync()

    # When it is diagnosed / Then each is named, with the reason
    found = findings(memory, tmp_path)
    assert set(found) == {"mirror_file_broken", "mirror_file_held"}
    assert found["mirror_file_broken"][1] == str(harbour)
    assert found["mirror_file_held"][1] == str(ferry)
    assert "cannot be read" in found["mirror_file_broken"][0]
    # And what was corrected is no finding, and a folder that is gone is one until it is back
    for file, text in was.items():
        file.write_text(text)
    memory.mirror.sync()
    assert findings(memory, tmp_path) == {}
    shutil.move(root, tmp_path / "elsewhere")
    memory.mirror.sync()
    assert findings(memory, tmp_path)["mirror_not_synced"][1] == str(root)
    shutil.move(tmp_path / "elsewhere", root)
    memory.mirror.sync()
    assert findings(memory, tmp_path) == {}
