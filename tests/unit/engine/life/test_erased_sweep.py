"""The sweep for what came into the projections after its memory was erased."""

from collections.abc import Sequence
from typing import cast

import pytest

from biem.engine.life.erased_sweep import ErasedSweep
from biem.errors import StoreUnavailable
from biem.ports import HotStore, VectorIndex
from biem.ports.hot import Canvas


class Graves:
    """The port `Tombstones`: what was looked for is not due again."""

    def __init__(self, count: int) -> None:
        self.waiting = [(f"id-{number}", f"ns-{number % 2}") for number in range(count)]
        self.asked = 0

    def due(self, limit: int) -> list[tuple[str, str]]:
        self.asked += 1
        return self.waiting[:limit]

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        assert kept_s == 7 * 86_400
        self.waiting = [one for one in self.waiting if one[0] not in set(ids)]


class Store:
    """What the sweep uses of the index, of HotKV and of the canvas."""

    def __init__(self, *late: str, down: bool = False) -> None:
        self.rows, self.down = set(late), down
        self.left: list[tuple[str, str]] = []

    def count(self, ids: Sequence[str]) -> int:
        if self.down:
            raise StoreUnavailable("not now")
        return len(self.rows & set(ids))

    def purge(self, *where: Sequence[str]) -> None:
        if len(where) == 1:
            self.rows -= set(where[0])
        else:
            self.leave(str(where[0]), where[1])

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        if self.down:
            raise StoreUnavailable("not now")
        self.left += [(memory_id, ns) for memory_id in ids]


def sweep(
    graves: Graves, index: Store, hot: Store, canvas: Store, talk: Store | None = None, notes: Store | None = None
) -> int:
    held, chunks = talk or Store(), notes or Store()

    def late_notes(ids: Sequence[str]) -> int:
        late = chunks.count(ids)
        chunks.purge(ids)
        return late

    late = ErasedSweep(
        tombstones=graves,
        index=cast(VectorIndex, index),
        hot=cast(HotStore, hot),
        canvas=cast(Canvas, canvas),
        forget_talk=lambda ns: held.leave(ns, [ns]),
        late_notes=late_notes,
    )
    return late.sweep()


@pytest.mark.req("D8", partly="erasing: what is looked for again")
def test_rows_that_came_late_are_removed_and_all_stores_are_cleared() -> None:
    # Given twelve hundred erased memories, two of which have a row
    graves, index, hot, canvas = Graves(1_200), Store("id-3", "id-1100", "somebody's"), Store(), Store()
    talk, notes, everything = Store(), Store("id-7"), list(graves.waiting)
    # When they are looked for / Then these rows are gone, one of them of a note, and nothing else
    assert sweep(graves, index, hot, canvas, talk, notes) == 3
    assert notes.rows == set()
    assert set(talk.left) == {(ns, ns) for _, ns in everything}
    assert index.rows == {"somebody's"}
    assert sorted(hot.left) == sorted(canvas.left) == sorted(everything)
    assert (graves.waiting, graves.asked) == ([], 3)


@pytest.mark.parametrize("which", ["index", "hot", "canvas", "talk", "notes"])
def test_while_a_store_is_down_nothing_is_ticked_off(which: str) -> None:
    stores = {name: Store("id-0", down=name == which) for name in ("index", "hot", "canvas", "talk", "notes")}
    graves = Graves(1)
    sweep(graves, **stores)
    assert len(graves.waiting) == 1
    # And when it is back, it is cleared
    stores[which].down = False
    sweep(graves, **stores)
    assert graves.waiting == []
    assert "id-0" not in stores["index"].rows


class Endless(Graves):
    """Always as many due as are asked for."""

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        """There are more."""


def test_one_sweep_is_bounded() -> None:
    graves = Endless(500)
    sweep(graves, Store(), Store(), Store())
    assert graves.asked == 100
