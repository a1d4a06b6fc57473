"""What a watcher of folders does for each burst of changes, without files."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from biem.domain.scope import Scope
from biem.notes.folder_watcher import FolderWatcher
from tests.support.fakes import eventually


@dataclass(frozen=True)
class Folder:
    id: str = "f"
    scope: Scope = field(default_factory=Scope)
    root: str = "/vault"
    name: str = "vault"


class Events:
    """Three bursts, then silence until the end."""

    def changes(self, root: str, stopped: threading.Event) -> Iterator[frozenset[str]]:
        yield from (frozenset({""}), frozenset({"a.md"}), frozenset({"b.md"}))
        stopped.wait()


class Exclusive:
    @contextmanager
    def hold(self, scope: Scope | None, job: str) -> Iterator[bool]:
        yield True

    def close(self) -> None:
        """Holds nothing."""


def test_each_burst_is_scanned_and_that_a_folder_is_watched_is_recorded_once_in_a_while() -> None:
    alive, scanned = list[bool](), list[frozenset[str]]()

    def scan(folder: Folder, changed: frozenset[str]) -> float:
        scanned.append(changed)
        return 0.0

    watcher = FolderWatcher(
        kind="notes",
        events=Events(),
        exclusive=Exclusive(),
        folders=lambda: [Folder()],
        scan=scan,
        alive=lambda folder, is_watched: alive.append(is_watched),
        look_s=60.0,
    )
    watcher.start()
    eventually(lambda: len(scanned) == 3)
    watcher.stop(10.0)
    # Once for three bursts, as each record delays the scan after it, and its end
    assert alive == [True, False]
    assert scanned == [{""}, {"a.md"}, {"b.md"}]
