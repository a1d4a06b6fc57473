"""Builds the effects of energy on memories, the decision of conflicts, erasure, and what takes memories elsewhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from biem.adapters.clock import SystemClock
from biem.bootstrap.groups import Backups, Ground, Life, ReadPath, WritePath
from biem.bootstrap.layers.mirror import LateMirror, build_mirror
from biem.bootstrap.servers import Servers, home_of
from biem.bootstrap.upgrade import automatic_backups
from biem.config import Settings
from biem.domain.scope import Scope
from biem.engine.conflicts.resolve import Resolver
from biem.engine.graph.associations import Associations
from biem.engine.life.erase import Eraser
from biem.engine.life.expiry import Expiry
from biem.engine.life.feedback import Feedback
from biem.engine.life.retention import Lifecycle
from biem.engine.life.tiers import Tiers
from biem.engine.remember.revise import Reviser
from biem.engine.remember.writer import Writer
from biem.engine.transfer import Transfer
from biem.engine.transfer.export import Exporter
from biem.engine.transfer.importing import Importer
from biem.engine.transfer.moving import Mover
from biem.notes.system import NoteSystem


@dataclass(frozen=True, slots=True)
class Changes:
    """What changes, moves and removes memories."""

    reviser: Reviser
    transfer: Transfer
    eraser: Eraser
    resolver: Resolver
    mirror: LateMirror


def build_changes(ground: Ground, *, life: Life, write: WritePath, read: ReadPath, notes: NoteSystem) -> Changes:
    """What changes, moves and removes memories."""
    reviser = build_reviser(ground, write=write)
    transfer = build_transfer(ground, write=write, forgotten=forgets(life=life, write=write, read=read))
    mirror = build_mirror(
        ground,
        writer=write.writer,
        reviser=reviser,
        lifecycle=life.lifecycle,
        transfer=transfer,
        require_unread=notes.require_unread,
    )
    eraser = build_eraser(ground, life=life, write=write, read=read, notes=notes, mirror=mirror)
    resolver = build_resolver(ground, writer=write.writer, eraser=eraser)
    return Changes(reviser=reviser, transfer=transfer, eraser=eraser, resolver=resolver, mirror=mirror)


def build_life(ground: Ground) -> Life:
    """Links, tiers, retention and feedback."""
    stores, policies, clock, telemetry = ground.stores, ground.policies, ground.clock, ground.telemetry
    associations = Associations(links=stores.links, clock=clock, policy=policies.graph, telemetry=telemetry)
    tiers = Tiers(
        records=stores.records,
        life=stores.life,
        canvas=stores.canvas,
        clock=clock,
        policy=policies.tiers,
        telemetry=telemetry,
    )
    lifecycle = Lifecycle(
        records=stores.records,
        life=stores.life,
        index=stores.index,
        hot=stores.hot,
        canvas=stores.canvas,
        queue=stores.queue,
        clock=clock,
        policies=policies,
        telemetry=telemetry,
        on_archived=(associations.archived,),
    )
    feedback = Feedback(
        records=stores.records,
        feedbacks=stores.feedbacks,
        links=stores.links,
        touched=lambda _, touched: tiers.follow(touched),
        clock=clock,
        policy=policies.feedback,
        telemetry=telemetry,
    )
    return Life(associations, tiers, lifecycle, feedback)


def forgets(*, life: Life, write: WritePath, read: ReadPath) -> Callable[[Scope], None]:
    """Drops what this process holds of a scope from which something was taken."""

    def forgotten(scope: Scope) -> None:
        life.associations.drop(scope)
        read.orbits.drop(scope)
        write.inertia.drop(scope)

    return forgotten


def build_eraser(
    ground: Ground, *, life: Life, write: WritePath, read: ReadPath, notes: NoteSystem, mirror: LateMirror
) -> Eraser:
    """Erases memories from all stores and from what this process holds."""
    stores = ground.stores
    return Eraser(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        feed=write.feed,
        canvas=stores.canvas,
        running_memory=stores.running_memory,
        inertia_store=write.inertia_store,
        scopes=stores.directory,
        forgotten=forgets(life=life, write=write, read=read),
        note_folders=lambda scope: [library.root for library in notes.records.libraries([scope])],
        erase_notes=notes.erase_scope,
        backups=ground.backups,
        erase_files=mirror.erase,
        clock=ground.clock,
        policy=ground.policies.encode,
        telemetry=ground.telemetry,
    )


def build_reviser(ground: Ground, *, write: WritePath) -> Reviser:
    """Revises memories, and removes them from the caches."""
    stores = ground.stores

    def clear(ns: str, ids: Sequence[str]) -> None:
        write.feed.settle()  # words queued before must not reach HotKV after it was cleared
        write.follower.clear(ns, ids)

    return Reviser(
        records=stores.records,
        revisions=stores.revisions,
        writer=write.writer,
        queue=stores.queue,
        clear=clear,
        clock=ground.clock,
        telemetry=ground.telemetry,
        calling=ground.priority.calling,
    )


def build_expiry(ground: Ground, *, eraser: Eraser) -> Expiry:
    """Archives and erases what has expired."""
    return Expiry(
        life=ground.stores.life,
        destroy=eraser.erase,
        queue=ground.stores.queue,
        clock=ground.clock,
        policy=ground.policies.retention,
        telemetry=ground.telemetry,
    )


def build_transfer(ground: Ground, *, write: WritePath, forgotten: Callable[[Scope], None]) -> Transfer:
    """`forgotten(scope)` drops what this process holds of a scope from which something was taken."""
    stores = ground.stores
    return Transfer(
        exporter=Exporter(stores.transfer, ground.telemetry),
        importer=Importer(
            stores.transfer,
            writer=write.writer,
            analyzer=ground.analyzer,
            queue=stores.queue,
            policy=ground.policies.write,
            telemetry=ground.telemetry,
        ),
        mover=Mover(
            stores.transfer,
            hot=stores.hot,
            feed=write.feed,
            canvas=stores.canvas,
            running_memory=stores.running_memory,
            inertia_store=write.inertia_store,
            scopes=stores.directory,
            forgotten=forgotten,
            queue=stores.queue,
            clock=ground.clock,
            telemetry=ground.telemetry,
        ),
    )


def build_resolver(ground: Ground, *, writer: Writer, eraser: Eraser) -> Resolver:
    """Decides conflicts, and carries out decisions that merge."""
    return Resolver(
        conflicts=ground.stores.conflicts,
        records=ground.stores.records,
        writer=writer,
        links=ground.stores.links,
        reasoner=ground.stores.reasoner,
        destroy=eraser.erase,
        clock=ground.clock,
        policy=ground.policies.conflicts,
        telemetry=ground.telemetry,
    )


def backups_of(settings: Settings, where: Servers) -> Backups:
    """Lists the automatic backups of the embedded database and deletes those that expired; other servers have none."""
    if not where.embedded:
        return list
    home = home_of(settings)
    return lambda: automatic_backups(home, SystemClock().now())
