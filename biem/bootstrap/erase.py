"""Builds what destroys memories, and what such an erasure has to reach beside the servers."""

from collections.abc import Callable, Sequence

from biem.adapters.clock import SystemClock
from biem.bootstrap.servers import Servers, automatic_backups, home_of
from biem.bootstrap.stores import Stores
from biem.config import Settings
from biem.domain.node import AutomaticBackup
from biem.domain.policies.writing import EncodePolicy
from biem.domain.scope import Scope
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.inertia_write_behind import HeadingFeed
from biem.engine.graph.associations import Associations
from biem.engine.life.erase import Eraser
from biem.engine.recall.orbit import Orbits
from biem.engine.remember.hot_write_behind import HotFeed
from biem.ports import Clock
from biem.telemetry import Telemetry

Backups = Callable[[], Sequence[AutomaticBackup]]


def backups_of(settings: Settings, where: Servers) -> Backups:
    """What lists the copies that upgrades of the embedded database left, and deletes those that expired."""
    if not where.embedded:
        return list
    home = home_of(settings)
    return lambda: automatic_backups(home, SystemClock().now())


def build_eraser(
    stores: Stores,
    feed: HotFeed,
    headings: HeadingFeed,
    associations: Associations,
    orbits: Orbits,
    inertia: Inertia,
    backups: Backups,
    clock: Clock,
    policy: EncodePolicy,
    telemetry: Telemetry,
) -> Eraser:
    """The eraser of these stores."""

    def forgotten(scope: Scope) -> None:
        """What this process keeps of a scope goes with what was erased there."""
        associations.drop(scope)
        orbits.drop(scope)
        inertia.drop(scope)

    return Eraser(
        records=stores.records,
        index=stores.index,
        hot=stores.hot,
        feed=feed,
        canvas=stores.canvas,
        minds=stores.minds,
        headings=headings,
        scopes=stores.directory,
        forgotten=forgotten,
        backups=backups,
        clock=clock,
        policy=policy,
        telemetry=telemetry,
    )
