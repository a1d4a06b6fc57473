"""Groups of objects that the builders of this package pass to each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from biem.bootstrap.servers import Servers
from biem.bootstrap.stores import Stores
from biem.config import Settings
from biem.domain.node import AutomaticBackup
from biem.domain.policies import Policies
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.inertia_write_behind import InertiaWriteBehind
from biem.engine.concepts.instant_memory import InstantMaker
from biem.engine.concepts.recollect import Reminder
from biem.engine.encode.gate import Gate
from biem.engine.encode.integrate import Integrator
from biem.engine.encode.revised import RevisionFollower
from biem.engine.encode.worker import EncodeWorker
from biem.engine.graph.associations import Associations
from biem.engine.life.feedback import Feedback
from biem.engine.life.retention import Lifecycle
from biem.engine.life.tiers import Tiers
from biem.engine.priority import ForegroundPriority
from biem.engine.recall.orbit import Orbits
from biem.engine.recall.search import Searcher
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.ports import Analyzer, Clock, Embedder
from biem.ports.contradiction import ContradictionRules
from biem.ports.layers.sessions import TokenCounter
from biem.telemetry import Telemetry

Backups = Callable[[], Sequence[AutomaticBackup]]


@dataclass(frozen=True, slots=True)
class Ground:
    """Objects for every builder. In jobs, the embedder, the analyzer and the rules yield to foreground calls."""

    settings: Settings
    policies: Policies
    where: Servers
    stores: Stores
    embedder: Embedder
    analyzer: Analyzer
    rules: ContradictionRules
    clock: Clock
    telemetry: Telemetry
    priority: ForegroundPriority
    random: Random
    count: TokenCounter
    """Counts tokens for sessions, windows and blocks."""
    backups: Backups
    """Lists the automatic backups of an embedded database, and deletes those that expired."""


@dataclass(frozen=True, slots=True)
class Life:
    """Links between memories, and the effects of energy on them."""

    associations: Associations
    tiers: Tiers
    lifecycle: Lifecycle
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class WritePath:
    """From a message to an indexed memory: `writer` acknowledges it, `encoder` indexes batches of them."""

    feed: HotFeed
    writer: Writer
    inertia_store: InertiaWriteBehind
    inertia: Inertia
    gate: Gate
    instants: InstantMaker
    integrator: Integrator
    follower: RevisionFollower
    encoder: EncodeWorker


@dataclass(frozen=True, slots=True)
class ReadPath:
    """Objects that find the candidates of a recall."""

    searcher: Searcher
    orbits: Orbits
    reminder: Reminder
