"""From memories to files: what changed, is new, was archived or erased.

Files are written first, then their records: a sync that dies between the two finds, when it is repeated, a file
that says what its memory says.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from biem.domain.mirror.root import ARCHIVE, Fields, MirrorFile
from biem.domain.node import Node
from biem.domain.note import FileStat
from biem.domain.observing.category import Category
from biem.layers.mirror.front import BrokenFront
from biem.layers.mirror.merge import merge
from biem.layers.mirror.names import file_name, folder_of, free_path, key
from biem.layers.mirror.read import read
from biem.layers.mirror.render import changed, fields_of, title_of, whole
from biem.layers.mirror.sync_run import TICK_NS, OpenedFile, SyncRun, agreed, batches, troubled
from biem.ports.layers.mirror import MirrorFolder, MirrorRecords, StaleFile

_MOST_STALE = 100_000
"""Memories of one sync; the rest waits for the next."""


class Outgoing:
    """Writes the files of a root. Thread-safe."""

    def __init__(self, *, records: MirrorRecords, folder: MirrorFolder, categories: Mapping[str, Category]) -> None:
        self._records = records
        self._folder = folder
        self._categories = categories

    def update(self, run: SyncRun) -> None:
        """Bring files to what the memories say. Raises `StoreUnavailable` and `StoreFull` for the folder."""
        for part in batches(self._records.stale(run.root, _MOST_STALE)):
            self._bring(run, part)

    def write_changed(
        self, run: SyncRun, opened: OpenedFile, node: Node, to_file: Fields, reason: str = ""
    ) -> MirrorFile | None:
        """Change values in a file; None if it was changed meanwhile."""
        try:
            data = changed(opened.text, node, to_file)
        except BrokenFront as error:
            run.add(troubled=1)
            before = self._records.bases(run.root, [opened.stat.path]).get(opened.stat.path)
            return troubled(opened, "held", str(error), before)
        return self._write(run, opened.stat.path, data, node, opened.stat, reason)

    # -- one batch --------------------------------------------------------------------------------------------------

    def _bring(self, run: SyncRun, part: Sequence[StaleFile]) -> None:
        self._remove(run, [each for each in part if not each.exists])
        nodes = self._records.nodes(run.root.scope, [each.memory_id for each in part if each.exists])
        known = self._records.bases(run.root, [each.path for each in part if each.path is not None])
        done: list[MirrorFile] = []
        for each in part:
            node = nodes.get(each.memory_id)
            before = known.get(each.path or "")
            if node is None:
                continue
            if before is None or before.state == "gone":
                file = self._write_new(run, node, before)
            elif _is_misplaced(before, node):
                file = self._move(run, node, before)
            else:
                file = self._update(run, node, before)
            if file is not None:
                done.append(run.note(file, None if before is None else before.path))
        self._folder.settle(run.root.path, [file.path for file in done])
        self._records.put(run.root, done)

    def _write_new(self, run: SyncRun, node: Node, before: MirrorFile | None) -> MirrorFile | None:
        if before is None:
            path = free_path(path_of(node, self._categories), node.id, run.taken)
        else:  # its file was deleted
            there = {key(stat.path) for stat in run.walk.files}
            path = free_path(before.path.removeprefix(ARCHIVE), node.id, there)
        return self._write(run, path, whole(node), node, None)

    def _update(self, run: SyncRun, node: Node, before: MirrorFile) -> MirrorFile | None:
        opened = run.opened(before.stat)
        if opened is None or opened.sha256 != before.sha256 or opened.text.problem:
            return replace(before, read_ns=0)  # changed meanwhile: the next sync reads it
        said = opened.text.fields
        if before.base is None:
            return agreed(opened, node, said) if before.state == "clean" else None
        merged = merge(before.base, said, fields_of(node))
        if merged.to_memory or node.status == "archived":
            return None  # held: its values could not be stored
        if not merged.to_file:
            return agreed(opened, node, said)
        return self.write_changed(run, opened, node, merged.to_file)

    def _move(self, run: SyncRun, node: Node, before: MirrorFile) -> MirrorFile | None:
        """Into the archive, or out of it."""
        inside = before.path.startswith(ARCHIVE)
        wanted = before.path.removeprefix(ARCHIVE)
        if node.status == "archived":
            wanted = ARCHIVE + wanted
        if inside == (node.status == "archived"):  # moved, but not recorded
            return replace(before, archived=inside)
        path = free_path(wanted, node.id, run.taken - {key(before.path)})
        if not self._folder.move(run.root.path, before.path, path):
            return None
        self._folder.settle(run.root.path, [before.path, path])
        run.add(moved=1)
        stat = replace(before.stat, path=path)
        return replace(before, path=path, stat=stat, archived=node.status == "archived")

    def _remove(self, run: SyncRun, gone: Sequence[StaleFile]) -> None:
        """The files of memories that were erased, or moved to another scope."""
        paths = {each.memory_id: each.path for each in gone if each.path is not None}
        places = self._records.whereabouts(run.root.scope, list(paths))
        for memory_id, path in paths.items():
            if memory_id in places:
                run.add(removed=int(self._folder.delete(run.root.path, path)))
            run.by_memory.pop(memory_id, None)
        # Where an id was never erased, the database is older than the files: they are taken in again.
        self._records.drop(run.root, list(paths.values()))

    def _write(
        self, run: SyncRun, path: str, data: bytes, node: Node, expected: FileStat | None, reason: str = ""
    ) -> MirrorFile | None:
        stat = self._folder.write(run.root.path, path, data, expected)
        if stat is None:
            return None
        run.add(written=1)
        text = read(path, data)
        written = OpenedFile(stat, hashlib.sha256(data).digest(), time.time_ns() + TICK_NS, text)
        return agreed(written, node, text.fields, reason=reason)


def _is_misplaced(file: MirrorFile, node: Node) -> bool:
    """Whether a file is to be moved to the archive, or out of it, or was moved and that was not recorded."""
    archived = node.status == "archived"
    inside = file.path.startswith(ARCHIVE)
    return file.archived != archived or (file.state == "clean" and inside != archived)


def path_of(node: Node, categories: Mapping[str, Category]) -> str:
    """Where a new file of a memory goes."""
    fields = fields_of(node)
    folder = folder_of(fields["category"], node.layer, categories)
    name = file_name(node.at, fields["category"] or node.kind, title_of(node))
    return f"{ARCHIVE if node.status == 'archived' else ''}{folder}/{name}"
