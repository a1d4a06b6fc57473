"""Everything of AIM-Memory that the facade hands on to, as one value."""

from dataclasses import dataclass

from biem.domain.aim_policy import AimPolicy
from biem.engine.aim.answer import Conversant
from biem.engine.aim.replay import Replayer
from biem.engine.aim.route import Router
from biem.engine.aim.snapshot import Snapshots
from biem.engine.aim.stats import Counter
from biem.engine.aim.write import MemoryWriter


@dataclass(frozen=True, slots=True)
class AimSystem:
    """The verbs of AIM-Memory. Only bootstrap builds it."""

    router: Router
    replayer: Replayer
    conversant: Conversant
    snapshots: Snapshots
    counter: Counter
    writer: MemoryWriter
    policy: AimPolicy
