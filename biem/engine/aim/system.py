"""All parts of AIM-Memory that the facade delegates to, as one value."""

from dataclasses import dataclass

from biem.domain.policies.aim import AimPolicy
from biem.engine.aim.conversation import AimConversation
from biem.engine.aim.route import Router
from biem.engine.aim.snapshot import Snapshots
from biem.engine.aim.stats import Counter
from biem.engine.aim.write import MemoryWriter
from biem.engine.encode.replay import Replayer


@dataclass(frozen=True, slots=True)
class AimSystem:
    """The verbs of AIM-Memory. Only bootstrap builds it."""

    router: Router
    replayer: Replayer
    conversant: AimConversation
    snapshots: Snapshots
    counter: Counter
    writer: MemoryWriter
    policy: AimPolicy
