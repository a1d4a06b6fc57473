"""Some rounds of `benchmarks.mirror`: edits on both sides, checkouts and killed syncs, and nothing is lost."""

import pytest

from benchmarks import mirror


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 11])
def test_files_and_memories_agree_after_edits_checkouts_and_killed_syncs(seed: int) -> None:
    # Given some mirrored memories / When people, programs and Git change both sides while syncs are killed
    rows, chaos = mirror.run(count=60, minutes=0.75, seed=seed)
    # Then a sync of what no one changed writes nothing
    assert rows[1]["written"] == 0
    assert rows[1]["git"] == "clean"
    # And in the end both sides agree, a second sync changes nothing, and no word that was typed is lost
    assert chaos["differences"] == 0
    assert chaos["changes"] > 20
    assert chaos["kills"] > 0
