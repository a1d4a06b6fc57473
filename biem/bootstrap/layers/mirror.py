"""Builds the mirror of memories as files at its first use, because most programs have none."""

import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.mirror import PostgresMirror
from biem.bootstrap.groups import Ground
from biem.bootstrap.notes import LateFiles, build_watcher
from biem.domain.diagnosis import Limits
from biem.domain.node import StoreCount
from biem.domain.observing.category import categories_of
from biem.domain.scope import Scope
from biem.engine.life.retention import Lifecycle
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.engine.transfer import Transfer

if TYPE_CHECKING:
    from biem.adapters.files.writing import WritableFolder
    from biem.engine.admin.diagnosis import Check
    from biem.layers.mirror.mirror import Mirror
    from biem.layers.mirror.session_files import SessionFiles
    from biem.layers.mirror.sync import MirrorSync
    from biem.layers.mirror.system import MirrorSystem
    from biem.layers.mirror.transfer import MirrorTransfer
    from biem.layers.projects import Projects


class LateMirror:
    """Called, it returns the mirror of a scope; what that needs is built at the first call. Thread-safe."""

    def __init__(self, records: PostgresMirror, build: "Callable[[], MirrorSystem]") -> None:
        self._records = records
        self._build = build
        self._lock = threading.Lock()
        self._built: MirrorSystem | None = None

    def __call__(self, scope: Scope, wrote: Callable[[], None]) -> "Mirror":
        """The mirror of one scope; `wrote` is called when memories were added or changed."""
        from biem.layers.mirror.mirror import Mirror

        return Mirror(self.all(), scope, wrote)

    def all(self) -> "MirrorSystem":
        """The mirrors of all scopes."""
        with self._lock:
            if self._built is None:
                self._built = self._build()
            return self._built

    def run(self, scope: Scope | None = None) -> Mapping[str, int]:
        """The job `mirror`, in one scope or in all; nothing is loaded where no folder is mirrored."""
        there = self._records.roots(None if scope is None else [scope])
        return self.all().run(scope) if any(root.host == platform.node() for root in there) else {}

    def erase(self, scope: Scope, ids: Sequence[str] | None) -> Sequence[StoreCount]:
        """Delete the files of memories, or of all of a scope."""
        return self.all().erase(scope, ids) if self._records.roots([scope]) else ()


def build_mirror(
    ground: Ground,
    *,
    writer: Writer,
    reviser: Reviser,
    lifecycle: Lifecycle,
    transfer: Transfer,
    require_unread: Callable[[str], None],
) -> LateMirror:
    """The mirrors of all scopes. `require_unread` raises `InvalidInput` for a folder that is read as notes."""
    policies = ground.policies
    records = PostgresMirror(
        ground.stores.database, clock=ground.clock, decay_per_hour=policies.energy.decay_per_hour, policies=policies
    )

    def build() -> "MirrorSystem":
        from biem.adapters.files.writing import WritableFolder
        from biem.layers.mirror.system import MirrorSystem

        folder = WritableFolder()
        sessions = build_session_files(ground, folder=folder)
        syncer = build_sync(
            ground,
            records=records,
            folder=folder,
            sessions=sessions,
            writer=writer,
            reviser=reviser,
            lifecycle=lifecycle,
        )
        return MirrorSystem(
            records=records,
            folder=folder,
            syncer=syncer,
            sessions=sessions,
            transfer=build_folders(ground, transfer=transfer, most_bytes=syncer.most_bytes),
            host=platform.node(),
            require_unread=require_unread,
            build_watcher=partial(build_watcher, ground.stores.exclusive, kind="mirror"),
            every_s=policies.sleep.mirror_s,
            look_s=policies.notes.look_s,
        )

    return LateMirror(records, build)


def build_projects(ground: Ground) -> "Callable[[Scope], Projects]":
    """Called with a scope, the projects of its user."""

    def projects(scope: Scope) -> "Projects":
        from biem.adapters.files.projects import DiskProjects
        from biem.adapters.postgres.mirror.projects import PostgresProjects
        from biem.layers.projects import Projects

        records = PostgresProjects(ground.stores.database)
        return Projects(DiskProjects(), records, scope, host=platform.node(), fixed=ground.settings.project)

    return projects


def build_session_files(ground: Ground, *, folder: "WritableFolder") -> "SessionFiles":
    """The files of sessions."""
    from biem.adapters.postgres.mirror.session_files import PostgresSessionFiles
    from biem.adapters.postgres.sessions import PostgresSessions
    from biem.layers.mirror.session_files import SessionFiles

    stores = ground.stores
    sessions = PostgresSessions(stores.database, write_row=stores.records.write_row, clock=ground.clock)
    return SessionFiles(records=PostgresSessionFiles(stores.database), sessions=sessions, folder=folder)


def build_sync(
    ground: Ground,
    *,
    records: PostgresMirror,
    folder: "WritableFolder",
    sessions: "SessionFiles",
    writer: Writer,
    reviser: Reviser,
    lifecycle: Lifecycle,
) -> "MirrorSync":
    """Makes files and memories say the same."""
    from biem.layers.mirror.incoming import Incoming
    from biem.layers.mirror.outgoing import Outgoing
    from biem.layers.mirror.sync import MirrorSync

    categories = categories_of(ground.policies.layers.categories)
    outgoing = Outgoing(records=records, folder=folder, categories=categories)
    incoming = Incoming(
        records=records,
        writer=writer,
        reviser=reviser,
        lifecycle=lifecycle,
        outgoing=outgoing,
        categories=categories,
    )
    return MirrorSync(
        records=records,
        files=LateFiles(),
        folder=folder,
        incoming=incoming,
        outgoing=outgoing,
        sessions=sessions,
        exclusive=ground.stores.exclusive,
        clock=ground.clock,
        telemetry=ground.telemetry,
        max_text_bytes=ground.policies.write.max_text_bytes,
    )


def mirror_check(database: Database, *, limits: Limits) -> "Check":
    """Looks for files that wait for a person."""
    from biem.adapters.postgres.mirror.trouble import PostgresMirrorTrouble
    from biem.layers.mirror.checks import MirrorCheck

    return MirrorCheck(PostgresMirrorTrouble(database), host=platform.node(), limits=limits)


def build_folders(ground: Ground, *, transfer: Transfer, most_bytes: int) -> "MirrorTransfer":
    """Exports and imports of folders."""
    from biem.layers.mirror.transfer import MirrorTransfer

    return MirrorTransfer(
        lines=ground.stores.transfer,
        importer=transfer.importer,
        files=LateFiles(),
        categories=categories_of(ground.policies.layers.categories),
        clock=ground.clock,
        most_bytes=most_bytes,
    )
