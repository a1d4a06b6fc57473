"""From files to memories: what a person changed, moved, deleted or added.

Memories are changed first, then the record of the file: a sync that dies between the two finds, when it is repeated,
that both say the same already.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from biem.domain.mirror.root import ARCHIVE, DELETED, Fields, MirrorFile
from biem.domain.node import Node, new_id
from biem.domain.observing.category import Category
from biem.engine.life.retention import Lifecycle
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.errors import InvalidInput, NotFound, RevisionConflict
from biem.layers.mirror.merge import Merged, equal, merge
from biem.layers.mirror.names import meant_by
from biem.layers.mirror.outgoing import Outgoing
from biem.layers.mirror.render import fields_of, metadata_of, values_of, written_fields
from biem.layers.mirror.sync_run import OpenedFile, SyncRun, agreed, batches, troubled
from biem.notes.scan import is_suspicious
from biem.ports.layers.mirror import MirrorRecords, Whereabouts

logger = logging.getLogger("biem.mirror")

BY = "file"
"""What made a revision, and where a new memory comes from."""
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Wanted:
    """A file that is to become a memory, under an id that is kept before the memory is written."""

    opened: OpenedFile
    id: str


class Incoming:
    """Takes in what changed in the files of a root. Thread-safe."""

    def __init__(
        self,
        *,
        records: MirrorRecords,
        writer: Writer,
        reviser: Reviser,
        lifecycle: Lifecycle,
        outgoing: Outgoing,
        categories: Mapping[str, Category],
    ) -> None:
        self._records = records
        self._writer = writer
        self._reviser = reviser
        self._lifecycle = lifecycle
        self._outgoing = outgoing
        self._categories = categories

    def take(
        self, run: SyncRun, *, full: bool, accept_deletions: bool, quiet_s: float, on_progress: Progress | None
    ) -> None:
        """Bring memories to what the files say."""
        changes = run.compare(full=full, quiet_s=quiet_s)
        waiting = [*changes.changed, *changes.new]
        opened: list[OpenedFile] = []
        for done, stat in enumerate(waiting, 1):
            if (file := run.opened(stat)) is not None:
                opened.append(file)
            if on_progress:
                on_progress(done, len(waiting))
        new = {stat.path for stat in changes.new}
        fresh = [file for file in opened if file.stat.path in new]
        moved = self._moves(run, fresh, changes.vanished)
        former = {file.path for file in moved.values()}
        self._delete(run, [file for file in changes.vanished if file.path not in former], accept=accept_deletions)
        for part in batches([file for file in opened if file.stat.path not in new]):
            self._change(run, part)
        for part in batches([file for file in fresh if file.stat.path in moved]):
            self._follow(run, part, moved)
        for part in batches([file for file in fresh if file.stat.path not in moved]):
            self._add(run, part)

    # -- deleted and moved files ------------------------------------------------------------------------------------

    def _moves(
        self, run: SyncRun, fresh: Sequence[OpenedFile], vanished: Sequence[MirrorFile]
    ) -> dict[str, MirrorFile]:
        """The known file that each new path was: by the id in it, else by its content."""
        lost = {file.path: file for file in vanished}
        lost |= {path: file for path, file in run.known.items() if file.state == "gone"}
        by_id = {file.memory_id: file for file in lost.values() if file.memory_id}
        found: dict[str, MirrorFile] = {}
        used: set[str] = set()

        def pair(opened: OpenedFile, file: MirrorFile | None) -> None:
            if file is not None and file.path not in used and opened.stat.path not in found:
                found[opened.stat.path] = file
                used.add(file.path)

        for opened in sorted(fresh, key=lambda each: each.stat.path not in lost):  # a file that is back, first
            pair(opened, by_id.get(opened.text.id or ""))
        for opened in fresh:
            if opened.text.id is None and opened.stat.path in lost:
                pair(opened, lost[opened.stat.path])
        by_content = {file.sha256: file for file in lost.values() if file.sha256 and file.path not in used}
        for opened in fresh:
            if opened.text.id is None:
                pair(opened, by_content.get(opened.sha256))
        return found

    def _delete(self, run: SyncRun, vanished: Sequence[MirrorFile], *, accept: bool) -> None:
        """Archive the memories of deleted files, unless most are missing."""
        self._records.drop(run.root, [file.path for file in vanished if file.memory_id is None])
        lost = [file for file in vanished if file.memory_id is not None]
        there = sum(file.memory_id is not None and file.state != "gone" for file in run.known.values())
        if is_suspicious(len(lost), there) and not accept:
            reason = (
                f"{len(lost)} of {there} files are missing, so nothing was archived; if that is right, run "
                "`biem mirror sync --accept-deletions`"
            )
            run.report = replace(run.report, held=len(lost), reason=reason)
            return
        for part in batches(lost):
            known = self._records.bases(run.root, [file.path for file in part])
            gone = []
            for file in known.values():
                try:
                    done = self._lifecycle.archive(run.root.scope, str(file.memory_id), DELETED)
                except NotFound:  # erased; the records of the file go with the next step
                    continue
                run.add(archived=int(done))
                gone.append(run.note(replace(file, state="gone", reason="", archived=True)))
            self._records.put(run.root, gone)

    def _follow(self, run: SyncRun, part: Sequence[OpenedFile], moved: Mapping[str, MirrorFile]) -> None:
        """Files that are elsewhere, or back: the same memories."""
        known = self._records.bases(run.root, [moved[opened.stat.path].path for opened in part])
        nodes = self._nodes(run, known.values())
        done = []
        for opened in part:
            before = known.get(moved[opened.stat.path].path)
            node = None if before is None else nodes.get(before.memory_id or "")
            if before is None or node is None:
                continue
            if opened.text.problem:
                done.append(run.note(_broken(run, opened, before), before.path))
                continue
            node, reason = self._placed(run, node, opened.stat.path, before)
            run.add(moved=int(before.path != opened.stat.path))
            overlay = self._said_by_folder(before, opened)
            file = self._merged(run, opened, before, node, overlay) if not reason else None
            file = troubled(opened, "held", reason, before) if reason else file
            if file is not None:
                done.append(run.note(file, before.path))
        self._records.put(run.root, done)

    def _placed(self, run: SyncRun, node: Node, path: str, before: MirrorFile) -> tuple[Node, str]:
        """The memory, archived or restored as the place of its file says; or why that cannot be."""
        scope, in_archive = run.root.scope, path.startswith(ARCHIVE)
        try:
            if in_archive and node.status != "archived":
                run.add(archived=int(self._lifecycle.archive(scope, node.id, "file moved to the archive")))
            elif not in_archive and node.status == "archived" and (before.archived or before.state == "gone"):
                run.add(restored=int(self._lifecycle.restore(scope, node.id)))
        except InvalidInput as error:
            return node, str(error)
        return self._records.nodes(scope, [node.id]).get(node.id, node), ""

    def _said_by_folder(self, before: MirrorFile, opened: OpenedFile) -> dict[str, str]:
        """Layer and category of the new folder, where it is another one and the file itself says nothing new."""
        was, now = meant_by(before.path, self._categories), meant_by(opened.stat.path, self._categories)
        said: Fields = before.base["file"] if before.base else {}
        return {
            name: value
            for name, value in now.items()
            if value != was.get(name) and opened.text.fields.get(name) == said.get(name)
        }

    # -- changed files ----------------------------------------------------------------------------------------------

    def _change(self, run: SyncRun, part: Sequence[OpenedFile]) -> None:
        same = [each for each in part if run.known[each.stat.path].sha256 == each.sha256]
        same = [each for each in same if each.sha256 and run.known[each.stat.path].state not in ("new", "held")]
        self._records.touch(run.root, [(each.stat, each.read_ns) for each in same])
        paths = {each.stat.path for each in same}
        rest = [each for each in part if each.stat.path not in paths]
        known = self._records.bases(run.root, [each.stat.path for each in rest])
        nodes = self._nodes(run, known.values())
        done, unknown, wanted, back = [], [], [], []
        for opened in rest:
            before = known.get(opened.stat.path)
            if before is None or before.memory_id is None:
                unknown.append(opened)
            elif opened.text.problem:
                done.append(run.note(_broken(run, opened, before)))
            elif (node := nodes.get(before.memory_id)) is None:
                if before.state == "new":
                    wanted.append(_Wanted(opened, before.memory_id))
            elif _was_moved_broken(before, node):
                back.append(opened)
            elif (file := self._merged(run, opened, before, node, {})) is not None:
                done.append(run.note(file))
        self._records.put(run.root, done)
        if back:
            self._follow(run, back, {opened.stat.path: known[opened.stat.path] for opened in back})
        self._make(run, wanted)
        self._add(run, unknown)

    def _merged(
        self, run: SyncRun, opened: OpenedFile, before: MirrorFile, node: Node, overlay: Fields
    ) -> MirrorFile | None:
        """File and memory, made to say the same; None where that is left to the next sync."""
        said = opened.text.fields
        if node.status == "archived":
            if not opened.stat.path.startswith(ARCHIVE):
                return _archived_meanwhile(opened, before)
            if before.base and not _differs(before.base["file"], said):
                return agreed(opened, node, said)
            run.add(troubled=1)
            reason = "its memory is archived: move the file out of the archive to have it taken in"
            return troubled(opened, "held", reason, before)
        base = before.base or {"file": written_fields(node), "memory": fields_of(node)}
        merged = merge(base, {**said, **overlay}, fields_of(node))
        try:
            node = self._revised(run, node, merged.to_memory)
        except RevisionConflict:
            return None
        except InvalidInput as error:
            run.add(troubled=1)
            return troubled(opened, "held", str(error), before)
        if not merged.to_file:
            return agreed(opened, node, said, reason=_told(merged, node))
        return self._outgoing.write_changed(run, opened, node, merged.to_file, _told(merged, node))

    def _revised(self, run: SyncRun, node: Node, to_memory: Fields) -> Node:
        if not to_memory:
            return node
        values: dict[str, Any] = values_of(to_memory)
        metadata = metadata_of(node.metadata, to_memory)
        if metadata != node.metadata:
            values["metadata"] = metadata
        done = self._reviser.revise(run.root.scope, node.id, values, expect=node.revision, by=BY)
        run.add(revised=int(done.revision > node.revision))
        return done

    # -- new files --------------------------------------------------------------------------------------------------

    def _add(self, run: SyncRun, part: Sequence[OpenedFile]) -> None:
        """Files that stand for no memory yet."""
        places = self._records.whereabouts(run.root.scope, [each.text.id for each in part if each.text.id])
        here = [key for key, place in places.items() if place == "here" and key not in run.by_memory]
        nodes = self._records.nodes(run.root.scope, here)
        done, wanted = [], []
        for opened in part:
            node = nodes.pop(opened.text.id or "", None)
            found = self._judged(run, opened, node, places.get(opened.text.id or ""))
            if isinstance(found, _Wanted):
                wanted.append(found)
            elif found is not None:
                done.append(run.note(found))
        self._records.put(run.root, done)
        self._make(run, wanted)

    def _judged(
        self, run: SyncRun, opened: OpenedFile, node: Node | None, place: Whereabouts | None
    ) -> MirrorFile | _Wanted | None:
        """What becomes of a new file."""
        text = opened.text
        if node is not None and not text.problem and not _differs(written_fields(node), text.fields):
            return agreed(opened, node, text.fields)  # ours: a sync died before it was recorded
        if run.is_strange:
            run.add(strangers=1)
            return troubled(opened, "stranger", "it was not written by biem: `biem mirror adopt` takes it in")
        if text.problem:
            return _broken(run, opened)
        if place == "erased":
            run.add(troubled=1)
            return troubled(opened, "refused", "its memory was erased: delete the file, or remove the line with its id")
        if node is not None:
            before = MirrorFile(
                path=opened.stat.path, memory_id=node.id, stat=opened.stat, sha256=b"", read_ns=opened.read_ns
            )
            return self._merged(run, opened, before, node, {})
        if opened.stat.path.startswith(ARCHIVE):
            run.add(troubled=1)
            return troubled(opened, "held", "new files in the archive are not taken in: move it to another folder")
        own = text.id if text.id and place is None and text.id not in run.by_memory else new_id()
        return _Wanted(opened, own)

    def _make(self, run: SyncRun, wanted: Sequence[_Wanted]) -> None:
        """Make memories of files: the ids are recorded first, so that a repeated sync makes them once."""
        if not wanted:
            return
        reserved = [replace(troubled(each.opened, "new", ""), memory_id=each.id) for each in wanted]
        self._records.put(run.root, reserved)
        held: list[MirrorFile] = []
        made: dict[str, _Wanted] = {}
        for each in wanted:
            try:
                key = self._remembered(run, each)
            except InvalidInput as error:
                run.add(troubled=1)
                held.append(troubled(each.opened, "held", str(error)))
                continue
            other = run.by_memory.get(key)
            if key in made or (other is not None and other.path != each.opened.stat.path and other.state != "gone"):
                run.add(troubled=1)
                held.append(troubled(each.opened, "held", f"memory {key} states the same already, in another file"))
                continue
            made[key] = each
            run.add(taken=1)
        nodes = self._records.nodes(run.root.scope, list(made))
        clean = [agreed(made[key].opened, node, made[key].opened.text.fields) for key, node in nodes.items()]
        self._records.put(run.root, [run.note(file) for file in (*held, *clean)])

    def _remembered(self, run: SyncRun, wanted: _Wanted) -> str:
        text = wanted.opened.text
        said: dict[str, Any] = {**meant_by(wanted.opened.stat.path, self._categories), **text.fields}
        category = self._categories.get(said.get("category", ""))
        details = values_of({name: value for name, value in said.items() if name != "text"})
        details.setdefault("kind", category.kind if category else "knowledge")
        details.setdefault("layer", category.layer if category else "long_term")
        if "expires_at" not in details and category is not None and category.ttl_days is not None:
            details["ttl"] = timedelta(days=category.ttl_days)
        self._writer.admit(run.root.scope, 1)
        return self._writer.remember_as(
            run.root.scope,
            wanted.id,
            said["text"],
            metadata=metadata_of({}, said),
            at=text.at,
            source=BY,
            origin=BY,
            **details,
        )

    def _nodes(self, run: SyncRun, files: Any) -> dict[str, Node]:
        return self._records.nodes(run.root.scope, [file.memory_id for file in files if file.memory_id])


def _broken(run: SyncRun, opened: OpenedFile, before: MirrorFile | None = None) -> MirrorFile:
    run.add(troubled=1)
    return troubled(opened, "broken", f"line {opened.text.line}: {opened.text.problem}", before)


def _was_moved_broken(before: MirrorFile, node: Node) -> bool:
    """Whether a person moved a file into the archive, or out of it, or restored it, when it could not be taken in."""
    archived = node.status == "archived"
    unlike = before.path.startswith(ARCHIVE) != archived
    return before.state in ("broken", "held") and before.archived == archived and unlike


def _archived_meanwhile(opened: OpenedFile, before: MirrorFile) -> MirrorFile:
    """A file that the next step moves to the archive, unread: the next sync reads it there if it was changed."""
    stat = replace(before.stat, path=opened.stat.path)
    state, reason = (before.state, before.reason) if before.state == "held" else ("clean", "")
    return replace(before, path=opened.stat.path, stat=stat, state=state, reason=reason)


def _differs(known: Fields, said: Fields) -> bool:
    """Whether a file says anything else than this."""
    return any(not equal(name, value, known.get(name)) for name, value in said.items())


def _told(merged: Merged, node: Node) -> str:
    if not merged.lost:
        return ""
    names = ", ".join(merged.lost)
    return f"both sides changed {names}: the file's holds, the other is revision {node.revision - 1} of the memory"
