"""The mirror of all scopes of one connection: its job, and what an erasure needs of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biem.domain.mirror.root import MirrorRoot
from biem.domain.node import StoreCount
from biem.domain.scope import Scope
from biem.layers.mirror.sync import MirrorSync
from biem.layers.mirror.transfer import MirrorTransfer
from biem.ports.layers.mirror import FolderUnwritable, MirrorFolder, MirrorRecords

_QUIET_S = 2.0
"""The job leaves files alone that were changed less long ago: a person is typing."""
FILES = "files.mirror"
"""How a receipt names the files."""


@dataclass(frozen=True, slots=True, eq=False)
class MirrorSystem:
    """The parts of the mirror. Only bootstrap builds it."""

    records: MirrorRecords
    folder: MirrorFolder
    syncer: MirrorSync
    transfer: MirrorTransfer
    host: str
    """The name of this machine."""

    def ours(self, scopes: Sequence[Scope] | None) -> list[MirrorRoot]:
        """The roots on this machine; None: of all scopes."""
        return [root for root in self.records.roots(scopes) if root.host == self.host]

    def run(self, scope: Scope | None = None) -> Mapping[str, int]:
        """The job `mirror`: sync the roots of a scope, or of all; returns what changed."""
        total: Counter[str] = Counter()
        for root in self.ours(None if scope is None else [scope]):
            if root.state == "active":
                total.update(self.syncer.sync(root, quiet_s=_QUIET_S).counts)
        return {name: count for name, count in total.items() if count and name not in ("files", "read")}

    def erase(self, scope: Scope, ids: Sequence[str] | None) -> list[StoreCount]:
        """Delete the files of memories that are being erased, or of all of a scope; nothing is listed without any.

        Files on other machines, or in a folder that cannot be written, are counted as left: the next sync there
        deletes them. Copies, such as those in the history of Git, are not touched.
        """
        written = self.records.written(scope, ids)
        left = 0
        for root, path in written:
            try:
                if root.host != self.host:
                    left += 1
                else:
                    self.folder.delete(root.path, path)
                    self.records.drop(root, [path])
            except FolderUnwritable:
                left += 1
        return [StoreCount(FILES, len(written), left)] if written else []
