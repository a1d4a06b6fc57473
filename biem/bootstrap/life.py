"""Builds the effects of energy on memories, the decision of conflicts, and erasure."""

from biem.adapters.clock import SystemClock
from biem.bootstrap.ground import Backups, Ground, Life, ReadPath, WritePath
from biem.bootstrap.servers import Servers, automatic_backups, home_of
from biem.config import Settings
from biem.domain.scope import Scope
from biem.engine.conflicts.resolve import Resolver
from biem.engine.graph.associations import Associations
from biem.engine.life.erase import Eraser
from biem.engine.life.feedback import Feedback
from biem.engine.life.retention import Lifecycle
from biem.engine.life.tiers import Tiers
from biem.engine.remember.writer import Writer


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


def build_eraser(ground: Ground, *, life: Life, write: WritePath, read: ReadPath) -> Eraser:
    """Erases memories from all stores and from what this process holds."""
    stores = ground.stores

    def forgotten(scope: Scope) -> None:
        """Drop what this process holds of a scope from which something was erased."""
        life.associations.drop(scope)
        read.orbits.drop(scope)
        write.inertia.drop(scope)

    return Eraser(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        feed=write.feed,
        canvas=stores.canvas,
        minds=stores.minds,
        headings=write.headings,
        scopes=stores.directory,
        forgotten=forgotten,
        backups=ground.backups,
        clock=ground.clock,
        policy=ground.policies.encode,
        telemetry=ground.telemetry,
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
